//! Properties of KMS objects, by name, and property blobs.
//!
//! Reading an object's properties takes all mode-setting locks of the device, so it waits for a modeset in progress on
//! any output. Therefore it is done once, on the worker, and the handles are kept.

use std::os::fd::AsFd as _;

use smithay::backend::drm::DrmDeviceFd;
use smithay::reexports::drm::control::{Device, RawResourceHandle, ResourceHandle, property};

/// The property handles of one object, with the values at the time of the query.
#[derive(Debug)]
pub(super) struct Properties {
    object: RawResourceHandle,
    known: Vec<(String, property::Handle, property::RawValue)>,
}

impl Properties {
    /// Queries the kernel, which may block.
    pub fn of(device: &impl Device, object: impl ResourceHandle) -> std::io::Result<Self> {
        let properties = device.get_properties(object)?;
        let (handles, values) = properties.as_props_and_values();
        let known = handles.iter().zip(values).filter_map(|(handle, value)| {
            let info = device.get_property(*handle).ok()?;
            Some((info.name().to_str().ok()?.to_owned(), *handle, *value))
        });
        Ok(Properties { object: object.into(), known: known.collect() })
    }

    /// The object that has these properties.
    pub fn object(&self) -> RawResourceHandle {
        self.object
    }

    /// The property called `name`, if there is one.
    pub fn handle(&self, name: &str) -> Option<property::Handle> {
        self.known.iter().find(|(known, ..)| known == name).map(|(_, handle, _)| *handle)
    }

    /// The value at the time of the query.
    pub fn value(&self, name: &str) -> Option<property::RawValue> {
        self.known.iter().find(|(known, ..)| known == name).map(|(.., value)| *value)
    }
}

/// A blob that the kernel stores: a mode, or a gamma table.
#[derive(Debug)]
pub(super) struct Blob {
    device: DrmDeviceFd,
    number: u32,
}

impl Blob {
    /// A blob with these bytes.
    pub fn new(device: &DrmDeviceFd, bytes: &mut [u8]) -> std::io::Result<Self> {
        let number = drm_ffi::mode::create_property_blob(device.as_fd(), bytes)?.blob_id;
        Ok(Blob { device: device.clone(), number })
    }

    /// A blob with a C structure of the kernel's.
    pub fn of<T>(device: &DrmDeviceFd, structure: &T) -> std::io::Result<Self> {
        let number = property::RawValue::from(device.create_property_blob(structure)?);
        Ok(Blob { device: device.clone(), number: u32::try_from(number).unwrap_or(0) })
    }

    /// The blob's id, as a property value.
    pub fn value(&self) -> property::RawValue {
        self.number.into()
    }
}

impl Drop for Blob {
    fn drop(&mut self) {
        if let Err(error) = self.device.destroy_property_blob(self.number.into()) {
            tracing::debug!(%error, "a property blob was gone already");
        }
    }
}

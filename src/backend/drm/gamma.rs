//! `GAMMA_LUT`: the table through which a CRTC sends what it shows.
//!
//! It changes with a frame: the next flip carries it, so that no refresh is spent on it alone and none is torn. After a
//! modeset it stays in force; after another session had the device it is told anew. Without a ramp the table is the one
//! that was there at first: the console may have left one that is nearly, but not quite, none.

use std::os::fd::AsFd as _;

use smithay::backend::drm::{DrmDeviceFd, DrmSurface};
use smithay::reexports::drm::control::{Device, property};

use super::property as properties;
use crate::backend::GammaRamp;

const TABLE: &str = "GAMMA_LUT";
const SIZE: &str = "GAMMA_LUT_SIZE";

/// `struct drm_color_lut`: three channels and a reserve, 16 bits each.
const ENTRY: usize = 8;

/// A table that the kernel keeps.
#[derive(Debug)]
struct Blob {
    device: DrmDeviceFd,
    number: u32,
}

impl Blob {
    fn new(device: &DrmDeviceFd, table: &mut [u8]) -> std::io::Result<Self> {
        let number = drm_ffi::mode::create_property_blob(device.as_fd(), table)?.blob_id;
        Ok(Blob { device: device.clone(), number })
    }
}

impl Drop for Blob {
    fn drop(&mut self) {
        if let Err(error) = self.device.destroy_property_blob(self.number.into()) {
            tracing::debug!(%error, "a gamma table was gone already");
        }
    }
}

/// The table of one CRTC.
#[derive(Debug)]
pub(super) struct Gamma {
    device: DrmDeviceFd,
    table: property::Handle,
    size: u32,
    /// A copy of the one that was there at first, if there was one.
    original: Option<Blob>,
    /// The one that a client wants.
    wanted: Option<Blob>,
    /// The kernel has not been told of it.
    fresh: bool,
}

impl Gamma {
    /// `None` where the CRTC has none.
    pub fn new(surface: &DrmSurface) -> Option<Self> {
        if surface.is_legacy() {
            return None;
        }
        let (table, now) = properties::find(surface, surface.crtc(), TABLE)?;
        let (_, size) = properties::find(surface, surface.crtc(), SIZE)?;
        let size = u32::try_from(size).ok().filter(|size| *size > 0)?;
        let device = surface.device_fd().clone();
        let original = Some(now).filter(|blob| *blob != 0).and_then(|blob| surface.get_property_blob(blob).ok());
        let original = original.and_then(|mut table| Blob::new(&device, &mut table).ok());
        Some(Gamma { device, table: table.handle(), size, original, wanted: None, fresh: false })
    }

    /// Entries of a channel.
    pub fn size(&self) -> u32 {
        self.size
    }

    /// From the next frame on colours are shown like this; `None`: as they were at first.
    pub fn set(&mut self, ramp: Option<&GammaRamp>) -> std::io::Result<()> {
        let make = |ramp| Blob::new(&self.device, &mut table(ramp));
        // The old one may be given back at once: the kernel keeps what is in force.
        (self.wanted, self.fresh) = (ramp.map(make).transpose()?, true);
        Ok(())
    }

    /// The property and its value, if the next commit has to say it.
    pub fn to_tell(&self) -> Option<(property::Handle, property::RawValue)> {
        let number = self.wanted.as_ref().or(self.original.as_ref()).map_or(0, |blob| u64::from(blob.number));
        self.fresh.then_some((self.table, number))
    }

    /// The kernel has taken it, or never will.
    pub fn told(&mut self) {
        self.fresh = false;
    }

    /// Somebody else may have changed it.
    pub fn tell_again(&mut self) {
        self.fresh = true;
    }
}

/// The table as the kernel wants it.
fn table(ramp: &GammaRamp) -> Vec<u8> {
    let mut table = Vec::with_capacity(ramp.red.len() * ENTRY);
    for (red, green, blue) in ramp.entries() {
        [red, green, blue, 0].iter().for_each(|value| table.extend_from_slice(&value.to_ne_bytes()));
    }
    table
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_table_is_red_green_blue_and_nothing() {
        let ramp = GammaRamp { red: vec![1, 2], green: vec![3, 4], blue: vec![5, 6] };
        let expected: Vec<u8> = [1_u16, 3, 5, 0, 2, 4, 6, 0].into_iter().flat_map(u16::to_ne_bytes).collect();
        assert_eq!(table(&ramp), expected);
    }
}

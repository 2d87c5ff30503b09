//! Features of a driver that change the picture on screen between two refreshes: asynchronous flips, cursor moves, and
//! writes into the buffer on screen. They are looked up once, on the worker, and nothing on screen changes by it.

use smithay::backend::drm::DrmDevice;
use smithay::reexports::drm::control::{ClipRect, Device as _, crtc};
use smithay::reexports::drm::{Device as _, DriverCapability};

use super::crtc::Crtc;
use super::memory::ScanoutPicture;
use super::property::Properties;
use crate::backend::DriverFeatures;

/// The plane property with the formats that take asynchronous flips (Linux 6.16).
const ASYNC_FORMATS: &str = "IN_FORMATS_ASYNC";
/// `DRM_PLANE_TYPE_CURSOR`, the value of `type` for a cursor plane.
const CURSOR: u64 = 2;

/// Asks the driver of an output. `picture`: one of our pictures that is not on screen. May block.
pub(super) fn find(
    device: &DrmDevice,
    handle: crtc::Handle,
    crtc: &Crtc,
    picture: Option<&ScanoutPicture>,
    driver: &str,
) -> DriverFeatures {
    let has = |capability| device.get_driver_capability(capability).is_ok_and(|value| value == 1);
    let planes = crtc.atomic().map_or(&[][..], |atomic| atomic.planes());
    let takes_async = |properties: &Properties| properties.value(ASYNC_FORMATS).is_some_and(|blob| blob != 0);
    let names_async = planes.iter().any(|(_, properties)| properties.handle(ASYNC_FORMATS).is_some());
    let features = DriverFeatures {
        name: driver.to_owned(),
        async_atomic_flips: has(DriverCapability::AtomicASyncPageFlip),
        async_legacy_flips: has(DriverCapability::ASyncPageFlip),
        async_planes: names_async.then(|| {
            let able = planes.iter().filter(|(_, properties)| takes_async(properties));
            able.map(|(plane, properties)| plane_name(u32::from(*plane), properties)).collect()
        }),
        cursor_moves: moves_cursor(device, handle, planes.iter().map(|(_, properties)| properties)),
        needs_dirtyfb: picture.and_then(|picture| needs_dirtyfb(device, picture)),
    };
    tracing::debug!(?features, "features of a display's driver");
    features
}

/// The kind of a plane and its id, such as `primary-31`.
fn plane_name(id: u32, properties: &Properties) -> String {
    let kind = match properties.value("type") {
        Some(1) => "primary",
        Some(CURSOR) => "cursor",
        _ => "overlay",
    };
    format!("{kind}-{id}")
}

/// Whether the CRTC takes the legacy call that moves the cursor. A visible cursor would jump, so that is not tried then.
fn moves_cursor<'a>(
    device: &DrmDevice,
    crtc: crtc::Handle,
    mut planes: impl Iterator<Item = &'a Properties>,
) -> Option<bool> {
    let Some(cursor) = planes.find(|properties| properties.value("type") == Some(CURSOR)) else { return Some(false) };
    if cursor.value("FB_ID") != Some(0) {
        return None;
    }
    #[expect(deprecated, reason = "the legacy call is what is asked for")]
    let moved = device.move_cursor(crtc, (0, 0));
    Some(moved.is_ok())
}

/// Whether the driver has to be told about changed pixels. It is told about one.
fn needs_dirtyfb(device: &DrmDevice, picture: &ScanoutPicture) -> Option<bool> {
    dirtyfb_result(device.dirty_framebuffer(picture.framebuffer(), &[ClipRect::new(0, 0, 1, 1)]))
}

/// The meaning of the answer to `DIRTYFB`: a driver that reads the buffer at each refresh does not have the call.
fn dirtyfb_result(answer: std::io::Result<()>) -> Option<bool> {
    match answer {
        Ok(()) => Some(true),
        Err(error) if error.raw_os_error() == Some(libc::ENOSYS) => Some(false),
        Err(_) => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::io::Error;

    #[test]
    fn driver_without_dirtyfb_needs_none() {
        assert_eq!(dirtyfb_result(Ok(())), Some(true));
        assert_eq!(dirtyfb_result(Err(Error::from_raw_os_error(libc::ENOSYS))), Some(false));
        assert_eq!(dirtyfb_result(Err(Error::from_raw_os_error(libc::EACCES))), None);
    }
}

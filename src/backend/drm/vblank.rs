//! The kernel's vblank counter of a CRTC.

use smithay::backend::drm::{DrmDevice, DrmDeviceFd};
use smithay::reexports::drm::control::crtc;
use smithay::reexports::drm::{Device as _, VblankWaitFlags, VblankWaitReply, VblankWaitTarget};

use super::flip_clock::FlipEvent;
use upbeat_timing::time::Instant;

/// The index of a CRTC, by which calls about vblanks name it.
pub(super) fn crtc_index(device: &DrmDevice, crtc: crtc::Handle) -> Option<u32> {
    let index = device.crtcs().iter().position(|other| *other == crtc)?;
    u32::try_from(index).ok()
}

/// Whether the driver has a vblank counter. The query also fails for a CRTC that is off, so only the error "not
/// supported" means that it has none.
pub(super) fn is_counted(device: &DrmDevice, crtc: crtc::Handle) -> bool {
    let Some(index) = crtc_index(device, crtc) else { return false };
    !query(device.device_fd(), index).is_err_and(|error| error.raw_os_error() == Some(libc::EOPNOTSUPP))
}

/// The last vblank, stamped with `CLOCK_MONOTONIC`. Returns at once.
pub(super) fn last(device: &DrmDeviceFd, crtc_index: u32) -> Option<FlipEvent> {
    let vblank = query(device, crtc_index).ok()?;
    Some(FlipEvent { time: Instant::from_epoch(vblank.time()?), sequence: vblank.frame() })
}

/// `WAIT_VBLANK` for no vblank at all.
fn query(device: &DrmDeviceFd, crtc_index: u32) -> std::io::Result<VblankWaitReply> {
    device.wait_vblank(VblankWaitTarget::Relative(0), VblankWaitFlags::empty(), crtc_index, 0)
}

//! Pictures that are handed over before they are finished.
//!
//! The kernel waits for a picture's fence by itself (`IN_FENCE_FD`): the flip stays under way until it has signalled.
//! Where its driver takes no fence the frame is waited for before it is handed over.

use std::os::fd::{AsFd, OwnedFd};

use rustix::event::{PollFd, PollFlags, Timespec, poll};
use smithay::backend::drm::DrmSurface;

use super::property;

const PROPERTY: &str = "IN_FENCE_FD";

/// A GPU that takes longer for a frame is not coming back; reset by its driver it would have signalled.
const LONGEST_WAIT: Timespec = Timespec { tv_sec: 1, tv_nsec: 0 };

/// Whether the kernel waits for pictures of the primary plane.
pub(super) fn taken_by(surface: &DrmSurface) -> bool {
    !surface.is_legacy() && property::find(surface, surface.plane(), PROPERTY).is_some()
}

/// Waits for `fence`, but not for ever. Returns whether it has signalled.
pub(super) fn wait(fence: &OwnedFd) -> bool {
    signals_within(fence, &LONGEST_WAIT)
}

/// Whether `fence` has signalled.
pub(super) fn has_signalled(fence: &OwnedFd) -> bool {
    signals_within(fence, &Timespec::default())
}

fn signals_within(fence: &OwnedFd, time: &Timespec) -> bool {
    let descriptor = fence.as_fd();
    poll(&mut [PollFd::new(&descriptor, PollFlags::IN)], Some(time)).is_ok_and(|ready| ready > 0)
}

//! Pictures that are handed over before they are finished.
//!
//! The kernel waits for a picture's fence by itself (`IN_FENCE_FD`): the flip stays under way until it has signalled.
//! Where its driver takes no fence the presenter waits for it, besides all else that it waits for.

use std::os::fd::{AsFd, OwnedFd};

use rustix::event::{PollFd, PollFlags, Timespec, poll};

use super::crtc::Crtc;
use upbeat_timing::time::Span;

const PROPERTY: &str = "IN_FENCE_FD";

/// A GPU that takes longer for a frame is not coming back; reset by its driver it would have signalled.
pub(super) const LONGEST_WAIT: Span = Span::from_millis(1_000);

/// Whether the kernel waits for pictures of the primary plane.
pub(super) fn taken_by(crtc: &Crtc) -> bool {
    crtc.primary_has(PROPERTY)
}

/// Whether `fence` has signalled.
pub(super) fn has_signalled(fence: &OwnedFd) -> bool {
    let descriptor = fence.as_fd();
    poll(&mut [PollFd::new(&descriptor, PollFlags::IN)], Some(&Timespec::default())).is_ok_and(|ready| ready > 0)
}

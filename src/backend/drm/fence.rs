//! Commits of frames that are not rendered yet.
//!
//! The kernel itself waits for a frame's fence (`IN_FENCE_FD`): the flip stays in flight until the fence has signalled.
//! Where the driver takes no fence, the presenter waits for it in its own poll.

use std::os::fd::{AsFd, OwnedFd};

use rustix::event::{PollFd, PollFlags, Timespec, poll};

use super::crtc::Crtc;
use upbeat_timing::time::Span;

const PROPERTY: &str = "IN_FENCE_FD";

/// After this time the frame is given up. A GPU that takes longer is hung: a reset by its driver would have signalled
/// the fence.
pub(super) const LONGEST_WAIT: Span = Span::from_millis(1_000);

/// Whether the primary plane takes a fence (`IN_FENCE_FD`).
pub(super) fn taken_by(crtc: &Crtc) -> bool {
    crtc.primary_has(PROPERTY)
}

pub(super) fn has_signalled(fence: &OwnedFd) -> bool {
    let descriptor = fence.as_fd();
    poll(&mut [PollFd::new(&descriptor, PollFlags::IN)], Some(&Timespec::default())).is_ok_and(|ready| ready > 0)
}

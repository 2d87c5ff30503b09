//! When rendering was done: fences behind their file descriptor.
//!
//! The display needs two things of a fence: something to wait for, and *when* it signalled. A kernel sync file states
//! the time; of any other descriptor it is only known when somebody looked, which can make a frame late but never
//! early.

use std::os::fd::{AsFd, BorrowedFd, OwnedFd};

use rustix::event::{PollFd, PollFlags, Timespec, poll};

use crate::time::Instant;

/// Where rendering stands.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum FenceState {
    /// Not done yet.
    Pending,
    /// Done, at this time.
    Signalled(Instant),
}

/// Something that becomes readable when rendering is done.
pub trait Fence: AsFd {
    /// Where it stands at `now`, without waiting.
    fn state(&self, now: Instant) -> FenceState;
}

/// Any descriptor that becomes readable once and stays so: an eventfd, a pipe, a sync file.
///
/// It counts as signalled when it is first seen readable. A descriptor that is in error can never signal; it counts as
/// signalled, so that a broken driver does not freeze the output.
#[derive(Debug)]
pub struct ReadinessFence(OwnedFd);

impl ReadinessFence {
    /// Takes the descriptor over.
    pub fn new(fd: OwnedFd) -> Self {
        ReadinessFence(fd)
    }
}

impl AsFd for ReadinessFence {
    fn as_fd(&self) -> BorrowedFd<'_> {
        self.0.as_fd()
    }
}

impl Fence for ReadinessFence {
    fn state(&self, now: Instant) -> FenceState {
        state_of(self.as_fd(), now)
    }
}

/// The state of a fence that somebody else holds.
pub fn state_of(fence: BorrowedFd<'_>, now: Instant) -> FenceState {
    let mut fds = [PollFd::new(&fence, PollFlags::IN)];
    let at_once = Timespec { tv_sec: 0, tv_nsec: 0 };
    match poll(&mut fds, Some(&at_once)) {
        Ok(0) | Err(rustix::io::Errno::INTR) => FenceState::Pending,
        Ok(_) | Err(_) => FenceState::Signalled(now),
    }
}

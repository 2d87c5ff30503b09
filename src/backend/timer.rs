//! A one-shot timer for the event loop, set to an absolute time.

use std::os::fd::{AsFd, BorrowedFd, OwnedFd};

use rustix::time::{Itimerspec, TimerfdClockId, TimerfdFlags, TimerfdTimerFlags, Timespec};

use upbeat_timing::time::{Instant, NANOS_PER_SECOND};

/// A `timerfd` on `CLOCK_MONOTONIC`: readable from its expiry until it is armed again.
#[derive(Debug)]
pub struct Timer {
    fd: OwnedFd,
    armed: Option<Instant>,
}

impl Timer {
    /// Creates a timer that is not armed.
    pub fn new() -> rustix::io::Result<Self> {
        let flags = TimerfdFlags::NONBLOCK | TimerfdFlags::CLOEXEC;
        Ok(Timer { fd: rustix::time::timerfd_create(TimerfdClockId::Monotonic, flags)?, armed: None })
    }

    /// Arms the timer for `wake`, or disarms it. It makes a system call only when the time changes, or when the
    /// timer has expired by `now`: only setting an expired timer makes it unreadable.
    pub fn arm(&mut self, wake: Option<Instant>, now: Instant) -> rustix::io::Result<()> {
        let expired = self.armed.is_some_and(|armed| armed <= now);
        if wake == self.armed && !expired {
            return Ok(());
        }
        // A zero value means "disarm" to the kernel.
        let nanos = wake.map_or(0, |at| at.as_nanos().clamp(1, i64::MAX as u64)) as i64;
        let value = Timespec { tv_sec: nanos / NANOS_PER_SECOND, tv_nsec: nanos % NANOS_PER_SECOND };
        let once = Itimerspec { it_interval: Timespec { tv_sec: 0, tv_nsec: 0 }, it_value: value };
        rustix::time::timerfd_settime(&self.fd, TimerfdTimerFlags::ABSTIME, &once)?;
        self.armed = wake;
        Ok(())
    }
}

impl AsFd for Timer {
    fn as_fd(&self) -> BorrowedFd<'_> {
        self.fd.as_fd()
    }
}

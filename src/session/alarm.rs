//! The one timer of the session: armed for the next thing to do, silent while there is none.

use std::os::fd::{AsFd, BorrowedFd, OwnedFd};

use rustix::time::{Itimerspec, TimerfdClockId, TimerfdFlags, TimerfdTimerFlags, Timespec};

use crate::time::{Instant, Span};

const NEVER: Timespec = Timespec { tv_sec: 0, tv_nsec: 0 };

/// A timer on `CLOCK_MONOTONIC`, absolute.
#[derive(Debug)]
pub struct Alarm {
    timer: OwnedFd,
    armed: Option<Instant>,
    /// When it was armed for the time that it rings at next.
    armed_at: Instant,
}

impl Alarm {
    /// A timer that is not armed.
    pub fn new() -> rustix::io::Result<Self> {
        let flags = TimerfdFlags::CLOEXEC | TimerfdFlags::NONBLOCK;
        Ok(Alarm {
            timer: rustix::time::timerfd_create(TimerfdClockId::Monotonic, flags)?,
            armed: None,
            armed_at: Instant::ZERO,
        })
    }

    /// Arms it for `wake`, or disarms it. Costs nothing when that is what it is armed for.
    pub fn arm(&mut self, wake: Option<Instant>, now: impl FnOnce() -> Instant) -> rustix::io::Result<()> {
        if wake == self.armed {
            return Ok(());
        }
        let value = wake.map_or(NEVER, |wake| {
            // A time of zero would disarm it.
            let nanos = wake.as_nanos().max(1);
            Timespec { tv_sec: (nanos / 1_000_000_000) as i64, tv_nsec: (nanos % 1_000_000_000) as _ }
        });
        let setting = Itimerspec { it_interval: NEVER, it_value: value };
        rustix::time::timerfd_settime(&self.timer, TimerfdTimerFlags::ABSTIME, &setting)?;
        (self.armed, self.armed_at) = (wake, now());
        Ok(())
    }

    /// It rang, as was seen at `now`: it is not armed any more. How late that was: after the time that it was armed for, or
    /// after it was armed where that time had passed already (whoever armed it was late, not the timer).
    pub fn rang(&mut self, now: Instant) -> Span {
        let mut expirations = [0; 8];
        // It may have been armed anew since; then there is nothing to read.
        let _ = rustix::io::read(&self.timer, &mut expirations);
        self.armed.take().map_or(Span::ZERO, |due| (now - due.max(self.armed_at)).max(Span::ZERO))
    }
}

impl AsFd for Alarm {
    fn as_fd(&self) -> BorrowedFd<'_> {
        self.timer.as_fd()
    }
}

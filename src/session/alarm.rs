//! The one timer of the session: armed for the next thing to do, silent while there is none.

use std::os::fd::{AsFd, BorrowedFd, OwnedFd};

use rustix::time::{Itimerspec, TimerfdClockId, TimerfdFlags, TimerfdTimerFlags, Timespec};

use crate::time::Instant;

const NEVER: Timespec = Timespec { tv_sec: 0, tv_nsec: 0 };

/// A timer on `CLOCK_MONOTONIC`, absolute.
#[derive(Debug)]
pub struct Alarm {
    timer: OwnedFd,
    armed: Option<Instant>,
}

impl Alarm {
    /// A timer that is not armed.
    pub fn new() -> rustix::io::Result<Self> {
        let flags = TimerfdFlags::CLOEXEC | TimerfdFlags::NONBLOCK;
        Ok(Alarm { timer: rustix::time::timerfd_create(TimerfdClockId::Monotonic, flags)?, armed: None })
    }

    /// Arms it for `wake`, or disarms it. Costs nothing when that is what it is armed for.
    pub fn arm(&mut self, wake: Option<Instant>) -> rustix::io::Result<()> {
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
        self.armed = wake;
        Ok(())
    }

    /// It rang: it is not armed any more.
    pub fn rang(&mut self) {
        let mut expirations = [0; 8];
        // It may have been armed anew since; then there is nothing to read.
        let _ = rustix::io::read(&self.timer, &mut expirations);
        self.armed = None;
    }
}

impl AsFd for Alarm {
    fn as_fd(&self) -> BorrowedFd<'_> {
        self.timer.as_fd()
    }
}

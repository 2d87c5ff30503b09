//! The session's only timer: armed for the next thing to do, disarmed while there is none.

use std::os::fd::{AsFd, BorrowedFd, OwnedFd};

use rustix::time::{Itimerspec, TimerfdClockId, TimerfdFlags, TimerfdTimerFlags, Timespec};

use upbeat_timing::time::{Instant, Span};

const NEVER: Timespec = Timespec { tv_sec: 0, tv_nsec: 0 };

/// A timerfd on `CLOCK_MONOTONIC`, armed with absolute times.
#[derive(Debug)]
pub struct LoopTimer {
    timer: OwnedFd,
    armed: Option<Instant>,
    /// The timer has expired: its descriptor stays readable until the timer is set again.
    expired: bool,
    /// When the timer was set to `armed`.
    armed_at: Instant,
}

impl LoopTimer {
    /// Creates a disarmed timer.
    pub fn new() -> rustix::io::Result<Self> {
        let flags = TimerfdFlags::CLOEXEC | TimerfdFlags::NONBLOCK;
        Ok(LoopTimer {
            timer: rustix::time::timerfd_create(TimerfdClockId::Monotonic, flags)?,
            armed: None,
            expired: false,
            armed_at: Instant::ZERO,
        })
    }

    /// Arms the timer for `wake`, or disarms it. Makes no system call when the timer is already set to `wake`. Call
    /// it before the next wait, because only setting an expired timer makes its descriptor unreadable.
    pub fn arm(&mut self, wake: Option<Instant>, now: impl FnOnce() -> Instant) -> rustix::io::Result<()> {
        if wake == self.armed && !self.expired {
            return Ok(());
        }
        let value = wake.map_or(NEVER, |wake| {
            // A time of zero would disarm the timer.
            let nanos = wake.as_nanos().max(1);
            Timespec { tv_sec: (nanos / 1_000_000_000) as i64, tv_nsec: (nanos % 1_000_000_000) as _ }
        });
        let setting = Itimerspec { it_interval: NEVER, it_value: value };
        rustix::time::timerfd_settime(&self.timer, TimerfdTimerFlags::ABSTIME, &setting)?;
        (self.armed, self.armed_at, self.expired) = (wake, now(), false);
        Ok(())
    }

    /// Notes at `now` that the timer has expired, and disarms it. Returns how late the wake-up was. This is
    /// measured from the time it was armed for, or from the moment of arming if that time had passed already: then
    /// the caller was late, not the timer.
    pub fn note_expired(&mut self, now: Instant) -> Span {
        self.expired = true;
        self.armed.take().map_or(Span::ZERO, |due| (now - due.max(self.armed_at)).max(Span::ZERO))
    }
}

impl AsFd for LoopTimer {
    fn as_fd(&self) -> BorrowedFd<'_> {
        self.timer.as_fd()
    }
}

#[cfg(test)]
mod tests {
    use rustix::event::{PollFd, PollFlags, poll};

    use super::*;

    const PAST: Instant = Instant::from_nanos(1);
    const NOW: Instant = Instant::from_nanos(2);
    /// A time after the end of every test.
    const LATER: Instant = Instant::from_nanos(i64::MAX as _);

    fn is_readable(timer: &LoopTimer) -> bool {
        poll(&mut [PollFd::new(timer, PollFlags::IN)], Some(&NEVER)).unwrap() > 0
    }

    #[test]
    fn expired_timer_is_not_readable_after_it_is_set_again() {
        let mut timer = LoopTimer::new().unwrap();
        for next in [None, Some(LATER), None] {
            timer.arm(Some(PAST), || NOW).unwrap();
            assert!(is_readable(&timer));
            timer.note_expired(NOW);
            timer.arm(next, || NOW).unwrap();
            assert!(!is_readable(&timer), "{next:?}");
        }
    }

    #[test]
    fn expired_timer_set_to_the_same_time_expires_again() {
        let mut timer = LoopTimer::new().unwrap();
        for _ in 0..2 {
            timer.arm(Some(PAST), || NOW).unwrap();
            assert!(is_readable(&timer));
            assert_eq!(timer.note_expired(NOW), Span::ZERO);
        }
    }
}

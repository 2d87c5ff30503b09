//! The CPU time that another process has used: it tells a client that works from a client that waits.

use upbeat_timing::time::{Instant, Span};

/// The CPU-time clock of another process.
#[derive(Clone, Copy, Debug)]
pub struct ProcessClock(libc::clockid_t);

impl ProcessClock {
    /// The clock of process `pid`; `None` if the system does not let us read it. The id of a process in a container
    /// may not exist here.
    #[expect(
        unsafe_code,
        reason = "no safe wrapper has these two calls: get the clock of another process, and read it"
    )]
    pub fn of(pid: i32) -> Option<Self> {
        let mut clock: libc::clockid_t = 0;
        // SAFETY: `clock` is a valid place for one clock id, and nothing else is passed by address.
        let failed = pid <= 0 || unsafe { libc::clock_getcpuclockid(pid, &mut clock) } != 0;
        (!failed).then_some(ProcessClock(clock)).filter(|clock| clock.read().is_some())
    }

    /// CPU time of all threads since the process began; `None` if the process is gone.
    #[expect(unsafe_code, reason = "see `of`")]
    pub fn read(self) -> Option<Span> {
        let mut time = libc::timespec { tv_sec: 0, tv_nsec: 0 };
        // SAFETY: `time` is a valid place for one timespec.
        let failed = unsafe { libc::clock_gettime(self.0, &mut time) } != 0;
        (!failed).then(|| Instant::from_nanos(time.tv_sec as u64 * 1_000_000_000 + time.tv_nsec as u64) - Instant::ZERO)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn own_process_clock_runs_and_invalid_pids_have_none() {
        let clock = ProcessClock::of(std::process::id() as i32).expect("our own clock");
        let before = clock.read().expect("a time");
        let mut sum = 0u64;
        while clock.read().expect("a time") <= before {
            sum = std::hint::black_box(sum + 1);
        }
        assert!(ProcessClock::of(0).is_none());
        assert!(ProcessClock::of(-7).is_none());
    }
}

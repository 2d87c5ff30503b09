//! A real-time class for a thread that sleeps nearly all the time, and its loss if it does not.
#![expect(unsafe_code, reason = "the scheduler is asked through libc: nothing safe has this call")]

use rustix::time::{ClockId, clock_gettime};

use crate::time::{Instant, NANOS_PER_SECOND, Span};

/// The lowest of the real-time priorities: above all ordinary threads is high enough.
const PRIORITY: i32 = 1;

/// The watchdog looks at stretches of this length ...
const STRETCH: Span = Span::from_millis(500);
/// ... in which the thread may compute for this long: a hundred times what a flip at 240 Hz costs.
const MOST_COMPUTED: Span = Span::from_millis(250);

/// Whether the thread has computed for too long. Pure: fed with the time and the thread's processor time.
#[derive(Clone, Copy, Debug)]
struct Watchdog {
    since: Instant,
    computed: Span,
}

impl Watchdog {
    fn barks(&mut self, now: Instant, computed: Span) -> bool {
        let overrun = computed - self.computed > MOST_COMPUTED;
        if now - self.since >= STRETCH {
            *self = Watchdog { since: now, computed };
        }
        overrun
    }
}

/// The calling thread's class.
#[derive(Debug)]
pub(super) struct RealTime(Option<Watchdog>);

impl RealTime {
    /// Asks for `SCHED_RR` for the calling thread. Without the permission it stays as it is, which is said in the log.
    pub fn ask_for() -> Self {
        match set_class(libc::SCHED_RR | libc::SCHED_RESET_ON_FORK, PRIORITY) {
            Ok(()) => RealTime(Some(Watchdog { since: now(ClockId::Monotonic), computed: computed() })),
            Err(error) => {
                tracing::info!(%error, "no real-time class: frames that wait may be committed late");
                RealTime(None)
            }
        }
    }

    /// Leaves it if the thread computed for too long. To be called each time before it sleeps.
    pub fn check(&mut self) {
        let barks = self.0.as_mut().is_some_and(|dog| dog.barks(now(ClockId::Monotonic), computed()));
        if barks {
            self.0 = None;
            let left = set_class(libc::SCHED_OTHER, 0);
            tracing::error!(?left, "the presenter computes for too long: it leaves the real-time class");
        }
    }
}

fn set_class(policy: libc::c_int, priority: libc::c_int) -> std::io::Result<()> {
    let parameters = libc::sched_param { sched_priority: priority };
    // SAFETY: the call reads `parameters` and nothing else; 0 is the calling thread.
    let done = unsafe { libc::sched_setscheduler(0, policy, &parameters) };
    if done == 0 { Ok(()) } else { Err(std::io::Error::last_os_error()) }
}

fn now(clock: ClockId) -> Instant {
    let time = clock_gettime(clock);
    Instant::from_nanos((time.tv_sec * NANOS_PER_SECOND + time.tv_nsec).unsigned_abs())
}

fn computed() -> Span {
    now(ClockId::ThreadCPUTime) - Instant::ZERO
}

#[cfg(test)]
mod tests {
    use super::*;

    fn at(millis: i64) -> Instant {
        Instant::from_nanos(1_000_000_000) + Span::from_millis(millis)
    }

    #[test]
    fn a_thread_that_sleeps_most_of_the_time_is_left_alone() {
        let mut dog = Watchdog { since: at(0), computed: Span::ZERO };
        let barks = (1..10_000).any(|flip| dog.barks(at(flip * 4), Span::from_micros(200) * flip));
        assert!(!barks);
    }

    #[test]
    fn a_thread_that_never_sleeps_loses_its_class_within_a_stretch() {
        let mut dog = Watchdog { since: at(0), computed: Span::ZERO };
        let first = (1..1_000).find(|millis| dog.barks(at(*millis), Span::from_millis(*millis)));
        assert!(first.is_some_and(|millis| millis <= 500), "{first:?}");
    }
}

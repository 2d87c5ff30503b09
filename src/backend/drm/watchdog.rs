//! A real-time class for a thread that sleeps nearly all the time, and its loss if it does not.
//!
//! Two watch it. The thread itself looks, each time before it sleeps, whether it computed for too long. For one that does not
//! get that far the kernel looks (`RLIMIT_RTTIME`): it sends SIGXCPU, whose handler runs on the very thread and takes the
//! class away. The hard limit, which would kill the session, stays as it was.
#![expect(unsafe_code, reason = "the scheduler is asked through libc: nothing safe has this call")]

use std::sync::OnceLock;
use std::sync::atomic::{AtomicU32, Ordering};

use rustix::process::{Resource, Rlimit, getrlimit, setrlimit};
use rustix::time::{ClockId, clock_gettime};

use crate::time::{Instant, NANOS_PER_SECOND, Span};

/// The lowest of the real-time priorities: above all ordinary threads is high enough.
const PRIORITY: i32 = 1;

/// The watchdog looks at stretches of this length ...
const STRETCH: Span = Span::from_millis(500);
/// ... in which the thread may compute for this long: a hundred times what a flip at 240 Hz costs.
const MOST_COMPUTED: Span = Span::from_millis(250);

/// So long may it compute without sleeping once, in microseconds: more than a driver's slowest modeset computes, and less
/// than a person takes to reach for the power switch.
const LONGEST_RUN: u64 = 300_000;

/// What the limit was before it was ours, for programs that we start.
static BEFORE: OnceLock<Rlimit> = OnceLock::new();
/// The kernel was told to watch, or will not.
static WATCHED: OnceLock<()> = OnceLock::new();
/// How many threads the kernel has stopped.
static STOPPED: AtomicU32 = AtomicU32::new(0);

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
pub(super) struct RealTime {
    dog: Option<Watchdog>,
    /// How many threads had been stopped when it last looked.
    stopped: u32,
}

impl RealTime {
    /// Asks for `SCHED_RR` for the calling thread. Without the permission it stays as it is, which is said in the log.
    pub fn ask_for() -> Self {
        let stopped = STOPPED.load(Ordering::Relaxed);
        // Whoever has the class is watched from its first moment.
        WATCHED.get_or_init(|| {
            if let Err(error) = watch() {
                tracing::warn!(%error, "the kernel does not watch for how long real-time threads compute");
            }
        });
        let dog = match set_class(libc::SCHED_RR | libc::SCHED_RESET_ON_FORK, PRIORITY) {
            Ok(()) => Some(Watchdog { since: now(ClockId::Monotonic), computed: computed() }),
            Err(error) => {
                tracing::info!(%error, "no real-time class: frames that wait may be committed late");
                None
            }
        };
        RealTime { dog, stopped }
    }

    /// Leaves it if the thread computed for too long. To be called each time before it sleeps.
    pub fn check(&mut self) {
        let Some(dog) = &mut self.dog else { return };
        let stopped = STOPPED.load(Ordering::Relaxed);
        if std::mem::replace(&mut self.stopped, stopped) != stopped && !is_real_time() {
            self.dog = None;
            // The kernel has put the limit up by a second.
            let _ = limit(getrlimit(Resource::Rttime).maximum);
            return tracing::error!("the presenter computed for too long at once: it has lost the real-time class");
        }
        if dog.barks(now(ClockId::Monotonic), computed()) {
            match leave() {
                Ok(()) => self.dog = None,
                // It is tried again after as much.
                Err(_) => *dog = Watchdog { since: now(ClockId::Monotonic), computed: computed() },
            }
            tracing::error!(
                left = !is_real_time(),
                "the presenter computes for too long: it leaves the real-time class"
            );
        }
    }
}

/// Does something that nobody is in a hurry for without the class, if the thread has it: on a machine with few processors it
/// would keep those of other outputs and their programs from theirs.
pub(super) fn unhurried<T>(act: impl FnOnce() -> T) -> T {
    let left = is_real_time() && leave().is_ok();
    let done = act();
    if left && let Err(error) = set_class(libc::SCHED_RR | libc::SCHED_RESET_ON_FORK, PRIORITY) {
        tracing::warn!(%error, "the presenter left the real-time class for a modeset, and does not get it back");
    }
    done
}

/// What programs that this one starts are to have as their limit; `None` where it is still what it was.
pub fn limit_before() -> Option<Rlimit> {
    BEFORE.get().copied()
}

/// Notes the limit. To be called before there is any thread that asks for the class, by whoever starts programs: a thread
/// that was just started sets the limit at a moment that nobody else knows.
pub(super) fn remember_limit() -> Rlimit {
    *BEFORE.get_or_init(|| getrlimit(Resource::Rttime))
}

/// From now on the kernel stops real-time threads of this process that do not sleep.
fn watch() -> std::io::Result<()> {
    let before = remember_limit();
    // By default the signal ends the process: the handler comes first.
    handle()?;
    limit(before.maximum)
}

fn limit(hard: Option<u64>) -> std::io::Result<()> {
    Ok(setrlimit(Resource::Rttime, Rlimit { current: Some(soft_limit(hard)), maximum: hard })?)
}

/// Well before the hard one: the kernel looks at that first, and where both are reached it kills.
fn soft_limit(hard: Option<u64>) -> u64 {
    hard.map_or(LONGEST_RUN, |hard| LONGEST_RUN.min(hard / 2))
}

fn handle() -> std::io::Result<()> {
    let handler: extern "C" fn(libc::c_int) = stop;
    // SAFETY: a zeroed `sigaction` is a valid one, and so is the handler, which does only what signal-safety(7) allows; the
    // call reads it and nothing else.
    let done = unsafe {
        let mut action: libc::sigaction = std::mem::zeroed();
        action.sa_sigaction = handler as libc::sighandler_t;
        action.sa_flags = libc::SA_RESTART;
        libc::sigaction(libc::SIGXCPU, &action, std::ptr::null_mut())
    };
    if done == 0 { Ok(()) } else { Err(std::io::Error::last_os_error()) }
}

/// Runs on the thread that computed for too long: the kernel prefers it.
extern "C" fn stop(_signal: libc::c_int) {
    // SAFETY: `errno` belongs to this thread; what it interrupted may be about to read it.
    let errno = unsafe { *libc::__errno_location() };
    let _ = leave();
    STOPPED.fetch_add(1, Ordering::Relaxed);
    // SAFETY: as above.
    unsafe { *libc::__errno_location() = errno };
}

fn is_real_time() -> bool {
    // SAFETY: the call reads nothing of ours; 0 is the calling thread.
    let class = unsafe { libc::sched_getscheduler(0) };
    class & !libc::SCHED_RESET_ON_FORK == libc::SCHED_RR
}

/// Back to the ordinary class. The flag stays: whoever may not raise a class may leave it, but may not clear that.
fn leave() -> std::io::Result<()> {
    set_class(libc::SCHED_OTHER | libc::SCHED_RESET_ON_FORK, 0)
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

    #[test]
    fn the_signal_comes_before_the_kernel_kills() {
        assert_eq!(soft_limit(None), LONGEST_RUN);
        for hard in [100, 200_000, LONGEST_RUN, 1_000_000] {
            assert!(soft_limit(Some(hard)) < hard && soft_limit(Some(hard)) <= LONGEST_RUN, "{hard}");
        }
    }

    #[test]
    fn whoever_may_not_raise_a_class_can_leave_it() {
        // Only who may raise it and is somebody who may not afterwards can show it: nothing is proved for others.
        let is_ordinary = std::thread::spawn(|| {
            if set_class(libc::SCHED_RR | libc::SCHED_RESET_ON_FORK, PRIORITY).is_err() {
                return true;
            }
            let nobody = rustix::process::Uid::from_raw(65_534);
            // Of this thread alone.
            if rustix::thread::set_thread_res_uid(nobody, nobody, nobody).is_ok() {
                let _ = leave();
            } else {
                let _ = set_class(libc::SCHED_OTHER, 0);
            }
            !is_real_time()
        });
        assert!(is_ordinary.join().unwrap());
    }

    #[test]
    fn what_is_in_no_hurry_is_done_without_the_class_that_comes_back() {
        let kept = std::thread::spawn(|| {
            let has = set_class(libc::SCHED_RR | libc::SCHED_RESET_ON_FORK, PRIORITY).is_ok();
            let meanwhile = unhurried(is_real_time);
            !meanwhile && is_real_time() == has
        });
        assert!(kept.join().unwrap());
    }

    #[test]
    fn the_kernel_takes_the_class_from_a_thread_that_never_sleeps_and_the_process_lives() {
        // Not everybody may have it: then there is nothing to take away.
        let spun = std::thread::spawn(|| {
            let mut real_time = RealTime::ask_for();
            let begun = now(ClockId::Monotonic);
            let is_long = || now(ClockId::Monotonic) - begun > Span::from_millis(5_000);
            while real_time.dog.is_some() && is_real_time() && !is_long() {
                std::hint::spin_loop();
            }
            let stopped = !is_real_time();
            real_time.check();
            stopped && real_time.dog.is_none()
        });
        assert!(spun.join().unwrap());
        assert!(limit_before().is_some(), "programs that are started get what was there before");
    }
}

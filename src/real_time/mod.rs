//! A real-time class for the threads that have to be on time and sleep nearly always, and its loss if they do not.
//!
//! ```text
//!   another program   ████████████████████████████████        a slice of the ordinary class: up to milliseconds
//!   without the class           ▲ latch_at ····· ░░ composes, too late
//!   with it                     ▲░░ composes                  the other goes on behind
//! ```
//!
//! Two watch who has it. The thread itself looks, each time before it sleeps, whether it computed for too long. For one that
//! does not get that far the kernel looks (`RLIMIT_RTTIME`): it sends SIGXCPU, whose handler runs on the very thread and takes
//! the class away. The hard limit, which would kill the session, stays as it was.
#![expect(unsafe_code, reason = "the scheduler is asked through libc: nothing safe has this call")]

mod watchdog;

use std::cell::Cell;
use std::sync::OnceLock;
use std::sync::atomic::{AtomicU32, Ordering};

use rustix::process::{Resource, Rlimit, getrlimit, setrlimit};
use rustix::time::{ClockId, Timespec, clock_gettime};
use watchdog::{Allowance, Watchdog};

use upbeat_timing::time::{Instant, NANOS_PER_SECOND, Span};

/// So long may a thread compute without sleeping once, in microseconds: more than a driver's slowest modeset computes, and less
/// than a person takes to reach for the power switch.
const LONGEST_RUN: u64 = 300_000;

/// What the limit was before it was ours, for programs that we start.
static BEFORE: OnceLock<Rlimit> = OnceLock::new();
/// The kernel was told to watch, or will not.
static WATCHED: OnceLock<()> = OnceLock::new();
/// How many threads the kernel has stopped.
static STOPPED: AtomicU32 = AtomicU32::new(0);

/// What a thread does that asks for the class.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Role {
    /// It commits frames to a display, and does little else.
    Presenter,
    /// It latches and composes them, and does all that clients ask for besides.
    Main,
}

impl Role {
    /// The lowest of the real-time priorities are above all ordinary threads, which is high enough. The very lowest is left to
    /// clients. A presenter's is above the main thread's: it has little to do, and would wait for as long as that computes on a
    /// machine with one processor.
    const fn priority(self) -> libc::c_int {
        match self {
            Role::Presenter => 3,
            Role::Main => 2,
        }
    }

    const fn allowance(self) -> Allowance {
        match self {
            Role::Presenter => Allowance::PRESENTER,
            Role::Main => Allowance::MAIN,
        }
    }

    /// For the log.
    const fn name(self) -> &'static str {
        match self {
            Role::Presenter => "presenter",
            Role::Main => "main thread",
        }
    }

    fn watchdog(self) -> Watchdog {
        Watchdog::new(self.allowance(), now(ClockId::Monotonic), computed())
    }

    fn lost(self) -> Class {
        match self.allowance().comes_back() {
            true => Class::Lost(self.watchdog()),
            false => Class::Ordinary,
        }
    }
}

/// The calling thread's class.
#[derive(Debug)]
pub struct RealTime {
    role: Role,
    class: Class,
    /// How many threads had been stopped when it last looked.
    stopped: u32,
}

#[derive(Debug)]
enum Class {
    /// It may not have the real-time class, or not any more.
    Ordinary,
    RealTime(Watchdog),
    /// It computed for too long. It gets the class back when it rests.
    Lost(Watchdog),
}

impl RealTime {
    /// Asks for `SCHED_RR` for the calling thread. Without the permission it stays as it is, which is said in the log.
    pub fn ask_for(role: Role) -> Self {
        let stopped = STOPPED.load(Ordering::Relaxed);
        // Whoever has the class is watched from its first moment.
        WATCHED.get_or_init(|| {
            if let Err(error) = watch() {
                tracing::warn!(%error, "the kernel does not watch for how long real-time threads compute");
            }
        });
        let class = match enter(role) {
            Ok(()) => Class::RealTime(role.watchdog()),
            Err(error) => {
                tracing::info!(%error, "no real-time class for the {}: frames may be late beside busy programs", role.name());
                Class::Ordinary
            }
        };
        RealTime { role, class, stopped }
    }

    /// Leaves it if the thread computed for too long, and comes back where that is allowed. To be called each time before the
    /// thread sleeps.
    pub fn check(&mut self) {
        let Class::RealTime(dog) = &mut self.class else { return self.come_back() };
        let stopped = STOPPED.load(Ordering::Relaxed);
        if std::mem::replace(&mut self.stopped, stopped) != stopped && !is_real_time() {
            self.class = self.role.lost();
            // The kernel has put the limit up by a second.
            let _ = limit(getrlimit(Resource::Rttime).maximum);
            return tracing::warn!(
                "the {} computed for too long at once: it has lost the real-time class",
                self.role.name()
            );
        }
        if dog.barks(now(ClockId::Monotonic), computed) {
            let left = leave().is_ok();
            // Where it did not go, it is tried again after as much.
            self.class = if left { self.role.lost() } else { Class::RealTime(self.role.watchdog()) };
            tracing::warn!(left, "the {} computes for too long: it leaves the real-time class", self.role.name());
        }
    }

    /// Gives it up for good.
    pub fn give_up(self) {
        if matches!(self.class, Class::RealTime(_))
            && let Err(error) = leave()
        {
            tracing::warn!(%error, "the {} cannot leave the real-time class", self.role.name());
        }
    }

    fn come_back(&mut self) {
        let Class::Lost(dog) = &mut self.class else { return };
        if !dog.rests(now(ClockId::Monotonic), computed) {
            return;
        }
        self.class = match enter(self.role) {
            Ok(()) => Class::RealTime(self.role.watchdog()),
            Err(_) => Class::Ordinary,
        };
        // For how long it has not slept the kernel counts from the last sleep in this class, which was before it was lost.
        let _ = rustix::thread::nanosleep(&Timespec { tv_sec: 0, tv_nsec: 1 });
        self.stopped = STOPPED.load(Ordering::Relaxed);
        tracing::info!(
            is_back = matches!(self.class, Class::RealTime(_)),
            "the {} rests again: it asked for the real-time class",
            self.role.name()
        );
    }
}

/// Does something that nobody is in a hurry for without the class, if the presenter that calls has it: on a machine with few
/// processors it would keep those of other outputs and their programs from theirs.
pub fn unhurried<T>(act: impl FnOnce() -> T) -> T {
    if !is_real_time() || leave().is_err() {
        return act();
    }
    let before = now(ClockId::ThreadCPUTime);
    let done = act();
    // A driver may spin for long: that was nobody else's time.
    ELSEWHERE.set(ELSEWHERE.get() + (now(ClockId::ThreadCPUTime) - before));
    if let Err(error) = enter(Role::Presenter) {
        tracing::warn!(%error, "the presenter left the real-time class for a modeset, and does not get it back");
    }
    done
}

thread_local! {
    /// What this thread has computed while it was out of the class.
    static ELSEWHERE: Cell<Span> = const { Cell::new(Span::ZERO) };
}

/// What programs that this one starts are to have as their limit; `None` where it is still what it was.
pub fn limit_before() -> Option<Rlimit> {
    BEFORE.get().copied()
}

/// Notes the limit. To be called before there is any thread that asks for the class, by whoever starts programs: a thread
/// that was just started sets the limit at a moment that nobody else knows.
pub fn remember_limit() -> Rlimit {
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

fn enter(role: Role) -> std::io::Result<()> {
    set_class(libc::SCHED_RR | libc::SCHED_RESET_ON_FORK, role.priority())
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

/// How long this thread has computed in the class.
fn computed() -> Span {
    now(ClockId::ThreadCPUTime) - Instant::ZERO - ELSEWHERE.get()
}

#[cfg(test)]
mod tests {
    use super::*;

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
            if enter(Role::Presenter).is_err() {
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
            let has = enter(Role::Presenter).is_ok();
            let meanwhile = unhurried(is_real_time);
            !meanwhile && is_real_time() == has
        });
        assert!(kept.join().unwrap());
    }

    /// Computes until it has no class any more, five seconds at most, and looks then. Whether the class is gone.
    fn spins_out_of_the_class(real_time: &mut RealTime) -> bool {
        let begun = now(ClockId::Monotonic);
        let is_long = || now(ClockId::Monotonic) - begun > Span::from_millis(5_000);
        while is_real_time() && !is_long() {
            std::hint::spin_loop();
        }
        let stopped = !is_real_time();
        real_time.check();
        stopped && !matches!(real_time.class, Class::RealTime(_))
    }

    // Not everybody may have the class: then there is nothing to take away, and the tests prove nothing.

    #[test]
    fn the_kernel_takes_the_class_from_a_thread_that_never_sleeps_and_the_process_lives() {
        let spun = std::thread::spawn(|| {
            let mut real_time = RealTime::ask_for(Role::Presenter);
            spins_out_of_the_class(&mut real_time) && matches!(real_time.class, Class::Ordinary)
        });
        assert!(spun.join().unwrap());
        assert!(limit_before().is_some(), "programs that are started get what was there before");
    }

    #[test]
    fn a_main_thread_gets_it_back_when_it_rests() {
        let back = std::thread::spawn(|| {
            let mut real_time = RealTime::ask_for(Role::Main);
            if matches!(real_time.class, Class::Ordinary) {
                return true;
            }
            let lost = spins_out_of_the_class(&mut real_time);
            std::thread::sleep(std::time::Duration::from_millis(1_000));
            real_time.check();
            lost && is_real_time()
        });
        assert!(back.join().unwrap());
    }

    #[test]
    fn who_gives_it_up_has_it_no_more() {
        let kept = std::thread::spawn(|| {
            RealTime::ask_for(Role::Main).give_up();
            is_real_time()
        });
        assert!(!kept.join().unwrap());
    }
}

//! Real-time scheduling (`SCHED_RR`) for the threads that must meet deadlines and sleep nearly always. A thread that
//! computes for too long loses it.
//!
//! ```text
//!   another program   ████████████████████████████████        a slice of the ordinary class: up to milliseconds
//!   without the class           ▲ latch_at ····· ░░ composes, too late
//!   with it                     ▲░░ composes                  the other program goes on afterwards
//! ```
//!
//! There are two watchdogs. The thread itself checks, each time before it sleeps, whether it computed for too long. For
//! a thread that never gets there the kernel checks (`RLIMIT_RTTIME`): it sends SIGXCPU, whose handler runs on that
//! very thread and leaves the class. The hard limit, which would kill the session, stays as it was.
#![expect(unsafe_code, reason = "only libc has the scheduler calls")]

mod watchdog;

use std::cell::Cell;
use std::sync::OnceLock;
use std::sync::atomic::{AtomicU32, Ordering};

use rustix::process::{Resource, Rlimit, getrlimit, setrlimit};
use rustix::time::{ClockId, Timespec, clock_gettime};
use watchdog::{ComputeAllowance, Watchdog};

use upbeat_timing::time::{Instant, NANOS_PER_SECOND, Span};

/// How long a thread may compute without sleeping once, in microseconds: longer than a driver's slowest modeset, and
/// shorter than a user takes to reach for the power switch.
const LONGEST_RUN: u64 = 300_000;

/// The `RLIMIT_RTTIME` that this process started with; its child programs get it back.
static BEFORE: OnceLock<Rlimit> = OnceLock::new();
/// The kernel's watchdog is set up, or failed to be.
static WATCHED: OnceLock<()> = OnceLock::new();
/// How many threads the kernel's watchdog has stopped.
static STOPPED: AtomicU32 = AtomicU32::new(0);

/// The task of a thread with real-time scheduling.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ThreadRole {
    /// Commits frames to a display, and does little else.
    Presenter,
    /// Reads the rows of a virtual display, as the scan-out of a real one does: a row that is read late proves nothing.
    Sampler,
    /// Latches and composes frames, and handles all requests of clients.
    Main,
    /// Composes parts of large frames, for which the main thread waits.
    Painter,
}

impl ThreadRole {
    /// Even the lowest real-time priorities are above all ordinary threads, which is enough. The very lowest is left to
    /// clients. A presenter's is above the main thread's: a presenter has little to do, and on a machine with one
    /// processor it would otherwise wait for as long as the main thread computes. A sampler has no thread above it, as
    /// hardware has none.
    const fn priority(self) -> libc::c_int {
        match self {
            ThreadRole::Sampler => 4,
            ThreadRole::Presenter => 3,
            ThreadRole::Main | ThreadRole::Painter => 2,
        }
    }

    const fn allowance(self) -> ComputeAllowance {
        match self {
            ThreadRole::Sampler | ThreadRole::Presenter => ComputeAllowance::PRESENTER,
            ThreadRole::Main | ThreadRole::Painter => ComputeAllowance::MAIN,
        }
    }

    const fn name(self) -> &'static str {
        match self {
            ThreadRole::Sampler => "front sampler",
            ThreadRole::Presenter => "presenter",
            ThreadRole::Main => "main thread",
            ThreadRole::Painter => "band thread",
        }
    }

    fn watchdog(self) -> Watchdog {
        Watchdog::new(self.allowance(), now(ClockId::Monotonic), processor_time())
    }

    fn lost(self) -> SchedulingClass {
        match self.allowance().comes_back() {
            true => SchedulingClass::Lost(self.watchdog()),
            false => SchedulingClass::Ordinary,
        }
    }
}

/// Scheduling class of the calling thread.
#[derive(Debug)]
pub struct RealTime {
    role: ThreadRole,
    class: SchedulingClass,
    /// [`STOPPED`] at the last check.
    stopped: u32,
}

thread_local! {
    /// How often this thread has lost the real-time class. A [`RealTime`] cannot count it, because a band thread gives its
    /// class up, and asks anew, each time the main thread loses its own.
    static LOSSES: Cell<LossCount> = const { Cell::new(LossCount(0)) };
}

/// How often a thread has lost the real-time class. Under load a thread may lose it every second, so only the first,
/// second, fourth, eighth ... loss is logged, and the return after it.
#[derive(Clone, Copy, Debug)]
struct LossCount(u32);

impl LossCount {
    /// Counts another loss of the calling thread.
    fn add() -> Self {
        let count = LossCount(LOSSES.get().0.saturating_add(1));
        LOSSES.set(count);
        count
    }

    const fn is_logged(self) -> bool {
        self.0.is_power_of_two()
    }
}

/// Logs that the calling thread has lost the class.
fn log_loss(text: std::fmt::Arguments<'_>) {
    let count = LossCount::add();
    match count.is_logged() {
        true => tracing::warn!(times = count.0, "{text}"),
        false => tracing::debug!(times = count.0, "{text}"),
    }
}

#[derive(Debug)]
enum SchedulingClass {
    /// The thread may not have the real-time class, or not any more.
    Ordinary,
    RealTime(Watchdog),
    /// The thread computed for too long. It gets the class back when it rests.
    Lost(Watchdog),
}

impl RealTime {
    /// Requests `SCHED_RR` for the calling thread. Without the permission the class stays ordinary, and a line is
    /// logged.
    pub fn ask_for(role: ThreadRole) -> Self {
        let stopped = STOPPED.load(Ordering::Relaxed);
        // Before the class, so that a thread which has it is watched from the first moment.
        WATCHED.get_or_init(|| {
            if let Err(error) = watch() {
                tracing::warn!(%error, "RLIMIT_RTTIME is not set: the kernel does not limit real-time threads");
            }
        });
        let class = match enter(role) {
            Ok(()) => SchedulingClass::RealTime(role.watchdog()),
            Err(error) => {
                tracing::info!(%error, "no real-time class for the {}: frames may be late beside busy programs", role.name());
                SchedulingClass::Ordinary
            }
        };
        RealTime { role, class, stopped }
    }

    /// Leaves the class if the thread computed for too long, and enters it again where that is allowed. To be called
    /// each time before the thread sleeps.
    pub fn check(&mut self) {
        let SchedulingClass::RealTime(dog) = &mut self.class else { return self.reenter_class() };
        let stopped = STOPPED.load(Ordering::Relaxed);
        if std::mem::replace(&mut self.stopped, stopped) != stopped && !is_real_time() {
            self.class = self.role.lost();
            // The kernel has raised the soft limit by a second.
            let _ = limit(getrlimit(Resource::Rttime).maximum);
            let name = self.role.name();
            return log_loss(format_args!(
                "the {name} computed for too long without sleeping: the kernel has taken its real-time class"
            ));
        }
        if dog.exceeds_allowance(now(ClockId::Monotonic), processor_time) {
            let left = leave().is_ok();
            // If leaving failed, the watchdog starts again and tries once more after the same time.
            self.class = if left { self.role.lost() } else { SchedulingClass::RealTime(self.role.watchdog()) };
            let name = self.role.name();
            match left {
                true => log_loss(format_args!("the {name} computes for too long: it leaves the real-time class")),
                false => log_loss(format_args!("the {name} computes for too long, and cannot leave its class")),
            }
        }
    }

    /// Leaves the class for good.
    pub fn give_up(self) {
        if matches!(self.class, SchedulingClass::RealTime(_))
            && let Err(error) = leave()
        {
            tracing::warn!(%error, "the {} cannot leave the real-time class", self.role.name());
        }
    }

    fn reenter_class(&mut self) {
        let SchedulingClass::Lost(dog) = &mut self.class else { return };
        if !dog.has_rested(now(ClockId::Monotonic), processor_time) {
            return;
        }
        self.class = match enter(self.role) {
            Ok(()) => SchedulingClass::RealTime(self.role.watchdog()),
            Err(_) => SchedulingClass::Ordinary,
        };
        // The kernel counts the time without sleep from the last sleep in this class, which was before the class was
        // lost. So the thread must sleep once now.
        let _ = rustix::thread::nanosleep(&Timespec { tv_sec: 0, tv_nsec: 1 });
        self.stopped = STOPPED.load(Ordering::Relaxed);
        let is_back = matches!(self.class, SchedulingClass::RealTime(_));
        let (count, name) = (LOSSES.get(), self.role.name());
        let times = count.0;
        // A thread that is refused the class does not ask again.
        match count.is_logged() || !is_back {
            true => tracing::info!(is_back, times, "the {name} rests again: it asked for the real-time class"),
            false => tracing::debug!(is_back, times, "the {name} rests again: it asked for the real-time class"),
        }
    }
}

/// Runs a task without a deadline in the ordinary class, if a presenter calls. On a machine with few processors the
/// task would otherwise delay the presenters of other outputs and the clients.
pub fn run_in_ordinary_class<T>(act: impl FnOnce() -> T) -> T {
    if !is_real_time() || leave().is_err() {
        return act();
    }
    let before = now(ClockId::ThreadCPUTime);
    let done = act();
    // A driver may spin for long. This time does not count, because it was not spent in the class.
    ELSEWHERE.set(ELSEWHERE.get() + (now(ClockId::ThreadCPUTime) - before));
    if let Err(error) = enter(ThreadRole::Presenter) {
        tracing::warn!(%error, "the presenter cannot return to the real-time class after a modeset");
    }
    done
}

thread_local! {
    /// Processor time of this thread while it was out of the class.
    static ELSEWHERE: Cell<Span> = const { Cell::new(Span::ZERO) };
}

/// The limit for programs that this process starts; `None` while it is unchanged.
pub fn limit_before() -> Option<Rlimit> {
    BEFORE.get().copied()
}

/// Remembers the limit. Code that starts programs must call it before any thread requests the class, since a new thread
/// changes the limit at an unknown moment.
pub fn remember_limit() -> Rlimit {
    *BEFORE.get_or_init(|| getrlimit(Resource::Rttime))
}

/// From now on the kernel stops real-time threads of this process that do not sleep.
fn watch() -> std::io::Result<()> {
    let before = remember_limit();
    // The handler comes first, because by default the signal ends the process.
    handle()?;
    limit(before.maximum)
}

fn limit(hard: Option<u64>) -> std::io::Result<()> {
    Ok(setrlimit(Resource::Rttime, Rlimit { current: Some(soft_limit(hard)), maximum: hard })?)
}

/// Well below the hard limit: the kernel checks the hard limit first, and kills the process when both are reached.
fn soft_limit(hard: Option<u64>) -> u64 {
    hard.map_or(LONGEST_RUN, |hard| LONGEST_RUN.min(hard / 2))
}

fn handle() -> std::io::Result<()> {
    let handler: extern "C" fn(libc::c_int) = stop;
    // SAFETY: a zeroed `sigaction` is valid, and so is the handler, which does only what signal-safety(7) allows. The
    // call reads the struct and nothing else.
    let done = unsafe {
        let mut action: libc::sigaction = std::mem::zeroed();
        action.sa_sigaction = handler as libc::sighandler_t;
        action.sa_flags = libc::SA_RESTART;
        libc::sigaction(libc::SIGXCPU, &action, std::ptr::null_mut())
    };
    if done == 0 { Ok(()) } else { Err(std::io::Error::last_os_error()) }
}

/// The signal handler. It runs on the thread that computed for too long, because the kernel prefers that thread.
extern "C" fn stop(_signal: libc::c_int) {
    // SAFETY: `errno` belongs to this thread. It is restored, because the interrupted code may be about to read it.
    let errno = unsafe { *libc::__errno_location() };
    let _ = leave();
    STOPPED.fetch_add(1, Ordering::Relaxed);
    // SAFETY: as above.
    unsafe { *libc::__errno_location() = errno };
}

fn enter(role: ThreadRole) -> std::io::Result<()> {
    set_class(libc::SCHED_RR | libc::SCHED_RESET_ON_FORK, role.priority())
}

/// Whether the calling thread has the real-time class.
pub fn is_real_time() -> bool {
    // SAFETY: the call reads nothing of ours; 0 is the calling thread.
    let class = unsafe { libc::sched_getscheduler(0) };
    class & !libc::SCHED_RESET_ON_FORK == libc::SCHED_RR
}

/// Returns to the ordinary class. The flag stays set, because a thread without permission may leave the class but may
/// not clear the flag.
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

/// Processor time of this thread in the class.
fn processor_time() -> Span {
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
    fn losses_of_a_thread_are_logged_ever_more_rarely() {
        let logged = |losses: u32| (0..losses).map(|_| LossCount::add()).filter(|count| count.is_logged()).count();
        // Each thread has its own count.
        for _ in 0..2 {
            let thread = std::thread::spawn(move || (logged(100), logged(100)));
            assert_eq!(thread.join().unwrap(), (7, 1), "losses 1 to 64, then 128");
        }
    }

    #[test]
    fn thread_without_permission_can_leave_the_class() {
        // This proves something only for a user who may raise the class, and who then gives up that right.
        let is_ordinary = std::thread::spawn(|| {
            if enter(ThreadRole::Presenter).is_err() {
                return true;
            }
            let nobody = rustix::process::Uid::from_raw(65_534);
            // Changes this thread alone.
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
    fn unhurried_work_runs_in_the_ordinary_class() {
        let kept = std::thread::spawn(|| {
            let has = enter(ThreadRole::Presenter).is_ok();
            let meanwhile = run_in_ordinary_class(is_real_time);
            !meanwhile && is_real_time() == has
        });
        assert!(kept.join().unwrap());
    }

    /// Computes until the thread has lost the class, five seconds at most, then checks. Returns whether the class is
    /// gone.
    fn spins_out_of_the_class(real_time: &mut RealTime) -> bool {
        let begun = now(ClockId::Monotonic);
        let is_long = || now(ClockId::Monotonic) - begun > Span::from_millis(5_000);
        while is_real_time() && !is_long() {
            std::hint::spin_loop();
        }
        let stopped = !is_real_time();
        real_time.check();
        stopped && !matches!(real_time.class, SchedulingClass::RealTime(_))
    }

    // Where the user may not have the class there is nothing to take away, and the tests prove nothing.

    #[test]
    fn the_kernel_takes_the_class_from_a_thread_that_never_sleeps_and_the_process_lives() {
        let spun = std::thread::spawn(|| {
            let mut real_time = RealTime::ask_for(ThreadRole::Presenter);
            spins_out_of_the_class(&mut real_time) && matches!(real_time.class, SchedulingClass::Ordinary)
        });
        assert!(spun.join().unwrap());
        assert!(limit_before().is_some(), "programs that are started get what was there before");
    }

    #[test]
    fn main_thread_gets_the_class_back_when_it_rests() {
        let back = std::thread::spawn(|| {
            let mut real_time = RealTime::ask_for(ThreadRole::Main);
            if matches!(real_time.class, SchedulingClass::Ordinary) {
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
    fn given_up_class_stays_ordinary() {
        let kept = std::thread::spawn(|| {
            RealTime::ask_for(ThreadRole::Main).give_up();
            is_real_time()
        });
        assert!(!kept.join().unwrap());
    }
}

//! The self-test of the virtual display: frames that are complete 100 µs before and after the submit deadline must hit
//! and miss.
//!
//! If a virtual display showed frames that are submitted a nanosecond before its vblank, all measurements on it would
//! be too good. This test proves on the real clock, too, that it does not:
//! ```text
//!             complete at −100 µs ──┐ ┌── complete at +100 µs
//!                                   ▼ ▼
//!   ├───────────────────────────────┊─────────┤ vblank k      hit: shown by k, miss: by k + 1
//!                                   submit_by └ lead
//! ```

use std::fmt;
use std::os::fd::{AsFd, OwnedFd};
use std::rc::Rc;

use rustix::event::{EventfdFlags, eventfd};

use super::{HeadlessBackend, HeadlessError, HeadlessOutput, OutputOptions};
use crate::backend::{Display, DisplayEvent, FrameId, FramePlan, PlanChange, VideoMode};
use upbeat_timing::time::{Clock, Instant, MonotonicClock, NANOS_PER_SECOND, SimulatedClock, Span};

const MODE: VideoMode = VideoMode { width: 64, height: 64, refresh: 60_000 };
/// How far from the deadline frames are completed.
const OFFSET: Span = Span::from_micros(100);
/// Rounds of each of the four cases.
const ROUNDS: u64 = 8;

/// The event that completes the frame.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum CompletingEvent {
    /// Submit returns; rendering was done before.
    Submit,
    /// The fence signals; submit returned long before.
    Fence,
}

/// One frame of the test.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Trial {
    pub last: CompletingEvent,
    /// When the frame was meant to be complete, relative to `submit_by`.
    pub planned: Span,
    /// Clock readings before and after the completing event, relative to `submit_by`: on a busy machine they differ.
    pub completed: (Span, Span),
    /// Whether the intended vblank showed the frame; `None` if it was not shown at all.
    pub hit: Option<bool>,
}

/// The conclusion from a trial.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum TrialVerdict {
    /// The frame was complete in time and shown, or late and not shown.
    Honest,
    /// The frame was shown too early, or missed although it was complete.
    Wrong,
    /// The thread was preempted across the deadline, so the trial proves nothing.
    Undecided,
}

impl Trial {
    pub fn verdict(&self) -> TrialVerdict {
        let (before, after) = self.completed;
        let expected = match (after <= Span::ZERO, before > Span::ZERO) {
            (true, _) => true,
            (_, true) => false,
            _ => return TrialVerdict::Undecided,
        };
        if self.hit == Some(expected) { TrialVerdict::Honest } else { TrialVerdict::Wrong }
    }
}

/// The result of the self-test.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SelfTestReport {
    pub submit_lead: Span,
    pub trials: Vec<Trial>,
}

impl SelfTestReport {
    /// Whether no trial was wrong, and for either completing event both a hit and a miss were seen.
    pub fn passed(&self) -> bool {
        let seen = |last, hit| {
            self.trials.iter().any(|t| t.last == last && t.verdict() == TrialVerdict::Honest && t.hit == Some(hit))
        };
        let both = |last| seen(last, true) && seen(last, false);
        both(CompletingEvent::Submit) && both(CompletingEvent::Fence) && self.count(TrialVerdict::Wrong) == 0
    }

    fn count(&self, verdict: TrialVerdict) -> usize {
        self.trials.iter().filter(|trial| trial.verdict() == verdict).count()
    }
}

impl fmt::Display for SelfTestReport {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let passed = if self.passed() { "honest" } else { "NOT SHOWN TO BE HONEST" };
        writeln!(f, "virtual display, submit lead {}: {passed}", self.submit_lead)?;
        for (last, name) in [(CompletingEvent::Submit, "submit"), (CompletingEvent::Fence, "fence")] {
            for planned in [-OFFSET, OFFSET] {
                let trials = || self.trials.iter().filter(|trial| trial.last == last && trial.planned == planned);
                let hits = trials().filter(|trial| trial.hit == Some(true)).count();
                let shift = if planned.is_negative() { "before" } else { "after" };
                let offset = planned.abs();
                writeln!(f, "  {name} {offset} {shift} submit_by: {hits} of {} hit", trials().count())?;
            }
        }
        let (wrong, undecided) = (self.count(TrialVerdict::Wrong), self.count(TrialVerdict::Undecided));
        write!(f, "  {wrong} wrong, {undecided} undecided (stopped by the machine across the deadline)")
    }
}

/// Runs the test on `CLOCK_MONOTONIC`: about two seconds, mostly asleep.
pub fn self_test() -> Result<SelfTestReport, HeadlessError> {
    run(Rc::new(MonotonicClock), wait_until)
}

/// Runs the test on a simulated clock, where no trial can be undecided.
pub fn self_test_simulated() -> Result<SelfTestReport, HeadlessError> {
    let clock = Rc::new(SimulatedClock::starting_at(Instant::from_nanos(1_000_000_000)));
    run(clock.clone(), |at| clock.set(at))
}

/// Sleeps until shortly before `at` and spins for the rest, because the exact time matters.
fn wait_until(at: Instant) {
    const SPIN: Span = Span::from_micros(300);
    let sleep_nanos = (at - SPIN).as_nanos() as i64;
    let until =
        rustix::thread::Timespec { tv_sec: sleep_nanos / NANOS_PER_SECOND, tv_nsec: sleep_nanos % NANOS_PER_SECOND };
    let _ = rustix::thread::clock_nanosleep_absolute(rustix::thread::ClockId::Monotonic, &until);
    while MonotonicClock.now() < at {
        std::hint::spin_loop();
    }
}

fn run(clock: Rc<dyn Clock>, wait_until: impl Fn(Instant)) -> Result<SelfTestReport, HeadlessError> {
    let mut backend = HeadlessBackend::with_clock(clock.clone())?;
    let output = backend.add_output("SELF-TEST", MODE, OutputOptions::default())?;
    let submit_lead = output.capabilities().submit_lead;
    let mut bench = SelfTestBench { clock, wait_until, output, submit_lead, frame: 0 };
    let mut trials = Vec::new();
    for _ in 0..ROUNDS {
        for last in [CompletingEvent::Submit, CompletingEvent::Fence] {
            for planned in [-OFFSET, OFFSET] {
                trials.push(bench.trial(last, planned)?);
            }
        }
    }
    Ok(SelfTestReport { submit_lead, trials })
}

struct SelfTestBench<W> {
    clock: Rc<dyn Clock>,
    wait_until: W,
    output: HeadlessOutput,
    submit_lead: Span,
    frame: u64,
}

impl<W: Fn(Instant)> SelfTestBench<W> {
    fn trial(&mut self, last: CompletingEvent, planned: Span) -> Result<Trial, HeadlessError> {
        let interval = MODE.interval();
        let now = self.clock.now();
        // Take the vblank after the next, so that the whole wait lies before it.
        let (vblank, sequence) = self.output.last_vblank(now).unwrap_or((now, 0));
        let (target, sequence) = (vblank + interval * 2, sequence + 2);
        let submit_by = target - self.submit_lead;
        (self.wait_until)(submit_by - interval / 2);
        let fence = eventfd(0, EventfdFlags::CLOEXEC)?;
        let other_end = fence.as_fd().try_clone_to_owned().map_err(|_| rustix::io::Errno::MFILE)?;
        let completed = match last {
            CompletingEvent::Submit => {
                (self.wait_until)(submit_by + planned);
                self.timed(submit_by, |bench| bench.submit(None))
            }
            CompletingEvent::Fence => {
                self.submit(Some(fence));
                (self.wait_until)(submit_by + planned);
                self.timed(submit_by, |bench| {
                    let signalled = rustix::io::write(&other_end, &1u64.to_ne_bytes());
                    bench.output.dispatch();
                    signalled.is_ok()
                })
            }
        };
        while let Some(next) = self.output.next_event() {
            (self.wait_until)(next);
            self.output.dispatch();
        }
        Ok(Trial { last, planned, completed, hit: self.shown_by(sequence) })
    }

    /// Does `work` and reads the clock around it.
    fn timed(&mut self, submit_by: Instant, work: impl FnOnce(&mut Self) -> bool) -> (Span, Span) {
        let before = self.clock.now() - submit_by;
        let _ = work(self);
        (before, self.clock.now() - submit_by)
    }

    /// Submits a frame. The trial shows later whether it was accepted.
    fn submit(&mut self, in_fence: Option<OwnedFd>) -> bool {
        let Some(buffer) = self.output.acquire() else { return false };
        self.frame += 1;
        let change = PlanChange::Compose { buffer, damage: Vec::new() };
        let plan = FramePlan { in_fence, ..FramePlan::plain(FrameId(self.frame), change) };
        self.output.submit(plan).is_ok()
    }

    fn shown_by(&mut self, sequence: u64) -> Option<bool> {
        let events = std::iter::from_fn(|| self.output.poll_event());
        let shown = events.filter_map(|event| match event {
            DisplayEvent::Presented { frame, sequence: Some(by), .. } if frame.0 == self.frame => Some(by),
            _ => None,
        });
        shown.last().map(|by| by <= sequence)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use expect_test::expect;

    #[test]
    fn frames_around_the_submit_lead_hit_and_miss_in_virtual_time() {
        let report = self_test_simulated().expect("a report");
        assert!(report.passed());
        expect![[r#"
            virtual display, submit lead 1.429ms: honest
              submit 0.100ms before submit_by: 8 of 8 hit
              submit 0.100ms after submit_by: 0 of 8 hit
              fence 0.100ms before submit_by: 8 of 8 hit
              fence 0.100ms after submit_by: 0 of 8 hit
              0 wrong, 0 undecided (stopped by the machine across the deadline)"#]]
        .assert_eq(&report.to_string());
    }

    #[test]
    fn the_real_clock_shows_nothing_dishonest() {
        let report = self_test().expect("a report");
        println!("{report}");
        assert!(report.trials.iter().all(|trial| trial.verdict() != TrialVerdict::Wrong), "{report}");
    }

    #[test]
    fn a_display_that_flatters_would_be_found_out() {
        let trial = |offset, hit| {
            let planned = Span::from_micros(offset);
            Trial { last: CompletingEvent::Submit, planned, completed: (planned, planned + Span::from_micros(3)), hit }
                .verdict()
        };
        assert_eq!(trial(-100, Some(true)), TrialVerdict::Honest);
        assert_eq!(trial(100, Some(false)), TrialVerdict::Honest);
        assert_eq!(trial(100, Some(true)), TrialVerdict::Wrong);
        assert_eq!(trial(-100, Some(false)), TrialVerdict::Wrong);
        assert_eq!(trial(-100, None), TrialVerdict::Wrong);
        assert_eq!(trial(-2, Some(false)), TrialVerdict::Undecided);
    }
}

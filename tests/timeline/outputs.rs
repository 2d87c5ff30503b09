//! Several outputs in virtual time, each with refreshes of its own that its conductor learns from presentation times
//! only, and every event that may happen to them.
//!
//! A change on a lit output is on screen within two refreshes that it could reach. No latch is planned more than two
//! intervals after the frame in flight, except for a stamp. No output is latched again and again at the same time.

use proptest::prelude::*;
use proptest::test_runner::TestCaseError;
use upbeat_timing::conductor::{Conductor, ConductorAction};
use upbeat_timing::id::FrameId;
use upbeat_timing::output::{ComposeCostKind, OutputMachine};
use upbeat_timing::record::RepaintReason;
use upbeat_timing::target::RefreshIndex;
use upbeat_timing::time::{Instant, Span};
use upbeat_timing::vsync::VsyncModel;

use super::{COMPOSE, LEAD, START};

/// Most latches of one output at the same time.
const AT_ONCE: u32 = 4;
/// Times that differ by at most this much are the same.
const EXACT: Span = Span::from_micros(50);

/// A change on an output.
#[derive(Clone, Copy, Debug)]
pub struct ScenarioChange {
    pub need: RepaintReason,
    /// Whether the change alters pixels.
    pub visible: bool,
    /// For an invisible change: whether its latch has effects all the same.
    pub effective: bool,
}

/// An event. Outputs are named by their index.
#[derive(Clone, Debug)]
pub enum OutputScenarioStep {
    /// `count` changes, one every `apart`.
    Changes {
        output: usize,
        change: ScenarioChange,
        count: u32,
        apart: Span,
    },
    /// An update with a timestamp, due `ahead` from now.
    Stamp {
        output: usize,
        ahead: Span,
    },
    /// Nothing happens for a while.
    Rest(Span),
    /// The machine is suspended.
    Suspend(Span),
    Power {
        output: usize,
        off_for: Span,
    },
    Rate {
        output: usize,
        rate: u32,
    },
    Replug {
        output: usize,
        rate: u32,
    },
}

/// Content on its way to the screen: the times of its changes, and the target times of its stamps.
#[derive(Clone, Debug, Default)]
struct PendingContent {
    changes: Vec<Instant>,
    stamps: Vec<Instant>,
}

struct SimulatedMonitor {
    conductor: Conductor,
    /// Time of one of its refreshes, and the interval between two.
    base: Instant,
    interval: Span,
    on: bool,
    /// Whether the output reports the time of its last refresh.
    reports_last_refresh: bool,
    flight: Option<(Instant, FrameId, PendingContent)>,
    waits: PendingContent,
    /// An invisible change is pending; whether its latch has effects.
    unseen: Option<bool>,
    /// A time, and the latches so far at this time.
    latches: (Instant, u32),
}

pub struct SimulatedOutputs {
    now: Instant,
    monitors: Vec<SimulatedMonitor>,
}

pub type Checked = Result<(), TestCaseError>;

impl SimulatedMonitor {
    fn new(rate: u32, now: Instant, phase: Span, tells: bool) -> Self {
        let interval = Span::from_millihertz(rate);
        let machine = OutputMachine::new(VsyncModel::new(interval, now), LEAD, now);
        let mut monitor = SimulatedMonitor {
            conductor: Conductor::new(machine, 2),
            base: now - phase,
            interval,
            on: true,
            reports_last_refresh: tells,
            flight: None,
            waits: PendingContent::default(),
            unseen: None,
            latches: (now, 0),
        };
        monitor.lit(now);
        monitor
    }

    /// The first refresh at or after `time`.
    fn refresh_from(&self, time: Instant) -> Instant {
        let elapsed = (time - self.base).as_nanos();
        let interval = self.interval.as_nanos();
        self.base + self.interval * (elapsed.div_euclid(interval) + i64::from(elapsed.rem_euclid(interval) != 0))
    }

    /// The output begins to refresh: all of it needs a frame.
    fn lit(&mut self, now: Instant) {
        let last = self.refresh_from(now) - self.interval;
        let machine = self.conductor.output_mut();
        if self.reports_last_refresh {
            machine.vsync_mut().synchronise(last);
        }
        machine.schedule_repaint(RepaintReason::Output);
        self.waits.changes.push(now);
    }

    /// Drops the frame in flight, which will not be shown. Pending changes have no deadline any more.
    fn lose(&mut self) {
        self.waits.changes.clear();
        let Some((_, frame, seen)) = self.flight.take() else { return };
        self.conductor.output_mut().frames_mut().take(frame);
        self.waits.stamps.extend(seen.stamps);
    }

    fn power(&mut self, on: bool, now: Instant) {
        self.on = on;
        self.lose();
        self.conductor.output_mut().set_powered(on);
        if on {
            self.conductor.output_mut().restart(None, now);
            self.lit(now);
        }
    }

    fn rate(&mut self, rate: u32, now: Instant) {
        self.lose();
        (self.base, self.interval) = (now, Span::from_millihertz(rate));
        self.conductor.output_mut().restart(Some(self.interval), now);
        self.lit(now);
    }

    fn change(&mut self, change: ScenarioChange, now: Instant) {
        if change.visible {
            self.waits.changes.push(now);
        } else {
            self.unseen = Some(self.unseen.unwrap_or(false) || change.effective);
        }
        self.conductor.output_mut().schedule_repaint(change.need);
    }

    /// Schedules a latch for stamps that are not due yet, at a refresh after `index`.
    fn rearm(&mut self, index: RefreshIndex) {
        let Some(first) = self.waits.stamps.iter().copied().min() else { return };
        let machine = self.conductor.output_mut();
        let due = machine.vsync().at_or_after(first - EXACT).max(index.next());
        machine.schedule_repaint_at(due);
    }

    fn latch(&mut self, index: RefreshIndex, scheduled: Instant, now: Instant) -> Checked {
        self.latches = if self.latches.0 == now { (now, self.latches.1 + 1) } else { (now, 1) };
        prop_assert!(self.latches.1 <= AT_ONCE, "latched {} times at the same time", self.latches.1);
        self.conductor.latched(index);
        let present = self.conductor.output().vsync().present(index);
        prop_assert!(present >= now, "latched for a refresh in the past, {} ago", now - present);
        let is_due = |stamp: &mut Instant| *stamp <= present + EXACT;
        let stamps: Vec<Instant> = self.waits.stamps.extract_if(.., is_due).collect();
        let seen = PendingContent { changes: std::mem::take(&mut self.waits.changes), stamps };
        let effective = self.unseen.take().unwrap_or(false);
        let machine = self.conductor.output_mut();
        if seen.changes.is_empty() && seen.stamps.is_empty() {
            machine.latched_nothing(index, now, effective);
        } else {
            let (frame, done) = (machine.choose(index, ()), now + COMPOSE);
            machine.submitted(frame, scheduled, done, ComposeCostKind::Usual);
            self.flight = Some((self.refresh_from(done + LEAD), frame, seen));
        }
        self.rearm(index);
        Ok(())
    }

    fn light(&mut self, now: Instant) -> Checked {
        let Some((light, frame, seen)) = self.flight.take_if(|(light, ..)| *light <= now) else { return Ok(()) };
        self.conductor.output_mut().presented(frame, light, None, now);
        for changed in seen.changes {
            prop_assert!(light <= self.latest(changed), "{changed} was shown {} later", light - changed);
        }
        for stamp in seen.stamps {
            prop_assert!(light >= stamp - self.interval, "the update stamped {stamp} was shown at {light}");
        }
        Ok(())
    }

    /// Deadline for a change at `changed`: the second refresh that it can reach.
    fn latest(&self, changed: Instant) -> Instant {
        changed + COMPOSE + LEAD + self.interval * 2
    }

    fn check(&mut self, now: Instant) -> Checked {
        prop_assert!(self.conductor.take_fault().is_none(), "the conductor reported a fault");
        if let Some(forgotten) = self.waits.changes.iter().find(|changed| self.latest(**changed) < now) {
            return Err(TestCaseError::fail(format!("the change of {forgotten} is not on screen at {now}")));
        }
        let machine = self.conductor.output();
        let Some((index, _)) = machine.next_latch(now) else { return Ok(()) };
        let busy = self.flight.as_ref().map_or(now, |(light, ..)| *light);
        let stamp = self.waits.stamps.iter().copied().max().unwrap_or(now);
        // The first reachable refresh, and the refresh after it.
        let reach = machine.submit_lead() + machine.compose_budget();
        let furthest = busy.max(stamp) + reach + self.interval * 2;
        let planned = machine.vsync().present(index);
        prop_assert!(planned <= furthest, "planned for {} from now", planned - now);
        Ok(())
    }
}

impl SimulatedOutputs {
    /// Outputs with these refresh rates (mHz); `tells`: they report the time of their last refresh.
    pub fn new(rates: &[u32], tells: bool) -> Self {
        let phase = |place: usize| Span::from_micros(1_900) * place as i64;
        let monitors =
            rates.iter().enumerate().map(|(place, rate)| SimulatedMonitor::new(*rate, START, phase(place), tells));
        SimulatedOutputs { now: START, monitors: monitors.collect() }
    }

    /// Runs all steps in order, and then checks that each output still shows changes.
    pub fn run(&mut self, steps: &[OutputScenarioStep]) -> Checked {
        for (number, step) in steps.iter().enumerate() {
            let told = |error: TestCaseError| TestCaseError::fail(format!("{error}, in step {number}: {step:?}"));
            self.step(step).map_err(told)?;
        }
        let visible = ScenarioChange { need: RepaintReason::Content, visible: true, effective: false };
        for output in 0..self.monitors.len() {
            self.step(&OutputScenarioStep::Changes {
                output,
                change: visible,
                count: 1,
                apart: Span::from_millis(200),
            })?;
        }
        // Long enough for the furthest stamp.
        self.run_for(Span::from_seconds(3))?;
        for monitor in &self.monitors {
            prop_assert!(
                monitor.waits.changes.is_empty() && monitor.waits.stamps.is_empty(),
                "changes or stamps are not shown at the end"
            );
        }
        Ok(())
    }

    fn step(&mut self, step: &OutputScenarioStep) -> Checked {
        let count = self.monitors.len();
        match *step {
            OutputScenarioStep::Changes { output, change, count: times, apart } => {
                for _ in 0..times {
                    self.monitors[output % count].change(change, self.now);
                    self.run_for(apart)?;
                }
            }
            OutputScenarioStep::Stamp { output, ahead } => {
                let monitor = &mut self.monitors[output % count];
                monitor.waits.stamps.push(self.now + ahead);
                monitor.rearm(monitor.conductor.output().latched());
            }
            OutputScenarioStep::Rest(span) => self.run_for(span)?,
            OutputScenarioStep::Suspend(span) => {
                self.now += span;
                // Nothing ran during the suspend, so the deadlines start anew.
                for monitor in &mut self.monitors {
                    monitor.waits.changes.fill(self.now);
                }
            }
            OutputScenarioStep::Power { output, off_for } => {
                self.monitors[output % count].power(false, self.now);
                self.run_for(off_for)?;
                self.monitors[output % count].power(true, self.now);
            }
            OutputScenarioStep::Rate { output, rate } => self.monitors[output % count].rate(rate, self.now),
            OutputScenarioStep::Replug { output, rate } => {
                let tells = self.monitors[output % count].reports_last_refresh;
                self.monitors[output % count] = SimulatedMonitor::new(rate, self.now, Span::from_micros(700), tells);
            }
        }
        Ok(())
    }

    fn run_for(&mut self, span: Span) -> Checked {
        let end = self.now + span;
        loop {
            let mut next = end;
            for monitor in &mut self.monitors {
                monitor.light(self.now)?;
                while let Some(ConductorAction::Latch { target, scheduled }) = monitor.conductor.poll_action(self.now) {
                    monitor.latch(target.id, scheduled, self.now)?;
                }
                let wake = monitor.conductor.next_wake(self.now);
                monitor.check(self.now)?;
                let light = monitor.flight.as_ref().map(|(light, ..)| *light);
                next = wake.into_iter().chain(light).fold(next, Instant::min);
            }
            if self.now >= end {
                return Ok(());
            }
            self.now = next.max(self.now);
        }
    }
}

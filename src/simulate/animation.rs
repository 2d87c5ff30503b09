//! The pipeline of deterministic motion: record, render, queue, latch, scan-out.
//!
//! Drives [`PreExecutor`], [`Virtualizer`] and [`RateGovernor`] with the costs of a load. Three things can happen next
//! (a stage ends, the other stage ends, the display refreshes), so that the earliest of three instants is the whole
//! event queue.
//!
//! ```text
//!  cost.record ─► [record] ─► commands ─► [render] ─► buffers ─► latch at the refresh ─► composed ─► light
//!                     ▲ PreExecutor starts it              ▲ free when the next frame is latched
//! ```
//!
//! A frame that is finished at the very moment of a refresh is latched by it. Composition takes one refresh, as on
//! Android: what is latched at refresh k is seen at k + 1.

use super::load::{FrameCost, Load};
use super::tally::{FrameClass, Tally};
use crate::time::{Instant, Span};
use crate::timing::pre_executor::{AheadSettings, FrameId, PreExecutor, Step, Trigger};
use crate::timing::refresh_rate::{RateGovernor, RateRange};
use crate::timing::target::RefreshIndex;
use crate::timing::virtualizer::{CatchUp, DisplayTarget, Grid, Virtualizer};

/// When each animation starts on the simulated clock; far enough from zero for anything to lie before it.
const START: Instant = Instant::from_nanos(1_000_000_000);
/// The slowest rate of a simulated variable-refresh panel, in parts of the interval: 24 Hz on a 60 Hz panel.
const SLOWEST_VARIABLE: (i64, i64) = (5, 2);

/// A way of running motion.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct AnimationPolicy {
    /// Buffers, lead, run-ahead, start delay.
    pub settings: AheadSettings,
    /// What starts a frame.
    pub trigger: Trigger,
    /// Whether the panel's refresh is variable.
    pub variable: bool,
    /// How content gets back on time after a drop.
    pub catch_up: CatchUp,
}

impl AnimationPolicy {
    /// Vsync with `slots` buffers: 2 is double, 3 is triple buffering.
    pub const fn vsync(slots: u8) -> Self {
        Self::new(AheadSettings::buffers(slots), Trigger::Refresh)
    }

    /// D-VSync with these settings.
    pub const fn ahead(settings: AheadSettings) -> Self {
        Self::new(settings, Trigger::Ahead)
    }

    const fn new(settings: AheadSettings, trigger: Trigger) -> Self {
        AnimationPolicy { settings, trigger, variable: false, catch_up: CatchUp::Skip }
    }

    /// The same on a panel with variable refresh.
    pub const fn on_variable_refresh(self) -> Self {
        AnimationPolicy { variable: true, ..self }
    }
}

/// Runs `load` under `policy`, every animation from an empty pipeline.
pub fn run(load: &Load, policy: &AnimationPolicy) -> Tally {
    let mut tally = Tally::new(load.interval, load.frames.len());
    for animation in load.animations() {
        Pipeline::new(load.interval, animation, policy).run(&mut tally);
    }
    tally
}

/// A stage at work.
type Work = Option<(FrameId, Instant)>;

struct Pipeline<'a> {
    costs: &'a [FrameCost],
    interval: Span,
    trigger: Trigger,
    executor: PreExecutor,
    virtualizer: Virtualizer,
    governor: Option<RateGovernor>,
    now: Instant,
    record: Work,
    render: Work,
    refresh: RefreshIndex,
    refresh_at: Instant,
    /// The refresh came and nothing was ready: a variable panel waits.
    waiting: bool,
    first_due: RefreshIndex,
    shown_at: Instant,
    /// Start and target of each frame under way, by number modulo the most frames there can be.
    started: [Started; crate::timing::pre_executor::MOST_FRAMES],
}

#[derive(Clone, Copy)]
struct Started {
    at: Instant,
    target: DisplayTarget,
}

impl<'a> Pipeline<'a> {
    fn new(interval: Span, costs: &'a [FrameCost], policy: &AnimationPolicy) -> Self {
        let grid = Grid { refresh: RefreshIndex(0), present: START, interval };
        let mut executor = PreExecutor::new(policy.settings, policy.trigger);
        executor.begin(RefreshIndex(1));
        executor.end_at(FrameId(costs.len() as u64));
        let delay = if policy.trigger == Trigger::Ahead { u64::from(policy.settings.start_delay) } else { 0 };
        let none = DisplayTarget { refresh: RefreshIndex(0), present: START, content: START };
        let slowest = interval.scale(SLOWEST_VARIABLE.0, SLOWEST_VARIABLE.1);
        Pipeline {
            costs,
            interval,
            trigger: policy.trigger,
            executor,
            virtualizer: Virtualizer::new(grid, policy.catch_up),
            governor: policy
                .variable
                .then(|| RateGovernor::new(RateRange { fastest: interval, slowest, variable: true })),
            now: START,
            record: None,
            render: None,
            refresh: RefreshIndex(1),
            refresh_at: START + interval,
            waiting: false,
            first_due: RefreshIndex(1 + delay),
            shown_at: START + interval * delay as i64,
            started: [Started { at: START, target: none }; _],
        }
    }

    fn run(mut self, tally: &mut Tally) {
        let mut left = self.costs.len();
        while left > 0 {
            self.start_work();
            let end = |work: Work| work.map_or(Instant::MAX, |(_, end)| end);
            let refresh = if self.waiting { Instant::MAX } else { self.refresh_at };
            let (record, render) = (end(self.record), end(self.render));
            self.now = record.min(render).min(refresh);
            if record == self.now {
                if let Some((frame, _)) = self.record.take() {
                    self.executor.recorded(frame);
                }
            } else if render == self.now {
                if let Some((frame, _)) = self.render.take() {
                    self.executor.rendered(frame);
                }
                if self.waiting {
                    left -= usize::from(self.latch(tally));
                }
            } else {
                left -= usize::from(self.latch(tally));
            }
        }
    }

    fn start_work(&mut self) {
        while let Some(step) = self.executor.poll() {
            match step {
                Step::Record(frame) => {
                    let next_latch = self.refresh.max(self.first_due);
                    let target = self.virtualizer.issue(next_latch, self.executor.depth() as u64 - 1);
                    self.started[frame.0 as usize % self.started.len()] = Started { at: self.now, target };
                    self.record = Some((frame, self.now + self.costs[frame.0 as usize].record));
                }
                Step::Render(frame) => self.render = Some((frame, self.now + self.costs[frame.0 as usize].render)),
            }
        }
    }

    /// A refresh: whether it shows a new frame.
    fn latch(&mut self, tally: &mut Tally) -> bool {
        let buffers = 1 + self.executor.pixel_buffers();
        let latched = self.executor.latch(self.refresh).frame;
        if self.refresh >= self.first_due {
            tally.refresh(buffers);
        }
        if let Some(frame) = latched {
            self.shown(frame, tally);
        }
        self.schedule_refresh(latched.is_some());
        latched.is_some()
    }

    fn shown(&mut self, frame: FrameId, tally: &mut Tally) {
        if self.governor.is_some() {
            self.virtualizer.calibrate(Grid { refresh: self.refresh, present: self.now, interval: self.interval });
        }
        let Started { at, target } = self.started[frame.0 as usize % self.started.len()];
        let gap = self.now - self.shown_at;
        let light = self.now + self.interval;
        // The paper counts from the start of the frame or from its D-Timestamp, whichever is later: the time that a
        // frame waits because it was started early is not latency, since its content is not older for it.
        let from = match self.trigger {
            Trigger::Refresh => at,
            Trigger::Ahead => at.max(target.present - self.interval),
        };
        let latency = light - from;
        let class = if gap * 2 > self.interval * 3 {
            FrameClass::AfterDrop
        } else if latency * 2 > self.interval * 5 {
            FrameClass::Stuffed
        } else {
            FrameClass::Direct
        };
        tally.frame(gap, latency, class);
        if self.trigger == Trigger::Ahead {
            tally.ahead(self.now - at, self.now - target.content);
        }
        self.shown_at = self.now;
    }

    fn schedule_refresh(&mut self, showed: bool) {
        match &self.governor {
            None => {
                self.executor.tick();
                self.refresh = self.refresh.next();
                self.refresh_at += self.interval;
            }
            Some(governor) if showed => {
                self.refresh = self.refresh.next();
                self.refresh_at = governor.latest_refresh(self.now, self.executor.ready());
                self.waiting = false;
            }
            // The first refreshes of a delayed start still have a grid.
            Some(_) if self.refresh < self.first_due => {
                self.refresh = self.refresh.next();
                self.refresh_at += self.interval;
            }
            Some(_) => self.waiting = true,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::simulate::load::synthetic;
    use proptest::prelude::*;

    const INTERVAL: Span = Span::from_nanos(16_666_667);

    fn load(costs: &[(i64, i64)]) -> Load {
        let frame = |(record, render): &(i64, i64)| FrameCost {
            record: Span::from_micros(*record),
            render: Span::from_micros(*render),
        };
        Load { name: "test".into(), interval: INTERVAL, animation: 0, frames: costs.iter().map(frame).collect() }
    }

    fn ahead(slots: u8) -> AnimationPolicy {
        AnimationPolicy::ahead(AheadSettings::buffers(slots))
    }

    #[test]
    fn a_long_frame_is_hidden_by_the_frames_before_it() {
        let mut costs = [(4_000, 4_000); 30];
        costs[15] = (4_000, 40_000);
        let load = load(&costs);
        assert_eq!(run(&load, &AnimationPolicy::vsync(3)).drops, 2);
        assert_eq!(run(&load, &ahead(3)).drops, 1);
        assert_eq!(run(&load, &ahead(4)).drops, 0);
    }

    #[test]
    fn stuffing_costs_vsync_a_refresh_for_good_and_the_virtualizer_does_not_have_it() {
        let mut costs = [(4_000, 4_000); 60];
        costs[10] = (4_000, 25_000);
        let load = load(&costs);
        let vsync = run(&load, &AnimationPolicy::vsync(3));
        assert_eq!(vsync.classes, [10, 49, 1]);
        assert!((vsync.latency().p50 - 50.0).abs() < 0.01, "{:?}", vsync.latency());
        let ahead = run(&load, &ahead(4));
        assert!((ahead.latency().max - 33.333).abs() < 0.01, "{:?}", ahead.latency());
    }

    #[test]
    fn content_is_wrong_only_around_a_drop() {
        let mut costs = [(2_000, 2_000); 200];
        costs[60] = (2_000, 100_000);
        let tally = run(&load(&costs), &ahead(4));
        assert!(tally.drops > 0);
        assert!((1..=8).contains(&tally.wrong_time), "{}", tally.wrong_time);
    }

    /// The figures of the independent reference model, on its load A.
    #[test]
    fn the_load_of_the_paper_loses_as_many_drops_as_the_reference_model_says() {
        let load = synthetic::A.generate(INTERVAL, 100_000, 1);
        let vsync = run(&load, &AnimationPolicy::vsync(3));
        assert!((vsync.drop_share() - 0.0494).abs() < 0.003, "{}", vsync.drop_share());
        for (policy, expected) in [
            (ahead(4), 0.775),
            (ahead(5), 0.89),
            (ahead(7), 0.958),
            (AnimationPolicy::ahead(AheadSettings::buffers(4).with_run_ahead(2)), 0.924),
            (ahead(4).on_variable_refresh(), 0.89),
        ] {
            let reduction = run(&load, &policy).reduction(&vsync);
            assert!((reduction - expected).abs() < 0.02, "{policy:?}: {reduction}, expected {expected}");
        }
        let latency = 1.0 - run(&load, &ahead(4)).latency().mean / vsync.latency().mean;
        assert!((latency - 0.325).abs() < 0.01, "{latency}");
    }

    fn costs() -> impl Strategy<Value = Vec<(i64, i64)>> {
        let cost = || prop_oneof![8 => 500_i64..9_000, 1 => 9_000_i64..80_000];
        prop::collection::vec((cost(), cost()), 1..80)
    }

    proptest! {
        #[test]
        fn running_ahead_never_drops_more_than_vsync(costs in costs(), slots in 3_u8..8) {
            let load = load(&costs);
            let (vsync, ahead) = (run(&load, &AnimationPolicy::vsync(slots)), run(&load, &ahead(slots)));
            prop_assert!(ahead.drops <= vsync.drops, "{} > {}", ahead.drops, vsync.drops);
            prop_assert_eq!(ahead.frames, costs.len() as u64);
        }

        #[test]
        fn more_buffers_and_more_run_ahead_never_drop_more(costs in costs(), slots in 2_u8..8, more in 1_u8..4) {
            let load = load(&costs);
            let settings = AheadSettings::buffers(slots);
            let few = run(&load, &AnimationPolicy::ahead(settings));
            let many = run(&load, &AnimationPolicy::ahead(AheadSettings::buffers(slots + more)));
            let recorded = run(&load, &AnimationPolicy::ahead(settings.with_run_ahead(more)));
            prop_assert!(many.drops <= few.drops && recorded.drops <= few.drops);
        }

        #[test]
        fn the_queue_never_exceeds_its_slots(
            costs in costs(), slots in 2_u8..8, lead in 1_u8..8, run_ahead in 0_u8..5, delay in 0_u8..3
        ) {
            let settings = AheadSettings { lead, ..AheadSettings::buffers(slots) };
            let settings = settings.with_run_ahead(run_ahead).with_start_delay(delay);
            let tally = run(&load(&costs), &AnimationPolicy::ahead(settings));
            prop_assert!(tally.peak_buffers() <= usize::from(slots));
            prop_assert_eq!(tally.frames, costs.len() as u64);
        }
    }
}

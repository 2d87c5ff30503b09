//! Simulates the pipeline of interaction: an input event, the frame that answers it, its light.
//!
//! Drives the estimators, [`LateFramePolicy`], [`TwoShot`](upbeat_timing::estimator::TwoShot) and [`Beam`] as Presto
//! does (3.1, 3.2). Per refresh:
//!
//! ```text
//!  events   ×   ×   ×   ×   ×  ×
//!                          └─ trigger: the last event that still fits (snap)
//!                             ├── T_app ──┤ frame
//!                                          └─ latch at present − T_out ── present ── scan-out reaches it
//! ```
//!
//! The device adds `touch` before an event arrives, scan-out adds the beam's time to the position.

mod arrivals;
mod policy;

use std::collections::VecDeque;

use arrivals::{AppCosts, InputArrivals, line_at};
pub use policy::{InteractionPolicy, JustInTimePolicy};

use super::load::FrameCost;
use super::tally::{HITCH, Histogram, Summary};
use upbeat_timing::beam::{Beam, PixelRect, ScanDirection, WriteDecision};
use upbeat_timing::defaults::SECOND_SHOT_WORTH;
use upbeat_timing::estimator::{Estimator, SelectedEstimator};
use upbeat_timing::late_frame::{LateChoice, LateFramePolicy};
use upbeat_timing::time::{Instant, Span};

const START: Instant = Instant::from_nanos(1_000_000_000);
/// Presto's panel: 2560 lines in portrait.
const LINES: i32 = 2_560;
/// The rectangle of position-aware rendering (Presto 3.2.1).
const PAR_RECT: i32 = 200;

/// Refreshes of a run before the next run continues: their costs and events are some kilobytes.
const AT_ONCE: usize = 256;
/// Buffers of an application, including the buffer on screen.
const BUFFERS: usize = 3;

/// Distribution of the application's time per frame, in milliseconds.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum AppCost<'a> {
    /// Lognormal with this mean and standard deviation of the logarithm.
    Lognormal(f64, f64),
    /// Two regimes with these means; each lasts this many frames on average.
    Bursty(f64, f64, f64),
    /// A Pareto tail over a lognormal body: mean of the body, share and tail index of the tail.
    PowerLaw(f64, f64, f64),
    /// The frames of a load, repeated. The stages of a frame overlap with the stages of the next.
    Frames(&'a [FrameCost]),
}

/// Display, input and application of a simulation.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct InteractionSetup<'a> {
    pub interval: Span,
    /// The time in which all lines are scanned out. Presto's panel has no blanking: the interval. Zero leaves out the
    /// beam: latencies are those of the topmost line.
    pub active: Span,
    /// Mean time between input events.
    pub input_interval: Span,
    /// Recorded times of the input events since the first of them, in order; repeats after a mean distance. If empty,
    /// the events come at the mean distance with a jitter.
    pub recorded: &'a [Span],
    /// From the finger to the driver: 28 ms in Presto 5.1.1.
    pub touch: Span,
    /// From the finished frame to the display: 3.5 ms in Presto 4.1.
    pub output: Span,
    /// The same for a frame written into the buffer on screen: only the compositor's turn is saved.
    pub output_in_place: Span,
    pub app: AppCost<'a>,
    /// Number of refreshes to simulate.
    pub refreshes: usize,
    /// Seed of costs and events.
    pub seed: u64,
}

impl<'a> InteractionSetup<'a> {
    /// Presto's telephone: 60 Hz, touch at 119 Hz. At exactly twice the refresh rate the phase between the two would
    /// never change, and a single random phase would decide the result.
    pub const fn presto(app: AppCost<'a>, refreshes: usize, seed: u64) -> Self {
        InteractionSetup {
            interval: Span::from_nanos(16_666_667),
            active: Span::from_nanos(16_666_667),
            input_interval: Span::from_nanos(8_391_000),
            recorded: &[],
            touch: Span::from_millis(28),
            output: Span::from_micros(3_500),
            output_in_place: Span::from_millis(1),
            app,
            refreshes,
            seed,
        }
    }
}

#[derive(Clone, Debug, Default)]
pub struct InteractionResponse {
    /// Input to light in milliseconds, device and scan-out included.
    pub latency: Summary,
    /// Share of the wanted first frames that were late (the paper's under-prediction).
    pub missed: f64,
    /// Share of the frames that were never shown.
    pub dropped: f64,
    /// Share of the refreshes that showed nothing new.
    pub repeated: f64,
    /// Rendered frames per shown frame.
    pub renders_per_shown: f64,
    /// Refreshes without a new frame per second.
    pub drops_per_second: f64,
    /// Gaps of more than 1.26 intervals per second.
    pub hitches_per_second: f64,
    /// The longest gap between two shown frames.
    pub longest_gap: Span,
    /// Shown frames per second.
    pub frames_per_second: f64,
    /// From the start of a shown frame to its refresh, in milliseconds, on average.
    pub age: f64,
    /// All latencies in milliseconds.
    pub latencies: Histogram,
}

/// A finished or running frame. It answers all events up to `sampled`.
#[derive(Clone, Copy, Debug)]
struct SampledFrame {
    sampled: Instant,
    ready: Instant,
}

/// Runs one policy on one setup. The same setup gives every policy the same costs and events.
pub fn run(setup: &InteractionSetup<'_>, policy: &InteractionPolicy) -> InteractionResponse {
    run_all(setup, std::slice::from_ref(policy)).pop().unwrap_or_default()
}

/// Runs several policies on one setup, each as [`run`] does. The policies take turns of some refreshes, so that events
/// are made only once and costs stay in the cache.
pub fn run_all(setup: &InteractionSetup<'_>, policies: &[InteractionPolicy]) -> Vec<InteractionResponse> {
    let mut events = InputArrivals::new(setup);
    let mut runs: Vec<_> = policies.iter().map(|policy| InteractionRun::new(setup, policy)).collect();
    let mut refresh = 1;
    while refresh <= setup.refreshes {
        let end = (refresh + AT_ONCE).min(setup.refreshes + 1);
        for (run, policy) in runs.iter_mut().zip(policies) {
            for refresh in refresh..end {
                run.step(START + setup.interval * refresh as i64, policy, &mut events);
            }
        }
        refresh = end;
        events.forget(runs.iter().map(|run| run.answered).min().unwrap_or(0));
    }
    runs.into_iter().map(InteractionRun::finish).collect()
}

struct InteractionRun<'a> {
    setup: &'a InteractionSetup<'a>,
    costs: AppCosts<'a>,
    estimator: Option<SelectedEstimator>,
    late: LateFramePolicy,
    beam: Beam,
    /// Rendered frames that are not shown yet.
    queue: VecDeque<SampledFrame>,
    /// When the application may begin the next frame, and when the GPU may.
    free: Instant,
    gpu_free: Instant,
    /// Number of the first event that has not arrived, and of the first that no shown frame answers.
    arrived: usize,
    answered: usize,
    latencies: Histogram,
    ages: Span,
    attempted: u64,
    missed: u64,
    rendered: u64,
    shown: u64,
    dropped: u64,
    repeated: u64,
    last_shown: Instant,
    hitches: u64,
    longest_gap: Span,
}

impl<'a> InteractionRun<'a> {
    fn new(setup: &'a InteractionSetup<'a>, policy: &InteractionPolicy) -> Self {
        let estimator = match policy {
            InteractionPolicy::JustInTime(JustInTimePolicy { estimator: Some(kind), miss, .. }) => {
                Some(SelectedEstimator::new(*kind, *miss))
            }
            _ => None,
        };
        InteractionRun {
            setup,
            costs: AppCosts::new(setup),
            estimator,
            late: LateFramePolicy::default(),
            beam: Beam { width: 1_440, height: LINES, direction: ScanDirection::Down, active: setup.active },
            queue: VecDeque::new(),
            free: START,
            gpu_free: START,
            arrived: 0,
            answered: 0,
            latencies: Histogram::default(),
            ages: Span::ZERO,
            attempted: 0,
            missed: 0,
            rendered: 0,
            shown: 0,
            dropped: 0,
            repeated: 0,
            last_shown: START,
            hitches: 0,
            longest_gap: Span::ZERO,
        }
    }

    fn step(&mut self, present: Instant, policy: &InteractionPolicy, events: &mut InputArrivals<'_>) {
        match policy {
            InteractionPolicy::Legacy { offset, propagate } => self.legacy(present, *offset, *propagate, events),
            InteractionPolicy::JustInTime(policy) => self.just_in_time(present, policy, events),
        }
    }

    /// Whether a buffer is free for another frame.
    fn has_buffer(&self) -> bool {
        self.queue.len() + 1 < BUFFERS
    }

    /// Begins a frame, and returns when it is ready. The next may begin as soon as this frame is recorded.
    fn work(&mut self, start: Instant, cost: FrameCost) -> Instant {
        self.free = start + cost.record;
        self.gpu_free = self.gpu_free.max(self.free) + cost.render;
        self.gpu_free
    }

    /// The vsync pulse at `present` latches a frame that was ready before it; the frame is light a refresh later. The
    /// trigger of a frame waits while the application is busy. It is lost if it would wait until the next trigger, or
    /// if no buffer is free.
    fn legacy(&mut self, present: Instant, offset: Span, propagate: bool, events: &mut InputArrivals<'_>) {
        let trigger = present - self.setup.interval + offset;
        let cost = self.costs.next();
        let start = trigger.max(self.free);
        if start < trigger + self.setup.interval && self.has_buffer() {
            self.arrived = events.arrived(self.arrived, start);
            let ready = self.work(start, cost);
            self.attempted += 1;
            self.rendered += 1;
            self.missed += u64::from(ready > present);
            self.queue.push_back(SampledFrame { sampled: start, ready });
        }
        let ready = self.queue.iter().take_while(|frame| frame.ready <= present).count();
        // Without propagation the queue is emptied as soon as possible.
        let skip = if propagate { 0 } else { ready.saturating_sub(1) };
        self.queue.drain(..skip);
        self.dropped += skip as u64;
        match ready {
            0 => self.repeated += 1,
            _ => self.show_next(present + self.setup.interval, events),
        }
    }

    fn just_in_time(&mut self, present: Instant, policy: &JustInTimePolicy, events: &mut InputArrivals<'_>) {
        let cost = self.costs.next();
        let latch = self.deadline(present, policy);
        // On a panel that waits for frames, the frames that it shows later still hold buffers.
        let is_behind = self.last_shown > present + self.setup.interval;
        if self.free < latch && self.has_buffer() && !is_behind {
            self.render_for(latch, cost, policy, events);
        }
        self.latch(present, latch, policy, events);
    }

    /// Renders the frame for this refresh.
    fn render_for(
        &mut self,
        latch: Instant,
        cost: FrameCost,
        policy: &JustInTimePolicy,
        events: &mut InputArrivals<'_>,
    ) {
        let budget = self.budget(cost.total(), policy);
        let wanted = match (policy.two_shot, &self.estimator) {
            (Some(shots), Some(costs)) => shots.first_start(costs, latch).unwrap_or(self.free),
            _ => latch - budget,
        };
        let start = self.snapped(wanted, policy, events).max(self.free);
        self.arrived = events.arrived(self.arrived, start);
        let ready = self.work(start, cost);
        self.attempted += 1;
        self.rendered += 1;
        self.missed += u64::from(ready > latch);
        self.queue.push_back(SampledFrame { sampled: start, ready });
        // Observe the cost without the wait for the previous frame. With the wait, budgets would grow, frames would
        // start earlier, and wait even longer.
        self.observe(cost.total());
        self.second_shot(start, latch, policy, events);
    }

    /// The last event at or before `wanted`, if frames begin with events; else `wanted`.
    fn snapped(&self, wanted: Instant, policy: &JustInTimePolicy, events: &mut InputArrivals<'_>) -> Instant {
        let event = if policy.snap { events.last_before(self.arrived, wanted) } else { None };
        event.unwrap_or(wanted)
    }

    fn second_shot(
        &mut self,
        first: Instant,
        latch: Instant,
        policy: &JustInTimePolicy,
        events: &mut InputArrivals<'_>,
    ) {
        let (Some(shots), Some(costs)) = (policy.two_shot, &self.estimator) else { return };
        let Some(wanted) = shots.second_start(costs, self.free, latch, first, SECOND_SHOT_WORTH) else { return };
        let trigger = self.snapped(wanted, policy, events);
        if trigger < self.free || trigger - first < SECOND_SHOT_WORTH {
            return;
        }
        let cost = self.costs.again();
        self.arrived = events.arrived(self.arrived, trigger);
        let ready = self.work(trigger, cost);
        self.rendered += 1;
        self.observe(cost.total());
        if ready <= latch {
            // The second shot is in time and replaces the first frame.
            if let Some(insurance) = self.queue.back_mut() {
                *insurance = SampledFrame { sampled: trigger, ready };
            }
        }
        // A late second shot is thrown away, because the next refresh has a frame of its own.
    }

    fn budget(&self, cost: Span, policy: &JustInTimePolicy) -> Span {
        match (policy.estimator, &self.estimator) {
            (None, _) => cost,
            (Some(_), None) => self.setup.interval,
            (Some(_), Some(estimator)) => estimator.budget(policy.miss).unwrap_or(self.setup.interval),
        }
    }

    fn observe(&mut self, cost: Span) {
        if let Some(estimator) = &mut self.estimator {
            estimator.observe(cost);
        }
    }

    /// When the frame for `present` must be ready.
    fn deadline(&self, present: Instant, policy: &JustInTimePolicy) -> Instant {
        if !policy.in_place {
            return present - self.setup.output;
        }
        let output = self.setup.output_in_place;
        let rect = PixelRect::around(720, line_at(present), PAR_RECT);
        let now = present - output;
        match self.beam.decide(present, now, Span::ZERO, &rect, Some(&rect), output) {
            WriteDecision::Fits(spare) => now + spare,
            WriteDecision::TooLate(_) | WriteDecision::OutsideDamage => present - self.setup.output,
        }
    }

    fn latch(&mut self, present: Instant, latch: Instant, policy: &JustInTimePolicy, events: &InputArrivals<'_>) {
        let ready = self.queue.iter().take_while(|frame| frame.ready <= latch).count();
        if policy.variable {
            // The refresh waits for the frame. The grid of the other refreshes stays, as a cursor needs it.
            if let Some(frame) = self.queue.front().copied() {
                self.show_next(present.max(frame.ready + self.setup.output), events);
            }
            return;
        }
        match self.late.choose(ready) {
            LateChoice::Repeat => self.repeated += 1,
            LateChoice::Oldest => self.show_next(present, events),
            LateChoice::SkipOldest => {
                self.queue.pop_front();
                self.dropped += 1;
                self.show_next(present, events);
            }
        }
    }

    fn show_next(&mut self, present: Instant, events: &InputArrivals<'_>) {
        let Some(frame) = self.queue.pop_front() else { return };
        self.shown += 1;
        let gap = present - self.last_shown;
        self.hitches += u64::from(gap.as_nanos() as f64 > HITCH * self.setup.interval.as_nanos() as f64);
        self.longest_gap = self.longest_gap.max(gap);
        self.last_shown = present;
        self.ages += present - frame.sampled;
        for event in events.between(self.answered, self.arrived) {
            if event.at > frame.sampled {
                break;
            }
            self.answered += 1;
            let latency = self.setup.touch + (present + event.beam - event.at);
            self.latencies.add(latency.as_millis_f64());
        }
    }

    fn finish(self) -> InteractionResponse {
        let refreshes = self.setup.refreshes.max(1) as f64;
        let seconds = refreshes * self.setup.interval.as_seconds_f64();
        let share = |count: u64, of: u64| count as f64 / of.max(1) as f64;
        InteractionResponse {
            missed: share(self.missed, self.attempted),
            dropped: share(self.dropped, self.rendered),
            repeated: self.repeated as f64 / refreshes,
            renders_per_shown: share(self.rendered, self.shown),
            drops_per_second: self.repeated as f64 / seconds,
            hitches_per_second: self.hitches as f64 / seconds,
            longest_gap: self.longest_gap,
            frames_per_second: self.shown as f64 / seconds,
            age: self.ages.as_millis_f64() / self.shown.max(1) as f64,
            latency: self.latencies.summary(),
            latencies: self.latencies,
        }
    }
}

#[cfg(test)]
mod tests;

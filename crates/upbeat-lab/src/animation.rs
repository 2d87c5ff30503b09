//! Simulates the pipeline of animations: record, render, queue, latch, scan-out.
//!
//! Drives [`FrameQueue`], [`Virtualizer`] and [`RateGovernor`] with the costs of a load. Only three events are possible
//! next (the end of either stage, or a refresh), so the earliest of three instants is the whole event queue.
//!
//! ```text
//!  cost.record ─► [record] ─► commands ─► [render] ─► buffers ─► latch at the refresh ─► composed ─► light
//!                     ▲ FrameQueue starts it              ▲ free when the next frame is latched
//! ```
//!
//! A frame that is finished at the very moment of a refresh is latched by it. Composition takes one refresh, as on
//! Android: a frame latched at refresh k is light at k + 1.

use super::load::{FrameCost, Load};
use super::tally::{FrameClass, RunTally};
use upbeat_timing::frames::{
    AheadSettings, FrameOperation, FrameQueue, FrameTrigger, MOST_AHEAD, QueuePermissions, RecorderMode,
};
use upbeat_timing::id::FrameId;
use upbeat_timing::refresh_rate::{RateGovernor, RateRange};
use upbeat_timing::target::RefreshIndex;
use upbeat_timing::time::{Instant, Span};
use upbeat_timing::virtualizer::{CatchUp, DisplayTarget, Virtualizer, VsyncGrid};

/// Start of each animation on the simulated clock; far enough from zero that earlier instants are valid.
const START: Instant = Instant::from_nanos(1_000_000_000);
/// The slowest rate of a simulated variable-refresh panel, in parts of the interval: 24 Hz on a 60 Hz panel.
const SLOWEST_VARIABLE: (i64, i64) = (5, 2);

/// A way of pacing an animation.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct AnimationPolicy {
    /// Buffers, lead, run-ahead, start delay.
    pub settings: AheadSettings,
    /// The event that starts a frame.
    pub trigger: FrameTrigger,
    /// Whether recording waits for rendering.
    pub recorder: RecorderMode,
    /// Whether the panel's refresh is variable.
    pub variable: bool,
    /// How content gets back on time after a drop.
    pub catch_up: CatchUp,
}

impl AnimationPolicy {
    /// Vsync with `slots` buffers: 2 is double, 3 is triple buffering.
    pub const fn vsync(slots: u8) -> Self {
        Self::new(AheadSettings::buffers(slots), FrameTrigger::Refresh)
    }

    /// D-VSync with these settings.
    pub const fn ahead(settings: AheadSettings) -> Self {
        Self::new(settings, FrameTrigger::Ahead)
    }

    const fn new(settings: AheadSettings, trigger: FrameTrigger) -> Self {
        AnimationPolicy { settings, trigger, recorder: RecorderMode::Coupled, variable: false, catch_up: CatchUp::Skip }
    }

    /// Sets the recorder. The default is Android's, which waits for the renderer.
    pub const fn with_recorder(self, recorder: RecorderMode) -> Self {
        AnimationPolicy { recorder, ..self }
    }

    /// Sets a panel with variable refresh.
    pub const fn on_variable_refresh(self) -> Self {
        AnimationPolicy { variable: true, ..self }
    }
}

/// Runs `load` under `policy`, every animation from an empty pipeline.
pub fn run(load: &Load, policy: &AnimationPolicy) -> RunTally {
    let mut tally = RunTally::new(load.interval);
    for animation in load.animations() {
        AnimationPipeline::new(load.interval, animation, policy).run(&mut tally);
    }
    tally
}

/// Like [`run`]; also returns the misses in order.
pub fn run_with_misses(load: &Load, policy: &AnimationPolicy) -> (RunTally, Vec<FrameMiss>) {
    let mut tally = RunTally::new(load.interval);
    let mut misses = Vec::new();
    for animation in load.animations() {
        let mut pipeline = AnimationPipeline::new(load.interval, animation, policy);
        pipeline.misses = Some(std::mem::take(&mut misses));
        misses = pipeline.run(&mut tally);
    }
    (tally, misses)
}

/// A gap between two frames in which refreshes were missed.
#[derive(Clone, Copy, Debug)]
pub struct FrameMiss {
    /// End of the gap, in display time since the first frame.
    pub at: Span,
    /// Number of missed refreshes.
    pub drops: u64,
    /// Cost of the frame that ended the gap.
    pub cost: FrameCost,
}

/// Misses beyond this number are not recorded.
const MOST_MISSES: usize = 100_000;

/// The times of a frame, for a timeline.
#[derive(Clone, Copy, Debug)]
pub struct FrameTrace {
    /// From zero within the animation.
    pub number: u64,
    pub interval: Span,
    pub record_start: Instant,
    pub record_end: Instant,
    pub render_start: Instant,
    pub render_end: Instant,
    /// The refresh that latches it.
    pub shown: Instant,
}

/// The times of every frame of `load`, as one animation at a fixed rate.
pub fn trace(load: &Load, policy: &AnimationPolicy) -> Vec<FrameTrace> {
    let mut pipeline = AnimationPipeline::new(load.interval, &load.frames, policy);
    pipeline.traces = Some(Vec::with_capacity(load.frames.len()));
    let mut tally = RunTally::new(load.interval);
    let mut left = load.frames.len();
    while left > 0 {
        pipeline.start_work();
        left -= usize::from(pipeline.advance(&mut tally).is_some());
    }
    pipeline.traces.unwrap_or_default()
}

/// From an interrupting event to the light of the first frame that answers it: mean over `count` events, in
/// milliseconds. With `supersede` the event cancels the queued frames; without, they are shown first.
pub fn interrupt_response(load: &Load, policy: &AnimationPolicy, supersede: bool, count: usize) -> f64 {
    /// Refreshes before the event: every queue is full by then.
    const WARM_UP: usize = 40;
    /// Refreshes after the event: an answer that takes longer does not count.
    const PATIENCE: usize = 80;
    let length = WARM_UP + PATIENCE;
    let mut sum = Span::ZERO;
    let mut answered = 0;
    for (index, frames) in load.frames.windows(length).step_by((load.frames.len() / count.max(1)).max(1)).enumerate() {
        // Multiples of the golden ratio spread the phases evenly over the refresh, without a period.
        let phase = (index as f64 * 0.618_034).fract();
        let event = START + load.interval * WARM_UP as i64 + load.interval.scale((phase * 1e6) as i64, 1_000_000);
        let mut pipeline = AnimationPipeline::new(load.interval, frames, policy);
        if let Some(light) = pipeline.answer(event, supersede, frames.len()) {
            sum += light - event;
            answered += 1;
        }
    }
    sum.as_millis_f64() / f64::from(answered.max(1))
}

/// The frame in a stage and the end of its work.
type StageWork = Option<(FrameId, Instant)>;

struct AnimationPipeline<'a> {
    costs: &'a [FrameCost],
    interval: Span,
    trigger: FrameTrigger,
    frames: FrameQueue<()>,
    virtualizer: Virtualizer,
    governor: Option<RateGovernor>,
    now: Instant,
    record: StageWork,
    render: StageWork,
    refresh: RefreshIndex,
    refresh_at: Instant,
    /// A refresh found no frame, so the variable panel waits for the next one.
    waiting: bool,
    first_due: RefreshIndex,
    shown_at: Instant,
    /// Start and target of each frame in the pipeline, by number modulo the most frames there can be.
    started: [StartedFrame; MOST_AHEAD],
    /// Filled for timelines only.
    traces: Option<Vec<FrameTrace>>,
    /// Filled for advice only.
    misses: Option<Vec<FrameMiss>>,
}

#[derive(Clone, Copy)]
struct StartedFrame {
    at: Instant,
    target: DisplayTarget,
}

impl<'a> AnimationPipeline<'a> {
    fn new(interval: Span, costs: &'a [FrameCost], policy: &AnimationPolicy) -> Self {
        let grid = VsyncGrid { refresh: RefreshIndex(0), present: START, interval };
        let mut frames = FrameQueue::new(policy.settings, policy.trigger);
        frames.set_recorder(policy.recorder);
        frames.begin(RefreshIndex(1));
        frames.end_at(FrameId(costs.len() as u64));
        let delay = if policy.trigger == FrameTrigger::Ahead { u64::from(policy.settings.start_delay) } else { 0 };
        let none = DisplayTarget { refresh: RefreshIndex(0), present: START, content: START };
        let slowest = interval.scale(SLOWEST_VARIABLE.0, SLOWEST_VARIABLE.1);
        AnimationPipeline {
            costs,
            interval,
            trigger: policy.trigger,
            frames,
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
            started: [StartedFrame { at: START, target: none }; _],
            traces: None,
            misses: None,
        }
    }

    /// Runs all frames, and returns the misses if they are recorded.
    fn run(mut self, tally: &mut RunTally) -> Vec<FrameMiss> {
        let mut left = self.costs.len();
        while left > 0 {
            self.start_work();
            left -= usize::from(self.advance(tally).is_some());
        }
        self.misses.unwrap_or_default()
    }

    /// Time of the next event.
    fn next_event(&self) -> Instant {
        let end = |work: StageWork| work.map_or(Instant::MAX, |(_, end)| end);
        let refresh = if self.waiting { Instant::MAX } else { self.refresh_at };
        end(self.record).min(end(self.render)).min(refresh)
    }

    /// Handles the next event. Returns the frame that it shows, if any.
    fn advance(&mut self, tally: &mut RunTally) -> Option<FrameId> {
        self.now = self.next_event();
        if let Some((frame, _)) = self.record.filter(|(_, end)| *end == self.now) {
            self.record = None;
            self.frames.mark_recorded(frame);
            None
        } else if let Some((frame, _)) = self.render.filter(|(_, end)| *end == self.now) {
            self.render = None;
            tally.wasted += u64::from(self.frames.mark_drawn(frame, Span::ZERO));
            if self.waiting { self.latch(tally) } else { None }
        } else {
            self.latch(tally)
        }
    }

    /// Runs until `event`, handles it, and runs on until a frame started after it is light.
    fn answer(&mut self, event: Instant, supersede: bool, frames: usize) -> Option<Instant> {
        let mut tally = RunTally::new(self.interval);
        let mut first_fresh = None;
        loop {
            self.start_work();
            if first_fresh.is_none() && self.next_event() > event {
                if supersede {
                    self.now = event;
                    self.frames.supersede();
                }
                first_fresh = Some(self.frames.next_frame());
                continue;
            }
            let shown = self.advance(&mut tally);
            if shown.zip(first_fresh).is_some_and(|(shown, fresh)| shown >= fresh) {
                return Some(self.now + self.interval);
            }
            if self.frames.next_frame().0 as usize >= frames {
                return None;
            }
        }
    }

    fn start_work(&mut self) {
        loop {
            let may = QueuePermissions {
                draw: self.render.is_none(),
                record: self.record.is_none(),
                ..QueuePermissions::WORK
            };
            let Some(step) = self.frames.poll(may) else { return };
            match step {
                FrameOperation::Record => {
                    let next_latch = self.refresh.max(self.first_due);
                    let target = self.virtualizer.issue(next_latch, self.frames.depth() as u64);
                    let frame = self.frames.record(target.refresh, ());
                    self.started[frame.0 as usize % self.started.len()] = StartedFrame { at: self.now, target };
                    let end = self.now + self.costs[frame.0 as usize].record;
                    self.record = Some((frame, end));
                    if let Some(traces) = &mut self.traces {
                        let (number, interval, now) = (frame.0, self.interval, self.now);
                        traces.push(FrameTrace {
                            number,
                            interval,
                            record_start: now,
                            record_end: end,
                            render_start: end,
                            render_end: end,
                            shown: end,
                        });
                    }
                    // Recording has the lowest priority, so no other step is possible now.
                    return;
                }
                FrameOperation::Draw(frame) => {
                    self.frames.mark_drawing(frame);
                    let end = self.now + self.costs[frame.0 as usize].render;
                    self.render = Some((frame, end));
                    if let Some(trace) = self.traces.as_mut().and_then(|traces| traces.get_mut(frame.0 as usize)) {
                        (trace.render_start, trace.render_end) = (self.now, end);
                    }
                }
                // The simulation has no display that holds buffers: nothing to release.
                FrameOperation::Release(_) | FrameOperation::Withdraw(_) | FrameOperation::HandOver(_) => {}
            }
        }
    }

    /// Handles a refresh. Returns the new frame that it shows.
    fn latch(&mut self, tally: &mut RunTally) -> Option<FrameId> {
        let buffers = 1 + self.frames.pixel_buffers();
        let latched = self.frames.frame_for_refresh(self.refresh).frame;
        if let Some(frame) = latched {
            self.frames.take(frame);
        }
        if self.refresh >= self.first_due {
            tally.count_refresh(buffers);
        }
        if let Some(frame) = latched {
            self.shown(frame, tally);
        }
        self.schedule_refresh(latched.is_some());
        latched
    }

    fn shown(&mut self, frame: FrameId, tally: &mut RunTally) {
        if self.governor.is_some() {
            self.virtualizer.calibrate(VsyncGrid { refresh: self.refresh, present: self.now, interval: self.interval });
        }
        let StartedFrame { at, target } = self.started[frame.0 as usize % self.started.len()];
        if let Some(trace) = self.traces.as_mut().and_then(|traces| traces.get_mut(frame.0 as usize)) {
            trace.shown = self.now;
        }
        let gap = self.now - self.shown_at;
        let light = self.now + self.interval;
        // The paper counts from the start of the frame or from its D-Timestamp, whichever is later. A frame that waits
        // because it was started early adds no latency, since its content is not older for it.
        let from = match self.trigger {
            FrameTrigger::Refresh => at,
            FrameTrigger::Ahead => at.max(target.present - self.interval),
        };
        let latency = light - from;
        let class = if gap * 2 > self.interval * 3 {
            FrameClass::AfterDrop
        } else if latency * 2 > self.interval * 5 {
            FrameClass::Stuffed
        } else {
            FrameClass::Direct
        };
        let dropped = tally.drops;
        tally.count_frame(gap, latency, class);
        if let Some(misses) = self.misses.as_mut().filter(|misses| misses.len() < MOST_MISSES && tally.drops > dropped)
        {
            let cost = self.costs[frame.0 as usize];
            misses.push(FrameMiss { at: tally.shown_for, drops: tally.drops - dropped, cost });
        }
        tally.add_age(light - at);
        if self.trigger == FrameTrigger::Ahead {
            tally.count_ahead(self.now - at, self.now - target.content);
        }
        self.shown_at = self.now;
    }

    fn schedule_refresh(&mut self, showed: bool) {
        match &self.governor {
            None => {
                self.frames.tick();
                self.refresh = self.refresh.next();
                self.refresh_at += self.interval;
            }
            Some(governor) if showed => {
                self.refresh = self.refresh.next();
                self.refresh_at = governor.scan_out(self.now, self.now);
                self.waiting = false;
            }
            // The refreshes of a delayed start are still on the grid.
            Some(_) if self.refresh < self.first_due => {
                self.refresh = self.refresh.next();
                self.refresh_at += self.interval;
            }
            Some(_) => self.waiting = true,
        }
    }
}

#[cfg(test)]
mod tests;

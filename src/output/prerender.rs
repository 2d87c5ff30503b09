//! Frames of our own animations, rendered ahead of the refreshes that show them.
//!
//! While nothing but our own motion changes an output, every frame of it is known: it is a function of its target's
//! time. Such frames are rendered as soon as there is a buffer for them, and submitted one per refresh, each when the
//! refresh before its own begins, or, where rendering is quick, when a fresh one would be latched: a press is then answered
//! as soon as if nothing had waited. A frame that takes long to render is hidden by those that wait.
//!
//! ```text
//!  refresh       k         k+1        k+2        k+3        k+4
//!  rendering  k+1,k+2,k+3 ┊ k+4 (takes long) ────────────┊ k+5 …
//!  submitted   └ k+1      └ k+2      └ k+3      └ k+4
//!  waiting       k+2,k+3    k+3         –          –
//! ```
//!
//! What disturbs an output supersedes them: a client's content, the shell, the cursor where it has no plane, a button, a
//! key, a finger, the wheel. One finished frame stays as insurance, for the case that a fresh one would come too late;
//! motion goes on from the last frame that is shown. [`PreExecutor`] decides what may be started and what stays; here
//! are the frames themselves.
//!
//! Pixman renders on this thread: one frame in a turn of the loop, after everything that is due, so that input waits for
//! one frame at most. For OpenGL ES this thread *records* (chooses scenes, which are small), a few more than there are
//! buffers, and the render thread renders one after another ([`recorded`](super::recorded)). Flips do not wait where the
//! display takes frames ahead of their refreshes ([`presenter`](super::presenter)); elsewhere they wait here and are given
//! to it one by one.
//!
//! What answers somebody starts in the next frame, which is latched just in time like the one after it. A window that
//! opens or goes answers nobody: it starts a refresh later, and every frame of it that moves is rendered ahead
//! (`START_DELAY` in [`defaults`](crate::timing::defaults)), unless a client draws meanwhile.

use std::collections::VecDeque;
use std::sync::Arc;

use super::latch::{Moment, end_latch, keep_moving};
use super::placing::choose;
use super::presenter::feed;
use super::recorded::Recorded;
use super::waiting::Waiting;
use super::{OutputState, geometry};
use crate::backend::PixelRect;
use crate::render::Renderer;
use crate::scene::Scene;
use crate::shell::animation::Shown;
use crate::state::State;
use crate::time::{Clock, Instant, Span};
use crate::timing::defaults::{ANIMATION, CALM_LATCHES, START_DELAY};
use crate::timing::id::OutputId;
use crate::timing::output::{Composed, Finished};
use crate::timing::pacing::Pacing;
use crate::timing::pre_executor::{AheadSettings, Phase, PreExecutor, Step, Trigger};
use crate::timing::record::{FrameRecord, Need};
use crate::timing::target::{RefreshIndex, Target};

impl super::Outputs {
    /// The frame of output `id` presented at `present`, for what moves by itself.
    pub(super) fn shown(&self, id: OutputId, present: Instant, interval: Span) -> Shown {
        let is_fixed = self.by_id(id).is_some_and(|output| !output.conductor.output().vsync().is_variable());
        let waits = is_fixed && self.frames_ahead > 0;
        Shown::new(present, interval, if waits { interval * i64::from(START_DELAY) } else { Span::ZERO })
    }
}

impl OutputState {
    /// Something other than our own motion changed what is to be seen: what was rendered without it is wrong.
    pub(super) fn disturb(&mut self, need: Need) {
        let goes_along = match need {
            Need::Animation => true,
            // It is put where it is when the frame is submitted.
            Need::Cursor => self.display.capabilities().cursor_plane.is_some(),
            _ => false,
        };
        if !goes_along {
            self.supersede();
        }
    }

    /// Whatever waits is wrong. One frame stays in case a fresh one is late.
    pub(super) fn supersede(&mut self) {
        self.ahead.disturbed = true;
        self.ahead.calm = 0;
        if self.ahead.insists {
            return;
        }
        self.ahead.withdraws = true;
        if self.ahead.frames.is_empty() && !self.ahead.is_under_way() {
            return;
        }
        let kept = self.ahead.executor.supersede().kept;
        self.ahead.recorded.clear();
        if let Some((_, drawing)) = &mut self.ahead.drawing {
            // It is finished, and if nothing else is, it is the one that stays.
            (drawing.stale, drawing.wanted) = (true, kept == Some(drawing.id));
        }
        let (kept, wrong) = self.ahead.frames.drain(..).partition(|waiting: &Waiting| Some(waiting.id) == kept);
        self.ahead.frames = kept;
        self.ahead.frames.iter_mut().for_each(|waiting| waiting.stale = true);
        let wrong: VecDeque<Waiting> = wrong;
        wrong.into_iter().for_each(|waiting| self.display.release(waiting.buffer));
        self.announce();
    }

    /// Nothing that waits or is under way will be shown.
    pub(super) fn drop_finished(&mut self, renderer: Option<&mut Renderer>) {
        self.ahead.recorded.clear();
        if let Some((job, _)) = self.ahead.drawing.take() {
            self.forget_job(renderer, job);
        }
        let frames = std::mem::take(&mut self.ahead.frames);
        frames.into_iter().for_each(|waiting| self.display.release(waiting.buffer));
        self.ahead.executor = PreExecutor::new(self.ahead.executor.settings(), Trigger::Ahead);
        self.announce();
    }

    /// A latch chose its content: was it our own motion alone that asked for it? Where motion `starts` that waits for its
    /// first frames to be rendered ahead, no calm is waited for.
    pub(super) fn note_calm(&mut self, starts: bool) {
        let calm = if std::mem::take(&mut self.ahead.disturbed) { 0 } else { self.ahead.calm.saturating_add(1) };
        self.ahead.calm = if starts { calm.max(CALM_LATCHES) } else { calm };
        self.ahead.starts = false;
    }

    /// Such motion may start here with the next latch.
    pub(super) fn note_start(&mut self) {
        self.ahead.starts = true;
    }

    /// Whether it may.
    pub(super) fn starts(&self) -> bool {
        self.ahead.starts
    }

    /// Tells the machine which finished frame is next, and whether another is on its way.
    pub(super) fn announce(&mut self) {
        let next = self.ahead.frames.front();
        let next = next.map(|waiting| Finished { index: waiting.record.target, stale: waiting.stale, held: false });
        let held = self.ahead.submitted.front();
        let held = held.map(|flight| Finished { index: flight.record.target, stale: false, held: true });
        let finished = held.or(next);
        let drawing = self.ahead.drawing.as_ref().filter(|(_, recorded)| !recorded.stale);
        let expected = drawing.map(|(_, recorded)| recorded.record.target);
        let machine = self.conductor.output_mut();
        machine.set_finished(finished);
        machine.set_expected(expected);
    }

    /// Frames whose refreshes have passed are not shown late: a newer one is right.
    pub(super) fn drop_late(&mut self, now: Instant) {
        if self.ahead.frames.is_empty() {
            return;
        }
        let reachable = self.conductor.output().next_reachable(now);
        let mut dropped = false;
        while self.ahead.frames.front().is_some_and(|waiting| waiting.record.target < reachable) {
            let Some(late) = self.ahead.frames.pop_front() else { break };
            self.ahead.executor.latch(late.record.target);
            self.conductor.output_mut().rendered_ahead(late.record.compose_cost);
            self.display.release(late.buffer);
            dropped = true;
        }
        if dropped {
            // What the dropped frame changed, no other says that it did.
            let mode = self.display.mode();
            if let Some(next) = self.ahead.frames.front_mut() {
                next.drawn.damage = vec![PixelRect { x: 0, y: 0, width: mode.width, height: mode.height }];
            }
            self.announce();
        }
    }

    /// The last refresh for which there is a frame.
    fn last_framed(&self) -> RefreshIndex {
        let newest = self.ahead.newest().map(|(_, target)| target);
        newest.unwrap_or(RefreshIndex(0)).max(self.last_submitted())
    }

    /// Whether a frame may be rendered ahead, as far as the output can tell.
    fn is_calm(&self, now: Instant, frames_ahead: u8, is_elsewhere: bool) -> bool {
        let machine = self.conductor.output();
        frames_ahead > 0
            && self.on
            && self.ahead.calm >= CALM_LATCHES
            && !self.ahead.disturbed
            && self.need == Need::Animation
            && machine.is_needed()
            && !machine.vsync().is_variable()
            && machine.vsync().is_trusted(now)
            && (is_elsewhere || machine.may_render_ahead(now, self.ahead.finished(), frames_ahead.into()))
    }
}

/// Renders or records one frame ahead, on the first output that has room for one. Returns whether it did.
pub(super) fn run_one(state: &mut State) -> bool {
    if state.outputs.frames_ahead == 0 || state.shell.drag().is_some() || state.shell.pressed().is_some() {
        return false;
    }
    let is_elsewhere = super::recorded::is_elsewhere(state);
    (0..state.outputs.list.len()).any(|index| {
        let mut ready = may_run(state, index, is_elsewhere);
        if ready.is_some() && !is_elsewhere {
            // In no hurry: who waits for a CPU goes first. With only one that is whoever carries out in the kernel what
            // was just submitted, and would have to wait for the scheduler's next tick, past its refresh.
            rustix::thread::sched_yield();
            ready = may_run(state, index, is_elsewhere);
        }
        ready.is_some_and(|(id, now)| super::recorded::begin(state, id) || run(state, id, now))
    })
}

/// The output with this index, and the time, if it is calm and no other one has anything to do.
fn may_run(state: &mut State, index: usize, is_elsewhere: bool) -> Option<(OutputId, Instant)> {
    let now = state.clock.now();
    let output = &mut state.outputs.list[index];
    output.drop_late(now);
    let id = output.id;
    let is_calm = output.is_calm(now, state.outputs.frames_ahead, is_elsewhere);
    (is_calm && !others_are_due(state, id, now)).then_some((id, now))
}

/// Whether another output has something to do before a frame of `id` would be rendered.
fn others_are_due(state: &mut State, id: OutputId, now: Instant) -> bool {
    let Some(cost) = state.outputs.by_id(id).map(|output| output.conductor.output().compose_typical()) else {
        return true;
    };
    let mut others = state.outputs.list.iter_mut().filter(|output| output.id != id);
    others.any(|output| output.conductor.next_wake(now).is_some_and(|wake| wake < now + cost))
}

/// Records the next frame of output `id`, if there is something to see in it and room for it; where the same thread
/// renders it, that is done, too.
fn run(state: &mut State, id: OutputId, now: Instant) -> bool {
    let first = state.outputs.first();
    let waits = state.surfaces.iter().any(|entry| entry.output.or(first) == Some(id) && entry.waiting() > 0);
    let (settings, supersedes) = (settings(&state.outputs), state.outputs.supersedes);
    let frames_ahead = state.outputs.frames_ahead;
    let Some(output) = state.outputs.by_id_mut(id).filter(|_| !waits) else { return false };
    let Some(target) = next_target(output, frames_ahead, now) else { return false };
    let handle = output.output.clone();
    let shown = output.conductor.output().vsync().present(output.last_framed());
    let ahead = &mut output.ahead;
    if ahead.is_empty() {
        ahead.executor = PreExecutor::new(settings, Trigger::Ahead);
        ahead.executor.begin(target.id);
        ahead.insists = !supersedes;
    }
    // What is recorded waits for a buffer: so would the next.
    let is_full = ahead.executor.phase() == Phase::Sync || ahead.executor.render_next().is_some();
    if is_full || !state.shell.is_moving(&handle, shown) {
        return false;
    }
    let (scene, _) = choose(state, id, target.present);
    record(state, id, scene, target, now) && (super::recorded::is_elsewhere(state) || super::recorded::begin(state, id))
}

/// How far ahead frames may run. Only where another thread renders can frames be recorded while one is.
fn settings(outputs: &super::Outputs) -> AheadSettings {
    let settings = AheadSettings::buffers(outputs.frames_ahead.saturating_add(1));
    let is_threaded = outputs.renderer.as_ref().is_some_and(Renderer::is_threaded);
    settings.with_run_ahead(if is_threaded { ANIMATION.run_ahead } else { 0 })
}

/// The refresh that has no frame yet and can still have one.
fn next_target(output: &OutputState, ahead: u8, now: Instant) -> Option<Target> {
    let machine = output.conductor.output();
    let next = output.last_framed().next();
    if !output.ahead.is_empty() {
        return Some(machine.target(next));
    }
    // Nothing waits: the next refresh is latched as ever, if it is too late to render for it.
    let reachable = output.is_in_time(next, now);
    if reachable {
        return Some(machine.target(next));
    }
    // Whoever draws elsewhere has to be given time for it, but nothing is shown meanwhile.
    let mut first = next.next();
    while output.drawing.took > Span::ZERO && !output.is_in_time(first, now) {
        first = first.next();
        if first.since(next) > u64::from(ahead) {
            return None;
        }
    }
    machine.is_busy().then(|| machine.target(first))
}

fn record(state: &mut State, id: OutputId, scene: Scene, target: Target, now: Instant) -> bool {
    let State { outputs, clock, .. } = state;
    let Some(output) = outputs.by_id_mut(id) else { return false };
    let ahead = &output.ahead;
    let submitted = ahead.submitted.back().map_or(&output.drawn, |flight| &flight.scene);
    let last = ahead.newest().map_or(submitted, |(scene, _)| scene);
    if scene.looks_like(last) {
        output.reclaim(Arc::new(scene));
        return false;
    }
    let moment = Moment { target, scheduled: now, latched: now, need: Need::Animation };
    let record = FrameRecord { pacing: Pacing::Ahead, ..output.open_record(&moment) };
    let executor = &mut output.ahead.executor;
    let Some(Step::Record(frame)) = executor.poll() else { return false };
    executor.recorded(frame);
    let cost = clock.now() - now;
    output.ahead.recorded.push_back(Recorded {
        id: frame,
        stale: false,
        wanted: true,
        scene: Arc::new(scene),
        record,
        cost,
    });
    true
}

/// Submits the finished frame for `target`, if there is one that is to be shown. Returns whether it did.
pub(super) fn submit_finished(state: &mut State, id: OutputId, target: Target, scheduled: Instant) -> bool {
    if super::presenter::promote(state, id) {
        return true;
    }
    let now = state.clock.now();
    let super::Outputs { list, renderer, .. } = &mut state.outputs;
    let Some(output) = list.iter_mut().find(|output| output.id == id) else { return false };
    output.drop_late(now);
    if !output.conductor.output().shows_finished(target.id, now) {
        // What waits was made for refreshes that fresh content takes over.
        if !output.ahead.frames.is_empty() || output.ahead.is_under_way() {
            output.drop_finished(renderer.as_mut());
        }
        return false;
    }
    let Some(waiting) = output.ahead.frames.pop_front() else { return false };
    output.ahead.executor.latch(target.id);
    output.announce();
    let (stale, need) = (waiting.stale || output.ahead.disturbed, output.need);
    output.need = Need::Animation;
    output.conductor.latched(target.id);
    if stale {
        // It is not what was asked for.
        output.need(need);
    } else {
        super::latch::animate(state, id, target.present, target.interval);
    }
    flip(state, id, waiting, scheduled);
    end_latch(state, id);
    keep_moving(state, id, target.present);
    feed(state, id);
    true
}

fn flip(state: &mut State, id: OutputId, waiting: Waiting, scheduled: Instant) {
    let Some(handle) = state.outputs.by_id(id).map(|output| output.output.clone()) else { return };
    let cursor = super::cursor::layer(state, geometry(&handle), handle.current_scale().fractional_scale());
    let State { outputs, clock, .. } = state;
    let Some(output) = outputs.by_id_mut(id) else { return };
    let target = waiting.record.target;
    let flight = output.hand_over(waiting, cursor.as_ref(), clock);
    let composed = if flight.is_some() { Composed::Odd } else { Composed::Nothing };
    output.conductor.composed(target, scheduled, clock.now(), composed);
    if let Some(flight) = flight {
        output.drawn = flight.scene.clone();
        output.flights.push_back(flight);
    }
}

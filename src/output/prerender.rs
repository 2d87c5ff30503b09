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
//! Rendering is on this thread: one frame in a turn of the loop, after everything that is due, so that input waits for
//! one frame at most. Flips do not wait where the display takes frames ahead of their refreshes ([`presenter`]
//! (super::presenter)); elsewhere they wait here and are given to it one by one.

use std::collections::VecDeque;
use std::sync::Arc;

use super::latch::{Moment, end_latch, keep_moving};
use super::placing::choose;
use super::presenter::feed;
use super::scene::Scene;
use super::{Flight, OutputState, geometry};
use crate::backend::{Buffer, FrameId, PixelRect};
use crate::render::Drawn;
use crate::shell::animation::Shown;
use crate::state::State;
use crate::time::{Clock, Instant};
use crate::timing::defaults::CALM_LATCHES;
use crate::timing::id::OutputId;
use crate::timing::output::{Composed, Finished};
use crate::timing::pacing::Pacing;
use crate::timing::pre_executor::{self, AheadSettings, Phase, PreExecutor, Step, Trigger};
use crate::timing::record::{FrameRecord, Need};
use crate::timing::target::{RefreshIndex, Target};

/// The frames of one output that are finished and wait.
#[derive(Debug)]
pub(super) struct Ahead {
    pub executor: PreExecutor,
    /// In the order of their refreshes.
    pub frames: VecDeque<Waiting>,
    /// Those that the display holds already, behind the one in flight; see [`presenter`](super::presenter).
    pub submitted: VecDeque<Flight>,
    /// The cursor of frames that the display holds was moved: what is on screen is not what was drawn.
    pub cursor_moved: bool,
    /// Latches in a row that nothing but our own motion asked for.
    calm: u32,
    disturbed: bool,
    /// What waits is shown whatever happens.
    insists: bool,
}

/// A finished frame.
#[derive(Debug)]
pub(super) struct Waiting {
    pub id: pre_executor::FrameId,
    pub frame: FrameId,
    /// What it shows is not what is wanted any more.
    pub stale: bool,
    pub scene: Arc<Scene>,
    pub buffer: Buffer,
    pub drawn: Drawn,
    pub record: FrameRecord,
}

impl Default for Ahead {
    fn default() -> Self {
        Ahead {
            executor: PreExecutor::new(AheadSettings::buffers(2), Trigger::Ahead),
            frames: VecDeque::new(),
            submitted: VecDeque::new(),
            cursor_moved: false,
            calm: 0,
            disturbed: false,
            insists: false,
        }
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
        // One that the display holds is shown in any case: it is left there only where nothing else would be.
        self.withdraw(usize::from(self.conductor.output().composes_slowly()));
        if self.ahead.frames.is_empty() {
            return;
        }
        let kept = self.ahead.executor.supersede().kept;
        let (kept, wrong) = self.ahead.frames.drain(..).partition(|waiting: &Waiting| Some(waiting.id) == kept);
        self.ahead.frames = kept;
        self.ahead.frames.iter_mut().for_each(|waiting| waiting.stale = true);
        let wrong: VecDeque<Waiting> = wrong;
        wrong.into_iter().for_each(|waiting| self.display.release(waiting.buffer));
        self.announce();
    }

    /// Nothing that waits will be shown.
    pub(super) fn drop_finished(&mut self) {
        let frames = std::mem::take(&mut self.ahead.frames);
        frames.into_iter().for_each(|waiting| self.display.release(waiting.buffer));
        self.ahead.executor = PreExecutor::new(self.ahead.executor.settings(), Trigger::Ahead);
        self.announce();
    }

    /// A latch chose its content: was it our own motion alone that asked for it?
    pub(super) fn note_calm(&mut self) {
        self.ahead.calm = if std::mem::take(&mut self.ahead.disturbed) { 0 } else { self.ahead.calm.saturating_add(1) };
    }

    /// Tells the machine which finished frame is next.
    pub(super) fn announce(&mut self) {
        let next = self.ahead.frames.front();
        let finished = next.map(|waiting| Finished { index: waiting.record.target, stale: waiting.stale });
        self.conductor.output_mut().set_finished(finished);
    }

    /// Frames whose refreshes have passed are not shown late: a newer one is right.
    fn drop_late(&mut self, now: Instant) {
        if self.ahead.frames.is_empty() {
            return;
        }
        let reachable = self.conductor.output().next_reachable(now);
        let mut dropped = false;
        while self.ahead.frames.front().is_some_and(|waiting| waiting.record.target < reachable) {
            let Some(late) = self.ahead.frames.pop_front() else { break };
            self.ahead.executor.latch(late.record.target);
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
        let waiting = self.ahead.frames.back().map(|waiting| waiting.record.target);
        waiting.unwrap_or(RefreshIndex(0)).max(self.last_submitted())
    }

    /// Whether a frame may be rendered ahead, as far as the output can tell.
    fn is_calm(&self, now: Instant, frames_ahead: u8) -> bool {
        let machine = self.conductor.output();
        frames_ahead > 0
            && self.on
            && !self.is_drawing()
            && self.ahead.calm >= CALM_LATCHES
            && !self.ahead.disturbed
            && self.need == Need::Animation
            && machine.is_needed()
            && !machine.vsync().is_variable()
            && machine.vsync().is_trusted(now)
            && machine.may_render_ahead(now, self.ahead.frames.len())
    }
}

/// Renders one frame ahead, on the first output that has room for one. Returns whether it did.
pub(super) fn run_one(state: &mut State) -> bool {
    let now = state.clock.now();
    if state.outputs.frames_ahead == 0 || state.shell.drag().is_some() || state.shell.pressed().is_some() {
        return false;
    }
    (0..state.outputs.list.len()).any(|index| {
        let output = &mut state.outputs.list[index];
        output.drop_late(now);
        let id = output.id;
        output.is_calm(now, state.outputs.frames_ahead) && !others_are_due(state, id, now) && run(state, id, now)
    })
}

/// Whether another output has something to do before a frame of `id` would be rendered.
fn others_are_due(state: &mut State, id: OutputId, now: Instant) -> bool {
    let Some(cost) = state.outputs.by_id(id).map(|output| output.conductor.output().compose_typical()) else {
        return true;
    };
    let mut others = state.outputs.list.iter_mut().filter(|output| output.id != id);
    others.any(|output| output.conductor.next_wake(now).is_some_and(|wake| wake < now + cost))
}

/// Renders the next frame of output `id`, if there is something to see in it and a buffer for it.
fn run(state: &mut State, id: OutputId, now: Instant) -> bool {
    let first = state.outputs.first();
    let waits = state.surfaces.iter().any(|entry| entry.output.or(first) == Some(id) && entry.waiting() > 0);
    let (frames_ahead, supersedes) = (state.outputs.frames_ahead, state.outputs.supersedes);
    let Some(output) = state.outputs.by_id_mut(id).filter(|_| !waits) else { return false };
    let Some(target) = next_target(output, now) else { return false };
    let handle = output.output.clone();
    let shown = output.conductor.output().vsync().present(output.last_framed());
    let ahead = &mut output.ahead;
    if ahead.frames.is_empty() && ahead.submitted.is_empty() {
        ahead.executor = PreExecutor::new(AheadSettings::buffers(frames_ahead.saturating_add(1)), Trigger::Ahead);
        ahead.executor.begin(target.id);
        ahead.insists = !supersedes;
    }
    if ahead.executor.phase() == Phase::Sync || !state.shell.is_moving(&handle, shown) {
        return false;
    }
    let (scene, _) = choose(state, id, target.present);
    render(state, id, scene, target, now)
}

/// The refresh that has no frame yet and can still have one.
fn next_target(output: &OutputState, now: Instant) -> Option<Target> {
    let machine = output.conductor.output();
    let next = output.last_framed().next();
    if !output.ahead.frames.is_empty() || !output.ahead.submitted.is_empty() {
        return Some(machine.target(next));
    }
    // Nothing waits: the next refresh is latched as ever, if it is too late to render for it.
    let reachable = machine.submit_by(next) - machine.compose_typical() >= now;
    Some(machine.target(if reachable { next } else { next.next() })).filter(|_| machine.is_busy() || reachable)
}

fn render(state: &mut State, id: OutputId, scene: Scene, target: Target, now: Instant) -> bool {
    let State { outputs, clock, .. } = state;
    let super::Outputs { list, renderer, .. } = outputs;
    let Some(output) = list.iter_mut().find(|output| output.id == id) else { return false };
    let submitted = output.ahead.submitted.back().map_or(&output.drawn, |flight| &flight.scene);
    let last = output.ahead.frames.back().map_or(&**submitted, |waiting| &*waiting.scene);
    let looks_the_same = scene.looks_like(last);
    if looks_the_same {
        output.reclaim(Arc::new(scene));
        return false;
    }
    let moment = Moment { target, scheduled: now, latched: now, need: Need::Animation };
    let mut record = FrameRecord { pacing: Pacing::Ahead, ..output.open_record(&moment) };
    let mut scene = Arc::new(scene);
    let Some((buffer, drawn)) = output.draw_now(renderer.as_mut(), &scene) else { return false };
    record.damage = drawn.area();
    output.release_buffers(&mut scene);
    output.frames += 1;
    record.frame = output.frames;
    let done = clock.now();
    record.composed = Some(done);
    record.compose_cost = done - now;
    output.conductor.output_mut().rendered_ahead(done - now);
    let executor = &mut output.ahead.executor;
    let Some(Step::Record(frame)) = executor.poll() else {
        output.display.release(buffer);
        return false;
    };
    executor.recorded(frame);
    executor.poll();
    executor.rendered(frame);
    let waiting = Waiting { id: frame, frame: FrameId(output.frames), stale: false, scene, buffer, drawn, record };
    output.ahead.frames.push_back(waiting);
    output.announce();
    feed(state, id);
    true
}

/// Submits the finished frame for `target`, if there is one that is to be shown. Returns whether it did.
pub(super) fn submit_finished(state: &mut State, id: OutputId, target: Target, scheduled: Instant) -> bool {
    let now = state.clock.now();
    let Some(output) = state.outputs.by_id_mut(id) else { return false };
    output.drop_late(now);
    if !output.conductor.output().shows_finished(target.id, now) {
        // What waits was made for refreshes that fresh content takes over.
        if !output.ahead.frames.is_empty() {
            output.drop_finished();
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
        state.shell.animate(Shown { at: target.present, before: target.present - target.interval });
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

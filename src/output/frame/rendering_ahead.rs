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
//! motion goes on from the last frame that is shown. The output's machine decides what may be started and what stays.
//!
//! Pixman renders on this thread: one frame in a turn of the loop, after everything that is due, so that input waits for
//! one frame at most. For OpenGL ES this thread *records* (chooses scenes, which are small), a few more than there are
//! buffers, and the render thread renders one after another:
//!
//! ```text
//!   this thread     record k+1, k+2 …            record k+5         record k+6
//!                        │                           ▲                 ▲
//!                        └► hand over ┐   ┌► arrived ┴► hand over ┐  ┌─┴► …
//!   render thread                     └───┘ k+1                   └──┘ k+2
//!   buffers used                      1, as soon as it is begun
//! ```
//!
//! One frame of an output is handed over at a time: whatever was not is taken back by clearing a list, and a latch comes
//! before all of it. One that is being drawn when it is superseded is finished: it may be the insurance.
//!
//! What answers somebody starts in the next frame, which is latched just in time like the one after it. A window that
//! opens or goes answers nobody: it starts a refresh later, and every frame of it that moves is rendered ahead
//! (`START_DELAY` in [`defaults`](upbeat_timing::defaults)), unless a client draws meanwhile.

use crate::output::OutputState;
use crate::output::frame::drawing::Begun;
use crate::output::frame::handing_over;
use crate::output::frame::{Content, Moment, Pixels};
use crate::output::scene::choosing::choose;
use crate::render::Renderer;
use crate::scene::Scene;
use crate::shell::swipes;
use crate::state::State;
use upbeat_timing::defaults::ANIMATION;
use upbeat_timing::frames::Step;
use upbeat_timing::id::{FrameId, OutputId};
use upbeat_timing::output::Work;
use upbeat_timing::pacing::Pacing;
use upbeat_timing::record::{FrameRecord, Need};
use upbeat_timing::time::{Clock, Instant};

impl crate::output::Outputs {
    /// What may be done ahead.
    fn work(&self) -> Work {
        let is_threaded = self.renderer.as_ref().is_some_and(Renderer::is_threaded);
        Work {
            ahead: self.frames_ahead,
            run_ahead: is_threaded.then_some(ANIMATION.run_ahead),
            free: true,
            insists: !self.supersedes,
        }
    }
}

/// Renders or records one frame ahead, on the first output that has room for one. Returns whether it did.
pub(in crate::output) fn run_one(state: &mut State) -> bool {
    let is_held = state.shell.drag().is_some() || state.shell.pressed().is_some() || swipes::is_held(state);
    if state.outputs.frames_ahead == 0 || is_held {
        return false;
    }
    let work = state.outputs.work();
    (0..state.outputs.list.len()).any(|index| {
        let Some(id) = state.outputs.list.get(index).map(|output| output.id) else { return false };
        if !is_calm(state, id, work) {
            return false;
        }
        if work.run_ahead.is_none() {
            // In no hurry: who waits for a CPU goes first. With only one that is whoever carries out in the kernel what
            // was just submitted, and would have to wait for the scheduler's next tick, past its refresh.
            rustix::thread::sched_yield();
            if !is_calm(state, id, work) {
                return false;
            }
        }
        work_ahead(state, id, work)
    })
}

/// Whether output `id` is calm and no other one has anything to do before a frame of it would be rendered.
fn is_calm(state: &mut State, id: OutputId, work: Work) -> bool {
    let now = state.clock.now();
    let Some(output) = state.outputs.by_id_mut(id) else { return false };
    if !output.conductor.output().is_free_to_render(work, now) {
        return false;
    }
    let cost = output.conductor.output().compose_typical();
    let mut others = state.outputs.list.iter_mut().filter(|output| output.id != id);
    !others.any(|output| output.conductor.next_wake(now).is_some_and(|wake| wake < now + cost))
}

/// Has the next recorded frame of output `id` drawn, if it is its turn and there is a buffer for it, or else records one,
/// if there is something to see in it; where the same thread draws it, that is done, too. Returns whether it did anything.
fn work_ahead(state: &mut State, id: OutputId, work: Work) -> bool {
    loop {
        let now = state.clock.now();
        let Some(output) = state.outputs.by_id_mut(id) else { return false };
        match output.conductor.poll_frame(work, now) {
            Some(Step::Draw(frame)) => return draw(state, id, frame, work),
            Some(Step::Record) => {
                let Some(frame) = record(state, id, work, now) else { return false };
                return work.run_ahead.is_some() || draw(state, id, frame, work);
            }
            Some(Step::Release(frame)) => output.let_go(frame),
            Some(Step::Withdraw(first)) => output.ask_back(first),
            Some(Step::HandOver(frame)) => handing_over::give_ahead(state, id, frame),
            None => return false,
        }
    }
}

/// Records the next frame of output `id`, if something moves in it.
fn record(state: &mut State, id: OutputId, work: Work, now: Instant) -> Option<FrameId> {
    let first = state.outputs.first();
    if state.surfaces.awake().any(|entry| entry.output().or(first) == Some(id) && entry.waiting() > 0) {
        return None;
    }
    let output = state.outputs.by_id_mut(id)?;
    let machine = output.conductor.output_mut();
    let shown = machine.vsync().present(machine.last_framed());
    let target = machine.record_target(work, now)?;
    let handle = output.output.clone();
    if !state.shell.is_moving(&handle, shown) {
        return None;
    }
    let scene = choose(state, id, target.present);
    let moment = Moment { target, scheduled: now, latched: now, need: Need::Animation };
    let State { outputs, clock, .. } = state;
    let output = outputs.by_id_mut(id)?;
    if scene.looks_like(output.newest_scene()) {
        output.reclaim(std::sync::Arc::new(scene));
        return None;
    }
    let record = FrameRecord { pacing: Pacing::Ahead, ..output.open_record(&moment) };
    let content = Content { chosen_in: clock.now() - now, ..Content::new(scene, record) };
    Some(output.conductor.output_mut().record(target.id, content))
}

impl OutputState {
    /// The scene of the newest frame that will be shown, or was.
    fn newest_scene(&self) -> &Scene {
        let newest = self.conductor.output().frames().newest();
        newest.map_or(&self.drawn, |frame| &frame.content.scene)
    }
}

/// Has recorded frame `id` drawn. Returns whether it is, or is begun.
fn draw(state: &mut State, id: OutputId, frame: FrameId, work: Work) -> bool {
    let State { outputs, clock, .. } = state;
    let crate::output::Outputs { list, renderer, drawn, .. } = outputs;
    let Some(output) = list.iter_mut().find(|output| output.id == id) else { return false };
    let Some(scene) = output.conductor.output().frames().get(frame).map(|frame| frame.content.scene.clone()) else {
        return false;
    };
    let begun = output.begin(renderer.as_mut(), &scene, false, drawn.as_ref());
    drop(scene);
    let frames = output.conductor.output_mut().frames_mut();
    match begun {
        // It waits for a buffer.
        None if work.run_ahead.is_some() => return false,
        None => {
            frames.abandon(frame);
            return false;
        }
        Some(Begun::Finished(finished)) => {
            frames.draw(frame);
            output.arrived(frame, finished, clock);
        }
        Some(Begun::UnderWay(job)) => {
            frames.draw(frame);
            if let Some(frame) = frames.get_mut(frame) {
                frame.content.pixels = Pixels::Drawing(job);
            }
        }
    }
    handing_over::attend(state, id);
    true
}

//! Renders frames of our own animations and of flings ahead of the refreshes that show them.
//!
//! While only our own animation or a scrolled view in a fling changes an output, each of its frames is known in advance:
//! it is a function of its target's time. Such a frame is rendered as soon as a buffer is free. One is submitted per refresh, when the previous
//! refresh begins. If rendering is quick, it is submitted only when a fresh frame would be latched: a press then gets
//! its answer as early as without waiting frames. Waiting frames hide a frame that takes long to render.
//!
//! ```text
//!  refresh       k         k+1        k+2        k+3        k+4
//!  rendering  k+1,k+2,k+3 ┊ k+4 (takes long) ────────────┊ k+5 …
//!  submitted   └ k+1      └ k+2      └ k+3      └ k+4
//!  waiting       k+2,k+3    k+3         –          –
//! ```
//!
//! Any other change of the output supersedes them: a client's content, the shell, the cursor without a plane, a button,
//! a key, a finger, the wheel. One finished frame stays as insurance, in case a fresh frame comes too late. The
//! animation continues from the last frame that is shown. The output's machine decides which frames may start and which
//! stay.
//!
//! Pixman renders on this thread: one frame in a turn of the loop, after all due work, so that input waits for one
//! frame at most. For OpenGL ES this thread *records* frames (chooses their scenes, which are small), a few more than
//! there are buffers, and the render thread draws them in sequence:
//!
//! ```text
//!   this thread     record k+1, k+2 …            record k+5         record k+6
//!                        │                           ▲                 ▲
//!                        └► hand over ┐   ┌► arrived ┴► hand over ┐  ┌─┴► …
//!   render thread                     └───┘ k+1                   └──┘ k+2
//!   buffers used                      1, as soon as it is begun
//! ```
//!
//! The render thread gets one frame of an output at a time, so that the remaining frames can be superseded by clearing
//! a list, and a latch goes before all of them. A frame that is superseded while being drawn is finished: it may be the
//! insurance.
//!
//! An animation that answers the user starts in the next frame, which is latched just in time like the frame after it.
//! A window that opens or closes answers no input: its animation starts a refresh later, and every moving frame is
//! rendered ahead (`START_DELAY` in [`defaults`](upbeat_timing::defaults)), unless a client draws meanwhile.

use crate::output::OutputState;
use crate::output::frame::drawing::RenderStart;
use crate::output::frame::submit_ahead;
use crate::output::frame::{FrameContent, FramePixels, LatchContext};
use crate::output::scene::scene_builder::choose;
use crate::output::scene::scrolling;
use crate::render::Renderer;
use crate::scene::Scene;
use crate::shell::swipes;
use crate::state::State;
use upbeat_timing::defaults::ANIMATION;
use upbeat_timing::frames::FrameOperation;
use upbeat_timing::id::{FrameId, OutputId};
use upbeat_timing::output::AheadLimits;
use upbeat_timing::pacing::Pacing;
use upbeat_timing::record::{FrameRecord, RepaintReason};
use upbeat_timing::time::{Clock, Instant};

impl crate::output::Outputs {
    /// Limits for work ahead.
    fn ahead_limits(&self) -> AheadLimits {
        let is_threaded = self.renderer.as_ref().is_some_and(Renderer::is_threaded);
        AheadLimits {
            ahead: self.frames_ahead,
            run_ahead: is_threaded.then_some(ANIMATION.run_ahead),
            free: true,
            never_supersedes: !self.supersedes,
        }
    }
}

/// Renders or records one frame ahead, on the first output that has room for it. Returns whether it did.
pub(in crate::output) fn run_one(state: &mut State) -> bool {
    let is_held = state.shell.drag().is_some() || state.shell.pressed().is_some() || swipes::is_held(state);
    if state.outputs.frames_ahead == 0 || is_held {
        return false;
    }
    let work = state.outputs.ahead_limits();
    (0..state.outputs.list.len()).any(|index| {
        let Some(id) = state.outputs.list.get(index).map(|output| output.id) else { return false };
        if !is_free(state, id, work) {
            return false;
        }
        if work.run_ahead.is_none() {
            // Rendering ahead is not urgent, so other threads go first. With a single CPU this may be the
            // kernel worker that commits the last submission: otherwise it would wait for the scheduler's
            // next tick, past its refresh.
            rustix::thread::sched_yield();
            if !is_free(state, id, work) {
                return false;
            }
        }
        work_ahead(state, id, work)
    })
}

/// Whether output `id` is free to render, and no other output has work due before the frame would be finished.
fn is_free(state: &mut State, id: OutputId, work: AheadLimits) -> bool {
    let now = state.clock.now();
    let Some(output) = state.outputs.by_id_mut(id) else { return false };
    if !output.conductor.output().is_free_to_render(work, now) {
        return false;
    }
    let cost = output.conductor.output().compose_typical();
    let mut others = state.outputs.list.iter_mut().filter(|output| output.id != id);
    !others.any(|output| output.conductor.next_wake(now).is_some_and(|wake| wake < now + cost))
}

/// Draws the next recorded frame of output `id` if it is due and a buffer is free; otherwise records a frame if its
/// scene would change. Pixman draws the recorded frame at once. Returns whether any work was done.
fn work_ahead(state: &mut State, id: OutputId, work: AheadLimits) -> bool {
    loop {
        let now = state.clock.now();
        let Some(output) = state.outputs.by_id_mut(id) else { return false };
        match output.conductor.poll_frame(work, now) {
            Some(FrameOperation::Draw(frame)) => return draw(state, id, frame, work),
            Some(FrameOperation::Record) => {
                let Some(frame) = record(state, id, work, now) else { return false };
                return work.run_ahead.is_some() || draw(state, id, frame, work);
            }
            Some(FrameOperation::Release(frame)) => output.release_frame(frame),
            Some(FrameOperation::Withdraw(first)) => output.withdraw_from(first),
            Some(FrameOperation::HandOver(frame)) => submit_ahead::submit_ahead_of_latch(state, id, frame),
            None => return false,
        }
    }
}

/// Records the next frame of output `id`, if an animation or a fling changes it.
fn record(state: &mut State, id: OutputId, work: AheadLimits, now: Instant) -> Option<FrameId> {
    let first = state.outputs.first();
    if state.surfaces.awake().any(|entry| entry.output().or(first) == Some(id) && entry.queued_updates() > 0) {
        return None;
    }
    let output = state.outputs.by_id_mut(id)?;
    let machine = output.conductor.output_mut();
    let shown = machine.vsync().present(machine.last_refresh_with_frame());
    let target = machine.record_target(work, now)?;
    let handle = output.output.clone();
    let offsets = scrolling::foresee(state, id, target)?;
    let need = match state.shell.is_moving(&handle, shown) {
        true => RepaintReason::Animation,
        false if offsets.is_empty() => return None,
        false => RepaintReason::Fling,
    };
    let scene = scrolling::at_offsets(&offsets, || choose(state, id, target.present));
    let context = LatchContext { target, scheduled: now, latched: now, need };
    let State { outputs, clock, .. } = state;
    let output = outputs.by_id_mut(id)?;
    if scene.looks_like(output.newest_scene()) {
        output.reclaim(std::sync::Arc::new(scene));
        return None;
    }
    let record = FrameRecord { pacing: Pacing::Ahead, ..output.open_record(&context) };
    let content = FrameContent { chosen_in: clock.now() - now, ..FrameContent::new(scene, record) };
    Some(output.conductor.output_mut().record(target.id, content))
}

impl OutputState {
    /// The scene of the newest frame that was or will be shown.
    fn newest_scene(&self) -> &Scene {
        let newest = self.conductor.output().frames().newest();
        newest.map_or(&self.drawn_scene, |frame| &frame.content.scene)
    }
}

/// Starts to draw recorded frame `id`. Returns whether it is drawn or being drawn.
fn draw(state: &mut State, id: OutputId, frame: FrameId, work: AheadLimits) -> bool {
    let State { outputs, clock, .. } = state;
    let crate::output::Outputs { list, renderer, render_ping: drawn, .. } = outputs;
    let Some(output) = list.iter_mut().find(|output| output.id == id) else { return false };
    let Some(scene) = output.conductor.output().frames().get(frame).map(|frame| frame.content.scene.clone()) else {
        return false;
    };
    let begun = output.begin(renderer.as_mut(), &scene, false, drawn.as_ref());
    drop(scene);
    let frames = output.conductor.output_mut().frames_mut();
    match begun {
        // The frame stays recorded until a buffer is free.
        None if work.run_ahead.is_some() => return false,
        None => {
            frames.discard(frame);
            return false;
        }
        Some(RenderStart::Finished(finished)) => {
            frames.mark_drawing(frame);
            output.finished_ahead(frame, finished, clock);
        }
        Some(RenderStart::UnderWay(job)) => {
            frames.mark_drawing(frame);
            if let Some(frame) = frames.get_mut(frame) {
                frame.content.pixels = FramePixels::Drawing(job);
            }
        }
    }
    submit_ahead::run_urgent_steps(state, id);
    true
}

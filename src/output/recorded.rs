//! Frames of our own animations between their scene and their pixels.
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

use std::sync::Arc;

use super::OutputState;
use super::drawing::Begun;
use super::waiting::Waiting;
use crate::backend::FrameId;
use crate::render::{Finished, Renderer};
use crate::scene::Scene;
use crate::state::State;
use crate::time::{Clock, Instant, Span};
use crate::timing::id::OutputId;
use crate::timing::pre_executor;
use crate::timing::record::FrameRecord;
use crate::timing::target::RefreshIndex;

/// A scene that was chosen for a refresh to come.
#[derive(Debug)]
pub(super) struct Recorded {
    pub id: pre_executor::FrameId,
    /// What it shows is not what is wanted any more.
    pub stale: bool,
    /// Whether it may be shown, at least where nothing better can be.
    pub wanted: bool,
    pub scene: Arc<Scene>,
    pub record: FrameRecord,
    /// What choosing it took.
    pub cost: Span,
}

/// Whether another thread renders.
pub(super) fn is_elsewhere(state: &State) -> bool {
    state.outputs.renderer.as_ref().is_some_and(Renderer::is_threaded)
}

/// Has the next recorded frame of output `id` drawn, if it is its turn and there is a buffer for it. Returns whether that
/// is so.
pub(super) fn begin(state: &mut State, id: OutputId) -> bool {
    let is_elsewhere = is_elsewhere(state);
    let now = state.clock.now();
    let State { outputs, clock, .. } = state;
    let super::Outputs { list, renderer, drawn, .. } = outputs;
    let Some(output) = list.iter_mut().find(|output| output.id == id) else { return false };
    if is_elsewhere {
        output.drop_recorded_late(now);
    }
    let next = output.ahead.executor.render_next();
    let Some(scene) = output.ahead.recorded.front().filter(|front| next == Some(front.id)) else { return false };
    let scene = scene.scene.clone();
    let begun = output.begin(renderer.as_mut(), &scene, false, drawn.as_ref());
    drop(scene);
    if begun.is_none() && is_elsewhere {
        // It waits for a buffer.
        return false;
    }
    let Some(mut recorded) = output.ahead.recorded.pop_front() else { return false };
    let Some(begun) = begun else {
        output.ahead.executor.forget(recorded.id);
        return false;
    };
    output.ahead.executor.poll();
    output.frames += 1;
    recorded.record.frame = output.frames;
    match begun {
        Begun::Finished(finished) => output.arrived(recorded, finished, clock),
        Begun::UnderWay(job) => {
            output.ahead.drawing = Some((job, recorded));
            output.announce();
        }
    }
    super::presenter::feed(state, id);
    true
}

impl OutputState {
    /// A frame was drawn ahead, or could not be.
    pub(super) fn arrived(&mut self, recorded: Recorded, finished: Finished, clock: &impl Clock) {
        let Recorded { id, stale, wanted, mut scene, mut record, cost } = recorded;
        let took = finished.took;
        let Some((buffer, drawn)) = self.take_drawn(finished) else {
            self.ahead.executor.forget(id);
            return self.announce();
        };
        self.release_buffers(&mut scene);
        let now = clock.now();
        record.composed = Some(now);
        record.compose_cost = took.map_or(now - record.latched, |took| cost + took);
        record.damage = drawn.area();
        if !wanted {
            self.ahead.executor.forget(id);
        }
        let is_wasted = self.ahead.executor.rendered(id);
        if is_wasted || !wanted {
            self.display.release(buffer);
        } else {
            let frame = FrameId(record.frame);
            self.ahead.frames.push_back(Waiting { id, frame, stale, scene, buffer, drawn, record });
        }
        self.announce();
    }

    /// Whether a frame for `index` that is begun now is drawn in time, as far as the last ones tell.
    pub(super) fn is_in_time(&self, index: RefreshIndex, now: Instant) -> bool {
        let machine = self.conductor.output();
        machine.submit_by(index) - machine.compose_typical().max(self.drawing.took) >= now
    }

    /// Recorded frames that would be drawn too late are not drawn: a later one is right.
    fn drop_recorded_late(&mut self, now: Instant) {
        if !self.ahead.frames.is_empty() || self.ahead.drawing.is_some() || !self.ahead.submitted.is_empty() {
            return;
        }
        while let Some(front) = self.ahead.recorded.front()
            && !self.is_in_time(front.record.target, now)
        {
            self.ahead.executor.forget(front.id);
            self.ahead.recorded.pop_front();
        }
    }
}

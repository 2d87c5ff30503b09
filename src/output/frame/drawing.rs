//! Hands scenes to the renderer and collects the drawn buffers.
//!
//! A frame cannot be withdrawn from the render thread once drawing has begun. If it is discarded meanwhile (superseded
//! by input, output off, mode change), it stays in the output's queue until the thread has finished it; then its buffer
//! is released.

use std::sync::Arc;

use calloop::ping::Ping;

use crate::backend::Buffer;
use crate::output::OutputState;
use crate::output::frame::handing_over;
use crate::output::frame::{Content, CursorNow, Pixels};
use crate::output::power::{self, LitBy};
use crate::render::{Drawn, Finished, Job, JobId, Recovered, Renderer};
use crate::scene::Scene;
use crate::state::State;
use crate::surface::Unshown;
use upbeat_timing::frames::{Frame, Stage};
use upbeat_timing::id::FrameId;
use upbeat_timing::record::Need;
use upbeat_timing::time::Clock;

/// State of a scene that was handed to the renderer.
pub(in crate::output) enum Begun {
    /// It is drawn, or drawing failed.
    Finished(Finished),
    /// The render thread is drawing it.
    UnderWay(JobId),
}

impl OutputState {
    /// Whether a frame that is still wanted is being drawn.
    pub fn is_drawing(&self) -> bool {
        self.conductor.output().frames().at(Stage::Drawing).any(|frame| !frame.is_unwanted())
    }

    /// How many frames of our own animations are recorded ahead and not drawn yet. For tests.
    pub fn recorded_ahead(&self) -> usize {
        self.conductor.output().frames().recorded_ahead()
    }

    /// Starts to draw `scene` into a free buffer; `urgent`: before jobs that have not begun. `None`: there is no
    /// free buffer or no renderer.
    pub(in crate::output) fn begin(
        &mut self,
        renderer: Option<&mut Renderer>,
        scene: &Arc<Scene>,
        urgent: bool,
        drawn: Option<&Ping>,
    ) -> Option<Begun> {
        let with_cursor = self.display.capabilities().cursor_plane.is_none();
        let renderer = renderer?;
        let buffer = self.display.acquire()?;
        let job = Job { scene: scene.clone(), with_cursor, buffer, canvas: self.canvas.clone() };
        Some(renderer.start(job, urgent, drawn.cloned()).map_or_else(Begun::UnderWay, Begun::Finished))
    }

    /// The drawn buffer and its damage; `None` if drawing failed, which is logged.
    pub(in crate::output) fn take_drawn(&mut self, finished: Finished) -> Option<(Buffer, Drawn)> {
        let Finished { job, result, took, .. } = finished;
        if let Some(took) = took {
            self.conductor.output_mut().drawn_elsewhere(took);
        }
        match result {
            Ok(drawn) => Some((job.buffer, drawn)),
            Err(error) => {
                tracing::error!(output = self.output.name(), %error, "a frame could not be drawn");
                self.display.release(job.buffer);
                self.canvas.forget();
                None
            }
        }
    }

    /// The frame that `job` draws.
    fn drawn_by(&self, job: JobId) -> Option<&Frame<Content>> {
        self.conductor.output().frames().at(Stage::Drawing).find(|frame| frame.content.is_drawn_by(job))
    }

    /// Discards all frames that no display holds: latched, being drawn, or finished.
    pub(in crate::output) fn drop_undrawn(&mut self, renderer: Option<&mut Renderer>) {
        let machine = self.conductor.output_mut();
        machine.drop_composing();
        machine.drop_ahead();
        let unwanted = machine.frames_mut().iter_mut().filter(|frame| frame.is_unwanted());
        unwanted.for_each(|frame| std::mem::take(&mut frame.content.feedback).discard(Unshown::Unseen));
        self.take_back(renderer);
    }

    /// Takes discarded frames back from the renderer if drawing has not begun.
    pub(in crate::output) fn take_back(&mut self, renderer: Option<&mut Renderer>) {
        let Some(renderer) = renderer else { return };
        let frames = self.conductor.output_mut().frames_mut();
        let unwanted = |frame: &Frame<Content>| match frame.content.pixels {
            Pixels::Drawing(job) if frame.is_unwanted() => Some((frame.id, job)),
            _ => None,
        };
        loop {
            let mut taken =
                frames.iter().filter_map(unwanted).filter_map(|(id, job)| Some((id, renderer.take_back(job)?)));
            let Some((id, job)) = taken.next() else { return };
            drop(taken);
            self.display.release(job.buffer);
            frames.take(id);
        }
    }

    /// A frame recorded ahead was drawn, or drawing failed.
    pub(in crate::output) fn arrived(&mut self, id: FrameId, finished: Finished, clock: &impl Clock) {
        let took = finished.took;
        let drawn = self.take_drawn(finished);
        let now = clock.now();
        let frames = self.conductor.output_mut().frames_mut();
        let Some(((buffer, drawn), frame)) = drawn.zip(frames.get_mut(id)) else {
            frames.take(id);
            return;
        };
        let Content { record, pixels, scene, chosen_in, .. } = &mut frame.content;
        record.composed = Some(now);
        record.compose_cost = took.map_or(now - record.latched, |took| *chosen_in + took);
        record.damage = drawn.area();
        *pixels = Pixels::Drawn(buffer, drawn);
        if let Some(scene) = Arc::get_mut(scene) {
            scene.release_buffers();
        }
        let cost = record.compose_cost;
        frames.drawn(id, cost);
    }
}

/// Handles all finished jobs of the renderer.
pub(in crate::output) fn hear_renderer(state: &mut State) {
    state.outputs.renderer.iter_mut().for_each(Renderer::let_go);
    while let Some(finished) = state.outputs.renderer.as_mut().and_then(Renderer::finished) {
        let outputs = &state.outputs.list;
        let drawn = outputs.iter().find_map(|output| Some((output.id, output.drawn_by(finished.id)?)));
        let Some((id, frame)) = drawn else {
            // Either a capture, or a frame of a removed output, which is dropped.
            crate::output::capture::hear(state, finished);
            continue;
        };
        let (frame, is_latched) = (frame.id, !frame.is_ahead() && !frame.is_unwanted());
        let cursor = is_latched.then(|| CursorNow(handing_over::cursor_on(state, id)));
        let State { outputs, clock, .. } = state;
        let Some(output) = outputs.by_id_mut(id) else { continue };
        if is_latched {
            output.composed(frame, finished, cursor, clock);
        } else {
            output.arrived(frame, finished, clock);
        }
        handing_over::attend(state, id);
        crate::output::clients::second_period::resume(state, id);
    }
    recover(state);
}

/// After a GPU reset or a driver failure: all frames in the renderer are lost, and its successor repaints every output.
fn recover(state: &mut State) {
    let crate::output::Outputs { list, renderer, drawn, .. } = &mut state.outputs;
    let Some(lost) = renderer else { return };
    let fastest = list.iter().map(|output| output.conductor.output().vsync().interval()).min();
    match lost.recover(fastest.unwrap_or_default(), drawn.as_ref()) {
        Ok(None) => return,
        Ok(Some(Recovered::Fresh)) => {
            tracing::warn!("the OpenGL ES context was lost: a new context replaces it");
            power::light(state, LitBy::Renderer);
        }
        Ok(Some(Recovered::Pixman)) => {
            tracing::error!("the OpenGL ES context was lost again: Pixman draws from now on");
            power::light(state, LitBy::Renderer);
        }
        Ok(Some(Recovered::Gone)) => {
            tracing::error!("OpenGL ES contexts are lost repeatedly: the outputs stay dark until one draws");
            power::darken(state, LitBy::Renderer);
        }
        Ok(Some(Recovered::Back)) => {
            tracing::warn!("OpenGL ES draws again");
            return power::light(state, LitBy::Renderer);
        }
        Err(error) => {
            // The next turn tries again, but only input or a client starts a turn.
            tracing::error!(%error, "the OpenGL ES context was lost, and no other renderer is available");
            return power::darken(state, LitBy::Renderer);
        }
    }
    let crate::output::Outputs { list, renderer, .. } = &mut state.outputs;
    for output in list {
        output.drop_undrawn(renderer.as_mut());
        output.canvas.forget();
        output.drawn = Arc::default();
        output.need(Need::Output);
    }
    hear_renderer(state);
}

//! Hands scenes to the renderer and collects the drawn buffers.
//!
//! A frame cannot be withdrawn from the render thread once drawing has begun. If it is discarded meanwhile (superseded
//! by input, output off, mode change), it stays in the output's queue until the thread has finished it; then its buffer
//! is released.

use std::sync::Arc;

use calloop::ping::Ping;

use crate::backend::Buffer;
use crate::output::OutputState;
use crate::output::frame::submit_ahead;
use crate::output::frame::{FrameContent, FramePixels};
use crate::output::power::{self, PowerOnEvent};
use crate::render::{DrawnFrame, FinishedJob, RecoveredRenderer, RenderJob, RenderJobId, Renderer};
use crate::scene::Scene;
use crate::state::State;
use crate::surface::FrameDiscardReason;
use upbeat_timing::frames::{FrameStage, QueuedFrame};
use upbeat_timing::id::{FrameId, OutputId};
use upbeat_timing::record::RepaintReason;
use upbeat_timing::time::Clock;

/// State of a scene that was handed to the renderer.
pub(in crate::output) enum RenderStart {
    /// It is drawn, or drawing failed.
    Finished(FinishedJob),
    /// The render thread is drawing it.
    UnderWay(RenderJobId),
}

impl OutputState {
    /// Whether a frame that is still wanted is being drawn.
    pub fn is_drawing(&self) -> bool {
        self.conductor.output().frames().at(FrameStage::Drawing).any(|frame| !frame.is_discarded())
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
    ) -> Option<RenderStart> {
        let with_cursor = self.display.capabilities().cursor_plane.is_none();
        let renderer = renderer?;
        let buffer = self.display.acquire()?;
        let may_keep = !self.display.needs_pixels();
        let job = RenderJob { scene: scene.clone(), with_cursor, buffer, canvas: self.canvas.clone(), may_keep };
        Some(renderer.start(job, urgent, drawn.cloned()).map_or_else(RenderStart::UnderWay, RenderStart::Finished))
    }

    /// The drawn buffer and its damage; `None` if drawing failed, which is logged.
    pub(in crate::output) fn take_drawn(&mut self, finished: FinishedJob) -> Option<(Buffer, DrawnFrame)> {
        let FinishedJob { job, result, took, .. } = finished;
        if let Some(took) = took {
            self.conductor.output_mut().observe_draw_time(took);
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
    fn drawn_by(&self, job: RenderJobId) -> Option<&QueuedFrame<FrameContent>> {
        self.conductor.output().frames().at(FrameStage::Drawing).find(|frame| frame.content.is_drawn_by(job))
    }

    /// Discards all frames that no display holds: latched, being drawn, or finished.
    pub(in crate::output) fn discard_undrawn(&mut self, renderer: Option<&mut Renderer>) {
        let machine = self.conductor.output_mut();
        machine.drop_composing();
        machine.drop_ahead();
        let unwanted = machine.frames_mut().iter_mut().filter(|frame| frame.is_discarded());
        unwanted.for_each(|frame| std::mem::take(&mut frame.content.feedback).discard(FrameDiscardReason::Unseen));
        self.take_back_discarded(renderer);
    }

    /// Takes discarded frames back from the renderer if drawing has not begun.
    pub(in crate::output) fn take_back_discarded(&mut self, renderer: Option<&mut Renderer>) {
        let Some(renderer) = renderer else { return };
        let frames = self.conductor.output_mut().frames_mut();
        let unwanted = |frame: &QueuedFrame<FrameContent>| match frame.content.pixels {
            FramePixels::Drawing(job) if frame.is_discarded() => Some((frame.id, job)),
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
    pub(in crate::output) fn finished_ahead(&mut self, id: FrameId, finished: FinishedJob, clock: &impl Clock) {
        let took = finished.took;
        let drawn = self.take_drawn(finished);
        let now = clock.now();
        let frames = self.conductor.output_mut().frames_mut();
        let Some(((buffer, drawn), frame)) = drawn.zip(frames.get_mut(id)) else {
            frames.take(id);
            return;
        };
        let FrameContent { record, pixels, scene, chosen_in, .. } = &mut frame.content;
        record.composed = Some(now);
        record.compose_cost = took.map_or(now - record.latched, |took| *chosen_in + took);
        record.damage = drawn.area();
        *pixels = FramePixels::Drawn(buffer, drawn);
        if let Some(scene) = Arc::get_mut(scene) {
            scene.release_buffers();
        }
        let cost = record.compose_cost;
        frames.mark_drawn(id, cost);
    }
}

/// Handles all finished jobs of the renderer.
pub(in crate::output) fn handle_finished_jobs(state: &mut State) {
    state.outputs.renderer.iter_mut().for_each(Renderer::release_uploaded);
    while let Some(finished) = state.outputs.renderer.as_mut().and_then(Renderer::finished) {
        let outputs = &state.outputs.list;
        let drawn = outputs.iter().find_map(|output| Some((output.id, output.drawn_by(finished.id)?)));
        let Some((id, frame)) = drawn else {
            // Either a capture, or a frame of a removed output, which is dropped.
            crate::output::capture::handle_finished_job(state, finished);
            continue;
        };
        let frame = frame.id;
        submit_finished_job(state, id, frame, finished);
        submit_ahead::run_urgent_steps(state, id);
        crate::output::clients::second_period::send_ready_callbacks(state, id);
    }
    recover_renderer(state);
}

/// Submits `frame` of output `id`, which the renderer has drawn, with the newest places of its planes. A frame
/// that was drawn ahead, or discarded meanwhile, is not submitted here.
pub(in crate::output) fn submit_finished_job(state: &mut State, id: OutputId, frame: FrameId, finished: FinishedJob) {
    let at_submit = submit_ahead::planes_at_submit(state, id, frame);
    let State { outputs, clock, .. } = state;
    let Some(output) = outputs.by_id_mut(id) else { return };
    let drawn = output.conductor.output().frames().get(frame);
    if drawn.is_some_and(|frame| !frame.is_ahead() && !frame.is_discarded()) {
        output.composed(frame, finished, at_submit, clock);
    } else {
        output.finished_ahead(frame, finished, clock);
    }
}

/// After a GPU reset or a driver failure: all frames in the renderer are lost, and its successor repaints every output.
fn recover_renderer(state: &mut State) {
    let crate::output::Outputs { list, renderer, render_ping: drawn, .. } = &mut state.outputs;
    let Some(lost) = renderer else { return };
    let fastest = list.iter().map(|output| output.conductor.output().vsync().interval()).min();
    match lost.recover(fastest.unwrap_or_default(), drawn.as_ref()) {
        Ok(None) => return,
        Ok(Some(RecoveredRenderer::Fresh)) => {
            tracing::warn!("the OpenGL ES context was lost: a new context replaces it");
            power::light(state, PowerOnEvent::Renderer);
        }
        Ok(Some(RecoveredRenderer::Pixman)) => {
            tracing::error!("the OpenGL ES context was lost again: Pixman draws from now on");
            power::light(state, PowerOnEvent::Renderer);
        }
        Ok(Some(RecoveredRenderer::Gone)) => {
            tracing::error!("OpenGL ES contexts are lost repeatedly: the outputs stay dark until one draws");
            power::darken(state, PowerOnEvent::Renderer);
        }
        Ok(Some(RecoveredRenderer::Back)) => {
            tracing::warn!("OpenGL ES draws again");
            return power::light(state, PowerOnEvent::Renderer);
        }
        Err(error) => {
            // The next turn tries again, but only input or a client starts a turn.
            tracing::error!(%error, "the OpenGL ES context was lost, and no other renderer is available");
            return power::darken(state, PowerOnEvent::Renderer);
        }
    }
    let crate::output::Outputs { list, renderer, .. } = &mut state.outputs;
    for output in list {
        output.discard_undrawn(renderer.as_mut());
        output.canvas.forget();
        output.drawn_scene = Arc::default();
        output.schedule_repaint(RepaintReason::Output);
    }
    handle_finished_jobs(state);
}

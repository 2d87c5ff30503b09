//! What is being drawn of an output, and what becomes of it when it is done.
//!
//! A frame that is drawn on the render thread cannot be called back once it was begun. Where nobody wants it any more (the
//! output went dark, changed its mode or is gone) it is forgotten at once, and its buffer goes back when it arrives.

use std::sync::Arc;

use calloop::ping::Ping;

use super::OutputState;
use super::compose::Frame;
use crate::backend::Buffer;
use crate::render::{Drawn, Finished, Job, JobId, Recovered, Renderer};
use crate::scene::Scene;
use crate::state::State;
use crate::time::{Clock, Instant, Span};
use crate::timing::record::Need;

/// What drawing takes is forgotten by one part in so many with each frame that took less.
const FORGETS: i64 = 4;
/// One that took longer than so many usual ones counts as so many: it says little about the next. One that took as long
/// as that counts at once: a frame that is too late is drawn for nothing.
const LONGEST: i64 = 2;

/// What is under way for one output.
#[derive(Debug, Default)]
pub(super) struct Drawing {
    /// The content that a latch chose.
    pub frame: Option<(JobId, Frame)>,
    /// What drawing usually takes on another thread.
    pub took: Span,
    /// What nobody waits for any more.
    forgotten: Vec<JobId>,
}

/// What came of handing a scene over.
pub(super) enum Begun {
    /// It is drawn, or could not be.
    Finished(Finished),
    /// It is being drawn.
    UnderWay(JobId),
}

impl OutputState {
    /// Whether something of it is being drawn.
    pub fn is_drawing(&self) -> bool {
        self.drawing.frame.is_some() || self.ahead.drawing.is_some()
    }

    /// How many frames of our own animations are chosen ahead and not drawn yet.
    pub fn recorded_ahead(&self) -> usize {
        self.ahead.recorded.len()
    }

    /// Has `scene` drawn into a free buffer; `urgent`: before what was not begun yet. `None`: there is no buffer, or
    /// nobody who draws.
    pub(super) fn begin(
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

    /// The buffer that a frame was drawn into, and what came of it. Nothing where it could not be drawn: that is said.
    pub(super) fn take_drawn(&mut self, finished: Finished) -> Option<(Buffer, Drawn)> {
        let Finished { job, result, took, .. } = finished;
        if let Some(took) = took {
            let known = &mut self.drawing.took;
            let usual = if *known > Span::ZERO { *known } else { took };
            *known = took.min(usual * LONGEST).max(usual - (usual - took) / FORGETS);
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

    fn draws(&self, id: JobId) -> bool {
        self.drawing.frame.as_ref().is_some_and(|(job, _)| *job == id)
            || self.ahead.drawing.as_ref().is_some_and(|(job, _)| *job == id)
            || self.drawing.forgotten.contains(&id)
    }

    /// The content that is being drawn will not be shown.
    pub(super) fn forget_drawing(&mut self, renderer: Option<&mut Renderer>, now: Instant) {
        let Some((job, frame)) = self.drawing.frame.take() else { return };
        self.drop_frame(frame, now);
        self.forget_job(renderer, job);
    }

    /// Nobody waits for this job any more.
    pub(super) fn forget_job(&mut self, renderer: Option<&mut Renderer>, id: JobId) {
        match renderer.and_then(|renderer| renderer.take_back(id)) {
            Some(job) => self.display.release(job.buffer),
            None => self.drawing.forgotten.push(id),
        }
    }
}

/// Takes in what was drawn.
pub(super) fn hear_renderer(state: &mut State) {
    while let Some(finished) = state.outputs.renderer.as_mut().and_then(Renderer::finished) {
        let State { outputs, clock, .. } = state;
        // That of an output that is gone goes with it.
        let Some(output) = outputs.list.iter_mut().find(|output| output.draws(finished.id)) else { continue };
        if let Some((_, frame)) = output.drawing.frame.take_if(|(job, _)| *job == finished.id) {
            output.composed(frame, finished, clock);
        } else if let Some((_, recorded)) = output.ahead.drawing.take_if(|(job, _)| *job == finished.id) {
            output.arrived(recorded, finished, clock);
        } else {
            output.drawing.forgotten.retain(|job| *job != finished.id);
            output.display.release(finished.job.buffer);
        }
        let id = output.id;
        super::presenter::feed(state, id);
    }
    if state.outputs.renderer.as_ref().is_some_and(Renderer::is_lost) {
        recover(state);
    }
}

/// The GPU was reset, or its driver failed: whatever it had is gone, and all is drawn anew by what comes after it.
fn recover(state: &mut State) {
    let Some(renderer) = &mut state.outputs.renderer else { return };
    match renderer.recover() {
        Ok(Recovered::Fresh) => tracing::warn!("OpenGL ES was lost: it goes on in a fresh context"),
        Ok(Recovered::Pixman) => tracing::error!("OpenGL ES was lost again: Pixman draws from now on"),
        Err(error) => {
            tracing::error!(%error, "OpenGL ES was lost, and there is nothing else that draws");
            state.outputs.renderer = None;
        }
    }
    let State { outputs, clock, .. } = state;
    let super::Outputs { list, renderer, .. } = outputs;
    for output in list {
        output.forget_drawing(renderer.as_mut(), clock.now());
        output.drop_finished(renderer.as_mut());
        output.canvas.forget();
        output.drawn = Arc::default();
        output.need(Need::Output);
    }
    hear_renderer(state);
}

//! Pictures of windows for the compositor itself.

use std::sync::Arc;

use super::subject::window_scene;
use crate::backend::{Buffer, BufferStorage, PixelBuffer};
use crate::output::Outputs;
use crate::render::{Canvas, FinishedJob, RenderJob, RenderJobId, Renderer};
use crate::scene::Scene;
use crate::shell::WindowId;
use crate::state::State;

/// A picture of a window alone.
#[derive(Debug)]
pub enum WindowPicture {
    Drawn(PixelBuffer),
    /// Any thread can draw it with [`OffScreen`](crate::render::OffScreen). The main thread must drop it, because
    /// it holds client buffers.
    Scene(Box<Scene>),
}

/// Called with the picture; `None` if it failed.
type PictureCallback = Box<dyn FnOnce(&mut State, Option<WindowPicture>)>;

/// A picture that the renderer is drawing.
pub(super) struct PendingWindowPicture {
    job: RenderJobId,
    give: PictureCallback,
}

impl std::fmt::Debug for PendingWindowPicture {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_tuple("PendingWindowPicture").field(&self.job).finish()
    }
}

/// Draws a window's current content without the cursor. Black if a rule keeps it out of captures or the session is
/// locked.
pub fn picture_of_window(
    state: &mut State,
    id: WindowId,
    give: impl FnOnce(&mut State, Option<WindowPicture>) + 'static,
) {
    let Some(scene) = window_scene(state, id, false) else { return give(state, None) };
    let Outputs { renderer, render_ping: drawn, captures, .. } = &mut state.outputs;
    // Pixman can draw on a thread of the caller. Only the GPU can read the buffers of GPU clients.
    let Some(renderer) = renderer.as_mut().filter(|renderer| Renderer::is_threaded(renderer)) else {
        return give(state, Some(WindowPicture::Scene(Box::new(scene))));
    };
    let storage = BufferStorage::Memory(PixelBuffer::new(scene.size.w, scene.size.h));
    let canvas = Canvas::new(scene.size, scene.turn);
    let buffer = Buffer { storage, age: 0, slot: 0 };
    let job = RenderJob { scene: Arc::new(scene), with_cursor: false, buffer, canvas, may_keep: false };
    // Frames of outputs go first.
    match renderer.start(job, false, drawn.clone()) {
        Err(job) => captures.own.push(PendingWindowPicture { job, give: Box::new(give) }),
        Ok(finished) => give(state, drawn_picture(finished)),
    }
}

/// Handles a finished render job. Returns the job if it was for another caller.
pub(super) fn handle_finished_job(state: &mut State, finished: FinishedJob) -> Option<FinishedJob> {
    let own = &mut state.outputs.captures.own;
    let Some(place) = own.iter().position(|wanted| wanted.job == finished.id) else { return Some(finished) };
    let PendingWindowPicture { give, .. } = own.swap_remove(place);
    give(state, drawn_picture(finished));
    None
}

fn drawn_picture(finished: FinishedJob) -> Option<WindowPicture> {
    match (finished.result, finished.job.buffer.storage) {
        (Ok(_), BufferStorage::Memory(pixels)) => Some(WindowPicture::Drawn(pixels)),
        (result, _) => {
            tracing::warn!(error = ?result.err(), "a window cannot be drawn for a capture");
            None
        }
    }
}

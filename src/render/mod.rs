//! Renders scenes into buffers.
//!
//! Pixman draws into memory on the calling thread and is done when it returns, because a hand-over would cost more than
//! it saves. GLES serves machines that draw in hardware (`hardware` decides which do, `renderer_choice` chooses the
//! renderer). It draws into a display's buffers if it can, otherwise it reads back, on a thread of its own (`thread`)
//! that the main thread never waits for.

mod abandoned_threads;
mod backdrop;
mod band_threads;
mod bands;
mod buffer_test;
mod canvas;
mod damage;
mod device;
mod edges;
mod egl_device;
mod element;
mod fault;
mod gles;
mod hardware;
mod import;
mod intermediate;
mod off_screen;
mod off_screen_targets;
mod panel;
mod panel_transform;
mod partial_upload;
mod pending_context;
mod picture_cache;
mod pixman;
mod renderer_choice;
mod retry;
mod rounded;
mod scene_changes;
mod shadow_cache;
mod thread;
mod threaded;
mod upload_ahead;

use std::os::fd::OwnedFd;
use std::sync::Arc;

use calloop::ping::Ping;
use smithay::backend::allocator::Format;
use smithay::backend::allocator::dmabuf::Dmabuf;
use smithay::backend::renderer::Color32F;
use smithay::utils::{Physical, Rectangle};

use crate::backend::{Buffer, PixelRect};
use crate::scene::Scene;
use bands::BandPlan;
pub use buffer_test::BufferTestAnswer;
pub use canvas::Canvas;
pub(crate) use element::{damage_since, source};
pub use fault::GpuFault;
use gles::GlesPainter;
pub use off_screen::OffScreen;
pub use pending_context::{ContextResult, PendingContext, ProvenContext};
use pixman::PixmanPainter;
pub use renderer_choice::SLOW;
pub(crate) use rounded::faded;
pub use scene_changes::SceneChanges;
use thread::MakeContext;
use threaded::ContextRecovery;
pub use threaded::{Gles, RenderTargets};
use upbeat_timing::time::Span;
pub use upload_ahead::{MOST_AHEAD, UpcomingContent, UploadedBytes};

/// A frame could not be drawn.
#[derive(Debug, thiserror::Error)]
pub enum RenderError {
    /// Pixman cannot be used.
    #[error("pixman: {0}")]
    Pixman(String),
    /// OpenGL ES cannot be used.
    #[error("OpenGL ES: {0}")]
    Gles(String),
    /// The OpenGL ES context was lost with all of its memory.
    #[error("OpenGL ES is lost: {0}")]
    Lost(String),
}

pub enum Renderer {
    /// Draws with the CPU.
    Pixman(Box<PixmanPainter>),
    Gles(Box<Gles>),
}

/// The renderer after a context was lost.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum RecoveredRenderer {
    /// OpenGL ES in a new context.
    Fresh,
    /// Pixman, with the CPU.
    Pixman,
    /// No renderer for a while. Jobs wait until a renderer is available again.
    Gone,
    /// OpenGL ES again, after it was unavailable.
    Back,
}

/// How a software driver of OpenGL ES (one that draws with the CPU) serves a display device.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum SoftwareDriver {
    /// It draws off screen, in memory of the process, and the result is copied. This is no slower, because a
    /// display's memory is slow to read. And it survives the removal of the device: Mesa maps a display's buffer
    /// for every frame, and writes to the failed mapping without a check when the device is gone.
    OffScreen,
    /// It draws into the displays' own buffers, in tests that imitate a GPU. If the device is removed, the process
    /// crashes.
    InPlace,
}

/// Unique number of a job.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord)]
pub struct RenderJobId(u64);

/// A frame to be drawn.
#[derive(Debug)]
pub struct RenderJob {
    pub scene: Arc<Scene>,
    /// Draw the cursor, because the display has no plane for it.
    pub with_cursor: bool,
    pub buffer: Buffer,
    /// Key of the output's render state.
    pub canvas: Canvas,
    /// The pixels may stay with the renderer until they are read ([`BufferStorage::Kept`]). Pixman, which draws in
    /// memory, ignores it.
    ///
    /// [`BufferStorage::Kept`]: crate::backend::BufferStorage::Kept
    pub may_keep: bool,
}

/// A job that was drawn, or whose drawing failed.
#[derive(Debug)]
pub struct FinishedJob {
    pub id: RenderJobId,
    /// The whole job, so that its buffers are released on the main thread.
    pub job: RenderJob,
    pub result: Result<DrawnFrame, RenderError>,
    /// Drawing time on the render thread; `None` for a renderer without a thread.
    pub took: Option<Span>,
}

/// Result of drawing a frame.
#[derive(Debug, Default)]
pub struct DrawnFrame {
    /// Damage since the previous frame.
    pub damage: Vec<PixelRect>,
    /// Signals when drawing is done; `None` if it is done.
    pub fence: Option<OwnedFd>,
}

impl DrawnFrame {
    /// Number of damaged pixels.
    pub fn area(&self) -> u64 {
        self.damage.iter().map(|rect| (rect.width as u64) * (rect.height as u64)).sum()
    }
}

impl Renderer {
    /// Draws with the CPU.
    pub fn pixman() -> Result<Self, RenderError> {
        Ok(Renderer::Pixman(Box::new(PixmanPainter::new()?)))
    }

    /// Draws with the CPU; frames with at least `least` damaged pixels are divided among `threads` threads, one of them
    /// the calling thread. For tests and benchmarks.
    #[doc(hidden)]
    pub fn pixman_in_bands(threads: usize, least: u64) -> Result<Self, RenderError> {
        let mut painter = PixmanPainter::new()?;
        painter.bands = BandPlan { threads, least }.into();
        Ok(Renderer::Pixman(Box::new(painter)))
    }

    /// Draws with OpenGL ES off screen: with a GPU, or on the software device, which every machine with Mesa has.
    pub fn gles() -> Result<Self, RenderError> {
        Self::gles_with(SoftwareDriver::OffScreen)
    }

    /// The same for tests without a GPU: after a move to a display device, the software driver, too, draws into the
    /// displays' own buffers ([`SoftwareDriver::InPlace`]).
    pub fn gles_in_place() -> Result<Self, RenderError> {
        Self::gles_with(SoftwareDriver::InPlace)
    }

    /// OpenGL ES off screen without Pixman as a fallback, for tests of events on display devices.
    #[doc(hidden)]
    pub fn gles_alone() -> Result<Self, RenderError> {
        let make: MakeContext = Arc::new(GlesPainter::off_screen);
        Ok(Renderer::Gles(Box::new(Gles::start(make, SoftwareDriver::OffScreen, true)?)))
    }

    fn gles_with(software: SoftwareDriver) -> Result<Self, RenderError> {
        let make: MakeContext = Arc::new(GlesPainter::off_screen);
        Ok(Renderer::Gles(Box::new(Gles::start(make, software, false)?)))
    }

    /// The formats that it can draw into on display devices, for use on another thread; `None` if it never draws
    /// into displays' buffers.
    pub fn targets(&self) -> Option<RenderTargets> {
        match self {
            Renderer::Pixman(_) => None,
            Renderer::Gles(gles) => Some(gles.targets()),
        }
    }

    /// Dmabuf formats that it can sample.
    pub fn dmabuf_formats(&self) -> Vec<Format> {
        match self {
            Renderer::Pixman(painter) => painter.dmabuf_formats(),
            Renderer::Gles(gles) => gles.abilities.sources.clone(),
        }
    }

    /// Tests whether it can read this buffer. `answer` is called at once, or later on another thread. `wake` is
    /// pinged if a lost context delays the answer.
    pub fn try_source(&mut self, dmabuf: &Dmabuf, wake: Option<Ping>, answer: BufferTestAnswer) {
        match self {
            Renderer::Pixman(_) => answer(PixmanPainter::try_source(dmabuf).map_err(|error| error.to_string())),
            Renderer::Gles(gles) => gles.try_source(dmabuf, wake, answer),
        }
    }

    /// Draws the job's scene into its buffer. Pixman returns the finished job. GLES returns a job id and pings
    /// `wake` when the job is [`finished`](Self::finished). `urgent`: before jobs that have not begun.
    pub fn start(&mut self, job: RenderJob, urgent: bool, wake: Option<Ping>) -> Result<FinishedJob, RenderJobId> {
        match self {
            Renderer::Pixman(painter) => Ok(painter.draw(job)),
            Renderer::Gles(gles) => Err(gles.draw(job, urgent, wake)),
        }
    }

    /// Whether shared memory must be uploaded before it can be drawn; Pixman reads it in place.
    pub const fn must_upload(&self) -> bool {
        matches!(self, Renderer::Gles(_))
    }

    /// Uploads content that will be visible soon, at most [`MOST_AHEAD`] bytes with a frame. `wake` is pinged when
    /// a turn must release finished items.
    pub fn announce(&self, ahead: Vec<UpcomingContent>, wake: Option<Ping>) {
        if let Renderer::Gles(gles) = self {
            gles.thread.announce(ahead, wake);
        }
    }

    /// Releases announced content that is uploaded or no longer needed.
    pub fn release_uploaded(&mut self) {
        if let Renderer::Gles(gles) = self {
            gles.thread.release_uploaded();
        }
    }

    /// Bytes of announced content uploaded so far, for tests.
    #[doc(hidden)]
    pub fn copied(&self) -> UploadedBytes {
        match self {
            Renderer::Pixman(_) => UploadedBytes::default(),
            Renderer::Gles(gles) => gles.thread.copied(),
        }
    }

    /// Pixels that were copied from off-screen frames so far, for tests.
    #[doc(hidden)]
    pub fn pixels_read_back(&self) -> u64 {
        match self {
            Renderer::Pixman(_) => 0,
            Renderer::Gles(gles) => gles.thread.pixels_read_back(),
        }
    }

    /// The next finished job, in the order of drawing.
    pub fn finished(&mut self) -> Option<FinishedJob> {
        match self {
            Renderer::Pixman(painter) => painter.finished(),
            Renderer::Gles(gles) => gles.finished(),
        }
    }

    /// Replaces the renderer after a context was lost: by a new context on a new thread, or by Pixman if the last
    /// new context was lost soon, too. If Pixman cannot draw into the displays' buffers, a new context is created,
    /// each time later (`retry`). `refresh`: the refresh interval of the fastest display. `wake` is pinged when a
    /// context is [back](RecoveredRenderer::Back) or lost again. `None`: no context was lost. Pending jobs are still
    /// returned by [`finished`](Self::finished), as failed.
    pub fn recover(&mut self, refresh: Span, wake: Option<&Ping>) -> Result<Option<RecoveredRenderer>, RenderError> {
        let Renderer::Gles(gles) = self else { return Ok(None) };
        match gles.recover_context(refresh, wake)? {
            None => return Ok(None),
            Some(ContextRecovery::Fresh) => return Ok(Some(RecoveredRenderer::Fresh)),
            Some(ContextRecovery::Waiting) => return Ok(Some(RecoveredRenderer::Gone)),
            Some(ContextRecovery::Back) => return Ok(Some(RecoveredRenderer::Back)),
            Some(ContextRecovery::UsePixman) => {}
        }
        let mut pixman = PixmanPainter::new()?;
        pixman.stands_in = gles.stood_in_for.then(|| (gles.software, "OpenGL ES was lost repeatedly".to_owned()));
        let old = std::mem::replace(self, Renderer::Pixman(Box::new(pixman)));
        if let (Renderer::Gles(old), Renderer::Pixman(painter)) = (old, self) {
            painter.take_over(old.end());
        }
        Ok(Some(RecoveredRenderer::Pixman))
    }

    /// Takes back a job whose drawing has not begun.
    pub fn take_back(&mut self, id: RenderJobId) -> Option<RenderJob> {
        match self {
            Renderer::Pixman(_) => None,
            Renderer::Gles(gles) => gles.thread.take_back(id),
        }
    }

    /// Whether frames are drawn on another thread.
    pub const fn is_threaded(&self) -> bool {
        matches!(self, Renderer::Gles(_))
    }

    /// Draws a frame and waits for it. An error means that the frame was lost with the thread.
    pub fn draw(&mut self, job: RenderJob) -> Result<FinishedJob, RenderError> {
        match self {
            Renderer::Pixman(painter) => Ok(painter.draw(job)),
            Renderer::Gles(gles) => gles.thread.draw_now(job),
        }
    }

    /// Injects a fault into the render thread, for tests.
    #[doc(hidden)]
    pub fn inject_fault(&self, fault: GpuFault) {
        if let Renderer::Gles(gles) = self {
            gles.thread.inject_fault(fault);
        }
    }
}

fn background(scene: &Scene) -> Color32F {
    let [red, green, blue] = scene.background;
    Color32F::new(red, green, blue, 1.0)
}

fn to_rects(damage: &[Rectangle<i32, Physical>]) -> Vec<PixelRect> {
    damage
        .iter()
        .map(|rect| PixelRect { x: rect.loc.x, y: rect.loc.y, width: rect.size.w, height: rect.size.h })
        .collect()
}

fn pixman_error(error: impl std::fmt::Display) -> RenderError {
    RenderError::Pixman(error.to_string())
}

fn gles_error(error: impl std::fmt::Display) -> RenderError {
    RenderError::Gles(error.to_string())
}

//! A scene into a buffer.
//!
//! Pixman draws into memory on this thread and is done when it returns: a hand-over would cost more than it brings. GLES
//! is there for machines that draw in hardware (`hardware` says which do, `moving` who draws): into the buffers of a
//! display where it can, else read back, on a thread of its own (`thread`) that nobody waits for.

mod ahead;
mod backdrop;
mod canvas;
mod changes;
mod damage;
mod device;
mod edges;
mod element;
mod fault;
mod gles;
mod hardware;
mod import;
mod in_parts;
mod intermediate;
mod left;
mod lie;
mod moving;
mod off_screen;
mod panel;
mod picture_cache;
mod pixman;
mod prospect;
mod retry;
mod rounded;
mod shadow_cache;
mod source;
mod thread;
mod threaded;

use std::os::fd::OwnedFd;
use std::sync::Arc;

use calloop::ping::Ping;
use smithay::backend::allocator::Format;
use smithay::backend::allocator::dmabuf::Dmabuf;
use smithay::backend::renderer::Color32F;
use smithay::utils::{Physical, Rectangle};

use crate::backend::{Buffer, PixelRect};
use crate::scene::Scene;
pub use ahead::{Ahead, Copied, MOST_AHEAD};
pub use canvas::Canvas;
pub use changes::Changes;
pub(crate) use element::{damage_since, source};
pub use fault::Fault;
use gles::GlesPainter;
pub use moving::SLOW;
pub use off_screen::OffScreen;
use pixman::PixmanPainter;
pub use prospect::{Outcome, Prospect, Proven};
pub(crate) use rounded::faded;
pub use source::Answer;
use thread::Make;
use threaded::Turn;
pub use threaded::{Gles, Targets};
use upbeat_timing::time::Span;

/// A frame could not be drawn.
#[derive(Debug, thiserror::Error)]
pub enum RenderError {
    /// Pixman cannot be used.
    #[error("pixman: {0}")]
    Pixman(String),
    /// OpenGL ES cannot be used.
    #[error("OpenGL ES: {0}")]
    Gles(String),
    /// OpenGL ES cannot be used any more: its context is gone, and all that it had.
    #[error("OpenGL ES is lost: {0}")]
    Lost(String),
}

/// Draws scenes.
pub enum Renderer {
    /// With the CPU.
    Pixman(Box<PixmanPainter>),
    /// With OpenGL ES.
    Gles(Box<Gles>),
}

/// What draws after a context was lost.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Recovered {
    /// A fresh context.
    Fresh,
    /// The CPU.
    Pixman,
    /// Nobody for a while. What is handed over meanwhile is drawn when somebody does.
    Gone,
    /// A fresh context, at last.
    Back,
}

/// What a driver of OpenGL ES that draws with the CPU does on a display device.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Software {
    /// It draws off screen, in memory of the process, and what it drew is copied: that is how fast it is anyhow, as the
    /// memory of a display is slow to read. And it survives when the device goes: Mesa maps a display's buffer anew for
    /// every frame, and without looking writes to where it is not when the device is gone.
    OffScreen,
    /// It draws into the displays' own buffers. For tests of what GPUs do: the process ends with the device.
    InPlace,
}

/// The number of a job; none is used twice.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord)]
pub struct JobId(u64);

/// A frame to be drawn.
#[derive(Debug)]
pub struct Job {
    /// What it shows.
    pub scene: Arc<Scene>,
    /// The display has no plane for the cursor.
    pub with_cursor: bool,
    /// Where it goes.
    pub buffer: Buffer,
    /// What is remembered of the output.
    pub canvas: Canvas,
}

/// A frame that was drawn, or could not be.
#[derive(Debug)]
pub struct Finished {
    /// Which one.
    pub id: JobId,
    /// All that was handed over.
    pub job: Job,
    /// What came of it.
    pub result: Result<Drawn, RenderError>,
    /// How long drawing it took, where that happened on another thread.
    pub took: Option<Span>,
}

/// What came of drawing a frame.
#[derive(Debug, Default)]
pub struct Drawn {
    /// What changed since the frame drawn before.
    pub damage: Vec<PixelRect>,
    /// Signals when the drawing is done; `None` when it is.
    pub fence: Option<OwnedFd>,
}

impl Drawn {
    /// How many pixels changed.
    pub fn area(&self) -> u64 {
        self.damage.iter().map(|rect| (rect.width as u64) * (rect.height as u64)).sum()
    }
}

impl Renderer {
    /// Draws with the CPU.
    pub fn pixman() -> Result<Self, RenderError> {
        Ok(Renderer::Pixman(Box::new(PixmanPainter::new()?)))
    }

    /// Draws with OpenGL ES off screen: with a GPU, or on the software device, which every machine with Mesa has.
    pub fn gles() -> Result<Self, RenderError> {
        Self::gles_with(Software::OffScreen)
    }

    /// The same for tests on machines without a GPU: moved to a display device, the software driver draws into the
    /// displays' own buffers, too ([`Software::InPlace`]).
    pub fn gles_in_place() -> Result<Self, RenderError> {
        Self::gles_with(Software::InPlace)
    }

    /// OpenGL ES off screen that Pixman does not take the place of: for tests of what happens on display devices.
    #[doc(hidden)]
    pub fn gles_alone() -> Result<Self, RenderError> {
        let make: Make = Arc::new(GlesPainter::off_screen);
        Ok(Renderer::Gles(Box::new(Gles::start(make, Software::OffScreen, true)?)))
    }

    fn gles_with(software: Software) -> Result<Self, RenderError> {
        let make: Make = Arc::new(GlesPainter::off_screen);
        Ok(Renderer::Gles(Box::new(Gles::start(make, software, false)?)))
    }

    /// What it can draw into in the memory of display devices, to be asked from another thread; `None` where it draws
    /// elsewhere.
    pub fn targets(&self) -> Option<Targets> {
        match self {
            Renderer::Pixman(_) => None,
            Renderer::Gles(gles) => Some(gles.targets()),
        }
    }

    /// The buffers in devices' memory that it can read.
    pub fn dmabuf_formats(&self) -> Vec<Format> {
        match self {
            Renderer::Pixman(painter) => painter.dmabuf_formats(),
            Renderer::Gles(gles) => gles.abilities.sources.clone(),
        }
    }

    /// Finds out whether it can read this one. `answer` is told: at once, or later and on another thread. `wake` is pinged
    /// where a lost context keeps it from answering.
    pub fn try_source(&mut self, dmabuf: &Dmabuf, wake: Option<Ping>, answer: Answer) {
        match self {
            Renderer::Pixman(_) => answer(PixmanPainter::try_source(dmabuf).map_err(|error| error.to_string())),
            Renderer::Gles(gles) => gles.try_source(dmabuf, wake, answer),
        }
    }

    /// Draws the job's scene into its buffer: at once, or else it is under way under the number that comes back, and
    /// `wake` is pinged when it is [`finished`](Self::finished). `urgent`: before whatever was not begun yet.
    pub fn start(&mut self, job: Job, urgent: bool, wake: Option<Ping>) -> Result<Finished, JobId> {
        match self {
            Renderer::Pixman(painter) => Ok(painter.draw(job)),
            Renderer::Gles(gles) => Err(gles.draw(job, urgent, wake)),
        }
    }

    /// Whether it copies clients' shared memory before it can draw it: the CPU reads it where it is.
    pub const fn copies(&self) -> bool {
        matches!(self, Renderer::Gles(_))
    }

    /// This will be seen soon: what can be copied of it before is, at most [`MOST_AHEAD`] with a frame. `wake` is pinged when a
    /// turn is to let go of it.
    pub fn announce(&self, ahead: Vec<Ahead>, wake: Option<Ping>) {
        if let Renderer::Gles(gles) = self {
            gles.thread.announce(ahead, wake);
        }
    }

    /// Lets go of what was announced and is not needed any more.
    pub fn let_go(&mut self) {
        if let Renderer::Gles(gles) = self {
            gles.thread.let_go();
        }
    }

    /// How much was copied of what was announced, for tests.
    #[doc(hidden)]
    pub fn copied(&self) -> Copied {
        match self {
            Renderer::Pixman(_) => Copied::default(),
            Renderer::Gles(gles) => gles.thread.copied(),
        }
    }

    /// A frame that was under way, in the order in which they were drawn.
    pub fn finished(&mut self) -> Option<Finished> {
        match self {
            Renderer::Pixman(painter) => painter.finished(),
            Renderer::Gles(gles) => gles.finished(),
        }
    }

    /// Sees to it that somebody draws, after a context was lost: a fresh one on a fresh thread, or the CPU if that was of no
    /// use before. Where nothing but a fresh one can draw it is made later each time (`retry`); `refresh` is that of the
    /// fastest display, and `wake` is pinged when a context is [back](Recovered::Back) or lost again. `None`: all is as it
    /// was. What was under way is still [`finished`](Self::finished), as failed.
    pub fn recover(&mut self, refresh: Span, wake: Option<&Ping>) -> Result<Option<Recovered>, RenderError> {
        let Renderer::Gles(gles) = self else { return Ok(None) };
        match gles.turn(refresh, wake)? {
            None => return Ok(None),
            Some(Turn::Fresh) => return Ok(Some(Recovered::Fresh)),
            Some(Turn::Gone) => return Ok(Some(Recovered::Gone)),
            Some(Turn::Back) => return Ok(Some(Recovered::Back)),
            Some(Turn::Leave) => {}
        }
        let mut pixman = PixmanPainter::new()?;
        pixman.stands_in = gles.stood_in_for.then(|| (gles.software, "OpenGL ES was lost again and again".to_owned()));
        let old = std::mem::replace(self, Renderer::Pixman(Box::new(pixman)));
        if let (Renderer::Gles(old), Renderer::Pixman(painter)) = (old, self) {
            painter.take_over(old.end());
        }
        Ok(Some(Recovered::Pixman))
    }

    /// Takes back a frame that was not begun.
    pub fn take_back(&mut self, id: JobId) -> Option<Job> {
        match self {
            Renderer::Pixman(_) => None,
            Renderer::Gles(gles) => gles.thread.take_back(id),
        }
    }

    /// Whether frames are drawn on another thread.
    pub const fn is_threaded(&self) -> bool {
        matches!(self, Renderer::Gles(_))
    }

    /// Draws a frame and waits until that is done. An error: it went down with the thread.
    pub fn draw(&mut self, job: Job) -> Result<Finished, RenderError> {
        match self {
            Renderer::Pixman(painter) => Ok(painter.draw(job)),
            Renderer::Gles(gles) => gles.thread.draw_now(job),
        }
    }

    /// Lets something go wrong on the thread of OpenGL ES, for tests.
    #[doc(hidden)]
    pub fn disturb(&self, fault: Fault) {
        if let Renderer::Gles(gles) = self {
            gles.thread.disturb(fault);
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

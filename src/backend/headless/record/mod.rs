//! Recording: every image that was on screen, and when.
//!
//! ```text
//!   display's thread                              recorder thread (nice)
//!   image_done ── copy into a spare buffer ──►  sink: PNG files · one stream file
//!        ▲             none spare? counted,             │
//!        └──────────── never waited for ◄── buffer ─────┘
//! ```
//! An image is handed over when it *leaves* the screen, because only then is it known how long it stayed and that no
//! front-buffer write will change it; the last one when the recording ends. The number of buffers bounds the queue.
//! What is dropped for want of one is counted, in the recording itself too.

mod png;
mod probe;
pub mod stream;
mod thread;

pub use png::PngFolder;
pub use probe::{LightProbe, LoggedSample, ProbeLog, ProbeSample};
pub use thread::{Recording, RecordingError, Tally};

use std::io;

use super::watch::Shown;
use crate::backend::PixelBuffer;

/// One image of a recording.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct RecordedImage {
    /// When it was on screen.
    pub shown: Shown,
    /// How many images that should be between this and the one recorded before it are missing.
    pub dropped_before: u64,
    /// What it looked like, cursor and all.
    pub pixels: PixelBuffer,
}

/// Where a recording goes. It runs on the recorder thread.
pub trait ImageSink: Send {
    /// Takes the next image.
    fn image(&mut self, image: &RecordedImage) -> io::Result<()>;

    /// There are no more.
    fn finish(&mut self, tally: Tally) -> io::Result<()>;
}

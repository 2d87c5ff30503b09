//! Recordings: the pictures that a virtual display showed, and when.

mod png;
pub mod stream;

use std::io;

use upbeat_timing::id::FrameId;
use upbeat_timing::time::Instant;

use crate::pixels::PixelBuffer;

pub use png::PngFolder;
pub use stream::{StreamError, StreamFile, StreamReader};

/// The largest width and height of a picture, in pixels.
pub const LARGEST_SIZE: i32 = 16_384;

/// One refresh of a display.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Refresh {
    /// Start of scan-out of line 0.
    pub time: Instant,
    /// How many refreshes there were before it; the output's first one has number 0.
    pub sequence: u64,
}

/// From when to when an image was on screen.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Shown {
    /// The first refresh that showed it.
    pub first: Refresh,
    /// The start of the refresh that showed something else, or when the panel went dark or watching ended.
    pub until: Instant,
    /// The frame that made it look like this.
    pub frame: FrameId,
}

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

/// How a recording went.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Tally {
    /// Images that the sink took.
    pub recorded: u64,
    /// Images that were on screen and are not in the recording.
    pub dropped: u64,
}

/// Where a recording goes. It runs on the recorder thread.
pub trait ImageSink: Send {
    /// Takes the next image.
    fn image(&mut self, image: &RecordedImage) -> io::Result<()>;

    /// There are no more.
    fn finish(&mut self, tally: Tally) -> io::Result<()>;
}

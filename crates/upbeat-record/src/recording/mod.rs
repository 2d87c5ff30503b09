//! Recordings: the pictures that a virtual display showed, and the times at which it showed them.

mod png;
pub mod stream;

use std::io;

use upbeat_timing::id::FrameId;
use upbeat_timing::time::{Instant, Span};

use crate::pixels::PixelBuffer;

pub use png::PngFolder;
pub use stream::{StreamError, StreamFile, StreamReader};

/// The largest width and height of a picture, in pixels.
pub const LARGEST_SIZE: i32 = 16_384;

/// One refresh of a display: its time and its number.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct RecordedRefresh {
    /// Start of scan-out of line 0.
    pub time: Instant,
    /// Number of the refresh; the output's first refresh is 0.
    pub sequence: u64,
}

/// The time for which an image was on screen.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ScreenTime {
    /// The first refresh that showed it.
    pub first: RecordedRefresh,
    /// The start of the refresh that showed another image, or the time when the panel went dark or the recording ended.
    pub until: Instant,
    /// The frame that brought this image to the screen.
    pub frame: FrameId,
}

/// When the rows of a recorded picture are scanned out in a refresh: from the top down, at equal distances.
///
/// ```text
///   start of the refresh ──── first ────┬ row 0
///                                       │        active
///                                       └ end of the last row
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct RowTimes {
    /// From the start of the refresh to row 0 of the picture. Zero unless the upper rows of the screen were left out.
    pub first: Span,
    /// From row 0 to the end of the last row of the picture.
    pub active: Span,
}

impl RowTimes {
    /// When row `row` of a picture of `height` rows is lit in the refresh that starts at `refresh`. Rows above or below
    /// the picture count as its first or as its end.
    pub fn light(&self, refresh: Instant, row: i32, height: i32) -> Instant {
        let height = height.max(1);
        refresh + self.first + self.active.scale(i64::from(row.clamp(0, height)), i64::from(height))
    }
}

/// One image of a recording.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct RecordedImage {
    /// The time for which it was on screen.
    pub shown: ScreenTime,
    /// When its rows are scanned out; `None` if the recording does not say so.
    pub rows: Option<RowTimes>,
    /// Number of images missing between this image and the image recorded before it.
    pub dropped_before: u64,
    /// The picture, including the cursor.
    pub pixels: PixelBuffer,
}

/// Number of images that were recorded, and of images that are missing.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct RecordingTotals {
    /// Number of images that the sink accepted.
    pub recorded: u64,
    /// Number of images that were on screen but are not in the recording.
    pub dropped: u64,
}

/// The destination of a recording. Its methods are called on the recorder thread.
pub trait ImageSink: Send {
    /// Writes the next image.
    fn image(&mut self, image: &RecordedImage) -> io::Result<()>;

    /// Ends the recording: there are no more images.
    fn finish(&mut self, tally: RecordingTotals) -> io::Result<()>;
}

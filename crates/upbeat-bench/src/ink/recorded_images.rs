//! Reads a recording: identifies the frame in each image by its marker.

use std::fs::File;
use std::io::{BufReader, Read};
use std::path::Path;

use super::hand::SentReport;
use super::marker::{self, code_position};
use super::sheet::DrawnInkFrame;
use crate::block_code::{BlockCode, DecodeError, PixelView};
use crate::pixels::PixelError;
use upbeat_record::recording::stream::StreamReader;
use upbeat_record::recording::{RecordedImage, RowTimes};
use upbeat_timing::time::Instant;

/// Frames after the last identified frame that are tried first. All other frames are tried if none of them fits.
const MOST_AHEAD: usize = 16;

/// Reports after the last identified report that are tried: a hand makes fewer between two images.
const MOST_REPORTS_AHEAD: usize = 256;

/// A recorded image, shown for one or more refreshes.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct RecordedView {
    /// Start of its first refresh.
    pub at: Instant,
    /// Start of the next image's first refresh.
    pub until: Instant,
    /// When its rows are lit.
    pub rows: RowTimes,
    pub code: Option<BlockCode>,
    /// The marker is found but cannot be decoded: a mix of two frames.
    pub torn: bool,
    /// Images before it that the recorder dropped.
    pub missing: u64,
}

/// The recorded part of a sheet.
#[derive(Clone, Copy, Debug)]
pub(super) struct RecordedPart {
    /// Size of the sheet in pixels.
    pub size: (usize, usize),
    /// The first recorded column.
    pub left: usize,
}

impl RecordedPart {
    /// Decodes the marker of a hand at `at`, if the recording contains all of it.
    fn code(&self, picture: &PixelView<'_>, at: (f64, f64)) -> Result<BlockCode, DecodeError> {
        let (x, y) = code_position(at, self.size);
        let x = x.checked_sub(self.left).filter(|x| x + marker::SIZE.0 <= picture.width);
        x.map_or(Err(DecodeError::NoFinder), |x| marker::read(picture, (x, y)))
    }
}

fn view(image: &RecordedImage) -> PixelView<'_> {
    let width = image.pixels.width.max(0) as usize;
    PixelView { pixels: &image.pixels.pixels, width, stride: width }
}

/// Reads a recording of a sheet that drew `frames`.
///
/// # Errors
/// If the file cannot be read, or breaks off.
pub(super) fn read(
    recording: &Path,
    sight: RecordedPart,
    frames: &[DrawnInkFrame],
) -> Result<Vec<RecordedView>, PixelError> {
    let file = File::open(recording).map_err(|source| PixelError::File { path: recording.to_owned(), source })?;
    views(StreamReader::new(BufReader::new(file))?, sight, frames)
}

/// Reads a recording of a marker that followed a hand. Frame and event of each code are the number of the report at the
/// marker's position. If several reports share a pixel, the oldest counts.
///
/// # Errors
/// If the file cannot be read, or breaks off.
pub(super) fn read_follower(
    recording: &Path,
    sight: RecordedPart,
    sent: &[SentReport],
) -> Result<Vec<RecordedView>, PixelError> {
    let file = File::open(recording).map_err(|source| PixelError::File { path: recording.to_owned(), source })?;
    let mut recording = StreamReader::new(BufReader::new(file))?;
    let (mut views, mut seen) = (Vec::new(), 0);
    while let Some(image) = recording.next_image()? {
        let rows = image.rows.ok_or(PixelError::NoRowTimes)?;
        views.push(identify_follower(image, rows, (sight, sent), &mut seen));
    }
    recording.tally().map(|_| views).ok_or(PixelError::CutOff)
}

fn identify_follower(
    image: &RecordedImage,
    rows: RowTimes,
    (sight, sent): (RecordedPart, &[SentReport]),
    seen: &mut usize,
) -> RecordedView {
    let picture = view(image);
    let mut torn = false;
    let near = sent.iter().enumerate().skip(*seen).take(MOST_REPORTS_AHEAD);
    let found = near.into_iter().find(|(_, report)| {
        let code = sight.code(&picture, (report.x.round(), report.y.round()));
        torn |= code == Err(DecodeError::Damaged);
        code.is_ok()
    });
    let number = found.map(|(index, _)| index as u32 + 1);
    if let Some((index, _)) = found {
        *seen = index;
    }
    RecordedView {
        at: image.shown.first.time,
        until: image.shown.until,
        rows,
        code: number.map(|number| BlockCode { frame: number, event: number }),
        torn: torn && found.is_none(),
        missing: image.dropped_before,
    }
}

fn views(
    mut recording: StreamReader<impl Read>,
    sight: RecordedPart,
    frames: &[DrawnInkFrame],
) -> Result<Vec<RecordedView>, PixelError> {
    let (mut views, mut seen) = (Vec::new(), 0);
    while let Some(image) = recording.next_image()? {
        let rows = image.rows.ok_or(PixelError::NoRowTimes)?;
        views.push(identify_frame(image, rows, (sight, frames), &mut seen));
    }
    recording.tally().map(|_| views).ok_or(PixelError::CutOff)
}

fn identify_frame(
    image: &RecordedImage,
    rows: RowTimes,
    (sight, frames): (RecordedPart, &[DrawnInkFrame]),
    seen: &mut usize,
) -> RecordedView {
    let picture = view(image);
    let code_of = |drawn: &DrawnInkFrame| {
        let code = sight.code(&picture, (drawn.x, drawn.y));
        code.and_then(|code| if code.frame == drawn.frame { Ok(code) } else { Err(DecodeError::NoFinder) })
    };
    let mut torn = false;
    let mut found = None;
    let near = frames.iter().enumerate().skip(*seen).take(MOST_AHEAD);
    for (index, drawn) in near.chain(frames.iter().enumerate()) {
        match code_of(drawn) {
            Ok(code) => {
                found = Some((index, code));
                break;
            }
            Err(error) => torn |= error == DecodeError::Damaged,
        }
    }
    if let Some((index, _)) = found {
        *seen = index;
    }
    RecordedView {
        at: image.shown.first.time,
        until: image.shown.until,
        rows,
        code: found.map(|(_, code)| code),
        torn: torn && found.is_none(),
        missing: image.dropped_before,
    }
}

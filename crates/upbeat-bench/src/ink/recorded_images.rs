//! Reads a recording: identifies the frame in each image by its marker.

use std::fs::File;
use std::io::{BufReader, Read};
use std::path::Path;

use super::hand::SentReport;
use super::hand_path;
use super::marker::{self, code_position};
use super::sheet::DrawnInkFrame;
use crate::block_code::{BlockCode, DecodeError, PixelView};
use crate::pixels::PixelError;
use upbeat_record::recording::stream::StreamReader;
use upbeat_record::recording::{RecordedImage, RowTimes};
use upbeat_timing::time::{Instant, Span};

/// Frames after the last identified frame that are tried first. All other frames are tried if none of them fits.
const MOST_AHEAD: usize = 16;

/// A follower shows a report that was sent within this time before its light, unless the compositor stood still. So long
/// the positions of a comb differ.
const USUAL_AGE: Span = Span::from_millis(hand_path::COMB_REPORTS - 1);
/// A report older than this is not looked for.
const MOST_AGE: Span = Span::from_seconds(1);

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
    /// Where the recording shows the code of a hand at `at`, if it contains all of it.
    fn place(&self, picture: &PixelView<'_>, at: (f64, f64)) -> Option<(usize, usize)> {
        let (x, y) = code_position(at, self.size);
        let x = x.checked_sub(self.left).filter(|x| x + marker::SIZE.0 <= picture.width)?;
        Some((x, y))
    }

    /// Decodes the marker of a hand at `at`, if the recording contains all of it.
    fn code(&self, picture: &PixelView<'_>, at: (f64, f64)) -> Result<BlockCode, DecodeError> {
        self.place(picture, at).map_or(Err(DecodeError::NoFinder), |place| marker::read(picture, place))
    }

    /// When the last row of a marker of a hand at `at` is lit, in a picture whose first refresh begins at `begin`.
    fn light(&self, begin: Instant, rows: RowTimes, at: (f64, f64)) -> Instant {
        let row = code_position(at, self.size).1 + marker::SIZE.1;
        rows.light(begin, row as i32, self.size.1 as i32)
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

/// How near to a report a follower's marker lies.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum MarkerDistance {
    /// On the pixel of the report that it shows.
    Exact,
    /// At a predicted position: within half a block of the hand's way.
    HalfBlock,
}

/// Reads a recording of a marker that followed a hand. Frame and event of each code are the number of the report at the
/// marker's position. If several reports share it, the oldest within the usual time counts.
///
/// # Errors
/// If the file cannot be read, or breaks off.
pub(super) fn read_follower(
    recording: &Path,
    sight: RecordedPart,
    (sent, distance): (&[SentReport], MarkerDistance),
) -> Result<Vec<RecordedView>, PixelError> {
    let file = File::open(recording).map_err(|source| PixelError::File { path: recording.to_owned(), source })?;
    let mut recording = StreamReader::new(BufReader::new(file))?;
    let mut views = Vec::new();
    while let Some(image) = recording.next_image()? {
        let rows = image.rows.ok_or(PixelError::NoRowTimes)?;
        views.push(identify_follower(image, rows, sight, (sent, distance)));
    }
    recording.tally().map(|_| views).ok_or(PixelError::CutOff)
}

fn identify_follower(
    image: &RecordedImage,
    rows: RowTimes,
    sight: RecordedPart,
    (sent, distance): (&[SentReport], MarkerDistance),
) -> RecordedView {
    let (picture, begin) = (view(image), image.shown.first.time);
    let mut torn = false;
    let mut shows = |report: &SentReport| {
        // The compositor places followers at whole pixels.
        let at = (report.x.round(), report.y.round());
        if report.at > sight.light(begin, rows, at) {
            return false;
        }
        let code = sight.place(&picture, at).map(|place| match distance {
            MarkerDistance::Exact => marker::read_exactly(&picture, place),
            MarkerDistance::HalfBlock => marker::read(&picture, place),
        });
        torn |= code == Some(Err(DecodeError::Damaged));
        matches!(code, Some(Ok(_)))
    };
    let first = |before: Span| sent.partition_point(|report| report.at + before < begin);
    let (usual, oldest) = (first(USUAL_AGE), first(MOST_AGE));
    let last = sent.partition_point(|report| report.at < image.shown.until);
    let found = (usual..last).chain(oldest..usual).find(|index| shows(&sent[*index]));
    let number = found.map(|index| index as u32 + 1);
    RecordedView {
        at: begin,
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

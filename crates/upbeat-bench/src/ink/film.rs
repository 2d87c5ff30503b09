//! The pictures of a recording: which frame each shows, by the marker in it.

use std::fs::File;
use std::io::{BufReader, Read};
use std::path::Path;

use super::hand::Sent;
use super::marker::{self, place};
use super::sheet::Drawn;
use crate::block_code::{Code, DecodeError, PixelView};
use crate::pixels::PixelError;
use upbeat_record::recording::RecordedImage;
use upbeat_record::recording::stream::StreamReader;
use upbeat_timing::time::Instant;

/// A frame is one of so many after the one that was seen last; all are tried if it is none of them.
const MOST_AHEAD: usize = 16;

/// The hand went on by at most so many reports from one picture to the next.
const MOST_REPORTS_AHEAD: usize = 256;

/// What was on screen for one or more refreshes.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct View {
    /// From the start of this refresh on.
    pub at: Instant,
    /// Until the start of this one.
    pub until: Instant,
    /// What its marker says.
    pub code: Option<Code>,
    /// The marker is there and makes no sense: two frames share it.
    pub torn: bool,
    /// Pictures before it that were not recorded.
    pub missing: u64,
}

/// What of a sheet is recorded.
#[derive(Clone, Copy, Debug)]
pub(super) struct Sight {
    /// The size of the sheet.
    pub size: (usize, usize),
    /// The first column that is there.
    pub left: usize,
}

impl Sight {
    /// What the marker of a hand at `at` says, of which all is seen.
    fn code(&self, picture: &PixelView<'_>, at: (f64, f64)) -> Result<Code, DecodeError> {
        let (x, y) = place(at, self.size);
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
/// If it cannot be read, or breaks off.
pub(super) fn read(recording: &Path, sight: Sight, frames: &[Drawn]) -> Result<Vec<View>, PixelError> {
    let file = File::open(recording).map_err(|source| PixelError::File { path: recording.to_owned(), source })?;
    views(StreamReader::new(BufReader::new(file))?, sight, frames)
}

/// Reads a recording of a marker that followed a hand, whose frame and event are then the number of the report at whose place it
/// was: of several at the same pixel the oldest.
///
/// # Errors
/// If it cannot be read, or breaks off.
pub(super) fn follow(recording: &Path, sight: Sight, sent: &[Sent]) -> Result<Vec<View>, PixelError> {
    let file = File::open(recording).map_err(|source| PixelError::File { path: recording.to_owned(), source })?;
    let mut recording = StreamReader::new(BufReader::new(file))?;
    let (mut views, mut seen) = (Vec::new(), 0);
    while let Some(image) = recording.next_image()? {
        views.push(look_after(image, sight, sent, &mut seen));
    }
    recording.tally().map(|_| views).ok_or(PixelError::CutOff)
}

fn look_after(image: &RecordedImage, sight: Sight, sent: &[Sent], seen: &mut usize) -> View {
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
    View {
        at: image.shown.first.time,
        until: image.shown.until,
        code: number.map(|number| Code { frame: number, event: number }),
        torn: torn && found.is_none(),
        missing: image.dropped_before,
    }
}

fn views(mut recording: StreamReader<impl Read>, sight: Sight, frames: &[Drawn]) -> Result<Vec<View>, PixelError> {
    let (mut views, mut seen) = (Vec::new(), 0);
    while let Some(image) = recording.next_image()? {
        views.push(look(image, sight, frames, &mut seen));
    }
    recording.tally().map(|_| views).ok_or(PixelError::CutOff)
}

fn look(image: &RecordedImage, sight: Sight, frames: &[Drawn], seen: &mut usize) -> View {
    let picture = view(image);
    let code_of = |drawn: &Drawn| {
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
    View {
        at: image.shown.first.time,
        until: image.shown.until,
        code: found.map(|(_, code)| code),
        torn: torn && found.is_none(),
        missing: image.dropped_before,
    }
}

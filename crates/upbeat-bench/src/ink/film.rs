//! Reads a recording: identifies the frame in each image by its marker.

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

/// Frames after the last identified frame that are tried first. All other frames are tried if none of them fits.
const MOST_AHEAD: usize = 16;

/// Reports after the last identified report that are tried: a hand makes fewer between two images.
const MOST_REPORTS_AHEAD: usize = 256;

/// A recorded image, shown for one or more refreshes.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct View {
    /// Start of its first refresh.
    pub at: Instant,
    /// Start of the next image's first refresh.
    pub until: Instant,
    pub code: Option<Code>,
    /// The marker is found but cannot be decoded: a mix of two frames.
    pub torn: bool,
    /// Images before it that the recorder dropped.
    pub missing: u64,
}

/// The recorded part of a sheet.
#[derive(Clone, Copy, Debug)]
pub(super) struct Sight {
    /// Size of the sheet in pixels.
    pub size: (usize, usize),
    /// The first recorded column.
    pub left: usize,
}

impl Sight {
    /// Decodes the marker of a hand at `at`, if the recording contains all of it.
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
/// If the file cannot be read, or breaks off.
pub(super) fn read(recording: &Path, sight: Sight, frames: &[Drawn]) -> Result<Vec<View>, PixelError> {
    let file = File::open(recording).map_err(|source| PixelError::File { path: recording.to_owned(), source })?;
    views(StreamReader::new(BufReader::new(file))?, sight, frames)
}

/// Reads a recording of a marker that followed a hand. Frame and event of each code are the number of the report at the
/// marker's position. If several reports share a pixel, the oldest counts.
///
/// # Errors
/// If the file cannot be read, or breaks off.
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

//! Reads a recording from a stream file.

use std::io::{self, Read};

use super::{KIND_END, KIND_IMAGE, KIND_ROWS, KIND_SIZE, MAGIC, VERSION, delta, take_varint};
use crate::pixels::PixelBuffer;
use crate::recording::LARGEST_SIZE;
use crate::recording::RecordedRefresh;
use crate::recording::RowTimes;
use crate::recording::ScreenTime;
use crate::recording::{RecordedImage, RecordingTotals};
use upbeat_timing::id::FrameId;
use upbeat_timing::time::{Instant, Span};

/// Longer refreshes are damage: no display scans out a picture for so long.
const LONGEST_REFRESH: Span = Span::from_seconds(60);

/// Why a recording cannot be read, or not to its end.
#[derive(Debug, thiserror::Error)]
pub enum StreamError {
    /// The file cannot be read.
    #[error("the recording cannot be read: {0}")]
    Read(#[from] io::Error),
    /// The file is not a recording.
    #[error("this is not a recording (it does not start with UPBEATR)")]
    NotAStream,
    /// The file has another version of the format.
    #[error("the recording has format {0}; this program reads format 1")]
    Version(u8),
    /// The contents of the file are invalid.
    #[error("the recording is damaged at byte {offset}: {what}")]
    Damaged {
        /// Byte offset of the damaged record.
        offset: u64,
        /// The damage, as a clause.
        what: &'static str,
    },
}

/// Reads the images of a recording one after the other.
#[derive(Debug)]
pub struct StreamReader<R> {
    input: R,
    offset: u64,
    current: RecordedImage,
    payload: Vec<u8>,
    tally: Option<RecordingTotals>,
}

impl<R: Read> StreamReader<R> {
    /// Reads the header. `input` should be buffered, because the reader makes many small reads.
    pub fn new(mut input: R) -> Result<Self, StreamError> {
        let mut head = [0; 8];
        input.read_exact(&mut head).map_err(|error| match error.kind() {
            io::ErrorKind::UnexpectedEof => StreamError::NotAStream,
            _ => StreamError::Read(error),
        })?;
        match head.split_last() {
            Some((&VERSION, magic)) if magic == MAGIC => {}
            Some((&version, magic)) if magic == MAGIC => return Err(StreamError::Version(version)),
            _ => return Err(StreamError::NotAStream),
        }
        let first = RecordedRefresh { time: Instant::ZERO, sequence: 0 };
        let shown = ScreenTime { first, until: Instant::ZERO, frame: FrameId(0) };
        let current = RecordedImage { shown, rows: None, dropped_before: 0, pixels: PixelBuffer::default() };
        Ok(StreamReader { input, offset: 8, current, payload: Vec::new(), tally: None })
    }

    /// The next image; its unused byte `X` is zero. `None` at the end of the recording. `None` also if the file was
    /// cut off: then there is no [`tally`](Self::tally).
    pub fn next_image(&mut self) -> Result<Option<&RecordedImage>, StreamError> {
        while self.tally.is_none() {
            let start = self.offset;
            let Some(kind) = self.read_record()? else { return Ok(None) };
            let damaged = |what| StreamError::Damaged { offset: start, what };
            match kind {
                KIND_SIZE => self.apply_size().map_err(damaged)?,
                KIND_IMAGE => {
                    self.apply_image().map_err(damaged)?;
                    return Ok(Some(&self.current));
                }
                KIND_END => self.apply_end().map_err(damaged)?,
                KIND_ROWS => self.apply_rows().map_err(damaged)?,
                _ => {}
            }
        }
        Ok(None)
    }

    /// The totals of the recording; `None` until its end was read, and for a file that was cut off.
    pub fn tally(&self) -> Option<RecordingTotals> {
        self.tally
    }

    /// Reads a record into `payload` and returns its kind; `None` if the file ends before the record does.
    fn read_record(&mut self) -> Result<Option<u8>, StreamError> {
        let mut head = [0; 5];
        let [kind, length @ ..] = match self.input.read_exact(&mut head) {
            Ok(()) => head,
            Err(error) if error.kind() == io::ErrorKind::UnexpectedEof => return Ok(None),
            Err(error) => return Err(error.into()),
        };
        let length = u64::from(u32::from_le_bytes(length));
        self.payload.clear();
        // Not allocated in advance, because the length may be wrong.
        let read = self.input.by_ref().take(length).read_to_end(&mut self.payload)? as u64;
        self.offset += 5 + read;
        Ok((read == length).then_some(kind))
    }

    fn apply_size(&mut self) -> Result<(), &'static str> {
        let mut input = &self.payload[..];
        let mut side = || {
            let side = i32::try_from(take_varint(&mut input)?).ok()?;
            (1..=LARGEST_SIZE).contains(&side).then_some(side)
        };
        let (width, height) = side().zip(side()).ok_or("the size is cut off or out of range")?;
        self.current.pixels = PixelBuffer::new(width, height);
        Ok(())
    }

    fn apply_image(&mut self) -> Result<(), &'static str> {
        let mut input = &self.payload[..];
        let mut number = || take_varint(&mut input).ok_or("an image's numbers are cut off");
        let (sequence, present, duration) = (number()?, number()?, number()?);
        let (frame, dropped_before) = (number()?, number()?);
        let first = RecordedRefresh { time: Instant::from_nanos(present), sequence };
        let until = first.time + Span::from_nanos(i64::try_from(duration).unwrap_or(i64::MAX));
        self.current.shown = ScreenTime { first, until, frame: FrameId(frame) };
        self.current.dropped_before = dropped_before;
        delta::decode(input, &mut self.current.pixels.pixels)
    }

    fn apply_rows(&mut self) -> Result<(), &'static str> {
        let mut input = &self.payload[..];
        let mut span = || i64::try_from(take_varint(&mut input)?).ok().map(Span::from_nanos);
        let (first, active) = span().zip(span()).ok_or("the times of the rows are cut off or out of range")?;
        if first.max(active) > LONGEST_REFRESH {
            return Err("the times of the rows are out of range");
        }
        self.current.rows = Some(RowTimes { first, active });
        Ok(())
    }

    fn apply_end(&mut self) -> Result<(), &'static str> {
        let mut input = &self.payload[..];
        let mut number = || take_varint(&mut input).ok_or("the end is cut off");
        self.tally = Some(RecordingTotals { recorded: number()?, dropped: number()? });
        Ok(())
    }
}

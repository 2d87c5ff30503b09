//! Writes a recording to a stream file.

use std::fs::File;
use std::io::{self, Write};
use std::path::Path;

use super::{KIND_END, KIND_IMAGE, KIND_ROWS, KIND_SIZE, MAGIC, VERSION, delta, put_varint};
use crate::pixels::PixelBuffer;
use crate::recording::{ImageSink, RecordedImage, RecordingTotals, RowTimes};

/// A recording that is being written. Each record is written in one piece.
#[derive(Debug)]
pub struct StreamFile<W = File> {
    out: W,
    last: PixelBuffer,
    /// The row times that were written last.
    rows: Option<RowTimes>,
    /// Kept to reuse its memory.
    payload: Vec<u8>,
}

impl StreamFile {
    /// Creates the file, or truncates an existing file.
    pub fn create(path: &Path) -> io::Result<Self> {
        Self::new(File::create(path)?)
    }
}

impl<W: Write> StreamFile<W> {
    /// Starts a recording in `out` by writing the header.
    pub fn new(mut out: W) -> io::Result<Self> {
        out.write_all(MAGIC)?;
        out.write_all(&[VERSION])?;
        Ok(StreamFile { out, last: PixelBuffer::default(), rows: None, payload: Vec::new() })
    }

    fn record(&mut self, kind: u8, fill: impl FnOnce(&mut Vec<u8>)) -> io::Result<()> {
        self.payload.clear();
        self.payload.extend_from_slice(&[kind, 0, 0, 0, 0]);
        fill(&mut self.payload);
        let length = u32::try_from(self.payload.len() - 5).map_err(|_| io::ErrorKind::FileTooLarge)?;
        self.payload[1..5].copy_from_slice(&length.to_le_bytes());
        self.out.write_all(&self.payload)
    }
}

impl<W: Write + Send> ImageSink for StreamFile<W> {
    fn image(&mut self, image: &RecordedImage) -> io::Result<()> {
        let (pixels, shown) = (&image.pixels, image.shown);
        if (pixels.width, pixels.height) != (self.last.width, self.last.height) {
            self.last = PixelBuffer::new(pixels.width, pixels.height);
            self.record(KIND_SIZE, |out| {
                [pixels.width, pixels.height].into_iter().for_each(|side| put_varint(out, side as u64));
            })?;
        }
        if let Some(rows) = image.rows.filter(|rows| self.rows != Some(*rows)) {
            self.rows = Some(rows);
            self.record(KIND_ROWS, |out| {
                [rows.first, rows.active].into_iter().for_each(|span| put_varint(out, span.as_nanos().max(0) as u64));
            })?;
        }
        let last = std::mem::take(&mut self.last);
        let result = self.record(KIND_IMAGE, |out| {
            let duration = shown.until.since(shown.first.time).as_nanos().max(0) as u64;
            let numbers =
                [shown.first.sequence, shown.first.time.as_nanos(), duration, shown.frame.0, image.dropped_before];
            numbers.into_iter().for_each(|number| put_varint(out, number));
            delta::encode(&last.pixels, &pixels.pixels, out);
        });
        self.last = last;
        self.last.pixels.copy_from_slice(&pixels.pixels);
        result
    }

    fn finish(&mut self, tally: RecordingTotals) -> io::Result<()> {
        self.record(KIND_END, |out| {
            put_varint(out, tally.recorded);
            put_varint(out, tally.dropped);
        })?;
        self.out.flush()
    }
}

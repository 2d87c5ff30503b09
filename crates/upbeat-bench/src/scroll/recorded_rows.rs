//! Reads the document's rows from a recording, and counts blank rows.

use std::fs::File;
use std::io::BufReader;
use std::path::Path;

use crate::pixels::PixelError;
use upbeat_record::pixels::PixelBuffer;
use upbeat_record::recording::stream::StreamReader;
use upbeat_timing::time::Instant;

/// Colour of the window without content: not the colour of any row.
pub(super) const BACKGROUND: u32 = 0x00ff_00ff;
/// Mask without the alpha channel.
const COLOUR: u32 = 0x00ff_ffff;

/// Content of a recording.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct RecordedRows {
    pub pictures: u64,
    pub blank: u64,
    /// First light of the first image without a blank row, also before the interval.
    pub first_whole: Option<Instant>,
    /// First light of each image, and the document's row at its top (or column at its left).
    pub tops: Vec<(Instant, i64)>,
}

/// Reads the images of a recording whose first light is between `from` and `to`.
///
/// # Errors
/// If the file cannot be read, or breaks off.
pub(super) fn read(recording: &Path, from: Instant, to: Instant, across: bool) -> Result<RecordedRows, PixelError> {
    let file = File::open(recording).map_err(|source| PixelError::File { path: recording.to_owned(), source })?;
    let mut reader = StreamReader::new(BufReader::new(file))?;
    let mut seen = RecordedRows::default();
    while let Some(image) = reader.next_image()? {
        if seen.first_whole.is_none() && blank_rows(&image.pixels, across) == 0 {
            seen.first_whole = Some(image.shown.first.time);
        }
        if (from..to).contains(&image.shown.first.time) {
            seen.pictures += 1;
            seen.blank += blank_rows(&image.pixels, across);
            seen.tops.push((image.shown.first.time, row(&image.pixels, 0, across).into()));
        }
    }
    reader.tally().map(|_| seen).ok_or(PixelError::CutOff)
}

/// The document's row (or column) at row `at` of the image.
fn row(pixels: &PixelBuffer, at: usize, across: bool) -> u32 {
    let (width, height) = (pixels.width.max(0) as usize, pixels.height.max(0) as usize);
    // Read near the edge, because the pointer is in the middle.
    let (x, y) = if across { (at, height / 8) } else { (width / 8, at) };
    pixels.pixels.get(y * width + x).map_or(BACKGROUND, |pixel| pixel & COLOUR)
}

/// Number of rows (or columns) that do not continue the row before them: blank, or from another place.
fn blank_rows(pixels: &PixelBuffer, across: bool) -> u64 {
    let at = |place: usize| row(pixels, place, across);
    let is_wrong = |place: &usize| at(*place) == BACKGROUND || (*place > 0 && at(*place) != at(*place - 1) + 1);
    let length = if across { pixels.width } else { pixels.height };
    (0..length.max(0) as usize).filter(is_wrong).count() as u64
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_row_that_is_blank_or_of_another_place_is_found() {
        let mut pixels = PixelBuffer::new(16, 8);
        for (y, row) in pixels.pixels.chunks_mut(16).enumerate() {
            row.fill(0xff00_0000 | (500 + y as u32));
        }
        assert_eq!(blank_rows(&pixels, false), 0);
        pixels.pixels[7 * 16..].fill(0xff00_0000 | BACKGROUND);
        assert_eq!(blank_rows(&pixels, false), 1);
        pixels.pixels[7 * 16..].fill(0xff00_0000 | 500);
        assert_eq!(blank_rows(&pixels, false), 1);
        for row in pixels.pixels.chunks_mut(16) {
            (500..).zip(row).for_each(|(column, pixel)| *pixel = 0xff00_0000 | column);
        }
        assert_eq!(blank_rows(&pixels, true), 0);
        pixels.pixels.iter_mut().skip(15).step_by(16).for_each(|pixel| *pixel = BACKGROUND);
        assert_eq!(blank_rows(&pixels, true), 1);
    }
}

//! A recording as a folder of PNG files, with an index of the time for which each was on screen.
//!
//! `index.jsonl` has one line per image, in order. The last line has no `file` and contains the totals:
//! ```json
//! {"refresh":812,"present_ns":13533333333,"until_ns":13550000000,"frame":41,"file":"00000812.png","dropped_before":0,"first_row_ns":13533333333,"rows_ns":16000000}
//! {"recorded":1,"dropped":0}
//! ```
//! Times are `CLOCK_MONOTONIC`; `refresh` is the first refresh that showed the image. Its first row was lit at `first_row_ns`,
//! and all rows in the `rows_ns` after that, from the top down and at equal distances. A frame that looks like the frame
//! before it has no file of its own: its line names the earlier file.

use std::fs::{self, File};
use std::io::{self, BufWriter, Write};
use std::path::{Path, PathBuf};

use ::png::{BitDepth, ColorType, Compression, Encoder};
use serde::Serialize;

use super::{ImageSink, RecordedImage, RecordingTotals};
use crate::pixels::PixelBuffer;

/// A recording as PNG files, in a folder of its own.
#[derive(Debug)]
pub struct PngFolder {
    folder: PathBuf,
    index: File,
    /// Name and contents of the last file.
    last: Option<(String, PixelBuffer)>,
    /// The rows of one image in the format of PNG. Kept to reuse its memory.
    rgb: Vec<u8>,
}

#[derive(Serialize)]
struct IndexEntry<'a> {
    refresh: u64,
    present_ns: u64,
    until_ns: u64,
    frame: u64,
    file: &'a str,
    dropped_before: u64,
    #[serde(skip_serializing_if = "Option::is_none")]
    first_row_ns: Option<u64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    rows_ns: Option<i64>,
}

#[derive(Serialize)]
struct IndexTotals {
    recorded: u64,
    dropped: u64,
}

impl PngFolder {
    /// Creates the folder if it does not exist.
    ///
    /// # Errors
    /// The folder already contains a recording, or cannot be written to.
    pub fn create(folder: &Path) -> io::Result<Self> {
        fs::create_dir_all(folder)?;
        let index = File::create_new(folder.join("index.jsonl"))?;
        Ok(PngFolder { folder: folder.to_owned(), index, last: None, rgb: Vec::new() })
    }

    fn encode(&mut self, name: &str, image: &PixelBuffer) -> io::Result<()> {
        self.rgb.clear();
        self.rgb.extend(image.pixels.iter().flat_map(|pixel| {
            let [_, red, green, blue] = pixel.to_be_bytes();
            [red, green, blue]
        }));
        let file = BufWriter::new(File::create(self.folder.join(name))?);
        let mut encoder = Encoder::new(file, image.width as u32, image.height as u32);
        encoder.set_color(ColorType::Rgb);
        encoder.set_depth(BitDepth::Eight);
        encoder.set_compression(Compression::Fast);
        let mut writer = encoder.write_header()?;
        writer.write_image_data(&self.rgb)?;
        writer.finish()?;
        Ok(())
    }

    fn line(&mut self, entry: &impl Serialize) -> io::Result<()> {
        let mut line = serde_json::to_string(entry)?;
        line.push('\n');
        // In one write, so that a program that follows the file sees whole lines.
        self.index.write_all(line.as_bytes())
    }
}

impl ImageSink for PngFolder {
    fn image(&mut self, image: &RecordedImage) -> io::Result<()> {
        let shown = image.shown;
        let (file, pixels) = match self.last.take().filter(|(_, pixels)| *pixels == image.pixels) {
            Some(same) => same,
            None => {
                let name = format!("{:08}.png", shown.first.sequence);
                self.encode(&name, &image.pixels)?;
                (name, image.pixels.clone())
            }
        };
        self.line(&IndexEntry {
            refresh: shown.first.sequence,
            present_ns: shown.first.time.as_nanos(),
            until_ns: shown.until.as_nanos(),
            frame: shown.frame.0,
            file: &file,
            dropped_before: image.dropped_before,
            first_row_ns: image.rows.map(|rows| (shown.first.time + rows.first).as_nanos()),
            rows_ns: image.rows.map(|rows| rows.active.as_nanos()),
        })?;
        self.last = Some((file, pixels));
        Ok(())
    }

    fn finish(&mut self, tally: RecordingTotals) -> io::Result<()> {
        self.line(&IndexTotals { recorded: tally.recorded, dropped: tally.dropped })
    }
}

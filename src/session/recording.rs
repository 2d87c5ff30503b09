//! Recordings of virtual outputs, and the files they are written to.
//!
//! ```text
//! --record DIR           DIR/HEADLESS-1/  DIR/HEADLESS-2/ …     a folder of pictures per output
//! --record-stream FILE   FILE             FILE-HEADLESS-2 …     the first output, and each further one
//! ```
//! Outputs that are plugged in later are recorded too. `--record-only` limits the recorded part of each output.

use std::path::{Path, PathBuf};

use anyhow::Context;

use crate::backend::headless::HeadlessOutput;
use crate::backend::headless::record::Recording;
use crate::backend::{Display, PixelRect};
use upbeat_record::recording::{PngFolder, StreamFile};

/// A part of a picture, in pixels.
pub type PictureRect = PixelRect;

/// Parses the value of `--record-only`: `X,Y,WIDTHxHEIGHT` in pixels.
///
/// # Errors
/// The text has another form; the error is a sentence that says so.
pub fn parse_picture_rect(text: &str) -> Result<PictureRect, String> {
    let wrong = || format!("'{text}' is not X,Y,WIDTHxHEIGHT in pixels");
    let numbers: Vec<i32> = text.split([',', 'x']).map(str::parse).collect::<Result<_, _>>().map_err(|_| wrong())?;
    match numbers[..] {
        [x, y, width, height] if x >= 0 && y >= 0 && width > 0 && height > 0 => Ok(PixelRect { x, y, width, height }),
        _ => Err(wrong()),
    }
}

/// The running recordings, and where new ones are written.
#[derive(Default)]
pub(super) struct Recordings {
    folder: Option<PathBuf>,
    stream: Option<PathBuf>,
    region: Option<PixelRect>,
    /// The file of `--record-stream` is in use by the first output.
    stream_in_use: bool,
    running: Vec<(String, Recording)>,
}

impl Recordings {
    /// Records into `folder` and into the file `stream`, all of each output or only `part`.
    pub(super) fn new(folder: Option<PathBuf>, stream: Option<PathBuf>, part: Option<PixelRect>) -> Self {
        Recordings { folder, stream, region: part, ..Recordings::default() }
    }

    /// Starts the recordings of `output` that were asked for.
    pub(super) fn begin(&mut self, output: &HeadlessOutput) -> anyhow::Result<()> {
        let name = output.name();
        if let Some(folder) = &self.folder {
            let folder = folder.join(name);
            let sink = PngFolder::create(&folder).map_err(explain).with_context(|| cannot(name, &folder))?;
            self.running.push((name.to_owned(), Recording::start_of(output, self.region, sink)?));
        }
        if let Some(first) = &self.stream {
            let file = if self.stream_in_use { file_for_output(first, name) } else { first.clone() };
            let sink = StreamFile::create(&file).with_context(|| cannot(name, &file))?;
            self.stream_in_use = true;
            self.running.push((name.to_owned(), Recording::start_of(output, self.region, sink)?));
        }
        Ok(())
    }

    /// Ends all recordings and waits until they are written.
    pub(super) fn finish(&mut self) {
        for (output, recording) in self.running.drain(..) {
            match recording.finish() {
                Ok(tally) => tracing::info!(output, ?tally, "recorded"),
                Err(error) => tracing::error!(output, %error, "the recording is incomplete"),
            }
        }
    }
}

fn cannot(output: &str, path: &Path) -> String {
    format!("cannot record {output} into {}", path.display())
}

fn explain(error: std::io::Error) -> anyhow::Error {
    match error.kind() {
        std::io::ErrorKind::AlreadyExists => anyhow::anyhow!("there is a recording already"),
        _ => error.into(),
    }
}

/// The file for a further output: for `film.rec` and `HEADLESS-2` it is `film-HEADLESS-2.rec`.
fn file_for_output(file: &Path, output: &str) -> PathBuf {
    let mut name = file.file_stem().unwrap_or_default().to_owned();
    name.push("-");
    name.push(output);
    if let Some(extension) = file.extension() {
        name.push(".");
        name.push(extension);
    }
    file.with_file_name(name)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_part_of_a_picture_is_four_numbers() {
        assert_eq!(parse_picture_rect("8,0,300x720"), Ok(PixelRect { x: 8, y: 0, width: 300, height: 720 }));
        for wrong in ["", "8,0,300", "8,0,0x10", "-1,0,3x3", "1,2,3x4,5", "a,b,cxd"] {
            assert_eq!(parse_picture_rect(wrong), Err(format!("'{wrong}' is not X,Y,WIDTHxHEIGHT in pixels")));
        }
    }

    #[test]
    fn each_further_output_has_a_file_of_its_own_beside_the_first() {
        assert_eq!(file_for_output(Path::new("/tmp/film.rec"), "HEADLESS-2"), Path::new("/tmp/film-HEADLESS-2.rec"));
        assert_eq!(file_for_output(Path::new("film"), "HEADLESS-2"), Path::new("film-HEADLESS-2"));
    }
}

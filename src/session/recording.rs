//! What is recorded of virtual outputs, and where it goes.
//!
//! ```text
//! --record DIR           DIR/HEADLESS-1/  DIR/HEADLESS-2/ …     a folder of pictures per output
//! --record-stream FILE   FILE             FILE-HEADLESS-2 …     the first output, and each further one
//! ```
//! Outputs that are plugged in later are recorded as well.

use std::path::{Path, PathBuf};

use anyhow::Context;

use crate::backend::Display;
use crate::backend::headless::HeadlessOutput;
use crate::backend::headless::record::stream::StreamFile;
use crate::backend::headless::record::{PngFolder, Recording};

/// Where recordings go, and those that are running.
#[derive(Default)]
pub(super) struct Recordings {
    folder: Option<PathBuf>,
    stream: Option<PathBuf>,
    /// The file given with `--record-stream` is in use.
    stream_taken: bool,
    running: Vec<(String, Recording)>,
}

impl Recordings {
    /// Recordings into `folder`, and into the file `stream`.
    pub(super) fn new(folder: Option<PathBuf>, stream: Option<PathBuf>) -> Self {
        Recordings { folder, stream, ..Recordings::default() }
    }

    /// Begins to record `output`, if that was asked for.
    pub(super) fn begin(&mut self, output: &HeadlessOutput) -> anyhow::Result<()> {
        let name = output.name();
        if let Some(folder) = &self.folder {
            let folder = folder.join(name);
            let sink = PngFolder::create(&folder).map_err(explain).with_context(|| cannot(name, &folder))?;
            self.running.push((name.to_owned(), Recording::start(output, sink)?));
        }
        if let Some(first) = &self.stream {
            let file = if self.stream_taken { named(first, name) } else { first.clone() };
            let sink = StreamFile::create(&file).with_context(|| cannot(name, &file))?;
            self.stream_taken = true;
            self.running.push((name.to_owned(), Recording::start(output, sink)?));
        }
        Ok(())
    }

    /// Ends all of them and waits until they are written.
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

/// `film.rec` of `HEADLESS-2` is `film-HEADLESS-2.rec`.
fn named(file: &Path, output: &str) -> PathBuf {
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
    fn each_further_output_has_a_file_of_its_own_beside_the_first() {
        assert_eq!(named(Path::new("/tmp/film.rec"), "HEADLESS-2"), Path::new("/tmp/film-HEADLESS-2.rec"));
        assert_eq!(named(Path::new("film"), "HEADLESS-2"), Path::new("film-HEADLESS-2"));
    }
}

//! Writes screenshots without delaying frames: reading the pixels, compression and the disk have a thread of their own.

use std::io::{self, BufWriter, Write};
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicUsize, Ordering};
use std::thread;

use png::{BitDepth, ColorType, Compression, Encoder};

use super::Completion;
use crate::backend::{PixelBuffer, ScreenSnapshot};
use crate::output_transform::OutputTransform;
use upbeat_record::faults::{self, Fault};
use upbeat_record::files;
use upbeat_record::ipc::message::Response;

/// Screenshots that may be written at the same time, each with a thread and some megabytes.
const MOST_WRITTEN: usize = 4;
static WRITTEN: AtomicUsize = AtomicUsize::new(0);

/// Counts a screenshot that is being written, until it is dropped.
pub struct ScreenshotSlot;

impl ScreenshotSlot {
    /// `None` while `MOST_WRITTEN` are being written.
    pub fn begin() -> Option<Self> {
        let more = |count| (count < MOST_WRITTEN).then_some(count + 1);
        WRITTEN.fetch_update(Ordering::Relaxed, Ordering::Relaxed, more).ok().map(|_| ScreenshotSlot)
    }
}

impl Drop for ScreenshotSlot {
    fn drop(&mut self) {
        WRITTEN.fetch_sub(1, Ordering::Relaxed);
    }
}

/// Writes `shot`, turned upright, as a PNG file to `path`, on a thread of its own, and then answers through
/// `completion`. `turn`: the transform of `output` on its panel.
pub fn write((shot, turn): (ScreenSnapshot, OutputTransform), output: String, path: PathBuf, completion: Completion) {
    let Some(writing) = ScreenshotSlot::begin() else {
        let refused = format!("{MOST_WRITTEN} screenshots are being written already");
        return completion.finish(Err(refused));
    };
    let job = move || {
        let _writing = writing;
        let image = shot.whole().ok_or_else(|| format!("the pixels of {output} cannot be read"));
        // Dropped before the compression, so that the display has its buffer back sooner.
        drop(shot);
        completion.finish(image.and_then(|image| write_now(&upright(image, turn), output, path)));
    };
    // If no thread can be started, the completion is dropped with the job, and that sends an error.
    let thread = thread::Builder::new().name("screenshot".to_owned());
    if let Err(error) = faults::check(Fault::Thread).and_then(|()| thread.spawn(job)) {
        tracing::warn!("cannot start a thread for a screenshot: {error}");
    }
}

/// The picture as the user sees it, given the panel's pixels and its transform.
pub fn upright(image: PixelBuffer, turn: OutputTransform) -> PixelBuffer {
    if turn == OutputTransform::NORMAL {
        return image;
    }
    let (width, height) = (image.width, image.height);
    let pixels = turn.inverse().pixels(&image.pixels, (width, height));
    let (width, height) = if turn.swaps_sides() { (height, width) } else { (width, height) };
    PixelBuffer { width, height, pixels }
}

fn write_now(image: &PixelBuffer, output: String, path: PathBuf) -> Result<Response, String> {
    let (width, height) = size(image);
    match write_file(image, &path) {
        Ok(()) => Ok(Response::Screenshot { output, path, width, height }),
        Err(error) => Err(format!("cannot write {}: {error}", path.display())),
    }
}

fn size(image: &PixelBuffer) -> (u32, u32) {
    (u32::try_from(image.width).unwrap_or(0), u32::try_from(image.height).unwrap_or(0))
}

fn write_file(image: &PixelBuffer, path: &Path) -> io::Result<()> {
    let mut file = BufWriter::new(files::create_with_timeout(path)?);
    encode(image, &mut file)?;
    file.flush()
}

/// Writes a picture as a PNG.
pub fn encode(image: &PixelBuffer, into: impl Write) -> io::Result<()> {
    let colours = |pixel: &u32| {
        let [_, red, green, blue] = pixel.to_be_bytes();
        [red, green, blue]
    };
    let rgb: Vec<u8> = image.pixels.iter().flat_map(colours).collect();
    let (width, height) = size(image);
    let mut encoder = Encoder::new(into, width, height);
    encoder.set_color(ColorType::Rgb);
    encoder.set_depth(BitDepth::Eight);
    encoder.set_compression(Compression::Fast);
    let mut writer = encoder.write_header()?;
    writer.write_image_data(&rgb)?;
    Ok(writer.finish()?)
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::fs::File;

    #[test]
    fn screenshots_written_at_once_are_limited() {
        let written: Vec<_> = std::iter::from_fn(ScreenshotSlot::begin).collect();
        assert_eq!(written.len(), MOST_WRITTEN);
        drop(written);
        assert!(ScreenshotSlot::begin().is_some());
    }

    #[test]
    fn a_picture_has_the_colours_that_were_on_screen() {
        let directory = tempfile::tempdir().unwrap();
        let path = directory.path().join("picture.png");
        let image = PixelBuffer { width: 2, height: 1, pixels: vec![0x00ff_8000, 0xff00_0001] };
        let response = write_now(&image, "HEADLESS-1".to_owned(), path.clone()).unwrap();
        assert!(matches!(response, Response::Screenshot { width: 2, height: 1, .. }));
        let mut reader = png::Decoder::new(io::BufReader::new(File::open(path).unwrap())).read_info().unwrap();
        let mut pixels = [0; 6];
        reader.next_frame(&mut pixels).unwrap();
        assert_eq!(pixels, [0xff, 0x80, 0x00, 0x00, 0x00, 0x01]);
    }

    #[test]
    fn screenshot_into_a_pipe_needs_a_reader_and_does_not_wait_for_one() {
        use rustix::fs::{CWD, FileType, Mode, mknodat};
        let directory = tempfile::tempdir().unwrap();
        let path = directory.path().join("pipe");
        mknodat(CWD, &path, FileType::Fifo, Mode::RUSR | Mode::WUSR, 0).unwrap();
        let image = PixelBuffer::new(4, 4);
        let refused = write_now(&image, "x".to_owned(), path.clone()).unwrap_err();
        assert!(refused.contains("a pipe that nobody reads"), "{refused}");
        // The other end of the pipe is open, so that small pictures fit into it without blocking.
        let reader = File::options().read(true).write(true).open(&path).unwrap();
        write_now(&image, "x".to_owned(), path).unwrap();
        let mut head = [0; 8];
        io::Read::read_exact(&mut &reader, &mut head).unwrap();
        assert_eq!(&head[1..4], b"PNG");
    }

    #[test]
    fn full_disk_is_reported() {
        let image = PixelBuffer::new(400, 400);
        let error = |path: &str| write_now(&image, "x".to_owned(), path.into()).unwrap_err();
        assert!(error("/no/such/picture.png").starts_with("cannot write /no/such/picture.png: No such file"));
        assert!(error("/dev/full").contains("No space left"), "{}", error("/dev/full"));
    }
}

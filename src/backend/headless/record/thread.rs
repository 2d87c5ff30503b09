//! The recorder thread, and the handover of images to it.

use std::sync::mpsc::{Receiver, Sender, channel};
use std::sync::{Arc, Mutex, PoisonError};
use std::thread::{Builder, JoinHandle};

use crate::backend::headless::image::PanelImage;
use crate::backend::headless::output::HeadlessOutput;
use crate::backend::headless::panel_watch::{PanelWatch, WatchId};
use crate::backend::{PixelBuffer, PixelRect};
use upbeat_record::recording::{ImageSink, RecordedImage, RecordingTotals, RowTimes, ScreenTime};

/// How many images may wait for the sink. Eight refreshes hide a slow disk. A longer queue costs memory (32 MB at
/// 1080p) and would only hide a sink that is too slow for good.
const QUEUED_IMAGES: usize = 8;
/// Encoding must not take the processor from clients that are being measured.
const RECORDER_NICENESS: i32 = 10;

/// Why a recording failed.
#[derive(Debug, thiserror::Error)]
pub enum RecordingError {
    /// The recorder thread could not be started.
    #[error("no thread for the recorder: {0}")]
    Thread(std::io::Error),
    /// The sink failed; all later images count as dropped.
    #[error("the recording broke off after {} images ({} lost): {message}", tally.recorded, tally.dropped)]
    Sink {
        tally: RecordingTotals,
        /// The sink's first error.
        message: String,
    },
}

#[derive(Debug, Default)]
struct Progress {
    tally: RecordingTotals,
    error: Option<String>,
}

/// A recording in progress. Dropping it ends the recording without waiting for the last images to be written.
pub struct Recording {
    output: HeadlessOutput,
    watch: WatchId,
    progress: Arc<Mutex<Progress>>,
    thread: Option<JoinHandle<()>>,
}

impl Recording {
    /// Starts to record `output` into `sink`.
    pub fn start(output: &HeadlessOutput, sink: impl ImageSink + 'static) -> Result<Self, RecordingError> {
        Self::start_of(output, None, sink)
    }

    /// Like [`start`](Self::start), but records only `part` if given, since each copied pixel costs time.
    pub fn start_of(
        output: &HeadlessOutput,
        part: Option<PixelRect>,
        sink: impl ImageSink + 'static,
    ) -> Result<Self, RecordingError> {
        let progress = Arc::new(Mutex::new(Progress::default()));
        let (images, queue) = channel();
        let (give_back, spare) = channel();
        let worker = RecorderWorker { queue, give_back, progress: progress.clone(), sink };
        let thread =
            Builder::new().name("recorder".to_owned()).spawn(move || worker.run()).map_err(RecordingError::Thread)?;
        let handover = ImageHandover {
            part,
            images,
            spare,
            allocated: 0,
            spared: Vec::new(),
            kept: None,
            dropped: 0,
            progress: progress.clone(),
        };
        let watch = output.add_watch(Box::new(handover));
        Ok(Recording { output: output.clone(), watch, progress, thread: Some(thread) })
    }

    /// The images recorded and dropped so far.
    pub fn tally(&self) -> RecordingTotals {
        lock(&self.progress).tally
    }

    /// Ends the recording with the image on screen, and waits until all images are written.
    pub fn finish(mut self) -> Result<RecordingTotals, RecordingError> {
        self.output.remove_watch(self.watch);
        if let Some(thread) = self.thread.take()
            && thread.join().is_err()
        {
            lock(&self.progress).error.get_or_insert_with(|| "the recorder thread panicked".to_owned());
        }
        let progress = lock(&self.progress);
        match &progress.error {
            None => Ok(progress.tally),
            Some(message) => Err(RecordingError::Sink { tally: progress.tally, message: message.clone() }),
        }
    }
}

impl Drop for Recording {
    fn drop(&mut self) {
        self.output.remove_watch(self.watch);
    }
}

fn lock(progress: &Mutex<Progress>) -> std::sync::MutexGuard<'_, Progress> {
    progress.lock().unwrap_or_else(PoisonError::into_inner)
}

/// The display's end: copies an image if a buffer is free for it.
struct ImageHandover {
    part: Option<PixelRect>,
    images: Sender<RecordedImage>,
    spare: Receiver<PixelBuffer>,
    allocated: usize,
    /// Buffers that were taken but not used.
    spared: Vec<PixelBuffer>,
    /// A copy of the image on screen and the times of its rows, if it is known to stay.
    kept: Option<(PixelBuffer, RowTimes)>,
    /// Images dropped since the last handover.
    dropped: u64,
    progress: Arc<Mutex<Progress>>,
}

impl ImageHandover {
    /// Copies the image as it is now; `None` if no buffer is free.
    fn copy(&mut self, image: &PanelImage<'_>) -> Option<(PixelBuffer, RowTimes)> {
        let mut pixels = self.spare_buffer()?;
        let whole = PixelRect { x: 0, y: 0, width: image.width(), height: image.height() };
        let part = match self.part {
            Some(part) => {
                let read = image.read(part, &mut pixels.pixels);
                (pixels.width, pixels.height) = (read.width, read.height);
                read
            }
            None => {
                image.copy_into(&mut pixels);
                whole
            }
        };
        Some((pixels, image.row_times(part)))
    }

    fn spare_buffer(&mut self) -> Option<PixelBuffer> {
        self.spared.pop().or_else(|| self.spare.try_recv().ok()).or_else(|| {
            let more = self.allocated < QUEUED_IMAGES;
            self.allocated += usize::from(more);
            more.then(PixelBuffer::default)
        })
    }

    fn drop_image(&mut self) {
        self.dropped += 1;
        lock(&self.progress).tally.dropped += 1;
    }
}

impl PanelWatch for ImageHandover {
    fn image_unproven(&mut self) {
        self.drop_image();
    }

    fn image_changed(&mut self, _image: &PanelImage<'_>) {
        // The copy is outdated; reuse its memory.
        if let Some((pixels, _)) = self.kept.take() {
            self.spared.push(pixels);
        }
    }

    fn image_stays(&mut self, image: &PanelImage<'_>) {
        self.kept = self.copy(image);
    }

    fn image_done(&mut self, image: &PanelImage<'_>, shown: ScreenTime) {
        let copy = self.kept.take().or_else(|| self.copy(image));
        let Some((pixels, rows)) = copy else { return self.drop_image() };
        let dropped_before = std::mem::take(&mut self.dropped);
        if self.images.send(RecordedImage { shown, rows: Some(rows), dropped_before, pixels }).is_err() {
            self.drop_image();
        }
    }
}

struct RecorderWorker<S> {
    queue: Receiver<RecordedImage>,
    give_back: Sender<PixelBuffer>,
    progress: Arc<Mutex<Progress>>,
    sink: S,
}

impl<S: ImageSink> RecorderWorker<S> {
    fn run(mut self) {
        // Best effort: if it fails, the recorder takes more CPU time from the measured clients.
        let _ = rustix::process::setpriority_process(None, RECORDER_NICENESS);
        while let Ok(image) = self.queue.recv() {
            self.take(&image);
            // The display may be gone; the buffer is then not needed any more.
            let _ = self.give_back.send(image.pixels);
        }
        let tally = lock(&self.progress).tally;
        if let Err(error) = self.sink.finish(tally) {
            lock(&self.progress).error.get_or_insert_with(|| error.to_string());
        }
    }

    fn take(&mut self, image: &RecordedImage) {
        if lock(&self.progress).error.is_some() {
            lock(&self.progress).tally.dropped += 1;
            return;
        }
        let result = self.sink.image(image);
        let mut progress = lock(&self.progress);
        match result {
            Ok(()) => progress.tally.recorded += 1,
            Err(error) => {
                progress.tally.dropped += 1;
                progress.error = Some(error.to_string());
            }
        }
    }
}

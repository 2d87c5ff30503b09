//! The thread that copies captures into client buffers and draws captures of single windows.
//!
//! A client may shrink its shared memory at any time; a process that writes there then gets SIGBUS. Smithay catches the
//! signal but sends a protocol error at once, which only the main thread may do. So the kernel writes
//! ([`StagingMemory`]): the call fails instead.

use std::io;
use std::sync::Arc;
use std::sync::mpsc::{self, Sender};

use calloop::LoopHandle;
use calloop::channel::{self, Event};

use super::capture_buffer::{CaptureTarget, StagingMemory};
use crate::backend::{PixelBuffer, PixelRect, ScreenSnapshot};
use crate::render::OffScreen;
use crate::scene::Scene;
use crate::state::State;
use upbeat_record::faults::{self, Fault};

/// Bytes written at a time. During a write the client's memory is locked, even for drawing; this size takes some tens
/// of microseconds.
const AT_ONCE: usize = 256 * 1024;

/// Source of a capture's pixels.
#[derive(Debug)]
pub(super) enum CaptureSource {
    /// Pixels that can be read at once.
    Shot(ScreenSnapshot),
    /// A scene that the thread has to draw first.
    Scene(Box<Scene>),
    /// An image of a cursor, translucent.
    Cursor(Arc<PixelBuffer>),
}

/// A capture for the thread to write.
#[derive(Debug)]
pub(super) struct CaptureJob {
    pub(in crate::output) number: u64,
    pub(in crate::output) picture: CaptureSource,
    /// The requested part of the picture.
    pub(in crate::output) region: PixelRect,
    pub(in crate::output) target: CaptureTarget,
}

/// Result of a job.
pub(super) struct CaptureDone {
    pub(in crate::output) number: u64,
    pub(in crate::output) succeeded: bool,
    /// The drawn scene. It holds client buffers, which only the main thread may release.
    _scene: Option<Box<Scene>>,
}

/// Writes captures in sequence. After a drop the thread ends with its current job.
#[derive(Debug)]
pub(super) struct CaptureWriter(Sender<CaptureJob>);

impl CaptureWriter {
    /// Starts the thread. `written` gets each job's result; `ended` is called when the thread writes no more.
    pub fn start(
        handle: &LoopHandle<'static, State>,
        written: fn(&mut State, CaptureDone),
        ended: impl Fn(&mut State) + 'static,
    ) -> io::Result<Self> {
        let between = StagingMemory::new()?;
        let (jobs, handed_over) = mpsc::channel::<CaptureJob>();
        let (tell, done) = channel::channel::<CaptureDone>();
        let inserted = handle.insert_source(done, move |event, (), state| match event {
            Event::Msg(done) => written(state, done),
            Event::Closed => ended(state),
        });
        inserted.map_err(|error| io::Error::other(error.to_string()))?;
        faults::check(Fault::Thread)?;
        std::thread::Builder::new().name("capture".to_owned()).spawn(move || {
            let (mut pixels, mut painter) = (Vec::new(), None);
            for job in handed_over {
                let succeeded = write(&job, &between, &mut pixels, &mut painter);
                let CaptureJob { number, picture, .. } = job;
                // Release the display's buffer before the result is sent.
                let scene = match picture {
                    CaptureSource::Scene(scene) => Some(scene),
                    CaptureSource::Shot(_) | CaptureSource::Cursor(_) => None,
                };
                if tell.send(CaptureDone { number, succeeded, _scene: scene }).is_err() {
                    return;
                }
            }
        })?;
        Ok(CaptureWriter(jobs))
    }

    /// Hands a job to the thread. Returns whether the thread is still running.
    pub fn write(&self, job: CaptureJob) -> bool {
        self.0.send(job).is_ok()
    }
}

fn write(job: &CaptureJob, between: &StagingMemory, pixels: &mut Vec<u32>, painter: &mut Option<OffScreen>) -> bool {
    match &job.picture {
        CaptureSource::Shot(shot) => write_shot(job, shot, false, between, pixels),
        CaptureSource::Cursor(image) => write_shot(job, &ScreenSnapshot::of(image.clone()), true, between, pixels),
        CaptureSource::Scene(scene) => match draw(scene, painter) {
            Ok(drawn) => write_shot(job, &ScreenSnapshot::copied(drawn), false, between, pixels),
            Err(error) => {
                tracing::warn!(%error, "a window cannot be drawn for a capture");
                false
            }
        },
    }
}

fn draw(scene: &Scene, painter: &mut Option<OffScreen>) -> Result<PixelBuffer, crate::render::RenderError> {
    match painter {
        Some(painter) => painter.draw(scene),
        None => painter.insert(OffScreen::new()?).draw(scene),
    }
}

fn write_shot(
    job: &CaptureJob,
    shot: &ScreenSnapshot,
    is_translucent: bool,
    between: &StagingMemory,
    pixels: &mut Vec<u32>,
) -> bool {
    let PixelRect { x, y, width, height } = job.region;
    let row = width.unsigned_abs() as usize * size_of::<u32>();
    let rows = i32::try_from(AT_ONCE / row.max(1)).unwrap_or(1).max(1);
    (0..height).step_by(rows as usize).all(|first| {
        let part = PixelRect { x, y: y + first, width, height: rows.min(height - first) };
        if !shot.read(part, pixels) {
            return false;
        }
        job.target.convert(pixels, is_translucent);
        between.write(&job.target, pixels, first as usize, (width, height))
    })
}

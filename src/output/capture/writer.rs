//! The thread that copies pictures into clients' memory, and draws those that no display shows.
//!
//! A client may shrink its memory at any time, and whoever writes there then is killed. Smithay guards against that, but
//! tells the client at once, which only the main thread may do. So the kernel writes ([`Between`]): it says that it could not.

use std::io;
use std::sync::Arc;
use std::sync::mpsc::{self, Sender};

use calloop::LoopHandle;
use calloop::channel::{self, Event};

use super::film::{Between, Film};
use crate::backend::{PixelBuffer, PixelRect, Shot};
use crate::render::OffScreen;
use crate::scene::Scene;
use crate::state::State;
use upbeat_record::faults::{self, Fault};

/// As much is written at a time, in bytes: meanwhile nobody else may use the client's memory, not even to draw what it
/// shows. Some tens of microseconds.
const AT_ONCE: usize = 256 * 1024;

/// Where a picture comes from.
#[derive(Debug)]
pub(super) enum Picture {
    /// It is there to be read.
    Shot(Shot),
    /// It is to be drawn.
    Scene(Box<Scene>),
    /// An image of a cursor, translucent.
    Cursor(Arc<PixelBuffer>),
}

/// A picture to be written.
#[derive(Debug)]
pub(super) struct Job {
    pub(in crate::output) number: u64,
    pub(in crate::output) picture: Picture,
    /// The part of it that is wanted.
    pub(in crate::output) region: PixelRect,
    pub(in crate::output) film: Film,
}

/// What came of it.
pub(super) struct Done {
    pub(in crate::output) number: u64,
    pub(in crate::output) succeeded: bool,
    /// What was drawn: it holds clients' buffers, which the main thread has to let go.
    _scene: Option<Box<Scene>>,
}

/// Writes pictures, one after another. Dropped, it ends with the one that it writes.
#[derive(Debug)]
pub(super) struct Writer(Sender<Job>);

impl Writer {
    /// Starts the thread. `written` hears which pictures are done, and whether they could be written; `ended`, that the
    /// thread will write no more.
    pub fn start(
        handle: &LoopHandle<'static, State>,
        written: fn(&mut State, Done),
        ended: impl Fn(&mut State) + 'static,
    ) -> io::Result<Self> {
        let between = Between::new()?;
        let (jobs, handed_over) = mpsc::channel::<Job>();
        let (tell, done) = channel::channel::<Done>();
        let heard = handle.insert_source(done, move |event, (), state| match event {
            Event::Msg(done) => written(state, done),
            Event::Closed => ended(state),
        });
        heard.map_err(|error| io::Error::other(error.to_string()))?;
        faults::check(Fault::Thread)?;
        std::thread::Builder::new().name("capture".to_owned()).spawn(move || {
            let (mut pixels, mut painter) = (Vec::new(), None);
            for job in handed_over {
                let succeeded = write(&job, &between, &mut pixels, &mut painter);
                let Job { number, picture, .. } = job;
                // The display may have its buffer back before anybody is told.
                let scene = match picture {
                    Picture::Scene(scene) => Some(scene),
                    Picture::Shot(_) | Picture::Cursor(_) => None,
                };
                if tell.send(Done { number, succeeded, _scene: scene }).is_err() {
                    return;
                }
            }
        })?;
        Ok(Writer(jobs))
    }

    /// Hands a picture over. Returns whether there is anybody to write it.
    pub fn write(&self, job: Job) -> bool {
        self.0.send(job).is_ok()
    }
}

fn write(job: &Job, between: &Between, pixels: &mut Vec<u32>, painter: &mut Option<OffScreen>) -> bool {
    match &job.picture {
        Picture::Shot(shot) => write_shot(job, shot, false, between, pixels),
        Picture::Cursor(image) => write_shot(job, &Shot::of(image.clone()), true, between, pixels),
        Picture::Scene(scene) => match draw(scene, painter) {
            Ok(drawn) => write_shot(job, &Shot::copied(drawn), false, between, pixels),
            Err(error) => {
                tracing::warn!(%error, "a window cannot be drawn for a picture");
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

fn write_shot(job: &Job, shot: &Shot, is_translucent: bool, between: &Between, pixels: &mut Vec<u32>) -> bool {
    let PixelRect { x, y, width, height } = job.region;
    let row = width.unsigned_abs() as usize * size_of::<u32>();
    let rows = i32::try_from(AT_ONCE / row.max(1)).unwrap_or(1).max(1);
    (0..height).step_by(rows as usize).all(|first| {
        let part = PixelRect { x, y: y + first, width, height: rows.min(height - first) };
        if !shot.read(part, pixels) {
            return false;
        }
        job.film.convert(pixels, is_translucent);
        between.write(&job.film, pixels, first as usize, (width, height))
    })
}

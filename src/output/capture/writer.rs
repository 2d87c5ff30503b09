//! The thread that copies pictures into clients' shared memory.
//!
//! A client may shrink its memory at any time, and whoever writes there then is killed. Smithay guards against that, but
//! tells the client at once, which only the main thread may do. So the kernel writes: it says that it could not.

use std::fs::File;
use std::io;
use std::os::fd::AsRawFd;
use std::os::unix::fs::FileExt;
use std::sync::mpsc::{self, Sender};

use calloop::LoopHandle;
use calloop::channel::{self, Event};
use rustix::fs::{MemfdFlags, memfd_create};
use smithay::reexports::wayland_server::protocol::wl_buffer::WlBuffer;
use smithay::wayland::shm::with_buffer_contents_mut;

use crate::backend::{PixelRect, Shot};
use crate::faults::{self, Fault};
use crate::state::State;

/// As much is written at a time, in bytes: meanwhile nobody else may use the client's memory, not even to draw what it
/// shows. Some tens of microseconds.
const AT_ONCE: usize = 256 * 1024;

/// A picture to be written.
#[derive(Debug)]
pub(super) struct Job {
    pub number: u64,
    pub shot: Shot,
    /// The part of it that is wanted.
    pub region: PixelRect,
    pub buffer: WlBuffer,
}

/// Writes pictures, one after another. Dropped, it ends with the one that it writes.
#[derive(Debug)]
pub(super) struct Writer(Sender<Job>);

impl Writer {
    /// Starts the thread. `written` hears which pictures are done, and whether they could be written; `ended`, that the
    /// thread will write no more.
    pub fn start(
        handle: &LoopHandle<'static, State>,
        written: fn(&mut State, u64, bool),
        ended: impl Fn(&mut State) + 'static,
    ) -> io::Result<Self> {
        let between = Between::new()?;
        let (jobs, handed_over) = mpsc::channel::<Job>();
        let (tell, done) = channel::channel::<(u64, bool)>();
        let heard = handle.insert_source(done, move |event, (), state| match event {
            Event::Msg((number, succeeded)) => written(state, number, succeeded),
            Event::Closed => ended(state),
        });
        heard.map_err(|error| io::Error::other(error.to_string()))?;
        faults::check(Fault::Thread)?;
        std::thread::Builder::new().name("capture".to_owned()).spawn(move || {
            let mut pixels = Vec::new();
            for job in handed_over {
                let written = write(&job, &between, &mut pixels);
                let number = job.number;
                // The display may have its buffer back before anybody is told.
                drop(job);
                if tell.send((number, written)).is_err() {
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

fn write(job: &Job, between: &Between, pixels: &mut Vec<u32>) -> bool {
    let PixelRect { x, y, width, height } = job.region;
    let row = width.unsigned_abs() as usize * size_of::<u32>();
    let rows = i32::try_from(AT_ONCE / row.max(1)).unwrap_or(1).max(1);
    (0..height).step_by(rows as usize).all(|first| {
        let part = PixelRect { x, y: y + first, width, height: rows.min(height - first) };
        job.shot.read(part, pixels) && between.copy(pixels, &job.buffer, first as usize * row, (width, height))
    })
}

/// Memory of our own that the kernel copies from.
struct Between(File);

impl Between {
    fn new() -> io::Result<Self> {
        Ok(Between(File::from(memfd_create("picture", MemfdFlags::CLOEXEC)?)))
    }

    /// Writes whole rows into `buffer`, from byte `from` of its pixels on. Returns whether it is `size`, and took them.
    #[expect(unsafe_code, reason = "the kernel writes where the client's memory is mapped")]
    fn copy(&self, pixels: &[u32], buffer: &WlBuffer, from: usize, size: (i32, i32)) -> bool {
        let bytes: &[u8] = bytemuck::cast_slice(pixels);
        if self.0.write_all_at(bytes, 0).is_err() {
            return false;
        }
        let copied = with_buffer_contents_mut(buffer, |start, length, data| {
            let start_at = usize::try_from(data.offset).unwrap_or(usize::MAX).saturating_add(from);
            let fits = (data.width, data.height) == size
                && data.stride == data.width * 4
                && start_at.checked_add(bytes.len()).is_some_and(|end| end <= length);
            if !fits {
                return false;
            }
            // SAFETY: `start_at` and all bytes from there on lie within the `length` bytes that are mapped at `start`, and
            // nobody unmaps them in this closure. Where the client has taken the memory away the call fails.
            let read = unsafe { libc::pread(self.0.as_raw_fd(), start.add(start_at).cast(), bytes.len(), 0) };
            usize::try_from(read) == Ok(bytes.len())
        });
        copied.unwrap_or(false)
    }
}

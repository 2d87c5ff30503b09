//! Memory that planes read, shared by whoever draws into it, shows it or reads it. The last of them to let go has the
//! worker give it back: the kernel may wait for a modeset on another output before it lets a framebuffer go.

use std::sync::{Arc, Mutex, PoisonError};

use drm_fourcc::DrmFourcc;
use smithay::backend::allocator::Buffer as _;
use smithay::backend::allocator::gbm::GbmBuffer;
use smithay::backend::drm::gbm::GbmFramebuffer;
use smithay::backend::drm::{DrmDeviceFd, PlaneConfig};
use smithay::reexports::drm::control::{Device, framebuffer};

use super::dumb::DumbFrame;
use super::plane_config::part;
use super::worker::Jobs;
use crate::backend::plane::DeviceMemory;
use crate::backend::{BufferStorage, MappedPixels, PixelBuffer, PixelRect};

/// A composed picture that a CRTC can read.
#[derive(Clone)]
pub(super) struct Picture(Arc<Memory>);

struct Memory {
    framebuffer: framebuffer::Handle,
    /// The row of that at which it begins.
    top: i32,
    size: (i32, i32),
    jobs: Jobs,
    /// Gone only while it is dropped.
    kind: Option<Kind>,
}

enum Kind {
    /// Copied or drawn into by the CPU. The lock is there for the compiler: nobody writes a picture that others show or read.
    Dumb(Mutex<DumbFrame>),
    /// Drawn into by a GPU. The framebuffer is declared before the memory that it shows: it is given back first.
    Gbm { _framebuffer: GbmFramebuffer, buffer: GbmBuffer },
}

impl Picture {
    /// One that the CPU copies into.
    pub fn of_dumb(frame: DumbFrame, jobs: &Jobs) -> Self {
        let (framebuffer, top, size) = (frame.framebuffer(), frame.top(), frame.size());
        let kind = Some(Kind::Dumb(Mutex::new(frame)));
        Picture(Arc::new(Memory { framebuffer, top, size, jobs: jobs.clone(), kind }))
    }

    /// One that a GPU draws into.
    pub fn of_gbm(framebuffer: GbmFramebuffer, buffer: GbmBuffer, jobs: &Jobs) -> Self {
        let size = (buffer.size().w, buffer.size().h);
        let handle = *framebuffer.as_ref();
        let kind = Some(Kind::Gbm { _framebuffer: framebuffer, buffer });
        Picture(Arc::new(Memory { framebuffer: handle, top: 0, size, jobs: jobs.clone(), kind }))
    }

    /// One without memory, for tests of who has it.
    #[cfg(test)]
    pub fn empty(framebuffer: framebuffer::Handle, size: (i32, i32), jobs: &Jobs) -> Self {
        Picture(Arc::new(Memory { framebuffer, top: 0, size, jobs: jobs.clone(), kind: None }))
    }

    /// What a plane of `size` pixels is told, to show it.
    pub fn on_plane(&self, size: (i32, i32)) -> PlaneConfig<'static> {
        part(self.0.framebuffer, self.0.top, size)
    }

    /// Whether both lie in one piece of memory.
    pub fn lies_beside(&self, other: &Picture) -> bool {
        self.0.framebuffer == other.0.framebuffer
    }

    /// Whether nobody shows or reads it, and nobody is about to: whoever is has a hold on it.
    pub fn is_free(&self) -> bool {
        Arc::strong_count(&self.0) == 1
    }

    /// Copies rectangles from a picture of `width` pixels a row, where the CPU can.
    pub fn copy(&self, from: &[u32], width: i32, rects: &[PixelRect]) {
        if let Some(Kind::Dumb(frame)) = &self.0.kind {
            let mut frame = frame.lock().unwrap_or_else(PoisonError::into_inner);
            rects.iter().for_each(|rect| frame.copy(from, width, *rect));
        }
    }

    /// Has the CPU draw into it, where it can.
    fn draw(&self, draw: &mut dyn FnMut(&mut [u32], usize)) {
        if let Some(Kind::Dumb(frame)) = &self.0.kind {
            let mut frame = frame.lock().unwrap_or_else(PoisonError::into_inner);
            let stride = frame.stride();
            draw(frame.pixels_mut(), stride);
        }
    }

    /// A copy of it; `None` where it cannot be read. Not on a thread that must not wait: what a GPU drew is mapped for it,
    /// and waited for if it is not finished.
    pub fn read(&self) -> Option<PixelBuffer> {
        let (width, height) = self.0.size;
        match self.0.kind.as_ref()? {
            Kind::Dumb(frame) => {
                let mut copy = PixelBuffer { width, height, pixels: Vec::new() };
                frame.lock().unwrap_or_else(PoisonError::into_inner).read(&mut copy.pixels);
                copy.pixels.resize(width as usize * height as usize, 0);
                Some(copy)
            }
            Kind::Gbm { buffer, .. } => read_gbm(buffer, self.0.size),
        }
    }
}

impl std::fmt::Debug for Picture {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_tuple("Picture").field(&self.0.framebuffer).finish()
    }
}

impl PartialEq for Picture {
    fn eq(&self, other: &Self) -> bool {
        Arc::ptr_eq(&self.0, &other.0)
    }
}

impl Drop for Memory {
    fn drop(&mut self) {
        if let Some(kind) = self.kind.take() {
            self.jobs.give_back(kind);
        }
    }
}

/// How the memory of a picture is lent to whoever draws.
pub(super) trait Lend {
    /// What is lent.
    fn lend(&self, picture: &Picture) -> BufferStorage;

    /// Whether that is what came back.
    fn is(&self, picture: &Picture, storage: &BufferStorage) -> bool;
}

/// Memory that a GPU draws into.
impl Lend for Arc<DeviceMemory> {
    fn lend(&self, _: &Picture) -> BufferStorage {
        BufferStorage::Device(self.clone())
    }

    fn is(&self, _: &Picture, storage: &BufferStorage) -> bool {
        matches!(storage, BufferStorage::Device(memory) if Arc::ptr_eq(self, memory))
    }
}

/// Memory that the CPU draws into: the picture's own.
pub(super) struct Mapped;

impl Lend for Mapped {
    fn lend(&self, picture: &Picture) -> BufferStorage {
        BufferStorage::Mapped(Box::new(Loan(picture.clone())))
    }

    fn is(&self, picture: &Picture, storage: &BufferStorage) -> bool {
        let BufferStorage::Mapped(pixels) = storage else { return false };
        let pixels: &dyn std::any::Any = &**pixels;
        pixels.downcast_ref::<Loan>().is_some_and(|loan| loan.0 == *picture)
    }
}

/// A picture while somebody draws into it.
#[derive(Debug)]
struct Loan(Picture);

impl MappedPixels for Loan {
    fn size(&self) -> (i32, i32) {
        self.0.0.size
    }

    fn draw(&mut self, draw: &mut dyn FnMut(&mut [u32], usize)) {
        self.0.draw(draw);
    }
}

/// The driver unravels it if its layout is not row by row.
fn read_gbm(buffer: &GbmBuffer, (width, height): (i32, i32)) -> Option<PixelBuffer> {
    let (columns, rows) = (width.unsigned_abs(), height.unsigned_abs());
    // Mappings of one device share a context, and two pictures may be read at once.
    static READING: Mutex<()> = Mutex::new(());
    let _reading = READING.lock().unwrap_or_else(PoisonError::into_inner);
    let swapped = matches!(buffer.format().code, DrmFourcc::Xbgr8888 | DrmFourcc::Abgr8888);
    let read = buffer.map(0, 0, columns, rows, |mapped| {
        let rows = mapped.buffer().chunks_exact((mapped.stride() as usize).max(1)).take(rows as usize);
        let pixels = rows.flat_map(|row| row.chunks_exact(4).take(columns as usize)).map(|pixel| {
            let [first, second, third, _] = [pixel[0], pixel[1], pixel[2], pixel[3]];
            let (blue, green, red) = if swapped { (third, second, first) } else { (first, second, third) };
            u32::from_be_bytes([0, red, green, blue])
        });
        PixelBuffer { width, height, pixels: pixels.collect() }
    });
    read.inspect_err(|error| tracing::debug!(%error, "a display's buffer cannot be read")).ok()
}

/// A client's buffer as a framebuffer; given back like a picture.
pub(super) struct ClientFrame {
    device: DrmDeviceFd,
    pub framebuffer: framebuffer::Handle,
    jobs: Jobs,
}

impl ClientFrame {
    pub fn new(device: &DrmDeviceFd, framebuffer: framebuffer::Handle, jobs: &Jobs) -> Self {
        ClientFrame { device: device.clone(), framebuffer, jobs: jobs.clone() }
    }
}

impl std::fmt::Debug for ClientFrame {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_tuple("ClientFrame").field(&self.framebuffer).finish()
    }
}

impl Drop for ClientFrame {
    fn drop(&mut self) {
        let (device, framebuffer) = (self.device.clone(), self.framebuffer);
        self.jobs.ask(move || {
            if let Err(error) = device.destroy_framebuffer(framebuffer) {
                tracing::debug!(%error, "a framebuffer was gone already");
            }
        });
    }
}

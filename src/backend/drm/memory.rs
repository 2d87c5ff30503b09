//! Reference-counted memory that planes read, shared by the renderer, the presenter and screen readers. The last
//! reference has the worker free it, since the kernel may wait for a modeset on another output before it frees a
//! framebuffer.

use std::sync::{Arc, Mutex, PoisonError};

use smithay::backend::allocator::Buffer as _;
use smithay::backend::allocator::gbm::GbmBuffer;
use smithay::backend::drm::gbm::GbmFramebuffer;
use smithay::backend::drm::{DrmDeviceFd, PlaneConfig};
use smithay::reexports::drm::control::{Device, framebuffer};

use super::dumb::DumbFrame;
use super::plane_config::part;
use super::worker::WorkerHandle;
use crate::backend::gbm_layout::read_gbm;
use crate::backend::plane::DeviceMemory;
use crate::backend::{BufferStorage, MappedPixels, PixelBuffer, PixelRect};

/// How many rows are read in one go: some ten microseconds of a wide picture.
const LOCKED_ROWS: usize = 32;

/// A composed picture that a CRTC can scan out.
#[derive(Clone)]
pub(super) struct ScanoutPicture(Arc<PictureMemory>);

struct PictureMemory {
    framebuffer: framebuffer::Handle,
    /// Its first row within the framebuffer.
    top: i32,
    size: (i32, i32),
    jobs: WorkerHandle,
    /// `None` only while it is dropped.
    kind: Option<PictureMemoryKind>,
}

enum PictureMemoryKind {
    /// Copied or drawn into by the CPU. The lock is contended only if the picture on screen is written while it is read for a
    /// screenshot, which locks it for some rows at a time.
    Dumb(Mutex<DumbFrame>),
    /// Drawn into by a GPU. The framebuffer is declared before its memory, so that it is dropped first.
    Gbm { _framebuffer: GbmFramebuffer, buffer: GbmBuffer },
}

impl ScanoutPicture {
    /// A picture that the CPU copies into.
    pub fn of_dumb(frame: DumbFrame, jobs: &WorkerHandle) -> Self {
        let (framebuffer, top, size) = (frame.framebuffer(), frame.top(), frame.size());
        let kind = Some(PictureMemoryKind::Dumb(Mutex::new(frame)));
        ScanoutPicture(Arc::new(PictureMemory { framebuffer, top, size, jobs: jobs.clone(), kind }))
    }

    /// A picture that a GPU draws into.
    pub fn of_gbm(framebuffer: GbmFramebuffer, buffer: GbmBuffer, jobs: &WorkerHandle) -> Self {
        let size = (buffer.size().w, buffer.size().h);
        let handle = *framebuffer.as_ref();
        let kind = Some(PictureMemoryKind::Gbm { _framebuffer: framebuffer, buffer });
        ScanoutPicture(Arc::new(PictureMemory { framebuffer: handle, top: 0, size, jobs: jobs.clone(), kind }))
    }

    /// A picture without memory, for tests of its references.
    #[cfg(test)]
    pub fn empty(framebuffer: framebuffer::Handle, size: (i32, i32), jobs: &WorkerHandle) -> Self {
        ScanoutPicture(Arc::new(PictureMemory { framebuffer, top: 0, size, jobs: jobs.clone(), kind: None }))
    }

    /// The framebuffer that contains it.
    pub fn framebuffer(&self) -> framebuffer::Handle {
        self.0.framebuffer
    }

    /// The plane configuration that shows it on a plane of `size` pixels.
    pub fn plane_config(&self, size: (i32, i32)) -> PlaneConfig<'static> {
        part(self.0.framebuffer, self.0.top, size)
    }

    /// Whether both pictures are in the same buffer.
    pub fn shares_memory_with(&self, other: &ScanoutPicture) -> bool {
        self.0.framebuffer == other.0.framebuffer
    }

    /// Whether this is the only reference: every thread that shows or reads the picture, or is about to, holds another.
    pub fn is_free(&self) -> bool {
        Arc::strong_count(&self.0) == 1
    }

    /// Copies rectangles from `from`, with rows of `width` pixels, if the memory is a dumb buffer.
    pub fn copy(&self, from: &[u32], width: i32, rects: &[PixelRect]) {
        if let Some(PictureMemoryKind::Dumb(frame)) = &self.0.kind {
            let mut frame = frame.lock().unwrap_or_else(PoisonError::into_inner);
            rects.iter().for_each(|rect| frame.copy(from, width, *rect));
        }
    }

    /// Writes a rectangle, if the memory is a dumb buffer; the picture may be on screen.
    pub fn write(&self, rect: PixelRect, pixels: &[u32]) {
        if let Some(PictureMemoryKind::Dumb(frame)) = &self.0.kind {
            frame.lock().unwrap_or_else(PoisonError::into_inner).write(rect, pixels);
        }
    }

    /// Its first row within the framebuffer.
    pub fn top(&self) -> i32 {
        self.0.top
    }

    /// Lets the CPU draw into it, if the memory is a dumb buffer.
    fn draw(&self, draw: &mut dyn FnMut(&mut [u32], usize)) {
        if let Some(PictureMemoryKind::Dumb(frame)) = &self.0.kind {
            let mut frame = frame.lock().unwrap_or_else(PoisonError::into_inner);
            let stride = frame.stride();
            draw(frame.pixels_mut(), stride);
        }
    }

    /// A copy of its pixels; `None` where it cannot be read. This may block: a GPU's picture is mapped, and waited
    /// for if it is not finished.
    pub fn read(&self) -> Option<PixelBuffer> {
        let (width, height) = self.0.size;
        match self.0.kind.as_ref()? {
            PictureMemoryKind::Dumb(frame) => {
                let mut copy =
                    PixelBuffer { width, height, pixels: Vec::with_capacity(width as usize * height as usize) };
                for first in (0..height).step_by(LOCKED_ROWS) {
                    let frame = frame.lock().unwrap_or_else(PoisonError::into_inner);
                    frame.read(first..(first + LOCKED_ROWS as i32).min(height), &mut copy.pixels);
                }
                copy.pixels.resize(width as usize * height as usize, 0);
                Some(copy)
            }
            PictureMemoryKind::Gbm { buffer, .. } => read_gbm(buffer, self.0.size),
        }
    }
}

impl std::fmt::Debug for ScanoutPicture {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_tuple("ScanoutPicture").field(&self.0.framebuffer).finish()
    }
}

impl PartialEq for ScanoutPicture {
    fn eq(&self, other: &Self) -> bool {
        Arc::ptr_eq(&self.0, &other.0)
    }
}

impl Drop for PictureMemory {
    fn drop(&mut self) {
        if let Some(kind) = self.kind.take() {
            self.jobs.drop_on_worker(kind);
        }
    }
}

/// How the memory of a picture is lent to the renderer.
pub(super) trait LendsStorage {
    /// The storage of the buffer that is lent to the renderer.
    fn lend(&self, picture: &ScanoutPicture) -> BufferStorage;

    /// Whether `storage` is the storage that was lent for this picture.
    fn is(&self, picture: &ScanoutPicture, storage: &BufferStorage) -> bool;
}

/// Memory that a GPU draws into.
impl LendsStorage for Arc<DeviceMemory> {
    fn lend(&self, _: &ScanoutPicture) -> BufferStorage {
        BufferStorage::Device(self.clone())
    }

    fn is(&self, _: &ScanoutPicture, storage: &BufferStorage) -> bool {
        matches!(storage, BufferStorage::Device(memory) if Arc::ptr_eq(self, memory))
    }
}

/// The CPU draws into the picture's own memory.
pub(super) struct CpuDrawnStorage;

impl LendsStorage for CpuDrawnStorage {
    fn lend(&self, picture: &ScanoutPicture) -> BufferStorage {
        BufferStorage::Mapped(Box::new(LentPicture(picture.clone())))
    }

    fn is(&self, picture: &ScanoutPicture, storage: &BufferStorage) -> bool {
        let BufferStorage::Mapped(pixels) = storage else { return false };
        let pixels: &dyn std::any::Any = &**pixels;
        pixels.downcast_ref::<LentPicture>().is_some_and(|loan| loan.0 == *picture)
    }
}

/// A picture while the CPU draws into it.
#[derive(Debug)]
struct LentPicture(ScanoutPicture);

impl MappedPixels for LentPicture {
    fn size(&self) -> (i32, i32) {
        self.0.0.size
    }

    fn draw(&mut self, draw: &mut dyn FnMut(&mut [u32], usize)) {
        self.0.draw(draw);
    }
}

/// A client's buffer as a framebuffer. Like a picture, the worker frees it.
pub(super) struct ClientFrame {
    device: DrmDeviceFd,
    pub framebuffer: framebuffer::Handle,
    jobs: WorkerHandle,
}

impl ClientFrame {
    pub fn new(device: &DrmDeviceFd, framebuffer: framebuffer::Handle, jobs: &WorkerHandle) -> Self {
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
        self.jobs.queue_job(move || {
            if let Err(error) = device.destroy_framebuffer(framebuffer) {
                tracing::debug!(%error, "a framebuffer was gone already");
            }
        });
    }
}

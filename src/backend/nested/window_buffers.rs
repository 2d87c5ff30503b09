//! The buffers of one window: in memory that we share with the parent, or in the memory of its device.

use std::os::fd::OwnedFd;

use wayland_client::QueueHandle;
use wayland_client::protocol::{wl_buffer::WlBuffer, wl_shm::WlShm, wl_surface::WlSurface};

use super::device_allocator::SharedAllocator;
use super::device_pool::NestedDevicePool;
use super::event::WindowId;
use super::parent::ParentState;
use super::pool::{BufferTag, NestedBufferPool, NestedBufferSlot};
use crate::backend::{Buffer, PixelRect, ScreenSnapshot};

pub(super) enum WindowBuffers {
    /// The CPU draws, and its pixels are copied.
    Shared(NestedBufferPool),
    /// A GPU draws.
    Device {
        pool: Box<NestedDevicePool>,
        /// Shown while the output is off.
        black: Option<NestedBufferSlot>,
    },
}

impl WindowBuffers {
    /// Buffers of `size` pixels for `window`: with `device` in its memory. The error is a sentence.
    pub(super) fn new(
        window: WindowId,
        size: (i32, i32),
        device: Option<SharedAllocator>,
        shm: &WlShm,
        handle: &QueueHandle<ParentState>,
    ) -> Result<Self, String> {
        if let Some(device) = device {
            match NestedDevicePool::new((window, 0), size, device, handle) {
                Ok(pool) => return Ok(WindowBuffers::Device { pool: Box::new(pool), black: None }),
                Err(error) => tracing::warn!(error, "no GPU memory for a window: its frames are copied"),
            }
        }
        let pool = NestedBufferPool::new(window, 0, size, shm, handle);
        pool.map(WindowBuffers::Shared).map_err(|error| error.to_string())
    }

    /// The same kind of buffers in another size, as the `number`-th pool of `window`; shared memory where the device has
    /// none. The error is a sentence.
    pub(super) fn resized(
        &self,
        (window, number): (WindowId, u32),
        size: (i32, i32),
        shm: &WlShm,
        handle: &QueueHandle<ParentState>,
    ) -> Result<Self, String> {
        match self {
            WindowBuffers::Shared(_) => {}
            WindowBuffers::Device { pool, .. } => match pool.resized(number, size) {
                Ok(pool) => return Ok(WindowBuffers::Device { pool: Box::new(pool), black: None }),
                Err(error) => tracing::warn!(error, "no GPU memory for a window: its frames are copied"),
            },
        }
        let pool = NestedBufferPool::new(window, number, size, shm, handle);
        pool.map(WindowBuffers::Shared).map_err(|error| error.to_string())
    }

    /// Whether frames may be submitted before the GPU has drawn them.
    pub(super) const fn takes_fences(&self) -> bool {
        matches!(self, WindowBuffers::Device { .. })
    }

    pub(super) fn acquire(&mut self) -> Option<Buffer> {
        match self {
            WindowBuffers::Shared(pool) => pool.acquire(),
            WindowBuffers::Device { pool, .. } => pool.acquire(),
        }
    }

    /// Allocates a buffer for the next frame, if there is none.
    pub(super) fn prepare_next(&mut self) {
        if let WindowBuffers::Device { pool, .. } = self {
            pool.prepare_next();
        }
    }

    /// The frame in buffer `index` is on screen.
    pub(super) fn note_shown(&mut self, index: usize) {
        if let WindowBuffers::Device { pool, .. } = self {
            pool.note_shown(index);
        }
    }

    /// Takes a buffer back; its content counts as unknown.
    pub(super) fn release(&mut self, buffer: Buffer) {
        match self {
            WindowBuffers::Shared(pool) => pool.release(buffer),
            WindowBuffers::Device { pool, .. } => pool.release(&buffer),
        }
    }

    /// Whether `buffer` was lent by these buffers.
    pub(super) fn recognises(&self, buffer: &Buffer) -> bool {
        match self {
            WindowBuffers::Shared(pool) => pool.recognises(buffer),
            WindowBuffers::Device { pool, .. } => pool.recognises(buffer),
        }
    }

    /// Takes a buffer back with a new frame. Returns the index of the buffer that is to be committed.
    pub(super) fn compose(&mut self, buffer: Buffer, damage: &[PixelRect]) -> Option<usize> {
        match self {
            WindowBuffers::Shared(pool) => pool.compose(buffer, damage),
            WindowBuffers::Device { pool, .. } => pool.compose(&buffer),
        }
    }

    /// Attaches buffer `index` to `surface` for the next commit. `drawn` signals when its picture is complete; `None`:
    /// it is complete.
    pub(super) fn attach(&mut self, index: usize, surface: &WlSurface, drawn: Option<OwnedFd>) {
        match self {
            WindowBuffers::Shared(pool) => surface.attach(pool.buffer(index), 0, 0),
            WindowBuffers::Device { pool, .. } => pool.attach(index, surface, drawn),
        }
    }

    /// A black buffer of `size` pixels, for the next commit. `None`: all are in use, or there is no memory.
    pub(super) fn black(
        &mut self,
        window: WindowId,
        size: (i32, i32),
        shm: &WlShm,
        handle: &QueueHandle<ParentState>,
    ) -> Option<&WlBuffer> {
        match self {
            WindowBuffers::Shared(pool) => pool.black(),
            WindowBuffers::Device { pool, black } => {
                pool.end_points();
                if black.is_none() {
                    *black = NestedBufferSlot::new(BufferTag::outside_pools(window), size, shm, handle).ok();
                }
                black.as_ref().map(NestedBufferSlot::buffer)
            }
        }
    }

    /// A snapshot of buffer `index`.
    pub(super) fn snapshot(&self, index: usize) -> Option<ScreenSnapshot> {
        match self {
            WindowBuffers::Shared(pool) => pool.picture(index).map(ScreenSnapshot::copied),
            WindowBuffers::Device { pool, .. } => pool.snapshot(index),
        }
    }

    /// The parent has released the buffer, or will never read it.
    pub(super) fn released(&mut self, tag: BufferTag) {
        match self {
            WindowBuffers::Shared(pool) => pool.released(tag),
            WindowBuffers::Device { pool, .. } => pool.released(tag),
        }
    }

    /// Frees buffer `index`, which was never committed.
    pub(super) fn give_back(&mut self, index: usize) {
        match self {
            WindowBuffers::Shared(pool) => pool.give_back(index),
            WindowBuffers::Device { pool, .. } => pool.give_back(index),
        }
    }
}

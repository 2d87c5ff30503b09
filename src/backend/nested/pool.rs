//! The buffers of one window: a canvas that the compositor draws into, and some `wl_buffer`s that the parent reads in
//! turn.
//!
//! ```text
//!   acquire ─► canvas (age 1, always) ─► submit: the stale region of slot n is copied ─► wl_buffer n ─► parent
//! ```
//! Only damage is copied. The copy keeps the compositor's own drawing as small as possible, avoids memory that two
//! processes write to, and is done before `submit` returns.

use std::os::fd::AsFd;

use wayland_client::QueueHandle;
use wayland_client::protocol::{wl_buffer::WlBuffer, wl_shm, wl_shm::WlShm};

use super::event::WindowId;
use super::parent::ParentState;
use super::stale_region::StaleRegion;
use crate::backend::{Buffer, BufferStorage, PixelBuffer, PixelRect};
use upbeat_client::memory::SharedMemory;

/// The number of buffers: on screen, latched, committed, composed into, and one more for a parent that releases late.
const SLOTS: usize = 5;

/// Identifies a buffer: its window, the number of its pool, and its slot.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct BufferTag {
    pub window: WindowId,
    pool: u32,
    slot: usize,
}

/// The slot of a buffer that is in no pool.
const NO_SLOT: usize = usize::MAX;

impl BufferTag {
    pub(super) const fn new(window: WindowId, pool: u32, slot: usize) -> Self {
        BufferTag { window, pool, slot }
    }

    /// For a buffer of a window that its pool does not lend.
    pub(super) const fn outside_pools(window: WindowId) -> Self {
        Self::new(window, 0, NO_SLOT)
    }

    /// Its slot, if it is in the `pool`-th pool of its window.
    pub(super) fn slot_in(self, pool: u32) -> Option<usize> {
        (self.pool == pool && self.slot != NO_SLOT).then_some(self.slot)
    }
}

/// A buffer in memory that we share with the parent.
#[derive(Debug)]
pub(super) struct NestedBufferSlot {
    buffer: WlBuffer,
    memory: SharedMemory,
    /// The parent may read it.
    held: bool,
    stale: StaleRegion,
}

impl NestedBufferSlot {
    /// A black buffer of `size` pixels.
    pub(super) fn new(
        tag: BufferTag,
        (width, height): (i32, i32),
        shm: &WlShm,
        handle: &QueueHandle<ParentState>,
    ) -> rustix::io::Result<Self> {
        let memory = SharedMemory::new("upbeat-output", width as usize * height as usize)?;
        let bytes = i32::try_from(memory.bytes()).map_err(|_| rustix::io::Errno::OVERFLOW)?;
        let pool = shm.create_pool(memory.file().as_fd(), bytes, handle, ());
        let buffer = pool.create_buffer(0, width, height, width * 4, wl_shm::Format::Xrgb8888, handle, tag);
        pool.destroy();
        Ok(NestedBufferSlot { buffer, memory, held: false, stale: StaleRegion::All })
    }

    pub(super) const fn buffer(&self) -> &WlBuffer {
        &self.buffer
    }
}

impl Drop for NestedBufferSlot {
    fn drop(&mut self) {
        self.buffer.destroy();
    }
}

/// The buffers of one window in one size.
#[derive(Debug)]
pub(super) struct NestedBufferPool {
    number: u32,
    size: (i32, i32),
    slots: Vec<NestedBufferSlot>,
    /// `None` while it is lent to the compositor.
    canvas: Option<PixelBuffer>,
    /// The canvas holds the newest composed frame.
    is_known: bool,
}

impl NestedBufferPool {
    /// Buffers of `size` pixels, the `number`-th pool of `window`. Fails when there is no memory.
    pub(super) fn new(
        window: WindowId,
        number: u32,
        size: (i32, i32),
        shm: &WlShm,
        handle: &QueueHandle<ParentState>,
    ) -> rustix::io::Result<Self> {
        let (width, height) = size;
        let slot = |index: usize| NestedBufferSlot::new(BufferTag::new(window, number, index), size, shm, handle);
        let slots = (0..SLOTS).map(slot).collect::<Result<_, _>>()?;
        Ok(NestedBufferPool { number, size, slots, canvas: Some(PixelBuffer::new(width, height)), is_known: false })
    }

    /// Lends the canvas, if a buffer is free for its next frame.
    pub(super) fn acquire(&mut self) -> Option<Buffer> {
        self.free()?;
        let pixels = self.canvas.take()?;
        Some(Buffer {
            storage: BufferStorage::Memory(pixels),
            age: u32::from(self.is_known),
            slot: self.number as usize,
        })
    }

    /// Takes the canvas back; its content is unknown.
    pub(super) fn release(&mut self, buffer: Buffer) {
        if self.recognises(&buffer)
            && let BufferStorage::Memory(pixels) = buffer.storage
        {
            self.canvas = Some(pixels);
            self.is_known = false;
        }
    }

    /// Whether `buffer` is the canvas of this pool.
    pub(super) fn recognises(&self, buffer: &Buffer) -> bool {
        let BufferStorage::Memory(pixels) = &buffer.storage else { return false };
        let whole = self.size.0 as usize * self.size.1 as usize;
        buffer.slot == self.number as usize
            && self.canvas.is_none()
            && (pixels.width, pixels.height, pixels.pixels.len()) == (self.size.0, self.size.1, whole)
    }

    /// Takes the canvas back with a new frame, and copies the stale region of a free buffer. Returns the index of
    /// that buffer.
    pub(super) fn compose(&mut self, buffer: Buffer, damage: &[PixelRect]) -> Option<usize> {
        let BufferStorage::Memory(pixels) = buffer.storage else { return None };
        let known = std::mem::replace(&mut self.is_known, true);
        for slot in &mut self.slots {
            if known {
                slot.stale.add(damage);
            } else {
                slot.stale = StaleRegion::All;
            }
        }
        let index = self.free();
        if let Some(slot) = index.and_then(|index| self.slots.get_mut(index)) {
            slot.stale.refresh(&pixels, slot.memory.pixels_mut());
            slot.held = true;
        }
        self.canvas = Some(pixels);
        index
    }

    /// Makes a free buffer black; the canvas stays as it is.
    pub(super) fn black(&mut self) -> Option<&WlBuffer> {
        let index = self.free()?;
        let slot = self.slots.get_mut(index)?;
        slot.memory.pixels_mut().fill(0);
        slot.stale = StaleRegion::All;
        slot.held = true;
        Some(&slot.buffer)
    }

    /// The free buffer with the fewest stale rectangles.
    fn free(&self) -> Option<usize> {
        let free = self.slots.iter().enumerate().filter(|(_, slot)| !slot.held);
        free.min_by_key(|(_, slot)| match &slot.stale {
            StaleRegion::All => usize::MAX,
            StaleRegion::Parts(parts) => parts.len(),
        })
        .map(|(index, _)| index)
    }

    /// The Wayland object of buffer `index`.
    pub(super) fn buffer(&self, index: usize) -> Option<&WlBuffer> {
        self.slots.get(index).map(|slot| &slot.buffer)
    }

    /// A copy of the pixels in buffer `index`.
    pub(super) fn picture(&self, index: usize) -> Option<PixelBuffer> {
        let pixels = self.slots.get(index)?.memory.pixels().to_vec();
        Some(PixelBuffer { width: self.size.0, height: self.size.1, pixels })
    }

    /// The parent has released the buffer, or will never read it.
    pub(super) fn released(&mut self, tag: BufferTag) {
        if let Some(slot) = tag.slot_in(self.number) {
            self.give_back(slot);
        }
    }

    /// Frees buffer `index`, which was never committed.
    pub(super) fn give_back(&mut self, index: usize) {
        if let Some(slot) = self.slots.get_mut(index) {
            slot.held = false;
        }
    }
}

//! The buffers of one window in the memory of the parent's device.
//!
//! ```text
//!   acquire ─► the newest free buffer ─► (the GPU draws) ─► submit ─► commit, with the fence ─► the parent's GPU reads
//!                  ▲                                                                                  │
//!                  └────────────────── released: by the event, or by a point of its timeline ─────────┘
//! ```

use std::os::fd::{AsFd as _, OwnedFd};
use std::sync::{Arc, OnceLock};

use smithay::backend::allocator::gbm::GbmBuffer;
use wayland_client::QueueHandle;
use wayland_client::protocol::wl_buffer::WlBuffer;
use wayland_client::protocol::wl_surface::WlSurface;
use wayland_protocols::wp::linux_drm_syncobj::v1::client::wp_linux_drm_syncobj_surface_v1::WpLinuxDrmSyncobjSurfaceV1;

use super::buffer_timeline::BufferTimeline;
use super::device_allocator::{ParentMemory, SharedAllocator};
use super::event::WindowId;
use super::parent::ParentState;
use super::pool::BufferTag;
use crate::backend::gbm_layout::read_gbm;
use crate::backend::plane::DeviceMemory;
use crate::backend::{Buffer, BufferStorage, ScreenSnapshot, fence};

/// The most buffers: on screen, latched, committed, composed into, one more for a parent that releases late, and two for
/// captures that are written on other threads.
const MOST_SLOTS: usize = 7;

struct ParentMemorySlot {
    buffer: WlBuffer,
    memory: Arc<DeviceMemory>,
    /// Snapshots hold it, too.
    gbm: Arc<GbmBuffer>,
    timeline: Option<BufferTimeline>,
    /// The number of the frame that it holds; `None` if its content is unknown.
    content: Option<u64>,
    usage: ParentMemoryUse,
}

/// The user of a buffer.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum ParentMemoryUse {
    Free,
    /// The renderer draws into it.
    Lent,
    /// Its frame waits to be committed.
    Waiting,
    /// The parent may read it.
    Committed,
}

/// The buffers of one window in one size, allocated when they are needed.
pub(super) struct NestedDevicePool {
    window: WindowId,
    number: u32,
    size: (i32, i32),
    allocator: SharedAllocator,
    handle: QueueHandle<ParentState>,
    slots: Vec<ParentMemorySlot>,
    /// The number of submitted frames.
    frames: u64,
    /// Explicit synchronisation of the window's surface.
    surface: Option<WpLinuxDrmSyncobjSurfaceV1>,
    /// The picture on screen. The parent may have released its buffer when it took the next frame, but snapshots read it
    /// until that frame is shown.
    shown: Option<Arc<GbmBuffer>>,
    /// A failed allocation was logged.
    is_short: bool,
}

impl NestedDevicePool {
    /// Buffers of `size` pixels, the `number`-th pool of `window`. The first is allocated now; the error is a sentence.
    pub(super) fn new(
        (window, number): (WindowId, u32),
        size: (i32, i32),
        allocator: SharedAllocator,
        handle: &QueueHandle<ParentState>,
    ) -> Result<Self, String> {
        let mut pool = NestedDevicePool {
            window,
            number,
            size,
            allocator,
            handle: handle.clone(),
            slots: Vec::with_capacity(MOST_SLOTS),
            frames: 0,
            surface: None,
            shown: None,
            is_short: false,
        };
        pool.add()?;
        Ok(pool)
    }

    /// An empty pool of another size.
    pub(super) fn resized(&self, number: u32, size: (i32, i32)) -> Result<Self, String> {
        Self::new((self.window, number), size, self.allocator.clone(), &self.handle)
    }

    fn add(&mut self) -> Result<(), String> {
        let ParentMemory { gbm, memory } = self.allocator.allocate(self.size)?;
        let timeline = self.allocator.timeline(&self.handle);
        let timeline = timeline.map_err(|error| format!("no timeline for a buffer: {error}"))?;
        let tag = BufferTag::new(self.window, self.number, self.slots.len());
        let buffer = self.allocator.share(&memory, tag, &self.handle);
        self.slots.push(ParentMemorySlot {
            buffer,
            memory,
            gbm,
            timeline,
            content: None,
            usage: ParentMemoryUse::Free,
        });
        Ok(())
    }

    /// Lends the free buffer with the newest content, or a new buffer.
    pub(super) fn acquire(&mut self) -> Option<Buffer> {
        let free =
            self.slots.iter_mut().enumerate().filter_map(|(index, slot)| slot.is_free().then_some((index, slot)));
        let newest = free.max_by_key(|(_, slot)| slot.content).map(|(index, _)| index);
        let index = newest.or_else(|| self.added())?;
        let frames = self.frames;
        let slot = self.slots.get_mut(index)?;
        slot.usage = ParentMemoryUse::Lent;
        let age = slot.content.map_or(0, |content| u32::try_from(frames - content + 1).unwrap_or(0));
        Some(Buffer { storage: BufferStorage::Device(slot.memory.clone()), age, slot: index })
    }

    /// The index of a new buffer, if there may be more and there is memory.
    fn added(&mut self) -> Option<usize> {
        if self.slots.len() >= MOST_SLOTS {
            return None;
        }
        match self.add() {
            Ok(()) => Some(self.slots.len() - 1),
            Err(error) => {
                if !std::mem::replace(&mut self.is_short, true) {
                    tracing::warn!(error, "fewer buffers for a window than needed: frames may be late");
                }
                None
            }
        }
    }

    /// Allocates another buffer if none is free, so that the next frame need not wait for memory.
    pub(super) fn prepare_next(&mut self) {
        if !self.is_short && !self.slots.iter_mut().any(ParentMemorySlot::is_free) {
            self.added();
        }
    }

    /// The frame in buffer `index` is on screen.
    pub(super) fn note_shown(&mut self, index: usize) {
        self.shown = self.slots.get(index).map(|slot| slot.gbm.clone());
    }

    /// Takes a buffer back; its content counts as unknown.
    pub(super) fn release(&mut self, buffer: &Buffer) {
        if let Some(slot) = self.lent(buffer) {
            (slot.usage, slot.content) = (ParentMemoryUse::Free, None);
        }
    }

    /// Whether `buffer` was lent by this pool.
    pub(super) fn recognises(&self, buffer: &Buffer) -> bool {
        self.slots.get(buffer.slot).is_some_and(|slot| slot.is_of(buffer))
    }

    fn lent(&mut self, buffer: &Buffer) -> Option<&mut ParentMemorySlot> {
        self.slots.get_mut(buffer.slot).filter(|slot| slot.is_of(buffer))
    }

    /// Takes a buffer back with a new frame. Returns its index.
    pub(super) fn compose(&mut self, buffer: &Buffer) -> Option<usize> {
        self.frames += 1;
        let frames = self.frames;
        let slot = self.lent(buffer)?;
        (slot.usage, slot.content) = (ParentMemoryUse::Waiting, Some(frames));
        Some(buffer.slot)
    }

    /// Attaches buffer `index` to `surface` for the next commit. `drawn` signals when its picture is complete; `None`:
    /// it is complete.
    pub(super) fn attach(&mut self, index: usize, surface: &WlSurface, drawn: Option<OwnedFd>) {
        let Some(slot) = self.slots.get_mut(index) else { return };
        slot.usage = ParentMemoryUse::Committed;
        surface.attach(Some(&slot.buffer), 0, 0);
        match (&mut slot.timeline, self.allocator.sync()) {
            (Some(timeline), Some(manager)) => {
                let points = self.surface.get_or_insert_with(|| manager.get_surface(surface, &self.handle, ()));
                timeline.set_points(points, drawn.as_ref().map(|drawn| drawn.as_fd()));
            }
            _ => wait_in_memory(&slot.memory, drawn),
        }
    }

    /// The next commit attaches another kind of buffer, which has no points.
    pub(super) fn end_points(&mut self) {
        if let Some(surface) = self.surface.take() {
            surface.destroy();
        }
    }

    /// The parent has released the buffer. With a timeline its point says so.
    pub(super) fn released(&mut self, tag: BufferTag) {
        if let Some(slot) = tag.slot_in(self.number).and_then(|index| self.slots.get_mut(index))
            && slot.timeline.is_none()
            && slot.usage == ParentMemoryUse::Committed
        {
            slot.usage = ParentMemoryUse::Free;
        }
    }

    /// Frees buffer `index`, which was never committed.
    pub(super) fn give_back(&mut self, index: usize) {
        if let Some(slot) = self.slots.get_mut(index) {
            slot.usage = ParentMemoryUse::Free;
        }
    }

    /// A snapshot of buffer `index`. The first read copies all of it, on the reading thread.
    pub(super) fn snapshot(&self, index: usize) -> Option<ScreenSnapshot> {
        let (gbm, (width, height)) = (self.slots.get(index)?.gbm.clone(), self.size);
        let copied = OnceLock::new();
        Some(ScreenSnapshot::new(width, height, move |rect, pixels| {
            let copied = copied.get_or_init(|| read_gbm(&gbm, (width, height)).map(ScreenSnapshot::copied));
            copied.as_ref().is_some_and(|copied| copied.read(rect, pixels))
        }))
    }
}

impl ParentMemorySlot {
    fn is_of(&self, buffer: &Buffer) -> bool {
        self.usage == ParentMemoryUse::Lent
            && matches!(&buffer.storage, BufferStorage::Device(memory) if Arc::ptr_eq(memory, &self.memory))
    }

    /// Whether it is not lent, not waiting, not read by the parent, not on screen and not held by a snapshot.
    fn is_free(&mut self) -> bool {
        let is_committed = self.usage == ParentMemoryUse::Committed;
        if is_committed && self.timeline.as_ref().is_some_and(BufferTimeline::is_released) {
            self.usage = ParentMemoryUse::Free;
        }
        self.usage == ParentMemoryUse::Free && Arc::strong_count(&self.gbm) == 1
    }
}

/// Lets the memory's readers wait until the picture is complete. Drivers with implicit fences have done so already, and
/// kernels before 6.0 have only such.
fn wait_in_memory(memory: &DeviceMemory, drawn: Option<OwnedFd>) {
    let Some(drawn) = drawn else { return };
    for part in &memory.parts {
        if let Err(error) = fence::add_writer(part.descriptor.as_fd(), drawn.as_fd()) {
            tracing::debug!(%error, "the parent waits for the driver's own fences");
        }
    }
}

impl Drop for NestedDevicePool {
    fn drop(&mut self) {
        self.end_points();
        for slot in &self.slots {
            slot.buffer.destroy();
        }
    }
}

//! The buffers of one output, and the ages of their contents.
//!
//! A buffer is in one place at a time: free in the pool, lent to the compositor, or held by the display (waiting or on
//! screen). It moves by ownership, so the buffer that is scanned out cannot be changed.
//!
//! *Age* counts **composed** frames in the order in which they were submitted, shown or not. Damage is relative to the
//! frame composed before, and a frame that was lost after its submission is in that chain like any other.
//! ```text
//!   composed    A(slot 0)   B(slot 1, lost)   C(slot 2)        next: slot 1 holds B, and C came after it
//!                                                              → age 2: repaint damage(C) and its own
//! ```

use std::sync::Arc;

use super::pixels::{PanelBuffer, SharedPixels};
use crate::backend::kept::KeptPixels;
use crate::backend::{Buffer, BufferStorage, PixelBuffer};
use upbeat_record::faults::{self, Fault};

/// The number of extra buffers, for snapshots that are read from buffers no longer on screen.
const MOST_READ: usize = 2;
/// For how many frames after the last snapshot the extra buffers are kept: ten seconds at 60 Hz.
const KEPT: u64 = 600;

enum PoolSlotState {
    /// In the pool; `None` until its memory is first needed.
    Free(Option<PixelBuffer>),
    /// Lent to the compositor.
    Lent,
    /// Waiting for its vblank, or on screen.
    Held,
    /// Off the screen, but a snapshot still refers to it.
    Read(Arc<PixelBuffer>),
    /// Off the screen, but a snapshot still refers to the picture that the renderer keeps.
    ReadKept(KeptPixels),
}

struct PoolSlot {
    id: usize,
    /// The number of the composed frame whose pixels it holds; `None`: unknown.
    content: Option<u64>,
    place: PoolSlotState,
}

impl PoolSlot {
    /// Whether a snapshot still refers to it.
    const fn is_read(&self) -> bool {
        matches!(self.place, PoolSlotState::Read(_) | PoolSlotState::ReadKept(_))
    }
}

/// The pool of one output in one mode.
pub struct BufferPool {
    slots: Vec<PoolSlot>,
    /// The number of buffers without snapshots.
    count: usize,
    /// The number of composed frames when a snapshot was last in use.
    last_read: u64,
    width: i32,
    height: i32,
    /// The number of frames composed in this pool.
    composed: u64,
    /// Slot ids are never reused, so that a buffer of an earlier mode is recognised.
    next_id: usize,
}

impl BufferPool {
    /// A pool of `count` buffers of one size. Their memory is allocated when it is first needed.
    pub fn new(count: usize, width: i32, height: i32) -> Self {
        let mut pool = BufferPool { slots: Vec::new(), count, last_read: 0, width, height, composed: 0, next_id: 0 };
        pool.reset(count, width, height);
        pool
    }

    /// Starts again with buffers of another size; lent buffers no longer belong to the pool.
    pub fn reset(&mut self, count: usize, width: i32, height: i32) {
        let first = self.next_id;
        self.next_id += count;
        self.slots.clear();
        self.slots.extend((first..self.next_id).map(|id| PoolSlot {
            id,
            content: None,
            place: PoolSlotState::Free(None),
        }));
        (self.count, self.last_read) = (count, 0);
        (self.width, self.height, self.composed) = (width, height, 0);
    }

    /// Lends the free buffer with the newest content, since it needs the least repainting.
    pub fn acquire(&mut self) -> Option<Buffer> {
        let (width, height, composed) = (self.width, self.height, self.composed);
        self.reclaim_read_buffers();
        let memory = faults::check(Fault::Buffer).inspect_err(|error| tracing::warn!(%error, "there is no buffer"));
        memory.ok()?;
        let free = self.slots.iter_mut().filter(|slot| matches!(slot.place, PoolSlotState::Free(_)));
        let slot = free.max_by_key(|slot| slot.content)?;
        let PoolSlotState::Free(pixels) = std::mem::replace(&mut slot.place, PoolSlotState::Lent) else { return None };
        let age = slot.content.map_or(0, |content| u32::try_from(composed - content + 1).unwrap_or(0));
        let pixels = pixels.unwrap_or_else(|| PixelBuffer::new(width, height));
        Some(Buffer { storage: BufferStorage::Memory(pixels), age, slot: slot.id })
    }

    /// Whether this pool lent `buffer`, and it still has the right size.
    pub fn recognises(&self, buffer: &Buffer) -> bool {
        let (BufferStorage::Memory(pixels) | BufferStorage::Kept(KeptPixels { memory: pixels, .. })) = &buffer.storage
        else {
            return false;
        };
        let whole = usize::try_from(self.width).unwrap_or(0) * usize::try_from(self.height).unwrap_or(0);
        (pixels.width, pixels.height, pixels.pixels.len()) == (self.width, self.height, whole)
            && self.slots.iter().any(|slot| slot.id == buffer.slot && matches!(slot.place, PoolSlotState::Lent))
    }

    /// The compositor submitted a frame that it composed into slot `id`.
    pub fn composed(&mut self, id: usize) {
        self.composed += 1;
        let number = self.composed;
        if let Some(slot) = self.slot(id) {
            slot.content = Some(number);
            slot.place = PoolSlotState::Held;
        }
        if self.slots.len() > self.count && number > self.last_read + KEPT {
            let free = self.slots.iter().enumerate().filter(|(_, slot)| matches!(slot.place, PoolSlotState::Free(_)));
            let oldest = free.min_by_key(|(_, slot)| slot.content).map(|(place, _)| place);
            oldest.into_iter().for_each(|place| _ = self.slots.swap_remove(place));
        }
    }

    /// A rectangle was written into the buffer on screen, slot `id`. The damage of the next composed frame has to
    /// include it. If the buffer did not hold the newest composed frame, its content is unknown from now on.
    pub fn written(&mut self, id: usize) {
        let newest = self.composed;
        if let Some(slot) = self.slot(id) {
            slot.content = slot.content.filter(|&content| content == newest);
        }
    }

    /// Takes a buffer back from the display; it still holds the frame composed into it.
    pub fn retire(&mut self, buffer: Buffer) {
        self.put_back(buffer, true);
    }

    /// Takes a buffer back from the panel.
    pub fn retire_scanned(&mut self, PanelBuffer { slot, pixels }: PanelBuffer) {
        let own = match pixels {
            SharedPixels::Own(own) => Ok(own),
            SharedPixels::Shared(shared) => Arc::try_unwrap(shared).map_err(PoolSlotState::Read),
            SharedPixels::Kept(kept) if kept.picture.is_shared() => Err(PoolSlotState::ReadKept(kept)),
            SharedPixels::Kept(kept) => Ok(kept.memory),
        };
        match own {
            Ok(own) => self.retire(Buffer { storage: BufferStorage::Memory(own), age: 0, slot }),
            Err(read) => {
                if let Some(slot) = self.slot(slot) {
                    slot.place = read;
                }
            }
        }
    }

    /// Frees the buffers whose snapshots are gone. If then no buffer is free, and a snapshot still holds one, an extra
    /// buffer is added: if the held buffer got new memory instead, each frame would have to be repainted wholly. At
    /// the limit of extra buffers a held buffer gets new memory all the same.
    fn reclaim_read_buffers(&mut self) {
        if self.slots.iter().any(PoolSlot::is_read) {
            self.last_read = self.composed;
        }
        for slot in &mut self.slots {
            slot.place = match std::mem::replace(&mut slot.place, PoolSlotState::Lent) {
                PoolSlotState::Read(read) => {
                    Arc::try_unwrap(read).map_or_else(PoolSlotState::Read, |own| PoolSlotState::Free(Some(own)))
                }
                PoolSlotState::ReadKept(kept) if !kept.picture.is_shared() => PoolSlotState::Free(Some(kept.memory)),
                place => place,
            };
        }
        if self.slots.iter().any(|slot| matches!(slot.place, PoolSlotState::Free(_))) {
            return;
        }
        let Some(read) = self.slots.iter().position(PoolSlot::is_read) else { return };
        if self.slots.len() < self.count + MOST_READ {
            self.slots.push(PoolSlot { id: self.next_id, content: None, place: PoolSlotState::Free(None) });
            self.next_id += 1;
        } else if let Some(slot) = self.slots.get_mut(read) {
            (slot.place, slot.content) = (PoolSlotState::Free(None), None);
        }
    }

    /// Takes an unused buffer back from the compositor; its content is unknown.
    pub fn release(&mut self, buffer: Buffer) {
        self.put_back(buffer, false);
    }

    fn put_back(&mut self, buffer: Buffer, content_known: bool) {
        let (BufferStorage::Memory(pixels) | BufferStorage::Kept(KeptPixels { memory: pixels, .. })) = buffer.storage
        else {
            return;
        };
        let fits = (pixels.width, pixels.height) == (self.width, self.height);
        if let Some(slot) = self.slot(buffer.slot).filter(|slot| !matches!(slot.place, PoolSlotState::Free(_))) {
            slot.place = PoolSlotState::Free(fits.then_some(pixels));
            if !(content_known && fits) {
                slot.content = None;
            }
        }
    }

    fn slot(&mut self, id: usize) -> Option<&mut PoolSlot> {
        self.slots.iter_mut().find(|slot| slot.id == id)
    }
}

#[cfg(test)]
mod tests {
    use std::collections::VecDeque;

    use super::*;

    /// Composes and shows frames, with a snapshot of each that is kept for `read_for` further frames. Returns how
    /// many frames had to be repainted wholly.
    fn compose(pool: &mut BufferPool, frames: usize, read_for: usize) -> usize {
        let (mut reads, mut screen) = (VecDeque::new(), None);
        let mut whole = 0;
        for _ in 0..frames {
            let Buffer { storage: BufferStorage::Memory(pixels), age, slot } = pool.acquire().expect("a buffer") else {
                panic!("memory")
            };
            whole += usize::from(age == 0);
            pool.composed(slot);
            let pixels = Arc::new(pixels);
            reads.push_back(pixels.clone());
            while reads.len() > read_for {
                reads.pop_front();
            }
            if let Some((slot, pixels)) = screen.replace((slot, pixels)) {
                pool.retire_scanned(PanelBuffer { slot, pixels: SharedPixels::Shared(pixels) });
            }
        }
        drop(reads);
        if let Some((slot, pixels)) = screen {
            pool.retire_scanned(PanelBuffer { slot, pixels: SharedPixels::Shared(pixels) });
        }
        whole
    }

    #[test]
    fn pictures_that_are_read_for_long_take_buffers_and_no_contents() {
        for read_for in 0..=3 {
            let mut pool = BufferPool::new(3, 4, 2);
            let whole = compose(&mut pool, 100, read_for);
            assert!(whole <= 3 + MOST_READ, "{whole} of 100 frames, each read for {read_for}");
            assert!(pool.slots.len() <= 3 + MOST_READ);
        }
    }

    #[test]
    fn endless_snapshots_never_block_and_extra_buffers_are_freed_afterwards() {
        let mut pool = BufferPool::new(3, 4, 2);
        compose(&mut pool, 100, 50);
        assert_eq!(pool.slots.len(), 3 + MOST_READ);
        compose(&mut pool, KEPT as usize + 3, 0);
        assert_eq!(pool.slots.len(), 3);
        assert_eq!(compose(&mut pool, 100, 0), 0);
    }
}

//! The pool of device buffers that are drawn into in place: the free buffers, their ages, and their damage.
//!
//! ```text
//!   acquire ─► the newest free buffer ─► (drawn into) ─► fill ─► plane
//!                  ▲                                                │
//!                  └──────── not on screen, nor in flight, nor waiting
//! ```

use super::memory::{LendsStorage, ScanoutPicture};
use super::stale_region::{add, whole};
use crate::backend::{Buffer, PixelRect};

/// How many frames may wait behind the frame in flight: enough to hide one render of ours that takes three refreshes.
pub(super) const MOST_WAITING: usize = 3;

/// One buffer each: on screen, in flight, drawn into.
pub(super) const FEWEST: usize = 3;

struct DeviceBufferSlot<M> {
    picture: ScanoutPicture,
    memory: M,
    /// The region in which its content is older than the newest frame.
    stale: Vec<PixelRect>,
    /// The number of the frame that it holds; `None` if its content is unknown.
    content: Option<u64>,
    lent: bool,
}

/// The buffers of one pipe in one mode.
pub(super) struct DeviceBufferPool<M> {
    slots: Vec<DeviceBufferSlot<M>>,
    size: (i32, i32),
    /// The number of submitted frames.
    frames: u64,
}

impl<M: LendsStorage> DeviceBufferPool<M> {
    /// A pool of buffers of `size` pixels; it needs at least one.
    pub fn new(buffers: impl IntoIterator<Item = (ScanoutPicture, M)>, size: (i32, i32)) -> Self {
        let mut frames = DeviceBufferPool { slots: Vec::new(), size, frames: 0 };
        buffers.into_iter().for_each(|(picture, memory)| frames.add(picture, memory));
        frames
    }

    /// How many frames may wait behind the frame in flight.
    pub fn most_waiting(&self) -> usize {
        self.slots.len().saturating_sub(FEWEST)
    }

    /// Whether all buffers are in use and another may be allocated.
    pub fn wants_more(&self) -> bool {
        self.slots.len() < FEWEST + MOST_WAITING && !self.slots.iter().any(DeviceBufferSlot::is_free)
    }

    pub fn add(&mut self, picture: ScanoutPicture, memory: M) {
        self.slots.push(DeviceBufferSlot {
            picture,
            memory,
            stale: vec![whole(self.size)],
            content: None,
            lent: false,
        });
    }

    /// Any picture of the pool.
    pub fn first(&self) -> Option<ScanoutPicture> {
        self.slots.first().map(|slot| slot.picture.clone())
    }

    /// The free buffer with the newest content. Buffers in the same memory as the newest frame are preferred: a
    /// driver that maps memory while it is shown has mapped that memory already.
    pub fn acquire(&mut self) -> Option<Buffer> {
        let newest = self.slots.iter().max_by_key(|slot| slot.content).map(|slot| &slot.picture);
        let is_mapped =
            |slot: &DeviceBufferSlot<M>| newest.is_some_and(|newest| slot.picture.shares_memory_with(newest));
        let free = self.slots.iter().enumerate().filter(|(_, slot)| slot.is_free());
        let (index, _) = free.max_by_key(|(_, slot)| (is_mapped(slot), slot.content))?;
        let slot = &mut self.slots[index];
        slot.lent = true;
        let age = slot.content.map_or(0, |content| u32::try_from(self.frames - content + 1).unwrap_or(0));
        Some(Buffer { storage: slot.memory.lend(&slot.picture), age, slot: index })
    }

    /// Takes a buffer back; its content counts as unknown.
    pub fn release(&mut self, buffer: &Buffer) {
        let all = whole(self.size);
        if let Some(slot) = self.lent(buffer) {
            (slot.lent, slot.content) = (false, None);
            slot.stale = vec![all];
        }
    }

    /// Takes back a buffer with a composed frame. Returns its picture and the damage relative to the buffer's
    /// previous content, or the buffer itself if it belongs to another mode.
    pub fn fill(&mut self, buffer: Buffer, damage: &[PixelRect]) -> Result<(ScanoutPicture, Vec<PixelRect>), Buffer> {
        if self.lent(&buffer).is_none() {
            return Err(buffer);
        }
        self.frames += 1;
        self.slots.iter_mut().for_each(|slot| add(&mut slot.stale, damage));
        let slot = &mut self.slots[buffer.slot];
        (slot.lent, slot.content) = (false, Some(self.frames));
        let changed = std::mem::take(&mut slot.stale);
        Ok((slot.picture.clone(), changed))
    }

    /// The slot that was lent as `buffer`; `None` if the buffer belongs to another mode.
    fn lent(&mut self, buffer: &Buffer) -> Option<&mut DeviceBufferSlot<M>> {
        let slot = self.slots.get_mut(buffer.slot)?;
        (slot.lent && slot.memory.is(&slot.picture, &buffer.storage)).then_some(slot)
    }
}

impl<M> DeviceBufferSlot<M> {
    fn is_free(&self) -> bool {
        !self.lent && self.picture.is_free()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::backend::drm::memory::CpuDrawnStorage;
    use crate::backend::drm::worker::WorkerHandle;

    const SIZE: (i32, i32) = (64, 48);
    const LEFT: PixelRect = PixelRect { x: 0, y: 0, width: 8, height: 8 };
    const RIGHT: PixelRect = PixelRect { x: 32, y: 0, width: 8, height: 8 };

    fn picture(number: u32, jobs: &WorkerHandle) -> ScanoutPicture {
        ScanoutPicture::empty(smithay::reexports::drm::control::from_u32(number).unwrap(), SIZE, jobs)
    }

    fn frames(count: u32) -> DeviceBufferPool<CpuDrawnStorage> {
        let jobs = WorkerHandle::start().unwrap();
        DeviceBufferPool::new((1..=count).map(|number| (picture(number, &jobs), CpuDrawnStorage)), SIZE)
    }

    #[test]
    fn shown_or_lent_buffers_are_not_acquired() {
        let mut frames = frames(3);
        let (first, _) = frames.acquire().map(|buffer| frames.fill(buffer, &[whole(SIZE)]).unwrap()).unwrap();
        let lent = [frames.acquire().unwrap(), frames.acquire().unwrap()];
        assert!(frames.acquire().is_none() && frames.wants_more());
        assert!(lent.iter().all(|buffer| !CpuDrawnStorage.is(&first, &buffer.storage)), "the first one is on screen");
        let [second, _] = lent;
        frames.release(&second);
        assert!(frames.acquire().is_none(), "the released buffer still exists");
        drop(second);
        assert!(frames.acquire().is_some_and(|buffer| buffer.age == 0), "its content is unknown");
    }

    #[test]
    fn age_and_damage_cover_the_frames_since_the_buffer_was_drawn() {
        let mut frames = frames(2);
        let mut draw = |damage, shown: &mut Option<ScanoutPicture>| {
            let buffer = frames.acquire().unwrap();
            let age = buffer.age;
            let (picture, changed) = frames.fill(buffer, &[damage]).unwrap();
            *shown = Some(picture);
            (age, changed)
        };
        let mut shown = None;
        assert_eq!(draw(LEFT, &mut shown), (0, vec![whole(SIZE)]));
        assert_eq!(draw(LEFT, &mut shown), (0, vec![whole(SIZE)]));
        assert_eq!(draw(RIGHT, &mut shown), (2, vec![LEFT, RIGHT]));
        assert_eq!(draw(LEFT, &mut shown), (2, vec![RIGHT, LEFT]));
    }

    #[test]
    fn separate_memory_is_used_only_if_the_shared_memory_is_full() {
        let jobs = WorkerHandle::start().unwrap();
        let mut frames =
            DeviceBufferPool::new([2, 1, 1, 1].map(|memory| (picture(memory, &jobs), CpuDrawnStorage)), SIZE);
        let mut draw = || {
            let buffer = frames.acquire().unwrap();
            frames.fill(buffer, &[LEFT]).unwrap().0
        };
        let mut shown: Vec<_> = std::iter::repeat_with(&mut draw).take(4).collect();
        let shared = picture(1, &jobs);
        let has_own = |picture: &ScanoutPicture| !picture.shares_memory_with(&shared);
        assert_eq!(shown.iter().map(has_own).collect::<Vec<_>>(), [false, false, false, true]);
        for _ in 0..6 {
            // One frame stays on screen, and one is in flight.
            shown.drain(..shown.len() - 2);
            shown.push(draw());
            assert!(!shown.last().is_some_and(has_own));
        }
    }

    #[test]
    fn buffer_of_an_earlier_mode_is_refused() {
        let (mut before, mut now) = (frames(1), frames(1));
        let (stray, lent) = (before.acquire().unwrap(), now.acquire().unwrap());
        let stray = now.fill(stray, &[]).unwrap_err();
        now.release(&stray);
        assert!(now.acquire().is_none(), "its own is still lent");
        assert!(now.fill(lent, &[]).is_ok());
    }
}

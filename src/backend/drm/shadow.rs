//! The shadow buffer and its dumb buffers: for the CPU, and for a GPU whose memory the display cannot read.
//!
//! Dumb buffers are slow to read on most hardware, and blending reads. So frames are composed into one picture in
//! ordinary memory, which always holds the newest frame (age 1). The changes are then copied into a free dumb buffer:
//!
//! ```text
//!                                                       ┌──► dumb A (on screen)
//!   compose ──► shadow ──the stale region of that buffer┼──► dumb B (in flight)
//!                                                       └──► dumb C, D, … (wait for their refreshes)
//! ```
//!
//! There are two dumb buffers until frames are finished ahead of their refreshes; the worker then allocates more.

use super::device_buffer_pool::MOST_WAITING;
use super::memory::ScanoutPicture;
use super::stale_region::{add, whole};
use crate::backend::{Buffer, BufferStorage, PixelBuffer, PixelRect};

/// One buffer is on screen and one is written: a flip is done before the next frame is copied.
pub(super) const FEWEST: usize = 2;

/// The slot of every lent buffer, since there is one shadow.
const SHADOW: usize = 0;

struct ShadowSlot {
    picture: ScanoutPicture,
    /// The region in which it differs from the shadow.
    stale: Vec<PixelRect>,
}

/// The buffers of one pipe in one mode.
pub(super) struct ShadowBuffers {
    slots: Vec<ShadowSlot>,
    size: (i32, i32),
    shadow: Option<PixelBuffer>,
    /// Whether the shadow holds the newest frame.
    known: bool,
}

impl ShadowBuffers {
    /// A shadow for these pictures of `size` pixels: at least [`FEWEST`], all black.
    pub fn new(pictures: Vec<ScanoutPicture>, size: (i32, i32)) -> Self {
        let slots = pictures.into_iter().map(|picture| slot(picture, size)).collect();
        ShadowBuffers { slots, size, shadow: Some(PixelBuffer::new(size.0, size.1)), known: false }
    }

    /// How many frames may wait behind the frame in flight.
    pub fn most_waiting(&self) -> usize {
        self.slots.len() - FEWEST
    }

    /// Whether all pictures are in use and another may be allocated.
    pub fn wants_more(&self) -> bool {
        self.slots.len() < FEWEST + MOST_WAITING && !self.slots.iter().any(|slot| slot.picture.is_free())
    }

    pub fn add(&mut self, picture: ScanoutPicture) {
        self.slots.push(slot(picture, self.size));
    }

    /// Any picture of the pool.
    pub fn first(&self) -> Option<ScanoutPicture> {
        self.slots.first().map(|slot| slot.picture.clone())
    }

    /// The shadow to compose into; `None` while it is lent.
    pub fn acquire(&mut self) -> Option<Buffer> {
        let pixels = self.shadow.take()?;
        Some(Buffer { storage: BufferStorage::Memory(pixels), age: u32::from(self.known), slot: SHADOW })
    }

    /// Takes the shadow back; its content counts as unknown.
    pub fn release(&mut self, buffer: Buffer) {
        self.known &= !self.is_ours(&buffer);
        self.put_back(buffer);
    }

    /// Takes the shadow back with a composed frame, and copies the changes into a free picture. Returns the picture
    /// and the copied rectangles. Gives the shadow back if no picture is free.
    pub fn fill(&mut self, buffer: Buffer, damage: &[PixelRect]) -> Result<(ScanoutPicture, Vec<PixelRect>), Buffer> {
        // A shadow of another mode is given back, too: its frame does not fit this mode.
        let free = self.slots.iter().position(|slot| slot.picture.is_free());
        let Some(free) = free.filter(|_| self.is_ours(&buffer)) else { return Err(buffer) };
        if !self.known {
            self.slots.iter_mut().for_each(|slot| slot.stale = vec![whole(self.size)]);
        }
        self.slots.iter_mut().for_each(|slot| add(&mut slot.stale, damage));
        self.put_back(buffer);
        self.known = true;
        let slot = &mut self.slots[free];
        let copied = std::mem::take(&mut slot.stale);
        if let Some(shadow) = &self.shadow {
            slot.picture.copy(&shadow.pixels, shadow.width, &copied);
        }
        Ok((slot.picture.clone(), copied))
    }

    fn put_back(&mut self, buffer: Buffer) {
        if self.is_ours(&buffer)
            && let BufferStorage::Memory(pixels) = buffer.storage
        {
            self.shadow = Some(pixels);
        }
    }

    /// Whether `buffer` is the lent shadow, and not that of an earlier mode.
    fn is_ours(&self, buffer: &Buffer) -> bool {
        let BufferStorage::Memory(pixels) = &buffer.storage else { return false };
        self.shadow.is_none() && (pixels.width, pixels.height) == self.size
    }
}

fn slot(picture: ScanoutPicture, size: (i32, i32)) -> ShadowSlot {
    ShadowSlot { picture, stale: vec![whole(size)] }
}

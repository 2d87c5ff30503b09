//! Dumb buffers, and the shadow that is drawn into: for the CPU, and for a GPU whose memory the display cannot read.
//!
//! Dumb buffers are slow to read on most hardware, and blending reads. So frames are composed into one picture in
//! ordinary memory, whose content is always the newest frame (age 1), and what changed is copied into a buffer that
//! nobody needs:
//!
//! ```text
//!                                                       ┌──► dumb A (on screen)
//!   compose ──► shadow ──what that buffer lacks of it───┼──► dumb B (on its way)
//!                                                       └──► dumb C, D, … (wait for their refreshes)
//! ```
//!
//! There are two of them until frames are finished ahead of their refreshes.

use smithay::backend::drm::DrmDeviceFd;

use super::DrmError;
use super::dumb::{DumbFrame, Format};
use super::framebuffer::{MOST_WAITING, Picture};
use super::stale::{add, whole};
use crate::backend::{Buffer, BufferStorage, PixelBuffer, PixelRect};

/// One is on screen, one is written; a flip is over before the next frame is copied.
const FEWEST: usize = 2;

/// The number that every lent buffer has: there is one shadow.
const SHADOW: usize = 0;

struct Slot {
    frame: DumbFrame,
    /// Where it differs from the shadow.
    stale: Vec<PixelRect>,
}

/// The buffers of one pipe in one mode.
pub(super) struct Shadow {
    device: DrmDeviceFd,
    slots: Vec<Slot>,
    /// How many there may be: as far as there is memory.
    most: usize,
    size: (i32, i32),
    shadow: Option<PixelBuffer>,
    /// Whether the shadow holds the newest frame.
    known: bool,
}

impl Shadow {
    /// Buffers of `size` pixels, black.
    pub fn new(device: &DrmDeviceFd, size: (i32, i32)) -> Result<Self, DrmError> {
        let slots = (0..FEWEST).map(|_| slot(device, size)).collect::<Result<Vec<_>, _>>()?;
        let shadow = Some(PixelBuffer::new(size.0, size.1));
        Ok(Shadow { device: device.clone(), slots, most: FEWEST + MOST_WAITING, size, shadow, known: false })
    }

    /// How many frames may wait behind the one on its way to the screen.
    pub fn most_waiting(&self) -> usize {
        self.most - FEWEST
    }

    /// Any of the pictures.
    pub fn first(&mut self) -> Picture {
        Picture { slot: 0, framebuffer: self.slots[0].frame.framebuffer() }
    }

    /// The shadow to compose into; `None` while it is lent.
    pub fn acquire(&mut self) -> Option<Buffer> {
        let pixels = self.shadow.take()?;
        Some(Buffer { storage: BufferStorage::Memory(pixels), age: u32::from(self.known), slot: SHADOW })
    }

    /// Takes the shadow back; nobody knows what is in it.
    pub fn release(&mut self, buffer: Buffer) {
        self.known &= !self.is_ours(&buffer);
        self.put_back(buffer);
    }

    /// A frame was composed: copies what one of the buffers lacks that are not in `used`, and says what that was. Gives
    /// the shadow back if there is no such buffer.
    pub fn fill(
        &mut self,
        buffer: Buffer,
        damage: &[PixelRect],
        used: &[usize],
    ) -> Result<(Picture, Vec<PixelRect>), Buffer> {
        // One that was composed for another mode shows nothing that this one could.
        let Some(free) = self.free(used).filter(|_| self.is_ours(&buffer)) else { return Err(buffer) };
        if !self.known {
            self.slots.iter_mut().for_each(|slot| slot.stale = vec![whole(self.size)]);
        }
        self.slots.iter_mut().for_each(|slot| add(&mut slot.stale, damage));
        self.put_back(buffer);
        self.known = true;
        let slot = &mut self.slots[free];
        let copied = std::mem::take(&mut slot.stale);
        if let Some(shadow) = &self.shadow {
            copied.iter().for_each(|rect| slot.frame.copy(&shadow.pixels, shadow.width, *rect));
        }
        Ok((Picture { slot: free, framebuffer: slot.frame.framebuffer() }, copied))
    }

    /// A buffer that is not in `used`; a new one if need be.
    fn free(&mut self, used: &[usize]) -> Option<usize> {
        let free = (0..self.slots.len()).find(|slot| !used.contains(slot));
        if free.is_some() || self.slots.len() == self.most {
            return free;
        }
        match slot(&self.device, self.size) {
            Ok(slot) => self.slots.push(slot),
            Err(error) => {
                tracing::warn!(%error, "fewer frames are finished ahead");
                self.most = self.slots.len();
                return None;
            }
        }
        Some(self.slots.len() - 1)
    }

    /// A copy of a picture.
    pub fn read(&self, picture: Picture) -> PixelBuffer {
        let mut copy = PixelBuffer { width: self.size.0, height: self.size.1, pixels: Vec::new() };
        if let Some(slot) = self.slots.get(picture.slot) {
            slot.frame.read(&mut copy.pixels);
        }
        copy.pixels.resize(self.size.0 as usize * self.size.1 as usize, 0);
        copy
    }

    fn put_back(&mut self, buffer: Buffer) {
        if self.is_ours(&buffer)
            && let BufferStorage::Memory(pixels) = buffer.storage
        {
            self.shadow = Some(pixels);
        }
    }

    /// Whether it is the shadow that was lent, not that of a mode before.
    fn is_ours(&self, buffer: &Buffer) -> bool {
        let BufferStorage::Memory(pixels) = &buffer.storage else { return false };
        self.shadow.is_none() && (pixels.width, pixels.height) == self.size
    }
}

fn slot(device: &DrmDeviceFd, size: (i32, i32)) -> Result<Slot, DrmError> {
    DumbFrame::new(device, size, Format::Opaque).map(|frame| Slot { frame, stale: vec![whole(size)] })
}

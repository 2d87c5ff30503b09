//! The memory that a CRTC reads when the CPU draws: two dumb buffers, and the shadow that is drawn into.
//!
//! Dumb buffers are slow to read on most hardware, and blending reads. So frames are composed into one picture in
//! ordinary memory, whose content is always the newest frame (age 1), and what changed is copied into the buffer that
//! is not on screen:
//!
//! ```text
//!   compose ──► shadow ──damage of this frame and of the one before──► dumb A ──flip──► CRTC
//!                                                                      dumb B (on screen)
//! ```

use smithay::backend::drm::DrmDeviceFd;
use smithay::reexports::drm::control::framebuffer;

use super::DrmError;
use super::dumb::{DumbFrame, Format};
use crate::backend::{Buffer, BufferStorage, PixelBuffer, PixelRect};

/// One is on screen, one is written; a flip is over before the next frame is copied.
const BUFFERS: usize = 2;

/// More rectangles than this are copied as the one around them all.
const MOST_RECTANGLES: usize = 16;

/// The number that every lent buffer has: there is one shadow.
const SHADOW: usize = 0;

struct Slot {
    frame: DumbFrame,
    /// Where it differs from the shadow.
    stale: Vec<PixelRect>,
}

/// The buffers of one pipe in one mode.
pub(super) struct Scanout {
    slots: Vec<Slot>,
    /// Which one the CRTC reads, or will after the flip that is under way.
    front: usize,
    size: (i32, i32),
    shadow: Option<PixelBuffer>,
    /// Whether the shadow holds the newest frame.
    known: bool,
}

impl Scanout {
    /// Buffers of `size` pixels, black.
    pub fn new(device: &DrmDeviceFd, size: (i32, i32)) -> Result<Self, DrmError> {
        let slot =
            || DumbFrame::new(device, size, Format::Opaque).map(|frame| Slot { frame, stale: vec![whole(size)] });
        let slots = (0..BUFFERS).map(|_| slot()).collect::<Result<Vec<_>, _>>()?;
        Ok(Scanout { slots, front: 0, size, shadow: Some(PixelBuffer::new(size.0, size.1)), known: false })
    }

    /// The shadow to compose into; `None` while it is lent.
    pub fn acquire(&mut self) -> Option<Buffer> {
        let pixels = self.shadow.take()?;
        Some(Buffer { storage: BufferStorage::Memory(pixels), age: u32::from(self.known), slot: SHADOW })
    }

    /// Takes the shadow back; nobody knows what is in it.
    pub fn release(&mut self, buffer: Buffer) {
        self.put_back(buffer);
        self.known = false;
    }

    /// A frame was composed: copies what the back buffer lacks and returns that buffer's framebuffer. It becomes the
    /// front with [`flipped`](Self::flipped).
    pub fn fill_back(&mut self, buffer: Buffer, damage: &[PixelRect]) -> framebuffer::Handle {
        if !self.known {
            self.slots.iter_mut().for_each(|slot| slot.stale = vec![whole(self.size)]);
        }
        self.slots.iter_mut().for_each(|slot| add(&mut slot.stale, damage));
        self.put_back(buffer);
        self.known = true;
        let back = (self.front + 1) % self.slots.len();
        let slot = &mut self.slots[back];
        if let Some(shadow) = &self.shadow {
            slot.stale.drain(..).for_each(|rect| slot.frame.copy(&shadow.pixels, shadow.width, rect));
        }
        slot.frame.framebuffer()
    }

    /// The display took the back buffer.
    pub fn flipped(&mut self) {
        self.front = (self.front + 1) % self.slots.len();
    }

    /// What the CRTC reads.
    pub fn front(&self) -> framebuffer::Handle {
        self.slots[self.front].frame.framebuffer()
    }

    /// A copy of what the CRTC reads.
    pub fn screenshot(&self) -> PixelBuffer {
        let mut picture = PixelBuffer { width: self.size.0, height: self.size.1, pixels: Vec::new() };
        self.slots[self.front].frame.read(&mut picture.pixels);
        picture
    }

    fn put_back(&mut self, buffer: Buffer) {
        let BufferStorage::Memory(pixels) = buffer.storage;
        if (pixels.width, pixels.height) == self.size {
            self.shadow = Some(pixels);
        }
    }
}

fn whole((width, height): (i32, i32)) -> PixelRect {
    PixelRect { x: 0, y: 0, width, height }
}

fn add(stale: &mut Vec<PixelRect>, damage: &[PixelRect]) {
    stale.extend_from_slice(damage);
    if stale.len() > MOST_RECTANGLES
        && let Some(all) = stale.drain(..).reduce(around)
    {
        stale.push(all);
    }
}

fn around(a: PixelRect, b: PixelRect) -> PixelRect {
    let (x, y) = (a.x.min(b.x), a.y.min(b.y));
    let right = (a.x + a.width).max(b.x + b.width);
    let bottom = (a.y + a.height).max(b.y + b.height);
    PixelRect { x, y, width: right - x, height: bottom - y }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn many_small_damages_become_one_that_covers_them() {
        let mut stale = Vec::new();
        let damage: Vec<_> = (0..40).map(|step| PixelRect { x: step * 3, y: 5, width: 2, height: 2 }).collect();
        damage.iter().for_each(|rect| add(&mut stale, &[*rect]));
        assert!(stale.len() <= MOST_RECTANGLES, "{stale:?}");
        let all = stale.into_iter().reduce(around).unwrap();
        assert_eq!(all, PixelRect { x: 0, y: 5, width: 39 * 3 + 2, height: 2 });
    }
}

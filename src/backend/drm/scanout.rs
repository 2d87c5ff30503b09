//! The memory that a CRTC reads: buffers of the device that a GPU draws into, or dumb buffers that are copied into.

use std::sync::Arc;

use drm_fourcc::DrmFormat;
use smithay::backend::drm::{DrmDeviceFd, DrmSurface};
use smithay::reexports::drm::control::framebuffer;

use super::DrmError;
use super::gbm::DeviceFrames;
use super::mode::mode_of;
use super::shadow::Shadow;
use crate::backend::plane::DeviceMemory;
use crate::backend::{Buffer, PixelBuffer, PixelRect};

/// So many frames may wait behind the one on its way to the screen: they hide a frame of ours that takes three refreshes.
pub(super) const MOST_WAITING: usize = 3;

/// More rectangles than this are copied as the one around them all.
const MOST_RECTANGLES: usize = 16;

/// Whoever composes, as a display device sees it.
pub trait Drawer {
    /// The formats, with their layouts, that it can draw into if they lie in the memory of the device with this number
    /// (`st_rdev`). None: it draws into ordinary memory.
    fn formats(&self, device: u64) -> Vec<DrmFormat>;

    /// Makes sure that it can draw into this; an error says why not.
    fn try_draw(&mut self, memory: &Arc<DeviceMemory>) -> Result<(), String>;
}

/// A composed picture that the CRTC can read.
#[derive(Clone, Copy, Debug)]
pub(super) struct Picture {
    /// Which of the buffers.
    pub slot: usize,
    pub framebuffer: framebuffer::Handle,
}

/// The buffers of one pipe in one mode.
pub(super) enum Scanout {
    /// Drawn into by a GPU.
    Device(DeviceFrames),
    /// Copied into by the CPU.
    Shadow(Shadow),
}

impl Scanout {
    /// Buffers for the mode of `surface`: of the device if `drawer` can draw into those that its primary plane can show.
    pub fn new(surface: &DrmSurface, name: &str, drawer: &mut dyn Drawer) -> Result<Self, DrmError> {
        let mode = mode_of(surface.pending_mode());
        let size = (mode.width, mode.height);
        match DeviceFrames::new(surface, size, drawer) {
            Ok(Some(frames)) => {
                tracing::info!(output = name, buffers = %frames.layout(), "composed in the display's own buffers");
                return Ok(Scanout::Device(frames));
            }
            Ok(None) => {}
            Err(reason) => {
                tracing::warn!(output = name, %reason, "what OpenGL ES draws is read back and copied to the display");
            }
        }
        Shadow::new(surface.device_fd(), size).map(Scanout::Shadow)
    }

    /// The same kind of buffers in another size.
    pub fn resized(&self, device: &DrmDeviceFd, size: (i32, i32)) -> Result<Self, DrmError> {
        if let Scanout::Device(frames) = self {
            match frames.resized(size) {
                Ok(frames) => return Ok(Scanout::Device(frames)),
                Err(reason) => {
                    tracing::warn!(%reason, "what OpenGL ES draws is read back and copied to the display from now on");
                }
            }
        }
        Shadow::new(device, size).map(Scanout::Shadow)
    }

    /// How many frames may wait behind the one on its way to the screen.
    pub fn most_waiting(&self) -> usize {
        match self {
            Scanout::Device(frames) => frames.most_waiting(),
            Scanout::Shadow(shadow) => shadow.most_waiting(),
        }
    }

    /// Any of the pictures.
    pub fn first(&mut self) -> Picture {
        match self {
            Scanout::Device(frames) => frames.first(),
            Scanout::Shadow(shadow) => shadow.first(),
        }
    }

    /// What to compose into, none of `used`; `None` while there is nothing.
    pub fn acquire(&mut self, used: &[usize]) -> Option<Buffer> {
        match self {
            Scanout::Device(frames) => frames.acquire(used),
            Scanout::Shadow(shadow) => shadow.acquire(),
        }
    }

    /// Takes a buffer back; nobody knows what is in it.
    pub fn release(&mut self, buffer: Buffer) {
        match self {
            Scanout::Device(frames) => frames.release(&buffer),
            Scanout::Shadow(shadow) => shadow.release(buffer),
        }
    }

    /// A frame was composed: the picture that shows it, none of `used`, and what is new in the memory that the display
    /// reads. Gives the buffer back if there is no such picture.
    pub fn fill(
        &mut self,
        buffer: Buffer,
        damage: &[PixelRect],
        used: &[usize],
    ) -> Result<(Picture, Vec<PixelRect>), Buffer> {
        match self {
            Scanout::Device(frames) => frames.fill(buffer, damage),
            Scanout::Shadow(shadow) => shadow.fill(buffer, damage, used),
        }
    }

    /// The display refused `picture`: what to give back in its place.
    pub fn refused(&mut self, picture: Picture) -> Option<Buffer> {
        match self {
            Scanout::Device(frames) => frames.refused(picture),
            // The picture is in the shadow: the next frame brings it along.
            Scanout::Shadow(shadow) => shadow.acquire(),
        }
    }

    /// A copy of a picture that is on screen; `None` where it cannot be read.
    pub fn read(&self, picture: Picture) -> Option<PixelBuffer> {
        match self {
            Scanout::Device(frames) => frames.read(picture),
            Scanout::Shadow(shadow) => Some(shadow.read(picture)),
        }
    }
}

/// All of a picture.
pub(super) fn whole((width, height): (i32, i32)) -> PixelRect {
    PixelRect { x: 0, y: 0, width, height }
}

/// Adds damage. What lies within another rectangle is left out: most frames change what the one before changed, and it
/// would be copied twice. Many rectangles become one.
pub(super) fn add(stale: &mut Vec<PixelRect>, damage: &[PixelRect]) {
    for rect in damage {
        if !stale.iter().any(|known| contains(known, rect)) {
            stale.retain(|known| !contains(rect, known));
            stale.push(*rect);
        }
    }
    if stale.len() > MOST_RECTANGLES
        && let Some(all) = stale.drain(..).reduce(around)
    {
        stale.push(all);
    }
}

const fn contains(outer: &PixelRect, inner: &PixelRect) -> bool {
    let right = inner.x + inner.width <= outer.x + outer.width;
    let bottom = inner.y + inner.height <= outer.y + outer.height;
    outer.x <= inner.x && outer.y <= inner.y && right && bottom
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
    fn what_changed_in_two_frames_is_copied_once() {
        let window = PixelRect { x: 10, y: 10, width: 320, height: 240 };
        let within = PixelRect { x: 10, y: 100, width: 320, height: 20 };
        let beside = PixelRect { x: 300, y: 10, width: 320, height: 240 };
        let mut stale = Vec::new();
        for damage in [within, window, window, within, beside] {
            add(&mut stale, &[damage]);
        }
        assert_eq!(stale, [window, beside]);
    }

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

//! Buffers of the cursor plane.

use std::sync::Arc;

use smithay::backend::drm::DrmDeviceFd;
use smithay::reexports::drm::control::{framebuffer, plane};

use super::DrmError;
use super::dumb::{DumbFrame, Format};
use crate::backend::{CursorPlane, PixelBuffer, PixelRect};

/// Two buffers, since one is on screen while the next image is copied into the other.
const BUFFERS: usize = 2;

/// A cursor plane and its buffers. Hardware takes images of exactly one size, so a smaller image is put in the top left
/// corner of a transparent buffer.
pub(super) struct CursorImages {
    pub plane: plane::Handle,
    pub size: (i32, i32),
    frames: Vec<DumbFrame>,
    current: usize,
    /// The image in the current buffer.
    shown: Option<Arc<PixelBuffer>>,
}

impl CursorImages {
    pub fn new(device: &DrmDeviceFd, plane: plane::Handle, size: (i32, i32)) -> Result<Self, DrmError> {
        let frame = || DumbFrame::new(device, size, Format::Translucent);
        let frames = (0..BUFFERS).map(|_| frame()).collect::<Result<Vec<_>, _>>()?;
        Ok(CursorImages { plane, size, frames, current: 0, shown: None })
    }

    /// The framebuffer with the cursor's image, which is copied only if it is new.
    pub fn framebuffer(&mut self, cursor: &CursorPlane) -> framebuffer::Handle {
        let is_shown = self.shown.as_ref().is_some_and(|shown| Arc::ptr_eq(shown, &cursor.image));
        if !is_shown {
            self.current = (self.current + 1) % self.frames.len();
            let frame = &mut self.frames[self.current];
            let image = &cursor.image;
            frame.clear();
            frame.copy(&image.pixels, image.width, PixelRect { x: 0, y: 0, width: image.width, height: image.height });
            self.shown = Some(cursor.image.clone());
        }
        self.frames[self.current].framebuffer()
    }
}

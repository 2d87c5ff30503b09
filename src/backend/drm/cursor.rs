//! The cursor plane's pictures.

use std::sync::Arc;

use smithay::backend::drm::DrmDeviceFd;
use smithay::reexports::drm::control::{framebuffer, plane};

use super::DrmError;
use super::dumb::{DumbFrame, Format};
use crate::backend::{CursorPlane, PixelBuffer, PixelRect};

/// One is on screen while the next picture is copied into the other.
const BUFFERS: usize = 2;

/// A plane for the cursor, and the memory that it shows. Hardware wants pictures of exactly one size: smaller ones
/// stand in the top left corner of a clear one.
pub(super) struct CursorImages {
    pub plane: plane::Handle,
    pub size: (i32, i32),
    frames: Vec<DumbFrame>,
    current: usize,
    /// What the current buffer holds.
    shown: Option<Arc<PixelBuffer>>,
}

impl CursorImages {
    pub fn new(device: &DrmDeviceFd, plane: plane::Handle, size: (i32, i32)) -> Result<Self, DrmError> {
        let frame = || DumbFrame::new(device, size, Format::Translucent);
        let frames = (0..BUFFERS).map(|_| frame()).collect::<Result<Vec<_>, _>>()?;
        Ok(CursorImages { plane, size, frames, current: 0, shown: None })
    }

    /// The framebuffer with the cursor's picture, copied there if it is a new one.
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

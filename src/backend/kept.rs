//! A frame whose pixels stay where they were drawn until they are read.
//!
//! ```text
//!   drawn on a GPU ─► shown by the virtual display ─► replaced            no pixel was copied
//!                         └─► snapshot ─► read on another thread          only the read part was copied
//! ```

use super::{PixelBuffer, ScreenSnapshot};

/// Pixels that the renderer keeps. It does not draw over them as long as the picture, or a copy of it, lives.
#[derive(Debug)]
pub struct KeptPixels {
    /// The buffer's own memory, which does not hold this frame.
    pub memory: PixelBuffer,
    pub picture: ScreenSnapshot,
}

impl KeptPixels {
    /// Copies the picture into the buffer's memory. Blocks until the renderer has answered. If it cannot answer, the
    /// memory keeps an earlier frame.
    pub fn fetch(mut self) -> PixelBuffer {
        let PixelBuffer { width, height, .. } = self.memory;
        let whole = super::PixelRect { x: 0, y: 0, width, height };
        let mut pixels = Vec::new();
        if self.picture.read(whole, &mut pixels) {
            self.memory.pixels = pixels;
        } else {
            tracing::warn!("the picture on screen cannot be read from the renderer");
        }
        self.memory
    }
}

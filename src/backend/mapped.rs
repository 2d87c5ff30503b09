//! Device memory that is mapped for the CPU.

use std::any::Any;

/// A mapped picture in the memory of a display device, which the CPU reads about as fast as ordinary memory.
/// `XRGB8888`, as in [`PixelBuffer`](super::PixelBuffer), but its rows may be padded.
pub trait MappedPixels: Any + Send + std::fmt::Debug {
    /// Width and height in pixels.
    fn size(&self) -> (i32, i32);

    /// Calls `draw` with all rows from the top, and the stride in pixels.
    fn draw(&mut self, draw: &mut dyn FnMut(&mut [u32], usize));
}

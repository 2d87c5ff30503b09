//! Memory of a display device as the CPU sees it.

use std::any::Any;

/// A picture in the memory of a display device that is mapped, and that the CPU reads about as fast as its own. `XRGB8888`,
/// as in [`PixelBuffer`](super::PixelBuffer), but for the padding of its rows.
pub trait MappedPixels: Any + Send + std::fmt::Debug {
    /// Width and height in pixels.
    fn size(&self) -> (i32, i32);

    /// Has `draw` draw: it gets all rows from the top, and how many pixels lie from the start of one to that of the next.
    fn draw(&mut self, draw: &mut dyn FnMut(&mut [u32], usize));
}

//! A picture in memory.

/// Pixels in memory with one owner: premultiplied `XRGB8888`, four bytes a pixel in native byte order, `stride = width
/// * 4`.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct PixelBuffer {
    /// Width in pixels, not negative.
    pub width: i32,
    /// Height in pixels, not negative.
    pub height: i32,
    /// Rows from the top, without padding.
    pub pixels: Vec<u32>,
}

impl PixelBuffer {
    /// A black buffer. Negative sizes count as zero.
    pub fn new(width: i32, height: i32) -> Self {
        let (width, height) = (width.max(0), height.max(0));
        PixelBuffer { width, height, pixels: vec![0; width as usize * height as usize] }
    }

    /// Bytes from one row to the next.
    pub const fn stride(&self) -> usize {
        self.width as usize * 4
    }
}

//! The built-in cursor, for systems without a cursor theme.

use std::sync::Arc;

use super::CursorImage;
use crate::backend::PixelBuffer;

/// `#` is the outline, `.` the inside. The hotspot is the top left pixel.
const ARROW: [&str; 17] = [
    "#           ",
    "##          ",
    "#.#         ",
    "#..#        ",
    "#...#       ",
    "#....#      ",
    "#.....#     ",
    "#......#    ",
    "#.......#   ",
    "#........#  ",
    "#.....##### ",
    "#..#..#     ",
    "#.# #..#    ",
    "##  #..#    ",
    "#    #..#   ",
    "     #..#   ",
    "      ##    ",
];
const OUTLINE: u32 = 0xff00_0000;
const INSIDE: u32 = 0xffff_ffff;

/// The arrow, each of its pixels `scale` pixels wide and high.
pub fn arrow(scale: i32) -> CursorImage {
    let scale = scale.max(1);
    let (width, height) = (ARROW[0].len() as i32 * scale, ARROW.len() as i32 * scale);
    let mut pixels = PixelBuffer::new(width, height);
    for y in 0..height {
        let row = ARROW[(y / scale) as usize].as_bytes();
        for x in 0..width {
            pixels.pixels[(y * width + x) as usize] = match row[(x / scale) as usize] {
                b'#' => OUTLINE,
                b'.' => INSIDE,
                _ => 0,
            };
        }
    }
    CursorImage { pixels: Arc::new(pixels), hotspot: (0, 0) }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_arrow_points_at_its_hotspot_at_every_scale() {
        for scale in 1..4 {
            let image = arrow(scale);
            assert_eq!(image.pixels.pixels[0], OUTLINE);
            assert_eq!(image.pixels.width, 12 * scale);
            assert_eq!(image.pixels.pixels.len(), (12 * 17 * scale * scale) as usize);
        }
    }
}

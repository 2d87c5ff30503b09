//! The marker: dot and block code beside the hand, with the frame number and its newest report.
//!
//! Marker and erased marker fit into the 200 × 200 px around the newest input that a compositor may write into the
//! buffer on screen.

use crate::block_code::{BlockCode, COLUMNS, DecodeError, PixelView, ROWS};

/// Edge of a code block in pixels.
const BLOCK: usize = 6;
/// Width and height of the code in pixels.
pub(super) const SIZE: (usize, usize) = (COLUMNS * BLOCK, ROWS * BLOCK);
/// Half of the dot's edge, in pixels.
const DOT: i64 = 3;
/// Distance from the hand down to the code, so that the code does not cover the dot.
const BELOW: i64 = 8;

const PAPER: u32 = 0xfff4_f1ea;
const INK: u32 = 0xff18_2a6b;

/// Top left corner of the code for a hand at `at`, moved so that the code lies on the sheet of `size` pixels.
pub(super) fn code_position(at: (f64, f64), size: (usize, usize)) -> (usize, usize) {
    let inside = |wanted: i64, most: usize| wanted.clamp(0, most as i64) as usize;
    let left = inside(at.0 as i64 - SIZE.0 as i64 / 2, size.0.saturating_sub(SIZE.0));
    (left, inside(at.1 as i64 + BELOW, size.1.saturating_sub(SIZE.1)))
}

/// Fills the sheet with paper.
pub(super) fn clear(pixels: &mut [u32]) {
    pixels.fill(PAPER);
}

/// Size of a picture with only the dot and the code, and the hand's pixel in it.
pub(super) const ALONE: ((usize, usize), (i32, i32)) =
    ((SIZE.0, (DOT + BELOW) as usize + SIZE.1), (SIZE.0 as i32 / 2, DOT as i32));

/// First line of dot and code for a hand at `at`, and the line after the last.
pub(super) fn painted_lines(at: (f64, f64), size: (usize, usize)) -> (i64, i64) {
    let (top, y) = (code_position(at, size).1 as i64, at.1 as i64);
    (top.min(y - DOT).max(0), (top + SIZE.1 as i64).max(y + DOT))
}

/// Painted area: left, top, right and bottom edges.
pub(super) type MarkerBounds = (i64, i64, i64, i64);

/// Draws every pixel of a frame: paper, dot and code. Returns the area of dot and code.
pub(super) fn draw(pixels: &mut [u32], size: (usize, usize), at: (f64, f64), code: BlockCode) -> MarkerBounds {
    clear(pixels);
    draw_marker(pixels, size, at, code)
}

/// Replaces a painted area by paper.
pub(super) fn erase(pixels: &mut [u32], size: (usize, usize), (left, top, right, bottom): MarkerBounds) {
    let inside = |at: i64, most: usize| at.clamp(0, most as i64) as usize;
    let (from, to) = (inside(left, size.0), inside(right, size.0));
    for row in inside(top, size.1)..inside(bottom, size.1) {
        pixels[row * size.0..][from..to].fill(PAPER);
    }
}

/// Draws dot and code on the sheet. Returns their area.
pub(super) fn draw_marker(pixels: &mut [u32], size: (usize, usize), at: (f64, f64), code: BlockCode) -> MarkerBounds {
    let (x, y) = (at.0 as i64, at.1 as i64);
    for row in (y - DOT).max(0)..(y + DOT).min(size.1 as i64) {
        let (from, to) = ((x - DOT).clamp(0, size.0 as i64), (x + DOT).clamp(0, size.0 as i64));
        pixels[row as usize * size.0..][from as usize..to as usize].fill(INK);
    }
    let (left, top) = code_position(at, size);
    code.draw_at(pixels, size.0, (left, top), BLOCK);
    let (left, top) = (left as i64, top as i64);
    let (right, bottom) = (left + SIZE.0 as i64, top + SIZE.1 as i64);
    (left.min(x - DOT), top.min(y - DOT), right.max(x + DOT), bottom.max(y + DOT))
}

/// Decodes the code whose top left corner is at exactly `place`.
pub(super) fn read_exactly(picture: &PixelView<'_>, place: (usize, usize)) -> Result<BlockCode, DecodeError> {
    if BlockCode::begins_at(picture, place) { read(picture, place) } else { Err(DecodeError::NoFinder) }
}

/// Decodes the code whose top left corner is at `place`, or up to half a block beside it.
pub(super) fn read(picture: &PixelView<'_>, place: (usize, usize)) -> Result<BlockCode, DecodeError> {
    BlockCode::read_at(picture, place, BLOCK)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_drawn_marker_reads_back_at_the_edges_and_lies_around_the_hand() {
        let size = (300, 200);
        for at in [(150.0, 90.0), (0.0, 0.0), (299.9, 199.9), (-20.0, 500.0)] {
            let mut pixels = vec![0; size.0 * size.1];
            let code = BlockCode { frame: 7, event: 41 };
            let bounds = draw(&mut pixels, size, at, code);
            let picture = PixelView { pixels: &pixels, width: size.0, stride: size.0 };
            assert_eq!(read(&picture, code_position(at, size)), Ok(code), "{at:?}");
            erase(&mut pixels, size, bounds);
            assert!(pixels.iter().all(|pixel| *pixel == PAPER), "{at:?}");
            if (0.0..300.0).contains(&at.0) {
                assert!(bounds.2 - bounds.0 <= 130 && bounds.3 - bounds.1 <= 60, "{bounds:?}");
                assert_eq!(painted_lines(at, size), (bounds.1.max(0), bounds.3));
            }
        }
    }
}

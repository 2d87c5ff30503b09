//! The block code: a frame number and an input event number, drawn so that recorded pixels can be decoded.
//!
//! A band of 20 × 5 blocks of 16 × 16 pixels, 320 × 80 in all:
//!
//! ```text
//!         0   1   2   3  …  19
//! row 0   M   G   M   G  …   G     finder: magenta #ff00ff and green #00ff00 in turn
//! row 1   f31 f30 f29 …            80 bits, most significant first, white = 1, black = 0:
//! row 2   …                          32 bits frame number
//! row 3   …                          32 bits event number
//! row 4   …            c1  c0        16 bits CRC-16/CCITT-FALSE of the eight bytes before (big-endian)
//! ```
//!
//! Only the centre of each block is sampled, so a band survives scaling of its edges, colour conversion and rounded
//! corners. A band whose CRC fails was torn, half covered, or is not a band. One torn band in 65 536 passes, as with
//! any CRC of 16 bits. The probe draws one band at the top and one at the bottom of its window. When the two bands
//! disagree, the picture was torn between them.

use upbeat_timing::time::{Instant, Span};

/// Blocks in a row.
pub const COLUMNS: usize = 20;
/// Rows of a band: one finder row and four of data.
pub const ROWS: usize = 5;
/// Edge of a block in pixels.
pub const BLOCK: usize = 16;
/// Width of a band in pixels.
pub const WIDTH: usize = COLUMNS * BLOCK;
/// Height of a band in pixels.
pub const HEIGHT: usize = ROWS * BLOCK;

const MAGENTA: u32 = 0xffff_00ff;
const GREEN: u32 = 0xff00_ff00;
const WHITE: u32 = 0xffff_ffff;
const BLACK: u32 = 0xff00_0000;
/// Data bits in a band.
const BITS: usize = COLUMNS * (ROWS - 1);

/// The unit of a time in a band: fine enough for any error, and 32 bits of it are five days.
pub const TIME_UNIT: Span = Span::from_micros(100);

/// The decoded content of a band.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct BlockCode {
    /// The frame's number, counted from one.
    pub frame: u32,
    /// The newest input event that the frame answers to; zero before the first. Some clients draw a content time here,
    /// see [`BlockCode::of_time`].
    pub event: u32,
}

/// Pixels in which a band is searched or read: XRGB (alpha is ignored), row by row.
#[derive(Clone, Copy, Debug)]
pub struct PixelView<'a> {
    /// `0xXXRRGGBB`, `stride` of them for each row.
    pub pixels: &'a [u32],
    pub width: usize,
    /// Pixels from one row's start to the next.
    pub stride: usize,
}

impl PixelView<'_> {
    fn at(&self, x: usize, y: usize) -> Option<u32> {
        if x < self.width { self.pixels.get(y * self.stride + x).copied() } else { None }
    }
}

/// Why a band could not be decoded.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum DecodeError {
    /// Part of the band lies outside the picture.
    #[error("the band does not lie inside the picture")]
    Outside,
    /// The first row is not the finder pattern.
    #[error("there is no finder row at this position")]
    NoFinder,
    /// The CRC does not fit: the band is torn, covered or damaged.
    #[error("the CRC of the band does not match its numbers")]
    Damaged,
}

impl BlockCode {
    /// The code of a frame with a content time: `represents` in [`TIME_UNIT`]s, rounded down; wraps.
    pub fn of_time(frame: u32, represents: Instant) -> BlockCode {
        BlockCode { frame, event: (represents.as_nanos() / TIME_UNIT.as_nanos() as u64) as u32 }
    }

    /// `seen` minus the frame's content time; negative if the content time is later. Rounding makes it up to one
    /// [`TIME_UNIT`] too long.
    pub fn age(&self, seen: Instant) -> Span {
        let units = seen.as_nanos() / TIME_UNIT.as_nanos() as u64;
        let rest = Span::from_nanos((seen.as_nanos() % TIME_UNIT.as_nanos() as u64) as i64);
        TIME_UNIT * i64::from((units as u32).wrapping_sub(self.event) as i32) + rest
    }

    /// Draws the band with its top left corner at row `top`, column 0 of a picture `stride` pixels wide.
    /// Rows that lie outside `pixels` are left out.
    pub fn draw(self, pixels: &mut [u32], stride: usize, top: usize) {
        self.draw_at(pixels, stride, (0, top), BLOCK);
    }

    /// Draws a band of blocks with an edge of `block` pixels at any place.
    pub fn draw_at(self, pixels: &mut [u32], stride: usize, (left, top): (usize, usize), block: usize) {
        let bits = self.bits();
        for y in 0..ROWS * block {
            let start = (top + y) * stride + left;
            let width = (COLUMNS * block).min(stride.saturating_sub(left));
            let Some(row) = pixels.get_mut(start..start + width) else { return };
            for (column, pixels) in row.chunks_mut(block).enumerate() {
                pixels.fill(colour(bits, y / block, column));
            }
        }
    }

    /// Reads the band whose top left corner is at (`left`, `top`).
    pub fn read(picture: &PixelView<'_>, left: usize, top: usize) -> Result<BlockCode, DecodeError> {
        Self::read_at(picture, (left, top), BLOCK)
    }

    /// Reads a band of blocks with an edge of `block` pixels.
    pub fn read_at(
        picture: &PixelView<'_>,
        (left, top): (usize, usize),
        block: usize,
    ) -> Result<BlockCode, DecodeError> {
        let sample = |row: usize, column: usize| {
            picture.at(left + column * block + block / 2, top + row * block + block / 2).ok_or(DecodeError::Outside)
        };
        for column in 0..COLUMNS {
            let pixel = sample(0, column)?;
            if !(if column.is_multiple_of(2) { is_magenta(pixel) } else { is_green(pixel) }) {
                return Err(DecodeError::NoFinder);
            }
        }
        let mut bits = 0u128;
        for index in 0..BITS {
            bits = bits << 1 | u128::from(is_light(sample(1 + index / COLUMNS, index % COLUMNS)?));
        }
        let code = BlockCode { frame: (bits >> 48) as u32, event: (bits >> 16) as u32 };
        if code.bits() == bits { Ok(code) } else { Err(DecodeError::Damaged) }
    }

    /// Whether the finder's first block has its top left corner at exactly this pixel. Reading alone allows a distance of
    /// nearly half a block.
    pub fn begins_at(picture: &PixelView<'_>, (left, top): (usize, usize)) -> bool {
        let is_finder =
            |x: Option<usize>, y: Option<usize>| x.zip(y).and_then(|(x, y)| picture.at(x, y)).is_some_and(is_magenta);
        is_finder(Some(left), Some(top))
            && !is_finder(left.checked_sub(1), Some(top))
            && !is_finder(Some(left), top.checked_sub(1))
    }

    /// Column, row and content of the topmost band that can be read.
    pub fn find(picture: &PixelView<'_>) -> Option<(usize, usize, BlockCode)> {
        let height = picture.pixels.len() / picture.stride.max(1);
        // The finder is a block high, so every BLOCKth row of pixels crosses it.
        for y in (BLOCK / 2..height).step_by(BLOCK) {
            for x in 0..picture.width.saturating_sub(WIDTH - 1) {
                let begins = picture.at(x, y).is_some_and(is_magenta)
                    && (x == 0 || !picture.at(x - 1, y).is_some_and(is_magenta));
                if !begins {
                    continue;
                }
                let top = (0..=y).rev().take_while(|&row| picture.at(x, row).is_some_and(is_magenta)).last();
                let found = top.and_then(|top| Some((x, top, BlockCode::read(picture, x, top).ok()?)));
                if found.is_some() {
                    return found;
                }
            }
        }
        None
    }

    fn bits(self) -> u128 {
        let numbers = u64::from(self.frame) << 32 | u64::from(self.event);
        u128::from(numbers) << 16 | u128::from(crc16(&numbers.to_be_bytes()))
    }
}

fn colour(bits: u128, row: usize, column: usize) -> u32 {
    match row {
        0 if column.is_multiple_of(2) => MAGENTA,
        0 => GREEN,
        _ if bits >> (BITS - 1 - ((row - 1) * COLUMNS + column)) & 1 == 1 => WHITE,
        _ => BLACK,
    }
}

fn channels(pixel: u32) -> [u32; 3] {
    [pixel >> 16 & 0xff, pixel >> 8 & 0xff, pixel & 0xff]
}

fn is_magenta(pixel: u32) -> bool {
    let [red, green, blue] = channels(pixel);
    red > 0xc0 && green < 0x40 && blue > 0xc0
}

fn is_green(pixel: u32) -> bool {
    let [red, green, blue] = channels(pixel);
    red < 0x40 && green > 0xc0 && blue < 0x40
}

fn is_light(pixel: u32) -> bool {
    channels(pixel).iter().sum::<u32>() > 3 * 0x80
}

/// CRC-16/CCITT-FALSE: polynomial 0x1021, initial value 0xffff, not reflected.
fn crc16(bytes: &[u8]) -> u16 {
    bytes.iter().fold(0xffff, |crc, byte| {
        (0..8).fold(crc ^ u16::from(*byte) << 8, |crc, _| if crc & 0x8000 != 0 { crc << 1 ^ 0x1021 } else { crc << 1 })
    })
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    const SCREEN: (usize, usize) = (500, 300);

    fn screen_with(code: BlockCode, left: usize, top: usize) -> Vec<u32> {
        let mut window = vec![0; WIDTH * HEIGHT];
        code.draw(&mut window, WIDTH, 0);
        let mut screen = vec![0xff20_2060; SCREEN.0 * SCREEN.1];
        for (y, row) in window.chunks(WIDTH).enumerate() {
            screen[(top + y) * SCREEN.0 + left..][..WIDTH].copy_from_slice(row);
        }
        screen
    }

    fn picture(pixels: &[u32]) -> PixelView<'_> {
        PixelView { pixels, width: SCREEN.0, stride: SCREEN.0 }
    }

    #[test]
    fn the_crc_is_ccitt_false() {
        assert_eq!(crc16(b"123456789"), 0x29b1);
    }

    proptest! {
        #[test]
        fn a_drawn_code_is_found_and_read_wherever_it_lies(
            frame: u32, event: u32, left in 0..=SCREEN.0 - WIDTH, top in 0..=SCREEN.1 - HEIGHT,
        ) {
            let code = BlockCode { frame, event };
            let screen = screen_with(code, left, top);
            prop_assert_eq!(BlockCode::find(&picture(&screen)), Some((left, top, code)));
        }

        #[test]
        fn an_error_within_sixteen_blocks_is_rejected(frame: u32, event: u32, first in 0..BITS, wrong: u16) {
            // A CRC of 16 bits detects every burst error of up to 16 bits.
            let code = BlockCode { frame, event };
            let mut screen = screen_with(code, 0, 0);
            let flipped = (0..16).map(|bit| (first + bit, wrong >> bit & 1 == 1)).filter(|(place, is)| *is && *place < BITS);
            let mut count = 0;
            for (place, _) in flipped {
                let (x, y) = (place % COLUMNS * BLOCK + BLOCK / 2, (place / COLUMNS + 1) * BLOCK + BLOCK / 2);
                screen[y * SCREEN.0 + x] ^= 0x00ff_ffff;
                count += 1;
            }
            let read = BlockCode::read(&picture(&screen), 0, 0);
            prop_assert_eq!(read, if count == 0 { Ok(code) } else { Err(DecodeError::Damaged) });
        }
    }

    #[test]
    fn a_torn_band_hardly_ever_passes_the_crc() {
        // A CRC of 16 bits lets one longer error in 65 536 pass.
        const TORN: u32 = 200_000;
        let mixed = |number: u32| number.wrapping_mul(0x9e37_79b1).rotate_left(number % 31);
        let mut taken = 0;
        for number in 0..TORN {
            let [before, after] = [2 * number, 2 * number + 1].map(mixed);
            // The complement makes the event words differ as well, and so the rows above and below the tear.
            let [above, below] = [before, after].map(|word| BlockCode { frame: word, event: !word }.bits());
            let untorn_rows = 1 + number as usize % (ROWS - 2);
            let lower = (1u128 << (BITS - untorn_rows * COLUMNS)) - 1;
            let torn = above & !lower | below & lower;
            let code = BlockCode { frame: (torn >> 48) as u32, event: (torn >> 16) as u32 };
            taken += u32::from(code.bits() == torn);
        }
        assert!((1..=12).contains(&taken), "{taken} of {TORN}: three are expected");
    }

    #[test]
    fn a_code_tells_how_old_its_content_is_across_the_wrap_of_its_time() {
        let wrap = Instant::ZERO + TIME_UNIT * (1 << 32);
        for seen in [Instant::from_nanos(5_000_000_000), wrap, wrap + Span::from_millis(3)] {
            for millis in [-20, 0, 1, 50] {
                let code = BlockCode::of_time(1, seen - Span::from_millis(millis));
                assert_eq!(code.age(seen), Span::from_millis(millis));
            }
        }
    }

    #[test]
    fn a_covered_or_cut_band_gives_no_numbers() {
        let mut screen = screen_with(BlockCode { frame: 5, event: 6 }, 10, 20);
        assert_eq!(BlockCode::read(&picture(&screen), 11, 20 + BLOCK), Err(DecodeError::NoFinder));
        assert_eq!(BlockCode::read(&picture(&screen), 400, 20), Err(DecodeError::NoFinder));
        assert_eq!(BlockCode::read(&picture(&screen), 10, 295), Err(DecodeError::Outside));
        for y in 40..60 {
            screen[y * SCREEN.0..][..SCREEN.0].fill(0xffff_ffff);
        }
        assert_eq!(BlockCode::read(&picture(&screen), 10, 20), Err(DecodeError::Damaged));
        assert_eq!(BlockCode::find(&picture(&screen)), None);
    }
}

//! Encodes the difference between two images as runs in raster order.

use super::{put_varint, take_varint};

const SKIP: u64 = 0;
const LITERAL: u64 = 1;
const RUN: u64 = 2;
const CODE_BITS: u32 = 2;
const CODE_MASK: u64 = (1 << CODE_BITS) - 1;
const COLOUR: u32 = 0x00ff_ffff;
/// A shorter run in the middle of a literal costs more than literal pixels, because a run also needs the header of the
/// literal after it.
const SHORTEST_RUN: usize = 3;
/// Unchanged pixels are compared in blocks of this size first, then one at a time.
const STRIDE: usize = 64;

/// Appends the ops that turn `before` into `after`. Both have the same number of pixels.
pub(super) fn encode(before: &[u32], after: &[u32], out: &mut Vec<u8>) {
    let mut position = 0;
    loop {
        let unchanged = common_prefix(&before[position..], &after[position..]);
        if position + unchanged >= after.len() {
            return;
        }
        if unchanged > 0 {
            put_varint(out, (unchanged as u64) << CODE_BITS | SKIP);
            position += unchanged;
        }
        let run = run_length(&after[position..]);
        if run >= SHORTEST_RUN {
            put_varint(out, (run as u64) << CODE_BITS | RUN);
            put_pixel(out, after[position]);
            position += run;
        } else {
            let literal = literal_length(&before[position..], &after[position..]);
            put_varint(out, (literal as u64) << CODE_BITS | LITERAL);
            after[position..position + literal].iter().for_each(|&pixel| put_pixel(out, pixel));
            position += literal;
        }
    }
}

/// Applies ops to `image`. The error says why the ops are invalid.
pub(super) fn decode(mut ops: &[u8], image: &mut [u32]) -> Result<(), &'static str> {
    let mut rest = image;
    while !ops.is_empty() {
        let op = take_varint(&mut ops).ok_or("an op is cut off")?;
        let count = usize::try_from(op >> CODE_BITS).ok().filter(|&count| count <= rest.len());
        let (now, later) = rest.split_at_mut(count.ok_or("an op goes past the end of the image")?);
        rest = later;
        match op & CODE_MASK {
            SKIP => {}
            LITERAL => {
                for pixel in now {
                    *pixel = take_pixel(&mut ops)?;
                }
            }
            RUN => now.fill(take_pixel(&mut ops)?),
            _ => return Err("an op has an unknown code"),
        }
    }
    Ok(())
}

fn put_pixel(out: &mut Vec<u8>, pixel: u32) {
    out.extend_from_slice(&pixel.to_be_bytes()[1..]);
}

fn take_pixel(ops: &mut &[u8]) -> Result<u32, &'static str> {
    let Some((&[red, green, blue], rest)) = ops.split_first_chunk() else { return Err("a pixel is cut off") };
    *ops = rest;
    Ok(u32::from_be_bytes([0, red, green, blue]))
}

fn same(a: u32, b: u32) -> bool {
    (a ^ b) & COLOUR == 0
}

fn common_prefix(before: &[u32], after: &[u32]) -> usize {
    let pairs = || before.chunks(STRIDE).zip(after.chunks(STRIDE));
    let whole = pairs().take_while(|(before, after)| before == after).count() * STRIDE;
    let start = whole.min(after.len());
    start + before[start..].iter().zip(&after[start..]).take_while(|&(&before, &after)| same(before, after)).count()
}

fn run_length(pixels: &[u32]) -> usize {
    pixels.iter().take_while(|&&pixel| same(pixel, pixels[0])).count()
}

/// The number of pixels to write as a literal: up to the next run, or up to the next [`SHORTEST_RUN`] unchanged pixels.
fn literal_length(before: &[u32], after: &[u32]) -> usize {
    let worth_ending = |&start: &usize| {
        let end = (start + SHORTEST_RUN).min(after.len());
        let unchanged = before[start..end].iter().zip(&after[start..end]).all(|(&before, &after)| same(before, after));
        unchanged || (end - start == SHORTEST_RUN && run_length(&after[start..end]) == SHORTEST_RUN)
    };
    (1..after.len()).find(worth_ending).unwrap_or(after.len())
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn image() -> impl Strategy<Value = Vec<u32>> {
        let piece = (0u32..4, 1usize..90).prop_map(|(colour, count)| vec![colour * 0x0055_0102; count]);
        let noise = prop::collection::vec(0u32..=COLOUR, 1..8);
        prop::collection::vec(prop_oneof![piece, noise], 0..8).prop_map(|pieces| pieces.concat())
    }

    proptest! {
        #[test]
        fn the_ops_make_the_one_image_into_the_other(mut before in image(), mut after in image()) {
            let size = before.len().max(after.len());
            before.resize(size, 0);
            after.resize(size, 0);
            let mut ops = Vec::new();
            encode(&before, &after, &mut ops);
            prop_assert_eq!(decode(&ops, &mut before), Ok(()));
            prop_assert_eq!(before, after);
        }

        #[test]
        fn no_ops_make_it_panic(ops in prop::collection::vec(any::<u8>(), 0..60), size in 0usize..100) {
            let _ = decode(&ops, &mut vec![0; size]);
        }
    }

    #[test]
    fn unchanged_pixels_cost_nothing_and_a_rectangle_costs_little() {
        let before = vec![0x0012_3456; 1920 * 1080];
        let mut ops = Vec::new();
        encode(&before, &before, &mut ops);
        assert!(ops.is_empty());
        let mut after = before.clone();
        (100..200).for_each(|row| after[row * 1920 + 50..row * 1920 + 150].fill(0x00ff_0000));
        encode(&before, &after, &mut ops);
        assert!(ops.len() <= 100 * 8, "a skip and a run for each of 100 rows: {} bytes", ops.len());
    }
}

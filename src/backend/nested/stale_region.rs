//! The stale region of a shared buffer: where it is older than the newest frame.
//!
//! The compositor draws every frame into the same memory, so that it never draws more than the damage. The parent's
//! buffers take turns, and each has missed the frames of the other buffers. Their damage is collected here and copied
//! at the buffer's turn.

use crate::backend::{PixelBuffer, PixelRect};

/// Beyond this many rectangles the whole buffer is copied, since a long list costs more than it saves.
const MOST_RECTANGLES: usize = 64;

/// The region of one buffer that is older than the newest frame.
#[derive(Clone, Debug)]
pub(super) enum StaleRegion {
    /// The content of the buffer is unknown.
    All,
    Parts(Vec<PixelRect>),
}

impl StaleRegion {
    /// Adds the damage of a composed frame.
    pub(super) fn add(&mut self, damage: &[PixelRect]) {
        if let StaleRegion::Parts(parts) = self {
            if parts.len() + damage.len() > MOST_RECTANGLES {
                *self = StaleRegion::All;
            } else {
                parts.extend_from_slice(damage);
            }
        }
    }

    /// Updates `target`, rows of the same width as `source`.
    pub(super) fn refresh(&mut self, source: &PixelBuffer, target: &mut [u32]) {
        let width = source.width as usize;
        match self {
            StaleRegion::All => {
                target.copy_from_slice(&source.pixels);
                *self = StaleRegion::Parts(Vec::new());
            }
            StaleRegion::Parts(parts) => {
                for part in parts.drain(..) {
                    let (left, right) = clamp(part.x, part.width, source.width);
                    let (top, bottom) = clamp(part.y, part.height, source.height);
                    for row in top..bottom {
                        let range = row * width + left..row * width + right;
                        target[range.clone()].copy_from_slice(&source.pixels[range]);
                    }
                }
            }
        }
    }
}

/// The start and the end of a rectangle's side, clamped to the buffer.
fn clamp(start: i32, length: i32, limit: i32) -> (usize, usize) {
    let first = start.clamp(0, limit);
    let last = start.saturating_add(length).clamp(first, limit);
    (first as usize, last as usize)
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    const WIDTH: i32 = 12;
    const HEIGHT: i32 = 9;

    fn rectangle() -> impl Strategy<Value = PixelRect> {
        (-3..WIDTH + 3, -3..HEIGHT + 3, 0..WIDTH, 0..HEIGHT).prop_map(|(x, y, width, height)| PixelRect {
            x,
            y,
            width,
            height,
        })
    }

    proptest! {
        #[test]
        fn every_refreshed_buffer_equals_the_newest_frame(
            frames in prop::collection::vec((prop::collection::vec(rectangle(), 0..5), 0usize..4), 1..120)
        ) {
            let mut source = PixelBuffer::new(WIDTH, HEIGHT);
            let mut buffers = vec![(StaleRegion::All, vec![0xdead; (WIDTH * HEIGHT) as usize]); 4];
            for (number, (damage, turn)) in frames.into_iter().enumerate() {
                for rect in &damage {
                    let (left, right) = clamp(rect.x, rect.width, WIDTH);
                    let (top, bottom) = clamp(rect.y, rect.height, HEIGHT);
                    for row in top..bottom {
                        source.pixels[row * WIDTH as usize + left..row * WIDTH as usize + right].fill(number as u32);
                    }
                }
                for (stale, _) in &mut buffers {
                    stale.add(&damage);
                }
                let (stale, pixels) = &mut buffers[turn];
                stale.refresh(&source, pixels);
                prop_assert_eq!(&*pixels, &source.pixels);
            }
        }
    }
}

//! A snapshot of the screen's content that any thread can read later.

use std::sync::Arc;

use super::overlay::intersection;
use super::{PixelBuffer, PixelRect};

const BLACK: u32 = 0xff00_0000;

/// Reads a rectangle of the picture. Returns false if it cannot be read.
type Read = Box<dyn Fn(PixelRect, &mut Vec<u32>) -> bool + Send + Sync>;

/// A snapshot of the screen, not copied yet. While it lives the display cannot reuse its buffer.
#[derive(Clone)]
pub struct ScreenSnapshot {
    whole: PixelRect,
    read: Arc<Read>,
}

impl std::fmt::Debug for ScreenSnapshot {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "ScreenSnapshot({}x{})", self.whole.width, self.whole.height)
    }
}

impl ScreenSnapshot {
    /// A snapshot of `width` × `height` pixels. `read` overwrites its argument with the rows of a rectangle within
    /// it, and returns false on failure.
    pub fn new(
        width: i32,
        height: i32,
        read: impl Fn(PixelRect, &mut Vec<u32>) -> bool + Send + Sync + 'static,
    ) -> Self {
        ScreenSnapshot { whole: PixelRect { x: 0, y: 0, width, height }, read: Arc::new(Box::new(read)) }
    }

    /// A snapshot that was copied already.
    pub fn copied(picture: PixelBuffer) -> Self {
        Self::of(Arc::new(picture))
    }

    /// A snapshot of an immutable picture.
    pub fn of(picture: Arc<PixelBuffer>) -> Self {
        ScreenSnapshot::new(picture.width, picture.height, move |rect, pixels| {
            pixels.clear();
            for y in rect.y..rect.y + rect.height {
                let from = y as usize * picture.width as usize + rect.x as usize;
                pixels.extend_from_slice(&picture.pixels[from..from + rect.width as usize]);
            }
            true
        })
    }

    /// Whether a copy of it lives, which may still be read.
    pub fn is_shared(&self) -> bool {
        Arc::strong_count(&self.read) > 1
    }

    /// The same snapshot with `areas` painted black.
    pub fn blackened(self, areas: Vec<PixelRect>) -> Self {
        if areas.is_empty() {
            return self;
        }
        let PixelRect { width, height, .. } = self.whole;
        ScreenSnapshot::new(width, height, move |rect, pixels| {
            if !self.read(rect, pixels) {
                return false;
            }
            for area in areas.iter().map(|area| intersection(*area, rect)).filter(|area| area.width > 0) {
                for y in area.y..area.y + area.height {
                    let from = ((y - rect.y) * rect.width + area.x - rect.x) as usize;
                    pixels[from..from + area.width as usize].fill(BLACK);
                }
            }
            true
        })
    }

    /// Reads the rows of `rect`, which must lie within the snapshot, into `pixels`. Returns false on failure.
    pub fn read(&self, rect: PixelRect, pixels: &mut Vec<u32>) -> bool {
        let is_within = rect.width > 0 && rect.height > 0 && intersection(rect, self.whole) == rect;
        is_within && (self.read)(rect, pixels)
    }

    /// Reads the whole snapshot; `None` if it cannot be read.
    pub fn whole(&self) -> Option<PixelBuffer> {
        let PixelRect { width, height, .. } = self.whole;
        let mut pixels = Vec::new();
        self.read(self.whole, &mut pixels).then_some(PixelBuffer { width, height, pixels })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_part_is_read_and_nothing_beyond() {
        let shot = ScreenSnapshot::copied(PixelBuffer { width: 3, height: 2, pixels: (0..6).collect() });
        let mut pixels = vec![9; 9];
        assert!(shot.read(PixelRect { x: 1, y: 0, width: 2, height: 2 }, &mut pixels));
        assert_eq!(pixels, [1, 2, 4, 5]);
        for (x, y, width, height) in [(2, 0, 2, 1), (-1, 0, 1, 1), (0, 1, 1, 2), (0, 0, 0, 1), (i32::MAX, 0, 1, 1)] {
            assert!(!shot.read(PixelRect { x, y, width, height }, &mut pixels), "{x} {y} {width} {height}");
        }
        assert_eq!(shot.whole().map(|whole| whole.pixels), Some((0..6).collect()));
    }

    #[test]
    fn blackened_snapshot_that_cannot_be_read_fails() {
        let shot = ScreenSnapshot::new(3, 2, |_, pixels| {
            pixels.clear();
            false
        });
        let area = PixelRect { x: 1, y: 1, width: 9, height: 1 };
        assert_eq!(shot.blackened(vec![area]).whole(), None);
    }

    #[test]
    fn blackened_areas_are_black_in_every_part() {
        let shot = ScreenSnapshot::copied(PixelBuffer { width: 3, height: 2, pixels: (0..6).collect() });
        let shot = shot.blackened(vec![PixelRect { x: 1, y: 1, width: 9, height: 1 }]);
        let mut pixels = Vec::new();
        assert!(shot.read(PixelRect { x: 1, y: 0, width: 2, height: 2 }, &mut pixels));
        assert_eq!(pixels, [1, 2, BLACK, BLACK]);
        assert!(shot.read(PixelRect { x: 0, y: 1, width: 2, height: 1 }, &mut pixels));
        assert_eq!(pixels, [3, BLACK]);
    }
}

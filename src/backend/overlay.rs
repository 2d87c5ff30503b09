//! Blending of planes that lie above the composed picture, done in software.

use super::{CursorPlane, PixelRect};

/// Blends the cursor plane into `pixels`, which cover `rect` of the output.
pub(crate) fn put_cursor(cursor: &CursorPlane, rect: PixelRect, pixels: &mut [u32]) {
    let (x, y) = (cursor.x, cursor.y);
    let place = PixelRect { x, y, width: cursor.image.width, height: cursor.image.height };
    OverlayPixels { rect: place, pixels: &cursor.image.pixels }.put(rect, pixels, over);
}

/// Pixels at a position of the panel.
pub(super) struct OverlayPixels<'a> {
    pub rect: PixelRect,
    pub pixels: &'a [u32],
}

impl OverlayPixels<'_> {
    /// Blends them into `target`, which covers `target_rect`.
    pub fn put(&self, target_rect: PixelRect, target: &mut [u32], blend: impl Fn(u32, u32) -> u32) {
        let common = intersection(self.rect, target_rect);
        let width = common.width as usize;
        for row in common.y..common.y + common.height {
            let from = offset(self.rect, common.x, row);
            let to = offset(target_rect, common.x, row);
            for (target, &source) in target[to..to + width].iter_mut().zip(&self.pixels[from..from + width]) {
                *target = blend(*target, source);
            }
        }
    }
}

/// Index of the panel's pixel (x, y) within the pixels of `rect`, which contains it.
fn offset(rect: PixelRect, x: i32, y: i32) -> usize {
    (y - rect.y) as usize * rect.width as usize + (x - rect.x) as usize
}

/// The intersection of two rectangles; without an intersection, an empty rectangle at the corner of `a`.
pub(crate) fn intersection(a: PixelRect, b: PixelRect) -> PixelRect {
    let end = |start: i32, length: i32| start.saturating_add(length.max(0));
    let (x, y) = (a.x.max(b.x), a.y.max(b.y));
    let width = end(a.x, a.width).min(end(b.x, b.width)).saturating_sub(x);
    let height = end(a.y, a.height).min(end(b.y, b.height)).saturating_sub(y);
    if width <= 0 || height <= 0 {
        return PixelRect { x: b.x, y: b.y, width: 0, height: 0 };
    }
    PixelRect { x, y, width, height }
}

/// Porter-Duff *over* with premultiplied colours, each channel rounded to nearest.
pub(super) fn over(below: u32, above: u32) -> u32 {
    let transparency = 255 - (above >> 24);
    let channel = |shift: u32| {
        let faded = ((below >> shift & 0xff) * transparency + 127) / 255;
        ((above >> shift & 0xff) + faded).min(255) << shift
    };
    channel(16) | channel(8) | channel(0)
}

//! What a camera would see of one refresh: the buffer on screen, rows that were rewritten too late, and the cursor.

use super::beam::Beam;
use super::grid::Refresh;
use crate::backend::{CursorPlane, PixelBuffer, PixelRect};
use crate::time::Instant;

/// Rows that the panel had read before they were rewritten: in this refresh they look as they did.
#[derive(Debug)]
pub struct ReadRows {
    /// Where.
    pub rect: PixelRect,
    /// What was there.
    pub pixels: Vec<u32>,
}

/// The panel's image in one refresh: a view that copies nothing until it is asked for pixels.
#[derive(Clone, Copy)]
pub struct PanelImage<'a> {
    /// The first refresh that shows it.
    pub refresh: Refresh,
    pub(super) beam: Beam,
    pub(super) buffer: &'a PixelBuffer,
    /// In the order in which they were overwritten.
    pub(super) read_rows: &'a [ReadRows],
    pub(super) cursor: Option<&'a CursorPlane>,
}

impl PanelImage<'_> {
    /// Width in pixels.
    pub fn width(&self) -> i32 {
        self.buffer.width
    }

    /// Height in pixels.
    pub fn height(&self) -> i32 {
        self.buffer.height
    }

    /// The same without the cursor plane.
    pub fn without_cursor(mut self) -> Self {
        self.cursor = None;
        self
    }

    /// When the panel lights row `row` of this image for the first time.
    pub fn row_time(&self, row: i32) -> Instant {
        self.beam.row_time(self.refresh.time, row)
    }

    /// Reads the part of `rect` that lies on the panel, rows from the top, and returns that part. `pixels` is
    /// overwritten and keeps its memory.
    pub fn read(&self, rect: PixelRect, pixels: &mut Vec<u32>) -> PixelRect {
        let rect = intersection(rect, PixelRect { x: 0, y: 0, width: self.width(), height: self.height() });
        pixels.clear();
        for row in rect.y..rect.y + rect.height {
            pixels.extend_from_slice(row_of(self.buffer, rect.x, rect.width, row));
        }
        self.put_overlays(rect, pixels);
        rect
    }

    /// Copies the whole image, resizing `into` if it has another size.
    pub fn copy_into(&self, into: &mut PixelBuffer) {
        (into.width, into.height) = (self.width(), self.height());
        let whole = PixelRect { x: 0, y: 0, width: self.width(), height: self.height() };
        into.pixels.clear();
        into.pixels.extend_from_slice(&self.buffer.pixels);
        self.put_overlays(whole, &mut into.pixels);
    }

    fn put_overlays(&self, rect: PixelRect, pixels: &mut [u32]) {
        // The oldest last: a row that was overwritten twice looked as it did before the first time.
        for old in self.read_rows.iter().rev() {
            let source = Source { rect: old.rect, pixels: &old.pixels };
            source.put(rect, pixels, |_, old| old);
        }
        if let Some(cursor) = self.cursor {
            let (x, y) = (cursor.x, cursor.y);
            let place = PixelRect { x, y, width: cursor.image.width, height: cursor.image.height };
            Source { rect: place, pixels: &cursor.image.pixels }.put(rect, pixels, over);
        }
    }
}

/// Pixels that lie somewhere on the panel.
struct Source<'a> {
    rect: PixelRect,
    pixels: &'a [u32],
}

impl Source<'_> {
    /// Blends them into `target`, which holds the pixels of `target_rect`.
    fn put(&self, target_rect: PixelRect, target: &mut [u32], blend: impl Fn(u32, u32) -> u32) {
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

/// Where pixel (x, y) of the panel lies among the pixels of `rect`, which contains it.
fn offset(rect: PixelRect, x: i32, y: i32) -> usize {
    (y - rect.y) as usize * rect.width as usize + (x - rect.x) as usize
}

/// `width` pixels of row `row` from `x` on.
pub(super) fn row_of(buffer: &PixelBuffer, x: i32, width: i32, row: i32) -> &[u32] {
    let start = row as usize * buffer.width as usize + x as usize;
    &buffer.pixels[start..start + width as usize]
}

/// The part that two rectangles share; empty at the first one's corner if there is none.
pub(super) fn intersection(a: PixelRect, b: PixelRect) -> PixelRect {
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
fn over(below: u32, above: u32) -> u32 {
    let transparency = 255 - (above >> 24);
    let channel = |shift: u32| {
        let faded = ((below >> shift & 0xff) * transparency + 127) / 255;
        ((above >> shift & 0xff) + faded).min(255) << shift
    };
    channel(16) | channel(8) | channel(0)
}

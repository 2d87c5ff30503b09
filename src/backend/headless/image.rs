//! The image of one refresh as a camera would see it: the buffer on screen, rows that were rewritten too late, overlay
//! planes, and the cursor.

use super::grid::RecordedRefresh;
use super::overlay_planes::PanelOverlay;
use crate::backend::overlay::{self, OverlayPixels, intersection};
use crate::backend::{Beam, CursorPlane, PixelBuffer, PixelRect};
use upbeat_record::recording::RowTimes;
use upbeat_timing::time::Instant;

/// Rows that were rewritten after the beam had passed them: this refresh shows their old pixels.
#[derive(Clone, Debug)]
pub struct ReadRows {
    pub rect: PixelRect,
    /// The pixels before the write.
    pub pixels: Vec<u32>,
}

/// The panel's image in one refresh. It is a view: it copies only when pixels are read.
#[derive(Clone, Copy)]
pub struct PanelImage<'a> {
    /// The first refresh that shows it.
    pub refresh: RecordedRefresh,
    pub(super) beam: Beam,
    pub(super) buffer: &'a PixelBuffer,
    /// In the order in which they were overwritten.
    pub(super) read_rows: &'a [ReadRows],
    /// Above the buffer, whenever it was rewritten.
    /// Topmost first.
    pub(super) overlays: &'a [PanelOverlay],
    pub(super) cursor: Option<&'a CursorPlane>,
}

impl PanelImage<'_> {
    pub fn width(&self) -> i32 {
        self.buffer.width
    }

    pub fn height(&self) -> i32 {
        self.buffer.height
    }

    /// The same image without the cursor plane.
    pub fn without_cursor(mut self) -> Self {
        self.cursor = None;
        self
    }

    /// When the panel lights row `row` of this image for the first time.
    pub fn row_time(&self, row: i32) -> Instant {
        self.beam.line_start(self.refresh.time, row)
    }

    /// When the rows of `part` are lit.
    pub fn row_times(&self, part: PixelRect) -> RowTimes {
        let first = self.row_time(part.y);
        RowTimes { first: first - self.refresh.time, active: self.row_time(part.y + part.height) - first }
    }

    /// Reads the part of `rect` that lies on the panel, rows from the top, and returns that part. `pixels` is
    /// overwritten and keeps its memory.
    pub fn read(&self, rect: PixelRect, pixels: &mut Vec<u32>) -> PixelRect {
        let rect = intersection(rect, PixelRect { x: 0, y: 0, width: self.width(), height: self.height() });
        pixels.clear();
        for row in rect.y..rect.y + rect.height {
            pixels.extend_from_slice(row_of(self.buffer, rect.x, rect.width, row));
        }
        self.put_planes(rect, pixels);
        rect
    }

    /// Copies the whole image, resizing `into` if it has another size.
    pub fn copy_into(&self, into: &mut PixelBuffer) {
        (into.width, into.height) = (self.width(), self.height());
        let whole = PixelRect { x: 0, y: 0, width: self.width(), height: self.height() };
        into.pixels.clear();
        into.pixels.extend_from_slice(&self.buffer.pixels);
        self.put_planes(whole, &mut into.pixels);
    }

    /// Completes `pixels`, which hold the part `rect` of the buffer: with rows that were read before a write, overlay
    /// planes and the cursor.
    pub fn put_planes(&self, rect: PixelRect, pixels: &mut [u32]) {
        // Apply the oldest last, since a row that was overwritten twice shows its pixels from before the first write.
        for old in self.read_rows.iter().rev() {
            let source = OverlayPixels { rect: old.rect, pixels: &old.pixels };
            source.put(rect, pixels, |_, old| old);
        }
        self.overlays.iter().rev().for_each(|overlay| overlay.put(rect, pixels));
        if let Some(cursor) = self.cursor {
            overlay::put_cursor(cursor, rect, pixels);
        }
    }
}

/// The `width` pixels of row `row` that begin at `x`.
pub(super) fn row_of(buffer: &PixelBuffer, x: i32, width: i32, row: i32) -> &[u32] {
    let start = row as usize * buffer.width as usize + x as usize;
    &buffer.pixels[start..start + width as usize]
}

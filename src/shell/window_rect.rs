//! Rectangle of a window on the screen, independent of its client's progress.

use smithay::utils::{Logical, Point, Rectangle, Size};

use super::arrangement::WindowArrangement;
use super::resize;
use super::window::{ResizeStretch, Window};

impl Window {
    /// Rectangle of the window geometry on screen (global logical coordinates). While an interactive resize is ahead of
    /// the client, its size differs from [`geometry`](Self::geometry), and the content is stretched.
    pub fn rect(&self) -> Rectangle<i32, Logical> {
        if let Some(stretch) = &self.stretch {
            return self.stretched_rect(stretch);
        }
        if let Some(rect) = self.rect_in_strip() {
            return rect;
        }
        match &self.applied {
            WindowArrangement::Floating => self.floating_rect(),
            WindowArrangement::Maximized { area } | WindowArrangement::Tiled { area, .. } => self.refitted(*area),
            // Fullscreen content may be smaller than the screen; then it is centred.
            WindowArrangement::Fullscreen { area, .. } => self.centred(*area),
        }
    }

    /// Rectangle of the window while it floats.
    pub(super) fn floating_rect(&self) -> Rectangle<i32, Logical> {
        Rectangle::new(self.floating, self.geometry.size)
    }

    /// Rectangle of a window that is in a strip, enters it or leaves it: its target place at once, so that all windows
    /// that move together change in the same frame. The content is stretched until the client has answered.
    fn rect_in_strip(&self) -> Option<Rectangle<i32, Logical>> {
        use WindowArrangement as A;
        let (made_for, wanted) = match (&self.applied, &self.wanted) {
            (A::Tiled { .. }, A::Floating) => {
                return Some(Rectangle::new(self.floating, self.floating_size.unwrap_or(self.geometry.size)));
            }
            // Its output is at another position; the client needs no configure for that.
            (A::Fullscreen { area, output }, A::Fullscreen { area: wanted, output: on })
                if output == on && area.size == wanted.size =>
            {
                return (area.loc != wanted.loc).then(|| self.centred(*wanted));
            }
            (A::Floating, A::Tiled { area, .. }) => (self.geometry.size, area),
            (
                A::Maximized { area: made_for }
                | A::Fullscreen { area: made_for, .. }
                | A::Tiled { area: made_for, .. },
                A::Tiled { area, .. },
            )
            | (A::Tiled { area: made_for, .. }, A::Maximized { area } | A::Fullscreen { area, .. }) => {
                (made_for.size, area)
            }
            _ => return None,
        };
        Some(Rectangle::new(wanted.loc, self.stretched_by(made_for, wanted.size)))
    }

    /// Size to which content is stretched that was drawn for one size and must fill another. Content of a client that
    /// rounds to its own grid keeps its difference.
    fn stretched_by(&self, made_for: Size<i32, Logical>, wanted: Size<i32, Logical>) -> Size<i32, Logical> {
        let (width, height) =
            (self.geometry.size.w + wanted.w - made_for.w, self.geometry.size.h + wanted.h - made_for.h);
        Size::from((width.max(1), height.max(1)))
    }

    /// Centres content that is smaller than the area it should fill.
    fn centred(&self, area: Rectangle<i32, Logical>) -> Rectangle<i32, Logical> {
        let (right, down) =
            ((area.size.w - self.geometry.size.w).max(0) / 2, (area.size.h - self.geometry.size.h).max(0) / 2);
        Rectangle::new(area.loc + Point::from((right, down)), self.geometry.size)
    }

    /// Rectangle of maximised content that was drawn for `made_for`. When the usable area changes, the content is
    /// stretched in the very same frame, until the client has answered, so that a bar beside it neither overlaps it nor
    /// leaves a gap. Content of a client that rounds to its own grid keeps its difference.
    fn refitted(&self, made_for: Rectangle<i32, Logical>) -> Rectangle<i32, Logical> {
        let WindowArrangement::Maximized { area } = self.wanted else {
            return Rectangle::new(made_for.loc, self.geometry.size);
        };
        Rectangle::new(area.loc, self.stretched_by(made_for.size, area.size))
    }

    /// Rectangle of the content during an interactive resize, before the client answers: the content's size plus the
    /// distance that the pointer has moved since the configure that the content was drawn for. So a client that rounds
    /// to its own grid (a terminal) keeps its offset to the pointer and does not jump back and forth.
    ///
    /// ```text
    /// configured ──►|                     wanted ──►|
    /// content    ─►|      shown = content + (wanted − configured)
    /// ```
    fn stretched_rect(&self, stretch: &ResizeStretch) -> Rectangle<i32, Logical> {
        let width = self.geometry.size.w + stretch.wanted.size.w - stretch.answered.w;
        let height = self.geometry.size.h + stretch.wanted.size.h - stretch.answered.h;
        resize::anchored(stretch.start, stretch.edges, Size::from((width.max(1), height.max(1))))
    }
}

//! Where a window is on the screen, whatever its client has answered.

use smithay::utils::{Logical, Point, Rectangle, Size};

use super::arrangement::Arrangement;
use super::resize;
use super::window::{Stretch, Window};

impl Window {
    /// Where the window geometry is on screen (global logical coordinates). While an interactive resize is ahead of
    /// its client this differs in size from [`geometry`](Self::geometry): the content is stretched into it.
    pub fn rect(&self) -> Rectangle<i32, Logical> {
        if let Some(stretch) = &self.stretch {
            return self.stretched_rect(stretch);
        }
        if let Some(rect) = self.rect_in_strip() {
            return rect;
        }
        match &self.applied {
            Arrangement::Floating => self.floating_rect(),
            Arrangement::Maximized { area } | Arrangement::Tiled { area, .. } => self.refitted(*area),
            // Smaller than the screen is allowed: centred then.
            Arrangement::Fullscreen { area, .. } => self.centred(*area),
        }
    }

    /// Where it is when it floats.
    pub(super) fn floating_rect(&self) -> Rectangle<i32, Logical> {
        Rectangle::new(self.floating, self.geometry.size)
    }

    /// Where it is if it is part of a strip, comes to one or leaves one: where it is wanted, at once, so that all that are
    /// moved with it change in the same frame. Its content is stretched until its client has answered.
    fn rect_in_strip(&self) -> Option<Rectangle<i32, Logical>> {
        use Arrangement as A;
        let (made_for, wanted) = match (&self.applied, &self.wanted) {
            (A::Tiled { .. }, A::Floating) => {
                return Some(Rectangle::new(self.floating, self.floating_size.unwrap_or(self.geometry.size)));
            }
            // Its place on the screen is another one, and it is asked for nothing.
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

    /// What the size of content is that was made for one size and is to fill another: a client that snaps to its own grid
    /// keeps the distance that it had.
    fn stretched_by(&self, made_for: Size<i32, Logical>, wanted: Size<i32, Logical>) -> Size<i32, Logical> {
        let (width, height) =
            (self.geometry.size.w + wanted.w - made_for.w, self.geometry.size.h + wanted.h - made_for.h);
        Size::from((width.max(1), height.max(1)))
    }

    /// Content that is smaller than what it is to fill lies in the middle of it.
    fn centred(&self, area: Rectangle<i32, Logical>) -> Rectangle<i32, Logical> {
        let (right, down) =
            ((area.size.w - self.geometry.size.w).max(0) / 2, (area.size.h - self.geometry.size.h).max(0) / 2);
        Rectangle::new(area.loc + Point::from((right, down)), self.geometry.size)
    }

    /// Where content is that was made to fill `made_for`. When the area that is left for windows becomes another one, it is
    /// stretched with it in that very frame, until its client has answered: what lies beside it neither covers it nor leaves
    /// a gap. A client that snaps to its own grid keeps the distance that it had.
    fn refitted(&self, made_for: Rectangle<i32, Logical>) -> Rectangle<i32, Logical> {
        let Arrangement::Maximized { area } = self.wanted else {
            return Rectangle::new(made_for.loc, self.geometry.size);
        };
        Rectangle::new(area.loc, self.stretched_by(made_for.size, area.size))
    }

    /// What the content answers the pointer with, before the client does: its own size plus what the pointer has
    /// moved since the configure that this content was made for. A client that snaps to its own grid (a terminal)
    /// keeps its offset to the pointer and does not jump back and forth.
    ///
    /// ```text
    /// configured ──►|                     wanted ──►|
    /// content    ─►|      shown = content + (wanted − configured)
    /// ```
    fn stretched_rect(&self, stretch: &Stretch) -> Rectangle<i32, Logical> {
        let width = self.geometry.size.w + stretch.wanted.size.w - stretch.answered.w;
        let height = self.geometry.size.h + stretch.wanted.size.h - stretch.answered.h;
        resize::anchored(stretch.start, stretch.edges, Size::from((width.max(1), height.max(1))))
    }
}

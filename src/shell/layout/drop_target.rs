//! Where a window that is dragged over a strip goes when it is released.
//!
//! ```text
//!          ┌─────┬────────────┬─────┐
//!          │     │ row above  │     │    the outer quarters of a column: a new column on that side
//!   column │     ├────────────┤     │    between them: a row above or below the nearest row
//!   before │     │ row below  │     │ column behind
//!          └─────┴────────────┴─────┘
//! ```

use super::column::{LayoutTile, TiledColumn};
use super::op::{DropTarget, LayoutArea, LayoutRect, RestorePosition};
use super::strip::ColumnStrip;
use super::workspace::LayoutWorkspace;
use crate::shell::WindowId;
use smithay::utils::{Physical, Point};

/// Width of the marked place of a new column, and height of that of a new row, in logical pixels.
const MARK: i32 = 120;

/// The target for a window that is released at `point` (physical pixels from the output's upper left corner), and the
/// rectangle to mark meanwhile.
pub(super) fn at(
    strip: &ColumnStrip,
    point: Point<i32, Physical>,
    area: &LayoutArea,
) -> Option<(DropTarget, LayoutRect)> {
    if !area.usable.contains(point) {
        return None;
    }
    let mut left = strip.origin(area);
    let mut before = None;
    for column in &strip.columns {
        let width = column.width(area);
        let inner = if column.is_fullscreen { 0 } else { width / 4 };
        let middle = left + width / 2;
        if point.x < if inner > 0 { left + inner } else { middle } {
            return Some(between(before, left, area));
        }
        if inner > 0 && point.x < left + width - inner {
            return row(column, left, point.y, area);
        }
        (before, left) = (column.active_window(), left + width + area.gap());
        if point.x < left {
            return Some(between(before, left, area));
        }
    }
    Some(between(before, left, area))
}

/// A new column, whose left neighbour ends at `x`, less the gap.
fn between(after: Option<WindowId>, x: i32, area: &LayoutArea) -> (DropTarget, LayoutRect) {
    let (usable, gap) = (area.usable, area.gap());
    let width = area.physical(MARK).clamp(1, usable.size.w);
    let least = usable.loc.x;
    let at = (x - gap / 2 - width / 2).clamp(least, least + usable.size.w - width);
    let (y, height) = (usable.loc.y + gap, (usable.size.h - 2 * gap).max(1));
    (DropTarget::Column { after }, LayoutRect::new((at, y).into(), (width, height).into()))
}

/// A row of `column`, whose left edge is at `left`.
fn row(column: &TiledColumn, left: i32, y: i32, area: &LayoutArea) -> Option<(DropTarget, LayoutRect)> {
    let beside = column.active_window()?;
    let rows = column.rectangles(left, area);
    if column.is_tabbed(area) {
        let rect = *rows.get(column.active)?;
        return Some((DropTarget::Row { beside, index: column.active + 1 }, rect.intersection(area.usable)?));
    }
    let index = rows.iter().filter(|rect| rect.loc.y + rect.size.h / 2 <= y).count();
    let (first, last) = (rows.first()?, rows.last()?);
    let edge = rows.get(index).map_or(last.loc.y + last.size.h, |rect| rect.loc.y);
    let (top, bottom) = (first.loc.y, last.loc.y + last.size.h);
    let height = area.physical(MARK).clamp(1, (bottom - top).max(1));
    let at = (edge - height / 2).clamp(top, bottom - height);
    let rect = LayoutRect::new((left, at).into(), (first.size.w, height).into());
    Some((DropTarget::Row { beside, index }, rect.intersection(area.usable)?))
}

impl LayoutWorkspace {
    /// Puts a floating window where the user released it.
    pub(super) fn put_at(&mut self, window: WindowId, target: DropTarget, area: &LayoutArea) {
        if self.floating_index(window).is_none() {
            return;
        }
        let Some(tile) = self.take(window, area) else { return };
        let before = tile.position_before_floating;
        let tile = LayoutTile { position_before_floating: None, ..tile };
        let back = match target {
            DropTarget::Row { beside, index } => RestorePosition::Row { beside, index, weights_of_others: None },
            DropTarget::Column { after } => {
                let TiledColumn { width, span, display, .. } = TiledColumn::of(tile.clone());
                match before {
                    // A column of its own is moved as it is.
                    Some(RestorePosition::Column { width, span, display, .. }) => {
                        RestorePosition::Column { width, span, display, after }
                    }
                    _ => RestorePosition::Column { width, span, display, after },
                }
            }
        };
        self.restore(tile, Some(back), area);
    }
}

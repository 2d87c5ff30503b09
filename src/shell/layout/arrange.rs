//! Where every window of a workspace is, and whether it is seen.

use super::op::{Area, Rect, Span};
use super::workspace::Workspace;
use crate::shell::WindowId;

/// A window in its place.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Arranged {
    /// Which.
    pub window: WindowId,
    /// Where, from the output's upper left corner, in physical pixels.
    pub rect: Rect,
    /// Whether any of it is on the screen, and not hidden by another row or by a window that fills the screen. What other
    /// windows cover is not looked at.
    pub is_seen: bool,
    /// Whether it fills the screen, bars included.
    pub is_fullscreen: bool,
    /// Whether it lies above the columns.
    pub is_floating: bool,
    /// Whether it fills what bars leave.
    pub is_maximised: bool,
    /// Whether another row of its column is shown in its place.
    pub is_behind: bool,
}

/// All windows of a workspace, from the lowest to the topmost: columns from left to right, rows from top to bottom, and those
/// that float.
pub(super) fn arrange(workspace: &Workspace, area: &Area, into: &mut Vec<Arranged>) {
    let strip = &workspace.strip;
    let mut left = strip.origin(area);
    for column in &strip.columns {
        let is_tabbed = column.is_tabbed(area);
        for (row, (tile, rect)) in column.rows.iter().zip(column.rectangles(left, area)).enumerate() {
            let is_behind = is_tabbed && row != column.active;
            let is_seen = !is_behind && rect.overlaps(area.full);
            into.push(Arranged {
                window: tile.window,
                rect,
                is_seen,
                is_fullscreen: column.is_fullscreen,
                is_floating: false,
                is_maximised: column.span == Span::Maximised && !column.is_fullscreen,
                is_behind,
            });
        }
        left += column.width(area) + area.gap();
    }
    let is_covered = !workspace.is_focus_above && strip.columns.get(strip.active).is_some_and(|it| it.is_fullscreen);
    into.extend(workspace.floating.iter().map(|floating| Arranged {
        window: floating.tile.window,
        rect: area.reachable(floating.rect),
        is_seen: !is_covered,
        is_fullscreen: false,
        is_floating: true,
        is_maximised: false,
        is_behind: false,
    }));
}

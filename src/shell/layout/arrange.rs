//! Rectangle and visibility of every window of a workspace.

use super::op::{ColumnSpan, LayoutArea, LayoutRect};
use super::workspace::LayoutWorkspace;
use crate::shell::WindowId;

/// Result of the layout for one window.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ArrangedWindow {
    pub window: WindowId,
    /// In physical pixels from the output's upper left corner.
    pub rect: LayoutRect,
    /// Whether a part of it is on the screen. Windows hidden behind another tab or behind a fullscreen window are not.
    /// Other windows above it are not taken into account.
    pub is_seen: bool,
    /// Whether it covers the whole output, bars included.
    pub is_fullscreen: bool,
    /// Whether it floats above the columns.
    pub is_floating: bool,
    /// Whether it fills the usable area.
    pub is_maximised: bool,
    /// Whether another tab of its column is shown instead.
    pub is_behind: bool,
}

/// All windows of a workspace, from the lowest to the topmost: columns from left to right, each with its rows from top
/// to bottom, then floating windows.
pub(super) fn arrange(workspace: &LayoutWorkspace, area: &LayoutArea, into: &mut Vec<ArrangedWindow>) {
    let strip = &workspace.strip;
    let mut left = strip.origin(area);
    for column in &strip.columns {
        let is_tabbed = column.is_tabbed(area);
        for (row, (tile, rect)) in column.rows.iter().zip(column.rectangles(left, area)).enumerate() {
            let is_behind = is_tabbed && row != column.active;
            let is_seen = !is_behind && rect.overlaps(area.full);
            into.push(ArrangedWindow {
                window: tile.window,
                rect,
                is_seen,
                is_fullscreen: column.is_fullscreen,
                is_floating: false,
                is_maximised: column.span == ColumnSpan::Maximised && !column.is_fullscreen,
                is_behind,
            });
        }
        left += column.width(area) + area.gap();
    }
    let is_covered = !workspace.is_focus_above && strip.columns.get(strip.active).is_some_and(|it| it.is_fullscreen);
    into.extend(workspace.floating.iter().map(|floating| ArrangedWindow {
        window: floating.tile.window,
        rect: area.reachable(floating.rect),
        is_seen: !is_covered,
        is_fullscreen: false,
        is_floating: true,
        is_maximised: false,
        is_behind: false,
    }));
}

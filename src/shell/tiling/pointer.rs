//! Tiles under the pointer or a finger: where a dragged window is put into a strip, and edges that are dragged.
//!
//! ```text
//!     ┌───────┐┌───────┐
//!     │   a   ││       │   ↔ the edge of a column: its width; the other edge stays in place
//!     ├───────┤│   c   │   ↕ the edge between two rows: the height of both
//!     │   b   ││       │
//!     └───────┘└───────┘
//! ```

use smithay::utils::{Logical, Point, Rectangle};

use super::super::layout::op::{ColumnWidth, HorizontalSide, LayoutRect};
use super::super::layout::{DropTarget, LayoutOp};
use super::super::resize::Edges;
use super::super::snap_targets::{SnapPreview, SnapTarget};
use super::super::workspaces::WorkspaceId;
use super::super::{Shell, WindowArrangement, WindowId, activate, workspace_actions};
use super::{TilingMode, arrange, tile_configure};
use crate::state::State;

/// Smallest width of a column and height of a row that the pointer makes, in logical pixels: enough to catch the edge
/// again.
const SMALLEST: i32 = 50;

/// A resize of a tile by the pointer.
#[derive(Clone, Copy, Debug)]
pub struct TileResize {
    /// The vertical edge that follows the pointer, and the width of the column at the start.
    column: Option<(HorizontalSide, i32)>,
    /// The row above the horizontal edge that follows the pointer.
    row: Option<DraggedRow>,
    /// The width and height that were set last.
    set: (i32, i32),
}

/// The row above a dragged edge.
#[derive(Clone, Copy, Debug)]
struct DraggedRow {
    above: WindowId,
    below: WindowId,
    /// Its height at the start, and that of both rows together.
    height: i32,
    both: i32,
}

/// Where on `place` a window would go that is released at `pointer` (global logical coordinates).
pub(in crate::shell) fn drop_preview(
    shell: &Shell,
    place: WorkspaceId,
    pointer: Point<f64, Logical>,
) -> Option<SnapPreview> {
    let full = shell.strips.full(place.screen)?;
    let usable = shell.strips.layout.area(place.screen)?.usable;
    let point = pointer.to_i32_floor::<i32>() - full.loc;
    // On a bar: the nearest place.
    let inside = |at: i32, from: i32, length: i32| at.max(from).min(from + length - 1);
    let (x, y) = (inside(point.x, usable.loc.x, usable.size.w), inside(point.y, usable.loc.y, usable.size.h));
    let (target, mark) = shell.strips.layout.drop_target(place, (x, y).into())?;
    Some(SnapPreview { target: SnapTarget::Strip { place, target }, area: global(mark, full) })
}

fn global(rect: LayoutRect, full: Rectangle<i32, Logical>) -> Rectangle<i32, Logical> {
    let size = (rect.size.w, rect.size.h);
    Rectangle::new(full.loc + Point::from((rect.loc.x, rect.loc.y)), size.into())
}

/// Puts the floating window `id` among the columns of `place`.
pub(in crate::shell) fn drop_on_strip(state: &mut State, id: WindowId, place: WorkspaceId, target: DropTarget) {
    workspace_actions::move_to_screen(state, id, Some(place.screen));
    arrange(state);
    let shell = &mut state.shell;
    if shell.workspaces.place(id) != Some(place) {
        return;
    }
    shell.strips.layout.apply(&LayoutOp::Drop(id, target));
    shell.strips.invalidate();
    activate(state, Some(id));
    arrange(state);
}

/// Puts a tile that was lifted back among the columns, because it was released where no place was marked. On a workspace
/// without columns it floats.
pub(in crate::shell) fn put_back(state: &mut State, id: WindowId) {
    arrange(state);
    let shell = &mut state.shell;
    let is_strip = shell.workspaces.place(id).is_some_and(|place| shell.strips.mode(place) == TilingMode::Strip);
    if is_strip && shell.strips.layout.is_floating(id) && !shell.is_minimised(id) {
        shell.strips.layout.apply(&LayoutOp::SetFloating(id, false, None));
        shell.strips.invalidate();
        arrange(state);
    }
}

/// A resize of the tile `id` by the edges that can be moved; `None` if none can.
pub(in crate::shell) fn begin_resize(shell: &Shell, id: WindowId, edges: Edges) -> Option<TileResize> {
    let window = shell.window(id).filter(|window| window.mapped)?;
    let WindowArrangement::Tiled { area, is_maximised: false } = window.wanted else { return None };
    let side = match (edges.left, edges.right) {
        (true, _) => Some(HorizontalSide::Left),
        (false, true) => Some(HorizontalSide::Right),
        (false, false) => None,
    };
    let place = shell.workspaces.place(id)?;
    let is_narrow = shell.strips.layout.area(place.screen)?.is_narrow();
    let column = side.filter(|_| !is_narrow).map(|side| (side, area.size.w));
    let rows = shell.strips.layout.column_of(id);
    let own = rows.iter().position(|row| *row == id)?;
    let above = match (edges.top, edges.bottom) {
        (true, _) => own.checked_sub(1),
        (false, true) => Some(own),
        (false, false) => None,
    };
    // Tabs lie above each other.
    let height = |row: WindowId| match shell.window(row).filter(|window| !window.is_hidden_tab)?.wanted {
        WindowArrangement::Tiled { area, .. } => Some(area.size.h),
        _ => None,
    };
    let row = above.and_then(|above| {
        let (above, below) = (*rows.get(above)?, *rows.get(above + 1)?);
        let (upper, lower) = (height(above)?, height(below)?);
        Some(DraggedRow { above, below, height: upper, both: upper + lower })
    });
    let set = (column.map_or(0, |(_, width)| width), row.map_or(0, |row| row.height));
    (column.is_some() || row.is_some()).then_some(TileResize { column, row, set })
}

impl TileResize {
    /// Moves the edges to `way` from where they were at the start. Returns whether that changed anything.
    pub(in crate::shell) fn moved(&mut self, way: Point<i32, Logical>) -> bool {
        let width = |(side, width)| if side == HorizontalSide::Left { width - way.x } else { width + way.x };
        let set = (self.column.map_or(0, width), self.row.map_or(0, |row| row.height + way.y));
        std::mem::replace(&mut self.set, set) != set
    }
}

/// Gives the column and the rows of the tile `id` the sizes of `resize`.
pub(in crate::shell) fn apply(state: &mut State, id: WindowId, resize: TileResize) {
    let shell = &mut state.shell;
    let TileResize { column, row, set: (width, height) } = resize;
    let layout = &mut shell.strips.layout;
    if let Some((side, _)) = column {
        let kept = if side == HorizontalSide::Left { HorizontalSide::Right } else { HorizontalSide::Left };
        let width = ColumnWidth::Pixels(width.max(SMALLEST));
        tile_configure::on_column_of(layout, id, &LayoutOp::SetWidthFrom(kept, width));
    }
    // Another window may have come between the rows, or one may be gone.
    let is_beside = |row: &DraggedRow| layout.column_of(id).windows(2).any(|pair| pair == [row.above, row.below]);
    if let Some(row) = row.filter(is_beside) {
        let height = height.min(row.both - SMALLEST).max(SMALLEST);
        layout.apply(&LayoutOp::SetRowEdge(row.above, height));
    }
    shell.strips.invalidate();
    arrange(state);
}

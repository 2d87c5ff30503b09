//! A workspace of the tiling layout: a strip of columns, and floating windows above it.

use super::column::{LayoutTile, TiledColumn};
use super::op::{
    ColumnDisplay, ColumnSpan, ColumnWidth, Direction, HorizontalSide, LayoutArea, LayoutOp, LayoutRect, MinimumSize,
    RestorePosition, WindowOpening,
};
use super::strip::{ColumnStrip, TilePosition};
use crate::shell::WindowId;

#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct FloatingTile {
    pub tile: LayoutTile,
    pub rect: LayoutRect,
}

/// State of the active column.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ActiveColumn {
    /// Its width for [`ColumnSpan::Plain`].
    pub width: ColumnWidth,
    pub span: ColumnSpan,
    pub display: ColumnDisplay,
    pub rows: usize,
}

/// State before a window opened, restored when the window closes and nothing else has happened in between.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct StateBeforeOpen {
    opened: WindowId,
    focus: Option<WindowId>,
    /// The active tiled window, even if a floating window had the focus.
    tiled: Option<WindowId>,
    view: i32,
}

/// Number of windows, opened one after the other, for which the state before is kept.
const MOST_RETURNS: usize = 32;

/// Size of a window that floats for the first time, in quarters of its tile, so that the user sees that it lies above
/// the other windows.
const FIRST_FLOAT: i32 = 3;

/// A smaller rectangle in the middle of `rect`, but not smaller than the client's minimum size.
fn smaller(rect: LayoutRect, limits: MinimumSize, area: &LayoutArea) -> LayoutRect {
    let along = |length: i32, least: i32| (length / 4 * FIRST_FLOAT).max(area.physical(least)).clamp(1, length.max(1));
    let (width, height) = (along(rect.size.w, limits.width), along(rect.size.h, limits.height));
    let corner = (rect.loc.x + (rect.size.w - width) / 2, rect.loc.y + (rect.size.h - height) / 2);
    LayoutRect::new(corner.into(), (width, height).into())
}

#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct LayoutWorkspace {
    pub strip: ColumnStrip,
    /// From the lowest to the topmost window. The topmost window has the focus if `is_focus_above`.
    pub floating: Vec<FloatingTile>,
    /// Whether a floating window has the focus.
    pub is_focus_above: bool,
    returns: Vec<StateBeforeOpen>,
}

impl LayoutWorkspace {
    pub fn is_empty(&self) -> bool {
        self.strip.columns.is_empty() && self.floating.is_empty()
    }

    pub fn has(&self, window: WindowId) -> bool {
        self.tiles().any(|tile| tile.window == window)
    }

    /// All windows: tiled windows from left to right, then floating windows from the lowest to the topmost.
    pub fn tiles(&self) -> impl Iterator<Item = &LayoutTile> {
        self.strip.tiles().chain(self.floating.iter().map(|floating| &floating.tile))
    }

    pub fn tiles_mut(&mut self) -> impl Iterator<Item = &mut LayoutTile> {
        self.strip.tiles_mut().chain(self.floating.iter_mut().map(|floating| &mut floating.tile))
    }

    /// The window that has the focus when the workspace has it.
    pub fn focus(&self) -> Option<WindowId> {
        match self.floating.last() {
            Some(top) if self.is_focus_above => Some(top.tile.window),
            _ => self.strip.active_window(),
        }
    }

    /// The active column, if the focus is in it.
    pub fn active_column(&self) -> Option<ActiveColumn> {
        let column = self.strip.columns.get(self.strip.active).filter(|_| !self.is_focus_above)?;
        let TiledColumn { width, span, display, .. } = *column;
        Some(ActiveColumn { width, span, display, rows: column.rows.len() })
    }

    pub(super) fn floating_index(&self, window: WindowId) -> Option<usize> {
        self.floating.iter().position(|floating| floating.tile.window == window)
    }

    /// Adds a window: as a column behind the active column, floating, or at its previous place.
    pub fn open(&mut self, tile: LayoutTile, opening: WindowOpening, area: &LayoutArea) {
        let focused = opening.focused || self.is_empty();
        let opened = tile.window;
        let before =
            StateBeforeOpen { opened, focus: self.focus(), tiled: self.strip.active_window(), view: self.strip.view };
        match (opening.back, opening.floating) {
            (Some(back), _) => {
                self.restore(tile, Some(back), area);
                before.tiled.into_iter().chain(before.focus).for_each(|window| self.set_focus(window));
            }
            (None, Some(rect)) => self.put_above(tile, rect, focused),
            (None, None) => self.strip.insert(self.strip.active + 1, TiledColumn::of(tile), area),
        }
        if focused {
            self.set_focus(opened);
            if self.returns.len() == MOST_RETURNS {
                self.returns.remove(0);
            }
            self.returns.push(before);
        }
        self.settle(area);
    }

    /// Removes a window that closes. Restores the focus and the view from before it opened, if nothing else has
    /// happened.
    pub fn close(&mut self, window: WindowId, area: &LayoutArea) -> Option<LayoutTile> {
        let tile = self.take(window, area)?;
        let last = self.returns.last().copied().filter(|last| last.opened == window);
        self.returns.retain(|it| it.opened != window && ![it.focus, it.tiled].contains(&Some(window)));
        if let Some(last) = last {
            last.tiled.into_iter().chain(last.focus).for_each(|window| self.set_focus(window));
            self.strip.view = last.view;
        }
        self.settle(area);
        Some(tile)
    }

    /// Removes a window from the columns or from the floating windows.
    pub(super) fn take(&mut self, window: WindowId, area: &LayoutArea) -> Option<LayoutTile> {
        if let Some(index) = self.floating_index(window) {
            let FloatingTile { tile, rect } = self.floating.remove(index);
            self.is_focus_above &= !self.floating.is_empty();
            return Some(LayoutTile { last_floating: Some(rect), ..tile });
        }
        let tile = self.strip.take(self.strip.find(window)?, area);
        self.is_focus_above |= self.strip.columns.is_empty() && !self.floating.is_empty();
        Some(tile)
    }

    fn put_above(&mut self, tile: LayoutTile, rect: LayoutRect, on_top: bool) {
        // A window without the focus goes below the topmost window, which has it.
        let index = if on_top { self.floating.len() } else { self.floating.len().saturating_sub(1) };
        self.floating.insert(index, FloatingTile { tile, rect });
        self.is_focus_above |= self.strip.columns.is_empty();
    }

    /// Gives a window the focus. A floating window is raised to the top.
    pub fn set_focus(&mut self, window: WindowId) {
        if let Some(index) = self.floating_index(window) {
            let floating = self.floating.remove(index);
            self.floating.push(floating);
            self.is_focus_above = true;
        } else if let Some(at) = self.strip.find(window) {
            self.strip.focus(at);
            self.is_focus_above = false;
        }
    }

    /// Restores the invariants of view and focus after any change.
    pub fn settle(&mut self, area: &LayoutArea) {
        self.is_focus_above = !self.floating.is_empty() && (self.is_focus_above || self.strip.columns.is_empty());
        self.strip.settle(area);
    }

    /// The windows that opened last do not restore the state from before when they close.
    pub fn forget_openings(&mut self) {
        self.returns.clear();
    }

    /// Applies an op that concerns this workspace alone.
    pub fn apply(&mut self, op: &LayoutOp, area: &LayoutArea) {
        self.returns.clear();
        match *op {
            LayoutOp::Focus(window) => self.set_focus(window),
            LayoutOp::FocusTo(direction) => self.focus_to(direction, area),
            LayoutOp::ScrollTo(_, view) => self.strip.scroll_to(view, area),
            LayoutOp::MoveColumn(side) => self.move_column(side),
            LayoutOp::MoveUp => self.move_row(-1),
            LayoutOp::MoveDown => self.move_row(1),
            LayoutOp::Join(side) => self.join(side, area),
            LayoutOp::SetFullscreen(window, true) => self.fill_screen(window, area),
            LayoutOp::SetFullscreen(window, false) => self.unfill_screen(window, area),
            LayoutOp::SetFloating(window, true, rect) => self.float(window, rect, area),
            LayoutOp::SetFloating(window, false, _) => self.unfloat(window, area),
            LayoutOp::Drop(window, target) => self.put_at(window, target, area),
            LayoutOp::SetRowEdge(window, height) => {
                if let Some(at) = self.strip.find(window) {
                    self.strip.columns[at.column].set_row_edge(at.row, height, area);
                }
            }
            LayoutOp::SetWidthFrom(kept, width) => self.set_width_from(kept, width, area),
            LayoutOp::MoveFloating(window, rect) => {
                if let Some(index) = self.floating_index(window) {
                    self.floating[index].rect = rect;
                }
            }
            _ => self.change_column(op),
        }
        self.settle(area);
    }

    /// Applies an op that only changes properties of the active column.
    fn change_column(&mut self, op: &LayoutOp) {
        let Some(column) = self.strip.active_column().filter(|column| !column.is_fullscreen) else { return };
        if self.is_focus_above {
            return;
        }
        match *op {
            LayoutOp::SetWidth(width) => (column.width, column.span) = (width, ColumnSpan::Plain),
            LayoutOp::SetHeight(height) => column.set_height(height),
            LayoutOp::SetDisplay(display) => column.display = display,
            LayoutOp::SetSpan(span) => column.span = span,
            _ => {}
        }
    }

    fn focus_to(&mut self, direction: Direction, area: &LayoutArea) {
        if direction == Direction::OtherLayer {
            self.is_focus_above = !self.is_focus_above;
            return;
        }
        if self.is_focus_above {
            if let Some(nearest) = self.nearest_above(direction, area) {
                self.set_focus(nearest);
            }
            return;
        }
        let last = self.strip.columns.len().saturating_sub(1);
        match direction {
            Direction::Column(side) => {
                self.strip.active = self.strip.beside(self.strip.active, side).unwrap_or(self.strip.active)
            }
            Direction::First => self.strip.active = 0,
            Direction::Last => self.strip.active = last,
            Direction::Up | Direction::Down => {
                let Some(column) = self.strip.active_column() else { return };
                let row = if direction == Direction::Up { column.active.saturating_sub(1) } else { column.active + 1 };
                column.active = row.min(column.rows.len() - 1);
            }
            Direction::OtherLayer => {}
        }
    }

    /// The floating window in this direction whose centre is nearest to that of the topmost window.
    fn nearest_above(&self, direction: Direction, area: &LayoutArea) -> Option<WindowId> {
        let (top, others) = self.floating.split_last()?;
        let middle = |floating: &FloatingTile| {
            let rect = area.reachable(floating.rect);
            (2 * rect.loc.x + rect.size.w, 2 * rect.loc.y + rect.size.h)
        };
        let from = middle(top);
        let ahead = |(x, y): (i32, i32)| match direction {
            Direction::Column(HorizontalSide::Left) => from.0 - x,
            Direction::Column(HorizontalSide::Right) => x - from.0,
            Direction::Up => from.1 - y,
            Direction::Down => y - from.1,
            Direction::First | Direction::Last | Direction::OtherLayer => 0,
        };
        let distance = |(x, y): (i32, i32)| i64::from(x - from.0).pow(2) + i64::from(y - from.1).pow(2);
        let there = others.iter().filter(|floating| ahead(middle(floating)) > 0);
        there.min_by_key(|floating| distance(middle(floating))).map(|floating| floating.tile.window)
    }

    fn move_column(&mut self, side: HorizontalSide) {
        let active = self.strip.active;
        if let Some(other) = self.strip.beside(active, side).filter(|_| !self.is_focus_above) {
            self.strip.columns.swap(active, other);
            self.strip.active = other;
        }
    }

    fn move_row(&mut self, by: isize) {
        if self.is_focus_above {
            return;
        }
        let Some(column) = self.strip.active_column() else { return };
        if let Some(other) = column.active.checked_add_signed(by).filter(|other| *other < column.rows.len()) {
            column.rows.swap(column.active, other);
            column.active = other;
        }
    }

    fn join(&mut self, side: HorizontalSide, area: &LayoutArea) {
        let active = self.strip.active;
        let Some(column) = self.strip.columns.get(active).filter(|_| !self.is_focus_above) else { return };
        let at = TilePosition { column: active, row: column.active };
        let window = column.rows[at.row].window;
        if column.rows.len() > 1 {
            let tile = self.strip.take(at, area);
            let index = if side == HorizontalSide::Left { active } else { active + 1 };
            self.strip.insert(index, TiledColumn::of(tile), area);
        } else {
            let beside = self.strip.beside(active, side).filter(|_| !column.is_fullscreen);
            let Some(other) = beside.filter(|other| !self.strip.columns[*other].is_fullscreen) else { return };
            let into = self.strip.columns[other].rows[0].window;
            let tile = self.strip.take(at, area);
            self.put_into_column_of(into, usize::MAX, None, tile);
        }
        self.set_focus(window);
    }

    /// Puts a window into the column of the window `beside`. `former`: the other rows' weights when it was there before.
    /// Returns the tile if no column can take it.
    fn put_into_column_of(
        &mut self,
        beside: WindowId,
        index: usize,
        former: Option<u32>,
        tile: LayoutTile,
    ) -> Option<LayoutTile> {
        match self.strip.find(beside).filter(|at| !self.strip.columns[at.column].is_fullscreen) {
            Some(at) => {
                self.strip.columns[at.column].insert(index, tile, former);
                None
            }
            None => Some(tile),
        }
    }

    /// The position of a tiled window, to restore it later.
    fn tile_restore_position(&self, at: TilePosition) -> RestorePosition {
        let column = &self.strip.columns[at.column];
        let left = at.column.checked_sub(1).and_then(|left| self.strip.columns[left].active_window());
        match column.rows.iter().find(|tile| tile.window != column.rows[at.row].window) {
            Some(other) => RestorePosition::Row {
                beside: other.window,
                index: at.row,
                weights_of_others: Some(column.weights_of_others(at.row)),
            },
            None => {
                RestorePosition::Column { width: column.width, span: column.span, display: column.display, after: left }
            }
        }
    }

    /// The position of any window, to restore it later; for a fullscreen window its position before fullscreen.
    pub fn restore_position(&self, window: WindowId) -> Option<RestorePosition> {
        if let Some(index) = self.floating_index(window) {
            return Some(RestorePosition::Floating(self.floating[index].rect));
        }
        let at = self.strip.find(window)?;
        let unfill = self.strip.columns[at.column].rows[at.row].position_before_fullscreen;
        Some(unfill.unwrap_or_else(|| self.tile_restore_position(at)))
    }

    /// Restores the position of a window. If that no longer exists, the window gets a column behind the active column.
    pub(super) fn restore(&mut self, tile: LayoutTile, back: Option<RestorePosition>, area: &LayoutArea) {
        let window = tile.window;
        match back {
            Some(RestorePosition::Floating(rect)) => self.put_above(tile, rect, true),
            Some(RestorePosition::Row { beside, index, weights_of_others }) => {
                if let Some(tile) = self.put_into_column_of(beside, index, weights_of_others, tile) {
                    self.strip.insert(self.strip.active + 1, TiledColumn::of(tile), area);
                }
            }
            Some(RestorePosition::Column { width, span, display, after }) => {
                let index = after.map_or(0, |left| self.strip.find(left).map_or(self.strip.active, |at| at.column) + 1);
                self.strip.insert(index, TiledColumn { width, span, display, ..TiledColumn::of(tile) }, area);
            }
            None => self.strip.insert(self.strip.active + 1, TiledColumn::of(tile), area),
        }
        self.set_focus(window);
    }

    fn fill_screen(&mut self, window: WindowId, area: &LayoutArea) {
        if let Some(other) = self.strip.fullscreen() {
            let other = self.strip.columns[other].rows[0].window;
            if other == window {
                return;
            }
            self.unfill_screen(other, area);
        }
        if let Some(index) = self.floating_index(window) {
            let back = RestorePosition::Floating(self.floating[index].rect);
            let Some(tile) = self.take(window, area) else { return };
            self.strip.insert(
                self.strip.active + 1,
                TiledColumn::of(LayoutTile { position_before_fullscreen: Some(back), ..tile }),
                area,
            );
        } else if let Some(at) = self.strip.find(window).filter(|at| self.strip.columns[at.column].rows.len() > 1) {
            let back = self.tile_restore_position(at);
            let tile = self.strip.take(at, area);
            self.strip.insert(
                at.column + 1,
                TiledColumn::of(LayoutTile { position_before_fullscreen: Some(back), ..tile }),
                area,
            );
        }
        if let Some(at) = self.strip.find(window) {
            self.strip.columns[at.column].is_fullscreen = true;
            self.set_focus(window);
        }
    }

    fn unfill_screen(&mut self, window: WindowId, area: &LayoutArea) {
        let Some(at) = self.strip.find(window).filter(|at| self.strip.columns[at.column].is_fullscreen) else { return };
        let focus = self.focus();
        self.strip.columns[at.column].is_fullscreen = false;
        if let Some(back) = self.strip.columns[at.column].rows[at.row].position_before_fullscreen.take() {
            let tile = self.strip.take(at, area);
            self.restore(tile, Some(back), area);
        }
        if let Some(focus) = focus {
            self.set_focus(focus);
        }
    }

    fn float(&mut self, window: WindowId, rect: Option<LayoutRect>, area: &LayoutArea) {
        self.unfill_screen(window, area);
        let Some(at) = self.strip.find(window) else { return };
        let back = self.tile_restore_position(at);
        let here = self.strip.on_screen(at, area);
        let tile = self.strip.take(at, area);
        let rect = rect.or(tile.last_floating).unwrap_or_else(|| smaller(here, tile.limits, area));
        self.put_above(LayoutTile { position_before_floating: Some(back), ..tile }, rect, true);
        self.set_focus(window);
    }

    fn set_width_from(&mut self, kept: HorizontalSide, width: ColumnWidth, area: &LayoutArea) {
        let before = self.strip.columns.get(self.strip.active).map_or(0, |column| column.width(area));
        self.change_column(&LayoutOp::SetWidth(width));
        let after = self.strip.columns.get(self.strip.active).map_or(0, |column| column.width(area));
        if kept == HorizontalSide::Right {
            self.strip.view += after - before;
        }
    }

    fn unfloat(&mut self, window: WindowId, area: &LayoutArea) {
        if self.floating_index(window).is_none() {
            return;
        }
        let Some(mut tile) = self.take(window, area) else { return };
        let back = tile.position_before_floating.take();
        self.restore(tile, back, area);
    }
}

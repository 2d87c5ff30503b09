//! The strip of a workspace: columns beside each other, wider than the screen, and the visible part of them.
//!
//! ```text
//!                view            view + width of the screen
//!                 |                 |
//!        ┌───┐ ┌──┴──┐ ┌───┐ ┌────┐ │ ┌───┐
//!        │ a │ │  b  │ │ c │ │ d* │ │ │ e │      * active: all of it is in the view
//!        └───┘ └──┬──┘ └───┘ └────┘ │ └───┘
//! ```
//! The view only scrolls as far as necessary: the active column must lie in it, and no space is blank as long as
//! columns are hidden. If a column opens or closes to the left, the view scrolls along, so that visible columns stay in
//! place.

use super::column::{LayoutTile, TiledColumn};
use super::op::{HorizontalSide, LayoutArea, LayoutRect};
use crate::shell::WindowId;

/// Columns and scroll position.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct ColumnStrip {
    pub columns: Vec<TiledColumn>,
    /// Index of the column that has the focus when the strip has it.
    pub active: usize,
    /// Scroll position: distance from the left edge of the first column to the left edge of the usable area, in
    /// physical pixels.
    pub view: i32,
}

/// Scroll position of a strip, and its range, in physical pixels from the left edge of the first column.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct StripScroll {
    /// Current position of the usable area's left edge.
    pub at: i32,
    /// The furthest position to the left.
    pub least: i32,
    /// The furthest position to the right.
    pub most: i32,
}

/// Position of a window in a strip.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct TilePosition {
    pub column: usize,
    pub row: usize,
}

impl ColumnStrip {
    pub fn find(&self, window: WindowId) -> Option<TilePosition> {
        let found = |(column, it): (usize, &TiledColumn)| it.index_of(window).map(|row| TilePosition { column, row });
        self.columns.iter().enumerate().find_map(found)
    }

    pub fn tiles(&self) -> impl Iterator<Item = &LayoutTile> {
        self.columns.iter().flat_map(|column| &column.rows)
    }

    pub fn tiles_mut(&mut self) -> impl Iterator<Item = &mut LayoutTile> {
        self.columns.iter_mut().flat_map(|column| &mut column.rows)
    }

    pub fn active_column(&mut self) -> Option<&mut TiledColumn> {
        self.columns.get_mut(self.active)
    }

    pub fn active_window(&self) -> Option<WindowId> {
        self.columns.get(self.active)?.active_window()
    }

    /// Index of the fullscreen column.
    pub fn fullscreen(&self) -> Option<usize> {
        self.columns.iter().position(|column| column.is_fullscreen)
    }

    /// Index of the neighbour of a column on that side.
    pub fn beside(&self, column: usize, side: HorizontalSide) -> Option<usize> {
        match side {
            HorizontalSide::Left => column.checked_sub(1),
            HorizontalSide::Right => Some(column + 1).filter(|next| *next < self.columns.len()),
        }
    }

    pub fn focus(&mut self, at: TilePosition) {
        self.active = at.column;
        self.columns[at.column].active = at.row;
    }

    /// Inserts a column. Visible columns stay in place, and the active column stays active, unless the strip was empty.
    pub fn insert(&mut self, index: usize, column: TiledColumn, area: &LayoutArea) {
        let index = index.min(self.columns.len());
        if index <= self.active && !self.columns.is_empty() {
            self.active += 1;
            self.view += column.width(area) + area.gap();
        }
        self.columns.insert(index, column);
    }

    /// Removes a row, and its column if that is empty then. Visible columns stay in place. If the active column is
    /// removed, the column right of it becomes active, or the last column.
    pub fn take(&mut self, at: TilePosition, area: &LayoutArea) -> LayoutTile {
        let before = self.columns[at.column].width(area) + area.gap();
        let tile = self.columns[at.column].take(at.row);
        let is_gone = self.columns[at.column].rows.is_empty();
        let after = if is_gone { 0 } else { self.columns[at.column].width(area) + area.gap() };
        if is_gone {
            self.columns.remove(at.column);
        }
        if at.column < self.active {
            self.view -= before - after;
            self.active -= usize::from(is_gone);
        }
        self.active = self.active.min(self.columns.len().saturating_sub(1));
        tile
    }

    /// Distance of a column's left edge from that of the first column, in physical pixels.
    pub fn left(&self, column: usize, area: &LayoutArea) -> i32 {
        self.columns[..column].iter().map(|column| column.width(area) + area.gap()).sum()
    }

    /// Left edge of the first column on the screen.
    pub fn origin(&self, area: &LayoutArea) -> i32 {
        area.usable.loc.x - self.view
    }

    /// Rectangle of a window on the screen.
    pub fn on_screen(&self, at: TilePosition, area: &LayoutArea) -> LayoutRect {
        let left = self.origin(area) + self.left(at.column, area);
        self.columns[at.column].rectangles(left, area)[at.row]
    }

    /// Range of the scroll position in which no space is blank while columns are hidden; `None` without columns.
    pub fn range(&self, area: &LayoutArea) -> Option<(i32, i32)> {
        let (first, last) = (self.columns.first()?, self.columns.last()?);
        let end = self.left(self.columns.len() - 1, area) + last.width(area) + last.margin(area);
        let start = -first.margin(area);
        Some((start, (end - area.usable.size.w).max(start)))
    }

    /// Scrolls to `wanted`, snapped to the nearest position at which a column, with its margin, touches an edge of the
    /// screen. If more of another column is visible than of the active column, the other column becomes active.
    pub fn scroll_to(&mut self, wanted: i32, area: &LayoutArea) {
        let Some((least, most)) = self.range(area) else { return };
        let room = area.usable.size.w;
        let mut columns: Vec<(i32, i32)> = Vec::with_capacity(self.columns.len());
        let mut left = 0;
        for column in &self.columns {
            let width = column.width(area);
            columns.push((left, width));
            left += width + area.gap();
        }
        let rests = self.columns.iter().zip(&columns).flat_map(|(column, (left, width))| {
            let margin = column.margin(area).min((room - width).max(0) / 2);
            [left - margin, left + width + margin - room].map(|view| view.clamp(least, most))
        });
        let off = |view: &i32| (i64::from(*view) - i64::from(wanted)).abs();
        let Some(view) = rests.min_by_key(off) else { return };
        let seen = |column: usize| {
            let (left, width) = columns[column];
            // In thousandths, so that a wide column that is cut counts less than a narrow column that is fully visible.
            let pixels = (left + width).min(view + room) - left.max(view);
            (i64::from(pixels.max(0)) * 1000 / i64::from(width.max(1)), pixels)
        };
        let active = self.active.min(columns.len() - 1);
        let best = (0..columns.len()).max_by_key(|column| {
            let (share, pixels) = seen(*column);
            (share, std::cmp::Reverse(column.abs_diff(active)), pixels)
        });
        (self.view, self.active) = (view, best.unwrap_or(active));
    }

    /// Scrolls the view no further than necessary.
    pub fn settle(&mut self, area: &LayoutArea) {
        let Some(((least, most), active)) = self.range(area).zip(self.columns.get(self.active)) else {
            self.view = 0;
            return;
        };
        let room = area.usable.size.w;
        self.view = self.view.min(most).max(least);
        let left = self.left(self.active, area);
        let width = active.width(area);
        let margin = active.margin(area).min((room - width).max(0) / 2);
        let (from, to) = (left - margin, left + width + margin);
        self.view = if active.is_fullscreen {
            left + area.usable.loc.x - area.full.loc.x
        } else {
            self.view.max(to - room).min(from)
        };
    }
}

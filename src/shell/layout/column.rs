//! A column of tiled windows, stacked as rows or shown as tabs.

use super::divide;
use super::op::{
    ColumnDisplay, ColumnSpan, ColumnWidth, LayoutArea, LayoutRect, MinimumSize, RestorePosition, RowHeight,
};
use crate::shell::WindowId;
use crate::shell::workspaces::ScreenId;

/// Limit, in physical pixels, on the minimum width that windows give their column, so that the sum of a hundred
/// thousand columns fits an `i32`.
pub(super) const WIDEST: i32 = 16_384;

/// A row whose weight is this many times larger or smaller than the mean of its column comes from another column: dragged
/// edges do not make rows so different.
const OUT_OF_SCALE: i64 = 16;

#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct LayoutTile {
    pub window: WindowId,
    pub limits: MinimumSize,
    pub height: RowHeight,
    /// Width of its last column in which it was alone, restored when it gets a column again.
    pub own_column_width: ColumnWidth,
    /// Its last floating rectangle.
    pub last_floating: Option<LayoutRect>,
    /// Its place among the columns when it stops floating.
    pub position_before_floating: Option<RestorePosition>,
    /// Its place when it leaves fullscreen.
    pub position_before_fullscreen: Option<RestorePosition>,
    /// The unplugged screen that it belongs to, if it is only a guest here.
    pub guest_of: Option<ScreenId>,
}

impl LayoutTile {
    pub fn new(window: WindowId, limits: MinimumSize) -> Self {
        LayoutTile {
            window,
            limits,
            height: RowHeight::Weight(1),
            own_column_width: ColumnWidth::HALF,
            last_floating: None,
            position_before_floating: None,
            position_before_fullscreen: None,
            guest_of: None,
        }
    }
}

/// Rows or tabs. Never empty.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct TiledColumn {
    pub width: ColumnWidth,
    pub span: ColumnSpan,
    pub display: ColumnDisplay,
    /// Covers the whole output, bars included, with a single row. `span` keeps the previous state.
    pub is_fullscreen: bool,
    pub rows: Vec<LayoutTile>,
    pub active: usize,
}

impl TiledColumn {
    pub fn of(tile: LayoutTile) -> Self {
        TiledColumn {
            width: tile.own_column_width,
            span: ColumnSpan::Plain,
            display: ColumnDisplay::Stacked,
            is_fullscreen: false,
            rows: vec![tile],
            active: 0,
        }
    }

    pub fn index_of(&self, window: WindowId) -> Option<usize> {
        self.rows.iter().position(|tile| tile.window == window)
    }

    pub fn active_window(&self) -> Option<WindowId> {
        self.rows.get(self.active).map(|tile| tile.window)
    }

    /// Its width in physical pixels.
    pub fn width(&self, area: &LayoutArea) -> i32 {
        let (room, gap) = (area.usable.size.w, area.gap());
        let wanted = match (self.is_fullscreen, self.span, self.width) {
            (true, ..) => return area.full.size.w,
            (_, ColumnSpan::Maximised, _) => room,
            (_, ColumnSpan::FullWidth, _) => room - 2 * gap,
            _ if area.is_narrow() => room - 2 * gap,
            (_, _, ColumnWidth::Share(part)) => {
                let share = i64::from(room - gap) * i64::from(part.min(divide::WHOLE)) / i64::from(divide::WHOLE);
                share as i32 - gap
            }
            (_, _, ColumnWidth::Pixels(width)) => area.physical(width).min(room),
        };
        let least = self.rows.iter().map(|tile| area.physical(tile.limits.width)).max().unwrap_or(0);
        wanted.max(least.min(WIDEST)).max(1)
    }

    /// Gap on both sides of the column, in physical pixels.
    pub fn margin(&self, area: &LayoutArea) -> i32 {
        if self.is_fullscreen || self.span == ColumnSpan::Maximised { 0 } else { area.gap() }
    }

    /// Whether it shows one row at a time: because the user asked for tabs, or because the rows do not fit below each
    /// other.
    pub fn is_tabbed(&self, area: &LayoutArea) -> bool {
        let (gap, room) = self.gap_and_room(area);
        let least = |tile: &LayoutTile| i64::from(area.physical(tile.limits.height).max(1) + gap);
        self.display == ColumnDisplay::Tabbed || self.rows.iter().map(least).sum::<i64>() > i64::from(room + gap)
    }

    /// Height of its tab titles, in physical pixels; 0 without tabs.
    pub fn titles(&self, area: &LayoutArea) -> i32 {
        let has_titles = self.rows.len() > 1 && !self.is_fullscreen && self.is_tabbed(area);
        let (_, room) = self.gap_and_room(area);
        if has_titles { area.physical(area.titles).min(room - 1).max(0) } else { 0 }
    }

    /// Gap between rows, and height for all rows including the gaps, in physical pixels.
    fn gap_and_room(&self, area: &LayoutArea) -> (i32, i32) {
        (area.gap(), area.usable.size.h - 2 * self.margin(area))
    }

    /// Rectangles of the rows, from top to bottom, if the column's left edge is at `x`; in physical pixels.
    pub fn rectangles(&self, x: i32, area: &LayoutArea) -> Vec<LayoutRect> {
        let width = self.width(area);
        if self.is_fullscreen {
            return vec![LayoutRect::new((x, area.full.loc.y).into(), area.full.size); self.rows.len()];
        }
        let (gap, room) = self.gap_and_room(area);
        let top = area.usable.loc.y + self.margin(area);
        let least = |tile: &LayoutTile| area.physical(tile.limits.height).max(1);
        if self.is_tabbed(area) {
            let (top, room) = (top + self.titles(area), room - self.titles(area));
            let rect = |tile| LayoutRect::new((x, top).into(), (width, room.max(least(tile))).into());
            return self.rows.iter().map(rect).collect();
        }
        let rows: Vec<_> = self.rows.iter().map(|tile| (self.height_of(tile, area), least(tile))).collect();
        let mut y = top;
        let place = |height| {
            let rect = LayoutRect::new((x, y).into(), (width, height).into());
            y += height + gap;
            rect
        };
        divide::divide(room - gap * (rows.len() as i32 - 1), &rows).into_iter().map(place).collect()
    }

    fn height_of(&self, tile: &LayoutTile, area: &LayoutArea) -> divide::PartLength {
        match tile.height {
            RowHeight::Pixels(height) if self.rows.len() > 1 => divide::PartLength::Fixed(area.physical(height)),
            RowHeight::Weight(weight) => divide::PartLength::Weight(weight.max(1)),
            RowHeight::Pixels(_) => divide::PartLength::Weight(1),
        }
    }

    /// `height` for row `index`. Weights are in proportion to those of their own column, where an edge that was dragged
    /// leaves pixels; a weight of another column, or that of a new window, becomes the mean.
    fn to_scale(&self, index: usize, height: RowHeight) -> RowHeight {
        let RowHeight::Weight(weight) = height else { return height };
        let others = self.rows.iter().enumerate().filter(|(other, _)| *other != index);
        let weights = others.filter_map(|(_, tile)| match tile.height {
            RowHeight::Weight(weight) => Some(i64::from(weight.max(1))),
            RowHeight::Pixels(_) => None,
        });
        let (sum, count) = weights.fold((0, 0), |(sum, count), weight| (sum + weight, count + 1));
        let (own, mean) = (i64::from(weight.max(1)), sum / count.max(1));
        let is_to_scale = count == 0 || own * OUT_OF_SCALE > mean && own < mean * OUT_OF_SCALE;
        if is_to_scale { height } else { RowHeight::Weight(mean.clamp(1, i64::from(u16::MAX)) as u16) }
    }

    /// Sets the height of the active row. Only one row of a column can have a height in pixels.
    pub fn set_height(&mut self, height: RowHeight) {
        if matches!(height, RowHeight::Pixels(_)) {
            for index in 0..self.rows.len() {
                if matches!(self.rows[index].height, RowHeight::Pixels(_)) {
                    self.rows[index].height = self.to_scale(index, RowHeight::Weight(1));
                }
            }
        }
        let height = self.to_scale(self.active, height);
        if let Some(tile) = self.rows.get_mut(self.active) {
            tile.height = height;
        }
    }

    /// Sets the height of a row, in logical pixels; the row below it takes the rest. Both keep their minimum heights.
    pub fn set_row_edge(&mut self, row: usize, height: i32, area: &LayoutArea) {
        if self.is_tabbed(area) || self.is_fullscreen || row + 1 >= self.rows.len() {
            return;
        }
        let mut heights: Vec<i32> = self.rectangles(0, area).iter().map(|rect| rect.size.h).collect();
        let both = heights[row] + heights[row + 1];
        let least = |tile: &LayoutTile| area.physical(tile.limits.height).max(1);
        let most = (both - least(&self.rows[row + 1])).max(1);
        heights[row] = area.physical(height).max(least(&self.rows[row])).min(most);
        heights[row + 1] = both - heights[row];
        // The heights fill the column, so as weights they are themselves.
        for (tile, height) in self.rows.iter_mut().zip(heights) {
            tile.height = RowHeight::Weight(height.clamp(1, i32::from(u16::MAX)) as u16);
        }
    }

    /// Removes a row. The active row stays active; if it was the removed row, a neighbour becomes active.
    pub fn take(&mut self, index: usize) -> LayoutTile {
        let mut tile = self.rows.remove(index);
        if self.rows.is_empty() {
            tile.own_column_width = self.width;
        }
        if self.active > index || self.active == self.rows.len() {
            self.active = self.active.saturating_sub(1);
        }
        tile
    }

    /// The weights of all rows but `index` together.
    pub fn weights_of_others(&self, index: usize) -> u32 {
        let others = self.rows.iter().enumerate().filter(|(other, _)| *other != index);
        let weights = others.map(|(_, tile)| match tile.height {
            RowHeight::Weight(weight) => u32::from(weight),
            RowHeight::Pixels(_) => 0,
        });
        weights.sum()
    }

    /// Inserts a row, which becomes the active row. `former`: the other rows' weights when it was in this column before;
    /// if they are the same, its own is in proportion to them, however different it is.
    pub fn insert(&mut self, index: usize, tile: LayoutTile, former: Option<u32>) {
        let index = index.min(self.rows.len());
        let has_pixels = self.rows.iter().any(|tile| matches!(tile.height, RowHeight::Pixels(_)));
        let height =
            if has_pixels && matches!(tile.height, RowHeight::Pixels(_)) { RowHeight::Weight(1) } else { tile.height };
        self.rows.insert(index, LayoutTile { height, ..tile });
        if former != Some(self.weights_of_others(index)) {
            self.rows[index].height = self.to_scale(index, height);
        }
        self.active = index;
    }
}

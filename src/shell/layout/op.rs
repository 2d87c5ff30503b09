//! Operations on a layout: one [`LayoutOp`] for each action of a user, a client, an output or the configuration.

use smithay::utils::{Physical, Rectangle};

use crate::shell::WindowId;
use crate::shell::workspaces::{ScreenId, WorkspaceId, WorkspaceRenumbering};

/// A rectangle in physical pixels from the output's upper left corner.
pub type LayoutRect = Rectangle<i32, Physical>;

/// The area of a screen that the layout may use.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct LayoutArea {
    pub full: LayoutRect,
    /// The screen without bars and panels.
    pub usable: LayoutRect,
    /// Physical pixels per 120 logical pixels, as in `wp_fractional_scale_v1`.
    pub scale: u32,
    /// Gap between windows, and between windows and the edge, in logical pixels.
    pub gap: i32,
    /// Height of the titles above a column with tabs, in logical pixels.
    pub titles: i32,
}

/// Value of [`LayoutArea::scale`] for a scale of 1.
const SCALE_UNIT: i64 = 120;
/// Greatest length on a screen, in pixels, so that sums of thousands of lengths fit an `i32`.
const MAX_LENGTH: i64 = crate::bounds::MAX_EXTENT as i64;
/// On a screen narrower than this, in logical pixels, such as a phone's, columns are as wide as the screen.
const NARROW: i32 = 600;
/// Part of a floating window that stays on the screen along each axis, in logical pixels: enough to drag it back.
const REACHABLE: i32 = 48;

impl LayoutArea {
    /// Converts a length from logical to physical pixels, rounded and at least 0.
    pub fn physical(&self, logical: i32) -> i32 {
        let scaled = (i64::from(logical.max(0)) * i64::from(self.scale) + SCALE_UNIT / 2) / SCALE_UNIT;
        scaled.min(MAX_LENGTH) as i32
    }

    /// The gap in physical pixels, limited so that something is left between two gaps.
    pub fn gap(&self) -> i32 {
        self.physical(self.gap).min((self.usable.size.w.min(self.usable.size.h) - 1) / 2).max(0)
    }

    /// Whether the screen only has room for a single column.
    pub fn is_narrow(&self) -> bool {
        self.usable.size.w < self.physical(NARROW)
    }

    /// Moves the rectangle of a floating window so that the window can be dragged.
    pub(super) fn reachable(&self, rect: LayoutRect) -> LayoutRect {
        let limit = crate::bounds::MAX_EXTENT;
        let along = |start: i32, length: i32, from: i32, room: i32| {
            let length = length.clamp(1, limit);
            let kept = self.physical(REACHABLE).clamp(1, length.min(room));
            (start.clamp(-limit, limit).clamp(from + kept - length, from + room - kept), length)
        };
        let usable = self.usable;
        let (x, width) = along(rect.loc.x, rect.size.w, usable.loc.x, usable.size.w);
        let (y, height) = along(rect.loc.y, rect.size.h, usable.loc.y, usable.size.h);
        LayoutRect::new((x, y).into(), (width, height).into())
    }

    /// The area with valid values: at least a pixel in size, and the usable area within the full area.
    pub(super) fn sanitised(mut self) -> Self {
        self.scale = self.scale.clamp(1, SCALE_UNIT as u32 * crate::bounds::MAX_SCALE as u32);
        self.full.size =
            (self.full.size.w.clamp(1, MAX_LENGTH as i32), self.full.size.h.clamp(1, MAX_LENGTH as i32)).into();
        let usable = self.usable.intersection(self.full).unwrap_or(self.full);
        self.usable = if usable.is_empty() { self.full } else { usable };
        self
    }
}

/// Width of a column.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ColumnWidth {
    /// Thousandths of the screen, gaps included, so that two halves fill it.
    Share(u16),
    /// Width in logical pixels.
    Pixels(i32),
}

impl ColumnWidth {
    /// Half of the screen, the default of a new column.
    pub const HALF: ColumnWidth = ColumnWidth::Share(500);
}

/// Change of a width or height by the user.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Resize {
    /// By this percentage of the screen.
    By(i8),
    /// To this percentage of the screen.
    To(u8),
    /// To the next of a few preset widths, or to the height that the other rows leave.
    Next,
}

/// Height of a row in a column.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum RowHeight {
    /// Share of the height that is left after rows in pixels; a weight of 0 counts as 1.
    Weight(u16),
    /// In logical pixels. Only one row of a column can have it. A row that is alone fills its column all the same.
    Pixels(i32),
}

/// Minimum size of a window, set by its client, in logical pixels.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct MinimumSize {
    /// Minimum width; 0 for no minimum.
    pub width: i32,
    /// Minimum height; 0 for no minimum.
    pub height: i32,
}

/// Display of the rows of a column.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum ColumnDisplay {
    /// Rows lie below each other.
    #[default]
    Stacked,
    /// One row at a time. Rows whose minimum heights exceed the screen are always tabs.
    Tabbed,
}

/// Extent of a column.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum ColumnSpan {
    /// As wide as its [`ColumnWidth`].
    #[default]
    Plain,
    /// As wide as the screen, with gaps.
    FullWidth,
    /// The whole usable area, without gaps.
    Maximised,
}

/// Previous place of a window that is fullscreen, floating or minimised.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum RestorePosition {
    /// A row in the column of another window.
    Row {
        /// A window of this column.
        beside: WindowId,
        /// Number of rows above.
        index: usize,
        /// The other rows' weights together; `None`: the window was not in this column.
        weights_of_others: Option<u32>,
    },
    /// Alone in a column, right of another column.
    Column {
        /// Its width for [`ColumnSpan::Plain`].
        width: ColumnWidth,
        span: ColumnSpan,
        display: ColumnDisplay,
        /// A window of the column to the left; `None` for the first column.
        after: Option<WindowId>,
    },
    /// Floating above the columns.
    Floating(LayoutRect),
}

/// The place in a strip for a released window.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum DropTarget {
    /// A new column.
    Column {
        /// A window of the column to the left; `None` for the first column.
        after: Option<WindowId>,
    },
    /// A row in the column of another window.
    Row {
        /// A window of this column.
        beside: WindowId,
        /// Number of rows above.
        index: usize,
    },
}

/// Placement of a new window.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct WindowOpening {
    /// The workspace, or `None` for the focused workspace.
    pub place: Option<WorkspaceId>,
    /// Rectangle of a floating window, or `None` for a new column behind the active column.
    pub floating: Option<LayoutRect>,
    /// Whether it becomes the focused window of its workspace.
    pub focused: bool,
    /// Previous place of a window that comes back, which overrides the other fields.
    pub back: Option<RestorePosition>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum HorizontalSide {
    /// Towards the first column.
    Left,
    /// Towards the last column.
    Right,
}

/// Direction of a focus movement.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Direction {
    /// The column, or the nearest floating window, on that side.
    Column(HorizontalSide),
    /// The row above, or the nearest floating window above.
    Up,
    /// The row below, or the nearest floating window below.
    Down,
    First,
    Last,
    /// From the columns to the floating windows above them, or back.
    OtherLayer,
}

/// An operation on a layout. An op that is not possible (no such window, no column on that side) does nothing.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum LayoutOp {
    /// A screen is plugged in or changes. A known screen has its workspaces back; a new screen starts with empty
    /// workspaces.
    Connect(ScreenId, LayoutArea),
    /// A screen is unplugged. Until it is back, its windows are shown on another screen, on workspaces of the same
    /// numbers.
    Disconnect(ScreenId),
    /// The list of workspaces with a name changes. Windows of a workspace that is gone move to the end of the visible
    /// workspace of their home; if that is gone, workspace 1 becomes visible there.
    Renumber(WorkspaceRenumbering),
    Open(WindowId, MinimumSize, WindowOpening),
    Close(WindowId),
    /// The client of a window sets its minimum size.
    SetMinimumSize(WindowId, MinimumSize),
    /// Focuses a window and shows its workspace.
    Focus(WindowId),
    /// Moves the focus within its workspace.
    FocusTo(Direction),
    /// Shows and focuses a workspace.
    Show(WorkspaceId),
    /// Moves a window to the end of a workspace, where it becomes the active window. The focus does not follow it.
    Send(WindowId, WorkspaceId),
    /// Moves the column of a window to the end of a workspace, with its rows unchanged. Its active row becomes the
    /// active window there. The focus does not follow it. A floating window moves alone.
    SendColumn(WindowId, WorkspaceId),
    /// Swaps the active column with the column on that side.
    MoveColumn(HorizontalSide),
    /// Swaps the active row with the row above.
    MoveUp,
    /// Swaps the active row with the row below.
    MoveDown,
    /// Moves the active window into the column on that side, as its last row, if it is alone in its own column.
    /// Otherwise moves it out into a new column on that side.
    Join(HorizontalSide),
    /// Sets the width of the active column, and its span to [`ColumnSpan::Plain`].
    SetWidth(ColumnWidth),
    /// Sets the height of a row, in logical pixels. The row below it takes the rest, and all others stay as they are. Not
    /// for tabs.
    SetRowEdge(WindowId, i32),
    /// Sets the height of the active row. A height in pixels resets that of another row.
    SetHeight(RowHeight),
    /// Sets the display of the active column's rows.
    SetDisplay(ColumnDisplay),
    /// Sets the span of the active column.
    SetSpan(ColumnSpan),
    /// Makes a window fullscreen, or restores it. A workspace has at most one fullscreen window.
    SetFullscreen(WindowId, bool),
    /// Makes a window float above the columns (at the rectangle, or at its last floating place), or puts it back among
    /// them.
    SetFloating(WindowId, bool, Option<LayoutRect>),
    /// Scrolls a workspace to a position, in pixels from its first column. The view snaps to the nearest position at
    /// which a column touches an edge of the screen, and a column in the view becomes active.
    ScrollTo(WorkspaceId, i32),
    /// Puts a floating window among the columns of its workspace, where the user released it. It gets the focus there.
    Drop(WindowId, DropTarget),
    /// Sets the width of the active column; its edge on that side stays in place as far as the view allows. Sets its span
    /// to [`ColumnSpan::Plain`].
    SetWidthFrom(HorizontalSide, ColumnWidth),
    /// Sets the rectangle of a floating window.
    MoveFloating(WindowId, LayoutRect),
}

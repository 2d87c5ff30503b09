//! What a person, a client, an output or the configuration can do to a layout: one [`Op`] for each.

use smithay::utils::{Physical, Rectangle};

use crate::shell::WindowId;
use crate::shell::workspaces::{Place, Screen};

/// A rectangle on an output, in physical pixels from the output's upper left corner.
pub type Rect = Rectangle<i32, Physical>;

/// What a screen has room for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Area {
    /// All of it.
    pub full: Rect,
    /// What bars and panels leave of it.
    pub usable: Rect,
    /// Physical pixels for 120 logical ones, as `wp_fractional_scale_v1` counts them.
    pub scale: u32,
    /// Between windows, and between them and the edge, in logical pixels.
    pub gap: i32,
    /// How high titles are above a column with tabs, in logical pixels.
    pub titles: i32,
}

/// Logical pixels that a scale of 1 is counted in.
const SCALE_UNIT: i64 = 120;
/// No length on a screen is longer, in pixels: sums of thousands of them fit an `i32`.
const MAX_LENGTH: i64 = crate::bounds::MAX_EXTENT as i64;
/// Columns on a screen that is narrower than this, in logical pixels, are as wide as it is: a phone's.
const NARROW: i32 = 600;
/// So much of a floating window stays on the screen along each axis, in logical pixels: enough to take hold of it.
const REACHABLE: i32 = 48;

impl Area {
    /// A length in logical pixels as physical ones, rounded; at least 0.
    pub fn physical(&self, logical: i32) -> i32 {
        let scaled = (i64::from(logical.max(0)) * i64::from(self.scale) + SCALE_UNIT / 2) / SCALE_UNIT;
        scaled.min(MAX_LENGTH) as i32
    }

    /// The gap in physical pixels; never so wide that nothing is left between two of them.
    pub fn gap(&self) -> i32 {
        self.physical(self.gap).min((self.usable.size.w.min(self.usable.size.h) - 1) / 2).max(0)
    }

    /// Whether there is room for one column alone.
    pub fn is_narrow(&self) -> bool {
        self.usable.size.w < self.physical(NARROW)
    }

    /// A floating window's rectangle, moved so that it can be taken hold of.
    pub(super) fn reachable(&self, rect: Rect) -> Rect {
        let limit = crate::bounds::MAX_EXTENT;
        let along = |start: i32, length: i32, from: i32, room: i32| {
            let length = length.clamp(1, limit);
            let kept = self.physical(REACHABLE).clamp(1, length.min(room));
            (start.clamp(-limit, limit).clamp(from + kept - length, from + room - kept), length)
        };
        let usable = self.usable;
        let (x, width) = along(rect.loc.x, rect.size.w, usable.loc.x, usable.size.w);
        let (y, height) = along(rect.loc.y, rect.size.h, usable.loc.y, usable.size.h);
        Rect::new((x, y).into(), (width, height).into())
    }

    /// With room for at least a pixel, and the usable part inside of the whole.
    pub(super) fn sane(mut self) -> Self {
        self.scale = self.scale.clamp(1, SCALE_UNIT as u32 * crate::bounds::MAX_SCALE as u32);
        self.full.size =
            (self.full.size.w.clamp(1, MAX_LENGTH as i32), self.full.size.h.clamp(1, MAX_LENGTH as i32)).into();
        let usable = self.usable.intersection(self.full).unwrap_or(self.full);
        self.usable = if usable.is_empty() { self.full } else { usable };
        self
    }
}

/// How wide a column is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Width {
    /// So many thousandths of the screen, gaps included: two halves fill it.
    Share(u16),
    /// Logical pixels.
    Pixels(i32),
}

impl Width {
    /// Half of the screen: what a column has as long as nobody says otherwise.
    pub const HALF: Width = Width::Share(500);
}

/// How a person changes a width or a height.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Resize {
    /// By so many hundredths of the screen.
    By(i8),
    /// To so many hundredths of the screen.
    To(u8),
    /// To the next one of a few widths; to the height that follows from the others.
    Next,
}

/// How high a row of a column is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Height {
    /// This part of what rows with a height of their own leave; a weight of 0 counts as 1.
    Weight(u16),
    /// Logical pixels. One row of a column can have it, and one that is alone fills its column all the same.
    Pixels(i32),
}

/// How small a window can be, in logical pixels: what its client says.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Limits {
    /// The least width; 0 if it does not matter.
    pub width: i32,
    /// The least height; 0 if it does not matter.
    pub height: i32,
}

/// How the rows of a column are shown.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Display {
    /// Below each other.
    #[default]
    Stacked,
    /// One at a time. Rows that cannot be as small as the screen is are shown like that whatever is said.
    Tabbed,
}

/// How far a column reaches.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Span {
    /// As wide as its width says.
    #[default]
    Plain,
    /// As wide as the screen, with gaps.
    FullWidth,
    /// All of what bars leave, without gaps.
    Maximised,
}

/// Where a window was that fills the screen, floats, or is minimised.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Back {
    /// In the column of that window, that many rows down.
    Row {
        /// That window.
        beside: WindowId,
        /// How many rows are above.
        index: usize,
    },
    /// Alone in a column like this, right of that window's; the first if there is none.
    Column {
        /// Its width when it is plain.
        width: Width,
        /// How far it reaches.
        span: Span,
        /// How its rows are shown.
        display: Display,
        /// A window of the column on its left.
        after: Option<WindowId>,
    },
    /// Above the columns.
    Floating(Rect),
}

/// Where a new window goes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Opening {
    /// Which workspace; the one with the focus if none is said.
    pub place: Option<Place>,
    /// As a floating window, there; else as a column behind the active one.
    pub floating: Option<Rect>,
    /// Whether its workspace gives it the focus.
    pub focused: bool,
    /// Where it was before, if it comes back: that counts before the rest.
    pub back: Option<Back>,
}

/// To the left, or to the right.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Side {
    /// Towards the first column.
    Left,
    /// Towards the last one.
    Right,
}

/// Where the focus goes.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Direction {
    /// The column, or the nearest floating window, on that side.
    Column(Side),
    /// The row above, or the nearest floating window there.
    Up,
    /// The row below, or the nearest floating window there.
    Down,
    /// The first column.
    First,
    /// The last one.
    Last,
    /// From the columns to the floating windows above them, or back.
    OtherLayer,
}

/// Something that is done to a layout. What is not possible (no such window, nothing on that side) does nothing.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Op {
    /// A screen is plugged in: it has its workspaces back, and on a new one all are empty.
    Connect(Screen, Area),
    /// A screen is gone: its windows are on the workspaces of the same numbers of another one until it is back.
    Disconnect(Screen),
    /// A window opens.
    Open(WindowId, Limits, Opening),
    /// It is gone.
    Close(WindowId),
    /// Its client says how small it can be.
    Limit(WindowId, Limits),
    /// It has the focus; its workspace is seen.
    Focus(WindowId),
    /// The focus moves within its workspace.
    FocusTo(Direction),
    /// The focus goes to this workspace; it is seen.
    Show(Place),
    /// A window moves to the end of a workspace and is that one's active window; the focus stays.
    Send(WindowId, Place),
    /// The column of a window moves to the end of a workspace, with its rows as they are, and its active row is that one's active
    /// window; the focus stays. A floating window moves alone.
    SendColumn(WindowId, Place),
    /// The active column changes places with the one on that side.
    MoveColumn(Side),
    /// The active row changes places with the one above it.
    MoveUp,
    /// The active row changes places with the one below it.
    MoveDown,
    /// A window that is alone in its column joins the column on that side, as its last row; one that is not gets a column of
    /// its own there.
    Join(Side),
    /// How wide the active column is; it is plain then.
    SetWidth(Width),
    /// How high the active row is; a height in pixels takes away that of another row.
    SetHeight(Height),
    /// How the rows of the active column are shown.
    SetDisplay(Display),
    /// How far the active column reaches.
    SetSpan(Span),
    /// A window fills the screen, or goes back to where it was; one of a workspace does so at most.
    SetFullscreen(WindowId, bool),
    /// A window floats above the columns (where it did last, or there), or is back among them.
    SetFloating(WindowId, bool, Option<Rect>),
    /// The view of a workspace is to be there, in pixels from its first column: it comes to rest where a column touches an edge
    /// of the screen, and a column that is in it is active.
    Look(Place, i32),
    /// A floating window is there.
    MoveFloating(WindowId, Rect),
}

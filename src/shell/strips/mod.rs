//! Strips of columns: applies the tiling [layout](super::layout) to windows, workspaces and outputs.
//!
//! Three states are kept apart: the layout's target (`Layout`), the states that a client was sent and has acknowledged
//! (`Window::wanted`, `Window::applied`), and the picture (`Window::rect`, and `shell::animation` on the way there).
//! Windows that are resized together change in one frame: the content of a client that has not answered is stretched,
//! as it is after a bar appears (`refitting`). Waiting for all clients would make fast clients as slow as the slowest,
//! and would delay the answer to a key that moves a column by the longest wait.
//!
//! ```text
//!   windows, outputs, focus ─► follow: ops ─► Layout ─► arrange ─► place: wanted ─► configure ─► client
//!   keys, messages (act)    ─────────────────┘                        └─► drawn in the next frame, maybe stretched
//! ```
//! This is done at most once in a turn, before the latch, and only if [`Shell::changes`](super::Shell::changes) has
//! advanced. Without a strip it is not done at all. If clients cause changes in every turn, it takes an eighth of the
//! time at most, but is always complete before a frame that shows it.

pub mod acting;
mod following;
mod placing;

pub use following::{arrange, arrange_in_time};
pub(super) use following::{expected, foresee, hear_limits, hear_name};

use smithay::output::Output;
use smithay::utils::{Logical, Point, Rectangle};

use super::layout::op::{Rect, Span};
use super::layout::{Area, Back, Layout, Op, Seen};
pub use super::titles::TITLES;
use super::workspaces::{Place, Screen};
use super::{Shell, ShellRevision, Window, WindowId};
use crate::shell::{Desk, geometry};
use crate::state::State;
use upbeat_timing::time::Instant;

/// Gap between windows, and between windows and the edge, in logical pixels: enough to separate them and to show the
/// focus border.
const GAP: i32 = 8;
/// A scale of 1 in the unit of [`Area::scale`].
const UNSCALED: u32 = 120;
/// The layout's placeholder screen: real screens have greater numbers.
const NOWHERE: Screen = Screen(0);

/// Tiling mode of a workspace.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Mode {
    /// Windows lie above each other, at places of their own.
    #[default]
    Floating,
    /// Windows lie beside each other, in columns.
    Strip,
}

impl Mode {
    pub const fn other(self) -> Self {
        match self {
            Mode::Floating => Mode::Strip,
            Mode::Strip => Mode::Floating,
        }
    }
}

/// The tiling mode of all workspaces, and the layout of their windows.
#[derive(Debug)]
pub struct Strips {
    layout: Layout,
    /// Default mode of workspaces.
    mode: Mode,
    /// Workspaces for which the user chose another mode.
    chosen: Vec<(Place, Mode)>,
    /// [`Shell::changes`] at the last arrangement; `None` if another is necessary.
    arranged: Option<ShellRevision>,
    /// Until this time changes by clients cause no arrangement.
    pauses_until: Instant,
    /// Number of arrangements. For tests.
    arrangements: u64,
    has_windows: bool,
    /// The outputs, with their rectangles (global logical coordinates).
    screens: Vec<(Screen, Rectangle<i32, Logical>)>,
    /// Workspace of the focused window that was unmapped last.
    lost: Option<Place>,
    /// Positions of minimised windows.
    ways_back: Vec<(WindowId, Back)>,
}

impl Default for Strips {
    fn default() -> Self {
        Strips {
            layout: Layout::new(NOWHERE),
            mode: Mode::Floating,
            chosen: Vec::new(),
            arranged: None,
            pauses_until: Instant::ZERO,
            arrangements: 0,
            has_windows: false,
            screens: Vec::new(),
            lost: None,
            ways_back: Vec::new(),
        }
    }
}

impl Strips {
    pub fn mode(&self, place: Place) -> Mode {
        self.chosen.iter().find(|(chosen, _)| *chosen == place).map_or(self.mode, |(_, mode)| *mode)
    }

    /// Sets the default mode of workspaces. Returns whether it has changed.
    pub fn set_mode(&mut self, mode: Mode) -> bool {
        self.arranged = None;
        std::mem::replace(&mut self.mode, mode) != mode
    }

    /// Number of arrangements. For tests.
    pub const fn arrangements(&self) -> u64 {
        self.arrangements
    }

    /// Schedules an arrangement, even if [`Shell::changes`] does not advance.
    pub(super) fn stale(&mut self) {
        self.arranged = None;
    }

    fn choose(&mut self, place: Place, mode: Mode) {
        self.arranged = None;
        self.chosen.retain(|(chosen, _)| *chosen != place);
        if mode != self.mode {
            self.chosen.push((place, mode));
        }
    }

    /// Whether workspaces lie above each other: they do if columns, which lie beside each other, are the default.
    pub(super) fn are_spaces_vertical(&self) -> bool {
        self.mode == Mode::Strip
    }

    /// Whether any workspace is a strip, or was a strip until now.
    pub fn is_used(&self) -> bool {
        self.mode == Mode::Strip || self.has_windows || self.chosen.iter().any(|(_, mode)| *mode == Mode::Strip)
    }

    /// Every column with tabs: its visible window, and all its windows.
    pub(super) fn tabbed(&self) -> impl Iterator<Item = (WindowId, Vec<WindowId>)> {
        self.layout.tabbed()
    }

    /// Moves the column of a window to another workspace, if that has columns. Returns the column's windows; none if
    /// the window is in no column.
    pub(super) fn send_column(&mut self, id: WindowId, to: Place) -> Vec<WindowId> {
        let column = self.layout.column_of(id);
        if !column.is_empty() && self.mode(to) == Mode::Strip {
            self.layout.apply(&Op::SendColumn(id, to));
        }
        column
    }

    /// Remembers the position of a window that is about to be minimised.
    fn keep_way_back(&mut self, id: WindowId) {
        self.forget_way_back(id);
        self.ways_back.extend(self.layout.way_back(id).map(|back| (id, back)));
    }

    /// Sets the span that a minimised window's own column will have when it is restored.
    fn span_when_back(&mut self, id: WindowId, wanted: Span) {
        let back = self.ways_back.iter_mut().find(|(known, _)| *known == id);
        if let Some((_, Back::Column { span, .. })) = back {
            *span = wanted;
        }
    }

    /// Called when a window is restored or gone.
    pub(super) fn forget_way_back(&mut self, id: WindowId) {
        self.ways_back.retain(|(known, _)| *known != id);
    }

    /// Scroll position of a workspace's columns, if it has any, in logical pixels.
    pub(super) fn view(&self, place: Place) -> Option<Seen> {
        self.layout.view(place).filter(|_| self.mode(place) == Mode::Strip)
    }

    /// Rectangle of an output, if it was connected at the last arrangement (global logical coordinates).
    pub(super) fn full(&self, screen: Screen) -> Option<Rectangle<i32, Logical>> {
        self.screens.iter().find(|(known, _)| *known == screen).map(|(_, full)| *full)
    }

    /// The layout's area of an output. In logical pixels, because clients can only be sent whole logical sizes.
    fn area(shell: &Shell, output: &Output) -> Area {
        let (full, usable) = (geometry(output), shell.layers.usable(output));
        let local = |rect: Rectangle<i32, Logical>| {
            let corner = rect.loc - full.loc;
            Rect::new((corner.x, corner.y).into(), (rect.size.w, rect.size.h).into())
        };
        Area { full: local(full), usable: local(usable), scale: UNSCALED, gap: GAP, titles: TITLES }
    }
}

impl Window {
    /// Whether it floats on any workspace: a dialog, a window of fixed size, or by a rule.
    fn floats_always(&self) -> bool {
        let limits = self.own_size_limits();
        let is_fixed = |min: i32, max: i32| max > 0 && min >= max;
        let by_itself =
            self.parent.is_some() || is_fixed(limits.min.w, limits.max.w) && is_fixed(limits.min.h, limits.max.h);
        self.wished_floating.unwrap_or(by_itself)
    }
}

impl Shell {
    /// Whether a window is tiled, or will be after the next arrangement.
    pub(super) fn is_for_strip(&self, id: WindowId) -> bool {
        let is_strip = || self.workspaces.place(id).is_some_and(|place| self.strips.mode(place) == Mode::Strip);
        let is_tile = |window: &Window| window.in_strip || !window.placed && !window.floats_always();
        self.strips.is_used() && is_strip() && self.window(id).is_some_and(is_tile)
    }

    /// Whether a window is tiled.
    pub fn is_tile(&self, id: WindowId) -> bool {
        self.window(id).is_some_and(|window| window.in_strip)
    }

    /// Whether a window may be visible at `point` (global logical coordinates): columns are only drawn on their own
    /// output.
    pub(super) fn may_be_at(&self, window: &Window, point: Point<f64, Logical>) -> bool {
        let full = || self.strips.full(self.workspaces.place(window.id)?.screen);
        !window.in_strip || full().is_none_or(|full| full.to_f64().contains(point))
    }

    /// The window that gets the focus on a workspace, if that is a strip.
    pub(super) fn next_in_strip(&self, place: Place) -> Option<WindowId> {
        let next = self.strips.layout.focus_on(place).filter(|_| self.strips.mode(place) == Mode::Strip)?;
        self.window(next).filter(|window| window.mapped).map(|window| window.id)
    }

    /// Removes an unmapped window from the layout.
    pub(super) fn leave_strip(&mut self, id: WindowId) {
        if !self.strips.has_windows {
            return;
        }
        if self.focused == Some(id) {
            self.strips.lost = self.workspaces.place(id);
        }
        self.strips.layout.apply(&Op::Close(id));
        self.strips.arranged = None;
    }

    /// The window that gets the focus after the focused window [left](Self::leave_strip) its strip.
    pub(super) fn after_lost(&mut self) -> Option<WindowId> {
        let place = self.strips.lost.take()?;
        self.next_in_strip(place).filter(|id| self.is_visible(*id))
    }
}

/// Sets the default mode of workspaces.
pub fn set_mode(state: &mut State, mode: Mode) {
    if state.shell.strips.set_mode(mode) {
        state.need_all();
    }
}

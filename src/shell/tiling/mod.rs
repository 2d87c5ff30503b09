//! Strips of columns: applies the tiling [layout](super::layout) to windows, workspaces and outputs.
//!
//! Three states are kept apart: the layout's target (`TilingLayout`), the states that a client was sent and has
//! acknowledged (`Window::wanted`, `Window::applied`), and the picture (`Window::rect`, and `shell::animation` on the
//! way there).
//! Windows that are resized together change in one frame: the content of a client that has not answered is stretched,
//! as it is after a bar appears (`following`). Waiting for all clients would make fast clients as slow as the slowest,
//! and would delay the answer to a key that moves a column by the longest wait.
//!
//! ```text
//!   windows, outputs, focus ─► layout_sync: ops ─► TilingLayout ─► arrange ─► tile_configure: wanted ─► configure
//!   keys, messages (actions) ────────────────────┘                              └─► drawn in the next frame, stretched
//!                                                                                   until the client has answered
//! ```
//! This is done at most once in a turn, before the latch, and only if [`Shell::changes`](super::Shell::changes) has
//! advanced. Without a strip it is not done at all. If clients cause changes in every turn, it takes an eighth of the
//! time at most, but is always complete before a frame that shows it.

pub mod actions;
mod layout_sync;
pub mod pointer;
mod tile_configure;

pub use layout_sync::{arrange, arrange_in_time};
pub(super) use layout_sync::{expected_workspace, minimum_size_changed, recheck_floating_rule, set_initial_tile};

use ahash::HashMap;
use smithay::output::Output;
use smithay::utils::{Logical, Point, Rectangle};

use super::layout::op::{ColumnSpan, LayoutRect};
use super::layout::{LayoutArea, LayoutOp, RestorePosition, StripScroll, TilingLayout};
pub use super::titles::TITLES;
use super::workspaces::{ScreenId, WorkspaceId, WorkspaceRenumbering};
use super::{Shell, ShellRevision, Window, WindowId};
use crate::shell::{ShellOutputs, geometry};
use crate::state::State;
use upbeat_record::ipc::message::ColumnPosition;
use upbeat_timing::time::Instant;

/// Gap between windows, and between windows and the edge, in logical pixels: enough to separate them and to show the
/// focus border.
const GAP: i32 = 8;
/// A scale of 1 in the unit of [`LayoutArea::scale`].
const UNSCALED: u32 = 120;
/// The layout's placeholder screen: real screens have greater numbers.
const NOWHERE: ScreenId = ScreenId(0);

/// Tiling mode of a workspace.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum TilingMode {
    /// Windows lie above each other, at places of their own.
    #[default]
    Floating,
    /// Windows lie beside each other, in columns.
    Strip,
}

impl TilingMode {
    pub const fn other(self) -> Self {
        match self {
            TilingMode::Floating => TilingMode::Strip,
            TilingMode::Strip => TilingMode::Floating,
        }
    }
}

/// The tiling mode of all workspaces, and the layout of their windows.
#[derive(Debug)]
pub struct TilingState {
    layout: TilingLayout,
    /// Default mode of workspaces.
    default_mode: TilingMode,
    /// Workspaces for which the user chose another mode.
    mode_overrides: Vec<(WorkspaceId, TilingMode)>,
    /// [`Shell::changes`] at the last arrangement; `None` if another is necessary.
    arranged: Option<ShellRevision>,
    /// Until this time changes by clients cause no arrangement.
    pauses_until: Instant,
    /// Number of arrangements. For tests.
    arrangements: u64,
    has_windows: bool,
    /// The outputs, with their rectangles (global logical coordinates).
    screens: Vec<(ScreenId, Rectangle<i32, Logical>)>,
    /// Workspace of the focused window that was unmapped last.
    last_focused_removed: Option<WorkspaceId>,
    /// Positions of minimised windows.
    restore_positions: Vec<(WindowId, RestorePosition)>,
}

impl Default for TilingState {
    fn default() -> Self {
        TilingState {
            layout: TilingLayout::new(NOWHERE),
            default_mode: TilingMode::Floating,
            mode_overrides: Vec::new(),
            arranged: None,
            pauses_until: Instant::ZERO,
            arrangements: 0,
            has_windows: false,
            screens: Vec::new(),
            last_focused_removed: None,
            restore_positions: Vec::new(),
        }
    }
}

impl TilingState {
    pub fn mode(&self, place: WorkspaceId) -> TilingMode {
        self.mode_overrides.iter().find(|(chosen, _)| *chosen == place).map_or(self.default_mode, |(_, mode)| *mode)
    }

    /// Sets the default mode of workspaces. Returns whether it has changed.
    pub fn set_mode(&mut self, mode: TilingMode) -> bool {
        self.arranged = None;
        std::mem::replace(&mut self.default_mode, mode) != mode
    }

    /// Number of arrangements. For tests.
    pub const fn arrangements(&self) -> u64 {
        self.arrangements
    }

    /// Schedules an arrangement, even if [`Shell::changes`] does not advance.
    pub(super) fn invalidate(&mut self) {
        self.arranged = None;
    }

    fn override_mode(&mut self, place: WorkspaceId, mode: TilingMode) {
        self.arranged = None;
        self.mode_overrides.retain(|(chosen, _)| *chosen != place);
        if mode != self.default_mode {
            self.mode_overrides.push((place, mode));
        }
    }

    /// Gives workspaces new numbers, with their windows and modes.
    pub(super) fn renumber(&mut self, renumbering: &WorkspaceRenumbering) {
        self.layout.apply(&LayoutOp::Renumber(*renumbering));
        self.mode_overrides.retain_mut(|(place, _)| {
            let new = renumbering.of(place.number);
            place.number = new.unwrap_or(place.number);
            new.is_some()
        });
        self.last_focused_removed = None;
        self.arranged = None;
    }

    /// Whether workspaces lie above each other: they do if columns, which lie beside each other, are the default.
    pub(super) fn are_workspaces_vertical(&self) -> bool {
        self.default_mode == TilingMode::Strip
    }

    /// Whether any workspace is a strip, or was a strip until now.
    pub fn is_used(&self) -> bool {
        self.default_mode == TilingMode::Strip
            || self.has_windows
            || self.mode_overrides.iter().any(|(_, mode)| *mode == TilingMode::Strip)
    }

    /// Every tiled window with its place among the columns. The width is in logical pixels, as all lengths of the
    /// areas are.
    pub fn column_positions(&self) -> HashMap<WindowId, ColumnPosition> {
        self.layout.column_positions().collect()
    }

    /// Every column with tabs: its visible window, and all its windows.
    pub(super) fn tabbed(&self) -> impl Iterator<Item = (WindowId, Vec<WindowId>)> {
        self.layout.tabbed()
    }

    /// Moves the column of a window to another workspace, if that has columns. Returns the column's windows; none if
    /// the window is in no column.
    pub(super) fn send_column(&mut self, id: WindowId, to: WorkspaceId) -> Vec<WindowId> {
        let column = self.layout.column_of(id);
        if !column.is_empty() && self.mode(to) == TilingMode::Strip {
            self.layout.apply(&LayoutOp::SendColumn(id, to));
        }
        column
    }

    /// Remembers the position of a window that is about to be minimised.
    fn remember_position(&mut self, id: WindowId) {
        self.forget_position(id);
        self.restore_positions.extend(self.layout.restore_position(id).map(|back| (id, back)));
    }

    /// Sets the span that a minimised window's own column will have when it is restored.
    fn set_restored_span(&mut self, id: WindowId, wanted: ColumnSpan) {
        let back = self.restore_positions.iter_mut().find(|(known, _)| *known == id);
        if let Some((_, RestorePosition::Column { span, .. })) = back {
            *span = wanted;
        }
    }

    /// Called when a window is restored or gone.
    pub(super) fn forget_position(&mut self, id: WindowId) {
        self.restore_positions.retain(|(known, _)| *known != id);
    }

    /// Scroll position of a workspace's columns, if it has any, in logical pixels.
    pub(super) fn view(&self, place: WorkspaceId) -> Option<StripScroll> {
        self.layout.view(place).filter(|_| self.mode(place) == TilingMode::Strip)
    }

    /// Rectangle of an output, if it was connected at the last arrangement (global logical coordinates).
    pub(super) fn full(&self, screen: ScreenId) -> Option<Rectangle<i32, Logical>> {
        self.screens.iter().find(|(known, _)| *known == screen).map(|(_, full)| *full)
    }

    /// The layout's area of an output. In logical pixels, because clients can only be sent whole logical sizes.
    fn area(shell: &Shell, output: &Output) -> LayoutArea {
        let (full, usable) = (geometry(output), shell.layers.usable(output));
        let local = |rect: Rectangle<i32, Logical>| {
            let corner = rect.loc - full.loc;
            LayoutRect::new((corner.x, corner.y).into(), (rect.size.w, rect.size.h).into())
        };
        LayoutArea { full: local(full), usable: local(usable), scale: UNSCALED, gap: GAP, titles: TITLES }
    }
}

impl Window {
    /// Whether it floats on any workspace: a dialog, a window of fixed size, or by a rule.
    fn floats_always(&self) -> bool {
        let limits = self.own_size_limits();
        let is_fixed = |min: i32, max: i32| max > 0 && min >= max;
        let by_itself =
            self.parent.is_some() || is_fixed(limits.min.w, limits.max.w) && is_fixed(limits.min.h, limits.max.h);
        self.ruled_floating.unwrap_or(by_itself)
    }
}

impl Shell {
    /// Whether a window is tiled, or will be after the next arrangement.
    pub(super) fn is_for_strip(&self, id: WindowId) -> bool {
        let is_strip = || self.workspaces.place(id).is_some_and(|place| self.strips.mode(place) == TilingMode::Strip);
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
    pub(super) fn next_in_strip(&self, place: WorkspaceId) -> Option<WindowId> {
        let next = self.strips.layout.focus_on(place).filter(|_| self.strips.mode(place) == TilingMode::Strip)?;
        self.window(next).filter(|window| window.mapped).map(|window| window.id)
    }

    /// Removes an unmapped window from the layout.
    pub(super) fn remove_from_strip(&mut self, id: WindowId) {
        if !self.strips.has_windows {
            return;
        }
        if self.focused == Some(id) {
            self.strips.last_focused_removed = self.workspaces.place(id);
        }
        self.strips.layout.apply(&LayoutOp::Close(id));
        self.strips.arranged = None;
    }

    /// The window that gets the focus after the focused window [left](Self::remove_from_strip) its strip.
    pub(super) fn focus_after_removal(&mut self) -> Option<WindowId> {
        let place = self.strips.last_focused_removed.take()?;
        self.next_in_strip(place).filter(|id| self.is_visible(*id))
    }
}

/// Sets the default mode of workspaces.
pub fn set_mode(state: &mut State, mode: TilingMode) {
    if state.shell.strips.set_mode(mode) {
        state.schedule_repaint_all();
    }
}

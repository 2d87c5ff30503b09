//! State of a press in the overview ([`overview_presses`](crate::shell::overview_presses) handles them).

use smithay::utils::{Logical, Point, Rectangle};

use super::Overlays;
use super::layout::OverviewTarget;
use crate::shell::region_selection::PickedWith;
use crate::shell::workspaces::ScreenId;
use crate::shell::{ShellOutputs, WindowId};
use crate::state::State;

/// The effect of a press that is released where it began.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum OverviewPressKind {
    /// Shows the window or the workspace.
    Choose,
    /// Asks the client to close the window.
    Close,
}

/// A button or finger that is down in the overview.
#[derive(Clone, Debug)]
pub struct OverviewPress {
    pub(in crate::shell) with: PickedWith,
    pub(in crate::shell) kind: OverviewPressKind,
    pub(in crate::shell) start: Point<f64, Logical>,
    /// Newest position (global logical coordinates).
    pub(in crate::shell) at: Point<f64, Logical>,
    /// Output and target at the start.
    pub(in crate::shell) on: (Option<ScreenId>, Option<OverviewTarget>),
    pub(in crate::shell) lifted: Option<LiftedWindow>,
}

/// The window that the press drags.
#[derive(Clone, Copy, Debug)]
pub struct LiftedWindow {
    pub(in crate::shell) id: WindowId,
    /// Its rectangle when it was lifted.
    pub(in crate::shell) from: Rectangle<f64, Logical>,
}

impl OverviewPress {
    fn lifted(&self) -> Option<(WindowId, Rectangle<f64, Logical>)> {
        let LiftedWindow { id, from } = self.lifted?;
        Some((id, Rectangle::new(from.loc + self.at - self.start, from.size)))
    }
}

impl Overlays {
    /// The window that is dragged in the overview, and its rectangle (global logical coordinates).
    pub fn lifted(&self) -> Option<(WindowId, Rectangle<f64, Logical>)> {
        self.press.as_ref().filter(|_| self.overview.is_on())?.lifted()
    }

    /// Position of the pointer or finger that drags a window in the overview.
    pub fn lifted_at(&self) -> Option<Point<f64, Logical>> {
        self.press.as_ref().filter(|press| press.lifted.is_some() && self.overview.is_on()).map(|press| press.at)
    }

    /// The window under the pointer, which has a button to close it.
    pub fn hovered(&self) -> Option<WindowId> {
        self.hovered.filter(|_| self.overview.is_on() && !self.is_switcher() && self.lifted().is_none())
    }
}

/// Forgets the presses of fingers, which were cancelled. A dragged window goes back.
pub fn fingers_cancelled(state: &mut State) {
    let is_finger = |press: &mut OverviewPress| matches!(press.with, PickedWith::Finger(_));
    if let Some(press) = state.shell.overlays.press.take_if(is_finger) {
        put_down(state, &press);
    }
}

/// Cancels the drag of a window, which goes back. Returns whether a window was dragged.
pub(super) fn cancel_drag(state: &mut State) -> bool {
    let is_drag = |press: &mut OverviewPress| press.lifted.is_some();
    let Some(press) = state.shell.overlays.press.take_if(is_drag) else { return false };
    put_down(state, &press);
    true
}

/// Lets the window glide from the pointer to its place.
pub(in crate::shell) fn put_down(state: &mut State, press: &OverviewPress) {
    if let Some((id, rect)) = press.lifted() {
        state.shell.overlays.overview_animations.start_from(id, rect);
        state.schedule_repaint_all();
    }
}

//! Moves floating windows along when their output gets another position.

use smithay::utils::{Logical, Point};

use super::workspaces::Screen;
use crate::state::State;

/// The output of `screen` moved by `by`: moves the floating windows of its workspaces by the same distance.
pub fn carry_along(state: &mut State, screen: Screen, by: Point<i32, Logical>) {
    let workspaces = &state.shell.workspaces;
    for window in state.shell.windows.iter_mut() {
        if workspaces.place(window.id).is_some_and(|place| place.screen == screen) {
            window.floating += by;
            window.displaced_from = window.displaced_from.map(|place| place + by);
        }
    }
}

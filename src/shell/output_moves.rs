//! Moves floating windows along when their output gets another position.

use smithay::utils::{Logical, Point};

use super::workspaces::ScreenId;
use crate::state::State;

/// The output of `screen` moved by `by`: moves the floating windows of its workspaces by the same distance.
pub fn move_with_output(state: &mut State, screen: ScreenId, by: Point<i32, Logical>) {
    let workspaces = &state.shell.workspaces;
    for window in state.shell.windows.iter_mut() {
        if workspaces.place(window.id).is_some_and(|place| place.screen == screen) {
            window.floating += by;
            window.displaced_from = window.displaced_from.map(|place| place + by);
        }
    }
}

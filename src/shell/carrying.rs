//! Windows that go along when their output is put elsewhere.

use smithay::utils::{Logical, Point};

use super::workspaces::Screen;
use crate::state::State;

/// The output of `screen` was put elsewhere by `by`: what floats on its workspaces lies there as before.
pub fn carry_along(state: &mut State, screen: Screen, by: Point<i32, Logical>) {
    let workspaces = &state.shell.workspaces;
    for window in state.shell.windows.iter_mut() {
        if workspaces.place(window.id).is_some_and(|place| place.screen == screen) {
            window.floating += by;
            window.displaced_from = window.displaced_from.map(|place| place + by);
        }
    }
}

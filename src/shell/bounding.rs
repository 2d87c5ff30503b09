//! How large a window may be at most (`configure_bounds`), for clients that would otherwise open larger than the screen: what
//! bars leave of its output.

use smithay::utils::{Logical, Size};

use super::workspaces::{Place, Screen};
use super::{WindowId, spaces};
use crate::shell::{Desk, Hand};
use crate::state::State;

/// A window is about to be configured first: the bounds are those of the output on which it will appear, with its parent or
/// where it is `expected`.
pub(super) fn foretell(state: &mut State, id: WindowId, expected: Option<Place>) {
    let parent = || state.shell.workspaces.place(state.shell.parent_of(id)?);
    let place = parent().or(expected);
    let on_screen = place.and_then(|place| of_screen(state, place.screen));
    let bounds = on_screen.or_else(|| Some(state.usable_area(Some(state.pointer_position()))?.1.size));
    if let Some(window) = state.shell.windows.get_mut_quietly(id) {
        window.toplevel.with_pending_state(|pending| pending.bounds = bounds);
    }
}

fn of_screen(state: &State, screen: Screen) -> Option<Size<i32, Logical>> {
    let (output, _) = spaces::output_of(state, screen)?;
    Some(state.shell.layers.usable(&output).size)
}

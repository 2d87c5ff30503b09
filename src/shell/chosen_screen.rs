//! The output on which new windows open: the output that a key gave the focus to, or else the output under the pointer.

use smithay::output::Output;
use smithay::utils::{Logical, Rectangle};

use super::workspaces::ScreenId;
use super::{ShellOutputs, ShellSeat};
use crate::state::State;

/// The output that a key gave the focus to. It is used until the pointer moves to another output, or a window on another
/// output gets the focus.
#[derive(Clone, Debug)]
pub(super) struct ChosenScreen {
    pub screen: ScreenId,
    /// The output under the pointer at that time.
    pointer: Option<Output>,
}

/// Makes an output the place for new windows.
pub(super) fn choose(state: &mut State, screen: ScreenId) {
    state.shell.chosen_screen = Some(ChosenScreen { screen, pointer: at_pointer(state) });
}

/// Called when the pointer has moved. Forgets the chosen output if the pointer is on another output than it was then, so
/// that the choice does not count again when the pointer returns.
pub fn pointer_moved(state: &mut State) {
    if let Some(chosen) = &state.shell.chosen_screen
        && chosen.pointer != at_pointer(state)
    {
        state.shell.chosen_screen = None;
    }
}

/// The output on which new windows open, and its usable area (global logical coordinates).
pub(super) fn used_area(state: &State) -> Option<(Output, Rectangle<i32, Logical>)> {
    let chosen = state.shell.chosen_screen.as_ref().filter(|chosen| chosen.pointer == at_pointer(state));
    let name = chosen.and_then(|chosen| state.shell.workspaces.name(chosen.screen));
    // The chosen output may have been unplugged.
    match name.and_then(|name| state.outputs().find(|output| output.name() == name)) {
        Some(output) => Some((output.clone(), state.shell.layers.usable(output))),
        None => state.usable_area(Some(state.pointer_position())),
    }
}

fn at_pointer(state: &State) -> Option<Output> {
    state.usable_area(Some(state.pointer_position())).map(|(output, _)| output)
}

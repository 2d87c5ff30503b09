//! Handles changes of outputs: workspaces, layer surfaces, windows, the lock and the pointer follow, in this order.

use super::{focus_next, following, layers, workspace_actions};
use crate::shell::{ShellOutputs, ShellSeat};
use crate::state::State;

/// Called after an output was plugged, unplugged or changed.
pub fn outputs_changed(state: &mut State) {
    // Forget the cached outputs of surfaces, so that `wl_surface.enter` and `leave` are sent again.
    state.shell.note_change();
    let before = following::places(state);
    workspace_actions::sync_outputs(state);
    layers::outputs_changed(state);
    following::follow_all(state, &before);
    focus_next(state);
    workspace_actions::send_window_states(&mut state.shell);
    super::lock::outputs_changed(state);
    state.keep_pointer_on_output();
    state.schedule_repaint_all();
}

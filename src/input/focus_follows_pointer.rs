//! Focus follows the pointer, for users who turn that on: a window gets the focus when the pointer is moved onto it. A
//! window that appears under a resting pointer does not, and no window is raised.

use super::drag;
use super::scroll_view_grab::SurfaceFocus;
use crate::shell;
use crate::state::State;

/// The pointer was moved. `before`: the surface that it was on.
pub(super) fn moved(state: &mut State, before: &SurfaceFocus) {
    if !state.shell.focus_follows_pointer() {
        return;
    }
    let on = |focus: &SurfaceFocus| {
        focus.as_ref().and_then(|(surface, _)| state.shell.window_of(surface)).map(|window| window.id)
    };
    let (was_on, window) = (on(before), on(&state.input.pointer_focus));
    let Some(window) = window.filter(|window| Some(*window) != was_on) else { return };
    let is_busy = drag::is_active(state)
        || state.input.held_buttons.any()
        || state.input.pointer.is_grabbed()
        || state.shell.lock().takes_input()
        || state.shell.overlays().take_input()
        || state.shell.has_popup_grab()
        || state.shell.layers().exclusive().is_some();
    // Focusing a column that is only partly visible would scroll it away under the pointer.
    if !is_busy && state.shell.focused() != Some(window) && state.shell.is_seen_whole(window) {
        shell::focus(state, window);
    }
}

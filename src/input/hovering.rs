//! The focus follows the pointer, for those who want that: a window that the pointer is moved onto has it. What comes to lie
//! under a pointer that rests does not, and nothing is raised by it.

use super::drag;
use super::held::Focus;
use crate::shell;
use crate::state::State;

/// The pointer was moved, from what was found at `before`.
pub(super) fn moved(state: &mut State, before: &Focus) {
    if !state.shell.focus_follows_pointer() {
        return;
    }
    let on =
        |focus: &Focus| focus.as_ref().and_then(|(surface, _)| state.shell.window_of(surface)).map(|window| window.id);
    let (was_on, window) = (on(before), on(&state.input.pointer_focus));
    let Some(window) = window.filter(|window| Some(*window) != was_on) else { return };
    let is_busy = drag::is_active(state)
        || state.input.held.any()
        || state.input.pointer.is_grabbed()
        || state.shell.lock().takes_input()
        || state.shell.overlays().take_input()
        || state.shell.has_popup_grab()
        || state.shell.layers().exclusive().is_some();
    // A column that is not seen whole would move away under the pointer.
    if !is_busy && state.shell.focused() != Some(window) && state.shell.is_seen_whole(window) {
        shell::focus(state, window);
    }
}

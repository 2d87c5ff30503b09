//! Who has the keyboard: the topmost popup that grabs, or else the focused window.

use smithay::reexports::wayland_server::Resource;
use smithay::reexports::wayland_server::protocol::wl_surface::WlSurface;
use smithay::utils::SERIAL_COUNTER;

use super::pointer;
use crate::state::State;

/// Gives the keyboard to whom it belongs now.
pub fn update_keyboard(state: &mut State) {
    let Some(keyboard) = state.input.keyboard.clone() else { return };
    let window = || {
        let window = state.shell.window(state.shell.focused()?)?;
        window.is_mapped().then(|| window.surface().clone())
    };
    let target = state.shell.grabbing_popup().cloned().or_else(window).filter(Resource::is_alive);
    if keyboard.current_focus() != target {
        keyboard.set_focus(state, target, SERIAL_COUNTER.next_serial());
    }
}

/// A surface is gone: neither keyboard nor pointer stays on it.
pub fn surface_destroyed(state: &mut State, surface: &WlSurface) {
    let has_keyboard = state.input.keyboard.as_ref().and_then(|keyboard| keyboard.current_focus());
    if has_keyboard.as_ref() == Some(surface) {
        update_keyboard(state);
    }
    if state.input.pointer.current_focus().as_ref() == Some(surface) {
        pointer::refresh_focus(state);
    }
}

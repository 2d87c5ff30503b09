//! The keyboard focus, in this order: the lock screen, an exclusive layer surface above windows, the topmost popup with
//! a grab, the layer surface that was pressed last, the focused window. Also updates the focus when a focused surface
//! is destroyed.

use smithay::reexports::wayland_server::Resource;
use smithay::reexports::wayland_server::protocol::wl_surface::WlSurface;
use smithay::utils::SERIAL_COUNTER;

use super::event::StopScope;
use super::{constraint, pointer, scrolling, text};
use crate::deferred_calls;
use crate::guard;
use crate::shell;
use crate::state::State;
use upbeat_timing::time::Clock;

/// Gives the keyboard focus to the surface that should have it now.
pub fn update_keyboard(state: &mut State) {
    let Some(keyboard) = state.input.keyboard.clone() else { return };
    let window = || {
        let window = state.shell.window(state.shell.focused()?)?;
        window.is_mapped().then(|| window.surface().clone())
    };
    let layers = state.shell.layers();
    let layer = || layers.with_keyboard().map(|pinned| pinned.surface().clone());
    // An exclusive layer surface keeps the keyboard, unless the popup is its own.
    let popup = state.shell.grabbing_popup().filter(|popup| match layers.exclusive() {
        Some(exclusive) => state.shell.pinned_of(popup).is_some_and(|owner| owner.surface() == exclusive.surface()),
        None => true,
    });
    let target = match state.shell.lock().takes_input() {
        true => state.shell.lock().keyboard_target(keyboard.current_focus().as_ref(), super::pointer_position(state)),
        false => popup.cloned().or_else(layer).or_else(window),
    };
    let before = keyboard.current_focus();
    // A client whose socket is full gets no new focus: enter and leave would overflow it. It gets the focus when it
    // has read on.
    let may_hear = |target: &WlSurface| before.as_ref() == Some(target) || guard::may_send_urgent(target);
    let target = target.filter(Resource::is_alive).filter(may_hear);
    if before != target {
        let now = state.clock.now();
        scrolling::stop(state, now, StopScope::Flings);
        // The new client must know the keymap, since its modifiers follow.
        super::keyboard::send_keymap(state);
        keyboard.set_focus(state, target, SERIAL_COUNTER.next_serial());
        constraint::keyboard_moved(state);
        text::focus_changed(state);
    }
}

/// `surface` cannot keep a focus any more. If it still exists, `leave` is sent at once, because later the surface could
/// not be named. If it is gone, or is destroyed with its whole client, the focus is updated at the end of the turn:
/// while a client is being taken apart, an event that names another of its surfaces would panic in the backend.
pub fn focus_lost(state: &mut State, surface: &WlSurface) {
    if surface.client().is_some() {
        update_all(state);
    } else if !std::mem::replace(&mut state.input.focus_is_stale, true) {
        deferred_calls::queue(state, |state| {
            state.input.focus_is_stale = false;
            update_all(state);
        });
    }
}

fn update_all(state: &mut State) {
    shell::focus_next(state);
    update_keyboard(state);
    pointer::refresh_focus(state);
}

/// A surface was destroyed: the keyboard and the pointer leave it.
pub fn surface_destroyed(state: &mut State, surface: &WlSurface) {
    let keyboard = state.input.keyboard.as_ref().and_then(|keyboard| keyboard.current_focus());
    if keyboard.as_ref() == Some(surface) || state.input.pointer.current_focus().as_ref() == Some(surface) {
        focus_lost(state, surface);
    }
}

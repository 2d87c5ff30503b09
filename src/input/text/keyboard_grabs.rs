//! Keyboard grabs of the input method: they begin with the keyboard's state, and leave no key pressed behind.

use wayland_protocols_misc::zwp_input_method_v2::server::zwp_input_method_keyboard_grab_v2::ZwpInputMethodKeyboardGrabV2;

use super::grabbed_keys::{send_modifiers, send_modifiers_to_focus};
use crate::deferred_calls;
use crate::input::{KeyboardId, active_keymap, keyboard};
use crate::state::State;
use upbeat_timing::time::Clock;

/// The input method grabs the keyboard.
pub fn grab(state: &mut State, object: ZwpInputMethodKeyboardGrabV2) {
    let Some(handle) = state.input.keyboard.clone() else { return };
    active_keymap::send_to_grabs(state);
    active_keymap::send_to_grab(state, &handle, &object);
    let (rate, delay) = keyboard::repetition(state);
    object.repeat_info(rate, delay);
    send_modifiers(&object, handle.modifier_state());
    state.input.text.grabs.objects.push(object);
}

/// A grab was released or destroyed.
pub fn released(state: &mut State, object: &ZwpInputMethodKeyboardGrabV2) {
    ungrab(state, |grab| grab == object);
}

/// Removes grabs. With the last grab all its keys are released, because the input method will not get their real
/// release.
pub(super) fn ungrab(state: &mut State, goes: impl Fn(&ZwpInputMethodKeyboardGrabV2) -> bool) {
    let grabs = &mut state.input.text.grabs;
    let count = grabs.objects.len();
    grabs.objects.retain(|grab| !goes(grab));
    if grabs.objects.len() < count && grabs.objects.is_empty() {
        release_keys(state);
    }
}

/// Real releases of grabbed keys are sent to no client; keys that the input method handed on are released for the
/// client.
pub(super) fn release_keys(state: &mut State) {
    let grabs = &mut state.input.text.grabs;
    let down = std::mem::take(&mut grabs.down);
    let handing_on: Vec<KeyboardId> = grabs.forwarding.iter().copied().collect();
    keyboard::swallow(state, &down);
    // Not now: the client may be disconnecting, and events must not name its surfaces then (see
    // `input::focus::focus_lost`).
    deferred_calls::queue(state, move |state| {
        let now = state.clock.now();
        for keyboard in handing_on {
            down.iter().for_each(|(_, key)| keyboard::key(state, now, keyboard, *key, false));
        }
        send_modifiers_to_focus(state);
    });
}

//! Grabs of the input method, which begin with what there is to know of the keyboard, and leave no key behind.

use wayland_protocols_misc::zwp_input_method_v2::server::zwp_input_method_keyboard_grab_v2::ZwpInputMethodKeyboardGrabV2;

use super::keys::{tell_focus, tell_modifiers};
use crate::input::{KeyboardId, in_force, keyboard};
use crate::later;
use crate::state::State;
use upbeat_timing::time::Clock;

/// The input method wants the keys.
pub fn grab(state: &mut State, object: ZwpInputMethodKeyboardGrabV2) {
    let Some(handle) = state.input.keyboard.clone() else { return };
    in_force::tell_grabs(state);
    in_force::tell_grab(state, &handle, &object);
    let (rate, delay) = keyboard::repetition(state);
    object.repeat_info(rate, delay);
    tell_modifiers(&object, handle.modifier_state());
    state.input.text.grabs.objects.push(object);
}

/// A grab is gone.
pub fn released(state: &mut State, object: &ZwpInputMethodKeyboardGrabV2) {
    ungrab(state, |grab| grab == object);
}

/// Some grabs are no more. With the last one the input method lets go of the keys: it will not hear any more when it would be
/// time.
pub(super) fn ungrab(state: &mut State, goes: impl Fn(&ZwpInputMethodKeyboardGrabV2) -> bool) {
    let grabs = &mut state.input.text.grabs;
    let count = grabs.objects.len();
    grabs.objects.retain(|grab| !goes(grab));
    if grabs.objects.len() < count && grabs.objects.is_empty() {
        let_go(state);
    }
}

/// Keys that are down come up for nobody, and what the input method has made of them comes up for the client.
pub(super) fn let_go(state: &mut State) {
    let grabs = &mut state.input.text.grabs;
    let down = std::mem::take(&mut grabs.down);
    let handing_on: Vec<KeyboardId> = grabs.handing_on.iter().copied().collect();
    keyboard::swallow(state, &down);
    // Not now: its client may be going, and its surfaces must not be named meanwhile (see `input::focus::lost`).
    later::soon(state, move |state| {
        let now = state.clock.now();
        for keyboard in handing_on {
            down.iter().for_each(|(_, key)| keyboard::key(state, now, keyboard, *key, false));
        }
        tell_focus(state);
    });
}

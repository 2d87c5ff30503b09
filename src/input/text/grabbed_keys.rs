//! Keys for the input method: while a text field is enabled they go to the input method's grab and not to the client.
//!
//! The input method types keys that it does not use on a virtual keyboard of its own; those keys never go back to it. A
//! virtual keyboard with the session's keymap *hands on* keys of the session's keyboards: they go to the client
//! unchanged, with the modifiers of the session's keyboards.

use std::collections::{BTreeMap, BTreeSet};

use smithay::backend::input::KeyState;
use smithay::input::keyboard::{KeyboardHandle, KeyboardTarget, Keycode, ModifiersState};
use smithay::reexports::wayland_server::backend::ClientId;
use smithay::reexports::wayland_server::protocol::wl_keyboard::KeyState as WlKeyState;
use smithay::reexports::wayland_server::{Client, Resource};
use smithay::utils::SERIAL_COUNTER;
use wayland_protocols_misc::zwp_input_method_v2::server::zwp_input_method_keyboard_grab_v2::ZwpInputMethodKeyboardGrabV2;

use super::hang_detection::{self, HangDetector};
use crate::input::{InputTimes, KeyboardId, TimestampedDevice, active_keymap, typing};
use crate::output::{self, InputKind};
use crate::state::State;
use upbeat_timing::time::Instant;

/// The keyboard grabs of the input method, and its virtual keyboards.
#[derive(Debug, Default)]
pub struct InputMethodGrabs {
    /// The newest is last and gets the keys.
    pub(super) objects: Vec<ZwpInputMethodKeyboardGrabV2>,
    /// Keys whose press went to a grab.
    pub(super) down: Vec<(KeyboardId, u32)>,
    /// The clients of the virtual keyboards.
    owners: BTreeMap<KeyboardId, ClientId>,
    /// The input method's keyboards that have the session's keymap.
    pub(super) forwarding: BTreeSet<KeyboardId>,
    /// Whether the input method hangs.
    pub(super) hang_detector: HangDetector,
}

/// A key that went down or up.
#[derive(Clone, Copy, Debug)]
pub(in crate::input) struct GrabbedKey {
    pub time: Instant,
    pub keyboard: KeyboardId,
    pub key: u32,
    pub pressed: bool,
}

/// Whether keys go to the input method. Under a lock they go to the lock screen.
fn are_grabbed(state: &State) -> bool {
    let text = &state.input.text;
    // Checked because the destruction of an input method with very many objects is noticed late.
    let is_there = text.method.as_ref().is_some_and(|method| method.object.is_alive());
    is_there && text.active.is_some() && !text.grabs.objects.is_empty() && !state.shell.lock().takes_input()
}

/// Whether a keyboard belongs to the input method's client.
pub(in crate::input) fn belongs_to_input_method(state: &State, keyboard: KeyboardId) -> bool {
    let text = &state.input.text;
    let method = text.method.as_ref().and_then(|method| method.object.client());
    method.is_some_and(|client| text.grabs.owners.get(&keyboard) == Some(&client.id()))
}

/// Sends a key to the input method if keys are grabbed. A release goes where its press went. Returns whether the key
/// was sent.
pub(in crate::input) fn send_to_grab(state: &mut State, stroke: GrabbedKey, modifiers: Option<ModifiersState>) -> bool {
    if state.input.text.grabs.objects.is_empty() {
        return false;
    }
    let GrabbedKey { time, keyboard, key, pressed } = stroke;
    let is_own = belongs_to_input_method(state, keyboard);
    let are_grabbed = are_grabbed(state) && !hang_detection::is_hanging(state, time, pressed && !is_own);
    let grabs = &mut state.input.text.grabs;
    let had = grabs.down.iter().position(|down| *down == (keyboard, key)).filter(|_| !pressed);
    let takes = match had {
        Some(place) => {
            grabs.down.swap_remove(place);
            true
        }
        None => pressed && are_grabbed && !is_own,
    };
    let Some(grab) = grabs.objects.last().cloned() else { return false };
    let hears_modifiers = modifiers.is_some() && (takes || are_grabbed && !is_own);
    if takes || hears_modifiers {
        active_keymap::send_to_grabs(state);
    }
    if takes {
        let grabs = &mut state.input.text.grabs;
        if pressed {
            grabs.down.push((keyboard, key));
        }
        let wire = if pressed { WlKeyState::Pressed } else { WlKeyState::Released };
        hang_detection::note_key_sent(state, time);
        grab.key(SERIAL_COUNTER.next_serial().into(), time.as_wayland_millis(), key, wire);
        let focus = state.input.text.focus.clone();
        output::input(state, InputKind::Key, focus.as_ref(), time);
    }
    if let Some(modifiers) = modifiers {
        if hears_modifiers {
            send_modifiers(&grab, modifiers);
        }
        if takes && !are_grabbed {
            // The key was pressed for one field and is released after it: the client with the keyboard by
            // now saw the modifier down.
            send_modifiers_to_focus(state);
        }
    }
    takes
}

/// Sends the modifiers to a grab.
pub(super) fn send_modifiers(grab: &ZwpInputMethodKeyboardGrabV2, ModifiersState { serialized, .. }: ModifiersState) {
    let serial = SERIAL_COUNTER.next_serial().into();
    grab.modifiers(serial, serialized.depressed, serialized.latched, serialized.locked, serialized.layout_effective);
}

/// Sends the modifiers to the client with the keyboard.
pub(in crate::input) fn send_modifiers_to_focus(state: &mut State) {
    let Some(handle) = state.input.keyboard.clone() else { return };
    let modifiers = handle.modifier_state();
    forward_modifiers(state, &handle, modifiers);
}

/// Notes the client of a virtual keyboard.
pub fn set_owner(state: &mut State, keyboard: KeyboardId, client: &Client) {
    state.input.text.grabs.owners.insert(keyboard, client.id());
}

/// A keyboard is gone.
pub(in crate::input) fn forget(state: &mut State, keyboard: KeyboardId) {
    let grabs = &mut state.input.text.grabs;
    grabs.owners.remove(&keyboard);
    grabs.forwarding.remove(&keyboard);
}

/// A keyboard has a new keymap: the session's (`is_sessions`) or one of its own.
pub(in crate::input) fn keymap_changed(state: &mut State, keyboard: KeyboardId, is_sessions: bool) {
    let hands_on = is_sessions && belongs_to_input_method(state, keyboard);
    let handing_on = &mut state.input.text.grabs.forwarding;
    if hands_on {
        handing_on.insert(keyboard);
    } else {
        handing_on.remove(&keyboard);
    }
}

/// The session has a new keymap, which no virtual keyboard has yet.
pub(in crate::input) fn session_keymap_changed(state: &mut State) {
    state.input.text.grabs.forwarding.clear();
}

/// Whether keys of this keyboard are handed on.
pub(in crate::input) fn is_forwarding(state: &State, keyboard: KeyboardId) -> bool {
    let handing_on = &state.input.text.grabs.forwarding;
    !handing_on.is_empty() && handing_on.contains(&keyboard)
}

/// Whether a keyboard could hand on keys if it had the session's keymap.
pub(in crate::input) fn may_forward(state: &State, keyboard: KeyboardId) -> bool {
    state.input.text.method.is_some() && belongs_to_input_method(state, keyboard)
}

/// Sends a key to the client, without any other effect: the real key that it stands for had those.
pub(in crate::input) fn forward_key(
    state: &mut State,
    handle: &KeyboardHandle<State>,
    code: Keycode,
    stroke: GrabbedKey,
) {
    let key_state = if stroke.pressed { KeyState::Pressed } else { KeyState::Released };
    let serial = SERIAL_COUNTER.next_serial();
    state.input.actions.push(serial);
    let focus = handle.current_focus();
    output::input(state, InputKind::Key, focus.as_ref(), stroke.time);
    active_keymap::send_keymap(state, handle);
    if stroke.pressed {
        typing::note_code(state, handle, code, stroke.time);
    }
    state.send_time(TimestampedDevice::Keyboard, handle.current_focus().as_ref(), stroke.time);
    handle.input_forward(state, code, key_state, serial, stroke.time.as_wayland_millis(), false);
}

/// Like [`forward_key`], for modifiers.
pub(in crate::input) fn forward_modifiers(
    state: &mut State,
    handle: &KeyboardHandle<State>,
    modifiers: ModifiersState,
) {
    active_keymap::send_keymap(state, handle);
    if let Some(focus) = handle.current_focus().filter(Resource::is_alive) {
        let seat = state.input.seat.clone();
        KeyboardTarget::modifiers(&focus, &seat, state, modifiers, SERIAL_COUNTER.next_serial());
    }
}

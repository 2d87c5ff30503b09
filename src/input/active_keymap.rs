//! Which keymap is in force, and which keymap clients know.
//!
//! ```text
//!   the seat's keyboard  [ session's ]          [ virtual  ]
//!                              ╳        ──►
//!   the keymap's own     [ virtual  ]          [ session's ]
//! ```
//!
//! Smithay still believes that the session's keymap is in force; clients are sent the other keymaps here.

#![expect(unsafe_code, reason = "xkb objects are counted without atomics and are used behind their lock")]

use std::collections::HashSet;
use std::os::fd::AsFd;
use std::sync::Arc;

use smithay::input::keyboard::{KeyboardHandle, KeyboardTarget, Keycode, ModifiersState, Xkb, XkbContext, xkb};
use smithay::reexports::wayland_server::protocol::wl_keyboard::KeymapFormat;
use smithay::reexports::wayland_server::{Client, Resource};
use smithay::utils::SERIAL_COUNTER;
use wayland_protocols_misc::zwp_input_method_v2::server::zwp_input_method_keyboard_grab_v2::ZwpInputMethodKeyboardGrabV2;

use super::keymap::{CompiledKeymap, KeymapText, SpareSeat, locked, memory, text_of, with_xkb};
use crate::guard;
use crate::state::State;

/// Modifiers as xkb serialises them.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct ModifierMasks {
    pub depressed: u32,
    pub latched: u32,
    pub locked: u32,
    pub layout: u32,
}

/// The keymap in force, and the keymaps that clients and the input method know. A keymap is sent only with the next key
/// that is sent. An input method may grab all keys and type on a keyboard of its own: then two keymaps are in force in
/// turn, but the client that is typed into gets only one.
#[derive(Debug, Default)]
pub(super) struct ActiveKeymap {
    /// The keymap in force; `None`: the session's.
    active: Option<Arc<CompiledKeymap>>,
    /// The session's keymap as text, kept once clients were sent another.
    session_text: Option<KeymapText>,
    /// Keys that are down in the session's keymap while another keymap is in force.
    session_pressed: HashSet<Keycode>,
    /// The keymap that clients know; `None`: the session's.
    sent: Option<Arc<CompiledKeymap>>,
    /// The keymap that the input method knows; `None`: the session's.
    sent_to_grabs: Option<Arc<CompiledKeymap>>,
    /// A keymap was put in force and not sent to clients yet.
    is_unsent: bool,
}

impl ActiveKeymap {
    /// The session's own keymap was replaced while it is in force, and sent to all clients.
    pub fn session_keymap_changed(&mut self) {
        self.session_text = None;
    }
}

/// Whether the keymaps are equal; `None` is the session's.
fn are_alike(one: Option<&Arc<CompiledKeymap>>, other: Option<&Arc<CompiledKeymap>>) -> bool {
    match (one, other) {
        (None, None) => true,
        (Some(one), Some(other)) => Arc::ptr_eq(one, other) || one.is_like(other),
        _ => false,
    }
}

/// Whether `keymap` (`None`: the session's) is in force.
fn is_in_force(state: &State, keymap: Option<&Arc<CompiledKeymap>>) -> bool {
    are_alike(state.input.keyboards.in_force.active.as_ref(), keymap)
}

/// Whether clients know `keymap` (`None`: the session's).
pub(super) fn is_known_to_clients(state: &State, keymap: Option<&Arc<CompiledKeymap>>) -> bool {
    are_alike(state.input.keyboards.in_force.sent.as_ref(), keymap)
}

/// Keeps the text of the session's keymap.
fn keep_session_text(state: &mut State, handle: &KeyboardHandle<State>) {
    let ActiveKeymap { active: other, session_text: own, .. } = &state.input.keyboards.in_force;
    // While another keymap is in force the text was kept before.
    if other.is_none() && own.is_none() {
        let text = with_xkb(state, handle, text_of);
        state.input.keyboards.in_force.session_text = Some(KeymapText::new(text));
    }
}

/// Whether `keymap` equals that of the session's keyboards.
pub(super) fn is_sessions(state: &mut State, handle: &KeyboardHandle<State>, keymap: &CompiledKeymap) -> bool {
    keep_session_text(state, handle);
    state.input.keyboards.in_force.session_text.as_ref().is_some_and(|own| own.bytes == keymap.text.bytes)
}

/// Sends the keymap in force to the input method, if it knows another.
pub(super) fn send_to_grabs(state: &mut State) {
    let ActiveKeymap { active: other, sent_to_grabs: told_grabs, .. } = &state.input.keyboards.in_force;
    if are_alike(other.as_ref(), told_grabs.as_ref()) {
        return;
    }
    let Some(handle) = state.input.keyboard.clone() else { return };
    state.input.text.grabs().iter().for_each(|grab| send_to_grab(state, &handle, grab));
}

/// Sends the keymap in force to one grab of the input method.
pub(super) fn send_to_grab(state: &mut State, handle: &KeyboardHandle<State>, grab: &ZwpInputMethodKeyboardGrabV2) {
    keep_session_text(state, handle);
    let ActiveKeymap { active: other, session_text: own, .. } = &state.input.keyboards.in_force;
    let Some(text) = other.as_ref().map(|keymap| &keymap.text).or(own.as_ref()) else { return };
    // A file of its own, as for `wl_keyboard` 6, because the client may map it for writing.
    if let Some(file) = memory(&text.bytes) {
        grab.keymap(KeymapFormat::XkbV1, file.as_fd(), text.size());
    }
    state.input.keyboards.in_force.sent_to_grabs = state.input.keyboards.in_force.active.clone();
}

/// Puts `keymap` (`None`: the session's) in force. Clients get it with the next key that they get ([`send_keymap`]).
/// Returns whether another keymap was in force.
pub(super) fn activate(
    state: &mut State,
    handle: &KeyboardHandle<State>,
    keymap: Option<&Arc<CompiledKeymap>>,
) -> bool {
    if is_in_force(state, keymap) {
        return false;
    }
    keep_session_text(state, handle);
    let before = state.input.keyboards.in_force.active.take();
    let pressed = handle.pressed_keys();
    match before {
        // The session's keyboard state is kept: held keys, latched and locked modifiers.
        None => state.input.keyboards.in_force.session_pressed.clone_from(&pressed),
        // The state of any other keyboard is reset.
        Some(_) => with_xkb(state, handle, |held| {
            // SAFETY: this second reference to the state is dropped before the lock is released.
            let mut keys = unsafe { held.state() }.clone();
            pressed.iter().for_each(|key| _ = keys.update_key(*key, xkb::KeyDirection::Up));
            keys.update_mask(0, 0, 0, 0, 0, 0);
        }),
    }
    before.into_iter().for_each(|before| swap_xkb_state(state, handle, &before));
    keymap.into_iter().for_each(|keymap| swap_xkb_state(state, handle, keymap));
    let down = match keymap {
        Some(_) => HashSet::new(),
        None => std::mem::take(&mut state.input.keyboards.in_force.session_pressed),
    };
    with_xkb(state, handle, |held| {
        // SAFETY: as above.
        let mut keys = unsafe { held.state() }.clone();
        down.difference(&pressed).for_each(|key| _ = keys.update_key(*key, xkb::KeyDirection::Up));
        pressed.difference(&down).for_each(|key| _ = keys.update_key(*key, xkb::KeyDirection::Down));
    });
    state.input.keyboards.in_force.active = keymap.cloned();
    state.input.keyboards.in_force.is_unsent = true;
    adopt_modifiers(state, handle);
    true
}

/// Sends clients the keymap that was put in force, if they know another, and the modifiers.
pub(super) fn send_keymap(state: &mut State, handle: &KeyboardHandle<State>) {
    let in_force = &mut state.input.keyboards.in_force;
    if !std::mem::take(&mut in_force.is_unsent) {
        return;
    }
    if !are_alike(in_force.sent.as_ref(), in_force.active.as_ref()) {
        in_force.sent = in_force.active.clone();
        send_to_clients(state, handle);
    }
    if let Some(focus) = handle.current_focus().filter(Resource::is_alive) {
        let (_, modifiers) = with_xkb(state, handle, modifiers_of);
        let seat = state.input.seat.clone();
        KeyboardTarget::modifiers(&focus, &seat, state, modifiers, SERIAL_COUNTER.next_serial());
    }
}

/// Sets modifiers that came from outside again, on the keyboard whose keymap was put in force.
pub(super) fn restore(state: &mut State, handle: &KeyboardHandle<State>, masks: ModifierMasks) {
    with_xkb(state, handle, |held| {
        // SAFETY: this second reference to the state is dropped before the lock is released.
        let mut keys = unsafe { held.state() }.clone();
        keys.update_mask(masks.depressed, masks.latched, masks.locked, 0, 0, masks.layout);
    });
    adopt_modifiers(state, handle);
}

/// The components of a keyboard's modifiers, and the modifiers themselves.
fn modifiers_of(held: &Xkb) -> (ModifierComponents, ModifiersState) {
    // SAFETY: this second reference to the state is dropped before the lock is released.
    let keys = unsafe { held.state() }.clone();
    let mut modifiers = ModifiersState::default();
    modifiers.update_with(&keys);
    (ModifierComponents::of(&keys), modifiers)
}

/// Makes Smithay take over the present modifiers.
fn adopt_modifiers(state: &mut State, handle: &KeyboardHandle<State>) {
    let (parts, modifiers) = with_xkb(state, handle, |held| {
        let (parts, modifiers) = modifiers_of(held);
        // Smithay takes modifiers over only if they change something, so the state is changed first.
        // SAFETY: this second reference to the state is dropped before the lock is released.
        ModifierComponents { locked: u32::MAX, ..parts }.put(&mut unsafe { held.state() }.clone());
        (parts, modifiers)
    });
    handle.set_modifier_state(modifiers);
    // Smithay has flags for some modifiers only and sets the state from them, which would lose the others: set all
    // again.
    with_xkb(state, handle, |held| {
        // SAFETY: as above.
        parts.put(&mut unsafe { held.state() }.clone());
    });
}

/// The modifiers and layouts that make up a keyboard's state.
#[derive(Clone, Copy)]
struct ModifierComponents {
    depressed: xkb::ModMask,
    latched: xkb::ModMask,
    locked: xkb::ModMask,
    /// Depressed, latched and locked.
    layouts: [xkb::LayoutIndex; 3],
}

impl ModifierComponents {
    fn of(keys: &xkb::State) -> Self {
        ModifierComponents {
            depressed: keys.serialize_mods(xkb::STATE_MODS_DEPRESSED),
            latched: keys.serialize_mods(xkb::STATE_MODS_LATCHED),
            locked: keys.serialize_mods(xkb::STATE_MODS_LOCKED),
            layouts: [xkb::STATE_LAYOUT_DEPRESSED, xkb::STATE_LAYOUT_LATCHED, xkb::STATE_LAYOUT_LOCKED]
                .map(|part| keys.serialize_layout(part)),
        }
    }

    fn put(self, keys: &mut xkb::State) {
        let [depressed, latched, locked] = self.layouts;
        keys.update_mask(self.depressed, self.latched, self.locked, depressed, latched, locked);
    }
}

fn send_to_clients(state: &mut State, handle: &KeyboardHandle<State>) {
    let ActiveKeymap { active: other, session_text: own, .. } = &state.input.keyboards.in_force;
    let Some(text) = other.as_ref().map(|keymap| &keymap.text).or(own.as_ref()) else { return };
    for (client, _) in guard::all(&state.display_handle) {
        handle.client_keyboards(&client).for_each(|keyboard| text.send(&keyboard));
    }
}

/// `client` has made a `wl_keyboard`, and Smithay has sent it the session's keymap: sends the one in force.
pub fn send_to_new_keyboard(state: &mut State, client: &Client) {
    let Some(handle) = state.input.keyboard.clone() else { return };
    send_keymap(state, &handle);
    let Some(keymap) = state.input.keyboards.in_force.active.clone() else { return };
    let Some(keyboard) = handle.client_keyboards(client).last() else { return };
    keymap.text.send(&keyboard);
    if let Some(focus) = handle.current_focus().filter(|focus| focus.client().as_ref() == Some(client)) {
        let (seat, modifiers) = (state.input.seat.clone(), handle.modifier_state());
        KeyboardTarget::modifiers(&focus, &seat, state, modifiers, SERIAL_COUNTER.next_serial());
    }
}

/// Swaps the xkb state of the seat's keyboard with that of `keymap`.
fn swap_xkb_state(state: &mut State, handle: &KeyboardHandle<State>, keymap: &CompiledKeymap) {
    let mut spare_seat = SpareSeat::new();
    handle.with_xkb_state(state, |ours| {
        keymap.holder.with_xkb_state(&mut spare_seat, |theirs: XkbContext<'_>| {
            std::mem::swap(&mut *locked(ours.xkb()), &mut *locked(theirs.xkb()));
        });
    });
}

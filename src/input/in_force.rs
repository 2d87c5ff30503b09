//! Which keymap is in force, and who knows.
//!
//! ```text
//!   the seat's keyboard  [ session's ]          [ virtual  ]
//!                              ╳        ──►
//!   the keymap's own     [ virtual  ]          [ session's ]
//! ```
//!
//! Smithay goes on to believe that the session's is in force; clients are told of the others here.

#![expect(unsafe_code, reason = "what is counted without atomics is looked at where it is")]

use std::collections::HashSet;
use std::os::fd::AsFd;
use std::sync::Arc;

use smithay::input::keyboard::{KeyboardHandle, KeyboardTarget, Keycode, ModifiersState, Xkb, XkbContext, xkb};
use smithay::reexports::wayland_server::protocol::wl_keyboard::KeymapFormat;
use smithay::reexports::wayland_server::{Client, Resource};
use smithay::utils::SERIAL_COUNTER;
use wayland_protocols_misc::zwp_input_method_v2::server::zwp_input_method_keyboard_grab_v2::ZwpInputMethodKeyboardGrabV2;

use super::keymap::{Keymap, Mould, Text, locked, memory, text_of, with_xkb};
use crate::guard;
use crate::state::State;

/// Modifiers as xkb serialises them.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Masks {
    pub depressed: u32,
    pub latched: u32,
    pub locked: u32,
    pub layout: u32,
}

/// Which keymap is in force, and which of them who was told of. Who is told of nothing that is typed meanwhile is told of no
/// keymap either: where an input method has all keys and types on a keyboard of its own, two are in force by turns, and its
/// client sees one.
#[derive(Debug, Default)]
pub(super) struct InForce {
    /// None: the session's.
    other: Option<Arc<Keymap>>,
    /// The session's, once clients were told of another.
    own: Option<Text>,
    /// Keys that are down in the session's keymap while another is in force.
    own_held: HashSet<Keycode>,
    /// What clients know; none: the session's.
    told: Option<Arc<Keymap>>,
    /// What the input method knows; none: the session's.
    told_grabs: Option<Arc<Keymap>>,
    /// Something was put in force since clients were told.
    is_untold: bool,
}

impl InForce {
    /// The session has another keymap of its own, which is in force and which everybody was told of.
    pub fn own_changed(&mut self) {
        self.own = None;
    }
}

/// Whether two are the same; none is the session's.
fn are_alike(one: Option<&Arc<Keymap>>, other: Option<&Arc<Keymap>>) -> bool {
    match (one, other) {
        (None, None) => true,
        (Some(one), Some(other)) => Arc::ptr_eq(one, other) || one.is_like(other),
        _ => false,
    }
}

/// Whether `keymap` is in force, or the session's own where there is none.
fn is_in_force(state: &State, keymap: Option<&Arc<Keymap>>) -> bool {
    are_alike(state.input.keyboards.in_force.other.as_ref(), keymap)
}

/// Whether clients know `keymap`, or the session's own where there is none.
pub(super) fn is_told(state: &State, keymap: Option<&Arc<Keymap>>) -> bool {
    are_alike(state.input.keyboards.in_force.told.as_ref(), keymap)
}

/// From now on the text of the session's keymap is known.
fn know_own(state: &mut State, handle: &KeyboardHandle<State>) {
    let InForce { other, own, .. } = &state.input.keyboards.in_force;
    // While another is in force it was known before that.
    if other.is_none() && own.is_none() {
        let text = with_xkb(state, handle, text_of);
        state.input.keyboards.in_force.own = Some(Text::new(text));
    }
}

/// Whether `keymap` is what the session's keyboards have.
pub(super) fn is_sessions(state: &mut State, handle: &KeyboardHandle<State>, keymap: &Keymap) -> bool {
    know_own(state, handle);
    state.input.keyboards.in_force.own.as_ref().is_some_and(|own| own.bytes == keymap.text.bytes)
}

/// Tells the input method of the keymap in force, if it knows another.
pub(super) fn tell_grabs(state: &mut State) {
    let InForce { other, told_grabs, .. } = &state.input.keyboards.in_force;
    if are_alike(other.as_ref(), told_grabs.as_ref()) {
        return;
    }
    let Some(handle) = state.input.keyboard.clone() else { return };
    state.input.text.grabs().iter().for_each(|grab| tell_grab(state, &handle, grab));
}

/// Tells a grab of the input method of the keymap in force.
pub(super) fn tell_grab(state: &mut State, handle: &KeyboardHandle<State>, grab: &ZwpInputMethodKeyboardGrabV2) {
    know_own(state, handle);
    let InForce { other, own, .. } = &state.input.keyboards.in_force;
    let Some(text) = other.as_ref().map(|keymap| &keymap.text).or(own.as_ref()) else { return };
    // It has what `wl_keyboard` 6 has: a client may map it for writing.
    if let Some(file) = memory(&text.bytes) {
        grab.keymap(KeymapFormat::XkbV1, file.as_fd(), text.size());
    }
    state.input.keyboards.in_force.told_grabs = state.input.keyboards.in_force.other.clone();
}

/// Puts `keymap` in force, or the session's own where there is none. Clients are told with the next that they are to hear
/// ([`tell`]). Returns whether another was in force.
pub(super) fn put(state: &mut State, handle: &KeyboardHandle<State>, keymap: Option<&Arc<Keymap>>) -> bool {
    if is_in_force(state, keymap) {
        return false;
    }
    know_own(state, handle);
    let before = state.input.keyboards.in_force.other.take();
    let pressed = handle.pressed_keys();
    match before {
        // The session's rests as it is: what is held, latched and locked on its keyboards stays that.
        None => state.input.keyboards.in_force.own_held.clone_from(&pressed),
        // Others begin anew.
        Some(_) => with_xkb(state, handle, |held| {
            // SAFETY: this second count of the state is gone before the lock is.
            let mut keys = unsafe { held.state() }.clone();
            pressed.iter().for_each(|key| _ = keys.update_key(*key, xkb::KeyDirection::Up));
            keys.update_mask(0, 0, 0, 0, 0, 0);
        }),
    }
    before.into_iter().for_each(|before| exchange(state, handle, &before));
    keymap.into_iter().for_each(|keymap| exchange(state, handle, keymap));
    let down = match keymap {
        Some(_) => HashSet::new(),
        None => std::mem::take(&mut state.input.keyboards.in_force.own_held),
    };
    with_xkb(state, handle, |held| {
        // SAFETY: as above.
        let mut keys = unsafe { held.state() }.clone();
        down.difference(&pressed).for_each(|key| _ = keys.update_key(*key, xkb::KeyDirection::Up));
        pressed.difference(&down).for_each(|key| _ = keys.update_key(*key, xkb::KeyDirection::Down));
    });
    state.input.keyboards.in_force.other = keymap.cloned();
    state.input.keyboards.in_force.is_untold = true;
    adopt_modifiers(state, handle);
    true
}

/// Tells clients of what was put in force since they were told: of the keymap if they know another, and of the modifiers.
pub(super) fn tell(state: &mut State, handle: &KeyboardHandle<State>) {
    let in_force = &mut state.input.keyboards.in_force;
    if !std::mem::take(&mut in_force.is_untold) {
        return;
    }
    if !are_alike(in_force.told.as_ref(), in_force.other.as_ref()) {
        in_force.told = in_force.other.clone();
        tell_all(state, handle);
    }
    if let Some(focus) = handle.current_focus().filter(Resource::is_alive) {
        let (_, modifiers) = with_xkb(state, handle, modifiers_of);
        let seat = state.input.seat.clone();
        KeyboardTarget::modifiers(&focus, &seat, state, modifiers, SERIAL_COUNTER.next_serial());
    }
}

/// Modifiers that were set from outside on the keyboard whose keymap was put in force count again.
pub(super) fn restore(state: &mut State, handle: &KeyboardHandle<State>, masks: Masks) {
    with_xkb(state, handle, |held| {
        // SAFETY: this second count of the state is gone before the lock is.
        let mut keys = unsafe { held.state() }.clone();
        keys.update_mask(masks.depressed, masks.latched, masks.locked, 0, 0, masks.layout);
    });
    adopt_modifiers(state, handle);
}

/// What modifiers a keyboard's state is made of, and what they are.
fn modifiers_of(held: &Xkb) -> (Parts, ModifiersState) {
    // SAFETY: this second count of the state is gone before the lock is.
    let keys = unsafe { held.state() }.clone();
    let mut modifiers = ModifiersState::default();
    modifiers.update_with(&keys);
    (Parts::of(&keys), modifiers)
}

/// Makes Smithay know what modifiers there are now.
fn adopt_modifiers(state: &mut State, handle: &KeyboardHandle<State>) {
    let (parts, modifiers) = with_xkb(state, handle, |held| {
        let (parts, modifiers) = modifiers_of(held);
        // Smithay takes over what is set only where that changes something.
        // SAFETY: this second count of the state is gone before the lock is.
        Parts { locked: u32::MAX, ..parts }.put(&mut unsafe { held.state() }.clone());
        (parts, modifiers)
    });
    handle.set_modifier_state(modifiers);
    // It has a flag for some modifiers, and makes the state of the keyboard from these: that would lose the others.
    with_xkb(state, handle, |held| {
        // SAFETY: as above.
        parts.put(&mut unsafe { held.state() }.clone());
    });
}

/// What modifiers and layouts a keyboard's state is made of.
#[derive(Clone, Copy)]
struct Parts {
    depressed: xkb::ModMask,
    latched: xkb::ModMask,
    locked: xkb::ModMask,
    /// Depressed, latched and locked.
    layouts: [xkb::LayoutIndex; 3],
}

impl Parts {
    fn of(keys: &xkb::State) -> Self {
        Parts {
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

fn tell_all(state: &mut State, handle: &KeyboardHandle<State>) {
    let InForce { other, own, .. } = &state.input.keyboards.in_force;
    let Some(text) = other.as_ref().map(|keymap| &keymap.text).or(own.as_ref()) else { return };
    for (client, _) in guard::all(&state.display_handle) {
        handle.client_keyboards(&client).for_each(|keyboard| text.tell(&keyboard));
    }
}

/// `client` has a new keyboard, which Smithay has told of the session's keymap: it is told of the one in force.
pub fn tell_newest(state: &mut State, client: &Client) {
    let Some(handle) = state.input.keyboard.clone() else { return };
    tell(state, &handle);
    let Some(keymap) = state.input.keyboards.in_force.other.clone() else { return };
    let Some(keyboard) = handle.client_keyboards(client).last() else { return };
    keymap.text.tell(&keyboard);
    if let Some(focus) = handle.current_focus().filter(|focus| focus.client().as_ref() == Some(client)) {
        let (seat, modifiers) = (state.input.seat.clone(), handle.modifier_state());
        KeyboardTarget::modifiers(&focus, &seat, state, modifiers, SERIAL_COUNTER.next_serial());
    }
}

/// What is in force goes where `keymap` was, and the other way round.
fn exchange(state: &mut State, handle: &KeyboardHandle<State>, keymap: &Keymap) {
    let mut mould = Mould::new();
    handle.with_xkb_state(state, |ours| {
        keymap.holder.with_xkb_state(&mut mould, |theirs: XkbContext<'_>| {
            std::mem::swap(&mut *locked(ours.xkb()), &mut *locked(theirs.xkb()));
        });
    });
}

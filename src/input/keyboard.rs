//! Keys. Every keyboard, real or virtual, has its own keymap. The seat has one `wl_keyboard` for all of them, so
//! clients get the keymap of the keyboard that was used last.

use std::collections::BTreeMap;
use std::sync::Arc;

use smithay::backend::input::KeyState;
use smithay::input::keyboard::{
    Error as KeyboardError, KeyboardHandle, KeyboardTarget, Keycode, Keysym, KeysymHandle, Layout, ModifiersState,
    XkbConfig, keysyms, xkb,
};
use smithay::utils::SERIAL_COUNTER;

pub use super::active_keymap::ModifierMasks;
use super::active_keymap::{self, ActiveKeymap};
use super::keymap::{self, CompiledKeymap};
use super::shortcut_repeat::{self, RepeatingShortcut};
use super::text::grabbed_keys::{self as text_keys, GrabbedKey};
use super::window_switcher::{self, WindowSwitcher};
use super::{InputTimes, KeyboardId, TimestampedDevice, actions, data_drag, shortcut_inhibition, typing};
use crate::bindings::{Binding, PressedKey, ShortcutAction};
use crate::config;
use crate::output::{self, InputKind};
use crate::shell::end_session_question::{self, QuestionOutcome};
use crate::shell::overview;
use crate::shell::region_selection;
use crate::state::State;
use upbeat_timing::time::{Clock, Instant};

/// An xkb key code is the Linux key code plus this.
const XKB_OFFSET: u32 = 8;
/// The Linux key codes of the keys with the digits 1 to 9.
const DIGIT_ROW: std::ops::RangeInclusive<u32> = 2..=10;
/// The highest Linux key code (`KEY_MAX`).
const LAST_KEY: u32 = 0x2ff;

#[derive(Debug, Default)]
pub struct SeatKeyboards {
    /// The keyboard that was used last: its keymap is in force. `None`: look it up at the next key.
    active: Option<KeyboardId>,
    keymaps: BTreeMap<KeyboardId, Arc<CompiledKeymap>>,
    /// Modifiers that were set from outside: they stay while other keyboards are used.
    masks: BTreeMap<KeyboardId, ModifierMasks>,
    pub(super) in_force: ActiveKeymap,
    pressed: Vec<(KeyboardId, u32)>,
    /// Pressed keys that no client was told of.
    swallowed: Vec<(KeyboardId, u32)>,
    pub(super) switcher: Option<WindowSwitcher>,
    /// A shortcut that repeats while its key is held.
    pub(super) repeating: Option<RepeatingShortcut>,
    /// The configuration of the session's keyboards.
    configured: config::KeyboardOptions,
}

/// Applies the configured layout and repetition to the session's keyboards. On an error the layout stays as it was, and
/// the error is a sentence for the user.
pub fn configure(state: &mut State, keyboard: &config::KeyboardOptions) -> Result<(), String> {
    let Some(handle) = state.input.keyboard.clone() else { return Ok(()) };
    handle.change_repeat_info(i32::from(keyboard.repeat_rate), i32::from(keyboard.repeat_delay));
    let before = std::mem::replace(&mut state.input.keyboards.configured, keyboard.clone());
    let layout = |keyboard: &config::KeyboardOptions| config::KeyboardOptions {
        repeat_delay: 0,
        repeat_rate: 0,
        ..keyboard.clone()
    };
    if layout(&before) == layout(keyboard) {
        if state.bindings.shifted.is_empty() {
            note_shifted(state, &handle);
        }
        send_to_grabs(state, &handle);
        return Ok(());
    }
    release_all(state, KeyboardId::Session);
    use_keyboard(state, &handle, KeyboardId::Session);
    active_keymap::send_keymap(state, &handle);
    match set_configured(state, &handle) {
        Ok(()) => {
            note_shifted(state, &handle);
            state.input.keyboards.in_force.session_keymap_changed();
            text_keys::session_keymap_changed(state);
            send_to_grabs(state, &handle);
            Ok(())
        }
        Err(_) => {
            state.input.keyboards.configured = config::KeyboardOptions {
                repeat_delay: keyboard.repeat_delay,
                repeat_rate: keyboard.repeat_rate,
                ..before
            };
            Err(config::NoSuchKeymap(keyboard.clone()).to_string())
        }
    }
}

/// Notes the symbols with Shift in the keymap in force, for the list of shortcuts.
fn note_shifted(state: &mut State, handle: &KeyboardHandle<State>) {
    let shifted = handle.with_xkb_state(state, |context| {
        let xkb = context.xkb().lock().unwrap_or_else(std::sync::PoisonError::into_inner);
        // SAFETY: the keymap stays on this thread, and no reference to it outlives the lock.
        keymap::shifted(unsafe { xkb.keymap() })
    });
    state.bindings.shifted = shifted;
}

/// Sends the keymap and the repetition of the session's keyboards to the input method.
fn send_to_grabs(state: &mut State, handle: &KeyboardHandle<State>) {
    let (rate, delay) = repetition(state);
    for grab in state.input.text.grabs() {
        active_keymap::send_to_grab(state, handle, &grab);
        grab.repeat_info(rate, delay);
    }
}

fn set_configured(state: &mut State, handle: &KeyboardHandle<State>) -> Result<(), KeyboardError> {
    let config::KeyboardOptions { layout, variant, model, options, .. } = state.input.keyboards.configured.clone();
    let options = Some(options).filter(|options| !options.is_empty());
    let names = XkbConfig { rules: "", model: &model, layout: &layout, variant: &variant, options };
    handle.set_xkb_config(state, names)
}

/// The repeat rate (per second) and the delay before it (milliseconds).
pub(super) fn repetition(state: &State) -> (i32, i32) {
    let config::KeyboardOptions { repeat_rate, repeat_delay, .. } = state.input.keyboards.configured;
    (i32::from(repeat_rate), i32::from(repeat_delay))
}

/// The names of the layouts of the keyboard in force, and the number of the active one.
pub fn layouts(state: &mut State) -> (Vec<String>, u32) {
    let Some(handle) = state.input.keyboard.clone() else { return Default::default() };
    handle.with_xkb_state(state, |context| {
        let xkb = context.xkb().lock().unwrap_or_else(std::sync::PoisonError::into_inner);
        (xkb.layouts().map(|layout| xkb.layout_name(layout).to_owned()).collect(), xkb.active_layout().0)
    })
}

/// Activates another layout of the keyboard in force.
pub fn set_layout(state: &mut State, number: u32) {
    let Some(handle) = state.input.keyboard.clone() else { return };
    handle.with_xkb_state(state, |mut context| context.set_layout(Layout(number)));
    text_keys::send_modifiers_to_focus(state);
}

/// Gives a keyboard a keymap and puts it in force.
pub fn set_keymap(state: &mut State, id: KeyboardId, keymap: Arc<CompiledKeymap>) {
    let Some(handle) = state.input.keyboard.clone() else { return };
    remember_keymap(state, id, keymap.clone());
    // Has no effect if the keymap is in force already: on-screen keyboards set the same one with each key.
    active_keymap::activate(state, &handle, Some(&keymap));
    state.input.keyboards.active = Some(id);
    send_keymap_of(state, &handle, id);
}

/// Gives a keyboard a keymap, which is put in force when the keyboard is next used.
pub fn remember_keymap(state: &mut State, id: KeyboardId, keymap: Arc<CompiledKeymap>) {
    release_all(state, id);
    if let Some(handle) = state.input.keyboard.clone().filter(|_| text_keys::may_forward(state, id)) {
        let is_sessions = active_keymap::is_sessions(state, &handle, &keymap);
        text_keys::keymap_changed(state, id, is_sessions);
    }
    let keyboards = &mut state.input.keyboards;
    let before = keyboards.keymaps.insert(id, keymap.clone());
    // Modifiers that were set for an equal keymap stay valid, so they are kept.
    if before.is_none_or(|before| !before.is_like(&keymap)) {
        keyboards.masks.remove(&id);
    }
    keyboards.active.take_if(|active| *active == id);
}

/// A keyboard is gone: the keys that it holds are released.
pub fn remove(state: &mut State, id: KeyboardId) {
    release_all(state, id);
    state.input.keyboards.keymaps.remove(&id);
    state.input.keyboards.masks.remove(&id);
    text_keys::forget(state, id);
}

/// The releases of these keys will be sent to no client.
pub(super) fn swallow(state: &mut State, keys: &[(KeyboardId, u32)]) {
    state.input.keyboards.swallowed.extend(keys);
}

/// Releases every key that is down on a keyboard.
pub fn release_all(state: &mut State, id: KeyboardId) {
    let now = state.clock.now();
    let held: Vec<u32> =
        state.input.keyboards.pressed.iter().filter(|(keyboard, _)| *keyboard == id).map(|(_, key)| *key).collect();
    for held_key in held {
        key(state, now, id, held_key, false);
    }
}

/// Whether clients already know the keymap of `id`, or an equal one.
pub fn is_known_to_clients(state: &State, id: KeyboardId) -> bool {
    text_keys::is_forwarding(state, id)
        || active_keymap::is_known_to_clients(state, state.input.keyboards.keymaps.get(&id))
}

/// Puts the keymap of `id` in force, as its next key would, and sends it.
pub fn put_in_force(state: &mut State, id: KeyboardId) {
    if let Some(handle) = state.input.keyboard.clone() {
        use_keyboard(state, &handle, id);
        send_keymap_of(state, &handle, id);
    }
}

/// Sends the keymap that was put in force for `id` to clients, and to the input method if it gets keys of `id`.
fn send_keymap_of(state: &mut State, handle: &KeyboardHandle<State>, id: KeyboardId) {
    active_keymap::send_keymap(state, handle);
    if !text_keys::belongs_to_input_method(state, id) {
        active_keymap::send_to_grabs(state);
    }
}

/// Puts the keymap of `id` in force, with the modifiers that were set on it.
fn use_keyboard(state: &mut State, handle: &KeyboardHandle<State>, id: KeyboardId) {
    if state.input.keyboards.active == Some(id) || text_keys::is_forwarding(state, id) {
        return;
    }
    let keymap = state.input.keyboards.keymaps.get(&id).cloned();
    let masks = state.input.keyboards.masks.get(&id).copied();
    if active_keymap::activate(state, handle, keymap.as_ref())
        && let Some(masks) = masks
    {
        active_keymap::restore(state, handle, masks);
    }
    state.input.keyboards.active = Some(id);
}

/// Sends clients the keymap in force.
pub(super) fn send_keymap(state: &mut State) {
    if let Some(handle) = state.input.keyboard.clone() {
        active_keymap::send_keymap(state, &handle);
    }
}

/// A key went down or up.
pub fn key(state: &mut State, time: Instant, id: KeyboardId, key: u32, pressed: bool) {
    let Some(handle) = state.input.keyboard.clone() else { return };
    // A virtual keyboard may send a press or a release twice, but clients must get it once.
    if key > LAST_KEY || !note(&mut state.input.keyboards.pressed, (id, key), pressed) {
        return;
    }
    let (code, stroke) = (Keycode::new(key + XKB_OFFSET), GrabbedKey { time, keyboard: id, key, pressed });
    if text_keys::is_forwarding(state, id) {
        return text_keys::forward_key(state, &handle, code, stroke);
    }
    use_keyboard(state, &handle, id);
    let key_state = if pressed { KeyState::Pressed } else { KeyState::Released };
    shortcut_repeat::stop(state, (id, key), pressed);
    let ((bound, held, symbol), modifiers_changed) =
        handle.input_intercept(state, code, key_state, |state, held, symbol| {
            let bound = if pressed { bound_to(state, id, key, held, &symbol) } else { None };
            (bound, *held, symbol.modified_sym())
        });
    let bound = bound.filter(|bound| shortcut_inhibition::is_ours(state, handle.current_focus().as_ref(), bound));
    if !window_switcher::ends_with_release(&held) {
        window_switcher::end(state);
    }
    let is_terminal = bound.as_ref().is_some_and(|bound| matches!(bound.action, ShortcutAction::SwitchTerminal(_)));
    let wakes = pressed && bound.is_none() && state.input.waking.swallows_press();
    let answer = if pressed && !is_terminal && !wakes {
        end_session_question::key(state, symbol)
    } else {
        QuestionOutcome::NotForQuestion
    };
    let is_taken = wakes
        || actions::end_if_confirmed(state, answer)
        || pressed && !is_terminal && region_selection::key(state, symbol)
        || pressed && (super::window_picking::key(state, symbol) || overview::key(state, symbol, bound.is_some()));
    if is_taken {
        state.input.keyboards.swallowed.push((id, key));
        output::input(state, InputKind::Key, None, time);
        return;
    }
    if let Some(bound) = bound {
        state.input.keyboards.swallowed.push((id, key));
        output::input(state, InputKind::Key, None, time);
        typing::ended(state);
        actions::run(state, &bound.action);
        if bound.repeats {
            let repetition = repetition(state);
            state.input.keyboards.repeating = RepeatingShortcut::new((id, key), bound, time, repetition);
        }
        return;
    }
    if !pressed && note(&mut state.input.keyboards.swallowed, (id, key), false) {
        if modifiers_changed {
            text_keys::send_modifiers_to_focus(state);
        }
        return;
    }
    if pressed && data_drag::is_active(state) {
        if symbol == Keysym::Escape {
            data_drag::cancel(state);
        }
        state.input.keyboards.swallowed.push((id, key));
        output::input(state, InputKind::Key, None, time);
        if modifiers_changed {
            text_keys::send_modifiers_to_focus(state);
        }
        return;
    }
    if pressed {
        typing::note(state, &handle, symbol, time);
    }
    if text_keys::send_to_grab(state, stroke, modifiers_changed.then(|| handle.modifier_state())) {
        return;
    }
    let serial = SERIAL_COUNTER.next_serial();
    state.input.actions.push(serial);
    let focus = handle.current_focus();
    output::input(state, InputKind::Key, focus.as_ref(), time);
    active_keymap::send_keymap(state, &handle);
    state.send_time(TimestampedDevice::Keyboard, focus.as_ref(), time);
    handle.input_forward(state, code, key_state, serial, time.as_wayland_millis(), modifiers_changed);
}

/// The shortcut of a key that went down.
fn bound_to(
    state: &State,
    id: KeyboardId,
    key: u32,
    held: &ModifiersState,
    symbol: &KeysymHandle<'_>,
) -> Option<Binding> {
    let mut plain = symbol.raw_syms().to_vec();
    // Keyboards for other alphabets have Latin letters in another group.
    plain.extend(symbol.raw_latin_sym_or_raw_current_sym());
    // The digit row counts as digits even where digits need Shift, as in France. Keymaps of virtual keyboards may
    // have no such row.
    if id == KeyboardId::Session && DIGIT_ROW.contains(&key) {
        plain.push(Keysym::from(keysyms::KEY_1 + key - DIGIT_ROW.start()));
    }
    // Shift turns Tab into this symbol.
    if plain.contains(&Keysym::from(keysyms::KEY_ISO_Left_Tab)) {
        plain.push(Keysym::from(keysyms::KEY_Tab));
    }
    let pressed = PressedKey { held, modified: symbol.modified_sym(), plain: &plain };
    state.bindings.binding_of_key(&pressed, state.shell.lock().takes_input())
}

/// Adds or removes an entry. Returns whether that changed the list.
fn note<T: PartialEq>(list: &mut Vec<T>, entry: T, present: bool) -> bool {
    match list.iter().position(|other| *other == entry) {
        Some(_) if present => false,
        Some(index) => {
            list.swap_remove(index);
            true
        }
        None if present => {
            list.push(entry);
            true
        }
        None => false,
    }
}

/// The modifiers with `masks` as their serialised form, as clients get them.
const fn with_masks(mut held: ModifiersState, masks: ModifierMasks) -> ModifiersState {
    held.serialized.depressed = masks.depressed;
    held.serialized.latched = masks.latched;
    held.serialized.locked = masks.locked;
    held.serialized.layout_effective = masks.layout;
    held
}

/// A keyboard's modifiers were set from outside, as a virtual keyboard does.
pub fn modifiers(state: &mut State, id: KeyboardId, masks: ModifierMasks) {
    let Some(handle) = state.input.keyboard.clone() else { return };
    if text_keys::is_forwarding(state, id) {
        let modifiers = with_masks(handle.modifier_state(), masks);
        return text_keys::forward_modifiers(state, &handle, modifiers);
    }
    use_keyboard(state, &handle, id);
    if id != KeyboardId::Session {
        state.input.keyboards.masks.insert(id, masks);
    }
    active_keymap::send_keymap(state, &handle);
    let (mut held, layouts) = handle.with_xkb_state(state, |context| {
        let xkb = context.xkb().lock().unwrap_or_else(std::sync::PoisonError::into_inner);
        // SAFETY: the keymap stays on this thread, and the clone that the scratch state makes is dropped before the
        // lock is.
        let keymap = unsafe { xkb.keymap() };
        let mut scratch = xkb::State::new(keymap);
        scratch.update_mask(masks.depressed, masks.latched, masks.locked, 0, 0, masks.layout);
        let mut held = ModifiersState::default();
        held.update_with(&scratch);
        (held, keymap.num_layouts())
    });
    // Smithay keeps flags, derives masks from them, and loses the layout; so clients get the masks as they were sent.
    handle.set_modifier_state(held);
    if masks.layout < layouts {
        handle.with_xkb_state(state, |mut context| context.set_layout(Layout(masks.layout)));
    }
    held = with_masks(held, masks);
    if !window_switcher::ends_with_release(&held) {
        window_switcher::end(state);
    }
    if let Some(focus) = handle.current_focus() {
        let seat = state.input.seat.clone();
        KeyboardTarget::modifiers(&focus, &seat, state, held, SERIAL_COUNTER.next_serial());
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_key_counts_once_however_often_it_is_reported() {
        let mut pressed = Vec::new();
        assert!(note(&mut pressed, 30, true) && !note(&mut pressed, 30, true));
        assert!(note(&mut pressed, 30, false) && !note(&mut pressed, 30, false));
    }
}

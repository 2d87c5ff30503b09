//! Keymaps beside the session's own: compiled on any thread, put in force without being compiled again.
//!
//! Smithay's keyboard compiles a keymap itself, on the thread where it puts it in force, and one of the usual size takes
//! some milliseconds. But what it keeps of a keymap ([`Xkb`]) is one piece that may go to another thread. So each keymap is
//! compiled in a keyboard of its own, which nobody types on, and is put in force by an exchange of the two pieces:
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
use std::fs::File;
use std::os::fd::{AsFd, OwnedFd};
use std::os::unix::fs::FileExt;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use rustix::fs::{MemfdFlags, SealFlags, fcntl_add_seals, memfd_create};
use smithay::input::keyboard::{
    KeyboardHandle, KeyboardTarget, Keycode, ModifiersState, Xkb, XkbConfig, XkbContext, xkb,
};
use smithay::input::{SeatHandler, SeatState};
use smithay::reexports::wayland_server::protocol::wl_keyboard::{KeymapFormat, WlKeyboard};
use smithay::reexports::wayland_server::protocol::wl_surface::WlSurface;
use smithay::reexports::wayland_server::{Client, Resource};
use smithay::utils::SERIAL_COUNTER;
use wayland_protocols_misc::zwp_input_method_v2::server::zwp_input_method_keyboard_grab_v2::ZwpInputMethodKeyboardGrabV2;

use super::text::keys;
use crate::guard;
use crate::state::State;

/// Since this version of `wl_keyboard` clients map a keymap for themselves alone, so that all may have the same file.
const PRIVATE_SINCE: u32 = 7;

/// What a mould holds until a keymap is compiled in it. All of it is named: what is not is taken from the environment,
/// where what is wrong would be the end of every keymap.
const FIRST: XkbConfig<'static> =
    XkbConfig { rules: "evdev", model: "pc105", layout: "us", variant: "", options: Some(String::new()) };

/// A keymap that was compiled.
#[derive(Debug)]
pub struct Keymap {
    text: Text,
    /// Holds it while it is not in force; while it is, the session's.
    holder: KeyboardHandle<Mould>,
}

/// What a keymap is compiled in.
#[derive(Debug)]
pub struct Blank {
    mould: Mould,
    holder: KeyboardHandle<Mould>,
}

impl Blank {
    /// Makes one: that takes some milliseconds. `None` if the system has no keyboard data files.
    pub fn new() -> Option<Self> {
        let mut mould = Mould(SeatState::new());
        let holder = mould.0.new_seat("keymap").add_keyboard(FIRST, 0, 0).ok()?;
        with_xkb(&mut mould, &holder, |held| {
            // SAFETY: this second count of the context is gone before the lock is.
            let mut context = unsafe { held.context() }.clone();
            // What is wrong with a client's keymap would be said on standard error, a line for each word of it.
            context.set_log_level(xkb::LogLevel::Critical);
        });
        Some(Blank { mould, holder })
    }

    /// Compiles a keymap (`XKB_V1` text). It takes some milliseconds, and reads the files that the text includes.
    ///
    /// # Errors
    /// When it is none; then this can be used for another.
    pub fn compile(mut self, text: &str) -> Result<Keymap, Self> {
        if text.contains('\0') || self.holder.set_keymap_from_string(&mut self.mould, text.to_owned()).is_err() {
            return Err(self);
        }
        let text = with_xkb(&mut self.mould, &self.holder, text_of);
        Ok(Keymap { text: Text::new(text), holder: self.holder })
    }
}

impl Keymap {
    /// Compiles a keymap (`XKB_V1` text). `None` if it is none, or if the system has no keyboard data files.
    ///
    /// It takes some milliseconds, and reads the files that the text includes.
    pub fn compile(text: &str) -> Option<Self> {
        Blank::new()?.compile(text).ok()
    }

    fn is_like(&self, other: &Keymap) -> bool {
        self.text.bytes == other.text.bytes
    }
}

/// What the keyboards that nobody types on belong to.
#[derive(Debug)]
struct Mould(SeatState<Mould>);

impl SeatHandler for Mould {
    type KeyboardFocus = WlSurface;
    type PointerFocus = WlSurface;
    type TouchFocus = WlSurface;

    fn seat_state(&mut self) -> &mut SeatState<Mould> {
        &mut self.0
    }
}

/// A keymap as clients are sent it.
#[derive(Debug)]
struct Text {
    /// With a zero byte at the end.
    bytes: Vec<u8>,
    /// The same, where nobody can change it.
    sealed: Option<OwnedFd>,
}

impl Text {
    fn new(text: String) -> Self {
        let mut bytes = text.into_bytes();
        bytes.push(0);
        let sealed = memory(&bytes).filter(|file| {
            let seals = SealFlags::SEAL | SealFlags::SHRINK | SealFlags::GROW | SealFlags::WRITE;
            fcntl_add_seals(file, seals).is_ok()
        });
        Text { bytes, sealed }
    }

    fn size(&self) -> u32 {
        u32::try_from(self.bytes.len()).unwrap_or(u32::MAX)
    }

    fn tell(&self, keyboard: &WlKeyboard) {
        let size = self.size();
        let send = |file: &OwnedFd| keyboard.keymap(KeymapFormat::XkbV1, file.as_fd(), size);
        match self.sealed.as_ref().filter(|_| keyboard.version() >= PRIVATE_SINCE) {
            Some(sealed) => send(sealed),
            None => memory(&self.bytes).iter().for_each(send),
        }
    }
}

/// A file in memory with these bytes; `None` when there is no descriptor or no memory left.
fn memory(bytes: &[u8]) -> Option<OwnedFd> {
    let file = memfd_create("keymap", MemfdFlags::CLOEXEC | MemfdFlags::ALLOW_SEALING).ok()?;
    let file = File::from(file);
    // Whoever reads it without a position begins at the beginning.
    file.write_all_at(bytes, 0).ok()?;
    Some(OwnedFd::from(file))
}

/// Which keymap is in force.
#[derive(Debug, Default)]
pub(super) struct InForce {
    /// None: the session's.
    other: Option<Arc<Keymap>>,
    /// The session's, once clients were told of another.
    own: Option<Text>,
    /// Keys that are down in the session's keymap while another is in force.
    own_held: HashSet<Keycode>,
}

impl InForce {
    /// The session has another keymap of its own, and that is in force.
    pub fn own_changed(&mut self) {
        self.own = None;
    }
}

/// Whether `keymap` is in force, or the session's own where there is none.
pub(super) fn is_in_force(state: &State, keymap: Option<&Arc<Keymap>>) -> bool {
    match (&state.input.keyboards.in_force.other, keymap) {
        (None, None) => true,
        (Some(other), Some(keymap)) => other.is_like(keymap),
        _ => false,
    }
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

/// Tells the input method of the keymap in force.
pub(super) fn tell_grab(state: &mut State, handle: &KeyboardHandle<State>, grab: &ZwpInputMethodKeyboardGrabV2) {
    know_own(state, handle);
    let InForce { other, own, .. } = &state.input.keyboards.in_force;
    let Some(text) = other.as_ref().map(|keymap| &keymap.text).or(own.as_ref()) else { return };
    // It has what `wl_keyboard` 6 has: a client may map it for writing.
    if let Some(file) = memory(&text.bytes) {
        grab.keymap(KeymapFormat::XkbV1, file.as_fd(), text.size());
    }
}

/// Puts `keymap` in force, or the session's own where there is none, and tells all clients.
pub(super) fn put(state: &mut State, handle: &KeyboardHandle<State>, keymap: Option<&Arc<Keymap>>) {
    if is_in_force(state, keymap) {
        return;
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
    let modifiers = with_xkb(state, handle, |held| {
        // SAFETY: as above.
        let mut keys = unsafe { held.state() }.clone();
        down.difference(&pressed).for_each(|key| _ = keys.update_key(*key, xkb::KeyDirection::Up));
        pressed.difference(&down).for_each(|key| _ = keys.update_key(*key, xkb::KeyDirection::Down));
        let mut modifiers = ModifiersState::default();
        modifiers.update_with(&keys);
        modifiers
    });
    state.input.keyboards.in_force.other = keymap.cloned();
    tell_all(state, handle);
    set_modifiers(state, handle, modifiers);
}

/// Makes Smithay know what modifiers there are now, and tells the focused client.
fn set_modifiers(state: &mut State, handle: &KeyboardHandle<State>, modifiers: ModifiersState) {
    let parts = with_xkb(state, handle, |held| {
        // SAFETY: this second count of the state is gone before the lock is.
        let mut keys = unsafe { held.state() }.clone();
        let parts = Parts::of(&keys);
        // Smithay takes over what is set only where that changes something.
        Parts { locked: u32::MAX, ..parts }.put(&mut keys);
        parts
    });
    handle.set_modifier_state(modifiers);
    // It has a flag for some modifiers, and makes the state of the keyboard from these: that would lose the others.
    with_xkb(state, handle, |held| {
        // SAFETY: as above.
        parts.put(&mut unsafe { held.state() }.clone());
    });
    if let Some(focus) = handle.current_focus() {
        let seat = state.input.seat.clone();
        KeyboardTarget::modifiers(&focus, &seat, state, modifiers, SERIAL_COUNTER.next_serial());
    }
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
    keys::grabs(state).iter().for_each(|grab| tell_grab(state, handle, grab));
}

/// `client` has a new keyboard, which Smithay has told of the session's keymap: it is told of the one in force.
pub fn tell_newest(state: &mut State, client: &Client) {
    let Some(handle) = state.input.keyboard.clone() else { return };
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
    let mut mould = Mould(SeatState::new());
    handle.with_xkb_state(state, |ours| {
        keymap.holder.with_xkb_state(&mut mould, |theirs: XkbContext<'_>| {
            std::mem::swap(&mut *locked(ours.xkb()), &mut *locked(theirs.xkb()));
        });
    });
}

fn with_xkb<D: SeatHandler + 'static, T>(
    data: &mut D,
    handle: &KeyboardHandle<D>,
    mut act: impl FnMut(&Xkb) -> T,
) -> T {
    handle.with_xkb_state(data, |context| act(&locked(context.xkb())))
}

fn text_of(held: &Xkb) -> String {
    // SAFETY: nothing of the keymap is kept.
    unsafe { held.keymap() }.get_as_string(xkb::KEYMAP_FORMAT_TEXT_V1)
}

fn locked(xkb: &Mutex<Xkb>) -> MutexGuard<'_, Xkb> {
    xkb.lock().unwrap_or_else(PoisonError::into_inner)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_keymap_is_compiled_on_another_thread_and_what_is_none_is_refused() {
        let context = xkb::Context::new(xkb::CONTEXT_NO_FLAGS);
        let names = xkb::Keymap::new_from_names(
            &context,
            "evdev",
            "pc105",
            "fr",
            "",
            Some(String::new()),
            xkb::KEYMAP_COMPILE_NO_FLAGS,
        );
        let text = names.unwrap().get_as_string(xkb::KEYMAP_FORMAT_TEXT_V1);
        let there = text.clone();
        let keymap = std::thread::spawn(move || Keymap::compile(&there)).join().unwrap().expect("it is one");
        assert_eq!(keymap.text.bytes, [text.as_bytes(), &[0]].concat());
        assert!(Keymap::compile("xkb_keymap {").is_none());
        assert!(Keymap::compile("xkb\0keymap").is_none());
    }

    #[test]
    fn what_the_environment_says_of_keyboards_is_no_matter_for_the_keymaps_of_others() {
        // What is in the environment of this process is in that of all tests.
        let mut test = std::process::Command::new(std::env::current_exe().unwrap());
        test.args([
            "--exact",
            "input::keymap::tests::a_keymap_is_compiled_on_another_thread_and_what_is_none_is_refused",
        ]);
        for name in ["RULES", "MODEL", "LAYOUT", "VARIANT", "OPTIONS"] {
            test.env(format!("XKB_DEFAULT_{name}"), "there-is-no-such-thing");
        }
        let output = test.output().unwrap();
        let said = String::from_utf8_lossy(&output.stdout);
        assert!(output.status.success() && said.contains("1 passed"), "{said}");
    }
}

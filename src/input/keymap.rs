//! Keymaps beside the session's own: compiled on any thread, and put in force without being compiled again.
//!
//! Smithay's keyboard compiles a keymap on the thread that puts it in force, which takes some milliseconds for a keymap
//! of the usual size. But Smithay's keymap state ([`Xkb`]) is a single value that may move to another thread. So each
//! keymap is compiled in a spare keyboard that is never typed on. `active_keymap` then swaps its state with that of the
//! seat's keyboard.

#![expect(unsafe_code, reason = "xkb objects are counted without atomics and are used behind their lock")]

use std::collections::BTreeMap;
use std::fs::File;
use std::os::fd::{AsFd, OwnedFd};
use std::os::unix::fs::FileExt;
use std::sync::{Mutex, MutexGuard, PoisonError};

use rustix::fs::{MemfdFlags, SealFlags, fcntl_add_seals, memfd_create};
use smithay::input::keyboard::{KeyboardHandle, Keysym, Xkb, XkbConfig, xkb};
use smithay::input::{SeatHandler, SeatState};
use smithay::reexports::wayland_server::Resource;
use smithay::reexports::wayland_server::protocol::wl_keyboard::{KeymapFormat, WlKeyboard};
use smithay::reexports::wayland_server::protocol::wl_surface::WlSurface;

/// Since this version of `wl_keyboard` clients must map a keymap privately, so that all may share one file.
const PRIVATE_SINCE: u32 = 7;

/// The keymap of a spare keyboard before it compiles another. All fields are given: xkb would take missing ones from
/// the environment, and an invalid value there would make every keymap fail.
const FIRST: XkbConfig<'static> =
    XkbConfig { rules: "evdev", model: "pc105", layout: "us", variant: "", options: Some(String::new()) };

/// A compiled keymap.
#[derive(Debug)]
pub struct CompiledKeymap {
    pub(super) text: KeymapText,
    /// The spare keyboard with this keymap; with the session's, while this keymap is in force.
    pub(super) holder: KeyboardHandle<SpareSeat>,
}

/// A spare keyboard that can compile one keymap.
#[derive(Debug)]
pub struct SpareKeyboard {
    seat: SpareSeat,
    holder: KeyboardHandle<SpareSeat>,
}

impl SpareKeyboard {
    /// Takes some milliseconds. `None` if the system has no keyboard data files.
    pub fn new() -> Option<Self> {
        let mut seat = SpareSeat::new();
        let holder = seat.0.new_seat("keymap").add_keyboard(FIRST, 0, 0).ok()?;
        with_xkb(&mut seat, &holder, |held| {
            // SAFETY: this second reference to the context is dropped before the lock is released.
            let mut context = unsafe { held.context() }.clone();
            // Otherwise xkb would log each error in a client's keymap on standard error, a line for each word.
            context.set_log_level(xkb::LogLevel::Critical);
        });
        Some(SpareKeyboard { seat, holder })
    }

    /// Compiles a keymap (`XKB_V1` text). It takes some milliseconds, and reads the files that the text includes.
    ///
    /// # Errors
    /// If the text is no keymap; the returned value can compile another.
    pub fn compile(mut self, text: &str) -> Result<CompiledKeymap, Self> {
        if text.contains('\0') || self.holder.set_keymap_from_string(&mut self.seat, text.to_owned()).is_err() {
            return Err(self);
        }
        let text = with_xkb(&mut self.seat, &self.holder, text_of);
        Ok(CompiledKeymap { text: KeymapText::new(text), holder: self.holder })
    }
}

impl CompiledKeymap {
    /// Compiles a keymap (`XKB_V1` text). `None` if the text is no keymap, or if the system has no keyboard data files.
    ///
    /// It takes some milliseconds, and reads the files that the text includes.
    pub fn compile(text: &str) -> Option<Self> {
        SpareKeyboard::new()?.compile(text).ok()
    }

    /// Whether the texts are equal.
    pub(super) fn is_like(&self, other: &CompiledKeymap) -> bool {
        self.text.bytes == other.text.bytes
    }
}

/// The seat state that spare keyboards belong to, because Smithay's keyboards need one.
#[derive(Debug)]
pub struct SpareSeat(SeatState<SpareSeat>);

impl SpareSeat {
    pub(super) fn new() -> Self {
        SpareSeat(SeatState::new())
    }
}

impl SeatHandler for SpareSeat {
    type KeyboardFocus = WlSurface;
    type PointerFocus = WlSurface;
    type TouchFocus = WlSurface;

    fn seat_state(&mut self) -> &mut SeatState<SpareSeat> {
        &mut self.0
    }
}

/// A keymap as it is sent to clients.
#[derive(Debug)]
pub(super) struct KeymapText {
    /// With a zero byte at the end.
    pub(super) bytes: Vec<u8>,
    /// A sealed memfd with the same bytes, which clients can share because they cannot change it.
    sealed: Option<OwnedFd>,
}

impl KeymapText {
    pub(super) fn new(text: String) -> Self {
        let mut bytes = text.into_bytes();
        bytes.push(0);
        let sealed = memory(&bytes).filter(|file| {
            let seals = SealFlags::SEAL | SealFlags::SHRINK | SealFlags::GROW | SealFlags::WRITE;
            fcntl_add_seals(file, seals).is_ok()
        });
        KeymapText { bytes, sealed }
    }

    pub(super) fn size(&self) -> u32 {
        u32::try_from(self.bytes.len()).unwrap_or(u32::MAX)
    }

    pub(super) fn send(&self, keyboard: &WlKeyboard) {
        let size = self.size();
        let send = |file: &OwnedFd| keyboard.keymap(KeymapFormat::XkbV1, file.as_fd(), size);
        match self.sealed.as_ref().filter(|_| keyboard.version() >= PRIVATE_SINCE) {
            Some(sealed) => send(sealed),
            None => memory(&self.bytes).iter().for_each(send),
        }
    }
}

/// A memfd with these bytes; `None` if there is no descriptor or no memory left.
pub(super) fn memory(bytes: &[u8]) -> Option<OwnedFd> {
    let file = memfd_create("keymap", MemfdFlags::CLOEXEC | MemfdFlags::ALLOW_SEALING).ok()?;
    let file = File::from(file);
    // Written at an offset, so that the file position stays 0 for clients that read it.
    file.write_all_at(bytes, 0).ok()?;
    Some(OwnedFd::from(file))
}

/// Calls `act` with the xkb state of the seat's keyboard, or of a spare one.
pub(super) fn with_xkb<D: SeatHandler + 'static, T>(
    data: &mut D,
    handle: &KeyboardHandle<D>,
    mut act: impl FnMut(&Xkb) -> T,
) -> T {
    handle.with_xkb_state(data, |context| act(&locked(context.xkb())))
}

/// The keymap as text.
pub(super) fn text_of(held: &Xkb) -> String {
    // SAFETY: no reference to the keymap is kept.
    unsafe { held.keymap() }.get_as_string(xkb::KEYMAP_FORMAT_TEXT_V1)
}

/// Locks it even if a holder of the lock panicked: the state is still valid.
pub(super) fn locked(xkb: &Mutex<Xkb>) -> MutexGuard<'_, Xkb> {
    xkb.lock().unwrap_or_else(PoisonError::into_inner)
}

/// The symbols of a keymap's first layout, each with its symbol with Shift.
pub(super) fn shifted(keymap: &xkb::Keymap) -> BTreeMap<Keysym, Keysym> {
    let codes = (keymap.min_keycode().raw()..=keymap.max_keycode().raw()).map(xkb::Keycode::new);
    let symbol = |code, level| match keymap.key_get_syms_by_level(code, 0, level) {
        [symbol] => Some(*symbol),
        _ => None,
    };
    codes.filter_map(|code| symbol(code, 0).zip(symbol(code, 1))).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn keymap_compiles_on_another_thread_and_invalid_text_is_refused() {
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
        let keymap = std::thread::spawn(move || CompiledKeymap::compile(&there)).join().unwrap().expect("it is one");
        assert_eq!(keymap.text.bytes, [text.as_bytes(), &[0]].concat());
        assert!(CompiledKeymap::compile("xkb_keymap {").is_none());
        assert!(CompiledKeymap::compile("xkb\0keymap").is_none());
    }

    #[test]
    fn environment_does_not_affect_client_keymaps() {
        // In a process of its own, because the environment of this process is shared by all tests.
        let mut test = std::process::Command::new(std::env::current_exe().unwrap());
        test.args(["--exact", "input::keymap::tests::keymap_compiles_on_another_thread_and_invalid_text_is_refused"]);
        for name in ["RULES", "MODEL", "LAYOUT", "VARIANT", "OPTIONS"] {
            test.env(format!("XKB_DEFAULT_{name}"), "there-is-no-such-thing");
        }
        let output = test.output().unwrap();
        let printed = String::from_utf8_lossy(&output.stdout);
        assert!(output.status.success() && printed.contains("1 passed"), "{printed}");
    }
}

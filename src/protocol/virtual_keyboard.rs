//! `zwp_virtual_keyboard_manager_v1` 1: a client that plays a keyboard (wtype, on-screen keyboards).
//!
//! Each virtual keyboard has its own keymap, and its keys take the same way as those of real ones
//! ([`input::handle`]): shortcuts work, activity counts, timing sees them. (Smithay's own
//! implementation writes to `wl_keyboard` directly and shares one keymap among all.) Keys are stamped on arrival; the
//! protocol's times have no stated origin.

use std::fs::File;
use std::os::fd::OwnedFd;
use std::os::unix::fs::FileExt;

use smithay::reexports::wayland_server::backend::{ClientId, GlobalId};
use smithay::reexports::wayland_server::protocol::wl_keyboard::{KeyState, KeymapFormat};
use smithay::reexports::wayland_server::{Client, DataInit, Dispatch, DisplayHandle, GlobalDispatch, New, Resource};
use std::sync::atomic::{AtomicBool, Ordering};
use wayland_protocols_misc::zwp_virtual_keyboard_v1::server::zwp_virtual_keyboard_manager_v1::{
    self, ZwpVirtualKeyboardManagerV1,
};
use wayland_protocols_misc::zwp_virtual_keyboard_v1::server::zwp_virtual_keyboard_v1::{
    self, Error, ZwpVirtualKeyboardV1,
};

use crate::input::{self, InputEvent, KeyboardId};
use crate::state::State;
use crate::time::Clock;

const VERSION: u32 = 1;
/// The largest keymap that is read. The full `us` keymap has about 60 kB.
const MAX_KEYMAP_BYTES: u32 = 1 << 20;

/// The global, and the number of the last virtual keyboard.
#[derive(Debug)]
pub struct VirtualKeyboards {
    _global: GlobalId,
    last: u64,
}

impl VirtualKeyboards {
    pub(super) fn new(display: &DisplayHandle) -> Self {
        let global = display.create_global::<State, ZwpVirtualKeyboardManagerV1, ()>(VERSION, ());
        VirtualKeyboards { _global: global, last: 0 }
    }
}

/// One virtual keyboard.
#[derive(Debug)]
pub struct VirtualKeyboard {
    id: KeyboardId,
    has_keymap: AtomicBool,
}

impl GlobalDispatch<ZwpVirtualKeyboardManagerV1, ()> for State {
    fn bind(
        _state: &mut Self,
        _display: &DisplayHandle,
        _client: &Client,
        manager: New<ZwpVirtualKeyboardManagerV1>,
        _data: &(),
        init: &mut DataInit<'_, Self>,
    ) {
        init.init(manager, ());
    }
}

impl Dispatch<ZwpVirtualKeyboardManagerV1, ()> for State {
    fn request(
        state: &mut Self,
        _client: &Client,
        _manager: &ZwpVirtualKeyboardManagerV1,
        request: zwp_virtual_keyboard_manager_v1::Request,
        _data: &(),
        _display: &DisplayHandle,
        init: &mut DataInit<'_, Self>,
    ) {
        if let zwp_virtual_keyboard_manager_v1::Request::CreateVirtualKeyboard { id, .. } = request {
            let keyboards = &mut state.protocols.virtual_keyboard;
            keyboards.last += 1;
            let keyboard = KeyboardId::Virtual(keyboards.last);
            init.init(id, VirtualKeyboard { id: keyboard, has_keymap: AtomicBool::new(false) });
        }
    }
}

impl Dispatch<ZwpVirtualKeyboardV1, VirtualKeyboard> for State {
    fn request(
        state: &mut Self,
        _client: &Client,
        keyboard: &ZwpVirtualKeyboardV1,
        request: zwp_virtual_keyboard_v1::Request,
        data: &VirtualKeyboard,
        _display: &DisplayHandle,
        _init: &mut DataInit<'_, Self>,
    ) {
        use zwp_virtual_keyboard_v1::Request;
        let time = state.clock.now();
        match request {
            Request::Keymap { format, fd, size } => {
                let keymap = if format == KeymapFormat::XkbV1 as u32 { read_keymap(fd, size) } else { None };
                if keymap.is_some_and(|keymap| input::keyboard::set_keymap(state, data.id, keymap)) {
                    data.has_keymap.store(true, Ordering::Relaxed);
                } else {
                    // No error is defined for it; the keyboard stays without a keymap, and its keys are errors.
                    tracing::warn!(format, size, "a virtual keyboard sent a keymap that cannot be used");
                }
            }
            Request::Key { .. } | Request::Modifiers { .. } if !data.has_keymap.load(Ordering::Relaxed) => {
                keyboard.post_error(Error::NoKeymap, "a key was sent before a usable keymap");
            }
            Request::Key { key, state: new, .. } => {
                let pressed = new == KeyState::Pressed as u32;
                input::handle(state, InputEvent::Key { time, keyboard: data.id, key, pressed });
            }
            Request::Modifiers { mods_depressed, mods_latched, mods_locked, group } => {
                input::handle(
                    state,
                    InputEvent::Modifiers {
                        time,
                        keyboard: data.id,
                        depressed: mods_depressed,
                        latched: mods_latched,
                        locked: mods_locked,
                        layout: group,
                    },
                );
            }
            _ => {}
        }
    }

    fn destroyed(state: &mut Self, _client: ClientId, _keyboard: &ZwpVirtualKeyboardV1, data: &VirtualKeyboard) {
        // Not now: its client may be going, and its surfaces must not be named meanwhile (see `input::focus::lost`).
        let id = data.id;
        state.loop_handle.insert_idle(move |state| input::keyboard::remove(state, id));
    }
}

/// The text of a keymap. Only regular files (memory files among them) are read, so that a pipe cannot stall the
/// session; reading instead of mapping means that a file that shrinks meanwhile is only a short read.
pub(crate) fn read_keymap(fd: OwnedFd, size: u32) -> Option<String> {
    let file = File::from(fd);
    if size > MAX_KEYMAP_BYTES || !file.metadata().ok()?.is_file() {
        return None;
    }
    let mut bytes = vec![0; size as usize];
    let mut filled = 0;
    while filled < bytes.len() {
        match file.read_at(&mut bytes[filled..], filled as u64) {
            Ok(0) => break,
            Ok(count) => filled += count,
            Err(error) if error.kind() == std::io::ErrorKind::Interrupted => {}
            Err(_) => return None,
        }
    }
    bytes.truncate(filled);
    // The text ends at its first zero byte, if it has one.
    if let Some(end) = bytes.iter().position(|byte| *byte == 0) {
        bytes.truncate(end);
    }
    String::from_utf8(bytes).ok()
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::io::Write;

    fn memory_file(content: &[u8]) -> OwnedFd {
        let fd = rustix::fs::memfd_create("keymap", rustix::fs::MemfdFlags::CLOEXEC).unwrap();
        let mut file = File::from(fd);
        file.write_all(content).unwrap();
        OwnedFd::from(file)
    }

    #[test]
    fn a_keymap_ends_at_its_zero_byte_or_at_the_end_of_the_file() {
        assert_eq!(read_keymap(memory_file(b"xkb\0junk"), 8).as_deref(), Some("xkb"));
        assert_eq!(read_keymap(memory_file(b"xkb"), 4096).as_deref(), Some("xkb"), "shorter than was said");
    }

    #[test]
    fn a_pipe_or_a_huge_keymap_is_refused_without_being_read() {
        let (reader, _writer) = rustix::pipe::pipe().unwrap();
        assert_eq!(read_keymap(reader, 10), None);
        assert_eq!(read_keymap(memory_file(b"xkb"), u32::MAX), None);
    }
}

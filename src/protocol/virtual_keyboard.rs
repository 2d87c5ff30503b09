//! `zwp_virtual_keyboard_manager_v1` 1: a client sends key events (wtype, on-screen keyboards).
//!
//! Each virtual keyboard has its own keymap, and its keys take the same path as the keys of real keyboards
//! ([`crate::input::handle`]): shortcuts work, the user counts as active, latencies are measured. (Smithay's own
//! implementation writes to `wl_keyboard` directly and shares one keymap among all.) Keys are stamped on arrival,
//! because the protocol's times have no stated origin.
//!
//! Keymaps are compiled on a thread of their own (`keymap_compiler`); later requests of the keyboard wait for that
//! (`request_order`). Programs that type a word disconnect before that: their requests are carried out all the same.

mod keymap_cache;
mod keymap_compiler;
mod keymap_file;
mod keymap_includes;
mod keymap_readers;
mod request_order;
mod request_queue;

use smithay::reexports::wayland_server::backend::{ClientId, GlobalId};
use smithay::reexports::wayland_server::protocol::wl_keyboard::{KeyState, KeymapFormat};
use smithay::reexports::wayland_server::{Client, DataInit, Dispatch, DisplayHandle, GlobalDispatch, New, Resource};
use wayland_protocols_misc::zwp_virtual_keyboard_v1::server::zwp_virtual_keyboard_manager_v1::{
    self, ZwpVirtualKeyboardManagerV1,
};
use wayland_protocols_misc::zwp_virtual_keyboard_v1::server::zwp_virtual_keyboard_v1::{self, ZwpVirtualKeyboardV1};

use crate::client_files::OpenFileCount;
use crate::guard::{self, Handlers, Kind};
use crate::input::keyboard::ModifierMasks;
use crate::input::{KeyboardId, text};
use crate::shell;
use crate::state::State;
use keymap_file::MAX_KEYMAP_BYTES;
pub use keymap_file::{KeymapFile, KeymapRefusal};
use keymap_readers::KeymapOwner;
use request_order::VirtualKeyboardQueues;
use request_queue::{KeyboardRequest, VirtualKeyEvent};
use upbeat_timing::time::Clock;

const VERSION: u32 = 1;

/// The global, the keyboards, and the number of the last.
#[derive(Debug)]
pub struct VirtualKeyboards {
    _global: GlobalId,
    last: u64,
    keyboards: VirtualKeyboardQueues,
}

impl VirtualKeyboards {
    pub(super) fn new(display: &DisplayHandle) -> Self {
        let global = display.create_global::<State, ZwpVirtualKeyboardManagerV1, ()>(VERSION, ());
        VirtualKeyboards { _global: global, last: 0, keyboards: VirtualKeyboardQueues::default() }
    }

    /// Whether a keyboard waits for its keymap, which another thread compiles. For tests, which have to wait.
    pub(super) fn is_waiting(&self) -> bool {
        self.keyboards.is_waiting()
    }
}

/// User data of a virtual keyboard.
#[derive(Debug)]
pub struct VirtualKeyboard {
    id: KeyboardId,
}

impl GlobalDispatch<ZwpVirtualKeyboardManagerV1, (), State> for Handlers {
    fn bind(
        _state: &mut State,
        _display: &DisplayHandle,
        _client: &Client,
        manager: New<ZwpVirtualKeyboardManagerV1>,
        _data: &(),
        init: &mut DataInit<'_, State>,
    ) {
        init.init(manager, ());
    }

    fn can_view(client: Client, _data: &()) -> bool {
        super::privileges::may_bind::<ZwpVirtualKeyboardManagerV1>(&client)
    }
}

impl Dispatch<ZwpVirtualKeyboardManagerV1, (), State> for Handlers {
    fn request(
        state: &mut State,
        client: &Client,
        _manager: &ZwpVirtualKeyboardManagerV1,
        request: zwp_virtual_keyboard_manager_v1::Request,
        _data: &(),
        display: &DisplayHandle,
        init: &mut DataInit<'_, State>,
    ) {
        if let zwp_virtual_keyboard_manager_v1::Request::CreateVirtualKeyboard { id, .. } = request {
            let keyboards = &mut state.protocols.virtual_keyboard;
            keyboards.last += 1;
            let keyboard = KeyboardId::Virtual(keyboards.last);
            let object = init.init(id, VirtualKeyboard { id: keyboard });
            let name = object.id();
            keyboards.keyboards.add(keyboard, object, KeymapOwner::of(client, display));
            shell::input_popups::note_virtual_keyboard(state, name, true);
            text::grabbed_keys::set_owner(state, keyboard, client);
            request_order::prepare(state);
        }
    }
}

impl Dispatch<ZwpVirtualKeyboardV1, VirtualKeyboard, State> for Handlers {
    fn request(
        state: &mut State,
        client: &Client,
        _keyboard: &ZwpVirtualKeyboardV1,
        request: zwp_virtual_keyboard_v1::Request,
        data: &VirtualKeyboard,
        display: &DisplayHandle,
        _init: &mut DataInit<'_, State>,
    ) {
        use zwp_virtual_keyboard_v1::Request;
        let time = state.clock.now();
        let queued = match request {
            Request::Keymap { format, fd, size } => {
                let held = guard::hold(display, client, Kind::Descriptors);
                let file = KeymapFile::counted(fd, size, held.map(|held| Box::new(held) as OpenFileCount));
                if format != KeymapFormat::XkbV1 as u32 || size > MAX_KEYMAP_BYTES {
                    return request_order::refused(state, data.id);
                }
                KeyboardRequest::Keymap(file)
            }
            Request::Key { key, state, .. } => {
                KeyboardRequest::Stroke(VirtualKeyEvent::Key { time, key, pressed: state == KeyState::Pressed as u32 })
            }
            Request::Modifiers { mods_depressed, mods_latched, mods_locked, group } => {
                let masks = ModifierMasks {
                    depressed: mods_depressed,
                    latched: mods_latched,
                    locked: mods_locked,
                    layout: group,
                };
                KeyboardRequest::Stroke(VirtualKeyEvent::Modifiers { time, masks })
            }
            _ => return,
        };
        request_order::queue_request(state, client, data.id, queued);
    }

    fn destroyed(state: &mut State, _client: ClientId, keyboard: &ZwpVirtualKeyboardV1, data: &VirtualKeyboard) {
        shell::input_popups::note_virtual_keyboard(state, keyboard.id(), false);
        request_order::object_destroyed(state, data.id);
    }
}

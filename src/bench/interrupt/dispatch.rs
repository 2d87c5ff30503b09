//! The client's events. Those of frames are its pacer's.

use wayland_client::globals::GlobalListContents;
use wayland_client::protocol::{
    wl_buffer::{self, WlBuffer},
    wl_compositor::WlCompositor,
    wl_keyboard::{self, WlKeyboard},
    wl_pointer::{self, WlPointer},
    wl_registry::{self, WlRegistry},
    wl_seat::{self, WlSeat},
    wl_shm::WlShm,
    wl_shm_pool::WlShmPool,
    wl_surface::WlSurface,
};
use wayland_client::{Connection, Dispatch, Proxy, QueueHandle, WEnum, delegate_noop};
use wayland_protocols::xdg::shell::client::{
    xdg_surface::{self, XdgSurface},
    xdg_toplevel::{self, XdgToplevel},
    xdg_wm_base::{self, XdgWmBase},
};

use super::player::Player;

macro_rules! hear {
    ($interface:ty, $data:ty, |$player:ident, $object:ident, $event:ident, $known:ident, $handle:ident| $body:expr) => {
        impl Dispatch<$interface, $data> for Player {
            fn event(
                $player: &mut Self,
                $object: &$interface,
                $event: <$interface as Proxy>::Event,
                $known: &$data,
                _: &Connection,
                $handle: &QueueHandle<Self>,
            ) {
                $body
            }
        }
    };
}

impl Dispatch<WlRegistry, GlobalListContents> for Player {
    fn event(
        _: &mut Self,
        _: &WlRegistry,
        _: wl_registry::Event,
        _: &GlobalListContents,
        _: &Connection,
        _: &QueueHandle<Self>,
    ) {
    }
}

hear!(XdgWmBase, (), |_player, base, event, _known, _handle| {
    if let xdg_wm_base::Event::Ping { serial } = event {
        base.pong(serial);
    }
});

hear!(XdgSurface, (), |player, surface, event, _known, _handle| {
    if let xdg_surface::Event::Configure { serial } = event {
        surface.ack_configure(serial);
        player.configured = true;
    }
});

hear!(XdgToplevel, (), |player, _object, event, _known, _handle| {
    if let xdg_toplevel::Event::Close = event {
        player.closed = true;
    }
});

hear!(WlBuffer, usize, |player, _object, event, index, _handle| {
    if let wl_buffer::Event::Release = event {
        player.buffers.released(*index);
    }
});

hear!(WlSeat, (), |_player, seat, event, _known, handle| {
    if let wl_seat::Event::Capabilities { capabilities: WEnum::Value(can) } = event {
        if can.contains(wl_seat::Capability::Keyboard) {
            seat.get_keyboard(handle, ());
        }
        if can.contains(wl_seat::Capability::Pointer) {
            seat.get_pointer(handle, ());
        }
    }
});

hear!(WlKeyboard, (), |player, _object, event, _known, _handle| {
    if let wl_keyboard::Event::Key { state: WEnum::Value(wl_keyboard::KeyState::Pressed), .. } = event {
        player.heard += 1;
    }
});

hear!(WlPointer, (), |player, _object, event, _known, _handle| {
    if let wl_pointer::Event::Button { state: WEnum::Value(wl_pointer::ButtonState::Pressed), .. } = event {
        player.heard += 1;
    }
});

delegate_noop!(Player: ignore WlCompositor);
delegate_noop!(Player: ignore WlShm);
delegate_noop!(Player: ignore WlShmPool);
delegate_noop!(Player: ignore WlSurface);

//! Wayland events of the player. Frame events go to its `FramePacer`.

use wayland_client::protocol::{
    wl_buffer::{self, WlBuffer},
    wl_compositor::WlCompositor,
    wl_keyboard::{self, WlKeyboard},
    wl_pointer::{self, WlPointer},
    wl_seat::{self, WlSeat},
    wl_shm::WlShm,
    wl_shm_pool::WlShmPool,
    wl_surface::WlSurface,
    wl_touch::{self, WlTouch},
};
use wayland_client::{WEnum, delegate_noop};

use super::player::InterruptClient;
use crate::dispatch_macros::{answer_pings, impl_dispatch, track_window};

answer_pings!(InterruptClient);
track_window!(InterruptClient);

impl_dispatch!(InterruptClient: WlBuffer, usize, |player, _, event, index, _| {
    if let wl_buffer::Event::Release = event {
        player.buffers.handle_release(*index);
    }
});

impl_dispatch!(InterruptClient: WlSeat, (), |_, seat, event, _, handle| {
    if let wl_seat::Event::Capabilities { capabilities: WEnum::Value(can) } = event {
        if can.contains(wl_seat::Capability::Keyboard) {
            seat.get_keyboard(handle, ());
        }
        if can.contains(wl_seat::Capability::Pointer) {
            seat.get_pointer(handle, ());
        }
        if can.contains(wl_seat::Capability::Touch) {
            seat.get_touch(handle, ());
        }
    }
});

impl_dispatch!(InterruptClient: WlKeyboard, (), |player, _, event, _, _| {
    if let wl_keyboard::Event::Key { state: WEnum::Value(wl_keyboard::KeyState::Pressed), .. } = event {
        player.arrived += 1;
    }
});

impl_dispatch!(InterruptClient: WlPointer, (), |player, _, event, _, _| {
    if let wl_pointer::Event::Button { state: WEnum::Value(wl_pointer::ButtonState::Pressed), .. } = event {
        player.arrived += 1;
    }
});

impl_dispatch!(InterruptClient: WlTouch, (), |player, _, event, _, _| {
    if let wl_touch::Event::Down { .. } = event {
        player.arrived += 1;
    }
});

delegate_noop!(InterruptClient: ignore WlCompositor);
delegate_noop!(InterruptClient: ignore WlShm);
delegate_noop!(InterruptClient: ignore WlShmPool);
delegate_noop!(InterruptClient: ignore WlSurface);

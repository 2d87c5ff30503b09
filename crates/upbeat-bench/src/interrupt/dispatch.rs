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

use super::player::Player;
use crate::hear::{hear, hear_session, hear_window};

hear_session!(Player);
hear_window!(Player);

hear!(Player: WlBuffer, usize, |player, _, event, index, _| {
    if let wl_buffer::Event::Release = event {
        player.buffers.released(*index);
    }
});

hear!(Player: WlSeat, (), |_, seat, event, _, handle| {
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

hear!(Player: WlKeyboard, (), |player, _, event, _, _| {
    if let wl_keyboard::Event::Key { state: WEnum::Value(wl_keyboard::KeyState::Pressed), .. } = event {
        player.heard += 1;
    }
});

hear!(Player: WlPointer, (), |player, _, event, _, _| {
    if let wl_pointer::Event::Button { state: WEnum::Value(wl_pointer::ButtonState::Pressed), .. } = event {
        player.heard += 1;
    }
});

hear!(Player: WlTouch, (), |player, _, event, _, _| {
    if let wl_touch::Event::Down { .. } = event {
        player.heard += 1;
    }
});

delegate_noop!(Player: ignore WlCompositor);
delegate_noop!(Player: ignore WlShm);
delegate_noop!(Player: ignore WlShmPool);
delegate_noop!(Player: ignore WlSurface);

//! Prints the client's seat events, a line each: `key 30 down`, `button 272 up`, `scroll 120`, `touch down`.

use wayland_client::protocol::{
    wl_keyboard, wl_keyboard::WlKeyboard, wl_pointer, wl_pointer::WlPointer, wl_seat, wl_seat::WlSeat, wl_touch,
    wl_touch::WlTouch,
};
use wayland_client::{Connection, Dispatch, QueueHandle, WEnum};

use super::client::{RoleClient, say};

fn way(pressed: bool) -> &'static str {
    if pressed { "down" } else { "up" }
}

impl Dispatch<WlSeat, ()> for RoleClient {
    fn event(_: &mut Self, seat: &WlSeat, event: wl_seat::Event, _: &(), _: &Connection, handle: &QueueHandle<Self>) {
        if let wl_seat::Event::Capabilities { capabilities: WEnum::Value(has) } = event {
            // Our seat always has all three capabilities, so they are read once.
            assert!(has.contains(wl_seat::Capability::all()));
            seat.get_keyboard(handle, ());
            seat.get_pointer(handle, ());
            seat.get_touch(handle, ());
        }
    }
}

impl Dispatch<WlKeyboard, ()> for RoleClient {
    fn event(_: &mut Self, _: &WlKeyboard, event: wl_keyboard::Event, _: &(), _: &Connection, _: &QueueHandle<Self>) {
        match event {
            wl_keyboard::Event::Key { key, state: WEnum::Value(state), .. } => {
                say(&format!("key {key} {}", way(state == wl_keyboard::KeyState::Pressed)));
            }
            wl_keyboard::Event::Enter { .. } => say("focus"),
            _ => {}
        }
    }
}

impl Dispatch<WlPointer, ()> for RoleClient {
    fn event(_: &mut Self, _: &WlPointer, event: wl_pointer::Event, _: &(), _: &Connection, _: &QueueHandle<Self>) {
        match event {
            wl_pointer::Event::Enter { surface_x, surface_y, .. } => say(&format!("pointer {surface_x} {surface_y}")),
            wl_pointer::Event::Button { button, state: WEnum::Value(state), .. } => {
                say(&format!("button {button} {}", way(state == wl_pointer::ButtonState::Pressed)));
            }
            wl_pointer::Event::AxisValue120 { value120, .. } => say(&format!("scroll {value120}")),
            _ => {}
        }
    }
}

impl Dispatch<WlTouch, ()> for RoleClient {
    fn event(_: &mut Self, _: &WlTouch, event: wl_touch::Event, _: &(), _: &Connection, _: &QueueHandle<Self>) {
        match event {
            wl_touch::Event::Down { x, y, .. } => say(&format!("touch {x} {y}")),
            wl_touch::Event::Up { .. } => say("touch up"),
            _ => {}
        }
    }
}

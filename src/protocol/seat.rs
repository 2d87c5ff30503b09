//! `wl_seat` 9: keyboard, pointer and touch, on every backend. Headless displays have a seat, too, because `foot` and
//! `wl-copy` exit without one.
//!
//! Events come from [`input::handle`] only.

use smithay::input::keyboard::LedState;
use smithay::input::pointer::CursorImageStatus;
use smithay::input::{Seat, SeatHandler, SeatState};
use smithay::reexports::wayland_server::backend::ClientId;
use smithay::reexports::wayland_server::protocol::wl_keyboard::WlKeyboard;
use smithay::reexports::wayland_server::protocol::wl_pointer::WlPointer;
use smithay::reexports::wayland_server::protocol::wl_seat::{self, WlSeat};
use smithay::reexports::wayland_server::protocol::wl_surface::WlSurface;
use smithay::reexports::wayland_server::protocol::wl_touch::WlTouch;
use smithay::reexports::wayland_server::{Client, DataInit, Dispatch, DisplayHandle, Resource};
use smithay::wayland::seat::{KeyboardUserData, PointerUserData, SeatGlobalData, SeatUserData, TouchUserData};

use super::dispatch_guard::delegate;
use super::selection;
use crate::guard::{self, Handlers, Kind};
use crate::input;
use crate::state::State;

impl SeatHandler for State {
    type KeyboardFocus = WlSurface;
    type PointerFocus = WlSurface;
    type TouchFocus = WlSurface;

    fn seat_state(&mut self) -> &mut SeatState<State> {
        &mut self.protocols.seat
    }

    fn focus_changed(&mut self, _seat: &Seat<Self>, focused: Option<&WlSurface>) {
        let client = focused.and_then(|surface| self.display_handle.get_client(surface.id()).ok());
        selection::focus::focus_changed(self, client);
    }

    fn cursor_image(&mut self, _seat: &Seat<Self>, image: CursorImageStatus) {
        // Only stored here, because the pointer's lock is held.
        self.input.set_cursor(image);
    }

    fn led_state_changed(&mut self, _seat: &Seat<Self>, leds: LedState) {
        tracing::trace!(?leds, "keyboard lights changed");
    }
}

/// The object that a request of `wl_seat` creates.
enum CreatedDevice {
    Keyboard,
    Pointer,
    Touch,
    Nothing,
}

impl CreatedDevice {
    const fn by(request: &wl_seat::Request) -> Self {
        match request {
            wl_seat::Request::GetKeyboard { .. } => CreatedDevice::Keyboard,
            wl_seat::Request::GetPointer { .. } => CreatedDevice::Pointer,
            wl_seat::Request::GetTouch { .. } => CreatedDevice::Touch,
            _ => CreatedDevice::Nothing,
        }
    }
}

/// The input device that the current request of `client` has created.
fn newest<I: Resource + 'static>(client: &Client, display: &DisplayHandle) -> Option<I> {
    let number = guard::newest_object_id(Kind::Devices)?;
    client.object_from_protocol_id(display, number).ok()
}

delegate!(global WlSeat: SeatGlobalData<State> => SeatState<State>);
delegate!(WlPointer: PointerUserData<State> => SeatState<State>);
delegate!(WlKeyboard: KeyboardUserData<State> => SeatState<State>);
delegate!(WlTouch: TouchUserData<State> => SeatState<State>);

impl Dispatch<WlSeat, SeatUserData<State>, State> for Handlers {
    fn request(
        state: &mut State,
        client: &Client,
        seat: &WlSeat,
        request: wl_seat::Request,
        data: &SeatUserData<State>,
        display: &DisplayHandle,
        init: &mut DataInit<'_, State>,
    ) {
        let made = CreatedDevice::by(&request);
        <SeatState<State> as Dispatch<WlSeat, _, State>>::request(state, client, seat, request, data, display, init);
        match made {
            CreatedDevice::Keyboard => input::active_keymap::send_to_new_keyboard(state, client),
            CreatedDevice::Pointer => {
                let pointer = newest(client, display);
                pointer.iter().for_each(|pointer| input::new_seat_objects::pointer_made(state, pointer));
            }
            CreatedDevice::Touch => {
                let touch = newest(client, display);
                touch.iter().for_each(|touch| input::new_seat_objects::touch_made(state, touch));
            }
            CreatedDevice::Nothing => {}
        }
    }

    fn destroyed(state: &mut State, client: ClientId, seat: &WlSeat, data: &SeatUserData<State>) {
        <SeatState<State> as Dispatch<WlSeat, _, State>>::destroyed(state, client, seat, data);
    }
}

//! `wl_seat` 9: keyboard, pointer and touch, on every backend. `foot` and `wl-copy` exit without a seat, so there is
//! one on headless displays too.
//!
//! Events come from [`input::handle`](crate::input::handle) only.

use smithay::input::keyboard::LedState;
use smithay::input::pointer::CursorImageStatus;
use smithay::input::{Seat, SeatHandler, SeatState};
use smithay::reexports::wayland_server::Resource;
use smithay::reexports::wayland_server::protocol::wl_surface::WlSurface;
use smithay::wayland::selection::data_device::set_data_device_focus;
use smithay::wayland::selection::primary_selection::set_primary_focus;

use crate::state::State;

impl SeatHandler for State {
    type KeyboardFocus = WlSurface;
    type PointerFocus = WlSurface;
    type TouchFocus = WlSurface;

    fn seat_state(&mut self) -> &mut SeatState<State> {
        &mut self.protocols.seat
    }

    fn focus_changed(&mut self, seat: &Seat<Self>, focused: Option<&WlSurface>) {
        let client = focused.and_then(|surface| self.display_handle.get_client(surface.id()).ok());
        set_data_device_focus(&self.display_handle, seat, client.clone());
        set_primary_focus(&self.display_handle, seat, client);
    }

    fn cursor_image(&mut self, _seat: &Seat<Self>, image: CursorImageStatus) {
        // Called with the pointer's lock held: only noted here.
        self.input.cursor.set_status(image);
    }

    fn led_state_changed(&mut self, _seat: &Seat<Self>, leds: LedState) {
        tracing::trace!(?leds, "keyboard lights changed");
    }
}

smithay::delegate_seat!(State);

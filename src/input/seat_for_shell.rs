//! The seat's implementation of `ShellSeat`, the interface from the shell and the outputs to the seat.

use smithay::reexports::wayland_server::protocol::wl_surface::WlSurface;
use smithay::utils::{Logical, Point, Serial};

use super::{device_release, drag, focus, typing, waiting_events};
use crate::scene::CursorView;
use crate::shell::ShellSeat;
use crate::state::State;

impl ShellSeat for State {
    fn pointer_position(&self) -> Point<f64, Logical> {
        super::pointer_position(self)
    }

    fn keep_pointer_on_output(&mut self) {
        super::pointer::keep_on_output(self);
    }

    fn drag_position(&self) -> Point<f64, Logical> {
        super::drag_position(self)
    }

    fn cursor_view(&self, scale: f64) -> CursorView {
        self.input.cursor.view(scale)
    }

    fn cursor_surface(&self) -> Option<&WlSurface> {
        self.input.cursor.surface()
    }

    fn is_recent_action(&self, serial: Serial) -> bool {
        self.input.is_recent_action(serial)
    }

    fn is_typed_into(&self, surface: &WlSurface) -> bool {
        typing::is_typing_into(self, surface)
    }

    fn update_keyboard(&mut self) {
        focus::update_keyboard(self);
    }

    fn refresh_focus(&mut self) {
        super::refresh_focus(self);
    }

    fn focus_lost(&mut self, surface: &WlSurface) {
        focus::focus_lost(self, surface);
    }

    fn read_waiting_input(&mut self) {
        waiting_events::read(self);
    }

    fn latch_drag(&mut self) -> bool {
        drag::latch(self)
    }

    fn end_drag(&mut self) {
        drag::forget(self);
    }

    fn release_all_input(&mut self) {
        device_release::release_devices(self);
    }
}

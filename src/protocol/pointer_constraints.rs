//! `zwp_pointer_constraints_v1` 1: a surface locks the pointer in place or confines it to itself.
//!
//! A constraint becomes active as soon as its surface has pointer focus and the pointer is inside its region; it ends
//! when focus leaves. `input::constraint` enforces it.

use smithay::input::pointer::PointerHandle;
use smithay::reexports::wayland_protocols::wp::pointer_constraints::zv1::server::zwp_confined_pointer_v1::ZwpConfinedPointerV1;
use smithay::reexports::wayland_protocols::wp::pointer_constraints::zv1::server::zwp_locked_pointer_v1::ZwpLockedPointerV1;
use smithay::reexports::wayland_protocols::wp::pointer_constraints::zv1::server::zwp_pointer_constraints_v1::ZwpPointerConstraintsV1;
use smithay::reexports::wayland_server::protocol::wl_surface::WlSurface;
use smithay::utils::{Logical, Point};
use smithay::wayland::pointer_constraints::PointerConstraintsHandler;
use smithay::wayland::pointer_constraints::{PointerConstraintUserData, PointerConstraintsState};

use super::dispatch_guard::delegate;
use crate::input::constraint;
use crate::state::State;

impl PointerConstraintsHandler for State {
    fn new_constraint(&mut self, _surface: &WlSurface, _pointer: &PointerHandle<Self>) {
        constraint::activate_if_focused(self);
    }

    fn cursor_position_hint(
        &mut self,
        surface: &WlSurface,
        _pointer: &PointerHandle<Self>,
        location: Point<f64, Logical>,
    ) {
        constraint::apply_position_hint(self, surface, location);
    }
}

delegate!(global ZwpPointerConstraintsV1: () => PointerConstraintsState);
delegate!(ZwpPointerConstraintsV1: () => PointerConstraintsState);
delegate!(ZwpConfinedPointerV1: PointerConstraintUserData<State> => PointerConstraintsState);
delegate!(ZwpLockedPointerV1: PointerConstraintUserData<State> => PointerConstraintsState);

//! Sends the present state to a new `wl_pointer` or `wl_touch` while its client has the focus, as for `wl_keyboard`.

use smithay::reexports::wayland_server::Resource;
use smithay::reexports::wayland_server::protocol::wl_pointer::{self, WlPointer};
use smithay::reexports::wayland_server::protocol::wl_touch::WlTouch;
use smithay::utils::SERIAL_COUNTER;

use super::scroll_view_grab::{self, SurfaceFocus};
use super::touch;
use crate::state::State;
use upbeat_timing::time::Clock as _;

/// Sends `enter` and `frame` if the pointer is on a surface of the same client.
pub fn pointer_made(state: &State, pointer: &WlPointer) {
    let Some((surface, origin)) = pointer_focus(state) else { return };
    if !surface.id().same_client_as(&pointer.id()) {
        return;
    }
    let place = state.input.pointer.current_location() - origin;
    let serial = state.input.pointer.last_enter().unwrap_or_else(|| SERIAL_COUNTER.next_serial());
    pointer.enter(serial.into(), &surface, place.x, place.y);
    if pointer.version() >= wl_pointer::EVT_FRAME_SINCE {
        pointer.frame();
    }
}

/// The surface that has the pointer, and its origin (global logical coordinates).
fn pointer_focus(state: &State) -> SurfaceFocus {
    let on = state.input.pointer.current_focus()?;
    let pressed = state.input.pointer.grab_start_data().and_then(|start| start.focus);
    let mut known = pressed.into_iter().chain(state.input.pointer_focus.clone());
    let focus = known.find(|(surface, _)| *surface == on);
    scroll_view_grab::with_present_origin(state, &focus, state.input.pointer.current_location())
}

/// Sends `down` for each finger on a surface of the same client, and one `frame`.
pub fn touch_made(state: &State, object: &WlTouch) {
    let time = state.clock.now().as_wayland_millis();
    let fingers = touch::client_touch_points(state);
    let mine = fingers.filter(|finger| finger.surface.id().same_client_as(&object.id()));
    let mut is_any = false;
    for finger in mine {
        let (serial, slot, place) = (finger.serial.into(), finger.slot.cast_signed(), finger.place);
        object.down(serial, time, &finger.surface, slot, place.x, place.y);
        is_any = true;
    }
    if is_any {
        object.frame();
    }
}

//! The pointer is taken away from its client: nothing is dropped, and buttons that are down do nothing until they come up.

use smithay::backend::input::ButtonState;
use smithay::input::pointer::{ButtonEvent, MotionEvent};
use smithay::utils::SERIAL_COUNTER;

use super::{behind, foresight};
use crate::state::State;
use crate::surface::foresight::Device;
use upbeat_timing::time::Instant;

/// Ends its grab on no surface, and keeps the releases that follow.
pub(super) fn let_go(state: &mut State, now: Instant) {
    behind::forget(state);
    foresight::left(state, Device::Pointer);
    state.input.pointer_focus = None;
    let given = state.input.held.swallow_all();
    let pointer = state.input.pointer.clone();
    let event = MotionEvent {
        location: pointer.current_location(),
        serial: SERIAL_COUNTER.next_serial(),
        time: now.as_wayland_millis(),
    };
    // On nothing when the grab ends: what is dragged between clients would be dropped there.
    pointer.motion(state, None, &event);
    pointer.frame(state);
    pointer.unset_grab(state, SERIAL_COUNTER.next_serial(), now.as_wayland_millis());
    // Nobody is there to hear it. Smithay ends the grab of a press when nothing is down: one that it took for down for ever
    // would hold the seat with the next click.
    for button in given {
        let (serial, time) = (SERIAL_COUNTER.next_serial(), now.as_wayland_millis());
        pointer.button(state, &ButtonEvent { serial, time, button, state: ButtonState::Released });
    }
    pointer.frame(state);
}

//! Takes the pointer away from its client: dragged data is not dropped, and buttons that are down have no effect until
//! their release.

use smithay::backend::input::ButtonState;
use smithay::input::pointer::{ButtonEvent, MotionEvent};
use smithay::utils::SERIAL_COUNTER;

use super::{motion_coalescing, prediction_feed};
use crate::state::State;
use crate::surface::input_prediction::TrackedDevice;
use upbeat_timing::time::Instant;

/// Ends the pointer's grab while it is on no surface, and swallows the releases that follow.
pub(super) fn release_pointer(state: &mut State, now: Instant) {
    motion_coalescing::discard(state);
    prediction_feed::device_left(state, TrackedDevice::Pointer);
    state.input.pointer_focus = None;
    let given = state.input.held_buttons.swallow_all();
    let pointer = state.input.pointer.clone();
    let event = MotionEvent {
        location: pointer.current_location(),
        serial: SERIAL_COUNTER.next_serial(),
        time: now.as_wayland_millis(),
    };
    // First move it off any surface: dragged data would be dropped there when the grab ends.
    pointer.motion(state, None, &event);
    pointer.frame(state);
    pointer.unset_grab(state, SERIAL_COUNTER.next_serial(), now.as_wayland_millis());
    // There is no client to get these releases. But Smithay ends the grab of a press only when no button is down; a
    // button that it believed to be down for ever would keep the grab of the next click.
    for button in given {
        let (serial, time) = (SERIAL_COUNTER.next_serial(), now.as_wayland_millis());
        pointer.button(state, &ButtonEvent { serial, time, button, state: ButtonState::Released });
    }
    pointer.frame(state);
}

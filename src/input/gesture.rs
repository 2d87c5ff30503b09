//! Touchpad gestures. They go to the surface under the pointer, unless they are [the session's own](swiping).

use smithay::input::pointer::{
    GestureHoldBeginEvent, GestureHoldEndEvent, GesturePinchBeginEvent, GesturePinchEndEvent, GesturePinchUpdateEvent,
    GestureSwipeBeginEvent, GestureSwipeEndEvent, GestureSwipeUpdateEvent,
};
use smithay::utils::SERIAL_COUNTER;

use super::event::Gesture;
use super::swiping;
use crate::output::{self, InputKind};
use crate::state::State;
use upbeat_timing::time::Instant;

pub fn heard(state: &mut State, at: Instant, gesture: Gesture) {
    if swiping::heard(state, at, gesture) {
        return;
    }
    let pointer = state.input.pointer.clone();
    let focus = pointer.current_focus();
    output::input(state, InputKind::Scroll, focus.as_ref(), at);
    let (time, serial) = (at.as_wayland_millis(), SERIAL_COUNTER.next_serial());
    match gesture {
        Gesture::SwipeBegin { fingers } => {
            pointer.gesture_swipe_begin(state, &GestureSwipeBeginEvent { serial, time, fingers });
        }
        Gesture::SwipeUpdate { delta } => {
            pointer.gesture_swipe_update(state, &GestureSwipeUpdateEvent { time, delta });
        }
        Gesture::SwipeEnd { cancelled } => {
            pointer.gesture_swipe_end(state, &GestureSwipeEndEvent { serial, time, cancelled });
        }
        Gesture::PinchBegin { fingers } => {
            pointer.gesture_pinch_begin(state, &GesturePinchBeginEvent { serial, time, fingers });
        }
        Gesture::PinchUpdate { delta, scale, rotation } => {
            pointer.gesture_pinch_update(state, &GesturePinchUpdateEvent { time, delta, scale, rotation });
        }
        Gesture::PinchEnd { cancelled } => {
            pointer.gesture_pinch_end(state, &GesturePinchEndEvent { serial, time, cancelled });
        }
        Gesture::HoldBegin { fingers } => {
            pointer.gesture_hold_begin(state, &GestureHoldBeginEvent { serial, time, fingers });
        }
        Gesture::HoldEnd { cancelled } => {
            pointer.gesture_hold_end(state, &GestureHoldEndEvent { serial, time, cancelled });
        }
    }
}

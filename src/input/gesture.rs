//! Touchpad gestures. They go to the surface under the pointer, unless they are [the session's own](session_swipes).

use smithay::input::pointer::{
    GestureHoldBeginEvent, GestureHoldEndEvent, GesturePinchBeginEvent, GesturePinchEndEvent, GesturePinchUpdateEvent,
    GestureSwipeBeginEvent, GestureSwipeEndEvent, GestureSwipeUpdateEvent,
};
use smithay::utils::SERIAL_COUNTER;

use super::event::TouchpadGesture;
use super::session_swipes;
use crate::output::{self, InputKind};
use crate::state::State;
use upbeat_timing::time::Instant;

pub fn handle(state: &mut State, at: Instant, gesture: TouchpadGesture) {
    if session_swipes::handle_gesture(state, at, gesture) {
        return;
    }
    let pointer = state.input.pointer.clone();
    let focus = pointer.current_focus();
    output::input(state, InputKind::Scroll, focus.as_ref(), at);
    let (time, serial) = (at.as_wayland_millis(), SERIAL_COUNTER.next_serial());
    match gesture {
        TouchpadGesture::SwipeBegin { fingers } => {
            pointer.gesture_swipe_begin(state, &GestureSwipeBeginEvent { serial, time, fingers });
        }
        TouchpadGesture::SwipeUpdate { delta } => {
            pointer.gesture_swipe_update(state, &GestureSwipeUpdateEvent { time, delta });
        }
        TouchpadGesture::SwipeEnd { cancelled } => {
            pointer.gesture_swipe_end(state, &GestureSwipeEndEvent { serial, time, cancelled });
        }
        TouchpadGesture::PinchBegin { fingers } => {
            pointer.gesture_pinch_begin(state, &GesturePinchBeginEvent { serial, time, fingers });
        }
        TouchpadGesture::PinchUpdate { delta, scale, rotation } => {
            pointer.gesture_pinch_update(state, &GesturePinchUpdateEvent { time, delta, scale, rotation });
        }
        TouchpadGesture::PinchEnd { cancelled } => {
            pointer.gesture_pinch_end(state, &GesturePinchEndEvent { serial, time, cancelled });
        }
        TouchpadGesture::HoldBegin { fingers } => {
            pointer.gesture_hold_begin(state, &GestureHoldBeginEvent { serial, time, fingers });
        }
        TouchpadGesture::HoldEnd { cancelled } => {
            pointer.gesture_hold_end(state, &GestureHoldEndEvent { serial, time, cancelled });
        }
    }
}

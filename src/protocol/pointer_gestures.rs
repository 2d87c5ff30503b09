//! `zwp_pointer_gestures_v1` 3: swipe, pinch and hold of fingers on a touchpad.

use super::dispatch_guard::delegate;
use crate::state::State;
use smithay::reexports::wayland_protocols::wp::pointer_gestures::zv1::server::zwp_pointer_gesture_hold_v1::ZwpPointerGestureHoldV1;
use smithay::reexports::wayland_protocols::wp::pointer_gestures::zv1::server::zwp_pointer_gesture_pinch_v1::ZwpPointerGesturePinchV1;
use smithay::reexports::wayland_protocols::wp::pointer_gestures::zv1::server::zwp_pointer_gesture_swipe_v1::ZwpPointerGestureSwipeV1;
use smithay::reexports::wayland_protocols::wp::pointer_gestures::zv1::server::zwp_pointer_gestures_v1::ZwpPointerGesturesV1;
use smithay::wayland::pointer_gestures::{PointerGestureUserData, PointerGesturesState};

delegate!(global ZwpPointerGesturesV1: () => PointerGesturesState);
delegate!(ZwpPointerGesturesV1: () => PointerGesturesState);
delegate!(ZwpPointerGestureSwipeV1: PointerGestureUserData<State> => PointerGesturesState);
delegate!(ZwpPointerGesturePinchV1: PointerGestureUserData<State> => PointerGesturesState);
delegate!(ZwpPointerGestureHoldV1: PointerGestureUserData<State> => PointerGesturesState);

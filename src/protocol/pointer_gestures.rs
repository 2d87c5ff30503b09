//! `zwp_pointer_gestures_v1` 3: swipe, pinch and hold of fingers on a touchpad.

use crate::state::State;

smithay::delegate_pointer_gestures!(State);

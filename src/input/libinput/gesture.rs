//! Touchpad gestures, from libinput.

use input::event::gesture::{
    GestureEndEvent, GestureEvent, GestureEventCoordinates, GestureEventTrait, GestureHoldEvent, GesturePinchEvent,
    GesturePinchEventTrait, GestureSwipeEvent,
};
use smithay::utils::{Logical, Point};

use crate::input::TouchpadGesture;

/// `None` for events that later versions of libinput may add.
pub(super) fn translate(event: &GestureEvent) -> Option<TouchpadGesture> {
    let fingers = event.finger_count().unsigned_abs();
    match event {
        GestureEvent::Swipe(event) => Some(match event {
            GestureSwipeEvent::Begin(_) => TouchpadGesture::SwipeBegin { fingers },
            GestureSwipeEvent::Update(update) => TouchpadGesture::SwipeUpdate { delta: delta(update) },
            GestureSwipeEvent::End(end) => TouchpadGesture::SwipeEnd { cancelled: end.cancelled() },
            _ => return None,
        }),
        GestureEvent::Pinch(event) => Some(match event {
            GesturePinchEvent::Begin(_) => TouchpadGesture::PinchBegin { fingers },
            GesturePinchEvent::Update(update) => TouchpadGesture::PinchUpdate {
                delta: delta(update),
                scale: update.scale(),
                rotation: update.angle_delta(),
            },
            GesturePinchEvent::End(end) => TouchpadGesture::PinchEnd { cancelled: end.cancelled() },
            _ => return None,
        }),
        GestureEvent::Hold(event) => Some(match event {
            GestureHoldEvent::Begin(_) => TouchpadGesture::HoldBegin { fingers },
            GestureHoldEvent::End(end) => TouchpadGesture::HoldEnd { cancelled: end.cancelled() },
            _ => return None,
        }),
        _ => None,
    }
}

fn delta(event: &impl GestureEventCoordinates) -> Point<f64, Logical> {
    (event.dx(), event.dy()).into()
}

//! The touch points that are down, and how `wl_touch.cancel` is sent.

use smithay::backend::input::TouchSlot;
use smithay::input::touch::{MotionEvent, TouchGrab};
use smithay::reexports::wayland_server::Resource;
use smithay::reexports::wayland_server::protocol::wl_surface::WlSurface;
use smithay::utils::{Logical, Point, Serial};

use super::data_drag_grabs::{SentTarget, TouchDrag};
use super::scroll_view_grab::SurfaceFocus;
use super::{InputTimes, TimestampedDevice, prediction_feed, scroll_view_grab};
use crate::state::State;
use upbeat_timing::time::Clock;

/// An edge of an output.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum OutputEdge {
    Left,
    Right,
    Bottom,
}

/// A finger that is down.
#[derive(Debug)]
pub(super) struct TouchPoint {
    pub(super) slot: u32,
    pub(super) serial: Serial,
    pub(super) focus: SurfaceFocus,
    pub(super) position: Point<f64, Logical>,
    /// Where it went down (global logical coordinates).
    pub(super) pressed_at: Point<f64, Logical>,
    /// No client gets events of it, for example because it dismissed popups.
    pub(super) swallowed: bool,
    /// Where it went down; `None` once its purpose is decided.
    pub(super) start: Option<Point<f64, Logical>>,
    /// The scroll view that it drags.
    pub(super) drags: Option<WlSurface>,
    /// The edge where it went down, until it is decided whether it is a swipe from the edge.
    pub(super) edge: Option<OutputEdge>,
    /// It is a swipe of the session's own.
    pub(super) swipes: bool,
    /// Its client got no event of it since the last frame.
    pub(super) is_framed: bool,
}

/// The fingers that are down.
#[derive(Debug, Default)]
pub struct SeatTouchPoints {
    pub(super) down: Vec<TouchPoint>,
    pub(super) carried_to: SentTarget,
}

impl TouchPoint {
    /// A finger whose events no client gets.
    pub(super) fn swallowed(slot: u32, serial: Serial, position: Point<f64, Logical>) -> Self {
        TouchPoint {
            slot,
            serial,
            focus: None,
            position,
            pressed_at: position,
            swallowed: true,
            start: None,
            drags: None,
            edge: None,
            swipes: false,
            is_framed: false,
        }
    }
}

impl SeatTouchPoints {
    /// Where a finger is (global logical coordinates).
    pub fn position(&self, slot: u32) -> Option<Point<f64, Logical>> {
        self.down.iter().find(|touch| touch.slot == slot).map(|touch| touch.position)
    }

    /// Where a finger went down (global logical coordinates).
    pub fn pressed_at(&self, slot: u32) -> Option<Point<f64, Logical>> {
        self.down.iter().find(|touch| touch.slot == slot).map(|touch| touch.pressed_at)
    }

    /// The finger that touched a surface of the client of `surface` with `serial`, if it is still down.
    pub fn slot_of(&self, serial: Serial, surface: &WlSurface) -> Option<u32> {
        let same_client =
            |focus: &SurfaceFocus| focus.as_ref().is_some_and(|(on, _)| on.id().same_client_as(&surface.id()));
        self.down.iter().find(|touch| touch.serial == serial && same_client(&touch.focus)).map(|touch| touch.slot)
    }
}

/// The location to pass to Smithay for a finger at `position`, whose surface `focus` has moved to `renewed`: Smithay
/// subtracts the origin that the surface had when the finger went down.
pub(super) fn location_for_smithay(
    focus: &SurfaceFocus,
    renewed: &SurfaceFocus,
    position: Point<f64, Logical>,
) -> Point<f64, Logical> {
    let moved = renewed.as_ref().zip(focus.as_ref()).map(|((_, now), (_, then))| *now - *then);
    position - moved.unwrap_or_default()
}

/// Cancels the touches of clients, which then get no more of them. Smithay 0.7 leaves out fingers without an event
/// since the last frame, so their position is sent once more.
pub(super) fn cancel_client_touches(state: &mut State) {
    let now = state.clock.now();
    let time = now.as_wayland_millis();
    let carrier =
        state.input.touches.down.iter().find(|touch| is_dragging_data(state, touch.slot)).map(|touch| touch.slot);
    let down = state.input.touches.down.iter();
    let left_out = down.filter(|touch| touch.is_framed && !touch.swallowed && Some(touch.slot) != carrier);
    let place = |touch: &TouchPoint| {
        let renewed = scroll_view_grab::with_present_origin(state, &touch.focus, touch.position);
        let location = location_for_smithay(&touch.focus, &renewed, touch.position);
        let surface = touch.focus.as_ref().map(|(surface, _)| surface.clone());
        (surface, MotionEvent { slot: touch_slot(touch.slot), location, time })
    };
    let places: Vec<_> = left_out.map(place).collect();
    let handle = state.input.touch.clone();
    for (surface, event) in &places {
        state.send_time(TimestampedDevice::Touch, surface.as_ref(), now);
        handle.motion(state, None, event);
    }
    handle.cancel(state);
    let others = state.input.touches.down.iter_mut().filter(|touch| Some(touch.slot) != carrier);
    others.for_each(|touch| touch.swallowed = true);
    prediction_feed::fingers_lifted(state);
}

/// Whether the finger `slot` drags data between clients.
pub(super) fn is_dragging_data(state: &State, slot: u32) -> bool {
    let dragging = |grab: &TouchDrag| grab.start_data().slot == touch_slot(slot);
    state.input.touch.with_grab(|_, grab| grab.downcast_ref().is_some_and(dragging)).unwrap_or(false)
}

pub(super) fn touch_slot(slot: u32) -> TouchSlot {
    TouchSlot::from(Some(slot))
}

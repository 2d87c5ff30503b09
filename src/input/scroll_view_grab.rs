//! Implicit grabs on surfaces in a scroll view: the surface may move while it is held, and the coordinates follow it.

use smithay::input::pointer::{
    AxisFrame, ButtonEvent, Focus as Clears, GestureHoldBeginEvent, GestureHoldEndEvent, GesturePinchBeginEvent,
    GesturePinchEndEvent, GesturePinchUpdateEvent, GestureSwipeBeginEvent, GestureSwipeEndEvent,
    GestureSwipeUpdateEvent, GrabStartData, MotionEvent, PointerGrab, PointerInnerHandle, RelativeMotionEvent,
};
use smithay::reexports::wayland_server::protocol::wl_surface::WlSurface;
use smithay::utils::{Logical, Point, SERIAL_COUNTER, Serial};

use super::{InputTimes, TimestampedDevice, scrolling};
use crate::bindings::BUTTON_LEFT;
use crate::output;
use crate::state::State;
use upbeat_timing::time::Instant;

/// A surface and its origin (global logical coordinates).
pub type SurfaceFocus = Option<(WlSurface, Point<f64, Logical>)>;

/// `focus` with its present origin, if it lies in a scroll view. `at`: the position of the pointer, finger or tool.
pub(super) fn with_present_origin(state: &State, focus: &SurfaceFocus, at: Point<f64, Logical>) -> SurfaceFocus {
    let (surface, origin) = focus.as_ref()?;
    let is_moved = scrolling::is_in_view(state, surface);
    let now = if is_moved { output::scene::scrolling::origin_on_screen(state, surface, at) } else { None };
    Some((surface.clone(), now.unwrap_or(*origin)))
}

/// A button was pressed on a surface in a scroll view. Smithay's own grab would keep using the surface's old origin.
pub(super) fn begin(state: &mut State, serial: Serial) {
    let pointer = state.input.pointer.clone();
    let Some(start) = pointer.grab_start_data().filter(|_| pointer.has_grab(serial)) else { return };
    if start.focus.as_ref().is_some_and(|(surface, _)| scrolling::is_in_view(state, surface)) {
        let sent_focus = start.focus.clone();
        pointer.set_grab(state, ScrollViewGrab { start, sent_focus }, serial, Clears::Keep);
    }
}

/// A tool that has become the pointer holds `focus`, by the press `serial`: it may start a drag of data.
pub(super) fn begin_for_tool(state: &mut State, focus: SurfaceFocus, serial: Serial) {
    let pointer = state.input.pointer.clone();
    let location = pointer.current_location();
    let start = GrabStartData { focus: focus.clone(), button: BUTTON_LEFT, location };
    pointer.set_grab(state, ScrollViewGrab { start, sent_focus: focus }, serial, Clears::Clear);
}

/// Sends the pointer's position on the held surface, if that surface has moved since the last event. Called before
/// button events, so that a click hits the place that the user sees.
pub(super) fn resend_position(state: &mut State, time: Instant) {
    let pointer = state.input.pointer.clone();
    let sent_focus = pointer
        .with_grab(|_, grab| grab.downcast_ref::<ScrollViewGrab>().map(|held| held.sent_focus.clone()))
        .flatten();
    let location = pointer.current_location();
    let Some(sent_focus) = sent_focus else { return };
    let focus = with_present_origin(state, &sent_focus, location);
    if focus != sent_focus {
        state.input.pointer_focus = focus;
        let serial = SERIAL_COUNTER.next_serial();
        state.send_time(TimestampedDevice::Pointer, pointer.current_focus().as_ref(), time);
        pointer.motion(state, None, &MotionEvent { location, serial, time: time.as_wayland_millis() });
        pointer.frame(state);
    }
}

/// A click grab whose surface may move.
#[derive(Debug)]
struct ScrollViewGrab {
    start: GrabStartData<State>,
    /// The held surface, with the origin that its client's last event was based on.
    sent_focus: SurfaceFocus,
}

/// Implements methods that forward to the inner handle.
macro_rules! pass_on {
    ($($name:ident($event:ty);)*) => {
        $(fn $name(&mut self, state: &mut State, handle: &mut PointerInnerHandle<'_, State>, event: $event) {
            handle.$name(state, event);
        })*
    };
}

impl PointerGrab<State> for ScrollViewGrab {
    fn motion(
        &mut self,
        state: &mut State,
        handle: &mut PointerInnerHandle<'_, State>,
        _focus: SurfaceFocus,
        event: &MotionEvent,
    ) {
        self.sent_focus = with_present_origin(state, &self.sent_focus, event.location);
        handle.motion(state, self.sent_focus.clone(), event);
    }

    fn relative_motion(
        &mut self,
        state: &mut State,
        handle: &mut PointerInnerHandle<'_, State>,
        focus: SurfaceFocus,
        event: &RelativeMotionEvent,
    ) {
        handle.relative_motion(state, focus, event);
    }

    fn button(&mut self, state: &mut State, handle: &mut PointerInnerHandle<'_, State>, event: &ButtonEvent) {
        handle.button(state, event);
        if handle.current_pressed().is_empty() {
            handle.unset_grab(self, state, event.serial, event.time, false);
        }
    }

    fn frame(&mut self, state: &mut State, handle: &mut PointerInnerHandle<'_, State>) {
        handle.frame(state);
    }

    pass_on! {
        axis(AxisFrame);
        gesture_swipe_begin(&GestureSwipeBeginEvent);
        gesture_swipe_update(&GestureSwipeUpdateEvent);
        gesture_swipe_end(&GestureSwipeEndEvent);
        gesture_pinch_begin(&GesturePinchBeginEvent);
        gesture_pinch_update(&GesturePinchUpdateEvent);
        gesture_pinch_end(&GesturePinchEndEvent);
        gesture_hold_begin(&GestureHoldBeginEvent);
        gesture_hold_end(&GestureHoldEndEvent);
    }

    fn start_data(&self) -> &GrabStartData<State> {
        &self.start
    }

    fn unset(&mut self, _state: &mut State) {}
}

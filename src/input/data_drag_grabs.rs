//! Grabs of the pointer and of fingers during drag-and-drop: the drag gets their motion, and clients get no pointer or
//! touch events.

use smithay::input::pointer::{
    AxisFrame, ButtonEvent, GestureHoldBeginEvent, GestureHoldEndEvent, GesturePinchBeginEvent, GesturePinchEndEvent,
    GesturePinchUpdateEvent, GestureSwipeBeginEvent, GestureSwipeEndEvent, GestureSwipeUpdateEvent, GrabStartData,
    MotionEvent, PointerGrab, PointerInnerHandle, RelativeMotionEvent,
};
use smithay::input::touch::{
    DownEvent, GrabStartData as TouchStart, MotionEvent as TouchMotion, OrientationEvent, ShapeEvent, TouchGrab,
    TouchInnerHandle, UpEvent,
};
use smithay::reexports::wayland_server::protocol::wl_surface::WlSurface;
use smithay::utils::{Logical, Point, Serial};

use super::scroll_view_grab::SurfaceFocus;
use crate::state::State;

/// The dragged data. It must not use the seat's pointer or touch handle, which are locked while it is called.
pub trait DraggedData: Send {
    /// It is at `location` (global logical coordinates), on `focus`. `time`: milliseconds.
    fn moved(&mut self, state: &mut State, focus: SurfaceFocus, location: Point<f64, Logical>, time: u32);

    /// The press is over: the data is dropped at its last place.
    fn ended(&mut self, state: &mut State);
}

/// The surface that a finger drags data over, as far as its client was told.
#[derive(Debug, Default)]
pub(super) struct SentTarget {
    pub surface: Option<WlSurface>,
    /// The finger has moved without an event to the client, or is on a client whose socket was too full for `enter`.
    pub is_unsent: bool,
}

/// Whether data is being dragged.
pub fn is_active(state: &State) -> bool {
    let by_pointer = state.input.pointer.with_grab(|_, grab| grab.is::<PointerDrag>());
    let by_touch = state.input.touch.with_grab(|_, grab| grab.is::<TouchDrag>());
    by_pointer == Some(true) || by_touch == Some(true)
}

/// The pointer drags data; meanwhile it is on no surface.
pub(super) struct PointerDrag {
    pub start: GrabStartData<State>,
    pub carried: Box<dyn DraggedData>,
}

/// Implements methods that forward to the inner handle.
macro_rules! pass_on {
    ($($name:ident($event:ty);)*) => {
        $(fn $name(&mut self, state: &mut State, handle: &mut PointerInnerHandle<'_, State>, event: $event) {
            handle.$name(state, event);
        })*
    };
}

impl PointerGrab<State> for PointerDrag {
    fn motion(
        &mut self,
        state: &mut State,
        handle: &mut PointerInnerHandle<'_, State>,
        focus: SurfaceFocus,
        event: &MotionEvent,
    ) {
        handle.motion(state, None, event);
        self.carried.moved(state, focus, event.location, event.time);
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
        if handle.current_pressed().is_empty() {
            handle.unset_grab(self, state, event.serial, event.time, true);
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

    fn unset(&mut self, state: &mut State) {
        self.carried.ended(state);
    }
}

/// A finger drags data, and its client gets no more events of that finger. Fingers that were down before still report,
/// so that each `down` has its `up`. Fingers that come down during the drag do not get here.
pub(super) struct TouchDrag {
    pub start: TouchStart<State>,
    pub carried: Box<dyn DraggedData>,
}

type TouchHandleMut<'a, 'b> = &'a mut TouchInnerHandle<'b, State>;

impl TouchGrab<State> for TouchDrag {
    fn down(&mut self, _: &mut State, _: TouchHandleMut<'_, '_>, _: SurfaceFocus, _: &DownEvent, _: Serial) {}

    fn up(&mut self, state: &mut State, handle: TouchHandleMut<'_, '_>, event: &UpEvent, serial: Serial) {
        if event.slot == self.start.slot {
            handle.unset_grab(self, state);
        } else {
            handle.up(state, event, serial);
        }
    }

    fn motion(
        &mut self,
        state: &mut State,
        handle: TouchHandleMut<'_, '_>,
        focus: SurfaceFocus,
        event: &TouchMotion,
        serial: Serial,
    ) {
        if event.slot == self.start.slot {
            self.carried.moved(state, focus, event.location, event.time);
        } else {
            handle.motion(state, focus, event, serial);
        }
    }

    fn frame(&mut self, state: &mut State, handle: TouchHandleMut<'_, '_>, serial: Serial) {
        handle.frame(state, serial);
    }

    fn cancel(&mut self, state: &mut State, handle: TouchHandleMut<'_, '_>, serial: Serial) {
        handle.cancel(state, serial);
        handle.unset_grab(self, state);
    }

    fn shape(&mut self, state: &mut State, handle: TouchHandleMut<'_, '_>, event: &ShapeEvent, serial: Serial) {
        if event.slot != self.start.slot {
            handle.shape(state, event, serial);
        }
    }

    fn orientation(
        &mut self,
        state: &mut State,
        handle: TouchHandleMut<'_, '_>,
        event: &OrientationEvent,
        serial: Serial,
    ) {
        if event.slot != self.start.slot {
            handle.orientation(state, event, serial);
        }
    }

    fn start_data(&self) -> &TouchStart<State> {
        &self.start
    }

    fn unset(&mut self, state: &mut State) {
        self.carried.ended(state);
    }
}

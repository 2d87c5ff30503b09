//! Drag-and-drop by a finger.
//!
//! As with the pointer (`motion_coalescing`), a target that does not read its events gets no motion until it reads on.
//! Otherwise a drag that another client began could fill its socket.

use smithay::input::touch::MotionEvent;
use smithay::reexports::wayland_server::protocol::wl_surface::WlSurface;
use smithay::utils::{Logical, Point};

use super::data_drag_grabs::SentTarget;
use super::pointer::pick;
use super::prediction_feed;
use super::scroll_view_grab::SurfaceFocus;
use super::touch_points::{is_dragging_data, touch_slot};
use crate::guard;
use crate::output::{self, InputKind};
use crate::state::State;
use crate::surface::input_prediction::TrackedDevice;
use upbeat_timing::time::{Clock, Instant};

/// The position of the finger that drags data.
pub(super) fn finger_position(state: &State) -> Option<Point<f64, Logical>> {
    let touches = &state.input.touches.down;
    touches.iter().find(|touch| is_dragging_data(state, touch.slot)).map(|touch| touch.position)
}

/// A finger begins a drag: no client knows its position yet.
pub(super) fn begin(state: &mut State) {
    state.input.touches.carried_to = SentTarget::default();
}

/// Ends the drag by a finger, which also leaves its client: nothing is dropped.
pub(super) fn cancel(state: &mut State) {
    let carrier = state.input.touches.down.iter().position(|touch| is_dragging_data(state, touch.slot));
    let Some(index) = carrier else { return };
    let touch = &mut state.input.touches.down[index];
    touch.swallowed = true;
    let (slot, location) = (touch_slot(touch.slot), touch.position);
    let event = MotionEvent { slot, location, time: state.clock.now().as_wayland_millis() };
    let handle = state.input.touch.clone();
    // First move it off any surface, because Smithay drops the data on the last one.
    handle.motion(state, None, &event);
    handle.unset_grab(state);
}

/// The finger moved: the data goes along, over the surface at its position.
pub(super) fn finger_moved(state: &mut State, time: Instant, slot: u32, position: Point<f64, Logical>) {
    let focus = pick(state, position);
    // The finger belongs to no surface during the drag, so its motion is not predicted.
    prediction_feed::device_left(state, TrackedDevice::Touch(slot));
    output::input(state, InputKind::Touch, focus.as_ref().map(|(surface, _)| surface), time);
    if !is_held_back(state, &focus) {
        send_position(state, time, slot, position, focus);
    }
    if state.surfaces.drag_icon().is_some() {
        output::schedule_window_repaint(state);
    }
}

/// Whether motion is not sent to the target for now.
fn is_held_back(state: &mut State, focus: &SurfaceFocus) -> bool {
    let carried = &mut state.input.touches.carried_to;
    let is_same = |surface: &WlSurface| carried.surface.as_ref() == Some(surface);
    let is_behind = focus.as_ref().is_some_and(|(surface, _)| is_same(surface) && !guard::may_send(surface));
    carried.is_unsent = is_behind;
    is_behind
}

/// Sends the finger's position to the target. A client without room in its socket is no target until it has room.
fn send_position(state: &mut State, time: Instant, slot: u32, location: Point<f64, Logical>, focus: SurfaceFocus) {
    let carried = &mut state.input.touches.carried_to;
    let is_there = focus.is_some();
    let is_known = |surface: &WlSurface| carried.surface.as_ref() == Some(surface);
    let focus = focus.filter(|(surface, _)| is_known(surface) || guard::may_send_urgent(surface));
    carried.is_unsent = is_there && focus.is_none();
    carried.surface = focus.as_ref().map(|(surface, _)| surface.clone());
    let event = MotionEvent { slot: touch_slot(slot), location, time: time.as_wayland_millis() };
    state.input.touch.clone().motion(state, focus, &event);
}

/// Sends the position that was held back, if the target has read on.
pub fn catch_up(state: &mut State) {
    if !state.input.touches.carried_to.is_unsent {
        return;
    }
    let touches = state.input.touches.down.iter();
    let mut carriers =
        touches.filter(|touch| is_dragging_data(state, touch.slot)).map(|touch| (touch.slot, touch.position));
    let carrier = carriers.next();
    let now = state.clock.now();
    match carrier {
        Some((slot, position)) => finger_moved(state, now, slot, position),
        None => begin(state),
    }
}

/// The finger is lifted: sends the position that was held back before the drop.
pub(super) fn catch_up_before_drop(state: &mut State, time: Instant, slot: u32) {
    if !state.input.touches.carried_to.is_unsent || !is_dragging_data(state, slot) {
        return;
    }
    let position = state.input.touches.position(slot);
    if let Some(position) = position {
        let focus = pick(state, position);
        send_position(state, time, slot, position, focus);
    }
}

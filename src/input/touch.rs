//! Touch. A touch point belongs to the surface that it went down on until it is lifted.

use smithay::input::touch::{DownEvent, MotionEvent, UpEvent};
use smithay::reexports::wayland_server::protocol::wl_surface::WlSurface;
use smithay::utils::{Logical, Point, SERIAL_COUNTER, Serial};

use super::pointer::pick;
use super::touch_points::{TouchPoint, cancel_client_touches, is_dragging_data, location_for_smithay, touch_slot};
use super::{
    InputTimes, TimestampedDevice, actions, drag, prediction_feed, scroll_view_grab, scrolling, session_swipes,
    title_presses, touch_drag,
};
use crate::bindings::BUTTON_LEFT;
use crate::bounds::coordinate_f64;
use crate::output::{self, InputKind};
use crate::shell::end_session_question::{self, QuestionOutcome};
use crate::shell::overview::OverviewPressKind;
use crate::shell::region_selection::{self, PickedWith};
use crate::shell::{self, overview, overview_presses, popup, swipes};
use crate::state::State;
use crate::surface::input_prediction::TrackedDevice;
use upbeat_timing::scroll::ScrollDistance;
use upbeat_timing::time::{Clock, Instant};

/// A finger that moved further than this drags; less is an unsteady tap (logical pixels).
const SLOP: f64 = 8.0;
/// More fingers than a screen reports.
const MAX_TOUCHES: usize = 32;

/// A finger that its client knows: the serial of its `down`, and its place in surface coordinates.
pub(super) struct ClientTouchPoint {
    pub slot: u32,
    pub serial: Serial,
    pub surface: WlSurface,
    pub place: Point<f64, Logical>,
}

/// The fingers whose events clients get; not fingers that drag a window, a view or data.
pub(super) fn client_touch_points(state: &State) -> impl Iterator<Item = ClientTouchPoint> {
    let is_cancelled = matches!(state.input.drag, Some(drag::DragSource::Touch(_)));
    let down = state.input.touches.down.iter().filter(move |_| !is_cancelled);
    down.filter(|touch| !touch.swallowed && !is_dragging_data(state, touch.slot)).filter_map(|touch| {
        let (surface, origin) = scroll_view_grab::with_present_origin(state, &touch.focus, touch.position)?;
        Some(ClientTouchPoint { slot: touch.slot, serial: touch.serial, surface, place: touch.position - origin })
    })
}

fn bounded(position: Point<f64, Logical>) -> Point<f64, Logical> {
    Point::from((coordinate_f64(position.x), coordinate_f64(position.y)))
}

pub fn down(state: &mut State, time: Instant, slot: u32, position: Point<f64, Logical>) {
    let touches = &state.input.touches.down;
    if touches.len() >= MAX_TOUCHES || touches.iter().any(|touch| touch.slot == slot) {
        return;
    }
    let position = bounded(position);
    let wakes = state.input.waking.swallows_press();
    if touch_drag::finger_position(state).is_some() {
        // The drag's grab swallows `down` events: a client would get an `up` without a `down`, or the other way round.
        let touch = TouchPoint::swallowed(slot, SERIAL_COUNTER.next_serial(), position);
        state.input.touches.down.push(touch);
        return;
    }
    let is_alone = state.input.touches.down.is_empty();
    let edge = session_swipes::edge_at(state, position).filter(|_| is_alone && !wakes);
    let swipes = edge.is_some() && session_swipes::stop_motion(state, time, position);
    let picks = !wakes && region_selection::pressed(state, position, PickedWith::Finger(slot));
    let answer =
        if wakes || picks { QuestionOutcome::NotForQuestion } else { end_session_question::pressed(state, position) };
    let taken = wakes
        || picks
        || swipes
        || actions::end_if_confirmed(state, answer)
        || super::window_picking::pressed(state, position)
        || overview_presses::pressed(state, position, PickedWith::Finger(slot), OverviewPressKind::Choose);
    let title = if taken {
        title_presses::TitlePressResult::Elsewhere
    } else {
        title_presses::pressed(state, time, position, BUTTON_LEFT)
    };
    let taken = taken || title != title_presses::TitlePressResult::Elsewhere;
    let focus = pick(state, position).filter(|_| !taken);
    let serial = SERIAL_COUNTER.next_serial();
    let swallowed = taken || focus.is_none() && state.shell.has_popup_grab();
    // Only for the first finger: two fingers are a gesture of the client's.
    let start = state.input.touches.down.is_empty().then_some(position);
    state.input.touches.down.iter_mut().for_each(|touch| (touch.start, touch.edge) = (None, None));
    let untold = TouchPoint::swallowed(slot, serial, position);
    state.input.touches.down.push(TouchPoint { focus: focus.clone(), swallowed, start, edge, swipes, ..untold });
    if swallowed {
        popup::dismiss_grabs(state);
        if let title_presses::TitlePressResult::Bar(window) = title {
            drag::begin_move(state, window, drag::DragSource::Touch(slot));
        }
        return;
    }
    shell::layers::keyboard::pressed(state, focus.as_ref().map(|(surface, _)| surface));
    state.input.actions.push(serial);
    output::input(state, InputKind::Touch, focus.as_ref().map(|(surface, _)| surface), time);
    let finger = TrackedDevice::Touch(slot);
    prediction_feed::device_left(state, finger);
    prediction_feed::device_moved(state, finger, time, position, &focus);
    state.send_time(TimestampedDevice::Touch, focus.as_ref().map(|(surface, _)| surface), time);
    let event = DownEvent { slot: touch_slot(slot), location: position, serial, time: time.as_wayland_millis() };
    state.input.touch.clone().down(state, focus, &event);
}

pub fn moved(state: &mut State, time: Instant, slot: u32, position: Point<f64, Logical>) {
    let Some(touch) = state.input.touches.down.iter_mut().find(|touch| touch.slot == slot) else { return };
    let before = std::mem::replace(&mut touch.position, bounded(position));
    let (focus, swallowed, position) = (touch.focus.clone(), touch.swallowed, touch.position);
    region_selection::moved(state, position, PickedWith::Finger(slot));
    overview_presses::moved(state, position, PickedWith::Finger(slot));
    if drag::holds_touch(state, slot) {
        drag::moved(state);
    } else if is_dragging_data(state, slot) {
        touch_drag::finger_moved(state, time, slot, position);
    } else if !swipe(state, time, slot, before) && !drag_view(state, time, slot, before) && !swallowed {
        output::input(state, InputKind::Touch, focus.as_ref().map(|(surface, _)| surface), time);
        let renewed = scroll_view_grab::with_present_origin(state, &focus, position);
        prediction_feed::device_moved(state, TrackedDevice::Touch(slot), time, position, &renewed);
        let location = location_for_smithay(&focus, &renewed, position);
        let touch = state.input.touches.down.iter_mut().find(|touch| touch.slot == slot);
        touch.into_iter().for_each(|touch| touch.is_framed = false);
        let event = MotionEvent { slot: touch_slot(slot), location, time: time.as_wayland_millis() };
        state.send_time(TimestampedDevice::Touch, focus.as_ref().map(|(surface, _)| surface), time);
        state.input.touch.clone().motion(state, focus, &event);
    }
}

/// Whether a finger is a swipe of the session's own: it stopped a motion, or came in from an edge.
fn swipe(state: &mut State, time: Instant, slot: u32, before: Point<f64, Logical>) -> bool {
    let Some(touch) = state.input.touches.down.iter_mut().find(|touch| touch.slot == slot) else { return false };
    let (position, swipes) = (touch.position, touch.swipes);
    if swipes {
        output::input(state, InputKind::Touch, None, time);
        swipes::moved(state, time, position - before);
        return true;
    }
    let Some((edge, start)) = touch.edge.zip(touch.start).filter(|_| !touch.swallowed) else { return false };
    let Some(is_ours) = session_swipes::decide_edge_swipe(state, time, edge, start, position - start) else {
        return false;
    };
    if is_ours {
        output::input(state, InputKind::Touch, None, time);
        state.shell.set_pressed(None);
        cancel_client_touches(state);
    }
    let touch = state.input.touches.down.iter_mut().find(|touch| touch.slot == slot);
    touch.into_iter().for_each(|touch| {
        touch.edge = None;
        (touch.swipes, touch.swallowed) = (is_ours, touch.swallowed || is_ours);
    });
    is_ours
}

/// Whether a finger drags a scroll view, which is decided after some distance.
fn drag_view(state: &mut State, time: Instant, slot: u32, before: Point<f64, Logical>) -> bool {
    let Some(touch) = state.input.touches.down.iter_mut().find(|touch| touch.slot == slot) else { return false };
    // The document goes along with the finger, so the view goes the other way.
    let way =
        |from: Point<f64, Logical>, to: Point<f64, Logical>| ScrollDistance { x: from.x - to.x, y: from.y - to.y };
    let position = touch.position;
    if let Some(view) = touch.drags.clone() {
        scrolling::dragged(state, time, &view, way(before, position));
        return true;
    }
    let far = |start: &Point<f64, Logical>| (position.x - start.x).hypot(position.y - start.y) > SLOP;
    let Some(start) = touch.start.take_if(|start| far(start)).filter(|_| !touch.swallowed) else { return false };
    let surface = touch.focus.as_ref().map(|(surface, _)| surface.clone());
    let view = surface.and_then(|surface| scrolling::drag(state, time, surface, way(start, position)));
    let Some(view) = view else { return false };
    cancel_client_touches(state);
    if let Some(touch) = state.input.touches.down.iter_mut().find(|touch| touch.slot == slot) {
        (touch.swallowed, touch.drags) = (true, Some(view));
    }
    true
}

/// A finger was lifted.
pub fn up(state: &mut State, time: Instant, slot: u32) {
    let touches = &mut state.input.touches.down;
    let Some(index) = touches.iter().position(|touch| touch.slot == slot) else { return };
    if drag::holds_touch(state, slot) {
        drag::end(state);
        super::refresh_focus(state);
    }
    touch_drag::catch_up_before_drop(state, time, slot);
    region_selection::released(state, PickedWith::Finger(slot));
    overview_presses::released(state, PickedWith::Finger(slot));
    let touch = state.input.touches.down.remove(index);
    prediction_feed::device_left(state, TrackedDevice::Touch(slot));
    if state.input.touches.down.is_empty() {
        state.shell.set_pressed(None);
    }
    if let Some(view) = touch.drags {
        scrolling::drag_ended(state, time, &view, false);
    }
    if touch.swipes {
        output::input(state, InputKind::Touch, None, time);
        swipes::end(state, time, false);
    }
    if !touch.swallowed {
        let surface = touch.focus.as_ref().map(|(surface, _)| surface);
        output::input(state, InputKind::Touch, surface, time);
        let serial = SERIAL_COUNTER.next_serial();
        state.input.actions.push(serial);
        state.send_time(TimestampedDevice::Touch, surface, time);
        let event = UpEvent { slot: touch_slot(slot), serial, time: time.as_wayland_millis() };
        state.input.touch.clone().up(state, &event);
    }
}

/// The events since the last frame belong together.
pub fn frame(state: &mut State) {
    state.input.touches.down.iter_mut().for_each(|touch| touch.is_framed = true);
    state.input.touch.clone().frame(state);
}

/// Cancels all touches. Data that a finger drags is not dropped on any client.
pub fn cancel(state: &mut State) {
    let time = state.clock.now();
    let carrier = state.input.touches.down.iter().find(|touch| is_dragging_data(state, touch.slot));
    if let Some((slot, location)) = carrier.map(|touch| (touch_slot(touch.slot), touch.position)) {
        // First move it off any surface, because Smithay drops the data on the last one.
        let event = MotionEvent { slot, location, time: time.as_wayland_millis() };
        state.input.touch.clone().motion(state, None, &event);
    }
    cancel_client_touches(state);
    region_selection::fingers_cancelled(state);
    overview::fingers_cancelled(state);
    for touch in std::mem::take(&mut state.input.touches.down) {
        if let Some(view) = touch.drags {
            scrolling::drag_ended(state, time, &view, true);
        }
        if touch.swipes {
            swipes::end(state, time, true);
        }
    }
    state.shell.set_pressed(None);
    if matches!(state.input.drag, Some(drag::DragSource::Touch(_))) {
        // The user released nothing.
        state.shell.forget_snap_preview();
        drag::end(state);
        super::refresh_focus(state);
    }
}

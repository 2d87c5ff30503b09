//! The pointer: motion, buttons, scrolling, and the surface under it.

use smithay::backend::input::{Axis, AxisRelativeDirection, AxisSource, ButtonState};
use smithay::input::pointer::{AxisFrame, ButtonEvent, MotionEvent, RelativeMotionEvent};
use smithay::reexports::wayland_server::Resource;
use smithay::reexports::wayland_server::protocol::wl_surface::WlSurface;
use smithay::utils::{Logical, Point, SERIAL_COUNTER};

use super::event::{ScrollAxis, ScrollSource};
pub use super::scroll_view_grab::SurfaceFocus;
use super::{
    InputTimes, TimestampedDevice, actions, constraint, drag, focus_follows_pointer, motion_coalescing,
    mouse_shortcuts, prediction_feed, scroll_view_grab, scrolling, title_presses,
};
use crate::bindings::BUTTON_MIDDLE;
use crate::bounds::coordinate_f64;
use crate::output::{self, InputKind};
use crate::shell::end_session_question::{self, QuestionOutcome};
use crate::shell::overview::OverviewPressKind;
use crate::shell::region_selection::{self, PickedWith};
use crate::shell::{self, overview_presses, popup};
use crate::state::State;
use upbeat_timing::time::{Clock, Instant};

/// Buttons that are down.
#[derive(Debug, Default)]
pub struct HeldButtons {
    buttons: Vec<u32>,
    /// Buttons whose press was not sent to a client: their release must not be sent either.
    swallowed: Vec<u32>,
}

impl HeldButtons {
    pub fn any(&self) -> bool {
        !self.buttons.is_empty()
    }

    /// Adds buttons that a tablet tool pressed: the tool is the pointer from now on.
    pub(super) fn take_over(&mut self, buttons: impl Iterator<Item = u32>) {
        self.buttons.extend(buttons);
    }

    /// The releases of all buttons that are down will be sent to no client. Returns the buttons whose press was sent.
    pub(super) fn swallow_all(&mut self) -> Vec<u32> {
        let given = self.buttons.iter().copied().filter(|button| !self.swallowed.contains(button)).collect();
        self.swallowed.clone_from(&self.buttons);
        given
    }
}

/// The device moved by `delta`.
pub fn moved(state: &mut State, time: Instant, delta: Point<f64, Logical>, raw: Point<f64, Logical>) {
    let (delta, raw) = (bounded(delta), bounded(raw));
    let from = super::pointer_position(state);
    send_relative(state, time, delta, raw);
    move_within_constraint(state, time, from, from + delta);
}

/// The device reports an absolute position.
pub fn moved_to(state: &mut State, time: Instant, position: Point<f64, Logical>) {
    let from = super::pointer_position(state);
    let position = bounded(position);
    if constraint::is_locked(state) {
        // A locked pointer sends no position, but how far it would have moved.
        let delta = position - from;
        send_relative(state, time, delta, delta);
    }
    move_within_constraint(state, time, from, position);
}

/// The client that has the pointer warps it to `place` (surface coordinates) of one of its surfaces. Has no effect if
/// that place is not visible.
pub fn warped(state: &mut State, surface: &WlSurface, place: Point<f64, Logical>) {
    let has_pointer = state.input.pointer.current_focus().is_some_and(|focus| focus.id().same_client_as(&surface.id()));
    if !has_pointer || drag::holds_pointer(state) || constraint::is_locked(state) {
        return;
    }
    let Some(position) = output::place_on_screen(state, surface, bounded(place)) else { return };
    let time = state.clock.now();
    set_position(state, time, position);
}

fn bounded(point: Point<f64, Logical>) -> Point<f64, Logical> {
    Point::from((coordinate_f64(point.x), coordinate_f64(point.y)))
}

fn send_relative(state: &mut State, time: Instant, delta: Point<f64, Logical>, raw: Point<f64, Logical>) {
    let Some((delta, raw)) = motion_coalescing::add_relative(state, delta, raw) else { return };
    let pointer = state.input.pointer.clone();
    let focus = state.input.pointer_focus.clone();
    let event = RelativeMotionEvent { delta, delta_unaccel: raw, utime: time.as_micros() };
    pointer.relative_motion(state, focus, &event);
}

fn move_within_constraint(state: &mut State, time: Instant, from: Point<f64, Logical>, to: Point<f64, Logical>) {
    match constraint::constrain(state, from, to) {
        Some(position) => set_position(state, time, on_an_output(state, position)),
        None => {
            // Locked in place: there is only the relative motion.
            if !motion_coalescing::has_held_relative(state) {
                state.input.pointer.clone().frame(state);
            }
            let focus = state.input.pointer.current_focus();
            output::input(state, InputKind::Motion, focus.as_ref(), time);
        }
    }
}

/// The point on an output that lies nearest to `position`.
fn on_an_output(state: &State, position: Point<f64, Logical>) -> Point<f64, Logical> {
    let Some((output, _)) = output::usable_area(state, Some(position)) else { return position };
    let area = output::geometry(&output).to_f64();
    // The right and bottom edges belong to the next output, or to none.
    let last = area.loc + area.size.to_point();
    let below = |value: f64, first: f64, end: f64| value.clamp(first, (end - 1.0 / 256.0).max(first));
    Point::from((below(position.x, area.loc.x, last.x), below(position.y, area.loc.y, last.y)))
}

/// Called after outputs changed: moves a pointer that lies outside of all of them to the nearest point on an output.
pub(super) fn keep_on_output(state: &mut State) {
    let position = state.input.pointer.current_location();
    let nearest = on_an_output(state, position);
    if nearest != position {
        let now = state.clock.now();
        set_position(state, now, nearest);
    }
}

fn set_position(state: &mut State, time: Instant, position: Point<f64, Logical>) {
    let focus = if drag::holds_pointer(state) {
        None
    } else {
        motion_coalescing::unless_socket_full(state, pick(state, position))
    };
    let pointer = state.input.pointer.clone();
    let event =
        MotionEvent { location: position, serial: SERIAL_COUNTER.next_serial(), time: time.as_wayland_millis() };
    let is_held = motion_coalescing::hold_position(state, &focus, position);
    let before = std::mem::replace(&mut state.input.pointer_focus, focus.clone());
    if !is_held {
        send_time(state, time);
        pointer.motion(state, focus, &event);
        pointer.frame(state);
    }
    if drag::holds_pointer(state) {
        drag::moved(state);
    } else {
        constraint::activate_if_focused(state);
    }
    shell::pointer_moved(state);
    focus_follows_pointer::moved(state, &before);
    overview_presses::moved(state, position, PickedWith::Pointer);
    end_session_question::pointed(state, position);
    region_selection::moved(state, position, PickedWith::Pointer);
    output::cursor_changed(state);
    prediction_feed::pointer_moved(state, time, position);
    let focus = pointer.current_focus();
    output::input(state, InputKind::Motion, focus.as_ref(), time);
}

/// Sends the exact time of the pointer event that follows.
pub(super) fn send_time(state: &State, time: Instant) {
    state.send_time(TimestampedDevice::Pointer, state.input.pointer.current_focus().as_ref(), time);
}

/// The surface that the pointer would be on at `position`. While popups hold a grab, only surfaces of their client and
/// of the input method, which types into them.
pub fn pick(state: &State, position: Point<f64, Logical>) -> SurfaceFocus {
    let hit = super::under(state, position)?;
    match state.shell.grabbing_popup().filter(|_| !state.shell.lock().takes_input()) {
        Some(popup) => {
            let is_meant =
                hit.0.id().same_client_as(&popup.id()) || state.shell.input_popups().belongs_to_input_method(&hit.0);
            is_meant.then_some(hit)
        }
        None => Some(hit),
    }
}

/// Updates the focus if the surface under the standing pointer has changed.
pub fn refresh_focus(state: &mut State) {
    if drag::holds_pointer(state) || state.input.pointer.is_grabbed() || state.input.tools.replace_pointer() {
        return;
    }
    let on = state.input.pointer.current_focus();
    if on.is_some_and(|on| scrolling::moves(state, &on)) {
        // Updated when the view rests: otherwise every refresh would wake a client that sleeps while its view scrolls.
        return;
    }
    refresh_focus_now(state);
}

/// Like [`refresh_focus`], but also while a view moves under the pointer.
pub fn refresh_focus_now(state: &mut State) {
    if drag::holds_pointer(state) || state.input.pointer.is_grabbed() || state.input.tools.replace_pointer() {
        return;
    }
    let position = super::pointer_position(state);
    let focus = motion_coalescing::unless_socket_full(state, pick(state, position));
    let on = state.input.pointer.current_focus();
    if focus.as_ref().map(|(surface, _)| surface) == on.as_ref() && focus == state.input.pointer_focus {
        return;
    }
    let time = state.clock.now();
    let event =
        MotionEvent { location: position, serial: SERIAL_COUNTER.next_serial(), time: time.as_wayland_millis() };
    let pointer = state.input.pointer.clone();
    state.input.pointer_focus.clone_from(&focus);
    send_time(state, time);
    pointer.motion(state, focus, &event);
    pointer.frame(state);
    prediction_feed::pointer_stands(state);
    constraint::activate_if_focused(state);
}

/// A button went down or up.
pub fn button(state: &mut State, time: Instant, button: u32, pressed: bool) {
    if pressed {
        press(state, time, button);
    } else {
        release(state, time, button);
    }
}

fn press(state: &mut State, time: Instant, button: u32) {
    if state.input.held_buttons.buttons.contains(&button) {
        return;
    }
    state.input.held_buttons.buttons.push(button);
    let place = super::pointer_position(state);
    if state.input.waking.swallows_press() {
        state.input.held_buttons.swallowed.push(button);
        return;
    }
    let picks = region_selection::pressed(state, place, PickedWith::Pointer);
    let answer = if picks { QuestionOutcome::NotForQuestion } else { end_session_question::pressed(state, place) };
    if picks
        || actions::end_if_confirmed(state, answer)
        || super::window_picking::pressed(state, place)
        || overview_presses::pressed(state, place, PickedWith::Pointer, overview_press_kind(button))
    {
        output::input(state, InputKind::Button, None, time);
        state.input.held_buttons.swallowed.push(button);
        return;
    }
    if drag::is_active(state) || mouse_shortcuts::button_pressed(state, time, button) || dismisses_popups(state) {
        state.input.held_buttons.swallowed.push(button);
        return;
    }
    let title = title_presses::pressed(state, time, place, button);
    if title != title_presses::TitlePressResult::Elsewhere {
        output::input(state, InputKind::Button, None, time);
        state.input.held_buttons.swallowed.push(button);
        if let title_presses::TitlePressResult::Bar(window) = title {
            drag::begin_move(state, window, drag::DragSource::Pointer);
        }
        return;
    }
    let on = super::under(state, super::pointer_position(state)).map(|(surface, _)| surface);
    shell::layers::keyboard::pressed(state, on.as_ref());
    let serial = SERIAL_COUNTER.next_serial();
    deliver(state, time, button, ButtonState::Pressed, serial);
}

/// The effect of a click with `button` in the overview.
const fn overview_press_kind(button: u32) -> OverviewPressKind {
    if button == BUTTON_MIDDLE { OverviewPressKind::Close } else { OverviewPressKind::Choose }
}

/// A press outside the client whose popups hold a grab ends the grab and has no other effect.
fn dismisses_popups(state: &mut State) -> bool {
    if !state.shell.has_popup_grab() || pick(state, super::pointer_position(state)).is_some() {
        return false;
    }
    popup::dismiss_grabs(state);
    refresh_focus(state);
    true
}

fn release(state: &mut State, time: Instant, button: u32) {
    let held = &mut state.input.held_buttons;
    held.buttons.retain(|other| *other != button);
    let none_left = held.buttons.is_empty();
    let swallowed = held.swallowed.iter().position(|other| *other == button);
    if let Some(index) = swallowed {
        held.swallowed.swap_remove(index);
    } else {
        deliver(state, time, button, ButtonState::Released, SERIAL_COUNTER.next_serial());
    }
    if none_left {
        region_selection::released(state, PickedWith::Pointer);
        overview_presses::released(state, PickedWith::Pointer);
        state.shell.set_pressed(None);
        if drag::holds_pointer(state) {
            drag::end(state);
            refresh_focus(state);
            output::input(state, InputKind::Button, None, time);
        }
        refresh_focus(state);
    }
}

fn deliver(state: &mut State, time: Instant, button: u32, new: ButtonState, serial: smithay::utils::Serial) {
    motion_coalescing::flush(state, time);
    let pointer = state.input.pointer.clone();
    let focus = pointer.current_focus();
    state.input.actions.push(serial);
    output::input(state, InputKind::Button, focus.as_ref(), time);
    scroll_view_grab::resend_position(state, time);
    send_time(state, time);
    pointer.button(state, &ButtonEvent { button, state: new, serial, time: time.as_wayland_millis() });
    pointer.frame(state);
    if new == ButtonState::Pressed {
        scroll_view_grab::begin(state, serial);
    }
}

/// A wheel turned or a finger scrolled.
pub fn scrolled(state: &mut State, time: Instant, source: ScrollSource, horizontal: ScrollAxis, vertical: ScrollAxis) {
    if mouse_shortcuts::wheel_turned(state, time, source, horizontal, vertical)
        || scrolling::scroll_view(state, time, source, horizontal, vertical)
    {
        return;
    }
    let source = match source {
        ScrollSource::Wheel => AxisSource::Wheel,
        ScrollSource::Finger => AxisSource::Finger,
        ScrollSource::Continuous => AxisSource::Continuous,
        ScrollSource::WheelTilt => AxisSource::WheelTilt,
    };
    let mut frame = AxisFrame::new(time.as_wayland_millis()).source(source);
    for (axis, scroll) in [(Axis::Horizontal, horizontal), (Axis::Vertical, vertical)] {
        frame = frame.value(axis, coordinate_f64(scroll.distance));
        if scroll.inverted {
            frame = frame.relative_direction(axis, AxisRelativeDirection::Inverted);
        }
        if let Some(steps) = scroll.v120 {
            frame = frame.v120(axis, steps.clamp(-V120_LIMIT, V120_LIMIT));
        }
        if scroll.stop {
            frame = frame.stop(axis);
        }
    }
    motion_coalescing::flush(state, time);
    let pointer = state.input.pointer.clone();
    let focus = pointer.current_focus();
    output::input(state, InputKind::Scroll, focus.as_ref(), time);
    send_time(state, time);
    pointer.axis(state, frame);
    pointer.frame(state);
}

/// A thousand turns of the wheel at once: the sum in Smithay is an `i32`, which must not overflow.
const V120_LIMIT: i32 = 120 * 24 * 1000;

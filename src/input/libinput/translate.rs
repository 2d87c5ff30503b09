//! Translates libinput events to [`InputEvent`]s.

use input::Device;
use input::event::gesture::GestureEventTrait;
use input::event::keyboard::{KeyState, KeyboardEvent, KeyboardEventTrait};
use input::event::pointer::{
    Axis, ButtonState, PointerEvent, PointerEventTrait, PointerScrollEvent, PointerScrollWheelEvent,
};
use input::event::switch::{Switch, SwitchEvent, SwitchEventTrait, SwitchState};
use input::event::tablet_tool::TabletToolEventTrait;
use input::event::touch::{TouchEvent, TouchEventPosition, TouchEventSlot, TouchEventTrait};
use input::event::{Event, EventTrait};
use smithay::output::Output;
use smithay::utils::{Logical, Point, Rectangle};

use super::{gesture, tablet};
use crate::input::switch::is_built_in;
use crate::input::{self as ours, InputEvent, KeyboardId, ScrollAxis, ScrollSource, handle};
use crate::output;
use crate::state::State;
use upbeat_timing::time::Instant;

const NANOS_PER_MICRO: u64 = 1_000;

/// Handles one libinput event.
pub(super) fn translate(state: &mut State, event: &Event) {
    match event {
        Event::Keyboard(KeyboardEvent::Key(event)) => {
            let pressed = event.key_state() == KeyState::Pressed;
            let time = at(event.time_usec());
            handle(state, InputEvent::Key { time, keyboard: KeyboardId::Session, key: event.key(), pressed });
        }
        Event::Pointer(event) => pointer(state, event),
        Event::Touch(event) => touch(state, event),
        Event::Gesture(event) => {
            let Some(gesture) = gesture::translate(event) else { return };
            handle(state, InputEvent::Gesture { time: at(event.time_usec()), gesture });
        }
        Event::Tablet(event) => {
            let Some(screen) = screen_of(state, &event.device()) else { return };
            let Some(tool) = tablet::translate(event, screen) else { return };
            handle(state, InputEvent::Tool { time: at(event.time_usec()), event: Box::new(tool) });
        }
        Event::Switch(event) => switch(state, event),
        _ => {}
    }
}

fn switch(state: &mut State, event: &SwitchEvent) {
    let SwitchEvent::Toggle(toggle) = event else { return };
    let switch = match toggle.switch() {
        Some(Switch::Lid) => ours::LaptopSwitch::Lid,
        Some(Switch::TabletMode) => ours::LaptopSwitch::TabletMode,
        _ => return,
    };
    let on = toggle.switch_state() == SwitchState::On;
    handle(state, InputEvent::Switch { time: at(event.time_usec()), switch, on });
}

fn at(micros: u64) -> Instant {
    Instant::from_nanos(micros.saturating_mul(NANOS_PER_MICRO))
}

fn pointer(state: &mut State, event: &PointerEvent) {
    let time = at(event.time_usec());
    match event {
        PointerEvent::Motion(event) => {
            let delta = (event.dx(), event.dy()).into();
            let raw = (event.dx_unaccelerated(), event.dy_unaccelerated()).into();
            handle(state, InputEvent::PointerMotion { time, delta, raw });
        }
        PointerEvent::MotionAbsolute(motion) => {
            let share = (motion.absolute_x_transformed(1), motion.absolute_y_transformed(1));
            let Some(position) = pointed(state, share) else { return };
            handle(state, InputEvent::PointerPosition { time, position });
        }
        PointerEvent::Button(event) => {
            let pressed = event.button_state() == ButtonState::Pressed;
            handle(state, InputEvent::Button { time, button: event.button(), pressed });
        }
        PointerEvent::ScrollWheel(event) => {
            let axis = |axis| wheel(event, axis);
            scrolled(state, time, ScrollSource::Wheel, event, axis);
        }
        PointerEvent::ScrollFinger(event) => {
            let axis = |axis| continuous(event.scroll_value(axis));
            scrolled(state, time, ScrollSource::Finger, event, axis);
        }
        PointerEvent::ScrollContinuous(event) => {
            let axis = |axis| continuous(event.scroll_value(axis));
            scrolled(state, time, ScrollSource::Continuous, event, axis);
        }
        // The old axis events repeat the scroll events.
        _ => {}
    }
}

fn wheel(event: &PointerScrollWheelEvent, axis: Axis) -> ScrollAxis {
    let v120 = event.scroll_value_v120(axis).round() as i32;
    ScrollAxis { distance: event.scroll_value(axis), v120: Some(v120), ..ScrollAxis::default() }
}

/// libinput ends a scroll of fingers, or of a stick with a button held, by a distance of 0.
fn continuous(distance: f64) -> ScrollAxis {
    ScrollAxis { distance, stop: distance == 0.0, ..ScrollAxis::default() }
}

fn scrolled<E: PointerScrollEvent + EventTrait>(
    state: &mut State,
    time: Instant,
    source: ScrollSource,
    event: &E,
    value: impl Fn(Axis) -> ScrollAxis,
) {
    let inverted = event.device().config_scroll_natural_scroll_enabled();
    let axis = |axis| match event.has_axis(axis) {
        true => ScrollAxis { inverted, ..value(axis) },
        false => ScrollAxis::default(),
    };
    let (horizontal, vertical) = (axis(Axis::Horizontal), axis(Axis::Vertical));
    handle(state, InputEvent::Axis { time, source, horizontal, vertical });
}

fn touch(state: &mut State, event: &TouchEvent) {
    let time = at(event.time_usec());
    match event {
        TouchEvent::Down(down) => {
            let Some(position) = touched(state, down) else { return };
            handle(state, InputEvent::TouchDown { time, slot: down.seat_slot(), position });
        }
        TouchEvent::Motion(motion) => {
            let Some(position) = touched(state, motion) else { return };
            handle(state, InputEvent::TouchMotion { time, slot: motion.seat_slot(), position });
        }
        TouchEvent::Up(up) => handle(state, InputEvent::TouchUp { time, slot: up.seat_slot() }),
        TouchEvent::Frame(_) => handle(state, InputEvent::TouchFrame { time }),
        TouchEvent::Cancel(_) => handle(state, InputEvent::TouchCancel { time }),
        _ => {}
    }
}

/// The position of a finger, on the output that the device belongs to.
fn touched(state: &State, event: &(impl TouchEventPosition + EventTrait)) -> Option<Point<f64, Logical>> {
    let screen = screen_of(state, &event.device())?;
    Some(output::place_on_panel(screen, (event.x_transformed(1), event.y_transformed(1))))
}

/// The position of an absolute pointer (the tablet of a virtual machine), which covers the one panel, or all outputs as
/// they are arranged. `share`: fractions of the width and height.
fn pointed(state: &State, share: (f64, f64)) -> Option<Point<f64, Logical>> {
    let mut all = output::all(state);
    if let (Some((only, _)), None) = (all.next(), all.next()) {
        return Some(output::place_on_panel(only, share));
    }
    let area = output::all(state).map(|(_, area)| area).reduce(Rectangle::merge)?.to_f64();
    Some(area.loc + Point::from((share.0 * area.size.w, share.1 * area.size.h)))
}

/// The output that a touchscreen or a tablet belongs to: the one that udev names, or else the built-in panel.
fn screen_of<'a>(state: &'a State, device: &Device) -> Option<&'a Output> {
    let wanted = device.output_name().map(|name| name.to_string());
    let named = output::all(state).find(|(output, _)| Some(output.name()) == wanted);
    let built_in = || output::all(state).find(|(output, _)| is_built_in(&output.name()));
    let (screen, _) = named.or_else(built_in).or_else(|| output::all(state).next())?;
    Some(screen)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn continuous_scroll_of_no_distance_is_a_stop() {
        assert_eq!(continuous(0.0), ScrollAxis { stop: true, ..ScrollAxis::default() });
        assert_eq!(continuous(-2.5), ScrollAxis { distance: -2.5, ..ScrollAxis::default() });
    }
}

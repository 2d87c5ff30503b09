//! Shortcuts of mouse buttons and wheels, with modifiers held on the keyboard.

use smithay::input::keyboard::ModifiersState;

use super::event::{ScrollAxis, ScrollSource};
use super::{actions, shortcut_inhibition};
use crate::bindings::{Binding, ShortcutAction, ShortcutTrigger, TriggerDirection};
use crate::output::{self, InputKind};
use crate::shell;
use crate::state::State;
use upbeat_timing::scroll::{NOTCH_DISTANCE, NOTCH_PARTS};
use upbeat_timing::time::{Instant, Span};

/// How far fingers on a touchpad scroll for one step, in the coordinates of pointer motion: about a centimetre, so that
/// a single movement is not many steps.
const FINGER_STEP_LENGTH: f64 = 60.0;
/// A started step is forgotten after this pause.
const PAUSE: Span = Span::from_millis(500);

/// The fraction of a step that was turned so far.
#[derive(Debug, Default)]
pub struct WheelSteps {
    /// In units of `v120` (120 is a step), for both axes.
    turned: [f64; 2],
    last: Instant,
}

impl WheelSteps {
    /// Adds `parts` of a step on an axis, at `time`. Returns the number of completed steps, negative for the other
    /// direction.
    fn turn(&mut self, axis: usize, parts: f64, time: Instant) -> i32 {
        if time - self.last > PAUSE {
            self.turned = [0.0; 2];
        }
        self.last = time;
        let turned = &mut self.turned[axis];
        if *turned * parts < 0.0 {
            *turned = 0.0;
        }
        *turned += parts;
        let steps = (*turned / NOTCH_PARTS).trunc().clamp(-MOST_STEPS, MOST_STEPS);
        *turned %= NOTCH_PARTS;
        steps as i32
    }
}

/// No hand turns a wheel by more steps at once.
const MOST_STEPS: f64 = 20.0;

/// The modifiers that are held on the keyboard.
pub(super) fn held(state: &State) -> ModifiersState {
    state.input.keyboard.as_ref().map(|keyboard| keyboard.modifier_state()).unwrap_or_default()
}

/// The shortcut of a button, the wheel or a swipe, unless the window under the pointer inhibits shortcuts.
pub(super) fn bound_to(state: &State, held: &ModifiersState, trigger: ShortcutTrigger) -> Option<Binding> {
    let bound = state.bindings.binding_of_trigger(held, trigger, state.shell.lock().takes_input())?;
    // A client that inhibits shortcuts gets them only while it has both the keyboard and the pointer.
    let focus = state.input.keyboard.as_ref().and_then(|keyboard| keyboard.current_focus());
    let on = super::window_under(state);
    let focus = focus.filter(|focus| on.is_some() && state.shell.window_of(focus).map(|window| window.id) == on);
    shortcut_inhibition::is_ours(state, focus.as_ref(), &bound).then_some(bound)
}

/// A button went down. Returns whether that was a shortcut.
pub(super) fn button_pressed(state: &mut State, time: Instant, button: u32) -> bool {
    let held = held(state);
    let Some(bound) = bound_to(state, &held, ShortcutTrigger::Button(button)) else { return false };
    let on = super::window_under(state);
    let needs_one = matches!(bound.action, ShortcutAction::MoveWithPointer | ShortcutAction::ResizeWithPointer);
    if on.is_none() && needs_one {
        return false;
    }
    if on.is_some() {
        shell::activate(state, on);
    }
    output::input(state, InputKind::Button, None, time);
    actions::run(state, &bound.action);
    true
}

/// A wheel turned or a finger scrolled. Returns whether that was a shortcut, or a part of one.
pub(super) fn wheel_turned(
    state: &mut State,
    time: Instant,
    source: ScrollSource,
    x: ScrollAxis,
    y: ScrollAxis,
) -> bool {
    let held = held(state);
    // Shortcuts must not act behind the question or the list of shortcuts.
    if state.shell.overlays().covers_all() {
        return false;
    }
    let mut is_ours = false;
    for (axis, scroll) in [x, y].into_iter().enumerate() {
        let parts = parts(source, scroll);
        let turned = match (axis, parts > 0.0) {
            _ if parts == 0.0 => continue,
            (0, false) => TriggerDirection::Left,
            (0, true) => TriggerDirection::Right,
            (_, false) => TriggerDirection::Up,
            (_, true) => TriggerDirection::Down,
        };
        let Some(bound) = bound_to(state, &held, ShortcutTrigger::Wheel(turned)) else { continue };
        is_ours = true;
        output::input(state, InputKind::Scroll, None, time);
        for _ in 0..state.input.wheel.turn(axis, parts, time).abs() {
            actions::run(state, &bound.action);
        }
    }
    is_ours
}

/// The scrolled distance in parts of a step (120 is a step).
fn parts(source: ScrollSource, scroll: ScrollAxis) -> f64 {
    let length = match source {
        ScrollSource::Wheel | ScrollSource::WheelTilt => NOTCH_DISTANCE,
        ScrollSource::Finger | ScrollSource::Continuous => FINGER_STEP_LENGTH,
    };
    let distance = crate::bounds::coordinate_f64(scroll.distance);
    scroll.v120.map_or(distance / length * NOTCH_PARTS, f64::from)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn parts_of_a_step_add_up_until_the_wheel_turns_back_or_rests() {
        let mut wheel = WheelSteps::default();
        let at = |millis: u64| Instant::from_nanos(1_000_000_000 + millis * 1_000_000);
        let steps: Vec<i32> = (0..8).map(|part| wheel.turn(1, 30.0, at(part * 10))).collect();
        assert_eq!(steps, [0, 0, 0, 1, 0, 0, 0, 1]);
        assert_eq!(wheel.turn(1, 90.0, at(100)), 0);
        assert_eq!(wheel.turn(1, -60.0, at(110)), 0, "it begins anew the other way");
        assert_eq!(wheel.turn(1, -60.0, at(120)), -1);
        assert_eq!(wheel.turn(1, 100.0, at(130)), 0);
        assert_eq!(wheel.turn(1, 100.0, at(700)), 0, "that was long ago");
        assert_eq!(wheel.turn(0, 240.0, at(710)), 2);
    }
}

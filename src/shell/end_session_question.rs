//! Dialog that asks whether to end the session. While it is shown, it gets all keys, buttons and touches.

use smithay::input::keyboard::{Keysym, keysyms};
use smithay::utils::{Logical, Point, Rectangle, Size};

use super::animation::AnimatedToggle;
use super::workspaces::ScreenId;
use super::{popup, workspace_actions};
use crate::shell::{ShellOutputs, ShellSeat};
use crate::state::State;

/// In logical pixels: size of the panel, height of its buttons, margin around and gap between them.
const PANEL: (f64, f64) = (440.0, 176.0);
const BUTTON_HEIGHT: f64 = 44.0;
const MARGIN: f64 = 24.0;
const BETWEEN: f64 = 16.0;

/// Answer to the question.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum EndSessionAnswer {
    #[default]
    End,
    Stay,
}

/// Effect of an input event on the question.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum QuestionOutcome {
    /// The event is not for the question.
    NotForQuestion,
    /// The question used the event.
    Used,
    /// The event was the answer to end the session.
    EndSession,
}

#[derive(Debug, Default)]
pub struct EndSessionQuestion {
    /// Whether it is shown, with its fade.
    pub shown: AnimatedToggle,
    /// The output that shows it.
    pub on: Option<ScreenId>,
    /// The answer that Enter gives.
    pub selected: EndSessionAnswer,
}

/// Rectangles of the panel and its buttons (global logical coordinates).
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct QuestionLayout {
    pub panel: Rectangle<f64, Logical>,
    /// The button that ends the session.
    pub end: Rectangle<f64, Logical>,
    /// The button that continues the session.
    pub stay: Rectangle<f64, Logical>,
}

impl QuestionLayout {
    /// Centred on an output at `area`. The panel fits even on a very small output.
    pub fn on(area: Rectangle<f64, Logical>) -> Self {
        let size = Size::from((PANEL.0.min(area.size.w), PANEL.1.min(area.size.h)));
        let corner = area.loc + Point::from(((area.size.w - size.w) / 2.0, (area.size.h - size.h) / 2.0));
        let margin = MARGIN.min(size.w / 8.0);
        let width = ((size.w - 2.0 * margin - BETWEEN.min(margin)) / 2.0).max(1.0);
        let top = corner.y + (size.h - margin - BUTTON_HEIGHT).max(0.0);
        let button =
            |left: f64| Rectangle::new(Point::from((left, top)), Size::from((width, BUTTON_HEIGHT.min(size.h))));
        let end = button(corner.x + margin);
        let stay = button(corner.x + size.w - margin - width);
        QuestionLayout { panel: Rectangle::new(corner, size), end, stay }
    }

    /// The answer of the button at `point`.
    fn at(&self, point: Point<f64, Logical>) -> Option<EndSessionAnswer> {
        let buttons = [(self.end, EndSessionAnswer::End), (self.stay, EndSessionAnswer::Stay)];
        buttons.into_iter().find(|(button, _)| button.contains(point)).map(|(_, answer)| answer)
    }
}

/// `None` if the output with the question is unplugged.
fn places(state: &State) -> Option<QuestionLayout> {
    let screen = state.shell.overlays.question.on?;
    workspace_actions::area_of(state, screen).map(|area| QuestionLayout::on(area.to_f64()))
}

/// The reason why the question cannot be shown.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum CannotAsk {
    /// A locked session shows only its locker.
    #[error("a locked session cannot ask whether it is to end")]
    Locked,
    #[error("without an output the session cannot ask whether it is to end")]
    NoOutput,
}

/// The output that would show the question.
pub fn place_to_ask(state: &State) -> Result<ScreenId, CannotAsk> {
    if state.shell.lock.takes_input() {
        Err(CannotAsk::Locked)
    } else {
        workspace_actions::current_screen(state).ok_or(CannotAsk::NoOutput)
    }
}

/// Shows the question.
///
/// # Errors
/// The session is locked or there is no output, so the user would not see the question.
pub fn ask(state: &mut State) -> Result<(), CannotAsk> {
    let screen = place_to_ask(state)?;
    let question = &mut state.shell.overlays.question;
    if question.shown.set(true) {
        (question.on, question.selected) = (Some(screen), EndSessionAnswer::End);
        popup::dismiss_grabs(state);
        changed(state);
    }
    Ok(())
}

fn close(state: &mut State) {
    if state.shell.overlays.question.shown.set(false) {
        changed(state);
    }
}

fn changed(state: &mut State) {
    state.refresh_focus();
    state.schedule_repaint_all();
}

fn answered(state: &mut State, answer: EndSessionAnswer) -> QuestionOutcome {
    close(state);
    if answer == EndSessionAnswer::End { QuestionOutcome::EndSession } else { QuestionOutcome::Used }
}

fn is_asked(state: &State) -> bool {
    state.shell.overlays.question.shown.is_on() && !state.shell.lock.takes_input()
}

/// Handles a key press. Arrows and Tab select, Enter gives the selected answer, Escape continues the session; other
/// keys do nothing.
pub fn key(state: &mut State, key: Keysym) -> QuestionOutcome {
    if !is_asked(state) || key.is_modifier_key() {
        return QuestionOutcome::NotForQuestion;
    }
    if places(state).is_none() {
        // The question is no longer visible.
        return answered(state, EndSessionAnswer::Stay);
    }
    let selected = state.shell.overlays.question.selected;
    match key.raw() {
        keysyms::KEY_Return | keysyms::KEY_KP_Enter | keysyms::KEY_space => return answered(state, selected),
        keysyms::KEY_Escape => return answered(state, EndSessionAnswer::Stay),
        keysyms::KEY_Left => select(state, EndSessionAnswer::End),
        keysyms::KEY_Right => select(state, EndSessionAnswer::Stay),
        keysyms::KEY_Tab | keysyms::KEY_ISO_Left_Tab => {
            select(
                state,
                if selected == EndSessionAnswer::End { EndSessionAnswer::Stay } else { EndSessionAnswer::End },
            );
        }
        _ => {}
    }
    QuestionOutcome::Used
}

fn select(state: &mut State, answer: EndSessionAnswer) {
    if std::mem::replace(&mut state.shell.overlays.question.selected, answer) != answer {
        state.schedule_repaint_all();
    }
}

/// Handles the press of a button or finger at `point` (global logical coordinates). A press outside the panel continues
/// the session.
pub fn pressed(state: &mut State, point: Point<f64, Logical>) -> QuestionOutcome {
    if !is_asked(state) {
        return QuestionOutcome::NotForQuestion;
    }
    let Some(places) = places(state) else { return answered(state, EndSessionAnswer::Stay) };
    match places.at(point) {
        Some(answer) => answered(state, answer),
        None if places.panel.contains(point) => QuestionOutcome::Used,
        None => answered(state, EndSessionAnswer::Stay),
    }
}

/// Handles pointer motion: selects the button at `point`.
pub fn pointed(state: &mut State, point: Point<f64, Logical>) {
    if !is_asked(state) {
        return;
    }
    if let Some(answer) = places(state).and_then(|places| places.at(point)) {
        select(state, answer);
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    proptest! {
        #[test]
        fn its_buttons_lie_in_it_and_beside_each_other_on_any_output(x in -3000..3000, y in -3000..3000, w in 1..4000, h in 1..3000) {
            let area = Rectangle::<i32, Logical>::new((x, y).into(), (w, h).into()).to_f64();
            let QuestionLayout { panel, end, stay } = QuestionLayout::on(area);
            prop_assert!(panel.loc.x >= area.loc.x && panel.size.w <= area.size.w);
            prop_assert!(end.loc.x >= panel.loc.x && end.loc.y >= panel.loc.y);
            if w > 100 {
                prop_assert!(end.loc.x + end.size.w <= stay.loc.x);
                prop_assert!(stay.loc.x + stay.size.w <= panel.loc.x + panel.size.w);
            }
        }
    }
}

//! Whether an action can have an effect now, for messages that request it.

use super::actions::output_towards;
use super::{HostSession, drag, keyboard, window_under};
use crate::bindings::{ScreenshotOf, ShortcutAction};
use crate::shell::tiling::{TilingMode, actions as strip};
use crate::state::State;

const NO_FOCUS: &str = "no window has the focus";
const NO_COLUMNS: &str = "the windows of this workspace float; the action \"layout\" puts them in columns";
const DRAG: &str = "a window is being dragged";
const NO_ROTATION: &str = "no output turns with the device, so there is nothing to lock";
const NO_OUTPUT: &str = "there is no output in that direction";

/// The reason why `action` has no effect now, as a sentence; `None` if it may have an effect.
pub fn why_unavailable(state: &mut State, action: &ShortcutAction) -> Option<&'static str> {
    let is_focused = state.shell.focused().is_some();
    let place = strip::current_place(state);
    let is_strip = place.is_some_and(|place| state.shell.strips().mode(place) == TilingMode::Strip);
    let is_dragged = drag::is_active(state);
    let unless = |holds: bool, reason| (!holds).then_some(reason);
    match action {
        ShortcutAction::NextWindow | ShortcutAction::PreviousWindow => {
            unless(state.shell.windows().next().is_some(), "there is no window")
        }
        ShortcutAction::CloseWindow
        | ShortcutAction::Maximise
        | ShortcutAction::Fullscreen
        | ShortcutAction::Minimise
        | ShortcutAction::Move(_)
        | ShortcutAction::Width(_)
        | ShortcutAction::Height(_)
        | ShortcutAction::MoveToWorkspace(_)
        | ShortcutAction::ColumnToWorkspace(_)
        | ShortcutAction::MoveToNextWorkspace
        | ShortcutAction::MoveToPreviousWorkspace
        | ShortcutAction::Screenshot(ScreenshotOf::Window) => unless(is_focused, NO_FOCUS),
        ShortcutAction::Towards(_) | ShortcutAction::Focus(_) => unless(is_focused || is_strip, NO_FOCUS),
        ShortcutAction::Join(_) | ShortcutAction::Tabs | ShortcutAction::FullWidth | ShortcutAction::Float => {
            let columns = unless(is_strip, NO_COLUMNS);
            columns.or_else(|| unless(is_focused, NO_FOCUS)).or_else(|| unless(!is_dragged, DRAG))
        }
        ShortcutAction::Layout => unless(!is_dragged, DRAG),
        ShortcutAction::Output(direction) => unless(output_towards(state, *direction).is_some(), NO_OUTPUT),
        ShortcutAction::MoveToOutput(direction) | ShortcutAction::ColumnToOutput(direction) => {
            let output = unless(output_towards(state, *direction).is_some(), NO_OUTPUT);
            output.or_else(|| unless(is_focused, NO_FOCUS))
        }
        ShortcutAction::MoveWithPointer | ShortcutAction::ResizeWithPointer => {
            unless(window_under(state).is_some(), "no window is under the pointer")
        }
        ShortcutAction::NextKeyboardLayout | ShortcutAction::PreviousKeyboardLayout => {
            unless(keyboard::layouts(state).0.len() > 1, "the keyboard has a single layout")
        }
        ShortcutAction::RotationLock => unless(state.is_rotation_lock_useful(), NO_ROTATION),
        ShortcutAction::Help
        | ShortcutAction::Terminal
        | ShortcutAction::Run(_)
        | ShortcutAction::Shell(_)
        | ShortcutAction::Overview
        | ShortcutAction::Hud
        | ShortcutAction::Shortcuts
        | ShortcutAction::Workspace(_)
        | ShortcutAction::NextWorkspace
        | ShortcutAction::PreviousWorkspace
        | ShortcutAction::Screenshot(ScreenshotOf::Screen | ScreenshotOf::Region)
        | ShortcutAction::OutputsOff
        | ShortcutAction::SwitchTerminal(_)
        | ShortcutAction::EndSession
        | ShortcutAction::None => None,
    }
}

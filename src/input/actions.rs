//! Carries out the actions that keys, buttons, gestures and IPC messages stand for.

use std::ffi::OsString;

use smithay::input::keyboard::Layout;
use smithay::utils::{Logical, Rectangle};

use super::drag::DragSource;
use super::text::grabbed_keys as text_keys;
use super::{HostSession, drag, shortcut_inhibition, window_switcher};
use crate::bindings::ShortcutAction;
use crate::output::power::{self, PowerOnEvent};
use crate::shell::end_session_question::{self, QuestionOutcome};
use crate::shell::floating::{self, ResizeAxis};
use crate::shell::layout::op::{Direction, HorizontalSide};
use crate::shell::tiling::actions as strip;
use crate::shell::workspaces::{ScreenId, WorkspaceId, WorkspaceReference, Workspaces};
use crate::shell::{self, WindowId, arrangement_requests, minimising, named_workspaces, overview, workspace_actions};
use crate::state::State;

/// The program and its option that run a line as a shell command.
const SHELL: [&str; 2] = ["sh", "-c"];

/// Carries out `action`; an action that is not possible now has no effect.
pub fn run(state: &mut State, action: &ShortcutAction) {
    match action {
        ShortcutAction::NextWindow => window_switcher::step(state, false),
        ShortcutAction::PreviousWindow => window_switcher::step(state, true),
        ShortcutAction::CloseWindow => {
            if let Some(id) = state.shell.focused() {
                shell::close(state, id);
            }
        }
        ShortcutAction::Maximise => arrangement_requests::toggle_maximised(state),
        ShortcutAction::Fullscreen => arrangement_requests::toggle_fullscreen(state),
        ShortcutAction::Minimise => minimising::minimise_focused(state),
        ShortcutAction::MoveWithPointer => drag_window_under_pointer(state, drag::begin_move),
        ShortcutAction::ResizeWithPointer => drag_window_under_pointer(state, drag::begin_resize_nearest),
        ShortcutAction::Towards(direction) => towards(state, *direction),
        ShortcutAction::Focus(direction) => focus(state, *direction),
        ShortcutAction::Move(direction) => _ = floating::shift(state, *direction) || strip::shift(state, *direction),
        ShortcutAction::Join(side) => _ = strip::join(state, *side),
        ShortcutAction::Tabs => _ = strip::toggle_tabs(state),
        ShortcutAction::Width(resize) => {
            _ = floating::resize(state, ResizeAxis::Width, *resize) || strip::set_width(state, *resize);
        }
        ShortcutAction::Height(resize) => {
            _ = floating::resize(state, ResizeAxis::Height, *resize) || strip::set_height(state, *resize);
        }
        ShortcutAction::FullWidth => _ = strip::toggle_full_width(state),
        ShortcutAction::Float => _ = strip::toggle_floating(state),
        ShortcutAction::Layout => strip::toggle_mode(state),
        ShortcutAction::Terminal => state.run_terminal(),
        ShortcutAction::Run(line) => state.run_program(&line.words().map(OsString::from).collect::<Vec<_>>()),
        ShortcutAction::Shell(line) => {
            state.run_program(&SHELL.into_iter().chain([&**line]).map(OsString::from).collect::<Vec<_>>());
        }
        ShortcutAction::Screenshot(of) => state.take_screenshot(*of),
        ShortcutAction::EndSession => ask_to_end(state),
        ShortcutAction::SwitchTerminal(number) => state.switch_terminal(*number),
        ShortcutAction::Workspace(to) => go_to(state, meant(to)),
        ShortcutAction::NextWorkspace => go_to(state, next_workspace),
        ShortcutAction::PreviousWorkspace => go_to(state, previous_workspace),
        ShortcutAction::MoveToWorkspace(to) => send_to(state, shell::send_to, meant(to), false),
        ShortcutAction::ColumnToWorkspace(to) => send_to(state, shell::send_column_to, meant(to), false),
        ShortcutAction::MoveToNextWorkspace => send_to(state, shell::send_to, next_workspace, true),
        ShortcutAction::MoveToPreviousWorkspace => send_to(state, shell::send_to, previous_workspace, true),
        ShortcutAction::Output(direction) => go_to_output(state, *direction),
        ShortcutAction::MoveToOutput(direction) => send_to_output(state, shell::send_to, *direction),
        ShortcutAction::ColumnToOutput(direction) => send_to_output(state, shell::send_column_to, *direction),
        ShortcutAction::Overview => overview::toggle(state),
        ShortcutAction::Help => overview::toggle_help(state),
        ShortcutAction::Hud => overview::toggle_hud(state),
        ShortcutAction::Shortcuts => shortcut_inhibition::toggle(state),
        ShortcutAction::NextKeyboardLayout => switch_layout(state, true),
        ShortcutAction::PreviousKeyboardLayout => switch_layout(state, false),
        ShortcutAction::OutputsOff => power::darken(state, PowerOnEvent::Input),
        ShortcutAction::RotationLock => state.toggle_rotation_lock(),
        ShortcutAction::None => {}
    }
}

/// Begins a drag of the window under the pointer, unless a drag is in progress.
fn drag_window_under_pointer(state: &mut State, begin: fn(&mut State, WindowId, DragSource)) {
    let takes_input = state.shell.lock().takes_input() || state.shell.overlays().take_input();
    if let Some(window) = super::window_under(state).filter(|_| !takes_input && drag::may_begin(state)) {
        begin(state, window, DragSource::Pointer);
    }
}

/// Asks the user whether the session is to end. It never ends without an answer: if the question cannot be shown, it
/// goes on.
fn ask_to_end(state: &mut State) {
    if let Err(unseen) = end_session_question::ask(state) {
        tracing::warn!("the session goes on: {unseen}");
    }
}

/// Ends the session if `taken` says so. Returns whether the question used the input.
pub(super) fn end_if_confirmed(state: &mut State, taken: QuestionOutcome) -> bool {
    if taken == QuestionOutcome::EndSession {
        state.end_session();
    }
    taken != QuestionOutcome::NotForQuestion
}

/// Moves the focus in a strip; elsewhere it maximises, restores or snaps the focused window in that direction.
fn towards(state: &mut State, direction: Direction) {
    if strip::focus(state, direction) || arrangement_requests::snap(state, direction) {
        return;
    }
    match direction {
        Direction::Up => arrangement_requests::toggle_maximised(state),
        Direction::Down => arrangement_requests::restore(state),
        Direction::Column(_) | Direction::First | Direction::Last | Direction::OtherLayer => {}
    }
}

/// Moves the focus in a strip; among floating windows to the nearest one in that direction.
fn focus(state: &mut State, direction: Direction) {
    if strip::focus(state, direction) {
        return;
    }
    let shell = &state.shell;
    let Some(from) = shell.focused().and_then(|id| shell.window(id)) else { return };
    let others = shell.visible_windows().filter(|window| window.id != from.id);
    let found = others.map(|window| (window.id, window.rect()));
    let next = nearest(from.rect(), direction, found);
    if next.is_some() {
        shell::activate(state, next);
    }
}

/// The rectangle in that direction with the nearest centre.
fn nearest<T>(
    from: Rectangle<i32, Logical>,
    direction: Direction,
    others: impl Iterator<Item = (T, Rectangle<i32, Logical>)>,
) -> Option<T> {
    let middle = |rect: Rectangle<i32, Logical>| {
        (i64::from(rect.loc.x) * 2 + i64::from(rect.size.w), i64::from(rect.loc.y) * 2 + i64::from(rect.size.h))
    };
    let from = middle(from);
    let lies_there = |(x, y): (i64, i64)| match direction {
        Direction::Column(HorizontalSide::Left) => x < from.0,
        Direction::Column(HorizontalSide::Right) => x > from.0,
        Direction::Up => y < from.1,
        Direction::Down => y > from.1,
        Direction::First | Direction::Last | Direction::OtherLayer => false,
    };
    let distance = |(x, y): (i64, i64)| (x - from.0).pow(2) + (y - from.1).pow(2);
    let there = others.filter(|(_, rect)| lies_there(middle(*rect)));
    there.min_by_key(|(_, rect)| distance(middle(*rect))).map(|(found, _)| found)
}

/// The workspace that a shortcut means while `current` is used; `None` if a reload has removed its name.
fn meant(to: &WorkspaceReference) -> impl Fn(&Workspaces, WorkspaceId) -> Option<WorkspaceId> {
    |workspaces, current| workspaces.find(to).ok().map(|number| workspaces.meant(current.screen, number))
}

fn next_workspace(workspaces: &Workspaces, current: WorkspaceId) -> Option<WorkspaceId> {
    Some(WorkspaceId { number: current.number.next(workspaces.last_number()), ..current })
}

fn previous_workspace(_workspaces: &Workspaces, current: WorkspaceId) -> Option<WorkspaceId> {
    Some(WorkspaceId { number: current.number.previous(), ..current })
}

/// Shows another workspace.
fn go_to(state: &mut State, to: impl Fn(&Workspaces, WorkspaceId) -> Option<WorkspaceId>) {
    let Some(screen) = workspace_actions::current_screen(state) else { return };
    let workspaces = state.shell.workspaces();
    let current = WorkspaceId { screen, number: workspaces.active(screen) };
    if let Some(place) = to(workspaces, current) {
        named_workspaces::show(state, place);
    }
}

/// Sends a window to a workspace: alone, or with its column.
type SendWindow = fn(&mut State, WindowId, WorkspaceId);

/// Sends the focused window to another workspace. `along`: shows that workspace, too.
fn send_to(
    state: &mut State,
    send: SendWindow,
    to: impl Fn(&Workspaces, WorkspaceId) -> Option<WorkspaceId>,
    along: bool,
) {
    let Some(window) = state.shell.focused() else { return };
    let Some(from) = state.shell.workspaces().place(window) else { return };
    let Some(place) = to(state.shell.workspaces(), from) else { return };
    send(state, window, place);
    if along {
        take_along(state, window, place);
    }
}

fn take_along(state: &mut State, window: WindowId, place: WorkspaceId) {
    workspace_actions::switch(state, place);
    shell::activate(state, Some(window));
}

/// The output in that direction from the current one.
pub(super) fn output_towards(state: &State, direction: Direction) -> Option<ScreenId> {
    let current = workspace_actions::current_screen(state)?;
    let area = workspace_actions::area_of(state, current)?;
    let screens = state.shell.workspaces().screens().map(|(screen, _)| screen).filter(|screen| *screen != current);
    let others = screens.filter_map(|screen| Some((screen, workspace_actions::area_of(state, screen)?)));
    nearest(area, direction, others)
}

fn go_to_output(state: &mut State, direction: Direction) {
    let Some(screen) = output_towards(state, direction) else { return };
    workspace_actions::go_to_output(state, screen);
}

fn send_to_output(state: &mut State, send: SendWindow, direction: Direction) {
    let Some(screen) = output_towards(state, direction) else { return };
    let Some(window) = state.shell.focused() else { return };
    let place = WorkspaceId { screen, number: state.shell.workspaces().active(screen) };
    send(state, window, place);
    take_along(state, window, place);
}

/// Switches to the next layout of the keymap in force, or to the one before.
fn switch_layout(state: &mut State, forwards: bool) {
    let Some(handle) = state.input.keyboard.clone() else { return };
    handle.with_xkb_state(state, |mut context| {
        let (active, count) = {
            let xkb = context.xkb().lock().unwrap_or_else(std::sync::PoisonError::into_inner);
            (xkb.active_layout().0, xkb.layouts().count() as u32)
        };
        if count > 1 {
            let step = if forwards { 1 } else { count - 1 };
            context.set_layout(Layout((active + step) % count));
        }
    });
    text_keys::send_modifiers_to_focus(state);
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn nearest_in_that_direction_is_found() {
        let rect = |x, y| Rectangle::<i32, Logical>::new((x, y).into(), (100, 100).into());
        let others = [("near", rect(150, 20)), ("far", rect(900, 0)), ("left", rect(-150, 0)), ("below", rect(0, 300))];
        let found = |direction| nearest(rect(0, 0), direction, others.into_iter());
        assert_eq!(found(Direction::Column(HorizontalSide::Right)), Some("near"));
        assert_eq!(found(Direction::Column(HorizontalSide::Left)), Some("left"));
        assert_eq!(found(Direction::Down), Some("near"), "its middle is a little lower, and nearest");
        assert_eq!(found(Direction::Up), None);
    }
}

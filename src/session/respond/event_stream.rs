//! Event stream of the private socket: compares the current state with the state last sent to the subscribers.
//!
//! Titles, rectangles and the like are only read again if the shell says that a window changed. The rest is small. It is
//! compared in every turn while there is a subscriber.

use ahash::HashMap;

use super::{layers, layouts, outputs, windows, workspaces};
use crate::shell::ListRevision;
use crate::state::State;
use upbeat_record::ipc::message::ColumnPosition;
use upbeat_record::ipc::message::event::{Event, SessionSnapshot, WindowState};
use upbeat_timing::id::WindowId;

/// The state that subscribers have.
#[derive(Debug, Default)]
pub struct SentState {
    state: SessionSnapshot,
    /// Revision of the window list for which the windows in `state` were described. It does not cover visibility,
    /// output, content and layout.
    window_list: Option<ListRevision>,
}

/// The complete state for a new subscriber. Events that lead older subscribers to this state must have been sent
/// before.
pub(super) fn initial_state(state: &mut State) -> Event {
    let now = current_state(state, None);
    state.session.sent_state = SentState { state: now.clone(), window_list: Some(state.shell.listed()) };
    Event::State(Box::new(now))
}

/// The changes since the last call.
pub(super) fn changes(state: &mut State) -> Vec<Event> {
    let SentState { state: before, window_list: basis } = std::mem::take(&mut state.session.sent_state);
    let now_basis = state.shell.listed();
    let known = basis.filter(|basis| *basis == now_basis).map(|_| &before);
    let now = current_state(state, known);
    let events = before.changes(&now);
    state.session.sent_state = SentState { state: now, window_list: Some(now_basis) };
    events
}

/// The current state. With `known`, only the visibility, output, content and layout of the windows in it, and
/// the layout of its workspaces, are read again.
fn current_state(state: &mut State, known: Option<&SessionSnapshot>) -> SessionSnapshot {
    let keyboard = layouts::all(state);
    let state = &*state;
    let (windows, workspaces) = match known {
        Some(known) => {
            let positions = state.shell.strips().column_positions();
            let windows = known.windows.iter().map(|window| refresh_window(state, window, &positions));
            let laid_out = known.workspaces.iter().map(|known| workspaces::with_current_layout(state, known));
            (windows.collect(), laid_out.collect())
        }
        None => (windows::states(state), workspaces::all(state)),
    };
    SessionSnapshot {
        outputs: outputs::states(state),
        workspaces,
        windows,
        layers: layers::all(state),
        keyboard,
        mistake: state.shell.overlays().notices().current_config_error().map(str::to_owned),
    }
}

/// An unchanged window with its current visibility, output, content and layout. The layout may change alone: a column
/// with a single window becomes a column of tabs.
fn refresh_window(state: &State, known: &WindowState, positions: &HashMap<WindowId, ColumnPosition>) -> WindowState {
    let window = state.shell.window(known.window);
    let now = window.and_then(|window| windows::visibility(state, window));
    let (visible, output) = now.unwrap_or_default();
    let content = window.and_then(|window| window.content()).map(str::to_owned);
    let layout = window.map(|window| windows::layout(window, positions)).unwrap_or_default();
    WindowState { visible, output, content, layout, ..known.clone() }
}

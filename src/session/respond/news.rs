//! What those who follow are told: how all is beside how it was when they were told last.
//!
//! Windows are looked at anew where the shell says that something of them changed. What else is told is little, and looked at
//! with every question, which comes with every turn while somebody follows.

use super::{layers, layouts, outputs, windows, workspaces};
use crate::shell::ListRevision;
use crate::state::State;
use upbeat_record::ipc::message::event::{Event, Picture, WindowState};

/// What those who follow were told last.
#[derive(Debug, Default)]
pub struct Told {
    picture: Picture,
    /// What windows follow from, but for where they are seen.
    basis: Option<ListRevision>,
}

/// Somebody follows from now on: how all is, which all others have been told.
pub(super) fn all(state: &mut State) -> Event {
    let now = look(state, None);
    state.session.told = Told { picture: now.clone(), basis: Some(state.shell.listed()) };
    Event::State(Box::new(now))
}

/// What changed since the last time.
pub(super) fn changes(state: &mut State) -> Vec<Event> {
    let Told { picture: before, basis } = std::mem::take(&mut state.session.told);
    let now_basis = state.shell.listed();
    let known = basis.filter(|basis| *basis == now_basis).map(|_| &before);
    let now = look(state, known);
    let events = before.changes(&now);
    state.session.told = Told { picture: now, basis: Some(now_basis) };
    events
}

/// How all is; of `known` windows nothing changed but where they are seen.
fn look(state: &mut State, known: Option<&Picture>) -> Picture {
    let keyboard = layouts::all(state);
    let state = &*state;
    let (windows, workspaces) = match known {
        Some(known) => (known.windows.iter().map(|window| seen(state, window)).collect(), known.workspaces.clone()),
        None => (windows::states(state), workspaces::all(state)),
    };
    Picture {
        outputs: outputs::states(state),
        workspaces,
        windows,
        layers: layers::all(state),
        keyboard,
        mistake: state.shell.overlays().notices().mistake_in_force().map(str::to_owned),
    }
}

/// A window that is as it was, but for where it is seen and what it shows.
fn seen(state: &State, known: &WindowState) -> WindowState {
    let window = state.shell.window(known.window);
    let now = window.and_then(|window| windows::presence(state, window));
    let (visible, output) = now.unwrap_or_default();
    let content = window.and_then(|window| window.content()).map(str::to_owned);
    WindowState { visible, output, content, ..known.clone() }
}

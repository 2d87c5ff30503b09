//! The private socket (`upbeat msg`) as an event source of the session, and its event stream.

use std::path::Path;

use anyhow::Context as _;
use calloop::PostAction;

use super::event_sources::LoopSource;
use crate::ipc::IpcServer;
use crate::state::State;

/// Creates the private socket at `path` and watches it.
pub fn listen(state: &mut State, path: &Path) -> anyhow::Result<()> {
    let server = IpcServer::listen(path)?;
    let dispatch = |state: &mut State| {
        with_server(state, IpcServer::dispatch);
        PostAction::Continue
    };
    state
        .session
        .event_sources
        .add_source(LoopSource::PrivateSocket, &server, dispatch)
        .context("cannot watch the private socket")?;
    state.session.private_socket = Some(server);
    Ok(())
}

/// Sends the events of the turn that ends to the subscribers.
pub(super) fn send_events(state: &mut State) {
    if state.session.private_socket.as_ref().is_some_and(IpcServer::is_followed) {
        with_server(state, IpcServer::send_events);
    }
}

/// Calls `act` with the server, which is taken out of `state` meanwhile because it borrows `state`.
fn with_server(state: &mut State, act: impl FnOnce(&mut IpcServer, &mut State)) {
    if let Some(mut server) = state.session.private_socket.take() {
        act(&mut server, state);
        state.session.private_socket = Some(server);
    }
}

//! The private socket (`upbeat msg`) as an event source of the session, and its event stream.

use std::path::Path;

use anyhow::Context as _;
use calloop::PostAction;

use super::waiting::Heard;
use crate::ipc::Server;
use crate::state::State;

/// Creates the private socket at `path` and watches it.
pub fn listen(state: &mut State, path: &Path) -> anyhow::Result<()> {
    let server = Server::listen(path)?;
    let heard = |state: &mut State| {
        with_server(state, Server::dispatch);
        PostAction::Continue
    };
    state.session.waiting.listen(Heard::Messages, &server, heard).context("cannot watch the private socket")?;
    state.session.messages = Some(server);
    Ok(())
}

/// Sends the events of the turn that ends to the subscribers.
pub(super) fn attend(state: &mut State) {
    if state.session.messages.as_ref().is_some_and(Server::is_followed) {
        with_server(state, Server::tell);
    }
}

/// Calls `act` with the server, which is taken out of `state` meanwhile because it borrows `state`.
fn with_server(state: &mut State, act: impl FnOnce(&mut Server, &mut State)) {
    if let Some(mut server) = state.session.messages.take() {
        act(&mut server, state);
        state.session.messages = Some(server);
    }
}

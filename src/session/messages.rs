//! The private socket in the loop, and those who follow what happens.

use std::path::Path;

use anyhow::Context as _;
use calloop::PostAction;

use super::waiting::Heard;
use crate::ipc::Server;
use crate::state::State;

/// Makes the private socket at `path` and listens to it.
pub fn listen(state: &mut State, path: &Path) -> anyhow::Result<()> {
    let server = Server::listen(path)?;
    let heard = |state: &mut State| {
        with_server(state, Server::dispatch);
        PostAction::Continue
    };
    state
        .session
        .waiting
        .listen(Heard::Messages, &server, heard)
        .context("the private socket cannot be listened to")?;
    state.session.messages = Some(server);
    Ok(())
}

/// Tells those who follow what happened in the turn that ends.
pub(super) fn attend(state: &mut State) {
    if state.session.messages.as_ref().is_some_and(Server::is_followed) {
        with_server(state, Server::tell);
    }
}

/// The server is in nobody's hands while it asks.
fn with_server(state: &mut State, act: impl FnOnce(&mut Server, &mut State)) {
    if let Some(mut server) = state.session.messages.take() {
        act(&mut server, state);
        state.session.messages = Some(server);
    }
}

//! Programs that a shortcut starts, and virtual terminals.

use std::ffi::{OsStr, OsString};
use std::os::fd::AsFd;

use calloop::generic::Generic;
use calloop::{Interest, Mode, PostAction};

use super::child::Child;
use super::socket;
use crate::state::State;

/// Runs the configured terminal. It ends with the session.
pub fn run_terminal(state: &mut State) {
    let command: Vec<OsString> = state.session.config().terminal.split_whitespace().map(OsString::from).collect();
    if let Err(error) = spawn(state, &command) {
        tracing::error!("terminal: {error:#}");
    }
}

fn spawn(state: &mut State, command: &[OsString]) -> anyhow::Result<()> {
    let name = state.session.identity.socket.clone();
    let runtime = socket::runtime_directory(std::env::var_os("XDG_RUNTIME_DIR"))?;
    let ipc_path = socket::ipc_path(&runtime, &name);
    let environment = [("WAYLAND_DISPLAY", OsStr::new(&name)), ("UPBEAT_SOCKET", ipc_path.as_os_str())];
    let mut child = Child::spawn(command, &environment)?;
    let source = Generic::new(child.as_fd().try_clone_to_owned()?, Interest::READ, Mode::Level);
    let watched = state.loop_handle.insert_source(source, move |_, _, _| {
        Ok(if child.ended().is_some() { PostAction::Remove } else { PostAction::Continue })
    });
    watched.map(|_| ()).map_err(|error| anyhow::anyhow!("its end cannot be watched: {error}"))
}

/// Asks for another virtual terminal, where there are such.
pub fn switch_terminal(state: &mut State, number: u32) {
    if let Some(session) = &mut state.session.drm {
        session.switch_terminal(number);
    }
}

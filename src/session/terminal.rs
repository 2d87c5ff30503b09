//! Programs that a shortcut starts, and virtual terminals.

use std::ffi::OsString;
use std::os::fd::AsFd;

use calloop::generic::Generic;
use calloop::{Interest, Mode, PostAction};

use super::child::Child;
use super::exit::ExitStatus;
use crate::input::ShortcutTarget;
use crate::state::State;

impl ShortcutTarget for State {
    /// It ends with the session.
    fn run_terminal(&mut self) {
        let command: Vec<OsString> = self.session.config().terminal.split_whitespace().map(OsString::from).collect();
        if let Err(error) = spawn(self, &command) {
            tracing::error!("terminal: {error:#}");
        }
    }

    fn end_session(&mut self) {
        self.session.end(ExitStatus::default());
    }

    fn switch_terminal(&mut self, number: u32) {
        if let Some(session) = &mut self.session.drm {
            session.switch_terminal(number);
        }
    }
}

fn spawn(state: &mut State, command: &[OsString]) -> anyhow::Result<()> {
    let mut child = Child::spawn(command, &state.session.identity.environment())?;
    let source = Generic::new(child.as_fd().try_clone_to_owned()?, Interest::READ, Mode::Level);
    let watched = state.loop_handle.insert_source(source, move |_, _, _| {
        Ok(if child.ended().is_some() { PostAction::Remove } else { PostAction::Continue })
    });
    watched.map(|_| ()).map_err(|error| anyhow::anyhow!("its end cannot be watched: {error}"))
}

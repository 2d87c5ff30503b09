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
    /// It ends with the session; what it has left behind by then does not.
    fn run_terminal(&mut self) {
        let command: Vec<OsString> = self.session.config().terminal.0.words().map(OsString::from).collect();
        if let Err(error) = spawn(self, &command, |_| {}) {
            tracing::error!("terminal: {error}");
        }
    }

    fn run_program(&mut self, command: &[OsString]) {
        if let Err(error) = spawn(self, command, |_| {}) {
            tracing::error!("shortcut: {error}");
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

/// Runs a program in the session, and says how it `ended`.
pub(super) fn spawn(
    state: &mut State,
    command: &[OsString],
    ended: impl FnOnce(ExitStatus) + 'static,
) -> anyhow::Result<()> {
    let mut child = Child::spawn(command, &state.session.environment())?;
    let mut ended = Some(ended);
    let source = Generic::new(child.as_fd().try_clone_to_owned()?, Interest::READ, Mode::Level);
    let watched = state.loop_handle.insert_source(source, move |_, _, _| {
        let Some(status) = child.is_done() else { return Ok(PostAction::Continue) };
        ended.take().into_iter().for_each(|ended| ended(status));
        Ok(PostAction::Remove)
    });
    watched.map(|_| ()).map_err(|error| anyhow::anyhow!("its end cannot be watched: {error}"))
}

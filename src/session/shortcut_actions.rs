//! Actions of shortcuts that concern the session: start programs, take screenshots, end the session, switch the virtual
//! terminal.

use std::ffi::OsString;

use super::exit::ExitStatus;
use super::launch_program::{Purpose, launch};
use crate::bindings::ScreenshotOf;
use crate::config::Config;
use crate::deferred_calls;
use crate::input::HostSession;
use crate::state::State;

impl HostSession for State {
    fn run_terminal(&mut self) {
        let command: Vec<OsString> = self.session.config().terminal.0.words().map(OsString::from).collect();
        launch_soon(self, Purpose::Terminal, command);
    }

    fn run_program(&mut self, command: &[OsString]) {
        launch_soon(self, Purpose::Shortcut, command.to_vec());
    }

    fn take_screenshot(&mut self, of: ScreenshotOf) {
        super::screenshots::take(self, of);
    }

    fn end_session(&mut self) {
        self.session.end(ExitStatus::default());
    }

    fn switch_terminal(&mut self, number: u32) {
        if let Some(session) = &mut self.session.drm {
            session.switch_terminal(number);
        }
    }

    fn toggle_rotation_lock(&mut self) {
        self.session.rotation.toggle_lock();
    }

    fn is_rotation_lock_useful(&self) -> bool {
        self.session.rotation.is_lock_useful()
    }

    fn config(&self) -> &Config {
        self.session.config()
    }
}

/// Starts a program once the events of this turn are handled. Input may be read right before a frame is submitted, and
/// starting a process takes longer than is left then.
fn launch_soon(state: &mut State, purpose: Purpose, command: Vec<OsString>) {
    deferred_calls::queue(state, move |state| launch(state, purpose, &command));
}

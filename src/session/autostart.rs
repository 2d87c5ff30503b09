//! What the configuration has run when the session starts.

use std::ffi::OsString;

use super::terminal;
use crate::state::State;

/// What a shell ends with when it does not find the program.
const NOT_FOUND: u8 = 127;

/// Runs it. It ends with the session.
pub(super) fn start(state: &mut State) {
    let lines: Vec<String> = state.session.config().autostart.lines().map(str::to_owned).collect();
    for line in lines {
        let command = ["sh", "-c", &line].map(OsString::from);
        let told = line.clone();
        let started = terminal::spawn(state, &command, move |status| match status.code() {
            0 => {}
            NOT_FOUND => tracing::error!("autostart: `{told}`: there is no such program"),
            code => tracing::warn!("autostart: `{told}` ended with status {code}"),
        });
        if let Err(error) = started {
            tracing::error!("autostart: `{line}`: {error:#}");
        }
    }
}

//! Programs that the configuration starts together with the session (`autostart`).

use std::ffi::OsString;

use super::launch_program::{Purpose, SHELL, launch};
use crate::state::State;

/// Starts the programs of `autostart`. They end with the session.
pub(super) fn start(state: &mut State) {
    let lines: Vec<String> = state.session.config().autostart.lines().map(str::to_owned).collect();
    for line in lines {
        let command: Vec<OsString> = SHELL.into_iter().chain([&*line]).map(OsString::from).collect();
        launch(state, Purpose::Autostart, &command);
    }
}

#[cfg(test)]
mod tests {
    use calloop::EventLoop;
    use smithay::reexports::wayland_server::Display;

    use super::*;
    use crate::config::ConfigFile;

    #[test]
    fn missing_autostart_program_is_reported_with_the_configuration_file() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("config.toml");
        std::fs::write(&path, "autostart = [\"true\", \"no-such-bar --top\"]").unwrap();
        let mut event_loop: EventLoop<'static, State> = EventLoop::try_new().unwrap();
        let display: Display<State> = Display::new().unwrap();
        let mut state = State::new(display.handle(), event_loop.handle());
        state.session.config = ConfigFile::load(Some(path.clone()), None).unwrap();
        start(&mut state);
        let begun = std::time::Instant::now();
        while state.shell.overlays().notices().messages().next().is_none() {
            assert!(begun.elapsed().as_secs() < 60, "the failure was never reported");
            event_loop.dispatch(Some(std::time::Duration::from_secs(1)), &mut state).unwrap();
        }
        let failure = state.shell.overlays().notices().messages().next().unwrap();
        assert_eq!(failure.heading, "no-such-bar is not installed");
        let wanted = format!("Wanted by `autostart` in {}: no-such-bar --top", path.display());
        assert_eq!(failure.text, wanted);
    }
}

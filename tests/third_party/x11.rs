//! An X server in a window: Xwayland of Debian 12 with its whole screen in one window of ours, and a terminal in it.

use super::OUTPUT;
use super::session::{ThirdPartySession, installed};

/// Two letters whose keys are the same in every layout.
const TYPED: &str = "kt";

#[test]
fn rootful_xwayland_shows_a_terminal_that_receives_keys() {
    if ![("Xwayland", "xwayland"), ("xterm", "xterm")].iter().all(|(program, package)| installed(program, package)) {
        return;
    }
    let mut session = ThirdPartySession::start("rootful", OUTPUT, None);
    let (typed, number) = (session.path("typed"), session.path("number"));
    // Xwayland prints its display number when it is ready.
    let server = format!("exec Xwayland -displayfd 1 -noreset -nolisten tcp > {}", number.display());
    session.spawn(&["sh", "-c", &server]);
    let display = session.wait("the X server", || {
        let said = std::fs::read_to_string(&number).ok()?;
        said.ends_with('\n').then(|| format!(":{}", said.trim()))
    });
    let script = format!("read line; printf %s \"$line\" > {}; exec sleep 1000", typed.display());
    let terminal = ["xterm", "-fa", "DejaVu Sans Mono", "-geometry", "80x24+0+0", "-e", "sh", "-c", &script];
    session.spawn_in(&terminal, &[("DISPLAY", &display)]);
    // The terminal is white on the server's black screen.
    session.wait_for_picture("terminal", |picture| picture.count(0x00ff_ffff) > 50_000);
    // Move the pointer into the terminal, since keys go to the window under the pointer without a window manager.
    session.click(OUTPUT.0 / 4, OUTPUT.1 / 4);
    for key in TYPED.split("").filter(|key| !key.is_empty()).chain(["enter"]) {
        session.message(&["input", "key", key]);
    }
    session.wait("the typed text", || (std::fs::read_to_string(&typed).ok()? == TYPED).then_some(()));
    session.assert_all_running();
    session.end();
}

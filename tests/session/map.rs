//! `examples/map`: it draws ahead while zooming, just in time for other changes, and not at all at rest.

use std::process::{Child, Command, Stdio};
use std::time::Duration;

use upbeat_timing::pacing::Pacing;

use crate::animation::example;
use crate::session::{TestSession, wait};

const MAP: &str = "upbeat.map";
/// A map without a frame for this long is at rest: many times the cost of a frame.
const REST: Duration = Duration::from_secs(1);

/// Kills the process at the end of the test.
struct RunningMap(Child);

impl Drop for RunningMap {
    fn drop(&mut self) {
        let _ = self.0.kill();
        let _ = self.0.wait();
    }
}

fn shown(session: &mut TestSession) -> RunningMap {
    let map = Command::new(example("map"))
        .args(["--tile-cost", "0"])
        .env("XDG_RUNTIME_DIR", session.directory.path())
        .env("WAYLAND_DISPLAY", "test")
        .stdin(Stdio::null())
        .stdout(Stdio::null())
        .spawn()
        .unwrap();
    wait("its window", || session.windows().iter().any(|window| window.app_id == MAP).then_some(()));
    wait("light", || (session.frames(MAP) > 0).then_some(()));
    RunningMap(map)
}

fn rests(session: &mut TestSession) {
    wait("rest", || {
        let before = session.frames(MAP);
        std::thread::sleep(REST);
        (session.frames(MAP) == before).then_some(())
    });
}

#[test]
fn map_draws_ahead_while_zooming_and_not_at_rest() {
    let mut session = TestSession::start(&["--output", "800x600"]);
    let _map = shown(&mut session);
    rests(&mut session);
    assert_eq!(session.window(MAP).pacing, Pacing::JustInTime);
    session.msg(&["input", "move", "400", "300"]);
    wait("drawing ahead", || {
        session.msg(&["input", "scroll", "0", "-15"]);
        (session.window(MAP).pacing == Pacing::Ahead).then_some(())
    });
    wait("the end of the gesture", || (session.window(MAP).pacing == Pacing::JustInTime).then_some(()));
    rests(&mut session);
}

#[test]
fn key_switches_the_pacing_at_run_time() {
    let mut session = TestSession::start(&["--output", "800x600"]);
    let _map = shown(&mut session);
    for pacing in [Pacing::Vsync, Pacing::JustInTime, Pacing::Ahead, Pacing::JustInTime] {
        assert!(session.msg(&["input", "key", "p"]).status.success());
        wait("the pacing", || (session.window(MAP).pacing == pacing).then_some(()));
    }
}

//! Monitors with an identity on virtual connectors: their rules, windows and workspaces go with the monitor.

use upbeat_record::ipc::message::input::InputEvent;
use upbeat_record::ipc::message::{LogicalRect, OutputInfo, Request, Response};

use crate::session::TestSession;

const RULES: &str = r##"
[[output]]
name = "ACM Left 1"
position = [0, 0]
scale = 2.0
[[output]]
name = "ACM Right 2"
position = [320, 0]
transform = "90"
mode = "800x600@60"
"##;

/// Plugs in the monitor `model`; its mode has no rule if it is not `Right`.
fn plug(session: &TestSession, connector: &str, model: &str, serial: &str) {
    let monitor = ["--make", "ACM", "--model", model, "--serial", serial];
    let added = session.msg(&[&["output", "add", "640x400@60", "--connector", connector], &monitor[..]].concat());
    assert!(added.status.success(), "{}", String::from_utf8_lossy(&added.stderr));
}

fn output(session: &mut TestSession, connector: &str) -> OutputInfo {
    let Response::Outputs { outputs, .. } = session.ask(Request::Outputs) else { panic!() };
    outputs.into_iter().find(|output| output.name == connector).unwrap()
}

/// The monitor of a connector, its area, scale and transform, and its visible workspace.
fn state(session: &mut TestSession, connector: &str) -> (Option<String>, LogicalRect, f64, String, u8) {
    let OutputInfo { monitor, geometry, scale, transform, .. } = output(session, connector);
    let Response::Workspaces { workspaces } = session.ask(Request::Workspaces) else { panic!() };
    let visible = workspaces.into_iter().find(|workspace| workspace.active && workspace.output == connector).unwrap();
    (monitor, geometry, scale, transform, visible.number.into())
}

/// The connector and the workspace that a window is on.
fn home(session: &mut TestSession, role: &str) -> (String, u8) {
    let window = session.window(role).window;
    let Response::Workspaces { workspaces } = session.ask(Request::Workspaces) else { panic!() };
    let home = workspaces.into_iter().find(|workspace| workspace.windows.contains(&window)).unwrap();
    (home.output, home.number.into())
}

#[test]
fn monitors_that_swap_their_connectors_keep_rules_workspaces_and_windows() {
    let directory = tempfile::tempdir().unwrap();
    let path = directory.path().join("config.toml");
    std::fs::write(&path, RULES).unwrap();
    let mut session = TestSession::start_in(directory, &["--config", path.to_str().unwrap()]);
    plug(&session, "DP-1", "Left", "1");
    plug(&session, "DP-2", "Right", "2");
    session.ask(Request::RemoveOutput { output: "HEADLESS-1".to_owned() });
    assert!(session.msg(&["workspace", "3", "--output", "DP-2"]).status.success());
    let mut programs = Vec::new();
    for (role, connector, x) in [("draw", "DP-1", 100.0), ("idle", "DP-2", 500.0)] {
        session.ask(Request::Input { events: vec![InputEvent::PointerMove { x, y: 100.0 }] });
        programs.push(session.shown(role));
        assert_eq!(home(&mut session, role).0, connector);
    }
    let before = [state(&mut session, "DP-1"), state(&mut session, "DP-2")];
    let area = |x, width, height| LogicalRect { x, y: 0, width, height };
    assert_eq!(before[0], (Some("ACM Left 1".to_owned()), area(0, 320, 200), 2.0, "normal".to_owned(), 1));
    assert_eq!(before[1], (Some("ACM Right 2".to_owned()), area(320, 400, 640), 1.0, "90".to_owned(), 3));
    let geometry = |session: &mut TestSession| ["draw", "idle"].map(|role| session.window(role).geometry);
    let places = geometry(&mut session);
    for connector in ["DP-1", "DP-2"] {
        session.ask(Request::RemoveOutput { output: connector.to_owned() });
    }
    plug(&session, "DP-1", "Right", "2");
    plug(&session, "DP-2", "Left", "1");
    let [left, right] = before;
    assert_eq!((state(&mut session, "DP-2"), state(&mut session, "DP-1")), (left, right));
    assert_eq!(
        [home(&mut session, "draw"), home(&mut session, "idle")],
        [("DP-2".to_owned(), 1), ("DP-1".to_owned(), 3)]
    );
    assert_eq!(geometry(&mut session), places);
}

#[test]
fn virtual_connectors_have_sensible_names_and_are_plugged_in_once() {
    let mut session = TestSession::start(&["--output", "640x480"]);
    plug(&session, "HEADLESS-2", "Left", "1");
    let mode = "640x480@60".parse().unwrap();
    let add =
        |connector: Option<&str>| Request::AddOutput { mode, connector: connector.map(str::to_owned), monitor: None };
    assert_eq!(session.refused(add(Some("HEADLESS-1"))), "there is an output called HEADLESS-1 already");
    assert!(session.refused(add(Some("two words"))).contains("ASCII characters without spaces"));
    assert!(session.refused(add(Some(""))).contains("1 to 32"));
    let Response::Outputs { outputs, .. } = session.ask(add(None)) else { panic!() };
    assert_eq!(outputs[0].name, "HEADLESS-3", "HEADLESS-2 is taken");
    let unfit = session.msg(&["output", "add", "640x480", "--make", "A\nB", "--model", "C"]);
    assert!(String::from_utf8_lossy(&unfit.stderr).contains("printable ASCII"));
    assert!(!session.msg(&["output", "add", "640x480", "--make", "ACM"]).status.success(), "a maker has a model");
}

//! Outputs that are plugged, changed, turned off and unplugged, with clients on them.

use upbeat::config::OutputMode;
use upbeat_record::ipc::message::input::InputEvent;
use upbeat_record::ipc::message::{OutputInfo, Request, Response};

use crate::session::{TestSession, wait};

fn outputs(session: &mut TestSession) -> Vec<OutputInfo> {
    let Response::Outputs { outputs, .. } = session.ask(Request::Outputs) else { panic!() };
    outputs
}

#[test]
fn windows_return_when_an_output_replaces_the_only_output() {
    let mut session = TestSession::start(&["--output", "640x480"]);
    let mut program = session.program("draw");
    program.wait_for("enter");
    session.wait_for_new_frames("draw");
    assert!(session.msg(&["output", "remove", "HEADLESS-1"]).status.success());
    program.wait_for("leave");
    assert!(outputs(&mut session).is_empty());
    let window = session.window("draw");
    assert!(!window.visible && window.output.is_none());
    assert_eq!(session.refused(Request::Screenshot { output: None, path: "/tmp/x".into() }), "there is no output");

    let mode: OutputMode = "800x600@120".parse().unwrap();
    let Response::Outputs { outputs: added, .. } =
        session.ask(Request::AddOutput { mode, connector: None, monitor: None })
    else {
        panic!()
    };
    assert_eq!((added[0].name.as_str(), added[0].mode), ("HEADLESS-2", mode));
    program.wait_for("enter");
    session.wait_for_new_frames("draw");
    let window = session.window("draw");
    assert_eq!(window.output.as_deref(), Some("HEADLESS-2"));
    let (right, bottom) = (window.geometry.x + window.geometry.width, window.geometry.y + window.geometry.height);
    assert!(window.geometry.x >= 0 && window.geometry.y >= 0 && right <= 800 && bottom <= 600, "{window:?}");
}

#[test]
fn window_moves_to_another_output_when_its_output_is_unplugged() {
    let mut session = TestSession::start(&["--output", "640x480", "--output", "640x480"]);
    let mut program = session.program("draw");
    program.wait_for("enter");
    session.wait_for_new_frames("draw");
    let home = session.window("draw").output.unwrap();
    session.ask(Request::RemoveOutput { output: home.clone() });
    program.wait_for("leave");
    program.wait_for("enter");
    session.wait_for_new_frames("draw");
    assert_ne!(session.window("draw").output, Some(home));
}

#[test]
fn an_output_that_is_off_shows_nothing_and_comes_back() {
    let mut session = TestSession::start(&["--output", "640x480"]);
    let _program = session.shown("draw");
    session.wait_for_new_frames("draw");
    assert!(session.msg(&["output", "off", "HEADLESS-1"]).status.success());
    assert!(!outputs(&mut session)[0].on);
    let dark = session.refused(Request::Screenshot { output: None, path: "/tmp/x".into() });
    assert_eq!(dark, "HEADLESS-1 shows nothing: it is dark");
    assert!(!session.window("draw").visible);
    let before = session.frames("draw");
    std::thread::sleep(std::time::Duration::from_secs(2));
    assert_eq!(session.frames("draw"), before, "no frame is presented on an output that is off");
    session.ask(Request::SetPower { output: "HEADLESS-1".to_owned(), on: true });
    session.wait_for_new_frames("draw");
    assert!(session.window("draw").visible);
}

#[test]
fn a_mode_changes_under_a_running_client() {
    let mut session = TestSession::start(&["--output", "640x480"]);
    let _program = session.shown("draw");
    session.wait_for_new_frames("draw");
    for mode in ["800x600@120", "800x600@48-144", "320x240@30"] {
        let wanted: OutputMode = mode.parse().unwrap();
        session.ask(Request::SetMode { output: "HEADLESS-1".to_owned(), mode: wanted });
        let output = wait("the mode", || outputs(&mut session).into_iter().find(|output| output.mode == wanted));
        assert_eq!(output.geometry.width, wanted.width as i32);
        session.wait_for_new_frames("draw");
    }
    let mode = "640x480@60".parse().unwrap();
    let unknown = session.refused(Request::SetMode { output: "DP-1".to_owned(), mode });
    assert_eq!(unknown, "there is no output called DP-1; there is HEADLESS-1");
}

#[test]
fn unplugged_output_leaves_no_gap_and_windows_follow_the_layout() {
    let mut session = TestSession::start(&["--output", "640x480", "--output", "640x480", "--output", "640x480"]);
    session.ask(Request::Input { events: vec![InputEvent::PointerMove { x: 1500.0, y: 100.0 }] });
    let _program = session.shown("draw");
    let before = session.window("draw");
    assert_eq!(before.output.as_deref(), Some("HEADLESS-3"));
    session.ask(Request::RemoveOutput { output: "HEADLESS-2".to_owned() });
    let places: Vec<_> = outputs(&mut session).iter().map(|o| (o.name.clone(), o.geometry.x)).collect();
    assert_eq!(places, [("HEADLESS-1".to_owned(), 0), ("HEADLESS-3".to_owned(), 640)]);
    let after = session.window("draw");
    assert_eq!((after.output.as_deref(), after.geometry.x), (Some("HEADLESS-3"), before.geometry.x - 640));
    // An output with a configured position stays there, and the other one makes room.
    session.ask(Request::SetPosition { output: "HEADLESS-3".to_owned(), x: 700, y: 20 });
    session.ask(Request::RemoveOutput { output: "HEADLESS-1".to_owned() });
    assert_eq!(outputs(&mut session)[0].geometry.x, 700);
}

#[test]
fn position_out_of_range_is_refused() {
    let mut session = TestSession::start(&["--output", "640x480"]);
    let refused = session.refused(Request::SetPosition { output: "HEADLESS-1".to_owned(), x: 99_999_999, y: 0 });
    assert_eq!(refused, "HEADLESS-1: a position lies between -262144 and 262144");
    assert_eq!(outputs(&mut session)[0].geometry.x, 0);
}

#[test]
fn resized_output_overlaps_no_output_and_leaves_no_gap() {
    let mut session = TestSession::start(&["--output", "640x480", "--output", "640x480"]);
    session.ask(Request::Input { events: vec![InputEvent::PointerMove { x: 700.0, y: 100.0 }] });
    let _program = session.shown("draw");
    let before = session.window("draw");
    assert_eq!(before.output.as_deref(), Some("HEADLESS-2"));
    let lefts =
        |session: &mut TestSession| -> Vec<i32> { outputs(session).iter().map(|output| output.geometry.x).collect() };
    for (scale, width) in [(0.5, 1280), (2.0, 320), (1.0, 640)] {
        session.ask(Request::SetScale { output: "HEADLESS-1".to_owned(), scale });
        assert_eq!(lefts(&mut session), [0, width]);
        let after = session.window("draw");
        assert_eq!((after.output.as_deref(), after.geometry.x), (Some("HEADLESS-2"), before.geometry.x + width - 640));
    }
    for (mode, width) in [("800x600@60", 800), ("320x240@60", 320)] {
        session.ask(Request::SetMode { output: "HEADLESS-1".to_owned(), mode: mode.parse().unwrap() });
        wait("the second output to be beside it", || (lefts(&mut session) == [0, width]).then_some(()));
    }
    // An output with a configured position stays there, and the other one makes room.
    session.ask(Request::SetPosition { output: "HEADLESS-2".to_owned(), x: 400, y: 0 });
    session.ask(Request::SetScale { output: "HEADLESS-1".to_owned(), scale: 0.5 });
    assert_eq!(lefts(&mut session), [1040, 400]);
}

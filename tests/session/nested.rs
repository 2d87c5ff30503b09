//! A session nested in a window of another session.

use std::collections::BTreeMap;

use rustix::process::Signal;
use tempfile::TempDir;
use upbeat_record::ipc::message::input::InputEvent;
use upbeat_record::ipc::message::{OutputInfo, Request, Response};

use crate::client::COLOUR;
use crate::session::{TestSession, run, wait};

/// The parent's output; the nested session's window is centred in it.
const PARENT: [&str; 4] = ["--backend", "headless", "--output", "640x480"];
const INNER: [&str; 2] = ["--output", "400x300"];
/// Centre of the client's window, in the parent's coordinates. It lies below the centre of the output by half a title
/// bar.
const MIDDLE: (f64, f64) = (320.0, 254.0);

const KEY_A: u32 = 30;
const KEY_LEFTALT: u32 = 56;
const KEY_F4: u32 = 62;
const KEY_LEFTMETA: u32 = 125;
const BTN_LEFT: u32 = 272;
const BTN_RIGHT: u32 = 273;

fn pair() -> (TestSession, TestSession) {
    let parent = TestSession::start(&PARENT);
    let inner = TestSession::nested_in(&parent, &INNER);
    (parent, inner)
}

/// A pair of sessions without opening animations, so that each place in a window is exact from its first frame on.
fn still_pair() -> (TestSession, TestSession) {
    let parent = TestSession::start_in(without_motion(), &PARENT);
    let inner = TestSession::nested_in_directory(without_motion(), &parent, &INNER);
    (parent, inner)
}

/// A directory with a configuration that reduces motion.
fn without_motion() -> TempDir {
    let directory = tempfile::tempdir().unwrap();
    std::fs::create_dir(directory.path().join("upbeat")).unwrap();
    std::fs::write(directory.path().join("upbeat/config.toml"), "reduced-motion = true\n").unwrap();
    directory
}

#[track_caller]
fn outputs(session: &mut TestSession) -> Vec<OutputInfo> {
    let Response::Outputs { outputs, .. } = session.ask(Request::Outputs) else { panic!() };
    outputs
}

/// Waits until `done` is true of the only output of `session`.
#[track_caller]
fn wait_for_output(session: &mut TestSession, what: &str, done: impl Fn(&OutputInfo) -> bool) {
    wait(what, || outputs(session).first().is_some_and(&done).then_some(()));
}

#[track_caller]
fn input(session: &mut TestSession, events: &[InputEvent]) {
    session.ask(Request::Input { events: events.to_vec() });
}

fn key(key: u32, pressed: bool) -> InputEvent {
    InputEvent::Key { key, pressed }
}

fn button(button: u32, pressed: bool) -> InputEvent {
    InputEvent::Button { button, pressed }
}

fn moved((x, y): (f64, f64)) -> InputEvent {
    InputEvent::PointerMove { x, y }
}

/// Pixels with the test client's colour in a screenshot.
#[track_caller]
fn coloured(session: &mut TestSession) -> usize {
    session.picture(None).2.into_iter().filter(|pixel| *pixel == COLOUR).count()
}

#[test]
fn client_of_a_nested_session_is_shown_in_both_sessions() {
    let (mut parent, mut inner) = pair();
    let output = outputs(&mut inner).remove(0);
    assert_eq!((output.name.as_str(), output.mode.width, output.mode.height), ("NESTED-1", 400, 300));
    let _program = inner.shown("draw");
    inner.wait_for_new_frames("draw");
    for session in [&mut inner, &mut parent] {
        // Two cursors may cover parts of it: the parent's and the nested session's.
        wait("the client's picture", || (coloured(session) > 19_000).then_some(()));
    }
    let (width, _, pixels) = parent.picture(None);
    let at = |x: u32, y: u32| pixels[(y * width + x) as usize];
    assert_eq!((at(222, 206), at(418, 302)), (COLOUR, COLOUR), "the window is centred below its title bar");
}

#[test]
fn nested_presentation_times_match_the_parent() {
    let directory = tempfile::tempdir().unwrap();
    let paths = ["parent", "inner"].map(|name| directory.path().join(name));
    let log = |index: usize| ["--frame-log", paths[index].to_str().unwrap()];
    let parent = TestSession::start(&[&PARENT[..], &log(0)].concat());
    let mut inner = TestSession::nested_in(&parent, &[&INNER[..], &log(1)].concat());
    let program = inner.shown("draw");
    for _ in 0..6 {
        inner.wait_for_new_frames("draw");
    }
    drop(program);
    assert!(inner.quit().0.success());
    assert!(parent.quit().0.success());
    let [parent, inner] = paths.map(|path| lights(&std::fs::read_to_string(path).unwrap()));
    assert!(inner.len() >= 60, "{} frames", inner.len());
    for (time, sequence) in inner {
        assert_eq!(parent.get(&time), Some(&sequence), "refresh {sequence} at {time}");
    }
}

/// The presented frames in a frame log: presentation time and sequence number.
fn lights(log: &str) -> BTreeMap<u64, u64> {
    let lines = log.lines().map(|line| serde_json::from_str::<serde_json::Value>(line).unwrap());
    lines
        .filter(|line| line["type"] == "output")
        .filter_map(|line| Some((line["presented"].as_u64()?, line["sequence"].as_u64()?)))
        .collect()
}

#[test]
fn keys_buttons_wheel_and_touch_are_forwarded_to_the_client() {
    let (mut parent, mut inner) = still_pair();
    let mut program = inner.shown("draw");
    wait("the client's picture", || (coloured(&mut parent) > 10_000).then_some(()));
    input(&mut parent, &[moved(MIDDLE)]);
    program.wait_for("pointer 100 50");
    input(&mut parent, &[button(BTN_LEFT, true), button(BTN_LEFT, false)]);
    program.wait_for("button 272 down");
    program.wait_for("button 272 up");
    input(&mut parent, &[InputEvent::Scroll { dx: 0.0, dy: 30.0 }]);
    program.wait_for("scroll 240");
    input(&mut parent, &[key(KEY_A, true), key(KEY_A, false)]);
    program.wait_for("key 30 down");
    program.wait_for("key 30 up");
    let (x, y) = (MIDDLE.0 + 7.0, MIDDLE.1 - 3.0);
    input(&mut parent, &[InputEvent::TouchDown { finger: 1, x, y }, InputEvent::TouchUp { finger: 1 }]);
    program.wait_for("touch 107 47");
    program.wait_for("touch up");
    inner.wait_for_new_frames("draw");
}

#[test]
fn held_keys_are_released_when_the_parent_takes_keyboard_focus() {
    let (mut parent, inner) = pair();
    let mut program = inner.program("draw");
    program.wait_for("focus");
    input(&mut parent, &[key(KEY_A, true)]);
    program.wait_for("key 30 down");
    let _other = parent.shown("idle");
    program.wait_for("key 30 up");
}

#[test]
fn resizing_the_window_changes_the_mode_of_the_output() {
    let (mut parent, mut inner) = pair();
    let _program = inner.shown("draw");
    wait("the client's picture", || (coloured(&mut parent) > 10_000).then_some(()));
    let corner = (500.0, 370.0);
    input(&mut parent, &[moved(corner), key(KEY_LEFTMETA, true), button(BTN_RIGHT, true)]);
    input(&mut parent, &[moved((corner.0 + 60.0, corner.1 + 40.0))]);
    input(&mut parent, &[button(BTN_RIGHT, false), key(KEY_LEFTMETA, false)]);
    wait_for_output(&mut inner, "the new mode", |output| (output.mode.width, output.mode.height) == (460, 340));
    inner.wait_for_new_frames("draw");
    let (width, height, _) = inner.picture(None);
    assert_eq!((width, height), (460, 340));
    wait("the parent to show it", || {
        let window = parent.window("upbeat");
        ((window.geometry.width, window.geometry.height) == (460, 340)).then_some(())
    });
}

#[test]
fn the_session_ends_with_its_last_window() {
    let parent = &mut TestSession::start(&PARENT);
    let mut inner = TestSession::nested_in(parent, &[INNER, INNER].concat());
    let _program = inner.shown("draw");
    let names: Vec<String> = outputs(&mut inner).into_iter().map(|output| output.name).collect();
    assert_eq!(names, ["NESTED-1", "NESTED-2"]);
    let close = [key(KEY_LEFTALT, true), key(KEY_F4, true), key(KEY_F4, false), key(KEY_LEFTALT, false)];
    input(parent, &close);
    wait("one output to go", || (outputs(&mut inner).len() == 1).then_some(()));
    inner.wait_for_new_frames("draw");
    wait("the other window to be focused", || parent.windows().iter().any(|window| window.focused).then_some(()));
    input(parent, &close);
    let (status, complaints) = inner.end_of_nested();
    assert!(status.success() && !complaints.contains("error"), "{status}: {complaints}");
    assert!(parent.windows().is_empty());
}

#[test]
fn nested_session_ends_with_a_message_when_its_parent_dies() {
    let (parent, mut inner) = pair();
    let program = inner.shown("draw");
    parent.signal(Signal::KILL);
    let (status, complaints) = inner.end_of_nested();
    assert_eq!(status.code(), Some(1));
    assert!(complaints.contains("the parent compositor is gone"), "{complaints}");
    program.wait_for_its_end();
}

#[test]
fn hidden_window_turns_its_output_off_until_it_is_visible_again() {
    let (mut parent, mut inner) = pair();
    let _program = inner.shown("draw");
    inner.wait_for_new_frames("draw");
    let power = |parent: &mut TestSession, on| parent.ask(Request::SetPower { output: "HEADLESS-1".to_owned(), on });
    power(&mut parent, false);
    wait_for_output(&mut inner, "the output to go dark", |output| !output.on);
    power(&mut parent, true);
    wait_for_output(&mut inner, "the output to come back", |output| output.on);
    inner.wait_for_new_frames("draw");
}

#[test]
fn missing_parent_compositor_is_named_in_the_error() {
    let output = run(&["--backend", "nested", "--", "true"]);
    assert_eq!(output.status.code(), Some(1));
    let text = String::from_utf8(output.stderr).unwrap();
    assert!(text.contains("WAYLAND_DISPLAY is not set"), "{text}");
}

//! Output configuration by wlr-randr and kanshi on two outputs, with a window on them.

use serde_json::{Value, json};

use super::session::{ThirdPartySession, installed};
use super::{OUTPUT, desktop};

/// The first output, and the second, which lies to its right at first.
const FIRST: &str = "HEADLESS-1";
const SECOND: &str = "HEADLESS-2";
/// The second output's mode.
const SECOND_MODE: &str = "800x600@60";

fn begin(name: &str, programs: &[(&str, &str)], configuration: &str) -> Option<ThirdPartySession> {
    let are_there = programs.iter().all(|(program, package)| installed(program, package));
    are_there.then(|| ThirdPartySession::start_configured(name, OUTPUT, configuration))
}

fn list(session: &ThirdPartySession, kind: &str) -> Vec<Value> {
    let answer: Value = serde_json::from_str(&session.message(&[kind])).unwrap();
    answer[kind].as_array().unwrap().clone()
}

/// Name, mode, area, scale and transform of all outputs.
fn outputs(session: &ThirdPartySession) -> Vec<Value> {
    let kept = |output: Value| ["name", "mode", "geometry", "scale", "transform"].map(|key| output[key].clone());
    let mut outputs: Vec<Value> = list(session, "outputs").into_iter().map(|output| json!(kept(output))).collect();
    outputs.sort_by_key(ToString::to_string);
    outputs
}

/// The output that the only window lies on, and its area.
fn window(session: &ThirdPartySession) -> Option<(String, Value)> {
    let area = list(session, "windows").pop()?["geometry"].clone();
    let edge = |area: &Value, side: &str| area[side].as_i64().unwrap();
    let is_within = |outer: &Value| {
        let axis = |place: &str, size: &str| {
            let (start, end) = (edge(outer, place), edge(outer, place) + edge(outer, size));
            edge(&area, place) >= start && edge(&area, place) + edge(&area, size) <= end
        };
        axis("x", "width") && axis("y", "height")
    };
    let home = outputs(session).into_iter().find(|output| is_within(&output[2]))?;
    Some((home[0].as_str()?.to_owned(), area))
}

/// Opens a terminal with the pointer at (`x`, 100); returns its output and its area.
fn open(session: &mut ThirdPartySession, x: &str) -> (String, Value) {
    session.message(&["input", "move", x, "100"]);
    session.spawn(&["foot", "-o", "initial-window-size-pixels=200x150", "cat"]);
    session.wait("a window", || window(session))
}

#[test]
fn wlr_randr_off_and_on_restores_outputs_and_windows() {
    let programs = [("wlr-randr", "wlr-randr"), ("foot", "foot")];
    let Some(mut session) = begin("wlr-randr-returns", &programs, "") else { return };
    session.message(&["output", "add", SECOND_MODE]);
    let second = ["wlr-randr", "--output", SECOND];
    session.run(&[&second[..], &["--scale", "2", "--transform", "90"]].concat());
    let opened = open(&mut session, "1100");
    assert_eq!(opened.0, SECOND);
    let before = outputs(&session);
    let area = json!({"x": OUTPUT.0, "y": 0, "width": 300, "height": 400});
    assert_eq!(before[1], json!([SECOND, "800x600@60", area, 2.0, "90"]));
    for name in [SECOND, FIRST] {
        let output = ["wlr-randr", "--output", name];
        session.run(&[&output[..], &["--off"]].concat());
        assert_eq!(outputs(&session).len(), 1);
        session.wait("the window on the other output", || window(&session).filter(|(output, _)| output != name));
        session.run(&[&output[..], &["--on"]].concat());
        assert_eq!(outputs(&session), before, "{name} is as it was");
        session.wait("the window in its place", || (window(&session)? == opened).then_some(()));
    }
    session.assert_all_running();
    session.end();
}

#[test]
fn outputs_follow_when_wlr_randr_changes_another() {
    let Some(session) = begin("wlr-randr-follows", &[("wlr-randr", "wlr-randr")], "") else { return };
    session.message(&["output", "add", SECOND_MODE]);
    let corner = |session: &ThirdPartySession| {
        let area = outputs(session)[1][2].clone();
        json!([area["x"], area["y"]])
    };
    let arrange = |output: &str, options: &[&str]| {
        session.run(&[&["wlr-randr", "--output", output][..], options].concat());
        corner(&session)
    };
    assert_eq!(arrange(FIRST, &["--scale", "2"]), json!([OUTPUT.0 / 2, 0]));
    assert_eq!(arrange(FIRST, &["--transform", "90"]), json!([OUTPUT.1 / 2, 0]));
    assert_eq!(arrange(FIRST, &["--scale", "1", "--transform", "normal"]), json!([OUTPUT.0, 0]));
    let place = format!("{},50", OUTPUT.0);
    assert_eq!(arrange(SECOND, &["--pos", &place]), json!([OUTPUT.0, 50]));
    assert_eq!(arrange(FIRST, &["--scale", "2"]), json!([OUTPUT.0, 50]), "the user has placed it");
    session.end();
}

#[test]
fn reload_counts_for_an_output_that_wlr_randr_has_disabled() {
    let Some(session) = begin("wlr-randr-reload", &[("wlr-randr", "wlr-randr")], "") else { return };
    session.message(&["output", "add", SECOND_MODE]);
    session.run(&["wlr-randr", "--output", SECOND, "--off"]);
    session
        .configure(&format!("[[output]]\nname = '{SECOND}'\nmode = '640x480@75'\nposition = [-320, 0]\nscale = 2\n"));
    session.message(&["reload"]);
    session.run(&["wlr-randr", "--output", SECOND, "--on"]);
    let area = json!({"x": -320, "y": 0, "width": 320, "height": 240});
    assert_eq!(outputs(&session)[1], json!([SECOND, "640x480@75", area, 2.0, "normal"]));
    session.end();
}

#[test]
fn wlr_randr_switches_adaptive_sync() {
    let Some(session) = begin("wlr-randr-vrr", &[("wlr-randr", "wlr-randr")], "") else { return };
    if !session.run(&["sh", "-c", "wlr-randr --help 2>&1; true"]).contains("adaptive-sync") {
        eprintln!("skipped: this wlr-randr has no --adaptive-sync");
        return session.end();
    }
    for (state, mode) in [("enabled", "1024x768@48-60"), ("disabled", "1024x768@60")] {
        session.run(&["wlr-randr", "--output", FIRST, "--adaptive-sync", state]);
        session.wait("the rate", || (list(&session, "outputs")[0]["mode"] == mode).then_some(()));
    }
    session.end();
}

#[test]
fn kanshi_switches_profiles_when_an_output_comes_and_goes() {
    let programs = [("kanshi", "kanshi"), ("foot", "foot")];
    let Some(mut session) = begin("kanshi-profiles", &programs, "") else { return };
    let profiles = format!(
        "profile alone {{\n output {FIRST} enable position 0,0 scale 1 transform normal\n}}\n\
         profile docked {{\n output {FIRST} disable\n output {SECOND} enable position 0,0 scale 2 transform 270\n}}\n"
    );
    let config = desktop::write(&session, "kanshi", &profiles);
    session.spawn(&["kanshi", "--config", &config]);
    let opened = open(&mut session, "100");
    let before = outputs(&session);
    for _ in 0..2 {
        session.message(&["output", "add", SECOND_MODE, "--connector", SECOND]);
        let area = json!({"x": 0, "y": 0, "width": 300, "height": 400});
        let docked = [json!([SECOND, "800x600@60", area, 2.0, "270"])];
        session.wait("the docked profile", || (outputs(&session) == docked).then_some(()));
        session.wait("the window on the other output", || window(&session).filter(|(output, _)| output == SECOND));
        session.message(&["output", "remove", SECOND]);
        session.wait("the profile without a dock", || (outputs(&session) == before).then_some(()));
        session.wait("the window in its place", || (window(&session)? == opened).then_some(()));
    }
    session.assert_all_running();
    session.end();
}

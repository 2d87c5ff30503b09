//! The configuration at the start of a session, and its reload at run time.

use rustix::process::Signal;
use upbeat_record::ipc::message::{Request, Response};
use upbeat_timing::pacing::PacingWish;

use crate::session::{TestSession, run, upbeat, wait};

const FIRST: &str = r##"
background = "#ff0000"
[[output]]
name = "HEADLESS-1"
mode = "640x480@75"
pacing = "vsync-late"
[[output]]
name = "HEADLESS-2"
position = [640, 100]
scale = 2.0
mode = "800x600"
[[app]]
app-id = "idle"
pacing = "vsync"
"##;

fn corner(session: &mut TestSession) -> u32 {
    // Take the last pixel, because the pointer is at the first.
    session.picture(Some("HEADLESS-1")).2.pop().unwrap()
}

fn start() -> (TestSession, std::path::PathBuf) {
    let directory = tempfile::tempdir().unwrap();
    let path = directory.path().join("config.toml");
    std::fs::write(&path, FIRST).unwrap();
    let session = TestSession::start_in(directory, &["--config", path.to_str().unwrap()]);
    (session, path)
}

#[test]
fn configuration_applies_from_the_start() {
    let (mut session, _) = start();
    let Response::Outputs { outputs, .. } = session.ask(Request::Outputs) else { panic!() };
    let told: Vec<_> = outputs.iter().map(|o| (o.mode.to_string(), o.geometry.x, o.geometry.y, o.wish)).collect();
    let first = ("640x480@75".to_owned(), 0, 0, PacingWish::VsyncLate);
    assert_eq!(told, [first, ("800x600@60".to_owned(), 640, 100, PacingWish::Auto)]);
    assert_eq!((outputs[1].scale, outputs[1].geometry.width), (2.0, 400));
    wait("the colour", || (corner(&mut session) == 0xff_00_00).then_some(()));
    let _programs = [session.shown("idle"), session.shown("draw")];
    assert_eq!(session.window("idle").wish, PacingWish::Vsync, "the rule for the application applies");
    assert_eq!(session.window("draw").wish, PacingWish::VsyncLate, "the rule for the output applies");
}

#[test]
fn reload_applies_changes_and_an_invalid_file_changes_nothing() {
    let (mut session, path) = start();
    let _program = session.shown("draw");
    std::fs::write(&path, FIRST.replace("#ff0000", "#0000ff").replace("\"vsync-late\"", "\"just-in-time\"")).unwrap();
    assert!(session.msg(&["reload"]).status.success());
    wait("the colour", || (corner(&mut session) == 0x00_00_ff).then_some(()));
    wait("the pacing", || (session.window("draw").wish == PacingWish::JustInTime).then_some(()));

    std::fs::write(&path, FIRST.replace("pacing = \"vsync-late\"", "pacing = \"fast\"")).unwrap();
    let sentence = session.refused(Request::Reload);
    assert!(sentence.contains("config.toml:6:") && sentence.contains("`fast`"), "{sentence}");
    assert_eq!(corner(&mut session), 0x00_00_ff);
    assert_eq!(session.window("draw").wish, PacingWish::JustInTime);

    std::fs::write(&path, FIRST.replace("#ff0000", "#00ff00")).unwrap();
    session.signal(Signal::HUP);
    wait("the colour", || (corner(&mut session) == 0x00_ff_00).then_some(()));
}

#[test]
fn missing_keymap_is_reported() {
    let (mut session, path) = start();
    std::fs::write(&path, format!("{FIRST}\n[keyboard]\nlayout = \"nowhere\"\n")).unwrap();
    let sentence = session.refused(Request::Reload);
    assert!(sentence.contains("[keyboard]") && sentence.contains("nowhere"), "{sentence}");
    std::fs::write(&path, format!("{FIRST}\n[keyboard]\nlayout = \"de\"\n")).unwrap();
    session.ask(Request::Reload);
}

#[test]
fn missing_configuration_prevents_the_start_and_an_invalid_one_does_not() {
    let missing = run(&["--config", "/no/such/config.toml", "--", "true"]);
    assert_eq!(missing.status.code(), Some(1));
    let text = String::from_utf8(missing.stderr).unwrap();
    assert!(text.contains("/no/such/config.toml: No such file"), "{text}");
    let directory = tempfile::tempdir().unwrap();
    std::fs::create_dir(directory.path().join("upbeat")).unwrap();
    std::fs::write(directory.path().join("upbeat/config.toml"), "pacng = \"auto\"").unwrap();
    let wrong = upbeat(directory.path(), &["--renderer", "pixman", "--", "true"]).output().unwrap();
    assert!(wrong.status.success(), "the session starts and runs its command");
    let text = String::from_utf8(wrong.stderr).unwrap();
    assert!(text.contains("config.toml:1:1") && text.contains("did you mean `pacing`?"), "{text}");
}

#[test]
fn a_first_start_says_where_it_is_and_writes_a_file_to_start_from_once() {
    let directory = tempfile::tempdir().unwrap();
    let start = || {
        let output = upbeat(directory.path(), &["--renderer", "pixman", "--", "true"]).output().unwrap();
        assert!(output.status.success());
        String::from_utf8(output.stderr).unwrap()
    };
    let (first, second) = (start(), start());
    let line = first.lines().next().unwrap();
    assert!(line.contains("runs as wayland-1, on a virtual display: there is neither"), "{line}");
    assert!(line.contains("drawn by"), "{line}");
    let file = directory.path().join("upbeat/config.toml");
    assert!(first.contains(&format!("wrote {}", file.display())) && !second.contains("wrote"), "{first}{second}");
    assert!(std::fs::read_to_string(file).unwrap().contains("#pacing = \"auto\""));
}

#[test]
fn saved_configuration_is_reloaded_automatically() {
    let (mut session, path) = start();
    std::fs::write(&path, FIRST.replace("#ff0000", "#0000ff")).unwrap();
    wait("the colour", || (corner(&mut session) == 0x00_00_ff).then_some(()));
}

#[test]
fn startup_programs_get_their_environment_and_missing_programs_are_named() {
    let directory = tempfile::tempdir().unwrap();
    let (path, mark) = (directory.path().join("config.toml"), directory.path().join("mark"));
    let line = format!("printf %s \\\"$MARK on $WAYLAND_DISPLAY\\\" > {0}.new; mv {0}.new {0}", mark.display());
    let text = format!("autostart = [\"{line}\", \"no-such-program here\"]\n[environment]\nMARK = \"so\"\n");
    std::fs::write(&path, text).unwrap();
    let log = std::fs::File::create(directory.path().join("log")).unwrap();
    let mut command = upbeat(directory.path(), &["--renderer", "pixman", "--socket", "test", "--config"]);
    let mut session = command.arg(&path).args(["--", "sleep", "1000"]).stderr(log).spawn().unwrap();
    wait("the started program", || mark.exists().then_some(()));
    assert_eq!(std::fs::read_to_string(&mark).unwrap(), "so on test");
    let told = "autostart: `no-such-program here`: no-such-program is not installed";
    wait("the log", || std::fs::read_to_string(directory.path().join("log")).unwrap().contains(told).then_some(()));
    rustix::process::kill_process(rustix::process::Pid::from_child(&session), Signal::TERM).unwrap();
    session.wait().unwrap();
}

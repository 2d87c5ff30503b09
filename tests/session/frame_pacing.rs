//! `examples/c/ahead`, built from the protocol's XML with the system's tools, and `examples/python/ahead.py`, which
//! reads the XML when it runs. Both programs know nothing of Upbeat but the XML.

use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use tempfile::TempDir;
use upbeat_timing::pacing::Pacing;

use super::session::{TestSession, wait};

pub const FRAMES: u32 = 90;

/// Builds the C examples and returns the path of `name`; `None` if tools are missing (`./up test` installs them).
pub fn build(directory: &TempDir, name: &str) -> Option<PathBuf> {
    let has = |program: &str, argument: &str| {
        Command::new(program).arg(argument).stdout(Stdio::null()).stderr(Stdio::null()).status().is_ok()
    };
    let protocols = Command::new("pkg-config").args(["--exists", "wayland-protocols", "wayland-client"]).status();
    if !has("cc", "--version") || !has("wayland-scanner", "--version") || !has("make", "--version") {
        return None;
    }
    if !protocols.is_ok_and(|status| status.success()) {
        return None;
    }
    let built = Command::new("make")
        .args(["-C", concat!(env!("CARGO_MANIFEST_DIR"), "/examples/c")])
        .arg(format!("OUT={}", directory.path().display()))
        .env("CFLAGS", "-O2 -Wall -Wextra -Werror")
        .stdout(Stdio::null())
        .status()
        .unwrap();
    assert!(built.success(), "examples/c does not build");
    Some(directory.path().join(name))
}

/// Runs `program` until it ends; returns its output.
fn play(session: &mut TestSession, program: &Path, app_id: &str) -> String {
    let process = Command::new(program)
        .arg(FRAMES.to_string())
        .env("XDG_RUNTIME_DIR", session.directory.path())
        .env("WAYLAND_DISPLAY", "test")
        .stdin(Stdio::null())
        .stdout(Stdio::piped())
        .stderr(Stdio::null())
        .spawn()
        .unwrap();
    let is_ahead =
        |window: &upbeat_record::ipc::message::WindowInfo| window.app_id == app_id && window.pacing == Pacing::Ahead;
    let window = wait("its window, drawn ahead", || session.windows().into_iter().find(is_ahead));
    assert_eq!(window.reason, "the client asked for it");
    let output = process.wait_with_output().unwrap();
    let said = String::from_utf8(output.stdout).unwrap();
    assert!(output.status.success(), "{said}");
    said
}

/// Counts of a run of [`FRAMES`] frames.
pub struct AheadClientCounts {
    /// Frames that were presented.
    pub shown: u32,
    /// Frames that were presented at their target refresh.
    pub on_time: u32,
}

/// Runs the C client; `None` if it cannot be built.
pub fn c_client() -> Option<AheadClientCounts> {
    let directory = tempfile::tempdir().unwrap();
    let Some(program) = build(&directory, "ahead") else {
        eprintln!("skipped: cc, make, wayland-scanner and wayland-protocols are needed");
        return None;
    };
    let log = directory.path().join("frames.jsonl");
    let mut session = TestSession::start(&["--output", "640x480", "--frame-log", log.to_str().unwrap()]);
    let said = play(&mut session, &program, "upbeat-ahead");
    // "90 frames: 88 shown, 80 of them at their refresh, 2 discarded"
    let numbers: Vec<u32> = said.split_whitespace().filter_map(|word| word.parse().ok()).collect();
    let [frames, shown, on_time, discarded] = numbers[..] else { panic!("{said}") };
    assert_eq!((frames, shown + discarded), (FRAMES, FRAMES), "{said}");
    wait("the log", || std::fs::read_to_string(&log).ok()?.contains("\"pacing\":\"ahead\"").then_some(()));
    Some(AheadClientCounts { shown, on_time })
}

/// Runs the Python client; `None` if a Python module that it needs is missing.
pub fn python_client() -> Option<AheadClientCounts> {
    let program = Path::new(env!("CARGO_MANIFEST_DIR")).join("examples/python/ahead.py");
    let has_python = Command::new("python3").arg("--version").stdout(Stdio::null()).status().is_ok();
    let xml = ["/usr/share/wayland/wayland.xml", "/usr/share/wayland-protocols/stable/xdg-shell/xdg-shell.xml"];
    if !has_python || xml.iter().any(|path| !Path::new(path).exists()) {
        eprintln!("skipped: python3, libwayland-dev and wayland-protocols are needed");
        return None;
    }
    let mut session = TestSession::start(&["--output", "640x480"]);
    let said = play(&mut session, &program, "upbeat-ahead-python");
    // "90 frames: 88 shown, 80 of them at their refresh, 2 discarded, 2 of them cancelled"
    let numbers: Vec<u32> = said.split_whitespace().filter_map(|word| word.parse().ok()).collect();
    let [frames, shown, on_time, discarded, cancelled] = numbers[..] else { panic!("{said}") };
    assert_eq!((frames, shown + discarded), (FRAMES, FRAMES), "{said}");
    assert!(cancelled <= discarded && cancelled <= 3, "only frames that waited at the turn are cancelled: {said}");
    Some(AheadClientCounts { shown, on_time })
}

#[test]
fn each_frame_of_a_c_client_that_draws_ahead_is_shown_or_discarded() {
    let Some(AheadClientCounts { shown, on_time }) = c_client() else { return };
    assert!(shown > 0 && on_time <= shown, "{shown} shown, {on_time} on time");
}

#[test]
fn client_written_from_the_xml_draws_ahead_and_cancels_frames() {
    let Some(AheadClientCounts { shown, on_time }) = python_client() else { return };
    assert!(shown > 0 && on_time <= shown, "{shown} shown, {on_time} on time");
}

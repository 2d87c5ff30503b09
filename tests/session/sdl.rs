//! `examples/sdl`: an ordinary SDL 2 program, without and with the patch that the book shows. The patch applies, and
//! the frames of the patched program are drawn ahead.

use std::path::Path;
use std::process::{Command, Stdio};

use super::session::TestSession;

pub const FRAMES: u32 = 90;

/// Builds both programs; returns whether the system's tools could.
fn build(out: &Path) -> bool {
    let has = |program: &str| {
        let mut command = Command::new(program);
        command.arg("--version").stdout(Stdio::null()).stderr(Stdio::null()).status().is_ok()
    };
    let found = Command::new("pkg-config").args(["--exists", "sdl2", "wayland-client"]).status();
    if !["cc", "make", "patch", "wayland-scanner"].into_iter().all(has) || !found.is_ok_and(|status| status.success()) {
        eprintln!("skipped: cc, make, patch, wayland-scanner and libsdl2-dev are needed");
        return false;
    }
    let built = Command::new("make")
        .args(["-C", concat!(env!("CARGO_MANIFEST_DIR"), "/examples/sdl")])
        .arg(format!("OUT={}", out.display()))
        .env("CFLAGS", "-O2 -Wall -Wextra -Werror")
        .stdout(Stdio::null())
        .status()
        .unwrap();
    assert!(built.success(), "examples/sdl does not build");
    true
}

/// The output of a program in a session.
fn run(session: &TestSession, program: &Path) -> String {
    let output = Command::new(program)
        .arg(FRAMES.to_string())
        .env("XDG_RUNTIME_DIR", session.directory.path())
        .env("WAYLAND_DISPLAY", "test")
        .env("SDL_VIDEODRIVER", "wayland")
        .stdin(Stdio::null())
        .output()
        .unwrap();
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    String::from_utf8(output.stdout).unwrap()
}

/// Counts of a run with the patch, of [`FRAMES`] frames.
pub struct SdlCounts {
    /// Frames that were bound to a refresh.
    pub bound: u32,
    /// Frames that were presented.
    pub seen: u32,
    /// Lines of the frame log that report a frame late for its callback although it waits for its target.
    pub waits: usize,
}

/// Runs the program without and with the patch; `None` if it cannot be built.
pub fn counts() -> Option<SdlCounts> {
    let directory = tempfile::tempdir().unwrap();
    if !build(directory.path()) {
        return None;
    }
    let log = directory.path().join("frames.jsonl");
    let session = TestSession::start(&["--output", "640x480", "--frame-log", log.to_str().unwrap()]);
    // "90 frames in 1.6 s"
    let plain = run(&session, &directory.path().join("plain"));
    assert!(plain.starts_with(&format!("{FRAMES} frames")) && !plain.contains("bound"), "{plain}");
    // "89 bound, 85 seen, 80 of them at their refresh"
    let paced = run(&session, &directory.path().join("paced"));
    let counts = paced.lines().find(|line| line.contains("bound")).unwrap_or_else(|| panic!("{paced}"));
    let numbers: Vec<u32> = counts.split_whitespace().filter_map(|word| word.parse().ok()).collect();
    let [bound, seen, _] = numbers[..] else { panic!("{paced}") };
    let (_, _directory) = session.quit();
    let waits = std::fs::read_to_string(&log).unwrap().matches("had to be shown first").count();
    Some(SdlCounts { bound, seen, waits })
}

#[test]
fn patched_sdl_program_draws_ahead() {
    let Some(SdlCounts { bound, seen, .. }) = counts() else { return };
    assert!(bound >= FRAMES - 2 && seen > 0, "{bound} bound, {seen} seen");
}

//! `examples/c/ink`, a client that was written from the XML of `upbeat_late_latch_v1` alone: ink that it draws by itself
//! is written into the picture on screen where that is offered, and shown by frames elsewhere.

use std::process::{Command, Stdio};

use super::frame_pacing::build;
use super::session::TestSession;

/// Points that the client draws, each after the last was shown.
const POINTS: u32 = 300;

/// How the client showed its ink.
#[derive(Debug)]
struct InkCounts {
    frames: u32,
    /// Writes into the picture on screen: all, those that were seen, and those that are not known to be seen.
    writes: u32,
    seen: u32,
    unknown: u32,
}

/// Runs the client with this configuration; `None` if it cannot be built.
fn ink_client(settings: &str) -> Option<InkCounts> {
    let directory = tempfile::tempdir().unwrap();
    let Some(program) = build(&directory, "ink") else {
        eprintln!("skipped: cc, make, wayland-scanner and wayland-protocols are needed");
        return None;
    };
    let config = directory.path().join("config.toml");
    std::fs::write(&config, settings).unwrap();
    let session = TestSession::start(&["--output", "640x480", "--config", config.to_str().unwrap()]);
    let output = Command::new(program)
        .arg(POINTS.to_string())
        .env("XDG_RUNTIME_DIR", session.directory.path())
        .env("WAYLAND_DISPLAY", "test")
        .stdin(Stdio::null())
        .stderr(Stdio::inherit())
        .output()
        .unwrap();
    let said = String::from_utf8(output.stdout).unwrap();
    assert!(output.status.success(), "{said}");
    eprintln!("{said}");
    // "300 points, 27 frames, 275 writes, 250 of them seen, 25 not known to be seen"
    let numbers: Vec<u32> = said.split_whitespace().filter_map(|word| word.parse().ok()).collect();
    let [points, frames, writes, seen, unknown] = numbers[..] else { panic!("{said}") };
    assert_eq!(points, POINTS, "{said}");
    Some(InkCounts { frames, writes, seen, unknown })
}

#[test]
fn c_client_writes_ink_into_the_picture_on_screen() {
    let Some(counts) = ink_client("[late-latch]\nfollowers = true\nfront-buffers = true\n") else { return };
    // The window opens with frames.
    assert!(counts.frames > 0 && counts.writes > 0, "{counts:?}");
    assert_eq!(counts.seen + counts.unknown, counts.writes, "each write is answered: {counts:?}");
    assert!(counts.frames + counts.writes > POINTS, "each point is shown: {counts:?}");
}

#[test]
fn c_client_shows_ink_by_frames_without_a_front_buffer() {
    for settings in ["", "[late-latch]\nfollowers = true\n"] {
        let Some(counts) = ink_client(settings) else { return };
        assert_eq!((counts.writes, counts.frames), (0, POINTS + 1), "{settings}: {counts:?}");
    }
}

//! `examples/c/scroll`, a client that was written from the XML alone: the compositor scrolls, and it sleeps.

use std::process::{Command, Stdio};

use super::frame_pacing::build;
use super::session::Session;

/// Tiles that it draws.
const TILES: u32 = 8;

#[test]
fn a_c_client_is_woken_for_what_it_renders_and_for_little_else() {
    let directory = tempfile::tempdir().unwrap();
    let Some(program) = build(&directory, "scroll") else {
        eprintln!("skipped: cc, make, wayland-scanner and wayland-protocols are needed");
        return;
    };
    let config = directory.path().join("config.toml");
    std::fs::write(&config, "[scroll]\nviews = true\n").unwrap();
    let session = Session::start(&["--output", "640x480", "--config", config.to_str().unwrap()]);
    let output = Command::new(program)
        .arg(TILES.to_string())
        .env("XDG_RUNTIME_DIR", session.directory.path())
        .env("WAYLAND_DISPLAY", "test")
        .stdin(Stdio::null())
        .stderr(Stdio::inherit())
        .output()
        .unwrap();
    let said = String::from_utf8(output.stdout).unwrap();
    assert!(output.status.success(), "{said}");
    eprintln!("{said}");
    // "8 tiles drawn, woken 12 times, 2000 pixels in 1 glides"
    let numbers: Vec<u32> = said.split_whitespace().filter_map(|word| word.parse().ok()).collect();
    let [tiles, woken, way, glides] = numbers[..] else { panic!("{said}") };
    assert_eq!(tiles, TILES, "{said}");
    assert!(way == 2_000 * glides && woken <= 3 * tiles + 3 * glides, "{said}");
}

//! `examples/c/scroll`, a client that was written from the XML alone: the compositor scrolls while the client sleeps.

use std::process::{Command, Stdio};

use super::frame_pacing::build;
use super::session::TestSession;

/// Seconds for which a view moves.
pub const SECONDS: u32 = 3;
/// Tiles that the client draws.
const TILES: u32 = 18;

#[test]
fn c_client_wakes_up_to_render_and_rarely_otherwise() {
    let directory = tempfile::tempdir().unwrap();
    let Some(program) = build(&directory, "scroll") else {
        eprintln!("skipped: cc, make, wayland-scanner and wayland-protocols are needed");
        return;
    };
    let config = directory.path().join("config.toml");
    std::fs::write(&config, "[scroll]\nviews = true\n").unwrap();
    let session = TestSession::start(&["--output", "640x480", "--config", config.to_str().unwrap()]);
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
    // "18 tiles drawn, woken 33 times, 4000 pixels in 2 glides, 2000 of them across"
    let numbers: Vec<u32> = said.split_whitespace().filter_map(|word| word.parse().ok()).collect();
    let [tiles, woken, way, glides, across] = numbers[..] else { panic!("{said}") };
    assert_eq!(tiles, TILES, "{said}");
    assert!(way == 2_000 * glides && woken <= 3 * tiles + 3 * glides, "{said}");
    // Every second glide is across.
    assert!(glides >= 2 && across == 2_000 * (glides / 2), "{said}");
}

/// One run of `upbeat bench scroll` with these arguments.
fn bench(arguments: &[&str]) -> serde_json::Value {
    let folder = tempfile::tempdir().unwrap();
    let output = Command::new(env!("CARGO_BIN_EXE_upbeat"))
        .args(["bench", "scroll", "--size", "640x480", "--n", "2", "--cost", "1", "--json"])
        .args(arguments)
        .env("XDG_RUNTIME_DIR", folder.path())
        .output()
        .unwrap();
    let said = String::from_utf8_lossy(&output.stderr);
    assert!(output.status.success(), "{said}");
    eprintln!("{}", String::from_utf8_lossy(&output.stdout));
    serde_json::from_slice(&output.stdout).unwrap()
}

/// Runs of a view that moves at 1000 px/s for [`SECONDS`], down, up, to the right and to the left.
pub fn moving_views() -> Vec<serde_json::Value> {
    let seconds = SECONDS.to_string();
    let arguments = ["--input=1000,-1000", "--mode", "view", "--seconds", &seconds, "--record"];
    let reports = [bench(&arguments), bench(&[&arguments[..], &["--across"]].concat())];
    reports.iter().flat_map(|report| report["runs"].as_array().unwrap().clone()).collect()
}

#[test]
fn a_moving_view_is_rendered_and_never_seen_blank() {
    for run in moving_views() {
        let number = |key: &str| run[key].as_f64().unwrap_or_else(|| panic!("{key}: {run}"));
        assert!(number("renders") > 0.0 && number("pictures") > 0.0, "{run}");
        assert_eq!(run["blank_rows"], 0, "{run}");
        assert!(number("position_error_px") >= 0.0, "{run}");
    }
}

#[test]
fn every_scroll_mode_reports_all_figures() {
    let recording = concat!("touch=", env!("CARGO_MANIFEST_DIR"), "/tests/data/input/touch_ep0430_scroll2.csv");
    let report = bench(&["--input", recording, "--input", "wheel", "--seconds", "1", "--record"]);
    let runs = report["runs"].as_array().unwrap();
    let modes: Vec<&str> = runs.iter().map(|run| run["mode"].as_str().unwrap()).collect();
    assert_eq!(modes, ["view", "viewport", "frames", "view", "viewport", "frames"]);
    for run in runs {
        for key in [
            "n",
            "client_fps",
            "commits_per_s",
            "stalls",
            "drops_per_s",
            "client_wakeups_per_frame",
            "client_cpu_ms_per_screen",
            "compositor_cpu_ms_per_screen",
            "buffer_megabytes",
            "ahead_megabytes",
            "behind_megabytes",
            "spare_megabytes",
            "first_screen_ms",
            "composed_part",
        ] {
            assert!(run[key].is_number(), "{key}: {run}");
        }
        assert_is_moved(run);
        let rendered_ahead = ["extended_render_ms", "extended_render_screens", "extended_render_refreshes"];
        assert!(rendered_ahead.iter().all(|key| run[key].is_number() != (run["mode"] == "frames")), "{run}");
        let ahead = run["ahead_megabytes"].as_f64().unwrap();
        assert_eq!(ahead > 0.0, run["mode"] != "frames", "{run}");
    }
    // Eight wheel steps of 50 pixels in a window of 480 pixels.
    for run in &runs[3..] {
        let screens = run["screens"].as_f64().unwrap();
        assert!((screens - 400.0 / 480.0).abs() < 0.01, "{run}");
    }
}

/// Asserts that the recording shows motion, and that the client made the commits for it.
fn assert_is_moved(run: &serde_json::Value) {
    let number = |key: &str| run[key].as_f64().unwrap_or_else(|| panic!("{key}: {run}"));
    assert!(!run["moving"].as_array().unwrap().is_empty(), "{run}");
    assert!(number("pictures") > 1.0, "{run}");
    assert!(number("screens") > 0.1, "{run}");
    match run["mode"].as_str().unwrap() {
        // It commits only when it renders, because the buffer already on screen may last.
        "view" => assert_eq!(run["commits_per_s"], run["client_fps"], "{run}"),
        _ => assert!(number("commits_per_s") > 0.0, "{run}"),
    }
}

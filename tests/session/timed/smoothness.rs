//! Frames drawn ahead: few are discarded, each represents its own display time, and none falls behind for good.

use std::process::Command;

use crate::smoothness::runs;
use crate::timed_figure::Noise;

/// Frames, of 120 in total.
const MOST_DISCARDED: u64 = 12;
const LARGEST_ERROR_MS: f64 = 1.0;
/// A stall delays frames for as long as it lasts; frames after it are not late.
const LARGEST_LATENCY_MS: f64 = 50.0;

#[test]
#[ignore = "timed: ./up measure"]
fn half_of_the_frames_and_more_represent_their_own_display_time() {
    let noise = Noise::begin();
    let runs = runs();
    let discarded: Vec<u64> = runs.iter().map(|run| run["discarded"].as_u64().unwrap()).collect();
    let error = runs[1]["content_error_ms"]["p50"].as_f64().unwrap();
    let keeps = discarded.iter().all(|count| *count < MOST_DISCARDED) && error < LARGEST_ERROR_MS;
    noise.judge(keeps, format_args!("discarded {discarded:?} of 120; content error {error:.2} ms at p50"));
}

/// Targets are revoked again and again on a display that is faster than the frame costs allow. Drawing further ahead
/// must not accumulate delay, as happens when every target that is sent anew begins a frame.
#[test]
#[ignore = "timed: ./up measure"]
fn drawing_further_ahead_does_not_drift() {
    let noise = Noise::begin();
    let folder = tempfile::tempdir().unwrap();
    let game = ["bench", "game", "--load", "A", "--buffers", "4", "--run-ahead", "2", "--refresh", "240"];
    let output = Command::new(env!("CARGO_BIN_EXE_upbeat"))
        .args(["--output", "640x480@240", "--", env!("CARGO_BIN_EXE_upbeat")])
        .args(game)
        .args(["--frames", "1500"])
        .env("XDG_RUNTIME_DIR", folder.path())
        .output()
        .unwrap();
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    let run: serde_json::Value = serde_json::from_slice(&output.stdout).unwrap();
    let latency = run["latency_ms"]["p50"].as_f64().unwrap();
    noise.judge(latency < LARGEST_LATENCY_MS, format_args!("latency of frames drawn ahead: {latency:.1} ms at p50"));
}

//! `upbeat bench smoothness`: the shape of what it prints, and that every frame is shown for what it is.

use std::process::Command;

#[test]
fn the_bench_shows_every_frame_of_both_policies_beside_the_simulator() {
    let folder = tempfile::tempdir().unwrap();
    let output = Command::new(env!("CARGO_BIN_EXE_upbeat"))
        .args(["bench", "smoothness", "--frames", "120", "--buffers", "5", "--run-ahead", "2", "--json"])
        .env("XDG_RUNTIME_DIR", folder.path())
        .output()
        .unwrap();
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    let report: serde_json::Value = serde_json::from_slice(&output.stdout).unwrap();
    let runs = report["runs"].as_array().unwrap();
    let policies: Vec<&str> = runs.iter().map(|run| run["policy"].as_str().unwrap()).collect();
    assert_eq!(policies, ["vsync-3", "ahead-5", "ahead-4+run-ahead-2"]);
    for run in runs {
        // On a busy machine one may be so late that it gives way to the next.
        let count = |name: &str| run[name].as_u64().unwrap();
        assert_eq!(count("frames") + count("discarded"), 120, "{run}");
        assert!(count("discarded") < 12, "{run}");
        assert!(run["drop_reduction"].is_number() && run["simulated_drop_reduction"].is_number());
    }
    // Half of the frames and more are on time however busy the machine is: each represents its own display time.
    assert!(runs[1]["content_error_ms"]["p50"].as_f64().unwrap() < 1.0, "{}", runs[1]);
}

/// Frames whose targets are revoked again and again on a display that is faster than the costs allow: what is drawn
/// further ahead must not fall behind for good, as it does when every target that is sent anew begins a frame.
#[test]
fn drawing_further_ahead_does_not_drift() {
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
    // A stall of a busy machine is as long as it is, but what follows it is not late.
    assert!(run["latency_ms"]["p50"].as_f64().unwrap() < 50.0, "{run}");
}

#[test]
fn a_load_that_does_not_exist_is_named() {
    let output = Command::new(env!("CARGO_BIN_EXE_upbeat"))
        .args(["bench", "smoothness", "--load", "Z", "--frames", "10"])
        .output()
        .unwrap();
    assert!(!output.status.success());
    let said = String::from_utf8_lossy(&output.stderr);
    assert!(said.contains("no load `Z`"), "{said}");
}

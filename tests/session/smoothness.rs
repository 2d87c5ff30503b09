//! `upbeat bench smoothness`: the shape of its output. `timed/smoothness.rs` judges the figures.

use std::process::Command;

const FRAMES: u64 = 120;

/// The runs of the bench, one for each policy.
pub fn runs() -> Vec<serde_json::Value> {
    let folder = tempfile::tempdir().unwrap();
    let output = Command::new(env!("CARGO_BIN_EXE_upbeat"))
        .args(["bench", "smoothness", "--buffers", "5", "--run-ahead", "2", "--json"])
        .args(["--frames", &FRAMES.to_string()])
        .env("XDG_RUNTIME_DIR", folder.path())
        .output()
        .unwrap();
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    let report: serde_json::Value = serde_json::from_slice(&output.stdout).unwrap();
    report["runs"].as_array().unwrap().clone()
}

#[test]
fn every_frame_of_every_policy_is_shown_or_counted_as_discarded() {
    let runs = runs();
    let policies: Vec<&str> = runs.iter().map(|run| run["policy"].as_str().unwrap()).collect();
    assert_eq!(policies, ["vsync-3", "ahead-5", "ahead-4+run-ahead-2"]);
    for run in runs {
        // A late frame may be superseded by the next frame, and a busy host makes frames late.
        let count = |name: &str| run[name].as_u64().unwrap();
        assert_eq!(count("frames") + count("discarded"), FRAMES, "{run}");
        assert!(run["drop_reduction"].is_number() && run["simulated_drop_reduction"].is_number());
        assert!(run["content_error_ms"]["p50"].is_number(), "{run}");
    }
}

#[test]
fn missing_load_is_named_in_the_error() {
    let output = Command::new(env!("CARGO_BIN_EXE_upbeat"))
        .args(["bench", "smoothness", "--load", "Z", "--frames", "10"])
        .output()
        .unwrap();
    assert!(!output.status.success());
    let said = String::from_utf8_lossy(&output.stderr);
    assert!(said.contains("no load `Z`"), "{said}");
}

//! `upbeat bench interrupt`: the shape of its output. `timed/interrupt.rs` judges the figures.

use std::process::Command;

/// Runs of the bench, one for each policy in `arguments`.
pub fn runs(arguments: &[&str]) -> Vec<serde_json::Value> {
    let folder = tempfile::tempdir().unwrap();
    let output = Command::new(env!("CARGO_BIN_EXE_upbeat"))
        .args(["bench", "interrupt", "--presses", "4", "--json"])
        .args(arguments)
        .env("XDG_RUNTIME_DIR", folder.path())
        .env("TMPDIR", folder.path())
        .output()
        .unwrap();
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    let report: serde_json::Value = serde_json::from_slice(&output.stdout).unwrap();
    let runs = report["runs"].as_array().unwrap().clone();
    for run in &runs {
        assert_eq!(run["presses"], 4, "{run}");
        assert!(run["input_to_light_ms"]["max"].is_number() && run["p50_more_ms"].is_number(), "{run}");
        assert!(run["stale_per_press"].is_number() && run["drops_per_press"].is_number(), "{run}");
    }
    runs
}

#[test]
fn each_policy_has_a_run_in_which_every_press_is_presented() {
    let runs = runs(&["--answer", "superseded,queued"]);
    let policies: Vec<_> = runs.iter().map(|run| run["policy"].as_str().unwrap()).collect();
    assert_eq!(policies, ["superseded", "queued"]);
}

#[test]
fn key_and_touch_end_the_overview() {
    for press in ["key", "touch"] {
        let runs = runs(&["--own", "--press", press, "--answer", "superseded", "--size", "640x480"]);
        assert_eq!(runs[0]["press"], press, "{runs:?}");
    }
}

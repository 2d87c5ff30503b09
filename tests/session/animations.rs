//! `upbeat bench animations`: the shape of its output, and the differences between its runs.

use std::process::Command;

/// The runs without and with frames rendered ahead.
pub fn runs() -> [serde_json::Value; 2] {
    let folder = tempfile::tempdir().unwrap();
    let output = Command::new(env!("CARGO_BIN_EXE_upbeat"))
        .args(["bench", "animations", "--renderer", "pixman", "--blur", "0", "--output", "640x480@60"])
        .args(["--rounds", "1", "--pause", "600", "--json"])
        .env("XDG_RUNTIME_DIR", folder.path())
        .env("TMPDIR", folder.path())
        .output()
        .unwrap();
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    let report: serde_json::Value = serde_json::from_slice(&output.stdout).unwrap();
    report["runs"].as_array().unwrap().clone().try_into().unwrap()
}

#[test]
fn bench_prints_runs_with_and_without_rendering_ahead() {
    let [without, with] = runs();
    for run in [&without, &with] {
        assert!(run["frames"].as_u64().unwrap() > 0, "{run}");
        assert!(run["compositor_cpu_ms_per_frame"].as_f64().unwrap() > 0.0, "{run}");
        assert!(run["drops"].is_number() && run["compose_ms"]["p99"].is_number(), "{run}");
    }
    assert_eq!((&without["frames_ahead"], &without["rendered_ahead"]), (&0.into(), &0.into()));
    assert!(with["frames_ahead"].as_u64().unwrap() > 0, "{with}");
}

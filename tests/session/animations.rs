//! `upbeat bench animations`: what it prints, and that its runs differ in what they say they differ in.

use std::process::Command;

#[test]
fn the_bench_counts_frames_of_our_own_animations_with_and_without_rendering_ahead() {
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
    let runs = report["runs"].as_array().unwrap();
    let [without, with] = &runs[..] else { panic!("{report}") };
    for run in runs {
        // Four motions, each of a few frames at least however busy the machine is.
        assert!(run["frames"].as_u64().unwrap() >= 12, "{run}");
        assert!(run["compositor_cpu_ms_per_frame"].as_f64().unwrap() > 0.0, "{run}");
        assert!(run["drops"].is_number() && run["compose_ms"]["p99"].is_number(), "{run}");
    }
    assert_eq!((&without["frames_ahead"], &without["rendered_ahead"]), (&0.into(), &0.into()));
    assert!(with["rendered_ahead"].as_u64().unwrap() > 0, "{with}");
}

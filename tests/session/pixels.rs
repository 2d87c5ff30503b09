//! Compares reported presentation times with the recorded pixels.

use upbeat_bench::report::BenchReport;

use crate::session::run;

#[test]
fn recorded_pixels_agree_with_presentation_times() {
    let options = "--pacing auto --load flat --windows 1 --output 640x480@60 --duration 0.5 --verify 2 --json";
    let arguments: Vec<&str> = ["bench", "latency"].into_iter().chain(options.split(' ')).collect();
    let output = run(&arguments);
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    let report: BenchReport = serde_json::from_slice(&output.stdout).unwrap();
    let run = &report.runs[0];
    let check = run.pixels.expect("a verifying run");
    assert_eq!(check.disagree, 0, "{check:?}");
    assert!(check.frames > check.unrecorded, "{check:?}");
    assert!(run.input_to_light_pixels_ms.is_some(), "{check:?}");
}

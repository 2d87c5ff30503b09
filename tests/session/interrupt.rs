//! `upbeat bench interrupt`: what it prints, and what can be said of it without looking at the clock.

use std::process::Command;

fn runs(arguments: &[&str]) -> Vec<serde_json::Value> {
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
    }
    runs
}

fn stale(run: &serde_json::Value) -> f64 {
    run["stale_per_press"].as_f64().unwrap()
}

#[test]
fn frames_that_wait_give_way_to_a_press_unless_nothing_can_change_the_queue() {
    let runs = runs(&["--answer", "superseded,queued"]);
    let [superseded, queued] = &runs[..] else { panic!("{runs:?}") };
    assert_eq!((&superseded["policy"], &queued["policy"]), (&"superseded".into(), &"queued".into()));
    assert!(stale(queued) >= stale(superseded) + 1.0, "{superseded}, {queued}");
}

#[test]
fn a_key_ends_our_own_overview_on_its_way() {
    ends_our_own_overview_on_its_way("key");
}

#[test]
fn a_finger_ends_our_own_overview_on_its_way() {
    ends_our_own_overview_on_its_way("touch");
}

fn ends_our_own_overview_on_its_way(press: &str) {
    let runs = runs(&["--own", "--press", press, "--answer", "superseded,queued", "--size", "640x480"]);
    let [superseded, queued] = &runs[..] else { panic!("{runs:?}") };
    assert_eq!(superseded["press"], press, "{superseded}");
    assert!(stale(queued) >= stale(superseded) + 1.0, "{superseded}, {queued}");
}

/// On a busy machine one press of four may find everything held up, whoever answers it.
const TRIES: usize = 3;

#[test]
fn with_a_slow_renderer_stale_frames_are_shown_until_a_fresh_one_can_be() {
    let drops = |run: &serde_json::Value| run["drops_per_press"].as_f64().unwrap();
    let shows_stale_ones = |runs: &[serde_json::Value]| {
        let [superseded, flushed] = runs else { panic!("{runs:?}") };
        stale(superseded) >= stale(flushed) + 1.0 && drops(superseded) < drops(flushed)
    };
    let arguments = ["--answer", "superseded,flushed", "--answer-cost", "40", "--press", "button"];
    let tried: Vec<_> =
        (0..TRIES).map_while(|_| Some(runs(&arguments)).filter(|runs| !shows_stale_ones(runs))).collect();
    assert!(tried.len() < TRIES, "{tried:?}");
}

//! `examples/game`: frames that pass through two threads keep the time that they were drawn for.

use std::process::Command;

use crate::animation::{assert_content_matches_presentation, example};

#[test]
fn frames_drawn_ahead_by_two_threads_represent_their_presentation_time() {
    assert_content_matches_presentation("game", &["--load", "A", "--buffers", "5"], 4);
}

#[test]
fn missing_trace_is_named_in_the_error() {
    let folder = tempfile::tempdir().unwrap();
    let missing = folder.path().join("trace.csv");
    let output = Command::new(example("game")).arg("--load").arg(&missing).output().unwrap();
    assert!(!output.status.success());
    let said = String::from_utf8_lossy(&output.stderr);
    assert!(said.contains("there is no load") && said.contains("trace.csv"), "{said}");
}

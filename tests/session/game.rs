//! `examples/game`: frames that pass through two threads keep the time that they were drawn for.

use std::process::Command;

use crate::animation::{example, represents_what_it_shows};

#[test]
fn frames_that_two_threads_draw_ahead_represent_the_moment_at_which_they_are_seen() {
    represents_what_it_shows("game", &["--load", "A", "--buffers", "5"], 4);
}

#[test]
fn a_trace_that_does_not_exist_is_named() {
    let folder = tempfile::tempdir().unwrap();
    let missing = folder.path().join("trace.csv");
    let output = Command::new(example("game")).arg("--load").arg(&missing).output().unwrap();
    assert!(!output.status.success());
    let said = String::from_utf8_lossy(&output.stderr);
    assert!(said.contains("there is no load") && said.contains("trace.csv"), "{said}");
}

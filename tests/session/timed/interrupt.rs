//! Frames that are stale after a key press, and are still shown.

use crate::interrupt::runs;
use crate::timed_figure::Noise;

fn stale(run: &serde_json::Value) -> f64 {
    run["stale_per_press"].as_f64().unwrap()
}

fn drops(run: &serde_json::Value) -> f64 {
    run["drops_per_press"].as_f64().unwrap()
}

/// Asserts that superseding shows at least one stale frame less for each press than a fixed queue.
fn superseding_shows_fewer(arguments: &[&str]) {
    let noise = Noise::begin();
    let runs = runs(&[&["--answer", "superseded,queued"], arguments].concat());
    let [superseded, queued] = &runs[..] else { panic!("{runs:?}") };
    let keeps = stale(queued) >= stale(superseded) + 1.0;
    let figure =
        format!("stale frames a press: {} superseded, {} queued {arguments:?}", stale(superseded), stale(queued));
    noise.judge(keeps, figure);
}

#[test]
#[ignore = "timed: ./up measure"]
fn queued_frames_are_superseded_after_a_press() {
    superseding_shows_fewer(&[]);
}

#[test]
#[ignore = "timed: ./up measure"]
fn key_ends_the_overview_at_once() {
    superseding_shows_fewer(&["--own", "--press", "key", "--size", "640x480"]);
}

#[test]
#[ignore = "timed: ./up measure"]
fn finger_ends_the_overview_at_once() {
    superseding_shows_fewer(&["--own", "--press", "touch", "--size", "640x480"]);
}

#[test]
#[ignore = "timed: ./up measure"]
fn with_a_slow_renderer_stale_frames_are_shown_until_a_fresh_one_is_ready() {
    let noise = Noise::begin();
    let runs = runs(&["--answer", "superseded,flushed", "--answer-cost", "40", "--press", "button"]);
    let [superseded, flushed] = &runs[..] else { panic!("{runs:?}") };
    let keeps = stale(superseded) >= stale(flushed) + 1.0 && drops(superseded) < drops(flushed);
    let [stale, drops] = [stale, drops].map(|figure| [superseded, flushed].map(figure));
    noise.judge(keeps, format_args!("superseded and flushed, a press: stale {stale:?}, drops {drops:?}"));
}

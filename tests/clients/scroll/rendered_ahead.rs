//! Flings that are composed: their frames are rendered ahead, and show the same as frames that are not.

use upbeat_timing::pacing::Pacing;
use upbeat_timing::record::FrameRecord;

use super::*;
use crate::fixture::scroll::ScrollViewEvent;

/// Number of refreshes that a fling is watched.
const WATCHED: i64 = 60;
/// The refresh of the fling in which it is disturbed.
const DISTURBED: i64 = 20;

/// A disturbance of a fling.
#[derive(Clone, Copy, Debug)]
enum Disturbance {
    None,
    /// Fingers on the touchpad move the other way.
    Fingers,
    /// The client stops the view.
    Stop,
    /// The client draws all its content anew.
    Renders,
}

/// The pictures and events of a fling.
#[derive(Debug, PartialEq)]
struct SeenFling {
    /// The first row of the view after each refresh.
    rows: Vec<i32>,
    /// The offset events.
    offsets: Vec<ScrollViewEvent>,
}

/// Flings a view whose content is rendered, with this many frames ahead. Returns its pictures, and how many of its
/// frames were rendered ahead.
fn fling(ahead: u8, disturbance: Disturbance) -> (SeenFling, usize) {
    let mut stage = ScrollStage::new();
    stage.world.state.outputs.set_frames_ahead(ahead);
    stage.render(0, 2_000);
    stage.rest();
    stage.view.report_offsets(1);
    stage.point();
    stage.swipe(12, 20.0, &mut |_| ());
    let mut rows = Vec::new();
    for refresh in 0..WATCHED {
        stage.run(REFRESH);
        rows.push(stage.row_at(0));
        let now = stage.world.now();
        match disturbance {
            _ if refresh != DISTURBED => {}
            Disturbance::None => {}
            Disturbance::Fingers => fingers(&mut stage.world, now, -3.0, false),
            Disturbance::Stop => stage.view.stop(),
            Disturbance::Renders => stage.render(0, 2_000),
        }
    }
    let offsets = &stage.world.client(stage.client).data.scroll_events;
    let offsets = offsets.iter().filter(|said| matches!(said, ScrollViewEvent::Offset { .. })).cloned().collect();
    let is_ahead = |record: &&FrameRecord| record.pacing == Pacing::Ahead && record.presented.is_some();
    let frames = stage.world.output(0).records().iter().filter(is_ahead).count();
    (SeenFling { rows, offsets }, frames)
}

/// Asserts that a fling shows the same with frames ahead as without.
#[track_caller]
fn assert_same_fling(disturbance: Disturbance, least: usize) {
    let (expected, none) = fling(0, disturbance);
    let (seen, ahead) = fling(3, disturbance);
    assert!(none == 0 && ahead >= least, "{ahead} frames were rendered ahead, {none} without");
    assert!(expected.offsets.len() > DISTURBED as usize, "{expected:?}");
    assert_eq!(seen, expected);
}

#[test]
fn fling_that_is_rendered_ahead_shows_the_same_offsets() {
    assert_same_fling(Disturbance::None, 40);
}

#[test]
fn fingers_that_catch_a_fling_supersede_frames_ahead() {
    assert_same_fling(Disturbance::Fingers, 15);
}

#[test]
fn client_that_stops_a_fling_supersedes_frames_ahead() {
    assert_same_fling(Disturbance::Stop, 15);
}

#[test]
fn fling_goes_on_ahead_after_its_client_rendered() {
    assert_same_fling(Disturbance::Renders, 40);
}

//! Followers at the position that their device is expected to have at their light.

use super::*;
use crate::fixture::simulated::nothing;
use upbeat::output::loop_turn;

/// The pointer moves for this long, a pixel each millisecond.
const STROKE: Span = Span::from_millis(330);
/// Until the motion is known no position is predicted.
const UNKNOWN: Span = Span::from_millis(60);
const ROW: i32 = 220;

impl FollowerStage {
    fn predict(&self) {
        self.follower.set_horizon(u32::MAX);
    }
}

/// Distances (pixels) between the follower and the pointer at the light of the follower's row; sorted.
fn distances(log: &ProbeLog, moves: &[Instant]) -> Vec<i64> {
    let known = moves[0] + UNKNOWN;
    let mut distances: Vec<i64> = std::iter::from_fn(|| log.pop())
        .filter(|sample| sample.light > known && sample.light < *moves.last().unwrap())
        .filter_map(|sample| {
            let left = sample.pixels.iter().position(|pixel| pixel & 0x00ff_ffff == RED)?;
            let true_step = (sample.light - moves[0]).as_nanos() / Span::from_millis(1).as_nanos();
            Some((i64::from(left as i32 + ANCHOR - 20) - true_step).abs())
        })
        .collect();
    distances.sort_unstable();
    distances
}

fn median_distance(stage: &mut FollowerStage) -> i64 {
    let log = stage.world.probe((CORNER.0, ROW, WINDOW.0, 1));
    let moves = move_pointer_each_millisecond(stage, ROW, STROKE);
    let distances = distances(&log, &moves);
    assert!(distances.len() >= 12, "{distances:?}");
    println!("{distances:?}");
    distances[distances.len() / 2]
}

#[test]
fn predicted_follower_is_where_the_pointer_is_at_the_light_of_its_row() {
    let held = median_distance(&mut FollowerStage::new());
    let mut stage = FollowerStage::new();
    stage.predict();
    let predicted = median_distance(&mut stage);
    assert!(held >= 4 && predicted <= 1, "{predicted} px with prediction, {held} px without");
}

#[test]
fn follower_that_is_moved_in_place_is_predicted_to_its_row() {
    let options = OutputOptions { front_buffer: true, cursor_plane: Some((64, 64)), ..OutputOptions::default() };
    let mut stage = FollowerStage::on(options);
    in_place::set_enabled(&mut stage.world.state, true);
    stage.predict();
    stage.point(CORNER.0 + 15, ROW);
    let predicted = median_distance(&mut stage);
    assert!(predicted <= 1, "{predicted} px");
    assert_eq!(stage.means().last(), Some(&Means::InPlace));
}

#[test]
fn follower_of_a_pointer_that_stops_ends_at_the_pointer_and_wakes_nobody() {
    for front_buffer in [false, true] {
        let options = OutputOptions { front_buffer, cursor_plane: Some((64, 64)), ..OutputOptions::default() };
        let mut stage = FollowerStage::on(options);
        in_place::set_enabled(&mut stage.world.state, front_buffer);
        stage.predict();
        let moves = move_pointer_each_millisecond(&mut stage, ROW, Span::from_millis(200));
        let last = CORNER.0 + 20 + moves.len() as i32 - 1;
        let shown = stage.visible_center().unwrap();
        assert!(shown.0 > last || front_buffer, "{shown:?} is ahead of {last}");
        // A device is known to rest after 20 to 40 ms; then a refresh, and the end of the one before it.
        stage.world.run_for(Span::from_millis(40) + INTERVAL * 3, &mut nothing);
        assert_eq!(stage.visible_center(), Some((last, ROW)), "{front_buffer}");
        assert_eq!(loop_turn::next_wake(&mut stage.world.state), None);
    }
}

#[test]
fn prediction_that_is_switched_off_changes_no_pixel() {
    let pictures = |switch_off: fn(&mut FollowerStage)| {
        let mut stage = FollowerStage::new();
        switch_off(&mut stage);
        let log = stage.world.probe((CORNER.0, ROW, WINDOW.0, 1));
        move_pointer_each_millisecond(&mut stage, ROW, STROKE);
        stage.world.run_until_idle();
        std::iter::from_fn(|| log.pop()).map(|sample| (sample.light, sample.pixels)).collect::<Vec<_>>()
    };
    let without = pictures(|_| {});
    let configured = pictures(|stage| {
        stage.predict();
        let mut off = Config::default();
        off.timing.predicted_input = false;
        apply_config::apply(&mut stage.world.state, Some(&Config::default()), &off).unwrap();
        late_latch::offer(&mut stage.world.state, true);
    });
    assert!(without.len() > 15 && without == configured, "{} and {} pictures", without.len(), configured.len());
    assert_ne!(without, pictures(|stage| stage.predict()), "the test sees predictions");
}

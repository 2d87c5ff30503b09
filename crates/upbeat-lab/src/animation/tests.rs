use super::*;
use crate::load::synthetic;
use proptest::prelude::*;

const INTERVAL: Span = Span::from_nanos(16_666_667);

fn load(costs: &[(i64, i64)]) -> Load {
    let frame = |(record, render): &(i64, i64)| FrameCost {
        record: Span::from_micros(*record),
        render: Span::from_micros(*render),
    };
    Load { name: "test".into(), interval: INTERVAL, animation: 0, frames: costs.iter().map(frame).collect() }
}

fn ahead(slots: u8) -> AnimationPolicy {
    AnimationPolicy::ahead(AheadSettings::buffers(slots))
}

#[test]
fn a_long_frame_is_hidden_by_the_frames_before_it() {
    let mut costs = [(4_000, 4_000); 30];
    costs[15] = (4_000, 40_000);
    let load = load(&costs);
    assert_eq!(run(&load, &AnimationPolicy::vsync(3)).drops, 2);
    assert_eq!(run(&load, &ahead(3)).drops, 1);
    assert_eq!(run(&load, &ahead(4)).drops, 0);
}

#[test]
fn stuffing_delays_vsync_by_a_refresh_but_not_the_virtualizer() {
    let mut costs = [(4_000, 4_000); 60];
    costs[10] = (4_000, 25_000);
    let load = load(&costs);
    let vsync = run(&load, &AnimationPolicy::vsync(3));
    assert_eq!(vsync.classes, [10, 49, 1]);
    assert!((vsync.latency().p50 - 50.0).abs() < 0.01, "{:?}", vsync.latency());
    let ahead = run(&load, &ahead(4));
    assert!((ahead.latency().max - 33.333).abs() < 0.01, "{:?}", ahead.latency());
}

#[test]
fn content_is_wrong_only_around_a_drop() {
    let mut costs = [(2_000, 2_000); 200];
    costs[60] = (2_000, 100_000);
    let tally = run(&load(&costs), &ahead(4));
    assert!(tally.drops > 0);
    assert!((1..=8).contains(&tally.wrong_time), "{}", tally.wrong_time);
}

/// The figures of the independent reference model, on its load A.
#[test]
fn the_load_of_the_paper_loses_as_many_drops_as_the_reference_model_says() {
    let load = synthetic::A.generate(INTERVAL, 100_000, 1);
    let vsync = run(&load, &AnimationPolicy::vsync(3));
    assert!((vsync.drop_share() - 0.0494).abs() < 0.003, "{}", vsync.drop_share());
    for (policy, expected) in [
        (ahead(4), 0.775),
        (ahead(5), 0.89),
        (ahead(7), 0.958),
        (AnimationPolicy::ahead(AheadSettings::buffers(4).with_run_ahead(2)), 0.924),
        // A late frame scans out at once; without the model's stretch by a quarter (0.89).
        (ahead(4).on_variable_refresh(), 0.856),
    ] {
        let reduction = run(&load, &policy).reduction(&vsync);
        assert!((reduction - expected).abs() < 0.02, "{policy:?}: {reduction}, expected {expected}");
    }
    let latency = 1.0 - run(&load, &ahead(4)).latency().mean / vsync.latency().mean;
    assert!((latency - 0.325).abs() < 0.01, "{latency}");
}

/// More buffers help a recorder that does not wait for the renderer, and do not help a recorder that does.
#[test]
fn more_buffers_alone_help_only_a_decoupled_recorder() {
    let load = synthetic::A.generate(INTERVAL, 100_000, 1);
    let fewer = |recorder| {
        let vsync = |slots| run(&load, &AnimationPolicy::vsync(slots).with_recorder(recorder));
        vsync(5).reduction(&vsync(3))
    };
    assert!(fewer(RecorderMode::Coupled).abs() < 0.01, "{}", fewer(RecorderMode::Coupled));
    assert!((fewer(RecorderMode::Decoupled) - 0.269).abs() < 0.03, "{}", fewer(RecorderMode::Decoupled));
}

/// Two stages of 14 ms overlap: they fit into every refresh of 16.7 ms, at a fixed and at a variable rate.
#[test]
fn a_load_that_fits_runs_at_the_full_rate() {
    let load = load(&[(14_000, 14_000); 400]);
    for policy in [ahead(4), ahead(4).on_variable_refresh(), ahead(4).with_recorder(RecorderMode::Decoupled)] {
        let tally = run(&load, &policy);
        assert!((tally.frames_per_second() - 60.0).abs() < 0.3, "{policy:?}: {}", tally.frames_per_second());
    }
}

/// A frame takes 25 ms in one stage: only 40 frames fit into a second, with any pacing.
#[test]
fn a_steady_log_of_25_ms_runs_at_40_fps() {
    let load = load(&[(10_000, 25_000); 400]);
    for policy in [AnimationPolicy::vsync(3), ahead(4), ahead(5)] {
        let tally = run(&load, &policy.with_recorder(RecorderMode::Decoupled));
        assert!((tally.frames_per_second() - 40.0).abs() < 0.3, "{policy:?}: {}", tally.frames_per_second());
        assert!((tally.drops_per_second() - 20.0).abs() < 0.3, "{policy:?}: {}", tally.drops_per_second());
    }
}

fn costs() -> impl Strategy<Value = Vec<(i64, i64)>> {
    let cost = || prop_oneof![8 => 500_i64..9_000, 1 => 9_000_i64..80_000];
    prop::collection::vec((cost(), cost()), 1..80)
}

proptest! {
    #[test]
    fn running_ahead_never_drops_more_than_vsync(costs in costs(), slots in 3_u8..8) {
        let load = load(&costs);
        let (vsync, ahead) = (run(&load, &AnimationPolicy::vsync(slots)), run(&load, &ahead(slots)));
        prop_assert!(ahead.drops <= vsync.drops, "{} > {}", ahead.drops, vsync.drops);
        prop_assert_eq!(ahead.frames, costs.len() as u64);
    }

    #[test]
    fn more_buffers_and_more_run_ahead_never_drop_more(costs in costs(), slots in 2_u8..8, more in 1_u8..4) {
        let load = load(&costs);
        let settings = AheadSettings::buffers(slots);
        let few = run(&load, &AnimationPolicy::ahead(settings));
        let many = run(&load, &AnimationPolicy::ahead(AheadSettings::buffers(slots + more)));
        let recorded = run(&load, &AnimationPolicy::ahead(settings.with_run_ahead(more)));
        prop_assert!(many.drops <= few.drops && recorded.drops <= few.drops);
    }

    #[test]
    fn the_queue_never_exceeds_its_slots(
        costs in costs(), slots in 2_u8..8, lead in 1_u8..8, run_ahead in 0_u8..5, delay in 0_u8..3
    ) {
        let settings = AheadSettings { lead, ..AheadSettings::buffers(slots) };
        let settings = settings.with_run_ahead(run_ahead).with_start_delay(delay);
        let tally = run(&load(&costs), &AnimationPolicy::ahead(settings));
        prop_assert!(tally.peak_buffers() <= usize::from(slots));
        prop_assert_eq!(tally.frames, costs.len() as u64);
    }
}

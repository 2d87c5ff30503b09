use super::*;
use upbeat_timing::estimator::{EstimatorKind, MissBudget, TwoShot};

const NATIVE: AppCost<'_> = AppCost::Lognormal(6.0, 0.25);

fn just_in_time(setup: &InteractionSetup<'_>, policy: JustInTimePolicy) -> InteractionResponse {
    run(setup, &InteractionPolicy::JustInTime(policy))
}

/// Presto 2.2: synchrony costs three half periods and three whole ones, less the offset.
#[test]
fn legacy_is_the_sum_of_the_papers_terms() {
    let setup = InteractionSetup::presto(AppCost::Lognormal(6.0, 0.01), 5_000, 1);
    let legacy = run(&setup, &InteractionPolicy::Legacy { offset: Span::from_micros(7_500), propagate: true });
    let expected = 28.0 + 3.0 * 16.667 - 7.5;
    assert!((legacy.latency.mean - expected).abs() < 0.5, "{}", legacy.latency.mean);
    assert_eq!(legacy.missed, 0.0);
}

#[test]
fn a_known_cost_leaves_buffering_cost_output_and_scan_out() {
    let setup = InteractionSetup::presto(NATIVE, 5_000, 1);
    let mean = just_in_time(&setup, JustInTimePolicy::oracle()).latency.mean;
    assert!((mean - (28.0 + 8.33 + 6.0 + 3.5 + 8.33)).abs() < 0.5, "{mean}");
    let in_place = just_in_time(&setup, JustInTimePolicy::oracle().in_place()).latency.mean;
    assert!((in_place - (28.0 + 8.33 + 6.0 + 1.0 + 0.65)).abs() < 0.7, "{in_place}");
}

#[test]
fn the_mean_needs_the_slack_of_slow_input_and_a_quantile_does_not() {
    let touch = InteractionSetup::presto(NATIVE, 20_000, 1);
    let mouse = InteractionSetup { input_interval: Span::from_micros(997), ..touch };
    let mean = JustInTimePolicy::new(EstimatorKind::Mean32, MissBudget::per_mille(10));
    assert!(just_in_time(&touch, mean).missed < 0.10);
    assert!(just_in_time(&mouse, mean).missed > 0.25);
    let regression = JustInTimePolicy::new(EstimatorKind::Regression, MissBudget::per_mille(10));
    assert!(just_in_time(&mouse, regression).missed < 0.015);
}

#[test]
fn a_second_shot_is_fresher_than_its_insurance_alone() {
    let setup = InteractionSetup::presto(NATIVE, 20_000, 1);
    let insurance = JustInTimePolicy::new(EstimatorKind::Regression, MissBudget::per_mille(10));
    let two_shot = JustInTimePolicy { two_shot: Some(TwoShot::default()), ..insurance };
    let (one, two) = (just_in_time(&setup, insurance), just_in_time(&setup, two_shot));
    assert!(two.latency.mean + 2.0 < one.latency.mean, "{} {}", two.latency.mean, one.latency.mean);
    assert!(two.missed <= one.missed + 0.001 && two.renders_per_shown < 2.0);
}

/// Twice overloaded: a frame without a free buffer is not queued, so latency stays within the number of buffers.
#[test]
fn a_legacy_queue_is_as_long_as_its_buffers() {
    let frames = [FrameCost { record: Span::from_millis(10), render: Span::from_millis(33) }; 4];
    let setup = InteractionSetup::presto(AppCost::Frames(&frames), 6_000, 1);
    for propagate in [false, true] {
        let legacy = run(&setup, &InteractionPolicy::Legacy { offset: Span::from_micros(7_500), propagate });
        assert!((legacy.frames_per_second - 30.0).abs() < 0.5, "{}", legacy.frames_per_second);
        assert!(legacy.latency.max < 28.0 + 8.0 * 16.667, "{:?}", legacy.latency);
    }
}

/// The GPU takes longer than a refresh: no frame begins without a free buffer, so that no frame waits for seconds.
#[test]
fn just_in_time_never_has_more_frames_than_buffers() {
    let frames = [FrameCost { record: Span::from_millis(4), render: Span::from_millis(18) }; 4];
    let setup = InteractionSetup::presto(AppCost::Frames(&frames), 6_000, 1);
    let plain = JustInTimePolicy::new(EstimatorKind::WindowTail, MissBudget::per_mille(10));
    let variable = JustInTimePolicy { variable: true, ..plain };
    let two_shot = JustInTimePolicy { two_shot: Some(TwoShot::default()), ..plain };
    for policy in [plain, variable, two_shot, plain.in_place(), JustInTimePolicy::oracle()] {
        let response = just_in_time(&setup, policy);
        assert!(response.latency.max < 28.0 + 10.0 * 16.667, "{policy:?}: {:?}", response.latency);
        // A late second shot takes time from the first shot of the next frame.
        assert!(response.frames_per_second > 35.0, "{policy:?}: {}", response.frames_per_second);
    }
}

/// Shared inputs do not change the results.
#[test]
fn side_by_side_each_policy_does_what_it_does_alone() {
    let cost = |frame: i64| FrameCost {
        record: Span::from_millis(2 + frame * 7 % 5),
        render: Span::from_millis(if frame % 90 == 0 { 120 } else { 3 + frame * 11 % 9 }),
    };
    let frames: Vec<FrameCost> = (0..3_000).map(cost).collect();
    let setup = InteractionSetup::presto(AppCost::Frames(&frames), 3_000, 7);
    let policies: Vec<_> = [JustInTimePolicy::oracle(), JustInTimePolicy::oracle().in_place()]
        .into_iter()
        .chain(EstimatorKind::ALL.map(|kind| JustInTimePolicy::new(kind, MissBudget::per_mille(10))))
        .map(InteractionPolicy::JustInTime)
        .chain([true, false].map(|propagate| InteractionPolicy::Legacy { offset: Span::from_millis(7), propagate }))
        .collect();
    for (policy, together) in policies.iter().zip(run_all(&setup, &policies)) {
        assert_eq!(format!("{:?}", run(&setup, policy)), format!("{together:?}"), "{policy:?}");
    }
}

/// 9 ms of CPU and 9 ms of GPU fit into a refresh, since the stages of two frames overlap.
#[test]
fn the_stages_of_two_frames_overlap() {
    let frames = [FrameCost { record: Span::from_millis(9), render: Span::from_millis(9) }; 4];
    let setup = InteractionSetup::presto(AppCost::Frames(&frames), 2_000, 1);
    let response = just_in_time(&setup, JustInTimePolicy::new(EstimatorKind::WindowTail, MissBudget::per_mille(10)));
    assert!(response.frames_per_second > 59.0, "{}", response.frames_per_second);
}

/// One frame in 150 takes four refreshes. No estimator makes frames begin so early that they wait for each other.
#[test]
fn a_rare_long_frame_does_not_make_all_others_wait() {
    let cost = |frame: i64| if frame % 150 == 149 { (12, 50) } else { (5, 9) };
    let of = |(record, render)| FrameCost { record: Span::from_millis(record), render: Span::from_millis(render) };
    let frames: Vec<FrameCost> = (0..6_000).map(|frame| of(cost(frame))).collect();
    let setup = InteractionSetup { touch: Span::ZERO, ..InteractionSetup::presto(AppCost::Frames(&frames), 6_000, 1) };
    for kind in EstimatorKind::ALL {
        let latency = just_in_time(&setup, JustInTimePolicy::new(kind, MissBudget::per_mille(10))).latency;
        assert!(latency.max < 300.0, "{kind}: {latency:?}");
    }
}

/// The recording is followed by a pause of a second: there are no events in it, and a frame without an event has no
/// latency.
#[test]
fn recorded_events_keep_their_times_and_repeat() {
    let moments: Vec<Span> = (0..100).map(|event| Span::from_millis(10) * event).collect();
    let setup = InteractionSetup {
        recorded: &moments,
        input_interval: Span::from_millis(1_010),
        ..InteractionSetup::presto(NATIVE, 6_000, 1)
    };
    let paused = just_in_time(&setup, JustInTimePolicy::oracle());
    // In a hundred seconds, the recording of one second and the pause after it come fifty times.
    let events = paused.latencies.count();
    assert!((4_900..=5_000).contains(&events), "{events}");
    let steady = just_in_time(&InteractionSetup::presto(NATIVE, 6_000, 1), JustInTimePolicy::oracle());
    assert!((paused.latency.mean - steady.latency.mean).abs() < 1.0, "{:?} {:?}", paused.latency, steady.latency);
}

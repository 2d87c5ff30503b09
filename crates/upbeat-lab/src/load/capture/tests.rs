use super::*;

const INTERVAL: Span = Span::from_nanos(16_666_667);

/// A log with intervals only, and with the GPU's load if given.
fn intervals(whole: impl IntoIterator<Item = f64>, gpu_load: Option<f64>) -> LogCapture {
    let mut gatherer = CaptureBuilder::new("test", INTERVAL);
    let program = gatherer.program("");
    for whole in whole {
        gatherer.add(program, &FrameSample { whole: Some(whole), gpu_load, ..FrameSample::default() });
    }
    gatherer.finish("log", "log".into(), &LogRequest { interval: INTERVAL, process: None }).unwrap()
}

fn slower(capture: &LogCapture) -> Vec<f64> {
    capture.load.frames.iter().map(|frame| (frame.slower().as_millis_f64() * 100.0).round() / 100.0).collect()
}

#[test]
fn an_interval_is_a_bound_on_the_slower_stage() {
    let steady = intervals([25.0; 100], None);
    assert_eq!(slower(&steady), [25.0; 100]);
    assert_eq!((steady.about.record, steady.about.render), (CostOrigin::Assumed, CostOrigin::Bound));
    assert_eq!(steady.about.warnings, [CaptureWarning::Steady { fps: 40.0, share: 1.0 }]);
    let uneven = intervals((0..100).map(|frame| 20.0 + f64::from(frame % 10)), Some(40.0));
    assert_eq!((uneven.about.record, uneven.about.render), (CostOrigin::Bound, CostOrigin::Derived));
    assert_eq!(uneven.about.warnings, []);
    // Two fifths of the mean interval, because the GPU's load says nothing of a single frame.
    let render = uneven.load.frames[99].render.as_millis_f64();
    assert!((render - 0.4 * 24.5).abs() < 0.4, "{render}");
}

#[test]
fn a_capped_capture_causes_a_warning_and_lower_costs() {
    let intervals_ms = (0..100).map(|frame| if frame % 25 == 24 { 33.4 } else { 16.6 + 0.01 * f64::from(frame % 7) });
    let capped = intervals(intervals_ms, None);
    assert!(
        matches!(capped.about.warnings[..], [CaptureWarning::Synchronised { share: 1.0, .. }]),
        "{:?}",
        capped.about
    );
    let most = slower(&capped).into_iter().fold(0.0, f64::max);
    assert!((most - 25.0).abs() < 0.01 && slower(&capped)[0] == 8.33, "{:?}", slower(&capped));
}

#[test]
fn a_busy_gpu_causes_a_warning() {
    let busy = intervals((0..50).map(|frame| 20.0 + f64::from(frame % 10)), Some(98.0));
    assert_eq!(busy.about.warnings, [CaptureWarning::GpuBound { inflated: false }]);
    assert_eq!((busy.about.record, busy.about.render), (CostOrigin::Assumed, CostOrigin::Bound));
}

/// A log with two measured stages, and the intervals of frames with the same costs from a pipeline without limits.
#[test]
fn a_two_stage_log_cut_down_to_its_intervals_drops_about_as_often() {
    use crate::animation::{AnimationPolicy, run};
    use crate::load::synthetic;
    use upbeat_timing::frames::{AheadSettings, RecorderMode};
    for mix in [synthetic::A, synthetic::B] {
        let measured = mix.generate(INTERVAL, 20_000, 1);
        let (mut recorded, mut rendered) = (Span::ZERO, [Span::ZERO; 3]);
        let bare = intervals(
            measured.frames.iter().map(|cost| {
                // At most two frames wait for the renderer.
                recorded = recorded.max(rendered[0]) + cost.record;
                let done = rendered[2].max(recorded) + cost.render;
                let interval = done - rendered[2];
                rendered = [rendered[1], rendered[2], done];
                interval.as_millis_f64()
            }),
            None,
        );
        for policy in [AnimationPolicy::vsync(3), AnimationPolicy::ahead(AheadSettings::buffers(4))] {
            let policy = policy.with_recorder(RecorderMode::Decoupled);
            let [stages, bound] = [&measured, &bare.load].map(|load| run(load, &policy).drops_per_second());
            assert!(bound < 2.5 * stages && stages < 2.0 * bound, "{}, {policy:?}: {stages} {bound}", mix.name);
        }
    }
}

use super::*;
use expect_test::expect;
use proptest::prelude::*;
use std::fmt::Write;

const PERIOD: Span = Span::from_nanos(16_666_667);

fn grid(index: u64) -> Instant {
    Instant::from_nanos(1_000_000_000) + PERIOD * index as i64
}

fn model_after(refreshes: u64) -> VsyncModel {
    let mut model = VsyncModel::new(PERIOD, grid(0));
    for index in 1..=refreshes {
        model.observe(grid(index), Some(1), grid(index));
    }
    model
}

#[test]
fn an_exact_grid_is_predicted_to_the_nanosecond() {
    let model = model_after(100);
    assert_eq!(model.present(RefreshIndex(1_000)), grid(1_000));
    assert_eq!(model.error(grid(100)), Span::ZERO);
    assert_eq!(model.at_or_after(grid(120)), RefreshIndex(120));
    assert_eq!(model.at_or_after(grid(120) + Span::from_nanos(1)), RefreshIndex(121));
}

#[test]
fn a_driver_that_lies_leaves_a_readable_trace_and_a_right_grid() {
    let mut model = model_after(8);
    let mut story = String::new();
    let mut tell = |model: &mut VsyncModel, what: &str, time: Instant, now: Instant| {
        let seen = model.observe(time, None, now);
        let off = model.present(RefreshIndex(40)) - grid(40);
        writeln!(story, "{what:<10} {seen:?} refresh 40 off by {off:?}").unwrap();
    };
    tell(&mut model, "true", grid(9), grid(9));
    tell(&mut model, "zero", Instant::ZERO, grid(10));
    tell(&mut model, "early", grid(11) - Span::from_millis(5), grid(11));
    tell(&mut model, "true", grid(12), grid(12));
    tell(&mut model, "duplicate", grid(12), grid(13));
    tell(&mut model, "backwards", grid(7), grid(14));
    tell(&mut model, "future", grid(30), grid(15));
    tell(&mut model, "gap", grid(20), grid(20));
    tell(&mut model, "moved", grid(21) + Span::from_millis(6), grid(22));
    tell(&mut model, "moved", grid(22) + Span::from_millis(6), grid(23));
    expect![[r#"
        true       Accepted { index: RefreshIndex(9), error: 0.000ms } refresh 40 off by 0.000ms
        zero       Refused { index: RefreshIndex(10), reason: Zero } refresh 40 off by 0.000ms
        early      Refused { index: RefreshIndex(11), reason: Outlier(-5.000ms) } refresh 40 off by 0.000ms
        true       Accepted { index: RefreshIndex(12), error: 0.000ms } refresh 40 off by 0.000ms
        duplicate  Refused { index: RefreshIndex(13), reason: Duplicate } refresh 40 off by 0.000ms
        backwards  Refused { index: RefreshIndex(14), reason: Backwards } refresh 40 off by 0.000ms
        future     Refused { index: RefreshIndex(15), reason: Future } refresh 40 off by 0.000ms
        gap        Accepted { index: RefreshIndex(20), error: 0.000ms } refresh 40 off by 0.000ms
        moved      Refused { index: RefreshIndex(22), reason: Outlier(6.000ms) } refresh 40 off by 0.000ms
        moved      Moved { index: RefreshIndex(22) } refresh 40 off by 6.000ms
    "#]]
    .assert_eq(&story);
}

/// Drivers stamp the start of scan-out from within the blanking before it.
#[test]
fn timestamp_may_lie_ahead_by_a_blanking_and_not_by_more() {
    let mut model = model_after(8);
    let seen = model.observe(grid(9), None, grid(9) - Span::from_micros(1_500));
    assert!(matches!(seen, TimestampObservation::Accepted { .. }), "{seen:?}");
    let seen = model.observe(grid(10), None, grid(10) - Span::from_millis(4));
    assert!(matches!(seen, TimestampObservation::Refused { reason: TimestampRefusal::Future, .. }), "{seen:?}");
}

#[test]
fn display_that_keeps_58_and_a_half_hertz_where_its_mode_says_60_is_followed() {
    let mut model = VsyncModel::new(PERIOD, grid(0));
    let time = |index: i64| grid(0) + PERIOD.scale(1_025, 1_000) * index;
    for index in 1..=40 {
        model.observe(time(index), Some(1), time(index));
    }
    assert_eq!(model.present(RefreshIndex(50)), time(50));
}

/// vkms stops its clock while no client needs vblanks; the first vblank after that has no real time.
#[test]
fn a_grid_that_moved_in_a_pause_is_not_taken_for_another_period() {
    let step = Span::from_micros(1_845);
    let mut model = model_after(1);
    for index in (664..720).step_by(3) {
        let time = grid(index) + step;
        model.observe(time, Some(3), time);
        assert_eq!(model.interval(), PERIOD, "refresh {index}");
    }
    assert_eq!(model.present(RefreshIndex(1_000)), grid(1_000) + step);
}

/// A difference that clocks can have belongs to the period.
#[test]
fn a_period_is_learned_across_pauses() {
    let slow = Span::from_nanos(PERIOD.as_nanos() + 500);
    let time = |index: u64| grid(0) + slow * index as i64;
    let mut model = VsyncModel::new(PERIOD, grid(0));
    for index in (100..=1_000).step_by(100) {
        model.observe(time(index), None, time(index));
    }
    assert_eq!(model.interval(), slow);
}

#[test]
fn a_driver_without_timestamps_becomes_software_vsync() {
    let mut model = model_after(0);
    for index in 1..10 {
        model.observe(Instant::ZERO, Some(0), grid(index));
    }
    assert!(!model.is_usable());
    assert_eq!(model.present(RefreshIndex(10)), grid(10));
    assert!(model.is_trusted(grid(10)));
}

#[test]
fn the_phase_is_not_trusted_after_a_long_idle() {
    let mut model = model_after(40);
    assert!(model.is_trusted(grid(40) + Span::from_seconds(10)));
    let later = grid(40) + Span::from_seconds(100);
    assert!(!model.is_trusted(later));
    model.synchronise(later - Span::from_millis(3));
    assert!(model.is_trusted(later));
    assert_eq!(model.present(model.at_or_after(later)), later - Span::from_millis(3) + PERIOD);
}

#[test]
fn a_change_of_rate_goes_on_counting() {
    let mut model = model_after(40);
    let now = grid(40) + Span::from_millis(1);
    model.set_interval(Span::from_millis(8), now);
    assert_eq!(model.at_or_after(now), RefreshIndex(41));
    assert_eq!(model.present(RefreshIndex(41)), grid(40) + Span::from_millis(8));
}

#[test]
fn a_variable_panel_refreshes_as_soon_as_it_may() {
    let mut model = model_after(3);
    model.set_variable(Some((Span::from_millis(7), Span::from_millis(25))));
    model.observe(grid(3) + Span::from_millis(19), Some(1), grid(3) + Span::from_millis(19));
    assert_eq!(model.present(RefreshIndex(5)), grid(3) + Span::from_millis(26));
}

proptest! {
    /// After jitter of a tenth of a period, gaps and wrong timestamps, the grid is found again within a bounded
    /// number of frames.
    #[test]
    fn after_any_fault_sequence_it_is_back_on_the_grid(
        faults in prop::collection::vec((0u8..6, -800_000i64..800_000), 0..60),
        jitter in prop::collection::vec(-100_000i64..100_000, SAMPLES + GIVE_UP_AFTER as usize),
    ) {
        let mut model = model_after(10);
        let mut index = 10;
        for (kind, amount) in faults {
            index += 1;
            let now = grid(index);
            let time = match kind {
                0 => Instant::ZERO,
                1 => now - Span::from_millis(7),
                2 => now + Span::from_millis(9),
                3 => { index += 40; grid(index) }
                4 => grid(index / 2),
                _ => now + Span::from_nanos(amount),
            };
            model.observe(time, None, now.max(grid(index)));
        }
        for off in jitter {
            index += 1;
            let time = grid(index) + Span::from_nanos(off);
            model.observe(time, None, time);
        }
        let predicted = model.present(model.nearest(grid(index + 3)));
        prop_assert!((predicted - grid(index + 3)).abs() < Span::from_millis(1), "{:?}", predicted - grid(index + 3));
    }

    /// Refresh numbers never run backwards, whatever the driver reports.
    #[test]
    fn refresh_numbers_are_monotone(times in prop::collection::vec(0u64..4_000_000_000, 1..80)) {
        let mut model = model_after(5);
        let mut last = RefreshIndex(0);
        for time in times {
            let time = Instant::from_nanos(1_000_000_000 + time);
            if let TimestampObservation::Accepted { index, .. } | TimestampObservation::Moved { index } =
                model.observe(time, None, Instant::from_nanos(6_000_000_000))
            {
                prop_assert!(index > last || last == RefreshIndex(0));
                last = index;
            }
        }
    }
}

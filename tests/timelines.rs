//! The timing core in virtual time: one display, clients with given costs, and only the test's clock.

#![allow(clippy::unwrap_used, clippy::expect_used)]

#[allow(dead_code, reason = "each test uses some of it")]
mod timeline;

use expect_test::expect;
use proptest::prelude::*;
use timeline::outputs::{OutputScenarioStep, ScenarioChange, SimulatedOutputs};
use timeline::{FrameCostSource, Rig, TimelineClient};
use upbeat_timing::pacing::PacingWish;
use upbeat_timing::record::RepaintReason;
use upbeat_timing::time::Span;

fn ms(millis: f64) -> Span {
    Span::from_millis_f64(millis)
}

#[test]
fn cheap_client_is_called_back_just_in_time() {
    let mut rig = Rig::new(60_000);
    rig.add(TimelineClient::new("flat", FrameCostSource::constant(ms(2.0))));
    rig.run_refreshes(12);
    expect![[r#"
        0    + 1.234  flat: commit
        0    +14.217  latch for 1, 1 windows
        0    +15.417  flat: callback for 2
        1    + 0.000  light 1
        1    + 0.750  flat: commit
        1    +14.375  latch for 2, 1 windows
        1    +15.417  flat: callback for 3
        2    + 0.000  light 2
        2    + 0.750  flat: commit
        2    +14.375  latch for 3, 1 windows
        2    +15.417  flat: callback for 4
        3    + 0.000  light 3
        3    + 0.750  flat: commit
        3    +14.375  latch for 4, 1 windows
        3    +15.417  flat: callback for 5
        4    + 0.000  light 4
        4    + 0.750  flat: commit
        4    +14.375  latch for 5, 1 windows
        4    +15.417  flat: callback for 6
        5    + 0.000  light 5
        5    + 0.750  flat: commit
        5    +14.375  latch for 6, 1 windows
        5    +15.417  flat: callback for 7
        6    + 0.000  light 6
        6    + 0.750  flat: commit
        6    +14.375  latch for 7, 1 windows
        7    + 0.000  light 7
        7    +13.267  flat: callback for 8
        7    +15.267  flat: commit
        7    +15.267  latch for 8, 1 windows
        8    + 0.000  light 8
        8    +13.267  flat: callback for 9
        8    +15.267  flat: commit
        8    +15.267  latch for 9, 1 windows
        9    + 0.000  light 9
        9    +13.267  flat: callback for 10
        9    +15.267  flat: commit
        9    +15.267  latch for 10, 1 windows
        10   + 0.000  light 10
        10   +13.267  flat: callback for 11
        10   +15.267  flat: commit
        10   +15.267  latch for 11, 1 windows
        11   + 0.000  light 11
        11   +13.267  flat: callback for 12
        11   +15.267  flat: commit
        11   +15.267  latch for 12, 1 windows
        12   + 0.000  light 12
    "#]]
    .assert_eq(&rig.story());
}

#[test]
fn two_milliseconds_of_work_reach_light_within_five() {
    let mut rig = Rig::new(60_000);
    let client = rig.add(TimelineClient::new("flat", FrameCostSource::constant(ms(2.0))));
    rig.run_refreshes(1_200);
    let report = rig.report(client);
    assert_eq!(report.drops, 0, "{report:?}");
    assert!(report.callback_to_light.p50 <= ms(5.0), "{report:?}");
    assert!(report.callback_to_light.p99 <= ms(6.0), "{report:?}");
}

#[test]
fn focused_window_keeps_its_latency_beside_ten_windows() {
    let mut rig = Rig::new(60_000);
    let focused = rig.add(TimelineClient::new("focused", FrameCostSource::constant(ms(2.0))).focused());
    for _ in 0..10 {
        rig.add(TimelineClient::new("other", FrameCostSource::constant(ms(0.5))));
    }
    rig.run_refreshes(1_200);
    let report = rig.report(focused);
    assert_eq!(report.drops, 0, "{report:?}");
    assert!(report.callback_to_light.p50 <= ms(6.0), "{report:?}");
}

#[test]
fn heavy_client_gets_low_latency_during_interaction_and_smoothness_otherwise() {
    let run = |held: bool| {
        let mut rig = Rig::new(60_000);
        let client = TimelineClient::new("heavy", FrameCostSource::heavy(7));
        let client = rig.add(if held { client.held() } else { client });
        rig.run_refreshes(60 * 300);
        rig.report(client)
    };
    let touched = run(true);
    assert!(touched.drops_per_second <= 5.9, "{touched:?}");
    assert!(touched.callback_to_light.p50 <= ms(18.17), "{touched:?}");
    let free = run(false);
    assert!(free.drops_per_second <= 1.5, "{free:?}");
    assert!(free.callback_to_light.p50 <= ms(33.3), "{free:?}");
}

/// Frames of 2 ms; each entry `(n, ms)` makes every n-th frame cost `ms`.
fn mostly_light(rare: &[(u32, f64)]) -> FrameCostSource {
    let (rare, mut frame) = (rare.to_vec(), 0u32);
    FrameCostSource::of(move || {
        frame += 1;
        // The first rare frame comes after half of its period, so that its cost is learned early.
        let now = rare.iter().filter(|(every, _)| frame % every == every / 2).map(|(_, cost)| *cost);
        ms(now.fold(2.0, f64::max))
    })
}

/// A terminal, for example, answers a callback only when the next key is typed.
#[test]
fn client_that_skips_refreshes_is_still_called_back_just_in_time() {
    for refreshes_without_content in [4.0, 6.0, 11.0] {
        let mut rig = Rig::new(60_000);
        let costs = mostly_light(&[(5, refreshes_without_content * 16.667)]);
        let client = rig.add(TimelineClient::new("typed into", costs));
        rig.run_refreshes(1_200);
        let latency = rig.report(client).callback_to_light.p50;
        assert!(latency <= ms(5.0), "{refreshes_without_content} refreshes: {latency:?}");
    }
}

#[test]
fn one_longer_frame_in_twenty_is_in_time_during_interaction() {
    let mut rig = Rig::new(60_000);
    let client = rig.add(TimelineClient::new("touched", mostly_light(&[(20, 12.0)])).held());
    rig.run_refreshes(2_400);
    let report = rig.report(client);
    assert!(report.drops <= 2, "{report:?}");
}

#[test]
fn one_long_frame_in_thirty_causes_few_drops() {
    let mut rig = Rig::new(60_000);
    let client = rig.add(TimelineClient::new("watched", mostly_light(&[(30, 22.0)])));
    rig.run_refreshes(2_400);
    let report = rig.report(client);
    // With one period of slack all 80 rare frames would be late.
    assert!(report.drops <= 12, "{report:?}");
}

/// The client leaves the CPU idle meanwhile, like a client that has nothing to draw, because a GPU draws its frames.
#[test]
fn one_frame_in_two_hundred_of_nearly_two_periods_is_in_time_without_interaction() {
    let mut rig = Rig::new(60_000);
    let client = rig.add(TimelineClient::new("watched", mostly_light(&[(12, 22.0), (200, 29.0)])));
    rig.run_refreshes(6_000);
    let report = rig.report(client);
    // The first rare frames cannot be predicted.
    assert!(report.drops <= 8, "{report:?}");
}

/// The first frames are slow because programs load their resources then. They say nothing about later frames.
#[test]
fn second_slack_period_is_granted_after_a_second_but_not_for_first_frames() {
    let mut rig = Rig::new(60_000);
    let client = rig.add(TimelineClient::new("heavy", mostly_light(&[(2, 22.0)])));
    rig.run_refreshes(24);
    assert_eq!(rig.slack_periods(client), 1);
    rig.run_refreshes(60);
    assert_eq!(rig.slack_periods(client), 2);
}

/// A browser, for example: another process draws its page.
#[test]
fn client_that_waits_for_another_process_drops_no_more_frames_beside_other_clients_than_alone() {
    for (millihertz, wait) in
        [(60_000, 2.0), (60_000, 4.0), (60_000, 8.0), (60_000, 12.0), (144_000, 2.0), (144_000, 4.0)]
    {
        let waits = || TimelineClient::new("waits", FrameCostSource::constant(ms(wait))).using_cpu(ms(0.3));
        let mut alone = Rig::new(millihertz);
        let client = alone.add(waits());
        alone.run_refreshes(600);
        let allowed = alone.report(client).drops;
        for (cost, others) in [1.0, 4.0, 8.0].into_iter().flat_map(|cost| [(cost, 1), (cost, 3)]) {
            for is_focused in [false, true] {
                let mut rig = Rig::new(millihertz);
                let client = rig.add(if is_focused { waits().focused() } else { waits() });
                for _ in 0..others {
                    rig.add(TimelineClient::new("draws", FrameCostSource::constant(ms(cost))).using_cpu(ms(cost)));
                }
                rig.run_refreshes(600);
                let report = rig.report(client);
                // Where the others might have both processors, a single late frame shows that the wait is its own.
                let allowed = allowed + u64::from(others > 1);
                assert!(report.drops <= allowed, "{wait} ms beside {others} of {cost} ms: {report:?}");
            }
        }
    }
}

#[test]
fn vsync_pacing_is_the_baseline_that_it_claims_to_be() {
    let mut rig = Rig::new(60_000);
    let client = rig.add(TimelineClient::new("flat", FrameCostSource::constant(ms(2.0))).paced(PacingWish::Vsync));
    rig.run_refreshes(600);
    let report = rig.report(client);
    assert_eq!(report.drops, 0, "{report:?}");
    assert!((report.callback_to_light.p50 - ms(33.3)).abs() < ms(0.5), "{report:?}");

    let mut rig = Rig::new(60_000);
    let client = rig.add(TimelineClient::new("flat", FrameCostSource::constant(ms(2.0))).paced(PacingWish::VsyncLate));
    rig.run_refreshes(600);
    let report = rig.report(client);
    assert!((report.callback_to_light.p50 - ms(16.6)).abs() < ms(0.5), "{report:?}");
}

#[test]
fn an_idle_output_asks_for_no_wake_up() {
    let mut rig = Rig::new(60_000);
    let client = rig.add(TimelineClient::new("flat", FrameCostSource::constant(ms(2.0))));
    rig.run_refreshes(30);
    rig.stop(client);
    rig.run_refreshes(4);
    let wakes = rig.wakes();
    rig.run_refreshes(600);
    assert_eq!(rig.wakes(), wakes, "{}", rig.story());
}

#[test]
fn a_loop_that_is_always_late_still_latches() {
    let mut rig = Rig::new(60_000);
    let client = rig.add(TimelineClient::new("flat", FrameCostSource::constant(ms(2.0))));
    rig.run_refreshes(60);
    rig.set_turn_length(ms(21.0));
    let before = rig.frames(client);
    rig.run_refreshes(120);
    assert!(rig.frames(client) >= before + 20, "{}", rig.story());
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(64))]

    /// For any client costs: at most one latch a refresh, at most one callback a refresh and client, no frame is shown
    /// twice or out of order, and every client makes progress.
    #[test]
    fn frame_order_invariants_hold_for_any_costs(
        clients in prop::collection::vec((0.01f64..60.0, 0.0f64..20.0, any::<bool>(), 0u8..4), 1..6),
        refresh in prop::sample::select(vec![30_000u32, 60_000, 59_940, 144_000, 240_000]),
        seed in any::<u64>(),
    ) {
        let mut rig = Rig::new(refresh);
        for (mean, spread, held, pacing) in clients {
            let pacing = [PacingWish::Auto, PacingWish::Vsync, PacingWish::VsyncLate, PacingWish::JustInTime][pacing as usize];
            let client = TimelineClient::new("any", FrameCostSource::uniform(ms(mean), ms(mean + spread), seed)).paced(pacing);
            rig.add(if held { client.held() } else { client });
        }
        rig.run_refreshes(200);
        rig.check_invariants()?;
    }
}

/// Refresh rates (mHz) of outputs side by side, unequal or nearly equal.
const RATES: [u32; 6] = [60_000, 59_940, 75_000, 144_000, 30_000, 240_000];
const MOST_OUTPUTS: usize = 3;

fn change() -> impl Strategy<Value = ScenarioChange> {
    let needs = [
        RepaintReason::Content,
        RepaintReason::Callback,
        RepaintReason::Cursor,
        RepaintReason::Shell,
        RepaintReason::Animation,
        RepaintReason::Capture,
    ];
    let need = prop::sample::select(needs.to_vec());
    (need, any::<bool>(), any::<bool>()).prop_map(|(need, visible, effective)| ScenarioChange {
        need,
        visible,
        effective,
    })
}

fn step() -> impl Strategy<Value = OutputScenarioStep> {
    let output = 0..MOST_OUTPUTS;
    let rate = prop::sample::select(RATES.to_vec());
    let length = prop_oneof![(0.1..50.0f64), (50.0..5_000.0f64), Just(600_000.0)].prop_map(ms);
    let changes = (output.clone(), change(), 1..100u32, prop_oneof![(0.02..1.0f64), (1.0..40.0f64)]);
    prop_oneof![
        4 => changes.prop_map(|(output, change, count, apart)| {
            OutputScenarioStep::Changes { output, change, count, apart: ms(apart) }
        }),
        1 => (output.clone(), 0.0..2_000.0f64).prop_map(|(output, ahead)| OutputScenarioStep::Stamp { output, ahead: ms(ahead) }),
        2 => length.clone().prop_map(OutputScenarioStep::Rest),
        1 => length.clone().prop_map(OutputScenarioStep::Suspend),
        1 => (output.clone(), length).prop_map(|(output, off_for)| OutputScenarioStep::Power { output, off_for }),
        1 => (output.clone(), rate.clone()).prop_map(|(output, rate)| OutputScenarioStep::Rate { output, rate }),
        1 => (output, rate).prop_map(|(output, rate)| OutputScenarioStep::Replug { output, rate }),
    ]
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(1_000))]

    /// Holds for any sequence of events on several outputs.
    #[test]
    fn output_change_is_on_screen_within_two_refreshes(
        rates in prop::sample::subsequence(RATES.to_vec(), 2..=MOST_OUTPUTS).prop_shuffle(),
        tells in any::<bool>(),
        steps in prop::collection::vec(step(), 1..20),
    ) {
        SimulatedOutputs::new(&rates, tells).run(&steps)?;
    }
}

#[test]
fn late_wake_up_latches_for_no_past_refresh() {
    let change = ScenarioChange { need: RepaintReason::Content, visible: true, effective: false };
    let changes = |count| OutputScenarioStep::Changes { output: 0, change, count, apart: ms(1.0) };
    for tells in [false, true] {
        let mut desk = SimulatedOutputs::new(&[60_000, 30_000], tells);
        desk.run(&[
            OutputScenarioStep::Suspend(ms(2_400.0)),
            changes(1),
            OutputScenarioStep::Suspend(ms(700.0)),
            changes(20),
        ])
        .unwrap();
    }
}

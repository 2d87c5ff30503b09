//! The timing core on a panel with a variable refresh rate (48 to 144 Hz), in virtual time. Bound frames keep the rate
//! that they were drawn for, and a client that draws on callbacks does not wait for the panel.

#![allow(clippy::unwrap_used, clippy::expect_used)]

#[allow(dead_code, reason = "each test uses some of it")]
mod timeline;

use expect_test::expect;
use proptest::prelude::*;
use proptest::test_runner::TestCaseError;
use timeline::FrameCostSource;
use timeline::panel::{
    LONGEST, OUT, PresentedBoundFrame, PresentedCallbackFrame, PresentedCommit, SHORTEST, SimulatedPanel,
};
use upbeat_timing::pacing::PacingWish;
use upbeat_timing::record::RepaintReason;
use upbeat_timing::time::Span;

fn ms(millis: f64) -> Span {
    Span::from_millis_f64(millis)
}

/// Frame costs in repeating phases: each entry is a cost (ms) and a number of frames.
fn phases(list: Vec<(f64, usize)>) -> FrameCostSource {
    let costs: Vec<Span> = list.into_iter().flat_map(|(cost, count)| vec![ms(cost); count]).collect();
    let mut next = 0;
    FrameCostSource::of(move || {
        next += 1;
        costs[(next - 1) % costs.len()]
    })
}

/// Until then the compose time is still being learned.
const LEARNED: Span = Span::from_seconds(1);
/// Tolerance for a frame that was ready in time.
const EXACT: Span = Span::from_micros(300);

/// Gaps between lights, in milliseconds.
fn gaps(frames: &[PresentedBoundFrame]) -> Vec<f64> {
    let gaps = frames.windows(2).map(|pair| pair[1].light - pair[0].light);
    gaps.map(|gap| (gap.as_millis_f64() * 100.0).round() / 100.0).collect()
}

#[test]
fn new_rate_starts_with_the_first_frame_drawn_for_it() {
    let mut panel = SimulatedPanel::new();
    panel.add_ahead_client(4, phases(vec![(5.0, 146), (7.2, 60)]));
    panel.run_for(ms(1_050.0));
    panel.story();
    panel.run_for(ms(230.0));
    expect![[r#"
         1055.745  light, 6.944ms after the last: ahead 152 (6.944ms of it)
         1062.689  light, 6.944ms after the last: ahead 153 (6.944ms of it)
         1069.634  light, 6.944ms after the last: ahead 154 (6.944ms of it)
         1076.578  light, 6.944ms after the last: ahead 155 (6.944ms of it)
         1083.523  light, 6.944ms after the last: ahead 156 (6.944ms of it)
         1090.467  light, 6.944ms after the last: ahead 157 (6.944ms of it)
         1097.412  light, 6.944ms after the last: ahead 158 (6.944ms of it)
         1104.356  light, 6.944ms after the last: ahead 159 (6.944ms of it)
         1112.847  light, 8.491ms after the last: ahead 160 (8.681ms of it)
         1121.528  light, 8.681ms after the last: ahead 161 (8.681ms of it)
         1130.208  light, 8.681ms after the last: ahead 162 (8.681ms of it)
         1138.889  light, 8.681ms after the last: ahead 163 (8.681ms of it)
         1147.569  light, 8.681ms after the last: ahead 164 (8.681ms of it)
         1156.250  light, 8.681ms after the last: ahead 165 (8.681ms of it)
         1164.930  light, 8.681ms after the last: ahead 166 (8.681ms of it)
         1173.611  light, 8.681ms after the last: ahead 167 (8.681ms of it)
         1182.292  light, 8.681ms after the last: ahead 168 (8.681ms of it)
         1190.972  light, 8.681ms after the last: ahead 169 (8.681ms of it)
         1199.653  light, 8.681ms after the last: ahead 170 (8.681ms of it)
         1208.333  light, 8.681ms after the last: ahead 171 (8.681ms of it)
         1217.014  light, 8.681ms after the last: ahead 172 (8.681ms of it)
         1225.694  light, 8.681ms after the last: ahead 173 (8.681ms of it)
         1234.375  light, 8.681ms after the last: ahead 174 (8.681ms of it)
         1243.055  light, 8.681ms after the last: ahead 175 (8.681ms of it)
         1251.736  light, 8.681ms after the last: ahead 176 (8.681ms of it)
         1260.417  light, 8.681ms after the last: ahead 177 (8.681ms of it)
         1269.097  light, 8.681ms after the last: ahead 178 (8.681ms of it)
         1277.778  light, 8.681ms after the last: ahead 179 (8.681ms of it)
    "#]]
    .assert_eq(&panel.story());
}

#[test]
fn frame_slower_than_the_panel_is_repeated_at_even_intervals() {
    for (cost, times) in [(21.0, 2), (30.0, 2), (39.0, 3)] {
        let mut panel = SimulatedPanel::new();
        let drawer = panel.add_ahead_client(3, phases(vec![(cost, 1)]));
        panel.run_for(LEARNED);
        let begun = panel.lights().len();
        panel.run_for(LEARNED);
        let lights: Vec<Span> = panel.lights()[begun..].windows(2).map(|pair| pair[1] - pair[0]).collect();
        let frames = panel.bound(drawer);
        let distance = frames[frames.len() - 1].target.interval;
        assert!(distance > LONGEST, "{cost} ms: {distance} apart");
        for gap in &lights {
            assert!((*gap - distance / times).abs() < EXACT, "{cost} ms, {distance} apart: a refresh after {gap}");
        }
    }
}

#[test]
fn other_changes_do_not_delay_bound_frames() {
    for apart in [1.0, 3.3, 9.1, 40.0] {
        let mut panel = SimulatedPanel::new();
        let drawer = panel.add_ahead_client(3, phases(vec![(11.0, 1)]));
        panel.run_for(LEARNED);
        panel.changes(ms(apart), LEARNED);
        let begun = panel.bound(drawer).len();
        panel.run_for(LEARNED);
        let interval = panel.bound(drawer)[begun].target.interval;
        for gap in gaps(&panel.bound(drawer)[begun..]) {
            assert!((ms(gap) - interval).abs() < EXACT, "changes {apart} ms apart: {gap} ms between two frames");
        }
    }
}

/// Whether the frame was committed well before its time. Otherwise the panel may already have another frame, or be busy
/// with its own repetition.
fn waited(frame: &PresentedBoundFrame) -> bool {
    frame.committed + OUT + SHORTEST * 2 <= frame.target.present
}

/// Asserts that a frame committed early is shown at its target time, at the distance from its predecessor that it was
/// drawn for, and that a late frame is shown as soon as the panel is free.
fn check(frames: &[PresentedBoundFrame]) -> Result<(), TestCaseError> {
    for pair in frames.windows(2) {
        let (before, frame) = (pair[0], pair[1]);
        let (gap, apart) = (frame.light - before.light, frame.target.present - before.target.present);
        prop_assert!(apart > Span::ZERO && gap >= SHORTEST, "{gap}: {before:?} {frame:?}");
        let earliest = frame.target.present;
        // A frame committed shortly before its time, or after it, may find the panel busy with its own repetition, and
        // another frame that waits for the end of that.
        let busy = if waited(&frame) { Span::ZERO } else { SHORTEST * 2 };
        let latest = earliest.max(before.light + SHORTEST).max(frame.committed + OUT) + busy;
        prop_assert!(frame.light >= earliest - EXACT, "{} early: {frame:?}", earliest - frame.light);
        prop_assert!(frame.light <= latest + EXACT, "{} late: {before:?} {frame:?}", frame.light - latest);
        if before.light <= before.target.present + EXACT && waited(&frame) {
            prop_assert!((gap - apart).abs() <= EXACT, "{gap} between frames that are {apart} apart");
        }
        if before.target.id.next() == frame.target.id {
            prop_assert!(apart >= frame.target.interval, "closer than its rate: {before:?} {frame:?}");
        }
    }
    Ok(())
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(256))]

    /// Holds for any frame costs and any other changes.
    #[test]
    fn early_bound_frames_are_shown_at_their_targets(
        costs in prop::collection::vec((0.5f64..45.0, 1usize..80), 1..6),
        limit in 2u32..6,
        changes in prop::option::of(0.7f64..60.0),
    ) {
        let mut panel = SimulatedPanel::new();
        let drawer = panel.add_ahead_client(limit, phases(costs));
        panel.run_for(LEARNED);
        let begun = panel.bound(drawer).len();
        if let Some(apart) = changes {
            panel.changes(ms(apart), LEARNED * 2);
        }
        panel.run_for(LEARNED * 2);
        prop_assert!(panel.bound(drawer).len() > begun + 20);
        check(&panel.bound(drawer)[begun..])?;
        prop_assert!(panel.lights().windows(2).all(|pair| pair[1] - pair[0] >= SHORTEST));
    }
}

/// In 99 of 100 frames the wait for the panel is at most this long.
const WAITS: Span = Span::from_millis(1);
/// Longest frame cost for this bound: a longer frame finds the panel busy with its own repetition.
const LONGEST_COST: Span = Span::from_micros(20_800);
/// How far light may deviate from the rhythm of commits.
const OFF: Span = Span::from_micros(500);

/// The frames of a client that draws on callbacks, after its costs were learned. `is_held`: the user holds a button down
/// on it, so that its latency counts, not the number of its frames.
fn called_back(costs: FrameCostSource, is_held: bool) -> Vec<PresentedCallbackFrame> {
    let mut panel = SimulatedPanel::new();
    let caller = panel.add_callback_client(costs, PacingWish::Auto);
    if is_held {
        panel.hold(caller);
    }
    panel.run_for(LEARNED * 3);
    let begun = panel.called(caller).len();
    panel.run_for(LEARNED * 5);
    panel.called(caller)[begun..].to_vec()
}

/// The 99th percentile of the waits of frames that cost at most [`LONGEST_COST`].
fn waited_mostly(frames: &[PresentedCallbackFrame]) -> Span {
    let mut waited: Vec<Span> =
        frames.iter().filter(|frame| frame.cost <= LONGEST_COST).map(PresentedCallbackFrame::waited).collect();
    waited.sort();
    waited.get((waited.len().max(1) - 1) * 99 / 100).copied().unwrap_or_default()
}

#[test]
fn just_in_time_client_is_late_by_its_own_cost_only() {
    let mut panel = SimulatedPanel::new();
    panel.add_callback_client(phases(vec![(2.0, 40), (4.0, 1), (2.0, 3)]), PacingWish::Auto);
    panel.run_for(ms(690.0));
    panel.story();
    panel.run_for(ms(40.0));
    expect![[r#"
          698.144  light, 6.944ms after the last: called back
          705.089  light, 6.944ms after the last: called back
          712.033  light, 6.944ms after the last: called back
          718.978  light, 6.944ms after the last: called back
          725.922  light, 6.944ms after the last: called back
    "#]]
    .assert_eq(&panel.story());
}

#[test]
fn a_steady_client_keeps_the_rate_of_the_panel_or_its_own() {
    for cost in [0.5, 2.0, 5.0, 6.5, 8.0, 12.0, 18.0, 20.0] {
        let frames = called_back(phases(vec![(cost, 1)]), false);
        let seconds = (frames[frames.len() - 1].light - frames[0].light).as_seconds_f64();
        let rate = (frames.len() - 1) as f64 / seconds;
        let could = 1.0 / (ms(cost) + ms(0.3)).max(SHORTEST).as_seconds_f64();
        assert!(rate > could * 0.96, "{cost} ms: {rate:.1} frames a second, {could:.1} are possible");
    }
}

/// The cursor moves beside a client that draws, and alone.
#[test]
fn cursor_motion_is_shown_without_breaking_the_cadence() {
    for cost in [2.0, 8.0, 12.0, 18.0] {
        let mut panel = SimulatedPanel::new();
        let caller = panel.add_callback_client(phases(vec![(cost, 1)]), PacingWish::Auto);
        panel.run_for(LEARNED);
        panel.needs(RepaintReason::Cursor, ms(8.0), LEARNED);
        let begun = panel.called(caller).len();
        panel.run_for(LEARNED);
        let waited = waited_mostly(&panel.called(caller)[begun..]);
        assert!(waited <= WAITS, "{cost} ms: {waited}");
    }
    let mut panel = SimulatedPanel::new();
    panel.run_for(ms(100.0));
    panel.needs(RepaintReason::Cursor, ms(8.0), LEARNED);
    let begun = panel.lights().len();
    panel.run_for(LEARNED);
    assert!(panel.lights().len() - begun > 110, "{} lights", panel.lights().len() - begun);
}

#[test]
fn at_45_frames_a_second_lights_keep_the_rhythm_of_commits() {
    let frames = called_back(phases(vec![(21.9, 1)]), false);
    for pair in frames.windows(2) {
        let off = (pair[1].light - pair[0].light) - (pair[1].committed() - pair[0].committed());
        assert!(off.abs() <= OFF, "{off}: {pair:?}");
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(100))]

    /// Holds during interaction, for any frame costs that fit the panel's longest interval.
    #[test]
    fn client_on_callbacks_waits_for_its_own_frames_only(
        least in 0.2f64..19.0,
        spread in 0.0f64..12.5,
        seed in any::<u64>(),
    ) {
        // Costs near the longest interval must leave room for a repetition before the first frame may come.
        let most = (least + spread).min(if least > 16.0 { 20.8 } else { 20.4 });
        let frames = called_back(FrameCostSource::uniform(ms(least), ms(most), seed), true);
        prop_assert!(frames.len() > 150, "{} frames", frames.len());
        let waited = waited_mostly(&frames);
        prop_assert!(waited <= WAITS, "{waited}");
        prop_assert!(frames.windows(2).all(|pair| pair[1].light - pair[0].light >= SHORTEST));
    }
}

/// The frames that a client with these costs makes in twenty seconds, after one second, and their median latency.
fn frames_and_latency((median, often): (f64, f64), seed: u64, wish: PacingWish) -> (usize, Span) {
    let mut panel = SimulatedPanel::new();
    let caller = panel.add_callback_client(FrameCostSource::lognormal(median, often, seed), wish);
    panel.run_for(LEARNED);
    let begun = panel.called(caller).len();
    panel.run_for(LEARNED * 20);
    let frames = &panel.called(caller)[begun..];
    let mut latencies: Vec<Span> = frames.iter().map(|frame| frame.light - frame.called_back).collect();
    latencies.sort();
    (frames.len(), latencies[latencies.len() / 2])
}

/// Its latency is not larger either.
#[test]
fn client_with_varying_costs_makes_as_many_frames_as_with_callbacks_at_the_refresh() {
    for costs in [(11.0, 15.0), (6.0, 20.0), (8.0, 12.0), (4.0, 9.0), (2.0, 3.0), (2.0, 2.1), (1.0, 12.0)] {
        let (frames, latency) = frames_and_latency(costs, 7, PacingWish::Auto);
        let (at_refresh, earlier) = frames_and_latency(costs, 7, PacingWish::Vsync);
        assert!(frames * 100 >= at_refresh * 99, "{costs:?} ms: {frames} frames, {at_refresh} at the refresh");
        assert!(latency <= earlier + ms(0.01), "{costs:?} ms: {latency} to light, {earlier} at the refresh");
    }
}

/// The panel can just wait for the long frame. The short frames would come too soon after a repetition, so the panel
/// must not repeat for them.
#[test]
fn one_long_frame_does_not_make_the_panel_busy_for_short_frames() {
    for (least, seed) in
        [(13.738_795_106_152_87, 8_750_302_592_110_589_951), (12.775_773_214_095_468, 3_902_752_773_408_018_680)]
    {
        let waited = waited_mostly(&called_back(FrameCostSource::uniform(ms(least), ms(20.4), seed), true));
        assert!(waited <= WAITS, "{least} ms at least: {waited}");
    }
}

/// How far 95 of 100 distances of lights are off those of commits, at most, and the longest distance of two lights.
fn off_rhythm(shown: &[PresentedCommit]) -> (Span, Span) {
    let gaps = shown.windows(2).map(|pair| (pair[1].light - pair[0].light, pair[1].committed - pair[0].committed));
    let mut off: Vec<Span> = gaps.clone().map(|(lights, commits)| (lights - commits).abs()).collect();
    off.sort();
    (off[(off.len() - 1) * 95 / 100], gaps.map(|(lights, _)| lights).max().expect("frames"))
}

/// Beside a client that commits on its own clock, the cursor and repetitions leave room for its next frame, and a surface
/// that commits a little later is shown in the same frame.
#[test]
fn surfaces_with_their_own_clock_keep_their_rhythm_beside_the_cursor() {
    for rate in [24, 30, 45, 60, 90, 100, 144] {
        for (behind, mouse) in [(None, false), (None, true), (Some(ms(1.0)), false), (Some(ms(1.0)), true)] {
            let period = Span::from_millihertz(rate * 1_000);
            let mut panel = SimulatedPanel::new();
            let surface = panel.add_clocked_client(period, behind);
            if mouse {
                panel.needs(RepaintReason::Cursor, ms(8.0), LEARNED * 3);
            }
            panel.run_for(LEARNED);
            let begun = panel.clocked(surface).len();
            panel.run_for(LEARNED * 2);
            let case = format!("{rate} a second, a part {behind:?} later, a mouse that moves: {mouse}");
            let shown = panel.clocked(surface);
            assert!(shown.len() - begun + 3 > 2 * rate as usize, "{case}: {} frames", shown.len() - begun);
            let (off, longest) = off_rhythm(&shown[begun..]);
            assert!(off <= OFF && longest <= period + OFF, "{case}: {off} off its rhythm, {longest} apart");
        }
    }
}

/// The mouse goes on after the client has stopped.
#[test]
fn cursor_waits_for_no_client_that_has_stopped() {
    let mut panel = SimulatedPanel::new();
    let surface = panel.add_clocked_client(ms(16.7), None);
    panel.needs(RepaintReason::Cursor, ms(8.0), LEARNED * 2);
    panel.run_for(LEARNED);
    panel.stop_clocked(surface);
    panel.run_for(ms(50.0));
    let begun = panel.lights().len();
    panel.run_for(LEARNED / 2);
    assert!(panel.lights().len() - begun > 57, "{} lights", panel.lights().len() - begun);
}

/// Empty commits reach no latch, so nothing but the last callback bounds the next.
#[test]
fn empty_commits_are_called_back_at_the_shortest_interval() {
    let wishes = [PacingWish::Auto, PacingWish::Vsync, PacingWish::VsyncLate];
    let cases = wishes.into_iter().flat_map(|wish| [(wish, false, false), (wish, true, false), (wish, true, true)]);
    for (wish, draws_before, beside_another) in cases {
        for pause in [0.05, 2.0, 9.0].map(ms) {
            let mut panel = SimulatedPanel::new();
            let asks = panel.add_callback_client(FrameCostSource::constant(pause), wish);
            if beside_another {
                panel.add_callback_client(phases(vec![(5.0, 1)]), PacingWish::Auto);
            }
            if draws_before {
                panel.run_for(LEARNED);
            }
            panel.commit_nothing(asks);
            panel.run_for(LEARNED / 10);
            let begun = panel.callbacks(asks).len();
            panel.run_for(LEARNED * 2);
            let gaps = panel.callbacks(asks)[begun..].windows(2).map(|pair| pair[1] - pair[0]);
            let (least, most) =
                gaps.fold((Span::MAX, Span::ZERO), |(least, most), gap| (least.min(gap), most.max(gap)));
            let case = format!("{wish:?}, {draws_before}, {beside_another}, {pause}");
            assert!(least >= SHORTEST && most <= SHORTEST + pause, "{case}: {least} to {most} apart");
        }
    }
}

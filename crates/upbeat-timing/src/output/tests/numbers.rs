//! Refreshes are numbered by time, not by latches.

use proptest::prelude::*;

use super::*;

const INTERVAL: Span = Span::from_micros(16_667);
const LEAD: Span = Span::from_micros(600);
/// A long idle, after which the phase is not trusted any more.
const LONG: Span = Span::from_seconds(60);

fn start() -> Instant {
    Instant::from_nanos(1_000_000_000)
}

fn machine() -> OutputMachine {
    let mut vsync = VsyncModel::new(INTERVAL, start());
    vsync.synchronise(start());
    OutputMachine::new(vsync, LEAD, start())
}

/// The latch that is planned at `now` finds nothing to show; returns when it was made.
fn latch_for_nothing(machine: &mut OutputMachine, now: Instant, effective: bool) -> Instant {
    let (index, when) = machine.next_latch(now).unwrap();
    machine.latch(index);
    machine.latched_nothing(index, when, effective);
    when
}

#[test]
fn commits_that_show_nothing_do_not_run_ahead_of_time() {
    let mut machine = machine();
    let mut now = start() + LONG;
    for commit in 0..12_000 {
        machine.schedule_repaint(RepaintReason::Content);
        now = latch_for_nothing(&mut machine, now, commit % 3 == 0).max(now) + Span::from_micros(5);
        let ahead = machine.vsync().present(machine.next_index(now)) - now;
        let slack = machine.submit_lead() + machine.compose_budget();
        assert!(ahead <= INTERVAL * 2 + slack, "after {commit} commits the next refresh is {ahead} away");
    }
}

#[test]
fn an_output_latches_for_nothing_at_most_twice_a_refresh() {
    let mut machine = machine();
    let from = start() + LONG;
    let (mut now, mut latches) = (from, 0);
    while now < from + INTERVAL * 100 {
        machine.schedule_repaint(RepaintReason::Content);
        now = latch_for_nothing(&mut machine, now, false).max(now) + Span::from_nanos(1);
        latches += 1;
    }
    assert!(latches <= 202, "{latches} latches in 100 refreshes");
}

#[test]
fn a_latch_without_effect_gives_its_number_back_and_one_with_effect_does_not() {
    let now = start() + LONG;
    let next = |effective| {
        let mut machine = machine();
        machine.schedule_repaint(RepaintReason::Content);
        let index = machine.next_index(now);
        latch_for_nothing(&mut machine, now, effective);
        machine.next_index(now).since(index)
    };
    assert_eq!((next(false), next(true)), (0, 1));
}

#[test]
fn after_a_latch_for_nothing_content_is_shown_at_the_refresh_that_was_given_back() {
    let mut machine = machine();
    let now = start() + LONG;
    machine.schedule_repaint(RepaintReason::Content);
    let index = machine.next_index(now);
    latch_for_nothing(&mut machine, now, false);
    machine.schedule_repaint(RepaintReason::Content);
    assert_eq!(machine.next_latch(now), Some((index, machine.latch_at(index).max(now))), "and not at once again");
}

#[test]
fn the_next_refresh_lies_behind_what_is_in_flight_or_cannot_be_withdrawn_yet() {
    let mut machine = machine();
    let now = start() + Span::from_millis(1);
    let first = machine.next_index(now);
    show(&mut machine, first, now, now, ComposeCostKind::Usual);
    assert_eq!(machine.latched(), first);
    finish(&mut machine, first.next(), true);
    finish(&mut machine, first.plus(2), true);
    assert_eq!(machine.latched(), first, "a frame that the display holds does not count");
    machine.schedule_repaint(RepaintReason::Content);
    let step = machine.poll_frame(AheadLimits::default(), now);
    assert!(matches!(step, Some(crate::frames::FrameOperation::Withdraw(_))), "{step:?}");
    assert_eq!(machine.latched(), first.plus(2), "unless it is too late");
    machine.frames_mut().withdrawn(None);
    assert_eq!(machine.latched(), first);
}

#[test]
fn a_latch_that_failed_has_another_try_at_the_next_refresh() {
    let mut machine = machine();
    let from = start() + LONG;
    let (mut now, mut tries) = (from, 0);
    while now < from + INTERVAL * 20 {
        machine.retry_repaint();
        let (index, when) = machine.next_latch(now).unwrap();
        machine.latch(index);
        let id = machine.choose(index, ());
        machine.fail(id);
        now = when.max(now) + Span::from_nanos(1);
        tries += 1;
    }
    assert!(tries <= 22, "{tries} tries in 20 refreshes");
}

#[test]
fn numbers_that_ran_ahead_are_set_by_the_clock() {
    let mut machine = machine();
    let now = start() + LONG;
    machine.refresh_numbers.spent = RefreshIndex(1_000_000);
    let index = machine.next_index(now);
    assert!(machine.is_plan_impossible(index, now));
    machine.renumber(now);
    assert!(machine.vsync().present(machine.next_index(now)) - now <= INTERVAL * 2);
}

#[test]
fn a_refresh_that_somebody_waits_for_is_not_beyond_reach() {
    let mut machine = machine();
    let far = machine.next_index(start()).plus(600);
    assert!(machine.is_plan_impossible(far, start()));
    machine.schedule_repaint_at(far);
    assert!(!machine.is_plan_impossible(far, start()));
}

#[test]
fn a_plan_made_for_slow_motion_is_sound_also_when_the_motion_ends_meanwhile() {
    let mut machine = machine();
    let cost = INTERVAL * 5;
    for _ in 0..20 {
        machine.compose.set_motion(true);
        machine.compose.observe(cost, INTERVAL);
    }
    let now = start() + LONG;
    machine.schedule_repaint(RepaintReason::Content);
    let planned = machine.next_index(now);
    assert!(machine.vsync().present(planned) - now > cost);
    // A frame at rest has the initial estimate, because none was measured yet.
    machine.compose.set_motion(false);
    machine.compose.set_motion(false);
    assert!(machine.compose_budget() < INTERVAL);
    assert!(!machine.is_plan_impossible(planned, now));
}

/// A panel with variable refresh, whose last light was at the start.
fn variable() -> OutputMachine {
    let mut machine = machine();
    machine.vsync_mut().set_variable(Some((INTERVAL / 2, INTERVAL * 2)));
    let id = show(&mut machine, RefreshIndex(1), start(), start(), ComposeCostKind::Odd);
    machine.presented(id, start(), None, start());
    machine
}

#[test]
fn after_a_rest_the_next_variable_refresh_is_now() {
    let mut machine = variable();
    let now = start() + LONG;
    machine.schedule_repaint(RepaintReason::Content);
    machine.expect(now);
    let (index, when) = machine.next_latch(now).unwrap();
    let present = machine.vsync().present(index);
    assert!(when <= now && now < present && present - now < INTERVAL / 2, "{} away", present - now);
}

#[test]
fn a_stamped_update_is_latched_once_and_at_its_time_where_refreshes_are_variable() {
    let mut machine = variable();
    let now = start() + LONG;
    let stamp = now + Span::from_millis(500);
    machine.schedule_repaint_from(machine.next_index(now), stamp);
    machine.expect(now);
    let (index, when) = machine.next_latch(now).unwrap();
    assert!(when > now + Span::from_millis(480), "latched {} before its time", stamp - when);
    // Other content does not wait for it: a frame chosen now can be shown now.
    assert!(machine.vsync().present(index) - now < INTERVAL);
    machine.expect_latch(when);
    assert_eq!(machine.vsync().present(index), stamp);
    // Other content is shown meanwhile.
    machine.schedule_repaint(RepaintReason::Content);
    machine.expect(now);
    assert!(machine.next_latch(now).is_some_and(|(_, when)| when <= now));
}

#[test]
fn a_repetition_before_a_stamped_update_comes_at_its_own_moment_even_if_it_delays_the_update() {
    let mut machine = machine();
    machine.vsync_mut().set_variable(Some((INTERVAL, INTERVAL * 3 / 2)));
    let id = show(&mut machine, RefreshIndex(1), start(), start(), ComposeCostKind::Odd);
    machine.presented(id, start(), None, start());
    let now = start() + Span::from_millis(1);
    // Half of that is less than the shortest interval.
    machine.schedule_repaint_from(machine.next_index(now), start() + INTERVAL * 2 - Span::from_millis(1));
    machine.expect(now);
    let (index, when) = machine.next_latch(now).unwrap();
    machine.expect_latch(when);
    assert_eq!(machine.vsync().present(index), start() + INTERVAL);
    assert_eq!(machine.latch(index), RepaintReason::Output, "the update is not due");
}

#[test]
fn behind_a_frame_in_flight_the_next_variable_refresh_stays_where_it_is() {
    let mut machine = variable();
    let now = start() + LONG;
    machine.schedule_repaint(RepaintReason::Content);
    machine.expect(now);
    let (index, when) = machine.next_latch(now).unwrap();
    let first = machine.vsync().present(index);
    show(&mut machine, index, when, when, ComposeCostKind::Usual);
    for _ in 0..100 {
        machine.schedule_repaint(RepaintReason::Content);
        machine.expect(now);
    }
    let next = machine.vsync().present(machine.next_index(now));
    assert_eq!(next - first, INTERVAL / 2, "one of the shortest intervals after it");
}

#[test]
fn where_refreshes_are_variable_latches_for_nothing_keep_their_distance() {
    let mut machine = variable();
    let from = start() + LONG;
    let (mut now, mut latches) = (from, 0);
    while now < from + INTERVAL * 100 {
        machine.schedule_repaint(RepaintReason::Content);
        machine.expect(now);
        now = latch_for_nothing(&mut machine, now, true).max(now) + Span::from_nanos(1);
        latches += 1;
    }
    assert!(latches <= 202, "{latches} latches in 100 intervals, at twice the rate");
}

#[test]
fn a_true_timestamp_after_a_long_rest_is_no_outlier() {
    let mut machine = machine();
    // An hour at 20 parts per million: 72 ms, which are 4.3 refreshes.
    let now = start() + Span::from_seconds(3_600);
    machine.schedule_repaint(RepaintReason::Content);
    let (index, when) = machine.next_latch(now).unwrap();
    let id = show(&mut machine, index, when, when, ComposeCostKind::Usual);
    let light = machine.vsync().present(index) + INTERVAL.scale(4, 10);
    let (outcome, _) = machine.presented(id, light, None, light);
    assert_eq!((outcome.present, outcome.found_phase, outcome.late), (light, true, 0));
    assert!(machine.vsync().is_trusted(light));
    assert_eq!(machine.submit_lead(), LEAD, "and it says nothing of the driver");
}

#[test]
fn a_glitch_on_a_grid_that_is_known_is_one_still() {
    let mut machine = machine();
    let index = machine.next_index(start());
    let id = show(&mut machine, index, start(), start(), ComposeCostKind::Usual);
    let light = machine.vsync().present(index) + INTERVAL.scale(4, 10);
    let (outcome, _) = machine.presented(id, light, None, light);
    assert!(!outcome.found_phase && outcome.present != light, "{outcome:?}");
}

#[derive(Clone, Copy, Debug)]
enum OutputEvent {
    Need,
    Empty(bool),
    Show,
    Fail,
    Light(bool),
    Rest(i64),
    Rate(i64),
    Power,
    Stamp(i64),
}

fn happening() -> impl Strategy<Value = OutputEvent> {
    prop_oneof![
        4 => Just(OutputEvent::Need),
        4 => any::<bool>().prop_map(OutputEvent::Empty),
        4 => Just(OutputEvent::Show),
        1 => Just(OutputEvent::Fail),
        4 => any::<bool>().prop_map(OutputEvent::Light),
        3 => (0_i64..40_000).prop_map(OutputEvent::Rest),
        1 => (600_000_i64..600_000_000).prop_map(OutputEvent::Rest),
        1 => (4_000_i64..40_000).prop_map(OutputEvent::Rate),
        1 => Just(OutputEvent::Power),
        1 => (0_i64..200_000).prop_map(OutputEvent::Stamp),
    ]
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(1_000))]

    /// In every sequence of events, a frame that is needed as soon as possible, on a free display, is latched for a
    /// refresh within two intervals.
    #[test]
    fn urgent_frame_is_for_a_refresh_within_two_intervals(
        happenings in prop::collection::vec(happening(), 1..200),
    ) {
        let mut machine = machine();
        let mut now = start() + Span::from_millis(3);
        for happening in happenings {
            let needed = machine.next_latch(now).filter(|_| machine.repaint_reason().is_some());
            match happening {
                OutputEvent::Need => machine.schedule_repaint(RepaintReason::Content),
                OutputEvent::Empty(effective) => if let Some((index, when)) = needed {
                    now = when.max(now);
                    machine.latch(index);
                    machine.latched_nothing(index, now, effective);
                },
                OutputEvent::Show | OutputEvent::Fail => if let Some((index, when)) = needed {
                    now = when.max(now);
                    machine.latch(index);
                    let id = machine.choose(index, ());
                    if matches!(happening, OutputEvent::Show) {
                        machine.submitted(id, when, now, ComposeCostKind::Usual);
                    } else {
                        machine.fail(id);
                        machine.retry_repaint();
                    }
                },
                OutputEvent::Light(late) => {
                    let flight = machine.frames().in_flight().next().map(|frame| (frame.id, frame.target));
                    if let Some((id, index)) = flight {
                        let light = machine.vsync().present(index.plus(u64::from(late)));
                        now = now.max(light);
                        machine.presented(id, light, None, now);
                    }
                }
                OutputEvent::Rest(micros) => now += Span::from_micros(micros),
                OutputEvent::Rate(micros) => machine.restart(Some(Span::from_micros(micros)), now),
                OutputEvent::Power => {
                    let flights: Vec<FrameId> = machine.frames().iter().map(|frame| frame.id).collect();
                    flights.into_iter().for_each(|id| { machine.frames_mut().take(id); });
                    machine.set_powered(false);
                    machine.set_powered(true);
                    machine.restart(None, now);
                }
                OutputEvent::Stamp(micros) => {
                    let stamp = machine.vsync().at_or_after(now + Span::from_micros(micros));
                    machine.schedule_repaint_at(stamp.max(machine.latched().next()));
                }
            }
            machine.schedule_repaint(RepaintReason::Content);
            if machine.is_busy() {
                continue;
            }
            if let Some((index, when)) = machine.next_latch(now) {
                let interval = machine.vsync().interval();
                let slack = machine.submit_lead() + machine.compose_budget();
                let ahead = machine.vsync().present(index) - now;
                prop_assert!(when >= now && ahead <= interval * 2 + slack, "{ahead} ahead after {happening:?}");
                prop_assert!(!machine.is_plan_impossible(index, now));
            }
        }
    }
}

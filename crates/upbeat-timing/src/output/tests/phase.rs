//! The first frames after the display restarted its refreshes: with a new mode, or switched on.

use expect_test::expect;

use super::*;

const OLD: Span = Span::from_micros(16_667);
const NEW: Span = Span::from_micros(16_579);
const COMPOSE: Span = Span::from_millis(2);
const LEAD: Span = Span::from_micros(500);

/// A machine with a known grid whose mode changes; also returns the time of the change.
fn switched() -> (OutputMachine, Instant) {
    let start = Instant::from_nanos(1_000_000_000);
    let mut machine = OutputMachine::new(VsyncModel::new(OLD, start), LEAD, start);
    machine.set_lead(LEAD, Span::from_micros(500));
    for refresh in 1..=8 {
        let time = start + OLD * refresh;
        machine.vsync_mut().observe(time, Some(1), time);
    }
    let now = start + OLD * 9 - Span::from_millis(5);
    machine.vsync_mut().set_interval(NEW, now);
    (machine, now)
}

/// Composes the needed frame; also returns when it was submitted.
fn compose(machine: &mut OutputMachine, now: Instant) -> (FrameId, RefreshIndex, Instant) {
    machine.schedule_repaint(RepaintReason::Content);
    let (index, when) = machine.next_latch(now).unwrap();
    let id = show(machine, index, when, when + COMPOSE, ComposeCostKind::Usual);
    (id, index, when + COMPOSE)
}

/// The first refresh of the new grid that a frame submitted at `handed_over` can reach, if the grid has a refresh at
/// `phase`.
fn first_after(handed_over: Instant, phase: Instant) -> Instant {
    let refreshes = (handed_over + LEAD - phase).as_nanos().div_euclid(NEW.as_nanos()) + 1;
    phase + NEW * refreshes
}

/// The frame of the mode switch itself, whose light is unknown; then a frame that is shown at the first refresh of the
/// new grid that it can reach, or `missed` later. The new grid lies `phase` off the old grid.
fn second_frame(phase: Span, missed: i64) -> (PresentOutcome, OutputMachine) {
    let (mut machine, now) = switched();
    let (id, _, handed_over) = compose(&mut machine, now);
    let switched = handed_over + Span::from_millis(30);
    machine.presented(id, Instant::ZERO, None, switched);
    let (id, _, handed_over) = compose(&mut machine, switched);
    let light = first_after(handed_over, machine.vsync().present(RefreshIndex(9)) + phase) + NEW * missed;
    (machine.presented(id, light, None, light).0, machine)
}

#[test]
fn the_first_known_light_of_a_mode_is_not_late_wherever_its_grid_lies() {
    for tenth in 0..10 {
        let (outcome, mut machine) = second_frame(NEW.scale(tenth, 10), 0);
        assert_eq!((outcome.late, outcome.found_phase), (0, true), "{tenth} tenths of a refresh off");
        assert_eq!(outcome.target, Some(outcome.shown));
        let margin = machine.submit_lead();
        assert_eq!(margin, LEAD + Span::from_micros(500), "nothing was learned of the driver");
        // From here on the grid is known.
        for _ in 0..5 {
            let now = machine.vsync().present(machine.latched());
            let (id, index, _) = compose(&mut machine, now);
            let light = machine.vsync().present(index);
            assert_eq!(light, outcome.present + NEW * index.since(outcome.shown) as i64);
            let next = machine.presented(id, light, None, light).0;
            assert_eq!((next.late, next.found_phase), (0, false));
        }
    }
}

#[test]
fn a_frame_that_lets_refreshes_of_the_new_grid_pass_is_late_by_these() {
    let late: Vec<_> = (0..4).map(|missed| second_frame(NEW.scale(6, 10), missed).0.late).collect();
    expect!["[0, 1, 2, 3]"].assert_eq(&format!("{late:?}"));
}

#[test]
fn unknown_light_is_between_submission_and_now() {
    for micros in (0..20_000).step_by(500) {
        let (mut machine, now) = switched();
        let (id, index, handed_over) = compose(&mut machine, now);
        let now = handed_over + Span::from_micros(micros);
        let outcome = machine.presented(id, Instant::ZERO, None, now).0;
        assert!(handed_over <= outcome.present && outcome.present <= now, "{outcome:?}");
        assert!(outcome.shown >= index && !outcome.found_phase);
    }
}

#[test]
fn nor_is_it_after_now_where_an_old_grid_is_known() {
    let start = Instant::from_nanos(1_000_000_000);
    let mut machine = OutputMachine::new(VsyncModel::new(OLD, start), LEAD, start);
    machine.vsync_mut().synchronise(start);
    let idle = start + OLD * 3_600;
    let (id, index, handed_over) = compose(&mut machine, idle + Span::from_millis(3));
    let target = machine.vsync().present(index);
    assert_eq!(machine.clone().presented(id, Instant::ZERO, None, target).0.present, target);
    // Nearer to the refresh after its target, which is still to come.
    let now = target + OLD.scale(6, 10);
    let outcome = machine.presented(id, Instant::ZERO, None, now).0;
    assert!(handed_over < outcome.present && outcome.present <= now, "{outcome:?}");
}

#[test]
fn switched_on_again_a_display_has_a_new_phase() {
    let start = Instant::from_nanos(1_000_000_000);
    let mut vsync = VsyncModel::new(OLD, start);
    vsync.synchronise(start);
    assert!(vsync.has_phase());
    let now = start + OLD * 5;
    vsync.forget_phase(now);
    assert!(!vsync.has_phase() && !vsync.is_trusted(now));
    let light = now + OLD / 2;
    assert!(vsync.learn_phase(RefreshIndex(6), light, light));
    vsync.observe(light, None, light);
    assert_eq!(vsync.present(RefreshIndex(7)), light + OLD);
    assert!(!vsync.learn_phase(RefreshIndex(9), light + OLD, light + OLD), "it is known");
}

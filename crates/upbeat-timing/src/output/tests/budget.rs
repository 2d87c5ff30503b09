//! A frame that only moves planes is latched later than a composed frame, while no client draws.

use super::*;

const INTERVAL: Span = Span::from_micros(16_667);
const COMPOSE: Span = Span::from_millis(5);
const FLIP: Span = Span::from_micros(200);

/// A machine with the cursor on a plane that has often composed, and as often only moved the cursor.
fn practised() -> (OutputMachine, Instant) {
    let start = Instant::from_nanos(1_000_000_000);
    let mut machine = OutputMachine::new(VsyncModel::new(INTERVAL, start), Span::from_micros(500), start);
    machine.set_planes(1, true);
    let mut now = start;
    for (composed, cost) in [(ComposeCostKind::Usual, COMPOSE), (ComposeCostKind::Planes, FLIP)] {
        for _ in 0..100 {
            machine.schedule_repaint(RepaintReason::Content);
            let (index, when) = machine.next_latch(now).unwrap();
            let id = show(&mut machine, index, when, when + cost, composed);
            now = machine.vsync().present(index);
            machine.presented(id, now, Some(index.0), now);
        }
    }
    (machine, now)
}

/// How long before its submission deadline the needed frame is latched.
fn head_start(machine: &OutputMachine, now: Instant) -> Span {
    let (index, when) = machine.next_latch(now).unwrap();
    machine.submit_by(index) - when
}

#[test]
fn the_cursor_alone_is_latched_with_newer_input_than_what_is_composed() {
    let (mut machine, now) = practised();
    machine.schedule_repaint(RepaintReason::Cursor);
    let alone = head_start(&machine, now);
    assert!(alone > FLIP && alone < Span::from_millis(1), "{alone}");
    machine.schedule_repaint(RepaintReason::Content);
    assert!(head_start(&machine, now) > COMPOSE, "a window comes with it");
    let index = machine.next_index(now);
    machine.latch(index);
    let id = machine.choose(index, ());
    machine.fail(id);
    machine.schedule_repaint(RepaintReason::Cursor);
    assert_eq!(head_start(&machine, now), alone, "the next one is by itself again");
}

#[test]
fn it_is_as_early_as_ever_while_somebody_draws_or_an_update_is_due() {
    let (mut machine, now) = practised();
    machine.schedule_repaint(RepaintReason::Cursor);
    machine.set_client_draws(true, true);
    assert!(head_start(&machine, now) > COMPOSE);
    machine.set_client_draws(false, false);
    machine.schedule_repaint_at(machine.next_index(now));
    assert!(head_start(&machine, now) > COMPOSE);
}

#[test]
fn a_refresh_that_is_too_near_for_composing_is_reached_by_the_cursor() {
    let (mut machine, now) = practised();
    let index = machine.next_index(now);
    let late = machine.submit_by(index) - Span::from_millis(1);
    machine.schedule_repaint(RepaintReason::Cursor);
    assert_eq!(machine.next_index(late), index);
    machine.schedule_repaint(RepaintReason::Content);
    assert_eq!(machine.next_index(late), index.next());
}

#[test]
fn clients_are_promised_the_moment_of_a_composed_frame() {
    let (mut machine, now) = practised();
    machine.schedule_repaint(RepaintReason::Cursor);
    let index = machine.next_index(now);
    assert!(machine.submit_by(index) - machine.publish(index).ready_by > COMPOSE);
}

#[test]
fn a_view_that_was_scrolled_on_planes_is_latched_as_late_and_one_that_was_composed_is_not() {
    let (mut machine, mut now) = practised();
    for (composed, late) in
        [(ComposeCostKind::Usual, false), (ComposeCostKind::Planes, false), (ComposeCostKind::Planes, true)]
    {
        machine.schedule_repaint(RepaintReason::Scroll);
        let ahead = head_start(&machine, now);
        assert_eq!(ahead < COMPOSE, late, "{composed:?}: {ahead}");
        let (index, when) = machine.next_latch(now).unwrap();
        let id = show(&mut machine, index, when, when + FLIP, composed);
        now = machine.vsync().present(index);
        machine.presented(id, now, Some(index.0), now);
    }
}

#[test]
fn who_wakes_a_little_late_moves_the_planes_all_the_same() {
    let (mut machine, now) = practised();
    machine.schedule_repaint(RepaintReason::Cursor);
    let (index, when) = machine.next_latch(now).unwrap();
    let late = when + Span::from_micros(50);
    assert!(
        machine.last_useful_latch(index) >= late,
        "{} after it was planned",
        machine.last_useful_latch(index) - when
    );
    assert_eq!(machine.next_latch(late).map(|(index, _)| index), Some(index));
}

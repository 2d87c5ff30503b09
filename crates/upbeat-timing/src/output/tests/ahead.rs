use super::*;
use crate::defaults::COMPOSE_WINDOW;

const INTERVAL: Span = Span::from_millis(10);
const LEAD: Span = Span::from_millis(1);

/// A display whose refresh 0 is at 1 s, and its machine after the latch of refresh 3.
fn machine() -> OutputMachine {
    let start = Instant::from_nanos(1_000_000_000);
    let mut vsync = VsyncModel::new(INTERVAL, start);
    vsync.synchronise(start);
    let mut machine = OutputMachine::new(vsync, LEAD, start);
    let third = RefreshIndex(machine.latched().0 + 3);
    machine.latched_nothing(third, start, true);
    machine.schedule_repaint(RepaintReason::Animation);
    machine
}

/// Composing for `next` took from `from` to `to`, and then the display lost the frame.
fn lose(machine: &mut OutputMachine, next: RefreshIndex, from: Instant, to: Instant) {
    let id = show(machine, next, from, to, ComposeCostKind::Usual);
    machine.frames_mut().take(id);
    machine.schedule_repaint(RepaintReason::Animation);
}

#[test]
fn where_composing_is_slow_a_finished_frame_is_submitted_when_the_refresh_before_its_own_begins() {
    let mut machine = machine();
    let next = machine.latched().next();
    let begins = machine.vsync().present(machine.latched());
    for _ in 0..COMPOSE_WINDOW {
        lose(&mut machine, next, begins, begins + INTERVAL * 6 / 5);
    }
    finish(&mut machine, next, false);
    assert_eq!(machine.next_latch(begins - INTERVAL), Some((next, begins)), "not earlier: it would be shown early");
    let woken = begins + Span::from_millis(8);
    assert_eq!(machine.next_latch(woken), Some((next, woken)), "a loop that was held up still makes it");
    let missed = machine.submit_by(next) + Span::from_nanos(1);
    assert!(machine.next_latch(missed).is_some_and(|(index, _)| index > next));
}

#[test]
fn where_composing_is_quick_a_finished_frame_gives_way_until_a_fresh_one_would_be_latched() {
    let mut machine = machine();
    let next = machine.latched().next();
    let begins = machine.vsync().present(machine.latched());
    for _ in 0..COMPOSE_WINDOW {
        lose(&mut machine, next, begins, begins + INTERVAL / 10);
    }
    let waits = finish(&mut machine, next, false);
    let latch = machine.latch_at(next);
    assert!(latch > begins + INTERVAL / 2);
    assert_eq!(machine.next_latch(begins), Some((next, latch)), "as for a press that comes just before");
    assert_eq!(machine.next_latch(latch + INTERVAL / 20), Some((next, latch + INTERVAL / 20)), "late, but in time");
    // Rendering meanwhile cannot delay it.
    assert!(machine.may_render_ahead(begins, 1, 4) && !machine.may_render_ahead(begins, 2, 4));
    assert!(!machine.may_render_ahead(latch, 1, 4), "it is submitted first");
    machine.frames_mut().take(waits);
    assert!(machine.may_render_ahead(latch, 0, 4));
}

#[test]
fn a_frame_that_the_display_holds_can_be_taken_back_until_a_fresh_one_would_be_latched() {
    let mut machine = machine();
    let next = machine.latched().next();
    let begins = machine.vsync().present(machine.latched());
    for _ in 0..COMPOSE_WINDOW {
        lose(&mut machine, next, begins, begins + INTERVAL / 2);
    }
    let waits = finish(&mut machine, next, true);
    let latch = machine.latch_at(next);
    assert_eq!(machine.next_latch(begins), Some((next, latch)));
    // Even if the loop wakes too late it is shown: a fresh frame for the same refresh would be one too many.
    let missed = machine.submit_by(next) + Span::from_millis(1);
    assert_eq!(machine.next_latch(missed), Some((next, missed)));
    // The last missing frame is rendered only if input would not have to wait for it; with more missing, at once.
    let soon = latch - INTERVAL / 4;
    assert!(!machine.may_render_ahead(soon, 3, 4) && machine.may_render_ahead(soon, 2, 4));
    machine.frames_mut().take(waits);
    finish(&mut machine, next.next(), true);
    assert!(machine.may_render_ahead(latch, 3, 4));
}

#[test]
fn a_stale_frame_is_shown_only_where_a_fresh_one_would_be_late() {
    let mut machine = machine();
    let next = machine.latched().next();
    finish(&mut machine, next, false);
    machine.supersede();
    let (early, late) = (machine.vsync().present(machine.latched()), machine.submit_by(next) - Span::from_micros(1));
    assert!(!machine.shows_finished(next, early));
    assert_eq!(machine.next_latch(early), Some((next, machine.latch_at(next))), "there is time for a fresh one");
    assert!(machine.shows_finished(next, late));
    // A renderer that takes two refreshes is never in time.
    for _ in 0..COMPOSE_WINDOW {
        lose(&mut machine, next, early, early + INTERVAL * 2);
    }
    assert!(machine.shows_finished(next, early));
    assert_eq!(machine.next_latch(early), Some((next, early)));
}

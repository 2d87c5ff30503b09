use super::*;
use crate::defaults::CALM_AFTER;
use crate::output::ComposeCostKind;
use crate::vsync::VsyncModel;

const INTERVAL: Span = Span::from_micros(16_000);

/// How long before each refresh its frame was latched, for a client whose frames all wait already. There is an input
/// event at refresh `touched`.
fn latches(early_latch: bool, count: u64, touched: u64) -> Vec<Span> {
    let start = Instant::from_nanos(1_000_000_000);
    let output = OutputMachine::new(VsyncModel::new(INTERVAL, start), Span::from_millis(1), start);
    let mut conductor: Conductor = Conductor::new(output, 1);
    conductor.output_mut().vsync_mut().synchronise(start);
    conductor.output_mut().observe_ahead_cost(Span::from_millis(1));
    conductor.set_early_latch(early_latch);
    let client = conductor.add_pacer(PacingWish::Auto, PacerMissBudgets::default());
    let (mut now, mut spans) = (start, Vec::new());
    for index in (5..5 + count).map(RefreshIndex) {
        conductor.output_mut().schedule_repaint_at(index);
        if index.0 == touched {
            conductor.input(client, now, true);
        }
        let (target, scheduled) = loop {
            match conductor.poll_action(now) {
                Some(ConductorAction::Latch { target, scheduled }) => break (target, scheduled),
                Some(ConductorAction::Callback { .. }) => panic!("a callback without a request"),
                None => now = conductor.next_wake(now).unwrap_or_else(|| panic!("nothing is planned")),
            }
        };
        spans.push(target.present - now);
        conductor.latched(target.id);
        let machine = conductor.output_mut();
        let frame = machine.choose(target.id, ());
        machine.submitted(frame, scheduled, now + Span::from_millis(1), ComposeCostKind::Usual);
        now = target.present;
        machine.presented(frame, now, Some(1), now);
    }
    spans
}

#[test]
fn frames_drawn_ahead_are_latched_early_when_nobody_has_touched_anything_for_a_while() {
    let refreshes = (CALM_AFTER.as_nanos() / INTERVAL.as_nanos()) as usize;
    let spans = latches(true, 2 * refreshes as u64 + 20, 5 + refreshes as u64 + 10);
    let is_early = |span: &Span| *span == INTERVAL - INTERVAL / 8;
    assert!(spans[..refreshes - 6].iter().all(|span| *span < INTERVAL / 2), "late at first");
    assert!(spans[refreshes + 2..refreshes + 10].iter().all(is_early), "{:?}", &spans[refreshes..]);
    assert!(spans[refreshes + 10..2 * refreshes].iter().all(|span| *span < INTERVAL / 2), "an input: late again");
    assert!(spans.last().is_some_and(is_early), "and early after it");
}

#[test]
fn switched_off_no_latch_is_early() {
    let refreshes = (CALM_AFTER.as_nanos() / INTERVAL.as_nanos()) as u64;
    assert!(latches(false, 2 * refreshes, 0).iter().all(|span| *span < INTERVAL / 2));
}

#[test]
fn a_latch_that_nobody_draws_for_forgives_a_late_wake_up() {
    let start = Instant::from_nanos(1_000_000_000);
    let output = OutputMachine::new(VsyncModel::new(INTERVAL, start), Span::from_millis(1), start);
    let mut conductor: Conductor = Conductor::new(output, 1);
    conductor.output_mut().vsync_mut().synchronise(start);
    let client = conductor.add_pacer(PacingWish::Auto, PacerMissBudgets::default());
    let index = RefreshIndex(5);
    let now = conductor.output().vsync().present(RefreshIndex(4)) + Span::from_millis(3);
    let latch_at = conductor.output().latch_at(index);
    conductor.output_mut().schedule_repaint_at(index);
    assert_eq!(conductor.next_wake(now), Some(latch_at - INTERVAL / 16), "what is due was drawn long ago");
    let mut pressed = conductor.clone();
    pressed.output_mut().schedule_repaint(RepaintReason::Content);
    assert_eq!(pressed.next_wake(now), Some(latch_at), "what is wanted at once is wanted as new as can be");
    if let Some(pacer) = conductor.pacer_mut(client) {
        pacer.callback_due(now);
    }
    let Some(ConductorAction::Callback { pacer, target, .. }) = conductor.poll_action(now) else {
        panic!("a new client")
    };
    conductor.called_back(pacer, now, None);
    assert_eq!(target.id, index);
    assert_eq!(conductor.next_wake(now), Some(latch_at), "a client draws for the same refresh");
    conductor.committed(pacer, now + Span::from_millis(2), None, false);
    conductor.output_mut().schedule_repaint(RepaintReason::Content);
    assert_eq!(conductor.next_wake(now), Some(latch_at - INTERVAL / 16), "all clients have drawn for this refresh");
    conductor.input(pacer, now, true);
    assert_eq!(conductor.next_wake(now), Some(latch_at), "and was touched: what comes of that may still come");
}

/// How long before the latch the first and, if any, the second frame of a refresh was begun.
type ShotLeads = (Span, Option<Span>);

/// A client with a long frame every five frames is called back, commits, and asks for a second frame. Returns how long
/// before the latch each frame was begun, and the refreshes of the last pair.
fn two_shots(frames: usize) -> (Vec<ShotLeads>, [Option<RefreshIndex>; 2]) {
    let (usual, long) = (Span::from_millis(3), Span::from_millis(8));
    let start = Instant::from_nanos(1_000_000_000);
    let output = OutputMachine::new(VsyncModel::new(INTERVAL, start), Span::from_millis(1), start);
    let mut conductor: Conductor = Conductor::new(output, 1);
    conductor.output_mut().vsync_mut().synchronise(start);
    let client = conductor.add_pacer(PacingWish::JustInTime, PacerMissBudgets::default());
    let (mut now, mut begun, mut last) = (start, Vec::new(), [None, None]);
    let call = |conductor: &mut Conductor, now: &mut Instant| loop {
        match conductor.poll_action(*now) {
            Some(ConductorAction::Callback { pacer, target, .. }) => {
                conductor.called_back(pacer, *now, None);
                return Some((target.id, target.ready_by - *now));
            }
            Some(ConductorAction::Latch { .. }) => return None,
            None => *now = conductor.next_wake(*now)?.max(*now),
        }
    };
    for frame in 0..frames {
        conductor.pacer_mut(client).unwrap().callback_due(now);
        let Some((first, before)) = call(&mut conductor, &mut now) else { panic!("nothing else is wanted") };
        now += if frame % 5 == 0 { long } else { usual };
        conductor.committed(client, now, None, false);
        conductor.output_mut().schedule_repaint(RepaintReason::Content);
        conductor.request_second_shot(client, now);
        let second = call(&mut conductor, &mut now);
        // Some second frames are late; half of them may be.
        let late = second.filter(|_| frame % 4 == 0).map(|_| now + long);
        if second.is_some() && late.is_none() {
            now += usual;
            conductor.committed(client, now, None, false);
        }
        begun.push((before, second.map(|(_, before)| before)));
        last = [Some(first), second.map(|(refresh, _)| refresh)];
        let (target, scheduled) = loop {
            match conductor.poll_action(now) {
                Some(ConductorAction::Latch { target, scheduled }) => break (target, scheduled),
                Some(ConductorAction::Callback { .. }) => panic!("it was called back"),
                None => now = conductor.next_wake(now).unwrap().max(now),
            }
        };
        assert_eq!(target.id, first, "the refresh has its first frame, whatever the second does");
        conductor.latched(target.id);
        let machine = conductor.output_mut();
        let id = machine.choose(target.id, ());
        machine.submitted(id, scheduled, now, ComposeCostKind::Usual);
        if let Some(late) = late {
            now = late;
            conductor.committed(client, now, None, false);
        }
        now = now.max(target.present);
        conductor.output_mut().presented(id, target.present, Some(1), now);
    }
    (begun, last)
}

#[test]
fn a_second_frame_begins_as_late_as_frames_usually_take_and_teaches_no_margin() {
    let (begun, last) = two_shots(80);
    let (first, second) = begun[79];
    let second = second.unwrap_or_else(|| panic!("no second frame: {begun:?}"));
    assert!(last[1].is_some() && last[0] == last[1], "for the same refresh: {last:?}");
    assert!(first > Span::from_millis(8) && first < Span::from_millis(11), "{first:?}");
    assert!(second >= Span::from_millis(3) && second < Span::from_millis(9), "{second:?}");
    assert!(second < first - Span::from_micros(1_500));
}

//! Frames in the display: held, withdrawn, in flight.

use super::*;

const HOLDS: QueuePermissions = QueuePermissions { hold: 4, draw: true, record: true };

/// A queue whose display has one frame in flight and holds two frames that were made ahead, numbers 1 and 2.
fn holding() -> UnitFrameQueue {
    let mut queue = ahead(AheadSettings::buffers(5));
    let first = queue.choose(RefreshIndex(1), Instant::ZERO, ());
    queue.mark_in_flight(first, RefreshIndex(1), FlightTimes::default());
    for _ in 0..2 {
        let id = record(&mut queue);
        queue.mark_recorded(id);
        queue.mark_drawing(id);
        queue.mark_drawn(id, Span::ZERO);
        let Some(FrameOperation::HandOver(given)) = queue.poll(HOLDS) else { panic!("the display has room for it") };
        assert_eq!(given, id);
        queue.mark_held(given, Instant::ZERO);
    }
    queue
}

#[test]
fn a_display_that_has_nothing_is_given_no_frame_before_its_time() {
    let mut queue = ahead(AheadSettings::buffers(5));
    let id = record(&mut queue);
    queue.mark_recorded(id);
    queue.mark_drawing(id);
    queue.mark_drawn(id, Span::ZERO);
    assert!(is_record(queue.poll(HOLDS)), "it would be shown at once");
    let latched = queue.choose(RefreshIndex(1), Instant::ZERO, ());
    queue.mark_in_flight(latched, RefreshIndex(1), FlightTimes::default());
    assert!(matches!(queue.poll(HOLDS), Some(FrameOperation::HandOver(given)) if given == id));
}

#[test]
fn what_is_held_uses_slots_and_what_is_in_flight_does_not() {
    let queue = holding();
    assert_eq!((queue.depth(), queue.pixel_buffers(), queue.ready()), (2, 2, 2));
    assert_eq!(queue.last_taken_refresh(), Some(RefreshIndex(1)), "those that can be withdrawn take no refresh");
    assert_eq!(queue.last_refresh_with_frame(), Some(RefreshIndex(3)));
}

#[test]
fn a_withdrawn_frame_counts_until_the_display_says_that_it_will_not_be_shown() {
    let mut queue = holding();
    queue.withdraw(0);
    let Some(FrameOperation::Withdraw(first)) = queue.poll(QueuePermissions::default()) else {
        panic!("the display is asked")
    };
    assert_eq!((first, queue.last_taken_refresh()), (FrameId(1), Some(RefreshIndex(3))));
    queue.withdrawn(None);
    assert_eq!(queue.last_taken_refresh(), Some(RefreshIndex(1)));
    assert!(queue.get(first).is_some(), "it has not come back yet");
    assert!(queue.poll(QueuePermissions::default()).is_none(), "and frames in the display are not released");
}

#[test]
fn what_cannot_be_withdrawn_is_held_as_before() {
    let mut queue = holding();
    queue.withdraw(0);
    queue.poll(QueuePermissions::default());
    queue.withdrawn(Some(FrameId(1)));
    assert_eq!(queue.next_held().map(|frame| frame.id), Some(FrameId(1)));
    assert_eq!(queue.at(FrameStage::Withdrawn { surely: true }).count(), 1);
}

#[test]
fn what_the_display_holds_is_the_insurance_where_it_holds_something() {
    let mut queue = holding();
    let id = record(&mut queue);
    queue.mark_recorded(id);
    queue.mark_drawing(id);
    queue.mark_drawn(id, Span::ZERO);
    let superseded = queue.supersede();
    assert_eq!((superseded.kept, superseded.wasted), (Some(FrameId(1)), 1));
    assert!(queue.next_finished().is_none());
}

#[test]
fn a_frame_that_nobody_wants_stays_until_the_renderer_gives_it_back() {
    let mut queue = ahead(AheadSettings::buffers(5));
    let id = record(&mut queue);
    queue.mark_recorded(id);
    queue.mark_drawing(id);
    queue.discard_where(QueuedFrame::is_ahead);
    assert!(queue.poll(QueuePermissions::default()).is_none() && queue.next_to_draw().is_none());
    assert!(queue.mark_drawn(id, Span::ZERO));
    assert!(matches!(queue.poll(QueuePermissions::default()), Some(FrameOperation::Release(frame)) if frame.id == id));
    assert!(queue.is_empty());
}

#[test]
fn a_frame_behind_a_late_one_is_for_the_refresh_after() {
    let mut queue = holding();
    let id = FrameId(1);
    queue.mark_in_flight(id, RefreshIndex(2), FlightTimes::default());
    queue.postpone_to(RefreshIndex(5));
    assert_eq!(queue.get(id).map(|frame| frame.target), Some(RefreshIndex(5)));
}

//! Frames in the display: held, withdrawn, in flight.

use super::*;

const HOLDS: May = May { hold: 4, draw: true, record: true };

/// A queue whose display has one frame in flight and holds two frames that were made ahead, numbers 1 and 2.
fn holding() -> Queue {
    let mut queue = ahead(AheadSettings::buffers(5));
    let first = queue.choose(RefreshIndex(1), Instant::ZERO, ());
    queue.fly(first, RefreshIndex(1), Flight::default());
    for _ in 0..2 {
        let id = record(&mut queue);
        queue.recorded(id);
        queue.draw(id);
        queue.drawn(id, Span::ZERO);
        let Some(Step::HandOver(given)) = queue.poll(HOLDS) else { panic!("the display has room for it") };
        assert_eq!(given, id);
        queue.hold(given, Instant::ZERO);
    }
    queue
}

#[test]
fn a_display_that_has_nothing_is_given_no_frame_before_its_time() {
    let mut queue = ahead(AheadSettings::buffers(5));
    let id = record(&mut queue);
    queue.recorded(id);
    queue.draw(id);
    queue.drawn(id, Span::ZERO);
    assert!(is_record(queue.poll(HOLDS)), "it would be shown at once");
    let latched = queue.choose(RefreshIndex(1), Instant::ZERO, ());
    queue.fly(latched, RefreshIndex(1), Flight::default());
    assert!(matches!(queue.poll(HOLDS), Some(Step::HandOver(given)) if given == id));
}

#[test]
fn what_is_held_uses_slots_and_what_is_in_flight_does_not() {
    let queue = holding();
    assert_eq!((queue.depth(), queue.pixel_buffers(), queue.ready()), (2, 2, 2));
    assert_eq!(queue.last_taken(), Some(RefreshIndex(1)), "those that can be withdrawn take no refresh");
    assert_eq!(queue.last_framed(), Some(RefreshIndex(3)));
}

#[test]
fn a_withdrawn_frame_counts_until_the_display_says_that_it_will_not_be_shown() {
    let mut queue = holding();
    queue.withdraw(0);
    let Some(Step::Withdraw(first)) = queue.poll(May::default()) else { panic!("the display is asked") };
    assert_eq!((first, queue.last_taken()), (FrameId(1), Some(RefreshIndex(3))));
    queue.withdrawn(None);
    assert_eq!(queue.last_taken(), Some(RefreshIndex(1)));
    assert!(queue.get(first).is_some(), "it has not come back yet");
    assert!(queue.poll(May::default()).is_none(), "and frames in the display are not released");
}

#[test]
fn what_cannot_be_withdrawn_is_held_as_before() {
    let mut queue = holding();
    queue.withdraw(0);
    queue.poll(May::default());
    queue.withdrawn(Some(FrameId(1)));
    assert_eq!(queue.next_held().map(|frame| frame.id), Some(FrameId(1)));
    assert_eq!(queue.at(Stage::Withdrawn { surely: true }).count(), 1);
}

#[test]
fn what_the_display_holds_is_the_insurance_where_it_holds_something() {
    let mut queue = holding();
    let id = record(&mut queue);
    queue.recorded(id);
    queue.draw(id);
    queue.drawn(id, Span::ZERO);
    let superseded = queue.supersede();
    assert_eq!((superseded.kept, superseded.wasted), (Some(FrameId(1)), 1));
    assert!(queue.next_finished().is_none());
}

#[test]
fn a_frame_that_nobody_wants_stays_until_the_renderer_gives_it_back() {
    let mut queue = ahead(AheadSettings::buffers(5));
    let id = record(&mut queue);
    queue.recorded(id);
    queue.draw(id);
    queue.abandon_all(Frame::is_ahead);
    assert!(queue.poll(May::default()).is_none() && queue.next_to_draw().is_none());
    assert!(queue.drawn(id, Span::ZERO));
    assert!(matches!(queue.poll(May::default()), Some(Step::Release(frame)) if frame.id == id));
    assert!(queue.is_empty());
}

#[test]
fn a_frame_behind_a_late_one_is_for_the_refresh_after() {
    let mut queue = holding();
    let id = FrameId(1);
    queue.fly(id, RefreshIndex(2), Flight::default());
    queue.push_back_to(RefreshIndex(5));
    assert_eq!(queue.get(id).map(|frame| frame.target), Some(RefreshIndex(5)));
}

//! Views that are dragged, flung, scrolled to an offset and held up.

use super::*;

const REFRESH: Span = Span::from_micros(16_667);
const START: Instant = Instant::from_nanos(1_000_000_000);

fn view() -> ViewMotion {
    let mut view = ViewMotion::new(0.0, 0.0);
    let range = OffsetRange { first: 0.0, last: 10_000.0 };
    view.set_ranges(OffsetRanges { x: OffsetRange::default(), y: range }, START);
    view
}

/// A drag at 1000 px/s for 100 ms; returns the time of the last sample.
fn pulled(view: &mut ViewMotion) -> Instant {
    let mut at = START;
    for _ in 0..12 {
        at += Span::from_millis(8);
        view.drag(at, ScrollDistance { x: 0.0, y: 8.0 }, (0.0, 0.0));
    }
    at
}

#[test]
fn a_pulled_view_is_where_the_fingers_will_be_and_without_prediction_where_they_were() {
    let mut view = view();
    let at = pulled(&mut view);
    let later = view.at(at + Span::from_millis(10)).y;
    assert!((later.value - 106.0).abs() < 2.0 && (later.velocity - 1_000.0).abs() < 20.0, "{later:?}");
    view.set_predicts(false);
    assert_eq!(view.at(at + Span::from_millis(10)).y.value, 96.0);
}

#[test]
fn a_view_whose_fingers_stay_where_they_are_comes_back_to_them_and_not_at_once() {
    let mut view = view();
    let at = pulled(&mut view);
    let places: Vec<f64> = (1..8).map(|refresh| view.at(at + REFRESH * refresh).y.value).collect();
    assert!(places[0] > 104.0, "{places:?}");
    assert!(places.windows(2).skip(1).all(|pair| pair[0] - pair[1] >= 0.0 && pair[0] - pair[1] < 6.0), "{places:?}");
    assert_eq!(places[6], 96.0);
    assert!(view.moves_after(at + REFRESH * 5) && !view.moves_after(at + REFRESH * 6));
}

#[test]
fn let_go_it_goes_on_with_its_speed_and_comes_to_rest_once() {
    let mut view = view();
    let at = pulled(&mut view);
    view.release(at, USUAL_DECELERATION, (0.0, 96.0));
    let (first, second) = (view.at(at).y, view.at(at + REFRESH).y);
    assert!((first.velocity - 1_000.0).abs() < 20.0 && (second.value - first.value - 16.4).abs() < 0.5);
    let rest = view.ongoing_course(at).distance_to_rest().y;
    assert!((rest - 500.0).abs() < 10.0, "{rest}: v / (1000 ln 1/0.998)");
    assert!(view.moves_after(at + REFRESH * 60) && !view.moves_after(at + REFRESH * 300));
    assert_eq!(view.at(at + REFRESH * 300).y, MotionSample::at_rest(view.goal().1));
}

#[test]
fn fingers_that_stop_before_they_are_lifted_throw_nothing() {
    let mut view = view();
    let at = pulled(&mut view) + Span::from_millis(80);
    view.release(at, USUAL_DECELERATION, (0.0, 96.0));
    assert!(!view.moves_after(at));
    assert_eq!(view.at(at + REFRESH * 60).y.value, 96.0);
}

#[test]
fn what_holds_it_up_costs_time_and_no_way() {
    let mut view = view();
    let at = pulled(&mut view);
    view.release(at, USUAL_DECELERATION, (0.0, 96.0));
    let goal = view.goal();
    let (free, mut present) = (view.clone(), at);
    for _ in 0..30 {
        present += REFRESH;
        view.hold_up(present, 0.0, 110.0);
        assert_eq!(view.at(present).y.value, 110.0);
    }
    assert_eq!(view.goal(), goal);
    let (speed, of_free) = (view.at(present).y.velocity, free.at(at + REFRESH).y.velocity);
    assert!((speed / of_free - 1.0).abs() < 0.05, "it goes on as fast: {speed} {of_free}");
    assert!(view.moves_after(present));
    assert_eq!(view.at(present + REFRESH * 400).y.value, goal.1);
}

#[test]
fn turns_of_a_wheel_add_up_and_the_end_of_the_document_is_the_end() {
    let mut view = view();
    for turn in 0..3 {
        let (x, y) = view.goal();
        view.scroll_to(START + REFRESH * turn, x, y + 50.0, true);
    }
    assert_eq!(view.goal(), (0.0, 150.0));
    let middle = view.at(START + REFRESH * 6).y;
    assert!(middle.value > 50.0 && middle.value < 150.0, "{middle:?}");
    assert_eq!(view.at(START + REFRESH * 120).y, MotionSample::at_rest(150.0));
    view.scroll_to(START, 0.0, 20_000.0, false);
    assert_eq!(view.at(START).y, MotionSample::at_rest(10_000.0));
    assert!(!view.can_go(ScrollDistance { x: 5.0, y: 5.0 }) && view.can_go(ScrollDistance { x: 0.0, y: -5.0 }));
}

#[test]
fn a_fling_into_the_end_of_the_document_stops_there() {
    let mut view = view();
    view.scroll_to(START, 0.0, 9_900.0, false);
    for sample in 1..12 {
        view.drag(START + Span::from_millis(8) * sample, ScrollDistance { x: 0.0, y: 8.0 }, (0.0, 9_900.0));
    }
    let at = START + Span::from_millis(88);
    view.release(at, USUAL_DECELERATION, (0.0, 9_988.0));
    assert_eq!(view.goal().1, 10_000.0);
    assert!((0..200).all(|refresh| view.at(at + REFRESH * refresh).y.value < 10_100.0));
    assert_eq!(view.at(at + REFRESH * 200).y.value, 10_000.0);
}

#[test]
fn pulled_beyond_its_end_a_view_gives_way_less_and_less_and_returns() {
    let mut view = view();
    view.set_predicts(false);
    view.set_overscroll(60.0);
    let at = |sample: i64| START + Span::from_millis(8) * sample;
    let mut places: Vec<f64> = (0..40)
        .map(|sample| {
            view.drag(at(sample), ScrollDistance { x: 0.0, y: -30.0 }, (0.0, 0.0));
            view.at(at(sample)).y.value
        })
        .collect();
    assert!((places[0] + 20.0).abs() < 1e-9 && places[39] > -60.0 && places[39] <= -54.0, "{places:?}");
    view.drag(at(40), ScrollDistance { x: 0.0, y: 30.0 }, (0.0, 0.0));
    places.push(view.at(at(40)).y.value);
    assert!(places[40] > places[39], "it has not to be pulled back");
    view.release(at(40), USUAL_DECELERATION, (0.0, places[40]));
    assert_eq!(view.at(at(40)).y.value, places[40]);
    assert_eq!(view.at(at(40) + Span::from_seconds(2)).y, MotionSample::at_rest(0.0));
}

#[test]
fn a_document_that_shrinks_takes_the_view_along() {
    let mut view = view();
    view.scroll_to(START, 0.0, 5_000.0, false);
    view.set_ranges(OffsetRanges { x: OffsetRange::default(), y: OffsetRange { first: 0.0, last: 700.0 } }, START);
    assert_eq!(view.at(START).y, MotionSample::at_rest(700.0));
}

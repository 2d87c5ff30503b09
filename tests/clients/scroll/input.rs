//! Scroll views and input: fingers on a touchpad or touch screen, wheels and buttons.

use super::*;
use crate::fixture::ClientEvent;

fn scrolls(stage: &mut ScrollStage) -> usize {
    let events = stage.world.client(stage.client).take_events();
    events.iter().filter(|event| matches!(event, ClientEvent::Scroll { .. })).count()
}

#[test]
fn fingers_move_the_view_at_every_refresh_and_their_client_sleeps() {
    let mut stage = ScrollStage::new();
    stage.view.report_offsets(1);
    stage.point();
    stage.world.client(stage.client).take_events();
    let mut blank = 0;
    let origin = stage.world.window("view").origin();
    stage.swipe(30, 4.0, &mut |world| {
        blank += u32::from(world.pixel(origin.x + 10, origin.y + 99) == RED);
    });
    let offsets = stage.world.client(stage.client).offsets();
    assert!(offsets.len() >= 13, "{offsets:?}");
    for pair in offsets.windows(2) {
        let apart = pair[1].0 - pair[0].0;
        assert!((apart - REFRESH).abs() < Span::from_millis(1), "a refresh was missed: {offsets:?}");
    }
    assert_eq!((scrolls(&mut stage), blank), (0, 0));
}

#[test]
fn lifted_fingers_fling_the_view_and_it_rests_on_whole_pixels() {
    let mut stage = ScrollStage::new();
    stage.point();
    stage.swipe(12, 3.0, &mut |_| {});
    stage.run(Span::from_seconds(4));
    let rests = stage.world.client(stage.client).rests();
    assert_eq!(rests.len(), 1, "{rests:?}");
    // A velocity of 375 px/s and a friction of ln(1/0.998) per ms give 187 pixels more.
    assert!(rests[0].0 > 200.0 && rests[0].0 < 245.0 && rests[0].0.fract() == 0.0, "{rests:?}");
    assert_eq!(f64::from(stage.row_at(0)), rests[0].0);
}

#[test]
fn a_finger_that_is_put_down_stops_a_fling() {
    use upbeat::input::TouchpadGesture;
    let mut stage = ScrollStage::new();
    stage.point();
    stage.swipe(12, 3.0, &mut |_| {});
    stage.run(REFRESH * 4);
    let time = stage.world.now();
    stage.world.input(InputEvent::Gesture { time, gesture: TouchpadGesture::HoldBegin { fingers: 2 } });
    stage.run(REFRESH * 3);
    let stopped = stage.row_at(0);
    assert_eq!(stage.world.client(stage.client).rests().len(), 1);
    stage.run(Span::from_seconds(2));
    assert_eq!(stage.row_at(0), stopped);
    assert!(stopped > 36 && stopped < 200, "{stopped}");
}

#[test]
fn wheel_step_glides_the_view_without_client_events() {
    let mut stage = ScrollStage::new();
    stage.point();
    stage.world.client(stage.client).take_events();
    wheel(&mut stage.world, 2);
    stage.run(Span::from_seconds(2));
    assert_eq!((stage.row_at(0), scrolls(&mut stage)), (100, 0));
}

#[test]
fn unused_axis_events_go_to_the_client() {
    let mut stage = ScrollStage::new();
    stage.point();
    stage.world.client(stage.client).take_events();
    wheel(&mut stage.world, -1);
    stage.run(REFRESH * 3);
    assert_eq!((stage.row_at(0), scrolls(&mut stage)), (0, 1), "it is at the beginning");
    stage.view.set_inputs(Inputs::Finger);
    stage.window.surface.commit();
    stage.run(Span::from_seconds(1));
    wheel(&mut stage.world, 1);
    stage.run(REFRESH * 3);
    assert_eq!((stage.row_at(0), scrolls(&mut stage)), (0, 1));
}

#[test]
fn pointer_position_is_updated_when_the_view_rests_and_before_a_click() {
    let mut stage = ScrollStage::new();
    stage.point();
    stage.swipe(12, 3.0, &mut |_| {});
    stage.world.client(stage.client).take_events();
    stage.run(REFRESH * 5);
    let motions = |events: &[ClientEvent]| -> Vec<f64> {
        let motion =
            |event: &ClientEvent| if let ClientEvent::PointerMotion { y, .. } = event { Some(*y) } else { None };
        events.iter().filter_map(motion).collect()
    };
    let events = stage.world.client(stage.client).take_events();
    assert!(motions(&events).is_empty(), "it moves below the pointer");
    let seen = stage.row_at(50);
    let time = stage.world.now();
    stage.world.input(InputEvent::Button { time, button: 0x110, pressed: true });
    let events = stage.world.client(stage.client).take_events();
    assert_eq!(motions(&events), [f64::from(seen)], "it gets the position before the press");
    assert!(events.iter().any(|event| matches!(event, ClientEvent::Button { pressed: true, .. })));
    let time = stage.world.now();
    stage.world.input(InputEvent::Button { time, button: 0x110, pressed: false });
    stage.run(REFRESH * 3);
    assert_eq!(stage.row_at(50), seen, "and the view has stopped");
}

#[test]
fn pressed_content_gets_its_pointer_position_after_the_document_moved() {
    let mut stage = ScrollStage::new();
    stage.point();
    let button = |stage: &mut ScrollStage, pressed| {
        let time = stage.world.now();
        stage.world.input(InputEvent::Button { time, button: 0x110, pressed });
    };
    button(&mut stage, true);
    stage.scroll_to(120, Behavior::Jump);
    stage.rest();
    stage.world.client(stage.client).take_events();
    let motions = |stage: &mut ScrollStage| -> Vec<f64> {
        let events = stage.world.client(stage.client).take_events();
        let motion =
            |event: &ClientEvent| if let ClientEvent::PointerMotion { y, .. } = event { Some(*y) } else { None };
        events.iter().filter_map(motion).collect()
    };
    let origin = stage.world.window("view").origin();
    stage.world.point(f64::from(origin.x + 100), f64::from(origin.y + 60));
    assert_eq!(motions(&mut stage), [180.0]);
    stage.scroll_to(20, Behavior::Jump);
    stage.rest();
    button(&mut stage, false);
    assert_eq!(motions(&mut stage), [80.0], "it gets the position before the release");
    assert_eq!(stage.error(), None);
}

#[test]
fn touched_content_gets_its_touch_position_after_the_document_moved() {
    let mut stage = ScrollStage::new();
    stage.view.set_inputs(Inputs::empty());
    stage.window.surface.commit();
    stage.rest();
    touch(&mut stage, &[-1.0], false);
    stage.scroll_to(120, Behavior::Jump);
    stage.rest();
    stage.world.client(stage.client).take_events();
    let origin = stage.world.window("view").origin();
    let time = stage.world.now();
    let position = (f64::from(origin.x + 100), f64::from(origin.y + 40)).into();
    stage.world.input(InputEvent::TouchMotion { time, slot: 0, position });
    let events = stage.world.client(stage.client).take_events();
    let told =
        events.iter().find_map(|event| if let ClientEvent::TouchMotion { y, .. } = event { Some(*y) } else { None });
    assert_eq!(told, Some(160.0), "{events:?}");
}

/// Puts a finger down in the middle of the view and moves it by `steps`, one each 8 ms.
fn touch(stage: &mut ScrollStage, steps: &[f64], lifts: bool) {
    let origin = stage.world.window("view").origin();
    let (x, mut y) = (f64::from(origin.x + 100), f64::from(origin.y + 80));
    let time = stage.world.now();
    stage.world.input(InputEvent::TouchDown { time, slot: 0, position: (x, y).into() });
    for step in steps {
        stage.run(TOUCHPAD);
        y += step;
        let time = stage.world.now();
        stage.world.input(InputEvent::TouchMotion { time, slot: 0, position: (x, y).into() });
    }
    if lifts {
        let time = stage.world.now();
        stage.world.input(InputEvent::TouchUp { time, slot: 0 });
    }
}

#[test]
fn touch_beyond_the_slop_drags_the_view_and_cancels_the_touch() {
    let mut stage = ScrollStage::new();
    stage.view.set_options(crate::fixture::scroll::Options::Unpredicted);
    stage.window.surface.commit();
    stage.rest();
    touch(&mut stage, &[-4.0, -5.0, -6.0, -6.0, -6.0], false);
    let events = stage.world.client(stage.client).take_events();
    assert!(events.iter().any(|event| matches!(event, ClientEvent::TouchDown { .. })), "{events:?}");
    assert!(events.iter().any(|event| matches!(event, ClientEvent::TouchCancel)), "{events:?}");
    stage.run(REFRESH * 8);
    assert_eq!(stage.row_at(0), 18, "the distance after the slop");
    assert!(stage.world.client(stage.client).rests().is_empty(), "it is held");
}

#[test]
fn lifted_finger_flings_and_a_tap_reaches_the_client() {
    let mut stage = ScrollStage::new();
    touch(&mut stage, &[-2.0, 2.0], true);
    let events = stage.world.client(stage.client).take_events();
    assert!(events.iter().any(|event| matches!(event, ClientEvent::TouchUp)), "{events:?}");
    assert_eq!(stage.row_at(0), 0);
    touch(&mut stage, &[-3.0; 12], true);
    stage.run(Span::from_seconds(4));
    let rests = stage.world.client(stage.client).rests();
    assert!(rests.len() == 1 && rests[0].0 > 150.0, "{rests:?}");
}

#[test]
fn a_rubber_band_shows_the_background_beyond_the_document_and_returns() {
    let mut stage = ScrollStage::new();
    stage.view.set_physics(998, 80);
    stage.view.set_options(crate::fixture::scroll::Options::Unpredicted);
    stage.window.surface.commit();
    stage.rest();
    stage.point();
    let start = stage.world.now();
    for sample in 1..20 {
        stage.run(TOUCHPAD);
        fingers(&mut stage.world, start + TOUCHPAD * sample, -8.0, false);
    }
    stage.run(REFRESH * 8);
    // A pull of 152 pixels overscrolls by 152 · 80 / 232.
    assert_eq!((stage.row_at(51) as u32, stage.row_at(52), stage.row_at(99)), (RED, 0, 47));
    let time = stage.world.now();
    fingers(&mut stage.world, time, 0.0, true);
    stage.run(Span::from_seconds(1));
    assert_eq!((stage.row_at(0), stage.world.client(stage.client).rests()), (0, vec![(0.0, 0)]));
}

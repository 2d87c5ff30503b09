//! Event times in nanoseconds.

use super::*;
use crate::fixture::client::Data;
use crate::fixture::handlers::silent;
use crate::fixture::{BUTTON_LEFT, Event, KEY_A};
use upbeat::input::{Scroll, ScrollSource};
use upbeat_client::wire::instant;
use wayland_client::{Connection, Dispatch, QueueHandle};
use wayland_protocols::wp::input_timestamps::zv1::client::zwp_input_timestamps_manager_v1::ZwpInputTimestampsManagerV1;
use wayland_protocols::wp::input_timestamps::zv1::client::zwp_input_timestamps_v1::{self, ZwpInputTimestampsV1};
use wayland_protocols::wp::tablet::zv2::client::zwp_tablet_manager_v2::ZwpTabletManagerV2;

silent!(ZwpInputTimestampsManagerV1);

impl Dispatch<ZwpInputTimestampsV1, ()> for Data {
    fn event(
        data: &mut Self,
        _: &ZwpInputTimestampsV1,
        event: zwp_input_timestamps_v1::Event,
        _: &(),
        _: &Connection,
        _: &QueueHandle<Self>,
    ) {
        if let zwp_input_timestamps_v1::Event::Timestamp { tv_sec_hi, tv_sec_lo, tv_nsec } = event {
            data.events.push(Event::Told(format!("at {} ns", instant(tv_sec_hi, tv_sec_lo, tv_nsec).as_nanos())));
        }
    }
}

/// An arbitrary time that is not a whole number of milliseconds.
const AT: Instant = Instant::from_nanos(100_001_234_567);

fn heard(sheet: &mut Sheet, event: InputEvent) -> Vec<String> {
    sheet.world.client(sheet.client).take_events();
    sheet.world.input(event);
    let events = sheet.world.client(sheet.client).take_events();
    events
        .into_iter()
        .filter_map(|event| match event {
            Event::Told(what) => Some(what),
            Event::PointerMotion { .. } => Some("motion".to_owned()),
            Event::Button { .. } => Some("button".to_owned()),
            Event::Scroll { .. } => Some("scroll".to_owned()),
            Event::Key { .. } => Some("key".to_owned()),
            Event::TouchDown { .. } => Some("touched".to_owned()),
            Event::TouchMotion { .. } => Some("moved".to_owned()),
            Event::TouchUp => Some("lifted".to_owned()),
            _ => None,
        })
        .collect()
}

#[test]
fn each_event_that_carries_a_time_has_it_in_nanoseconds_right_before_it() {
    let mut sheet = Sheet::new();
    let (x, y) = sheet.origin();
    sheet.world.click(x + 5.0, y + 5.0);
    let client = sheet.world.client(sheet.client);
    let (manager, handle) = (client.bind::<ZwpInputTimestampsManagerV1>(), client.handle());
    let pointer = manager.get_pointer_timestamps(client.globals().pointer(), &handle, ());
    manager.get_keyboard_timestamps(client.globals().keyboard(), &handle, ());
    manager.get_touch_timestamps(client.globals().touch(), &handle, ());
    manager.destroy();
    sheet.world.settle();

    let position = (x + 8.0, y + 9.0).into();
    let turned = Scroll { distance: 15.0, v120: Some(120), ..Scroll::default() };
    let happens = [
        (InputEvent::PointerPosition { time: AT, position }, "motion"),
        (InputEvent::Button { time: AT, button: BUTTON_LEFT, pressed: true }, "button"),
        (InputEvent::Button { time: AT, button: BUTTON_LEFT, pressed: false }, "button"),
        (
            InputEvent::Axis { time: AT, source: ScrollSource::Wheel, horizontal: Scroll::default(), vertical: turned },
            "scroll",
        ),
        (InputEvent::Key { time: AT, keyboard: upbeat::input::KeyboardId::Session, key: KEY_A, pressed: true }, "key"),
        (InputEvent::TouchDown { time: AT, slot: 1, position }, "touched"),
        (InputEvent::TouchMotion { time: AT, slot: 1, position }, "moved"),
        (InputEvent::TouchUp { time: AT, slot: 1 }, "lifted"),
    ];
    for (event, what) in happens {
        let said = heard(&mut sheet, event);
        assert_eq!(said, ["at 100001234567 ns", what]);
    }
    pointer.destroy();
    let said = heard(&mut sheet, InputEvent::PointerPosition { time: AT, position: (x + 3.0, y).into() });
    assert_eq!(said, ["motion"], "no time for a pointer without a timestamps object");
}

#[test]
fn times_are_told_to_the_client_that_the_event_goes_to_and_of_the_device_that_it_asked_for() {
    let mut sheet = Sheet::new();
    let (x, y) = sheet.origin();
    let (second, _) = sheet.world.open("above", SMALL.0, SMALL.1);
    let client = sheet.world.client(sheet.client);
    let (manager, handle) = (client.bind::<ZwpInputTimestampsManagerV1>(), client.handle());
    manager.get_pointer_timestamps(client.globals().pointer(), &handle, ());
    let client = sheet.world.client(second);
    let (manager, handle) = (client.bind::<ZwpInputTimestampsManagerV1>(), client.handle());
    manager.get_keyboard_timestamps(client.globals().keyboard(), &handle, ());
    sheet.world.rest();
    sheet.world.point(x + 5.0, y + 5.0);
    let said = heard(&mut sheet, InputEvent::PointerPosition { time: AT, position: (x + 3.0, y + 3.0).into() });
    assert!(said.is_empty(), "{said:?}");
    let events = sheet.world.client(second).take_events();
    assert!(events.iter().any(|event| matches!(event, Event::PointerMotion { .. })));
    assert!(!events.iter().any(|event| matches!(event, Event::Told(_))), "it asked for the times of keys only");
}

#[test]
fn a_pen_has_its_times_from_predicted_input() {
    let mut sheet = Sheet::new();
    sheet.predicted();
    let client = sheet.world.client(sheet.client);
    let (seat, handle) = (client.globals().seat.clone(), client.handle());
    client.bind::<ZwpTabletManagerV2>().get_tablet_seat(&seat, &handle, ());
    sheet.world.settle();
    let (x, y) = sheet.origin();
    let (x, y) = (x + 10.0, y + 20.0);
    let mut told = |event: Injected| -> Vec<String> {
        let events: Vec<InputEvent> = device_events(event, AT).collect();
        events.into_iter().flat_map(|event| heard(&mut sheet, event)).collect()
    };
    let time = "at 100001234567 ns";
    assert_eq!(told(Injected::PenNear { x, y }), ["tablet upbeat msg input pen", "tool Pen", time, "near", "at 10 20"]);
    let down = Injected::PenDown { x, y, pressure: 0.5 };
    assert_eq!(told(down), [time, "at 10 20", "pressure 32768", time, "down"]);
    assert_eq!(told(Injected::PenMove { x: x + 1.0, y, pressure: None }), [time, "at 11 20"]);
    assert_eq!(told(Injected::PenUp { x, y }), [time, "at 10 20", "pressure 0", time, "up"]);
    assert_eq!(told(Injected::PenAway), ["away"]);
}

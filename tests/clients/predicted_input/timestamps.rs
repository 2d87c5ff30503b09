//! Event times in nanoseconds.

use super::*;
use crate::fixture::client::TestClientState;
use crate::fixture::dispatch::silent;
use crate::fixture::{BUTTON_LEFT, ClientEvent, KEY_A};
use upbeat::input::{ScrollAxis, ScrollSource};
use upbeat_client::wire::instant;
use wayland_client::{Connection, Dispatch, QueueHandle};
use wayland_protocols::wp::input_timestamps::zv1::client::zwp_input_timestamps_manager_v1::ZwpInputTimestampsManagerV1;
use wayland_protocols::wp::input_timestamps::zv1::client::zwp_input_timestamps_v1::{self, ZwpInputTimestampsV1};
use wayland_protocols::wp::tablet::zv2::client::zwp_tablet_manager_v2::ZwpTabletManagerV2;

silent!(ZwpInputTimestampsManagerV1);

impl Dispatch<ZwpInputTimestampsV1, ()> for TestClientState {
    fn event(
        data: &mut Self,
        _: &ZwpInputTimestampsV1,
        event: zwp_input_timestamps_v1::Event,
        _: &(),
        _: &Connection,
        _: &QueueHandle<Self>,
    ) {
        if let zwp_input_timestamps_v1::Event::Timestamp { tv_sec_hi, tv_sec_lo, tv_nsec } = event {
            data.events
                .push(ClientEvent::InWords(format!("at {} ns", instant(tv_sec_hi, tv_sec_lo, tv_nsec).as_nanos())));
        }
    }
}

/// An arbitrary time that is not a whole number of milliseconds.
const AT: Instant = Instant::from_nanos(100_001_234_567);

fn timed_events(sheet: &mut StrokeWindow, event: InputEvent) -> Vec<String> {
    sheet.world.client(sheet.client).take_events();
    sheet.world.input(event);
    let events = sheet.world.client(sheet.client).take_events();
    events
        .into_iter()
        .filter_map(|event| match event {
            ClientEvent::InWords(what) => Some(what),
            ClientEvent::PointerMotion { .. } => Some("motion".to_owned()),
            ClientEvent::Button { .. } => Some("button".to_owned()),
            ClientEvent::Scroll { .. } => Some("scroll".to_owned()),
            ClientEvent::Key { .. } => Some("key".to_owned()),
            ClientEvent::TouchDown { .. } => Some("touched".to_owned()),
            ClientEvent::TouchMotion { .. } => Some("moved".to_owned()),
            ClientEvent::TouchUp => Some("lifted".to_owned()),
            _ => None,
        })
        .collect()
}

#[test]
fn timestamp_in_nanoseconds_precedes_each_timed_event() {
    let mut sheet = StrokeWindow::new();
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
    let turned = ScrollAxis { distance: 15.0, v120: Some(120), ..ScrollAxis::default() };
    let happens = [
        (InputEvent::PointerPosition { time: AT, position }, "motion"),
        (InputEvent::Button { time: AT, button: BUTTON_LEFT, pressed: true }, "button"),
        (InputEvent::Button { time: AT, button: BUTTON_LEFT, pressed: false }, "button"),
        (
            InputEvent::Axis {
                time: AT,
                source: ScrollSource::Wheel,
                horizontal: ScrollAxis::default(),
                vertical: turned,
            },
            "scroll",
        ),
        (InputEvent::Key { time: AT, keyboard: upbeat::input::KeyboardId::Session, key: KEY_A, pressed: true }, "key"),
        (InputEvent::TouchDown { time: AT, slot: 1, position }, "touched"),
        (InputEvent::TouchMotion { time: AT, slot: 1, position }, "moved"),
        (InputEvent::TouchUp { time: AT, slot: 1 }, "lifted"),
    ];
    for (event, what) in happens {
        let said = timed_events(&mut sheet, event);
        assert_eq!(said, ["at 100001234567 ns", what]);
    }
    pointer.destroy();
    let said = timed_events(&mut sheet, InputEvent::PointerPosition { time: AT, position: (x + 3.0, y).into() });
    assert_eq!(said, ["motion"], "no time for a pointer without a timestamps object");
}

#[test]
fn timestamps_go_to_the_receiving_client_for_the_requested_device() {
    let mut sheet = StrokeWindow::new();
    let (x, y) = sheet.origin();
    let (second, _) = sheet.world.open("above", SMALL.0, SMALL.1);
    sheet.world.move_window("above", (x as i32, y as i32));
    let client = sheet.world.client(sheet.client);
    let (manager, handle) = (client.bind::<ZwpInputTimestampsManagerV1>(), client.handle());
    manager.get_pointer_timestamps(client.globals().pointer(), &handle, ());
    let client = sheet.world.client(second);
    let (manager, handle) = (client.bind::<ZwpInputTimestampsManagerV1>(), client.handle());
    manager.get_keyboard_timestamps(client.globals().keyboard(), &handle, ());
    sheet.world.run_until_idle();
    sheet.world.point(x + 5.0, y + 5.0);
    let said = timed_events(&mut sheet, InputEvent::PointerPosition { time: AT, position: (x + 3.0, y + 3.0).into() });
    assert!(said.is_empty(), "{said:?}");
    let events = sheet.world.client(second).take_events();
    assert!(events.iter().any(|event| matches!(event, ClientEvent::PointerMotion { .. })));
    assert!(
        !events.iter().any(|event| matches!(event, ClientEvent::InWords(_))),
        "it asked for the times of keys only"
    );
}

#[test]
fn pen_timestamps_come_from_predicted_input() {
    let mut sheet = StrokeWindow::new();
    sheet.predicted();
    let client = sheet.world.client(sheet.client);
    let (seat, handle) = (client.globals().seat.clone(), client.handle());
    client.bind::<ZwpTabletManagerV2>().get_tablet_seat(&seat, &handle, ());
    sheet.world.settle();
    let (x, y) = sheet.origin();
    let (x, y) = (x + 10.0, y + 20.0);
    let mut told = |event: Injected| -> Vec<String> {
        let events: Vec<InputEvent> = device_events(event, AT).collect();
        events.into_iter().flat_map(|event| timed_events(&mut sheet, event)).collect()
    };
    let time = "at 100001234567 ns";
    assert_eq!(told(Injected::PenNear { x, y }), ["tablet upbeat msg input pen", "tool Pen", time, "near", "at 10 20"]);
    let down = Injected::PenDown { x, y, pressure: 0.5 };
    assert_eq!(told(down), [time, "at 10 20", "pressure 32768", time, "down"]);
    assert_eq!(told(Injected::PenMove { x: x + 1.0, y, pressure: None }), [time, "at 11 20"]);
    assert_eq!(told(Injected::PenUp { x, y }), [time, "at 10 20", "pressure 0", time, "up"]);
    assert_eq!(told(Injected::PenAway), ["away"]);
}

//! Keyboard, pointer and touch focus: which client gets keys, clicks and touches.

use crate::fixture::dispatch::id;
use crate::fixture::{BUTTON_LEFT, ClientEvent, KEY_A, KEY_F4, KEY_LEFT_ALT, KEY_TAB, OUTPUT, TestWorld};
use smithay::utils::Point;
use upbeat::input::{self, InputEvent};

fn entered_keyboard(events: &[ClientEvent], surface: u32) -> bool {
    events.iter().any(|event| matches!(event, ClientEvent::KeyboardEnter { surface: on } if *on == surface))
}

#[test]
fn a_click_focuses_and_raises_the_window_under_it() {
    let mut world = TestWorld::new();
    let (a, window_a) = world.open("a", 600, 400);
    let (b, window_b) = world.open("b", 200, 100);
    assert_eq!(world.stack(), ["a", "b"]);
    world.client(a).take_events();
    world.client(b).take_events();

    world.click(350.0, 170.0);
    assert_eq!(world.stack(), ["b", "a"]);
    assert_eq!(world.focused().as_deref(), Some("a"));
    let events = world.client(a).take_events();
    assert!(entered_keyboard(&events, id(&window_a.surface)));
    let enter = events.iter().position(|event| matches!(event, ClientEvent::KeyboardEnter { .. })).unwrap();
    let press = events.iter().position(|event| matches!(event, ClientEvent::Button { pressed: true, .. })).unwrap();
    assert!(enter < press, "the client has the keyboard before it learns of the click");
    let left = id(&window_b.surface);
    let events = world.client(b).take_events();
    assert!(events.iter().any(|event| matches!(event, ClientEvent::KeyboardLeave { surface } if *surface == left)));

    world.key(KEY_A, true);
    world.key(KEY_A, false);
    assert!(world.client(a).take_events().iter().any(|event| matches!(event, ClientEvent::Key { key: KEY_A, .. })));
    assert!(!world.client(b).take_events().iter().any(|event| matches!(event, ClientEvent::Key { .. })));
}

#[test]
fn pointer_enters_a_window_that_moves_under_it() {
    let mut world = TestWorld::new();
    let (a, window) = world.open("a", 200, 100);
    world.point(10.0, 10.0);
    world.client(a).take_events();
    let surface = world.window("a").surface().clone();
    upbeat::shell::set_location(&mut world.state, &surface, (5, 5).into());
    input::refresh_focus(&mut world.state);
    world.settle();
    let events = world.client(a).take_events();
    let surface = id(&window.surface);
    assert!(
        events.iter().any(|event| matches!(event, ClientEvent::PointerEnter { surface: on, x, y }
            if *on == surface && (*x, *y) == (5.0, 5.0))),
        "{events:?}"
    );
    input::refresh_focus(&mut world.state);
    world.settle();
    assert!(world.client(a).take_events().is_empty(), "without motion there are no events");
}

#[test]
fn a_held_button_keeps_the_pointer_on_its_surface() {
    let mut world = TestWorld::new();
    let (a, _) = world.open("a", 200, 100);
    world.point(640.0, 360.0);
    world.button(BUTTON_LEFT, true);
    world.client(a).take_events();
    world.point(10.0, 20.0);
    let events = world.client(a).take_events();
    assert!(events.iter().any(|event| matches!(event, ClientEvent::PointerMotion { x, .. } if *x < 0.0)), "{events:?}");
    world.button(BUTTON_LEFT, false);
    assert!(world.client(a).take_events().iter().any(|event| matches!(event, ClientEvent::PointerLeave)));
}

#[test]
fn the_switcher_walks_through_windows_in_the_order_of_their_use() {
    let mut world = TestWorld::new();
    let (a, _) = world.open("a", 200, 100);
    world.open("b", 200, 100);
    world.open("c", 200, 100);
    world.client(a).take_events();
    world.key(KEY_LEFT_ALT, true);
    world.key(KEY_TAB, true);
    world.key(KEY_TAB, false);
    assert_eq!(world.focused().as_deref(), Some("b"));
    world.key(KEY_TAB, true);
    world.key(KEY_TAB, false);
    assert_eq!(world.focused().as_deref(), Some("a"));
    assert_eq!(world.stack(), ["b", "c", "a"], "b was only passed and keeps its place");
    world.key(KEY_LEFT_ALT, false);
    assert!(
        !world.client(a).take_events().iter().any(|event| matches!(event, ClientEvent::Key { key: KEY_TAB, .. })),
        "neither press nor release of the shortcut reaches a client"
    );
    world.key(KEY_LEFT_ALT, true);
    world.key(KEY_TAB, true);
    assert_eq!(world.focused().as_deref(), Some("c"), "the window used before");
}

#[test]
fn alt_f4_asks_the_focused_window_to_close() {
    let mut world = TestWorld::new();
    let (a, window) = world.open("a", 200, 100);
    world.key(KEY_LEFT_ALT, true);
    world.key(KEY_F4, true);
    assert!(world.client(a).take_events().iter().any(|event| matches!(event, ClientEvent::Close)));
    window.toplevel.destroy();
    window.xdg.destroy();
    window.surface.destroy();
    world.settle();
    assert!(world.stack().is_empty());
    assert!(!world.client(a).is_disconnected());
}

#[test]
fn when_the_focused_client_dies_the_next_window_gets_the_keyboard() {
    let mut world = TestWorld::new();
    let (a, window) = world.open("a", 200, 100);
    let (b, _) = world.open("b", 200, 100);
    world.client(a).take_events();
    world.kill(b);
    assert_eq!(world.focused().as_deref(), Some("a"));
    assert!(entered_keyboard(&world.client(a).take_events(), id(&window.surface)));
}

#[test]
fn a_finger_touches_the_surface_below_it_and_can_move_its_window() {
    let mut world = TestWorld::new();
    let (a, window) = world.open("a", 200, 100);
    let corner = world.window("a").rect().loc;
    let time = world.now();
    world.input(InputEvent::TouchDown {
        time,
        slot: 3,
        position: (corner.x as f64 + 7.0, corner.y as f64 + 9.0).into(),
    });
    world.input(InputEvent::TouchFrame { time });
    let events = world.client(a).take_events();
    let surface = id(&window.surface);
    assert!(events.iter().any(|event| matches!(event, ClientEvent::TouchDown { surface: on, x: 7.0, y: 9.0, .. }
        if *on == surface)));

    world.client(a).data.events = events;
    let serial = world.client(a).press_serial();
    let seat = world.client(a).globals().seat.clone();
    window.toplevel._move(&seat, serial);
    world.settle();
    assert!(world.client(a).take_events().iter().any(|event| matches!(event, ClientEvent::TouchCancel)));
    let time = world.now();
    world.input(InputEvent::TouchMotion {
        time,
        slot: 3,
        position: (corner.x as f64 + 27.0, corner.y as f64 + 9.0).into(),
    });
    world.latch();
    assert_eq!(world.window("a").rect().loc.x, corner.x + 20);
    let time = world.now();
    world.input(InputEvent::TouchUp { time, slot: 3 });
    assert!(world.state.shell.drag().is_none());
}

#[test]
fn an_input_region_lets_clicks_through() {
    let mut world = TestWorld::new();
    let (a, _) = world.open("a", OUTPUT.0, OUTPUT.1);
    let (b, window) = world.open("b", 200, 100);
    let region = {
        let client = world.client(b);
        client.globals().compositor.create_region(&client.handle(), ())
    };
    region.add(0, 0, 100, 100);
    window.surface.set_input_region(Some(&region));
    world.client(b).commit_buffer(&window.surface, 200, 100);
    world.settle();
    let corner = world.window("b").rect().loc.to_f64();
    world.client(a).take_events();
    world.point(corner.x + 99.5, corner.y + 50.0);
    assert!(!world.client(a).take_events().iter().any(|event| matches!(event, ClientEvent::PointerEnter { .. })));
    world.point(corner.x + 100.0, corner.y + 50.0);
    assert!(world.client(a).take_events().iter().any(|event| matches!(event, ClientEvent::PointerEnter { .. })));
}

#[test]
fn client_death_under_the_pointer_moves_focus_to_another_client() {
    let mut world = TestWorld::new();
    let (good, window) = world.open("good", OUTPUT.0, OUTPUT.1);
    let (bad, _) = world.open("one", 500, 350);
    world.open_in(bad, "two", 450, 300);
    world.open_in(bad, "three", 400, 250);
    // Objects are destroyed in the order of creation: a pointer created after the windows outlives them.
    let client = world.client(bad);
    client.globals().seat.get_pointer(&client.handle(), ());
    client.globals().seat.get_keyboard(&client.handle(), ());
    // Click the oldest window where no younger window covers it, to raise it.
    let one = world.window("one").rect();
    let others = ["two", "three"].map(|title| world.window(title).rect());
    let free = (0..one.size.w * one.size.h)
        .map(|index| one.loc + Point::from((index % one.size.w, index / one.size.w)))
        .find(|point| others.iter().all(|other| !other.contains(*point)));
    let corner = free.expect("no part of the window is visible").to_f64();
    world.click(corner.x, corner.y);
    assert_eq!(world.focused().as_deref(), Some("one"));
    world.point(corner.x, corner.y);
    world.client(good).take_events();
    world.kill(bad);
    let surface = id(&window.surface);
    let events = world.client(good).take_events();
    assert!(
        events.iter().any(|event| matches!(event, ClientEvent::PointerEnter { surface: on, .. } if *on == surface))
    );
    assert!(entered_keyboard(&events, surface));
}

#[test]
fn pointer_leave_precedes_the_destruction_of_a_surface() {
    let mut world = TestWorld::new();
    let (client, first) = world.open("first", OUTPUT.0, OUTPUT.1);
    let second = world.open_in(client, "second", 500, 350);
    let corner = world.window("second").rect().loc.to_f64();
    world.point(corner.x + 2.0, corner.y + 2.0);
    world.client(client).take_events();
    second.toplevel.destroy();
    second.xdg.destroy();
    second.surface.destroy();
    world.settle();
    let events = world.client(client).take_events();
    let left = events.iter().position(|event| matches!(event, ClientEvent::PointerLeave));
    let entered = events.iter().position(|event| matches!(event, ClientEvent::PointerEnter { .. }));
    assert!(left.is_some() && left < entered, "{events:?}");
    drop(first);
}

#[test]
fn cancelled_fingers_stay_cancelled() {
    let mut world = TestWorld::new();
    let (a, window) = world.open("a", 200, 100);
    let corner = world.window("a").rect().loc.to_f64();
    let (time, at) = (world.now(), |x: f64, y: f64| Point::from((corner.x + x, corner.y + y)));
    world.client(a).take_events();
    world.input(InputEvent::TouchDown { time, slot: 3, position: at(7.0, 9.0) });
    let serial = world.client(a).press_serial();
    world.input(InputEvent::TouchDown { time, slot: 4, position: at(50.0, 50.0) });
    world.input(InputEvent::TouchFrame { time });
    world.client(a).take_events();
    window.toplevel._move(&world.client(a).globals().seat, serial);
    world.settle();
    assert!(world.client(a).take_events().iter().any(|event| matches!(event, ClientEvent::TouchCancel)));
    let is_touch = |event: &ClientEvent| {
        matches!(
            event,
            ClientEvent::TouchDown { .. }
                | ClientEvent::TouchMotion { .. }
                | ClientEvent::TouchUp
                | ClientEvent::TouchCancel
        )
    };
    world.input(InputEvent::TouchUp { time, slot: 3 });
    // A touch object created during the gesture gets no events of cancelled fingers, either.
    let client = world.client(a);
    client.globals().seat.get_touch(&client.handle(), ());
    world.settle();
    for slot in [4, 3] {
        let time = world.now();
        world.input(InputEvent::TouchMotion { time, slot, position: at(60.0, 60.0) });
        world.input(InputEvent::TouchUp { time, slot });
        world.input(InputEvent::TouchFrame { time });
    }
    let events = world.client(a).take_events();
    assert!(!events.iter().any(is_touch), "{events:?}");
    world.input(InputEvent::TouchDown { time, slot: 4, position: at(60.0, 60.0) });
    let events = world.client(a).take_events();
    assert!(
        events.iter().any(|event| matches!(event, ClientEvent::TouchDown { .. })),
        "the next touch arrives: {events:?}"
    );
}

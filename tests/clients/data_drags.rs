//! Drag and drop of data between clients, and other input meanwhile.

use smithay::utils::{Logical, Point};
use upbeat::input::InputEvent;
use wayland_client::protocol::wl_data_device_manager::DndAction;
use wayland_protocols::xdg::shell::client::xdg_toplevel::ResizeEdge;

use crate::fixture::{
    BUTTON_LEFT, BUTTON_RIGHT, ClientEvent, ClientIndex, KEY_A, KEY_ESCAPE, KEY_LEFT_SUPER, TestToplevel, TestWorld,
};
use crate::selection::{drag, source_events};
use crate::stalled_clients::turn;

/// A drag from "source", by the pointer or by finger 3. It is over "target", which accepts it.
struct AcceptedDrag {
    world: TestWorld,
    source: ClientIndex,
    target: ClientIndex,
    /// The window under the press, and the serial of the press.
    window: TestToplevel,
    serial: u32,
    over: Point<f64, Logical>,
}

impl AcceptedDrag {
    fn new(by_finger: bool) -> Self {
        Self::with_fingers(if by_finger { &[3] } else { &[] })
    }

    /// All of `fingers` touch the source and the first drags. Without fingers, the pointer drags.
    fn with_fingers(fingers: &[u32]) -> Self {
        let by_finger = !fingers.is_empty();
        let mut world = TestWorld::new();
        let (source, window) = world.open("source", 200, 100);
        let (target, _) = world.open("target", 200, 100);
        world.move_window("source", (0, 0));
        world.move_window("target", (600, 400));
        let over = Point::from((610.0, 420.0));
        let time = world.now();
        world.client(source).take_events();
        if by_finger {
            world.input(InputEvent::TouchDown { time, slot: fingers[0], position: (10.0, 10.0).into() });
        } else {
            world.point(10.0, 10.0);
            world.button(BUTTON_LEFT, true);
        }
        let serial = world.client(source).press_serial();
        for slot in fingers.iter().skip(1) {
            world.input(InputEvent::TouchDown { time, slot: *slot, position: (50.0, 50.0).into() });
        }
        drag(&mut world, source, &window, serial);
        if by_finger {
            world.input(InputEvent::TouchFrame { time });
            world.input(InputEvent::TouchMotion { time, slot: fingers[0], position: over });
        } else {
            world.point(over.x, over.y);
        }
        assert_eq!(source_events(&mut world, target), ["dragged over it at 10 20"]);
        let offer = world.client(target).data.drag_offer.clone().unwrap();
        offer.accept(0, Some("text/plain".to_owned()));
        offer.set_actions(DndAction::Copy, DndAction::Copy);
        world.settle();
        source_events(&mut world, source);
        source_events(&mut world, target);
        AcceptedDrag { world, source, target, window, serial, over }
    }

    /// Moves the drag by a few pixels.
    fn move_on(&mut self, by_finger: bool) {
        let (time, position) = (self.world.now(), self.over + Point::from((5.0, 5.0)));
        if by_finger {
            self.world.input(InputEvent::TouchMotion { time, slot: 3, position });
        } else {
            self.world.point(position.x, position.y);
        }
    }

    fn release(&mut self, by_finger: bool) {
        if by_finger {
            let time = self.world.now();
            self.world.input(InputEvent::TouchUp { time, slot: 3 });
        } else {
            self.world.button(BUTTON_LEFT, false);
        }
    }

    /// The touch events of `client` since the last call. Forgets all other events.
    fn touches(&mut self, client: ClientIndex) -> Vec<&'static str> {
        let word = |event: &ClientEvent| match event {
            ClientEvent::TouchDown { .. } => Some("down"),
            ClientEvent::TouchMotion { .. } => Some("motion"),
            ClientEvent::TouchUp => Some("up"),
            ClientEvent::TouchCancel => Some("cancel"),
            _ => None,
        };
        self.world.client(client).take_events().iter().filter_map(word).collect()
    }

    /// The key events of both clients since the last call. Forgets all other events.
    fn keys(&mut self) -> Vec<u32> {
        let clients = [self.source, self.target];
        let events: Vec<ClientEvent> =
            clients.into_iter().flat_map(|client| self.world.client(client).take_events()).collect();
        events
            .iter()
            .filter_map(|event| if let ClientEvent::Key { key, .. } = event { Some(*key) } else { None })
            .collect()
    }
}

#[test]
fn escape_cancels_a_drag_and_reaches_no_client() {
    let mut dragged = AcceptedDrag::new(false);
    let AcceptedDrag { source, target, .. } = dragged;
    let world = &mut dragged.world;
    world.key(KEY_ESCAPE, true);
    assert_eq!(source_events(world, source), ["source cancelled"]);
    assert_eq!(source_events(world, target), ["dragged away"]);
    assert!(world.state.surfaces.drag_icon().is_none() && !world.state.input.pointer().is_grabbed());
    world.key(KEY_ESCAPE, false);
    world.button(BUTTON_LEFT, false);
    let clients = [source, target];
    let events: Vec<ClientEvent> = clients.into_iter().flat_map(|client| world.client(client).take_events()).collect();
    let is_heard = |event: &ClientEvent| matches!(event, ClientEvent::Key { .. } | ClientEvent::Button { .. });
    assert!(!events.iter().any(is_heard), "neither press nor release: {events:?}");
    world.click(dragged.over.x, dragged.over.y);
    let events = world.client(target).take_events();
    let clicks = events.iter().filter(|event| matches!(event, ClientEvent::Button { .. })).count();
    assert_eq!(clicks, 2, "the next click arrives");
}

#[test]
fn escape_cancels_a_drag_of_data_by_a_finger() {
    let mut dragged = AcceptedDrag::new(true);
    let AcceptedDrag { source, target, .. } = dragged;
    let world = &mut dragged.world;
    world.key(KEY_ESCAPE, true);
    world.key(KEY_ESCAPE, false);
    assert_eq!(source_events(world, source), ["source cancelled"]);
    assert_eq!(source_events(world, target), ["dragged away"]);
    assert!(world.state.surfaces.drag_icon().is_none() && !world.state.input.touch().is_grabbed());
    let time = world.now();
    world.input(InputEvent::TouchMotion { time, slot: 3, position: dragged.over + Point::from((5.0, 5.0)) });
    world.input(InputEvent::TouchUp { time, slot: 3 });
    for client in [source, target] {
        let events = world.client(client).take_events();
        let is_touch = |event: &ClientEvent| matches!(event, ClientEvent::TouchMotion { .. } | ClientEvent::TouchUp);
        assert!(!events.iter().any(is_touch), "{events:?}");
    }
}

#[test]
fn keys_pressed_during_a_drag_of_data_reach_no_client() {
    let mut dragged = AcceptedDrag::new(false);
    dragged.keys();
    dragged.world.key(KEY_A, true);
    dragged.world.key(KEY_A, false);
    assert_eq!(dragged.keys(), [0_u32; 0]);
    dragged.world.key(KEY_A, true);
    dragged.world.button(BUTTON_LEFT, false);
    dragged.world.key(KEY_A, false);
    assert_eq!(dragged.keys(), [0_u32; 0], "no release is sent without its press");
    dragged.world.key(KEY_A, true);
    assert_eq!(dragged.keys(), [KEY_A]);
}

#[test]
fn key_held_before_a_drag_is_released_during_it() {
    let mut world = TestWorld::new();
    let (client, window) = world.open("source", 200, 100);
    let corner = world.window("source").rect().loc.to_f64();
    world.key(KEY_A, true);
    world.point(corner.x + 5.0, corner.y + 5.0);
    world.button(BUTTON_LEFT, true);
    let serial = world.client(client).press_serial();
    drag(&mut world, client, &window, serial);
    world.client(client).take_events();
    world.key(KEY_A, false);
    let events = world.client(client).take_events();
    assert!(
        events.iter().any(|event| matches!(event, ClientEvent::Key { key: KEY_A, pressed: false, .. })),
        "{events:?}"
    );
}

#[test]
fn drag_without_a_source_stays_within_its_client() {
    let mut world = TestWorld::new();
    let (client, window) = world.open("both", 200, 100);
    let (other, _) = world.open("other", 200, 100);
    world.move_window("both", (0, 0));
    world.move_window("other", (600, 400));
    world.client(client).take_events();
    world.point(10.0, 10.0);
    world.button(BUTTON_LEFT, true);
    let serial = world.client(client).press_serial();
    world.client(client).globals().data_device.start_drag(None, &window.surface, None, serial);
    world.settle();
    source_events(&mut world, other);
    world.point(610.0, 420.0);
    assert_eq!(source_events(&mut world, other), [""; 0], "other clients get no drag events");
    world.point(20.0, 30.0);
    world.button(BUTTON_LEFT, false);
    assert_eq!(source_events(&mut world, client), ["dragged over it at 20 30", "dropped on it", "dragged away"]);
}

#[test]
fn drag_continues_after_its_origin_window_is_closed() {
    for by_finger in [false, true] {
        let mut dragged = AcceptedDrag::new(by_finger);
        dragged.window.toplevel.destroy();
        dragged.window.xdg.destroy();
        dragged.window.surface.destroy();
        dragged.world.settle();
        dragged.move_on(by_finger);
        assert_eq!(source_events(&mut dragged.world, dragged.target), ["dragged to 15 25"], "by finger: {by_finger}");
        assert_eq!(source_events(&mut dragged.world, dragged.source), [""; 0]);
        dragged.release(by_finger);
        assert_eq!(source_events(&mut dragged.world, dragged.target), ["dropped on it", "dragged away"]);
        assert_eq!(source_events(&mut dragged.world, dragged.source), ["source dropped"]);
    }
}

#[test]
fn no_window_is_moved_or_resized_during_a_drag_of_data() {
    for by_finger in [false, true] {
        let mut dragged = AcceptedDrag::new(by_finger);
        let seat = dragged.world.client(dragged.source).globals().seat.clone();
        dragged.window.toplevel._move(&seat, dragged.serial);
        dragged.window.toplevel.resize(&seat, dragged.serial, ResizeEdge::TopLeft);
        dragged.world.settle();
        assert!(dragged.world.state.shell.drag().is_none(), "by finger: {by_finger}");
        dragged.world.key(KEY_LEFT_SUPER, true);
        dragged.world.button(BUTTON_RIGHT, true);
        assert!(dragged.world.state.shell.drag().is_none(), "by finger: {by_finger}");
        dragged.world.button(BUTTON_RIGHT, false);
        dragged.world.key(KEY_LEFT_SUPER, false);
        assert_eq!(source_events(&mut dragged.world, dragged.source), [""; 0]);
        dragged.release(by_finger);
        assert_eq!(source_events(&mut dragged.world, dragged.source), ["source dropped"]);
    }
}

#[test]
fn finger_down_before_a_drag_is_lifted_during_it() {
    let mut dragged = AcceptedDrag::with_fingers(&[3, 5]);
    let (source, time) = (dragged.source, dragged.world.now());
    dragged.touches(source);
    dragged.world.input(InputEvent::TouchMotion { time, slot: 5, position: (60.0, 60.0).into() });
    dragged.world.input(InputEvent::TouchUp { time, slot: 5 });
    dragged.world.input(InputEvent::TouchFrame { time });
    assert_eq!(dragged.touches(source), ["motion", "up"]);
    dragged.release(true);
    assert_eq!(source_events(&mut dragged.world, source), ["source dropped"]);
    dragged.world.input(InputEvent::TouchDown { time, slot: 5, position: (60.0, 60.0).into() });
    dragged.world.input(InputEvent::TouchUp { time, slot: 5 });
    assert_eq!(dragged.touches(source), ["down", "up"], "the next touch arrives");
}

#[test]
fn touch_that_begins_during_a_drag_reaches_no_client() {
    // The touch slot of a lifted finger is used again.
    let mut dragged = AcceptedDrag::with_fingers(&[3, 5]);
    let (source, target, time) = (dragged.source, dragged.target, dragged.world.now());
    dragged.world.input(InputEvent::TouchUp { time, slot: 5 });
    dragged.world.input(InputEvent::TouchFrame { time });
    dragged.touches(source);
    for slot in [5, 6] {
        dragged.world.input(InputEvent::TouchDown { time, slot, position: (620.0, 430.0).into() });
        dragged.world.input(InputEvent::TouchMotion { time, slot, position: (625.0, 430.0).into() });
    }
    dragged.release(true);
    for slot in [5, 6] {
        dragged.world.input(InputEvent::TouchMotion { time, slot, position: (630.0, 430.0).into() });
        dragged.world.input(InputEvent::TouchUp { time, slot });
    }
    dragged.world.input(InputEvent::TouchFrame { time });
    for client in [source, target] {
        assert_eq!(dragged.touches(client), [""; 0]);
    }
    dragged.world.input(InputEvent::TouchDown { time, slot: 5, position: (620.0, 430.0).into() });
    dragged.world.input(InputEvent::TouchUp { time, slot: 5 });
    assert_eq!(dragged.touches(target), ["down", "up"], "the next touch arrives");
}

#[test]
fn touch_cancel_ends_a_drag_and_its_other_fingers() {
    let mut dragged = AcceptedDrag::with_fingers(&[3, 5]);
    let (source, time) = (dragged.source, dragged.world.now());
    dragged.touches(source);
    dragged.world.input(InputEvent::TouchCancel { time });
    assert_eq!(dragged.touches(source), ["motion", "cancel"]);
    assert_eq!(source_events(&mut dragged.world, dragged.target), ["dragged away"]);
}

/// Motions of a finger, each in its own turn: as many messages fill a socket several times.
const MOTIONS: u32 = 2_000;

#[test]
fn stalled_drag_target_gets_the_newest_finger_position() {
    let mut dragged = AcceptedDrag::new(true);
    let (target, world) = (dragged.target, &mut dragged.world);
    world.client(target).is_stalled = true;
    for number in 0..=MOTIONS {
        let (time, position) = (world.now(), Point::from((620.0 + f64::from(number % 40), 430.0)));
        world.input(InputEvent::TouchMotion { time, slot: 3, position });
        turn(world);
    }
    world.client(target).is_stalled = false;
    world.settle();
    assert!(!world.client(target).is_disconnected(), "{}", world.client(target).error_message());
    let mut heard = Vec::new();
    world.run_until("the newest place", |world| {
        heard.extend(source_events(world, target));
        heard.last().is_some_and(|words| words == "dragged to 20 30")
    });
    assert!(heard.len() < MOTIONS as usize / 2, "the socket had room for {} motions", heard.len());
}

#[test]
fn stalled_drag_target_gets_the_drop_at_the_finger() {
    let mut dragged = AcceptedDrag::new(true);
    let (target, world) = (dragged.target, &mut dragged.world);
    world.client(target).is_stalled = true;
    for number in 0..=MOTIONS {
        let (time, position) = (world.now(), Point::from((620.0 + f64::from(number % 40), 430.0)));
        world.input(InputEvent::TouchMotion { time, slot: 3, position });
        turn(world);
    }
    let time = world.now();
    world.input(InputEvent::TouchUp { time, slot: 3 });
    world.client(target).is_stalled = false;
    world.settle();
    let heard = source_events(world, target);
    assert!(heard.ends_with(&["dragged to 20 30", "dropped on it", "dragged away"].map(str::to_owned)), "{heard:?}");
}

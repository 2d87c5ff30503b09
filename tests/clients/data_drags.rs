//! Drag and drop of data between clients, and other input meanwhile.

use smithay::utils::{Logical, Point};
use upbeat::input::InputEvent;
use wayland_client::protocol::wl_data_device_manager::DndAction;
use wayland_protocols::xdg::shell::client::xdg_toplevel::ResizeEdge;

use crate::behind::turn;
use crate::fixture::{
    BUTTON_LEFT, BUTTON_RIGHT, ClientIndex, Event, KEY_A, KEY_ESCAPE, KEY_LEFT_SUPER, Toplevel, World,
};
use crate::selection::{drag, told};

/// A drag from "source", by the pointer or by finger 3. It is over "target", which accepts it.
struct Dragged {
    world: World,
    source: ClientIndex,
    target: ClientIndex,
    /// The window under the press, and the serial of the press.
    window: Toplevel,
    serial: u32,
    over: Point<f64, Logical>,
}

impl Dragged {
    fn new(by_finger: bool) -> Self {
        Self::with_fingers(if by_finger { &[3] } else { &[] })
    }

    /// All of `fingers` touch the source and the first drags. Without fingers, the pointer drags.
    fn with_fingers(fingers: &[u32]) -> Self {
        let by_finger = !fingers.is_empty();
        let mut world = World::new();
        let (source, window) = world.open("source", 200, 100);
        let (target, _) = world.open("target", 200, 100);
        world.put("source", (0, 0));
        world.put("target", (600, 400));
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
        assert_eq!(told(&mut world, target), ["dragged over it at 10 20"]);
        let offer = world.client(target).data.dragged.clone().unwrap();
        offer.accept(0, Some("text/plain".to_owned()));
        offer.set_actions(DndAction::Copy, DndAction::Copy);
        world.settle();
        told(&mut world, source);
        told(&mut world, target);
        Dragged { world, source, target, window, serial, over }
    }

    /// Moves the drag by a few pixels.
    fn go_on(&mut self, by_finger: bool) {
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
        let word = |event: &Event| match event {
            Event::TouchDown { .. } => Some("down"),
            Event::TouchMotion { .. } => Some("motion"),
            Event::TouchUp => Some("up"),
            Event::TouchCancel => Some("cancel"),
            _ => None,
        };
        self.world.client(client).take_events().iter().filter_map(word).collect()
    }

    /// The key events of both clients since the last call. Forgets all other events.
    fn keys(&mut self) -> Vec<u32> {
        let clients = [self.source, self.target];
        let events: Vec<Event> =
            clients.into_iter().flat_map(|client| self.world.client(client).take_events()).collect();
        events.iter().filter_map(|event| if let Event::Key { key, .. } = event { Some(*key) } else { None }).collect()
    }
}

#[test]
fn escape_cancels_a_drag_of_data_and_is_kept() {
    let mut dragged = Dragged::new(false);
    let Dragged { source, target, .. } = dragged;
    let world = &mut dragged.world;
    world.key(KEY_ESCAPE, true);
    assert_eq!(told(world, source), ["source cancelled"]);
    assert_eq!(told(world, target), ["dragged away"]);
    assert!(world.state.surfaces.drag_icon().is_none() && !world.state.input.pointer().is_grabbed());
    world.key(KEY_ESCAPE, false);
    world.button(BUTTON_LEFT, false);
    let clients = [source, target];
    let events: Vec<Event> = clients.into_iter().flat_map(|client| world.client(client).take_events()).collect();
    let is_heard = |event: &Event| matches!(event, Event::Key { .. } | Event::Button { .. });
    assert!(!events.iter().any(is_heard), "neither press nor release: {events:?}");
    world.click(dragged.over.x, dragged.over.y);
    let events = world.client(target).take_events();
    let clicks = events.iter().filter(|event| matches!(event, Event::Button { .. })).count();
    assert_eq!(clicks, 2, "the next click arrives");
}

#[test]
fn escape_cancels_a_drag_of_data_by_a_finger() {
    let mut dragged = Dragged::new(true);
    let Dragged { source, target, .. } = dragged;
    let world = &mut dragged.world;
    world.key(KEY_ESCAPE, true);
    world.key(KEY_ESCAPE, false);
    assert_eq!(told(world, source), ["source cancelled"]);
    assert_eq!(told(world, target), ["dragged away"]);
    assert!(world.state.surfaces.drag_icon().is_none() && !world.state.input.touch().is_grabbed());
    let time = world.now();
    world.input(InputEvent::TouchMotion { time, slot: 3, position: dragged.over + Point::from((5.0, 5.0)) });
    world.input(InputEvent::TouchUp { time, slot: 3 });
    for client in [source, target] {
        let events = world.client(client).take_events();
        let is_touch = |event: &Event| matches!(event, Event::TouchMotion { .. } | Event::TouchUp);
        assert!(!events.iter().any(is_touch), "{events:?}");
    }
}

#[test]
fn keys_pressed_during_a_drag_of_data_reach_no_client() {
    let mut dragged = Dragged::new(false);
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
fn key_that_was_down_before_a_drag_of_data_comes_up_in_it() {
    let mut world = World::new();
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
    assert!(events.iter().any(|event| matches!(event, Event::Key { key: KEY_A, pressed: false, .. })), "{events:?}");
}

#[test]
fn what_has_no_source_is_dropped_within_its_client() {
    let mut world = World::new();
    let (client, window) = world.open("both", 200, 100);
    let (other, _) = world.open("other", 200, 100);
    world.put("both", (0, 0));
    world.put("other", (600, 400));
    world.client(client).take_events();
    world.point(10.0, 10.0);
    world.button(BUTTON_LEFT, true);
    let serial = world.client(client).press_serial();
    world.client(client).globals().data_device.start_drag(None, &window.surface, None, serial);
    world.settle();
    told(&mut world, other);
    world.point(610.0, 420.0);
    assert_eq!(told(&mut world, other), [""; 0], "other clients get no drag events");
    world.point(20.0, 30.0);
    world.button(BUTTON_LEFT, false);
    assert_eq!(told(&mut world, client), ["dragged over it at 20 30", "dropped on it", "dragged away"]);
}

#[test]
fn drag_of_data_goes_on_when_the_window_that_it_came_from_is_closed() {
    for by_finger in [false, true] {
        let mut dragged = Dragged::new(by_finger);
        dragged.window.toplevel.destroy();
        dragged.window.xdg.destroy();
        dragged.window.surface.destroy();
        dragged.world.settle();
        dragged.go_on(by_finger);
        assert_eq!(told(&mut dragged.world, dragged.target), ["dragged to 15 25"], "by finger: {by_finger}");
        assert_eq!(told(&mut dragged.world, dragged.source), [""; 0]);
        dragged.release(by_finger);
        assert_eq!(told(&mut dragged.world, dragged.target), ["dropped on it", "dragged away"]);
        assert_eq!(told(&mut dragged.world, dragged.source), ["source dropped"]);
    }
}

#[test]
fn no_window_is_moved_or_resized_during_a_drag_of_data() {
    for by_finger in [false, true] {
        let mut dragged = Dragged::new(by_finger);
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
        assert_eq!(told(&mut dragged.world, dragged.source), [""; 0]);
        dragged.release(by_finger);
        assert_eq!(told(&mut dragged.world, dragged.source), ["source dropped"]);
    }
}

#[test]
fn finger_that_was_down_before_a_drag_of_data_comes_up_in_it() {
    let mut dragged = Dragged::with_fingers(&[3, 5]);
    let (source, time) = (dragged.source, dragged.world.now());
    dragged.touches(source);
    dragged.world.input(InputEvent::TouchMotion { time, slot: 5, position: (60.0, 60.0).into() });
    dragged.world.input(InputEvent::TouchUp { time, slot: 5 });
    dragged.world.input(InputEvent::TouchFrame { time });
    assert_eq!(dragged.touches(source), ["motion", "up"]);
    dragged.release(true);
    assert_eq!(told(&mut dragged.world, source), ["source dropped"]);
    dragged.world.input(InputEvent::TouchDown { time, slot: 5, position: (60.0, 60.0).into() });
    dragged.world.input(InputEvent::TouchUp { time, slot: 5 });
    assert_eq!(dragged.touches(source), ["down", "up"], "the next touch arrives");
}

#[test]
fn finger_that_comes_during_a_drag_of_data_is_told_to_no_client() {
    // The touch slot of a lifted finger is used again.
    let mut dragged = Dragged::with_fingers(&[3, 5]);
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
fn fingers_beside_a_drag_of_data_are_cancelled_with_it() {
    let mut dragged = Dragged::with_fingers(&[3, 5]);
    let (source, time) = (dragged.source, dragged.world.now());
    dragged.touches(source);
    dragged.world.input(InputEvent::TouchCancel { time });
    assert_eq!(dragged.touches(source), ["motion", "cancel"]);
    assert_eq!(told(&mut dragged.world, dragged.target), ["dragged away"]);
}

/// Motions of a finger, each in its own turn: as many messages fill a socket several times.
const MOTIONS: u32 = 2_000;

#[test]
fn target_that_does_not_read_for_a_while_hears_the_newest_place_of_the_finger() {
    let mut dragged = Dragged::new(true);
    let (target, world) = (dragged.target, &mut dragged.world);
    world.client(target).is_stopped = true;
    for number in 0..=MOTIONS {
        let (time, position) = (world.now(), Point::from((620.0 + f64::from(number % 40), 430.0)));
        world.input(InputEvent::TouchMotion { time, slot: 3, position });
        turn(world);
    }
    world.client(target).is_stopped = false;
    world.settle();
    assert!(!world.client(target).is_gone(), "{}", world.client(target).said());
    let mut heard = Vec::new();
    world.until("the newest place", |world| {
        heard.extend(told(world, target));
        heard.last().is_some_and(|words| words == "dragged to 20 30")
    });
    assert!(heard.len() < MOTIONS as usize / 2, "the socket had room for {} motions", heard.len());
}

#[test]
fn target_that_does_not_read_is_dropped_on_where_the_finger_is() {
    let mut dragged = Dragged::new(true);
    let (target, world) = (dragged.target, &mut dragged.world);
    world.client(target).is_stopped = true;
    for number in 0..=MOTIONS {
        let (time, position) = (world.now(), Point::from((620.0 + f64::from(number % 40), 430.0)));
        world.input(InputEvent::TouchMotion { time, slot: 3, position });
        turn(world);
    }
    let time = world.now();
    world.input(InputEvent::TouchUp { time, slot: 3 });
    world.client(target).is_stopped = false;
    world.settle();
    let heard = told(world, target);
    assert!(heard.ends_with(&["dragged to 20 30", "dropped on it", "dragged away"].map(str::to_owned)), "{heard:?}");
}

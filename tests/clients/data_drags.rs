//! Data that is dragged between clients, and the keyboard meanwhile.

use smithay::utils::{Logical, Point};
use upbeat::input::InputEvent;
use wayland_client::protocol::wl_data_device_manager::DndAction;

use crate::fixture::{BUTTON_LEFT, ClientIndex, Event, KEY_A, KEY_ESCAPE, World};
use crate::selection::{drag, told};

/// Something is dragged from "source", by the pointer or by the finger 3, and lies on "target", which accepts it.
struct Dragged {
    world: World,
    source: ClientIndex,
    target: ClientIndex,
    over: Point<f64, Logical>,
}

impl Dragged {
    fn new(by_finger: bool) -> Self {
        let mut world = World::new();
        let (source, window) = world.open("source", 200, 100);
        let (target, _) = world.open("target", 200, 100);
        world.put("source", (0, 0));
        world.put("target", (600, 400));
        let over = Point::from((610.0, 420.0));
        let time = world.now();
        world.client(source).take_events();
        if by_finger {
            world.input(InputEvent::TouchDown { time, slot: 3, position: (10.0, 10.0).into() });
        } else {
            world.point(10.0, 10.0);
            world.button(BUTTON_LEFT, true);
        }
        let serial = world.client(source).press_serial();
        drag(&mut world, source, &window, serial);
        if by_finger {
            world.input(InputEvent::TouchMotion { time, slot: 3, position: over });
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
        Dragged { world, source, target, over }
    }

    /// The keys that either client heard of since the last call. Forgets all else.
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
    assert!(world.state.input.drag_icon.is_none() && !world.state.input.pointer.is_grabbed());
    world.key(KEY_ESCAPE, false);
    world.button(BUTTON_LEFT, false);
    let clients = [source, target];
    let events: Vec<Event> = clients.into_iter().flat_map(|client| world.client(client).take_events()).collect();
    let is_heard = |event: &Event| matches!(event, Event::Key { .. } | Event::Button { .. });
    assert!(!events.iter().any(is_heard), "neither the key nor the release: {events:?}");
    world.click(dragged.over.x, dragged.over.y);
    let events = world.client(target).take_events();
    let clicks = events.iter().filter(|event| matches!(event, Event::Button { .. })).count();
    assert_eq!(clicks, 2, "the next click is heard");
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
    assert!(world.state.input.drag_icon.is_none() && !world.state.input.touch.is_grabbed());
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
    assert_eq!(dragged.keys(), [0_u32; 0], "a release whose press was kept is kept, too");
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
    assert_eq!(told(&mut world, other), [""; 0], "other clients hear nothing of it");
    world.point(20.0, 30.0);
    world.button(BUTTON_LEFT, false);
    assert_eq!(told(&mut world, client), ["dragged over it at 20 30", "dropped on it", "dragged away"]);
}

//! Clipboard and drag and drop between two clients.

use std::io::{Read, Write};
use std::os::fd::AsFd;

use smithay::reexports::wayland_server::Resource as _;
use smithay::utils::Point;
use upbeat::input::InputEvent;
use wayland_client::Proxy as _;
use wayland_client::protocol::wl_data_device_manager::DndAction;
use wayland_client::protocol::wl_surface::WlSurface;

use crate::fixture::content::{GREEN, RED};
use crate::fixture::{BUTTON_LEFT, ClientEvent, ClientIndex, TestToplevel, TestWorld};

#[test]
fn text_copied_in_one_client_is_pasted_in_another() {
    let mut world = TestWorld::new();
    let (source_client, _) = world.open("source", 200, 100);
    world.key(crate::fixture::KEY_A, true);
    let serial = world.client(source_client).press_serial();
    world.key(crate::fixture::KEY_A, false);
    let source = {
        let client = world.client(source_client);
        let source = client.globals().data_devices.create_data_source(&client.handle(), ());
        source.offer("text/plain".to_owned());
        client.globals().data_device.set_selection(Some(&source), serial);
        source
    };
    world.settle();

    let (target, _) = world.open("target", 200, 100);
    let offer = world.client(target).take_events().into_iter().rev().find_map(|event| match event {
        ClientEvent::Selection(offer) => Some(offer),
        _ => None,
    });
    let offer = offer.flatten().expect("the newly focused client is offered the selection");
    let (mut reader, writer) = std::io::pipe().unwrap();
    offer.receive("text/plain".to_owned(), writer.as_fd());
    world.settle();
    drop(writer);
    for event in world.client(source_client).take_events() {
        if let ClientEvent::SendData { mime, fd } = event {
            assert_eq!(mime, "text/plain");
            std::fs::File::from(fd).write_all(b"upbeat").unwrap();
        }
    }
    let mut pasted = String::new();
    reader.read_to_string(&mut pasted).unwrap();
    assert_eq!(pasted, "upbeat");
    drop(source);
}

#[test]
fn paused_selection_owner_is_not_ended_by_paste_requests() {
    let mut world = TestWorld::new();
    let (owner, _) = world.open("source", 200, 100);
    world.key(crate::fixture::KEY_A, true);
    let serial = world.client(owner).press_serial();
    world.key(crate::fixture::KEY_A, false);
    let client = world.client(owner);
    let source = client.globals().data_devices.create_data_source(&client.handle(), ());
    let long = "x".repeat(3_000);
    [long.as_str(), "text/plain"].into_iter().for_each(|kind| source.offer(kind.to_owned()));
    client.globals().data_device.set_selection(Some(&source), serial);
    world.settle();
    let (target, _) = world.open("target", 200, 100);
    let offered = |event| if let ClientEvent::Selection(offer) = event { Some(offer) } else { None };
    let offer = world.client(target).take_events().into_iter().rev().find_map(offered).flatten().unwrap();
    world.client(owner).is_stalled = true;
    for kind in [long.as_str(), "text/plain"] {
        for _ in 0..1_000 {
            let (_reader, writer) = std::io::pipe().unwrap();
            offer.receive(kind.to_owned(), writer.as_fd());
            world.settle();
        }
    }
    world.client(owner).is_stalled = false;
    world.settle();
    assert!(!world.client(target).is_disconnected(), "the client that pastes");
    assert!(!world.client(owner).is_disconnected(), "the client that copied");
    world.client(owner).take_events();
    let (mut reader, writer) = std::io::pipe().unwrap();
    offer.receive("text/plain".to_owned(), writer.as_fd());
    drop(writer);
    world.settle();
    for event in world.client(owner).take_events() {
        if let ClientEvent::SendData { fd, .. } = event {
            std::fs::File::from(fd).write_all(b"upbeat").unwrap();
        }
    }
    let mut pasted = String::new();
    reader.read_to_string(&mut pasted).unwrap();
    assert_eq!(pasted, "upbeat", "paste works as before");
}

/// Starts a drag from `window` with the `serial` of a press; returns the surface of the icon.
pub fn drag(world: &mut TestWorld, client: ClientIndex, window: &TestToplevel, serial: u32) -> WlSurface {
    let client = world.client(client);
    let (globals, icon) = (client.globals(), client.surface());
    let source = globals.data_devices.create_data_source(&client.handle(), ());
    source.offer("text/plain".to_owned());
    source.set_actions(DndAction::Copy);
    globals.data_device.start_drag(Some(&source), &window.surface, Some(&icon), serial);
    world.settle();
    icon
}

#[test]
fn drag_needs_a_press_serial_of_its_own_client() {
    let mut world = TestWorld::new();
    let (thief, theirs) = world.open("thief", 100, 50);
    let (pressed, window) = world.open("pressed", 200, 100);
    let corner = world.window("pressed").rect().loc.to_f64();
    world.point(corner.x + 5.0, corner.y + 5.0);
    world.button(BUTTON_LEFT, true);
    let serial = world.client(pressed).press_serial();
    drag(&mut world, thief, &theirs, serial);
    assert!(world.state.surfaces.drag_icon().is_none(), "the serial is of another client's press");
    drag(&mut world, pressed, &window, serial);
    assert!(world.state.surfaces.drag_icon().is_some());
    world.button(BUTTON_LEFT, false);
    assert!(world.state.surfaces.drag_icon().is_none() && !world.state.input.pointer().is_grabbed());
}

/// Events of the data sources of `client` since the last call.
pub fn source_events(world: &mut TestWorld, client: ClientIndex) -> Vec<String> {
    let told = |event| if let ClientEvent::InWords(words) = event { Some(words) } else { None };
    world.client(client).take_events().into_iter().filter_map(told).collect()
}

#[test]
fn source_of_a_refused_drag_is_cancelled() {
    let mut world = TestWorld::new();
    let (a, window) = world.open("a", 200, 100);
    let corner = world.window("a").rect().loc.to_f64();
    world.client(a).take_events();
    drag(&mut world, a, &window, 4_000_000_000);
    assert_eq!(source_events(&mut world, a), ["source cancelled"], "nothing was pressed");
    world.click(corner.x + 5.0, corner.y + 5.0);
    let serial = world.client(a).press_serial();
    drag(&mut world, a, &window, serial);
    assert_eq!(source_events(&mut world, a), ["source cancelled"], "the button came up before");

    world.button(BUTTON_LEFT, true);
    let serial = world.client(a).press_serial();
    drag(&mut world, a, &window, serial);
    assert!(world.state.surfaces.drag_icon().is_some());
    source_events(&mut world, a);
    drag(&mut world, a, &window, serial);
    assert_eq!(source_events(&mut world, a), ["source cancelled"], "a press starts one drag only, which goes on");
    assert!(world.state.surfaces.drag_icon().is_some() && world.state.input.pointer().is_grabbed());
}

#[test]
fn source_of_a_refused_drag_by_a_second_finger_is_cancelled() {
    let mut world = TestWorld::new();
    let (a, window) = world.open("a", 200, 100);
    let corner = world.window("a").rect().loc.to_f64();
    world.client(a).take_events();
    let time = world.now();
    for slot in [1, 2] {
        world.input(InputEvent::TouchDown { time, slot, position: (corner.x + 5.0, corner.y + 5.0).into() });
    }
    // The first finger holds the grab; this is the serial of the second finger.
    let serial = world.client(a).press_serial();
    drag(&mut world, a, &window, serial);
    assert_eq!(source_events(&mut world, a), ["source cancelled"]);
    assert!(world.state.surfaces.drag_icon().is_none());
}

#[test]
fn source_of_a_refused_selection_is_cancelled() {
    let mut world = TestWorld::new();
    let (a, _) = world.open("a", 200, 100);
    world.key(crate::fixture::KEY_A, true);
    let serial = world.client(a).press_serial();
    world.key(crate::fixture::KEY_A, false);
    world.open("b", 200, 100);
    source_events(&mut world, a);
    let client = world.client(a);
    let source = client.globals().data_devices.create_data_source(&client.handle(), ());
    source.offer("text/plain".to_owned());
    client.globals().data_device.set_selection(Some(&source), serial);
    world.settle();
    assert_eq!(source_events(&mut world, a), ["source cancelled"], "the keyboard is another client's");
}

#[test]
fn drag_icon_takes_no_input() {
    let mut world = TestWorld::rendered();
    let (client, window) = world.open("both", 200, 100);
    world.client(client).draw(&window.surface, 1, (200, 100), RED);
    window.surface.commit();
    world.run_until_idle();
    let corner = world.window("both").rect().loc.to_f64();
    let place = corner + Point::from((50.0, 50.0));
    world.point(place.x, place.y);
    world.button(BUTTON_LEFT, true);
    let serial = world.client(client).press_serial();
    let icon = drag(&mut world, client, &window, serial);
    icon.offset(-30, -30);
    world.client(client).draw(&icon, 2, (60, 60), GREEN);
    icon.commit();
    world.settle();
    world.run_until_idle();
    let beside_the_arrow = place.to_i32_round::<i32>() - Point::from((20, 20));
    assert_eq!(world.pixel(beside_the_arrow.x, beside_the_arrow.y), GREEN, "it is under the pointer");
    let hit = |world: &TestWorld| {
        upbeat::output::scene_on_screen_hit(&world.state, place).map(|(surface, _)| surface.id().protocol_id())
    };
    assert_eq!(hit(&world), Some(window.surface.id().protocol_id()));
    // The icon is still on the screen right after the drop.
    world.button(BUTTON_LEFT, false);
    assert_eq!(hit(&world), Some(window.surface.id().protocol_id()));
}

#[test]
fn drag_with_a_lifted_finger_is_refused() {
    let mut world = TestWorld::new();
    let (client, window) = world.open("touched", 200, 100);
    let corner = world.window("touched").rect().loc.to_f64();
    let touch = |world: &mut TestWorld, slot| {
        let time = world.now();
        world.input(InputEvent::TouchDown { time, slot, position: (corner.x + 5.0, corner.y + 5.0).into() });
    };
    touch(&mut world, 2);
    touch(&mut world, 1);
    let events = world.client(client).take_events();
    let serial = events.iter().find_map(|event| match event {
        ClientEvent::TouchDown { serial, .. } => Some(*serial),
        _ => None,
    });
    let time = world.now();
    world.input(InputEvent::TouchUp { time, slot: 2 });
    drag(&mut world, client, &window, serial.unwrap());
    world.input(InputEvent::TouchUp { time, slot: 1 });
    assert!(!world.state.input.touch().is_grabbed(), "a drag without a finger would never end");
    assert!(world.state.surfaces.drag_icon().is_none());
}

/// Two windows beside each other, and a drag from the first by the finger in slot 3, with an icon of 60 x 60.
struct FingerDrag {
    world: TestWorld,
    source: ClientIndex,
    target: ClientIndex,
    /// Corner of the target window.
    over: Point<f64, smithay::utils::Logical>,
}

impl FingerDrag {
    fn new() -> Self {
        let mut world = TestWorld::rendered();
        let (source, window) = world.open("source", 200, 100);
        let (target, _) = world.open("target", 200, 100);
        world.run_until_idle();
        let from = world.window("source").rect().loc.to_f64();
        let over = world.window("target").rect().loc.to_f64();
        assert!((from - over).x.abs() >= 200.0 || (from - over).y.abs() >= 100.0, "they lie beside each other");
        world.point(from.x + 150.0, from.y + 90.0);
        let time = world.now();
        world.input(InputEvent::TouchDown { time, slot: 3, position: from + Point::from((20.0, 20.0)) });
        let events = world.client(source).take_events();
        let serial = events.iter().find_map(|event| match event {
            ClientEvent::TouchDown { serial, .. } => Some(*serial),
            _ => None,
        });
        let icon = drag(&mut world, source, &window, serial.unwrap());
        icon.offset(-30, -30);
        world.client(source).draw(&icon, 2, (60, 60), GREEN);
        icon.commit();
        world.settle();
        world.run_until_idle();
        let mut carried = FingerDrag { world, source, target, over };
        assert_eq!(carried.icon_visible_at(from + Point::from((20.0, 20.0))), [true, false], "it is under the finger");
        carried.drag_events(source);
        carried.drag_events(target);
        carried
    }

    /// Whether the icon is visible at `place`, and at the pointer.
    fn icon_visible_at(&self, place: Point<f64, smithay::utils::Logical>) -> [bool; 2] {
        let pointer = upbeat::input::pointer_position(&self.world.state);
        [place, pointer].map(|place| {
            let pixel = place.to_i32_round::<i32>() - Point::from((10, 10));
            self.world.pixel(pixel.x, pixel.y) == GREEN
        })
    }

    /// Moves the finger to a point of the target window.
    fn move_finger(&mut self, x: f64, y: f64) {
        let (time, position) = (self.world.now(), self.over + Point::from((x, y)));
        self.world.input(InputEvent::TouchMotion { time, slot: 3, position });
        self.world.settle();
        self.world.run_until_idle();
    }

    fn drag_events(&mut self, client: ClientIndex) -> Vec<String> {
        self.world.settle();
        let told = |event| if let ClientEvent::InWords(words) = event { Some(words) } else { None };
        self.world.client(client).take_events().into_iter().filter_map(told).collect()
    }

    /// The target client accepts the offer.
    fn accept(&mut self) {
        let client = self.world.client(self.target);
        let offer = client.data.drag_offer.clone().expect("something is dragged over it");
        offer.accept(0, Some("text/plain".to_owned()));
        offer.set_actions(DndAction::Copy, DndAction::Copy);
        self.world.settle();
    }
}

#[test]
fn touch_drag_icon_follows_the_finger_and_drops_where_it_is_lifted() {
    let mut carried = FingerDrag::new();
    carried.move_finger(70.0, 40.0);
    carried.move_finger(100.0, 50.0);
    assert_eq!(
        carried.icon_visible_at(carried.over + Point::from((100.0, 50.0))),
        [true, false],
        "it goes along with the finger"
    );
    let (source, target) = (carried.source, carried.target);
    assert_eq!(carried.drag_events(target), ["dragged over it at 70 40", "dragged to 100 50"]);
    carried.accept();
    let time = carried.world.now();
    carried.world.input(InputEvent::TouchUp { time, slot: 3 });
    assert_eq!(carried.drag_events(target), ["dropped on it", "dragged away"]);
    assert_eq!(carried.drag_events(source), ["source dropped"]);
    assert!(carried.world.state.surfaces.drag_icon().is_none() && !carried.world.state.input.touch().is_grabbed());
    carried.world.run_until_idle();
    assert_eq!(carried.icon_visible_at(carried.over + Point::from((100.0, 50.0))), [false, false]);
}

#[test]
fn second_finger_does_not_disturb_a_touch_drag() {
    let mut carried = FingerDrag::new();
    let time = carried.world.now();
    let beside = carried.over + Point::from((5.0, 5.0));
    carried.world.input(InputEvent::TouchDown { time, slot: 1, position: beside });
    carried.move_finger(100.0, 50.0);
    carried.world.input(InputEvent::TouchMotion { time, slot: 1, position: beside + Point::from((30.0, 0.0)) });
    assert_eq!(carried.drag_events(carried.target), ["dragged over it at 100 50"]);
    carried.world.run_until_idle();
    assert_eq!(carried.icon_visible_at(carried.over + Point::from((100.0, 50.0))), [true, false]);
    carried.world.input(InputEvent::TouchUp { time, slot: 1 });
    assert!(carried.world.state.surfaces.drag_icon().is_some());
    carried.world.input(InputEvent::TouchUp { time, slot: 3 });
    assert!(carried.world.state.surfaces.drag_icon().is_none());
}

#[test]
fn cancelled_touches_drop_nothing() {
    let mut carried = FingerDrag::new();
    carried.move_finger(70.0, 40.0);
    carried.accept();
    let time = carried.world.now();
    carried.world.input(InputEvent::TouchCancel { time });
    assert_eq!(carried.drag_events(carried.target), ["dragged over it at 70 40", "dragged away"]);
    assert_eq!(carried.drag_events(carried.source), ["source cancelled"]);
    assert!(carried.world.state.surfaces.drag_icon().is_none());
}

/// Most MIME types that a source may offer, and the length that their names may have then.
const TYPES: usize = 512;
const NAME_LENGTH: usize = 64;
/// Focus changes before the clients can read. If each announced all types, the events would not fit into a socket more
/// than a few times.
const CHANGES: usize = 40;

#[test]
fn client_focused_many_times_in_a_turn_receives_a_large_selection_once() {
    let mut world = TestWorld::new();
    let (copies, _) = world.open("copies", 200, 100);
    world.key(crate::fixture::KEY_A, true);
    let serial = world.client(copies).press_serial();
    let client = world.client(copies);
    let source = client.globals().data_devices.create_data_source(&client.handle(), ());
    (0..TYPES).for_each(|index| source.offer(format!("{index:0>NAME_LENGTH$}")));
    client.globals().data_device.set_selection(Some(&source), serial);
    world.settle();

    let innocent = ["left", "right"].map(|title| world.open(title, 200, 100).0);
    let windows = ["left", "right"].map(|title| world.window(title).id);
    world.turn();
    innocent.iter().for_each(|index| _ = world.client(*index).take_events());
    for change in 0..CHANGES {
        upbeat::shell::activate(&mut world.state, Some(windows[change % 2]));
    }
    world.turn();
    let told = innocent.map(|index| {
        let events = world.client(index).take_events();
        events.iter().filter(|event| matches!(event, ClientEvent::Selection(Some(_)))).count()
    });
    // The right window had the keyboard before and has it in the end.
    assert_eq!(told, [0, 1]);
    assert_eq!(world.focused().as_deref(), Some("right"));
}

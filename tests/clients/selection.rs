//! Clipboard between two clients.

use std::io::{Read, Write};
use std::os::fd::AsFd;

use smithay::reexports::wayland_server::Resource as _;
use smithay::utils::Point;
use upbeat::input::InputEvent;
use wayland_client::Proxy as _;
use wayland_client::protocol::wl_surface::WlSurface;

use crate::fixture::content::{GREEN, RED};
use crate::fixture::{BUTTON_LEFT, ClientIndex, Event, Toplevel, World};

#[test]
fn text_copied_in_one_client_is_pasted_in_another() {
    let mut world = World::new();
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
        Event::Selection(offer) => Some(offer),
        _ => None,
    });
    let offer = offer.flatten().expect("the newly focused client is offered the selection");
    let (mut reader, writer) = std::io::pipe().unwrap();
    offer.receive("text/plain".to_owned(), writer.as_fd());
    world.settle();
    drop(writer);
    for event in world.client(source_client).take_events() {
        if let Event::SendData { mime, fd } = event {
            assert_eq!(mime, "text/plain");
            std::fs::File::from(fd).write_all(b"upbeat").unwrap();
        }
    }
    let mut pasted = String::new();
    reader.read_to_string(&mut pasted).unwrap();
    assert_eq!(pasted, "upbeat");
    drop(source);
}

/// Asks to drag something from `window`, whose client was told of `serial`; returns the icon.
fn drag(world: &mut World, client: ClientIndex, window: &Toplevel, serial: u32) -> WlSurface {
    let client = world.client(client);
    let (globals, icon) = (client.globals(), client.surface());
    let source = globals.data_devices.create_data_source(&client.handle(), ());
    globals.data_device.start_drag(Some(&source), &window.surface, Some(&icon), serial);
    world.settle();
    icon
}

#[test]
fn a_drag_is_begun_by_who_is_pressed_and_not_by_who_guesses_a_serial() {
    let mut world = World::new();
    let (thief, theirs) = world.open("thief", 100, 50);
    let (pressed, window) = world.open("pressed", 200, 100);
    let corner = world.window("pressed").rect().loc.to_f64();
    world.point(corner.x + 5.0, corner.y + 5.0);
    world.button(BUTTON_LEFT, true);
    let serial = world.client(pressed).press_serial();
    drag(&mut world, thief, &theirs, serial);
    assert!(world.state.input.drag_icon.is_none(), "somebody else began it");
    drag(&mut world, pressed, &window, serial);
    assert!(world.state.input.drag_icon.is_some());
    world.button(BUTTON_LEFT, false);
    assert!(world.state.input.drag_icon.is_none() && !world.state.input.pointer.is_grabbed());
}

#[test]
fn what_is_dragged_is_not_what_it_is_dropped_on() {
    let mut world = World::lit();
    let (client, window) = world.open("both", 200, 100);
    world.client(client).draw(&window.surface, 1, (200, 100), RED);
    window.surface.commit();
    world.rest();
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
    world.rest();
    let beside_the_arrow = place.to_i32_round::<i32>() - Point::from((20, 20));
    assert_eq!(world.pixel(beside_the_arrow.x, beside_the_arrow.y), GREEN, "it is under the pointer");
    let hit = |world: &World| {
        upbeat::output::scene_on_screen_hit(&world.state, place).map(|(surface, _)| surface.id().protocol_id())
    };
    assert_eq!(hit(&world), Some(window.surface.id().protocol_id()));
    // It is still on the screen when it was dropped.
    world.button(BUTTON_LEFT, false);
    assert_eq!(hit(&world), Some(window.surface.id().protocol_id()));
}

#[test]
fn nothing_is_dragged_with_a_finger_that_was_lifted() {
    let mut world = World::new();
    let (client, window) = world.open("touched", 200, 100);
    let corner = world.window("touched").rect().loc.to_f64();
    let touch = |world: &mut World, slot| {
        let time = world.now();
        world.input(InputEvent::TouchDown { time, slot, position: (corner.x + 5.0, corner.y + 5.0).into() });
    };
    touch(&mut world, 2);
    touch(&mut world, 1);
    let events = world.client(client).take_events();
    let serial = events.iter().find_map(|event| match event {
        Event::TouchDown { serial, .. } => Some(*serial),
        _ => None,
    });
    let time = world.now();
    world.input(InputEvent::TouchUp { time, slot: 2 });
    drag(&mut world, client, &window, serial.unwrap());
    world.input(InputEvent::TouchUp { time, slot: 1 });
    assert!(!world.state.input.touch.is_grabbed(), "nobody can let go of it");
    assert!(world.state.input.drag_icon.is_none());
}

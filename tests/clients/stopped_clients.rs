//! Clients that are stopped (in a debugger, swapped out) during a grab: the user and other clients are not blocked.

use upbeat::input::{self, InputEvent};
use wayland_protocols::xdg::shell::client::xdg_toplevel::ResizeEdge;

use crate::fixture::content::GREEN;
use crate::fixture::{BUTTON_LEFT, ClientEvent, ClientIndex, KEY_A, TestToplevel, TestWorld};

/// Point of the press in the stopped client's window, from its corner.
const INSIDE: (f64, f64) = (30.0, 20.0);
/// Pointer motions while the client is stopped.
const MOTIONS: u32 = 2_000;
/// Frames that the running client shows in the meantime.
const FRAMES: u32 = 30;

/// Starts a grab; the button is down for the grabs that need a press.
type StartGrab = fn(&mut TestWorld, ClientIndex, &TestToplevel, serial: u32);

const HOLDS: [(&str, StartGrab); 7] = [
    ("nothing", |_, _, _, _| {}),
    ("a menu", |world, client, window, serial| {
        let positioner = world.client(client).positioner(10, 10, 40, 30);
        let popup = world.client(client).popup(&window.xdg, &positioner);
        let seat = world.client(client).globals().seat.clone();
        popup.popup.grab(&seat, serial);
        popup.surface.commit();
        world.settle();
        world.client(client).ack_newest_configure();
        world.client(client).commit_buffer(&popup.surface, 40, 30);
    }),
    ("its window", |world, client, window, serial| window.toplevel._move(&world.client(client).globals().seat, serial)),
    ("its window's corner", |world, client, window, serial| {
        window.toplevel.resize(&world.client(client).globals().seat, serial, ResizeEdge::TopLeft);
    }),
    ("something dragged", |world, client, window, serial| {
        let client = world.client(client);
        let globals = client.globals();
        let source = globals.data_devices.create_data_source(&client.handle(), ());
        source.offer("text/plain".to_owned());
        globals.data_device.start_drag(Some(&source), &window.surface, None, serial);
    }),
    ("all of the screen", |world, client, window, _| {
        window.toplevel.set_fullscreen(None);
        world.settle();
        let size = world.client(client).ack_newest_configure().unwrap();
        world.client(client).commit_buffer(&window.surface, size.0, size.1);
    }),
    ("the question for its size", |_, _, window, _| window.toplevel.set_maximized()),
];

/// Presses and releases a key. Returns whether `client` received it.
fn key_reaches(world: &mut TestWorld, client: ClientIndex) -> bool {
    world.client(client).take_events();
    world.key(KEY_A, true);
    world.key(KEY_A, false);
    world.client(client).take_events().iter().any(|event| matches!(event, ClientEvent::Key { .. }))
}

fn stops_while_it_holds(what: &str, hold: StartGrab) {
    let mut world = TestWorld::rendered();
    let (good, window) = world.open_filled("good", (600, 400), GREEN);
    let (bad, held) = world.open("bad", 200, 100);
    let corner = world.window("bad").rect().loc.to_f64();
    world.point(corner.x + INSIDE.0, corner.y + INSIDE.1);
    world.button(BUTTON_LEFT, true);
    let serial = world.client(bad).press_serial();
    hold(&mut world, bad, &held, serial);
    world.settle();
    world.client(bad).is_stalled = true;
    for step in 0..MOTIONS {
        let time = world.now();
        let across = if step % 2 == 0 { 1.0 } else { -1.0 };
        let motion = InputEvent::PointerMotion { time, delta: (across, 0.5).into(), raw: (1.0, 0.0).into() };
        input::handle(&mut world.state, motion);
        if step % 8 == 0 {
            world.turn();
        }
    }
    world.button(BUTTON_LEFT, false);
    let is_all = what == "all of the screen";
    for number in 2..2 + FRAMES {
        world.client(good).draw(&window.surface, number, (600, 400), GREEN);
        window.surface.commit();
        if is_all {
            // The fullscreen window hides these frames.
            world.settle();
            continue;
        }
        world.run_until(what, |world| world.client(good).light(number).is_some());
    }
    let place = world.window("good").rect().loc.to_f64();
    // The first click closes a menu.
    world.click(place.x + 5.0, place.y + 390.0);
    world.click(place.x + 5.0, place.y + 390.0);
    if !is_all {
        assert_eq!(world.focused().as_deref(), Some("good"), "{what}");
        assert!(key_reaches(&mut world, good), "{what}");
    }
    // A new window gets the keyboard and opens above.
    let (late, _) = world.open("late", 50, 50);
    assert_eq!(world.stack().last().map(String::as_str), Some("late"), "{what}");
    assert!(key_reaches(&mut world, late), "{what}");
    world.client(bad).is_stalled = false;
    world.settle();
    assert!(!world.client(bad).is_disconnected(), "{what}: {}", world.client(bad).error_message());
    world.kill(bad);
    world.turn();
    assert!(key_reaches(&mut world, late), "{what}");
    assert!(!world.state.input.pointer().is_grabbed() && world.state.shell.drag().is_none(), "{what}");
}

#[test]
fn stopped_client_with_a_grab_blocks_no_other_client() {
    for (what, hold) in HOLDS {
        stops_while_it_holds(what, hold);
    }
}

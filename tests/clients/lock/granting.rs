//! The grant (`locked`) of a session lock: when it is sent, and which pixels are visible from then on.

use super::{Locker, middle, shows_only, with_a_window};
use crate::fixture::content::{BLUE, ContentEvent, GREEN, RED, Xrgb8888Pixel};
use crate::fixture::{ClientEvent, KEY_A, OUTPUT, TestWorld};
use upbeat::shell::lock::machine::LONGEST_WAIT;
use upbeat_timing::time::Span;
use wayland_client::Proxy;

#[test]
fn no_window_is_visible_after_locked_is_sent() {
    let (mut world, client, window) = with_a_window();
    let seen = world.probe((OUTPUT.0 / 2, OUTPUT.1 / 2, 1, 1));
    let mut locker = Locker::ask(&mut world);
    locker.pane(&mut world, 0);
    // The locker has asked for the lock and has no content yet.
    world.run_until_idle();
    assert_eq!(middle(&world), GREEN);
    locker.draw(&mut world, 0, 1, OUTPUT, BLUE);
    for number in 2..30 {
        // The window goes on drawing as fast as it can.
        world.client(client).draw(&window.surface, number, (400, 300), if number % 2 == 0 { RED } else { GREEN });
        window.surface.commit();
        world.turn();
    }
    locker.wait(&mut world);
    assert_eq!(middle(&world), BLUE, "the lock is on screen when `locked` is sent");
    for number in 30..60 {
        world.client(client).draw(&window.surface, number, (400, 300), if number % 2 == 0 { RED } else { GREEN });
        window.surface.commit();
        let until = world.now() + Span::from_millis(5);
        world.run_until("time", |world| world.now() >= until);
    }
    let colours: Vec<Xrgb8888Pixel> =
        std::iter::from_fn(|| seen.pop()).map(|sample| sample.pixels[0] & 0x00ff_ffff).collect();
    let first = colours.iter().position(|colour| *colour == BLUE).unwrap();
    assert!(colours[first..].iter().all(|colour| *colour == BLUE), "{colours:x?}");
    locker.unlock(&mut world);
    assert!(matches!(middle(&world), RED | GREEN));
}

#[test]
fn lock_without_content_is_granted_with_a_black_screen_after_a_second() {
    let (mut world, client, _) = with_a_window();
    let locker = Locker::ask(&mut world);
    world.settle();
    world.client(client).take_events();
    let begun = world.now();
    // Keys typed before the grant reach no client.
    world.key(KEY_A, true);
    world.key(KEY_A, false);
    locker.wait(&mut world);
    let waited = world.now() - begun;
    assert!(waited >= LONGEST_WAIT && waited < LONGEST_WAIT + Span::from_millis(50), "{waited}");
    assert!(shows_only(&world, 0));
    assert!(!world.client(client).take_events().iter().any(|event| matches!(event, ClientEvent::Key { .. })));
}

#[test]
fn session_without_windows_or_background_can_be_locked() {
    let mut world = TestWorld::rendered();
    world.state.outputs.set_background([0.0; 3]);
    world.run_until_idle();
    let locker = Locker::ask(&mut world);
    locker.wait(&mut world);
}

#[test]
fn destroyed_or_unmapped_lock_surface_leaves_black() {
    let (mut world, ..) = with_a_window();
    let locker = Locker::lock(&mut world, BLUE);
    locker.panes[0].object.destroy();
    world.run_until_idle();
    assert_eq!(middle(&world), 0);
    locker.panes[0].surface.destroy();
    world.run_until_idle();
    assert!(shows_only(&world, 0));
    locker.unlock(&mut world);
    assert_eq!(middle(&world), GREEN);
}

#[test]
fn captures_while_locked_show_the_lock() {
    let (mut world, ..) = with_a_window();
    let camera = world.connect();
    let mut locker = Locker::ask(&mut world);
    locker.pane(&mut world, 0);
    locker.draw(&mut world, 0, 1, OUTPUT, BLUE);
    // The lock is in force, but the picture on screen is older.
    assert!(world.state.shell.lock().covers() && middle(&world) == GREEN);
    for pass in 0..2 {
        let client = world.client(camera);
        let (buffer, output) = (client.buffer(OUTPUT.0, OUTPUT.1), client.bind_output());
        client.globals().screencopy.capture_output(0, &output, &client.handle(), ()).copy(&buffer);
        let taken = |world: &mut TestWorld| {
            world.client(camera).data.events.iter().filter(|event| matches!(event, ClientEvent::Captured)).count()
        };
        world.run_until("a picture", |world| taken(world) > pass);
        assert_eq!(middle(&world), BLUE, "it was taken when the lock was on screen");
    }
}

#[test]
fn the_lock_is_drawn_and_paced_like_a_window() {
    let (mut world, ..) = with_a_window();
    let locker = Locker::lock(&mut world, BLUE);
    for number in 2..10 {
        locker.draw(&mut world, 0, number, OUTPUT, if number % 2 == 0 { RED } else { BLUE });
        world.run_until("light", |world| world.client(locker.client).light(number).is_some());
        let client = locker.client;
        world.run_until("a callback", |world| world.client(client).has_received(ContentEvent::Callback(number)));
    }
    let lights: Vec<u64> = (2..10).map(|number| world.client(locker.client).light(number).unwrap().1).collect();
    assert!(lights.windows(2).all(|pair| pair[1] - pair[0] <= 2), "{lights:?}");
    let (surface, sub) = world.client(locker.client).subsurface(&locker.panes[0].surface);
    sub.set_position(-20, OUTPUT.1 - 20);
    world.client(locker.client).draw(&surface, 10, (60, 60), GREEN);
    surface.commit();
    locker.draw(&mut world, 0, 11, OUTPUT, BLUE);
    world.run_until_idle();
    assert_eq!((world.pixel(10, OUTPUT.1 - 5), world.pixel(45, OUTPUT.1 - 5)), (GREEN, BLUE));
    assert!(surface.id() != locker.panes[0].surface.id());
}

//! Pointer constraints, relative motion and the cursor.

use upbeat::backend::headless::OutputOptions;
use upbeat::input::cursor::CursorView;
use upbeat::input::{self, InputEvent};
use wayland_client::{Connection, Dispatch, QueueHandle};
use wayland_protocols::wp::cursor_shape::v1::client::wp_cursor_shape_device_v1::Shape;
use wayland_protocols::wp::pointer_constraints::zv1::client::zwp_locked_pointer_v1::ZwpLockedPointerV1;
use wayland_protocols::wp::pointer_constraints::zv1::client::zwp_pointer_constraints_v1::Lifetime;

use wayland_protocols::wp::pointer_warp::v1::client::wp_pointer_warp_v1::{self, WpPointerWarpV1};

use crate::fixture::client::TestClientState;
use crate::fixture::content::{BLUE, RED};
use crate::fixture::dispatch::id;
use crate::fixture::{ClientEvent, ClientIndex, KEY_1, TestToplevel, TestWorld};

fn pointer_at(world: &TestWorld) -> (f64, f64) {
    let position = upbeat::input::pointer_position(&world.state);
    (position.x, position.y)
}

/// `client` asks to lock the pointer on `window`.
fn lock(world: &mut TestWorld, client: ClientIndex, window: &TestToplevel) -> ZwpLockedPointerV1 {
    let client = world.client(client);
    let (pointer, handle) = (client.globals().pointer().clone(), client.handle());
    let constraints = &client.globals().constraints;
    let lock = constraints.lock_pointer(&window.surface, &pointer, None, Lifetime::Persistent, &handle, ());
    world.settle();
    lock
}

#[test]
fn cursor_is_hidden_during_touch_input() {
    let mut world = TestWorld::rendered();
    world.open_filled("a", (200, 100), 0);
    world.point(400.0, 300.0);
    let seen = |world: &mut TestWorld| {
        world.run_until_idle();
        world.picture().pixels
    };
    let with_cursor = seen(&mut world);
    let time = world.now();
    world.input(InputEvent::TouchDown { time, slot: 0, position: (100.0, 100.0).into() });
    world.input(InputEvent::TouchUp { time, slot: 0 });
    let without = seen(&mut world);
    assert_ne!(with_cursor, without);
    // A key does not bring the cursor back.
    world.key(KEY_1, true);
    world.key(KEY_1, false);
    assert_eq!(seen(&mut world), without);
    world.point(400.0, 300.0);
    assert_eq!(seen(&mut world), with_cursor, "where it was");
}

#[test]
fn a_locked_pointer_stays_and_reports_only_how_far_it_would_have_moved() {
    let mut world = TestWorld::new();
    let (a, window) = world.open("a", 400, 300);
    let corner = world.window("a").rect().loc.to_f64();
    world.point(corner.x + 50.0, corner.y + 50.0);
    let client = world.client(a);
    let (pointer, handle) = (client.globals().pointer().clone(), client.handle());
    client.globals().relative_pointers.get_relative_pointer(&pointer, &handle, ());
    let lock = lock(&mut world, a, &window);
    assert!(
        world.client(a).take_events().iter().any(|event| matches!(event, ClientEvent::Locked)),
        "it has the focus already"
    );

    let before = pointer_at(&world);
    let time = world.now();
    world.input(InputEvent::PointerMotion { time, delta: (7.0, -3.0).into(), raw: (9.0, -4.0).into() });
    assert_eq!(pointer_at(&world), before);
    let events = world.client(a).take_events();
    assert!(events.iter().any(|event| matches!(event, ClientEvent::Relative { dx: 7.0, dy: -3.0 })), "{events:?}");
    assert!(!events.iter().any(|event| matches!(event, ClientEvent::PointerMotion { .. })));

    lock.destroy();
    world.settle();
    let time = world.now();
    world.input(InputEvent::PointerMotion { time, delta: (7.0, -3.0).into(), raw: (9.0, -4.0).into() });
    assert_eq!(pointer_at(&world), (before.0 + 7.0, before.1 - 3.0));
}

impl Dispatch<WpPointerWarpV1, ()> for TestClientState {
    fn event(
        _: &mut Self,
        _: &WpPointerWarpV1,
        _: wp_pointer_warp_v1::Event,
        _: &(),
        _: &Connection,
        _: &QueueHandle<Self>,
    ) {
    }
}

#[test]
fn only_the_client_with_the_pointer_can_warp_it() {
    let mut world = TestWorld::rendered();
    let (a, window) = world.open("a", 400, 300);
    world.run_until_idle();
    let corner = world.window("a").rect().loc.to_f64();
    world.point(corner.x + 50.0, corner.y + 50.0);
    let entered = world.client(a).data.last_enter;
    let (warp, pointer) = (world.client(a).bind::<WpPointerWarpV1>(), world.client(a).globals().pointer().clone());
    let put = |world: &mut TestWorld, x: f64, y: f64, serial: u32| {
        warp.warp_pointer(&window.surface, &pointer, x, y, serial);
        world.settle();
        let (x, y) = pointer_at(world);
        (x - corner.x, y - corner.y)
    };
    assert_eq!(put(&mut world, 200.0, 100.0, entered + 1), (50.0, 50.0), "it does not prove that it has the pointer");
    world.client(a).take_events();
    assert_eq!(put(&mut world, 200.0, 100.5, entered), (200.0, 100.5));
    let heard = world.client(a).take_events();
    assert!(heard.iter().any(|event| matches!(event, ClientEvent::PointerMotion { x: 200.0, y: 100.5 })), "{heard:?}");
    for outside in [(-1.0, 10.0), (10.0, 300.5), (f64::from(i32::MAX >> 8), 0.0)] {
        assert_eq!(put(&mut world, outside.0, outside.1, entered), (200.0, 100.5), "{outside:?}");
    }
    world.point(1.0, 1.0);
    let away = pointer_at(&world);
    put(&mut world, 10.0, 10.0, entered);
    assert_eq!(pointer_at(&world), away, "it has lost the pointer");
}

#[test]
fn a_confined_pointer_slides_along_the_edge_of_its_region() {
    let mut world = TestWorld::new();
    let (a, window) = world.open("a", 400, 300);
    let corner = world.window("a").rect().loc.to_f64();
    world.point(corner.x + 50.0, corner.y + 50.0);
    let client = world.client(a);
    let (pointer, handle) = (client.globals().pointer().clone(), client.handle());
    let region = client.globals().compositor.create_region(&handle, ());
    region.add(0, 0, 100, 100);
    client.globals().constraints.confine_pointer(
        &window.surface,
        &pointer,
        Some(&region),
        Lifetime::Persistent,
        &handle,
        (),
    );
    world.settle();
    let time = world.now();
    world.input(InputEvent::PointerMotion { time, delta: (200.0, 20.0).into(), raw: (200.0, 20.0).into() });
    assert_eq!(pointer_at(&world), (corner.x + 99.0, corner.y + 70.0), "x stops at the edge, y is free");
    for (delta, edge) in [((-500.0, -3.5), (0.0, 66.5)), ((-1.0, 900.0), (0.0, 99.0)), ((700.0, -700.0), (99.0, 0.0))] {
        world.input(InputEvent::PointerMotion { time, delta: delta.into(), raw: delta.into() });
        assert_eq!(pointer_at(&world), (corner.x + edge.0, corner.y + edge.1), "{delta:?}");
    }
}

#[test]
fn pointer_constraint_ends_and_returns_with_keyboard_focus() {
    let mut world = TestWorld::new();
    let (a, window) = world.open("a", 400, 300);
    let corner = world.window("a").rect().loc.to_f64();
    world.point(corner.x + 50.0, corner.y + 50.0);
    lock(&mut world, a, &window);
    let moves = |world: &mut TestWorld| {
        let (before, time) = (pointer_at(world), world.now());
        world.input(InputEvent::PointerMotion { time, delta: (1.0, 0.0).into(), raw: (1.0, 0.0).into() });
        pointer_at(world) != before
    };
    assert!(!moves(&mut world), "it is locked");
    // A small window opens elsewhere and gets the keyboard.
    let (b, _) = world.open("b", 20, 20);
    world.settle();
    assert!(moves(&mut world), "no pointer is locked in a window without the keyboard");
    world.kill(b);
    world.settle();
    assert!(!moves(&mut world), "it is typed into again");
}

#[test]
fn client_under_the_pointer_sets_the_cursor() {
    let mut world = TestWorld::new();
    let (a, _) = world.open("a", 400, 300);
    world.point(640.0, 360.0);
    let serial = world.client(a).data.last_enter;
    let client = world.client(a);
    let (pointer, handle) = (client.globals().pointer().clone(), client.handle());

    pointer.set_cursor(serial, None, 0, 0);
    world.settle();
    assert_eq!(world.state.input.cursor().view(1.0), CursorView::Hidden);

    let client = world.client(a);
    let image = client.surface();
    client.commit_buffer(&image, 24, 24);
    pointer.set_cursor(serial, Some(&image), 3, 5);
    world.settle();
    assert!(
        matches!(world.state.input.cursor().view(1.0), CursorView::Surface(_, hotspot) if (hotspot.x, hotspot.y) == (3, 5))
    );
    image.destroy();
    world.settle();
    assert!(matches!(world.state.input.cursor().view(1.0), CursorView::Image(_)), "its surface is gone");

    let client = world.client(a);
    let device = client.globals().cursor_shapes.get_pointer(&pointer, &handle, ());
    device.set_shape(serial, Shape::Text);
    world.settle();
    assert!(matches!(world.state.input.cursor().view(2.0), CursorView::Image(image) if image.pixels.width > 0));
}

#[test]
fn oversized_cursor_is_clipped_to_its_plane_and_blocks_no_frame() {
    const PLANE: i32 = 64;
    let options = OutputOptions { cursor_plane: Some((PLANE as u32, PLANE as u32)), ..OutputOptions::default() };
    let mut world = TestWorld::rendered_on(options);
    let (a, window) = world.open_filled("a", (400, 300), RED);
    world.run_until_idle();
    world.point(640.0, 360.0);
    let serial = world.client(a).data.last_enter;
    let client = world.client(a);
    let image = client.surface();
    client.globals().pointer().clone().set_cursor(serial, Some(&image), 3, 5);
    for (number, (width, height)) in [(PLANE + 1, 10), (10, PLANE + 1), (600, 600)].into_iter().enumerate() {
        let number = number as u32 + 2;
        let client = world.client(a);
        image.attach(Some(&client.solid(100, width, height, BLUE)), 0, 0);
        image.damage_buffer(0, 0, width, height);
        image.commit();
        client.request_feedback(&window.surface, number);
        client.draw(&window.surface, number, (400, 300), RED);
        window.surface.commit();
        world.run_until("the frame beside it", |world| world.client(a).light(number).is_some());
    }
}

/// An XCursor file with one red image of `side` pixels, at the nominal size 24.
fn red_cursor(side: u32) -> Vec<u8> {
    const IMAGE: u32 = 0xfffd_0002;
    let file_header = [u32::from_le_bytes(*b"Xcur"), 16, 0x1_0000, 1];
    let contents = [IMAGE, 24, 28];
    let image = [36, IMAGE, 24, 1, side, side, 0, 0, 0];
    let pixels = vec![0xffff_0000_u32; (side * side) as usize];
    file_header.iter().chain(&contents).chain(&image).chain(&pixels).flat_map(|word| word.to_le_bytes()).collect()
}

#[test]
fn late_cursor_theme_is_shown_without_other_activity() {
    let directory = tempfile::tempdir().unwrap();
    std::fs::create_dir(directory.path().join("cursors")).unwrap();
    std::fs::write(directory.path().join("cursors/default"), red_cursor(16)).unwrap();
    // The thread that reads the theme blocks on this FIFO until the test writes to it.
    let index = directory.path().join("index.theme");
    rustix::fs::mkfifoat(rustix::fs::CWD, &index, rustix::fs::Mode::RUSR | rustix::fs::Mode::WUSR).unwrap();
    let theme = upbeat::config::CursorOptions { theme: directory.path().to_str().unwrap().to_owned(), size: 24 };

    let mut world = TestWorld::rendered();
    upbeat::input::cursor::load_theme(&mut world.state, &theme);
    world.point(200.0, 200.0);
    world.run_until_idle();
    const RED: u32 = 0xff_0000;
    assert_ne!(world.pixel(204, 204), RED, "it cannot be read yet");
    let mut waiting = std::fs::File::create(&index).unwrap();
    // Remove it, because the index is read once for each system folder that may hold themes.
    std::fs::remove_file(&index).unwrap();
    std::io::Write::write_all(&mut waiting, b"[Icon Theme]\n").unwrap();
    drop(waiting);
    world.run_until("the shape of the theme", |world| world.pixel(204, 204) == RED);
}

/// As in browsers: an opaque subsurface without an input region covers the whole window, and input goes to the window
/// below.
#[test]
fn window_below_an_opaque_subsurface_without_input_region_gets_the_pointer() {
    let mut world = TestWorld::rendered();
    let (a, window) = world.open("a", 400, 300);
    let (child, subsurface) = world.client(a).subsurface(&window.surface);
    subsurface.set_position(0, 0);
    let client = world.client(a);
    let handle = client.handle();
    let (nothing, all) = (
        client.globals().compositor.create_region(&handle, ()),
        client.globals().compositor.create_region(&handle, ()),
    );
    all.add(0, 0, 400, 300);
    child.set_input_region(Some(&nothing));
    child.set_opaque_region(Some(&all));
    client.draw(&child, 1, (400, 300), RED);
    child.commit();
    window.surface.commit();
    world.settle();
    world.run_until_idle();
    world.client(a).take_events();
    let corner = world.window("a").rect().loc.to_f64();
    world.point(corner.x + 50.0, corner.y + 60.0);
    let events = world.client(a).take_events();
    let below = id(&window.surface);
    let entered = |event: &ClientEvent| matches!(event, ClientEvent::PointerEnter { surface, x: 50.0, y: 60.0 } if *surface == below);
    assert!(events.iter().any(entered), "{events:?}");
}

/// Pointer positions that the client received, in order.
fn motions(world: &mut TestWorld, client: crate::fixture::ClientIndex) -> Vec<(f64, f64)> {
    let motion = |event| if let ClientEvent::PointerMotion { x, y } = event { Some((x, y)) } else { None };
    world.client(client).take_events().into_iter().filter_map(motion).collect()
}

#[test]
fn paused_client_is_not_ended_and_receives_the_newest_pointer_position() {
    let mut world = TestWorld::new();
    let (a, _) = world.open("a", 400, 300);
    let corner = world.window("a").rect().loc.to_f64();
    world.point(corner.x + 50.0, corner.y + 50.0);
    let client = world.client(a);
    let (pointer, handle) = (client.globals().pointer().clone(), client.handle());
    client.globals().relative_pointers.get_relative_pointer(&pointer, &handle, ());
    world.settle();
    world.client(a).take_events();
    world.client(a).is_stalled = true;
    for step in 0..3_000 {
        let time = world.now();
        let across = if step % 2 == 0 { 1.0 } else { -1.0 };
        input::handle(
            &mut world.state,
            InputEvent::PointerMotion { time, delta: (across, 0.0).into(), raw: (1.0, 0.0).into() },
        );
        if step % 4 == 0 {
            world.flush();
        }
    }
    let time = world.now();
    world.input(InputEvent::PointerPosition { time, position: (corner.x + 70.0, corner.y + 80.0).into() });
    world.client(a).is_stalled = false;
    let mut heard = Vec::new();
    let mut moved = 0.0;
    world.run_until("the last position", |world| {
        assert!(!world.client(a).is_disconnected());
        for event in world.client(a).take_events() {
            match event {
                ClientEvent::PointerMotion { x, y } => heard.push((x, y)),
                ClientEvent::Relative { dx, .. } => moved += dx,
                _ => {}
            }
        }
        heard.last() == Some(&(70.0, 80.0))
    });
    assert!(heard.len() < 1_000, "{}", heard.len());
    assert_eq!(moved, 0.0, "as far to the right as to the left");
    world.point(corner.x + 71.0, corner.y + 80.0);
    assert_eq!(motions(&mut world, a), [(71.0, 80.0)], "it receives all events again");
}

#[test]
fn press_is_sent_after_the_newest_position_to_a_slow_client() {
    let mut world = TestWorld::new();
    let (a, _) = world.open("a", 400, 300);
    let corner = world.window("a").rect().loc.to_f64();
    world.point(corner.x + 50.0, corner.y + 50.0);
    world.client(a).take_events();
    world.client(a).is_stalled = true;
    for step in 0..1_000 {
        world.point(corner.x + 50.0 + f64::from(step % 100), corner.y + 50.0);
    }
    world.click(corner.x + 10.0, corner.y + 20.0);
    world.client(a).is_stalled = false;
    world.settle();
    let events = world.client(a).take_events();
    let press = events.iter().position(|event| matches!(event, ClientEvent::Button { pressed: true, .. })).unwrap();
    let before = events[..press]
        .iter()
        .rev()
        .find_map(|event| if let ClientEvent::PointerMotion { x, y } = event { Some((*x, *y)) } else { None });
    assert_eq!(before, Some((10.0, 20.0)));
}

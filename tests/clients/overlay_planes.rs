//! Windows on the overlay planes of a display that shows shared memory without a copy by the compositor.

use std::os::fd::AsFd as _;

use upbeat::backend::headless::OutputOptions;
use upbeat::backend::{PixelBuffer, PixelRect};
use upbeat::scene::OnPlane;
use wayland_client::protocol::wl_shm::Format;

use crate::fixture::content::{BLUE, ContentEvent, GREEN, RED, Xrgb8888Pixel};
use crate::fixture::{ClientIndex, TestToplevel, TestWorld};
use crate::lock;
use crate::newest_input::cursor_pixels;

pub const SIZE: (i32, i32) = (400, 300);
/// The bits of a pixel that are seen.
const COLOURS: u32 = 0x00ff_ffff;

pub fn with_overlays(overlays: u32) -> OutputOptions {
    OutputOptions { overlays, cursor_plane: Some((64, 64)), ..OutputOptions::default() }
}

/// A session with a red window at (100, 80).
fn session(overlays: u32) -> (TestWorld, ClientIndex, TestToplevel) {
    let mut world = TestWorld::rendered_on(with_overlays(overlays));
    let (client, window) = world.open_filled("a", SIZE, RED);
    world.move_window("a", (100, 80));
    world.run_until_idle();
    (world, client, window)
}

/// The planes of the layers on screen, topmost first.
pub fn planes(world: &TestWorld) -> Vec<Option<OnPlane>> {
    world.output(0).on_screen().layers.iter().map(|layer| layer.plane).collect()
}

fn commit(world: &mut TestWorld, client: ClientIndex, window: &TestToplevel, number: u32, colour: Xrgb8888Pixel) {
    world.client(client).draw(&window.surface, number, SIZE, colour);
    window.surface.commit();
    world.settle();
}

fn show(world: &mut TestWorld, client: ClientIndex, window: &TestToplevel, number: u32, colour: Xrgb8888Pixel) {
    commit(world, client, window, number, colour);
    world.run_until("the picture", |world| world.client(client).light(number).is_some());
}

/// Asserts that both pictures show the same, except at these places.
#[track_caller]
fn assert_same_colours(a: &PixelBuffer, b: &PixelBuffer, except: &[(i32, i32)]) {
    let place = |at: usize| (at as i32 % a.width, at as i32 / a.width);
    let differs = |at: &usize| (a.pixels[*at] ^ b.pixels[*at]) & COLOURS != 0 && !except.contains(&place(*at));
    let first = (0..a.pixels.len()).find(differs);
    assert_eq!(first.map(place), None, "the first different pixel");
}

/// Asserts that the screen shows the same as an output without planes, on which all is drawn anew.
#[track_caller]
pub fn assert_like_full_redraw(world: &mut TestWorld) {
    // The output without planes has the cursor in its picture.
    let cursor = cursor_pixels(world);
    let (shown, redrawn) = world.screen_and_full_redraw(1.0);
    assert_same_colours(&shown, &redrawn, &cursor);
}

/// The damage that the last frame had to draw, in pixels.
fn drawn(world: &TestWorld) -> u64 {
    world.output(0).records().iter().last().unwrap().damage
}

#[test]
fn opaque_window_in_shared_memory_is_on_an_overlay_plane_and_is_not_drawn() {
    let (mut world, client, window) = session(2);
    assert_eq!(planes(&world), [Some(OnPlane::Overlay)]);
    show(&mut world, client, &window, 2, GREEN);
    assert_eq!((world.pixel(100, 80), world.pixel(499, 379)), (GREEN, GREEN));
    assert_ne!(world.pixel(99, 80), GREEN);
    assert_eq!(drawn(&world), 0);
    let (mut composed, client, window) = session(0);
    assert_eq!(planes(&composed), [None]);
    show(&mut composed, client, &window, 2, GREEN);
    assert_same_colours(&world.picture(), &composed.picture(), &[]);
}

#[test]
fn windows_beyond_the_number_of_planes_and_translucent_windows_are_composed() {
    let (mut world, ..) = session(1);
    let (b, second) = world.open_filled("b", (50, 50), BLUE);
    world.move_window("b", (600, 100));
    world.run_until_idle();
    assert_eq!(planes(&world).iter().flatten().count(), 1);
    let pixels = vec![0x8000_0080; 50 * 50];
    let buffer = world.client(b).buffer_of_pixels(2, Format::Argb8888, 50, 50, &pixels);
    second.surface.attach(Some(&buffer), 0, 0);
    second.surface.damage_buffer(0, 0, 50, 50);
    second.surface.commit();
    world.settle();
    world.run_until_idle();
    assert_eq!(planes(&world), [None, Some(OnPlane::Overlay)]);
    assert_like_full_redraw(&mut world);
}

#[test]
fn buffer_on_a_plane_is_released_when_the_plane_shows_the_next() {
    let (mut world, client, window) = session(1);
    show(&mut world, client, &window, 2, GREEN);
    assert!(!world.client(client).has_received(ContentEvent::Released(2)), "the plane reads it");
    commit(&mut world, client, &window, 3, BLUE);
    world.turn();
    assert!(!world.client(client).has_received(ContentEvent::Released(2)), "the plane still reads it");
    world.run_until("the picture", |world| world.client(client).light(3).is_some());
    world.run_until_idle();
    assert!(world.client(client).has_received(ContentEvent::Released(2)));
    assert!(!world.client(client).has_received(ContentEvent::Released(3)));
}

#[test]
fn picture_is_whole_after_a_window_leaves_and_enters_its_plane() {
    let (mut world, a, first) = session(1);
    let (b, second) = world.open_filled("b", (200, 200), BLUE);
    // The second window, which is above, takes the plane; then it covers a part of the first.
    for (number, place) in (2..).zip([(700, 100), (300, 200), (50, 40), (700, 100)]) {
        world.move_window("b", place);
        world.run_until_idle();
        show(&mut world, a, &first, number, if number % 2 == 0 { GREEN } else { RED });
        world.run_until_idle();
        assert_like_full_redraw(&mut world);
    }
    second.surface.attach(None, 0, 0);
    second.surface.commit();
    world.settle();
    world.run_until_idle();
    assert_eq!(planes(&world), [Some(OnPlane::Overlay)]);
    assert_like_full_redraw(&mut world);
    world.kill(b);
}

#[test]
fn probes_and_captures_see_the_planes() {
    let (mut world, client, window) = session(1);
    let log = world.probe((100, 80, 1, 1));
    show(&mut world, client, &window, 2, GREEN);
    show(&mut world, client, &window, 3, BLUE);
    world.run_until_idle();
    let seen: Vec<u32> = std::iter::from_fn(|| log.pop()).map(|sample| sample.pixels[0] & COLOURS).collect();
    assert!(seen.contains(&GREEN), "{seen:x?}");
    let snapshot = world.output(0).display().snapshot(true).unwrap();
    // A snapshot shows the screen as it was, whatever came after.
    show(&mut world, client, &window, 4, RED);
    let mut pixels = Vec::new();
    assert!(snapshot.read(PixelRect { x: 100, y: 80, width: 2, height: 1 }, &mut pixels));
    assert!(pixels.iter().all(|pixel| pixel & COLOURS == BLUE), "{pixels:x?}");
}

#[test]
fn nothing_of_a_client_on_a_plane_is_above_the_lock() {
    let (mut world, ..) = session(1);
    assert_eq!(world.pixel(120, 100), RED);
    let lock = lock::Locker::lock(&mut world, GREEN);
    let picture = world.picture();
    assert!(!picture.pixels.iter().any(|pixel| pixel & COLOURS == RED));
    lock.unlock(&mut world);
    world.run_until_idle();
    assert_eq!(world.pixel(120, 100), RED);
}

#[test]
fn client_that_shrinks_the_pool_of_a_buffer_on_a_plane_disturbs_nobody_else() {
    let mut world = TestWorld::rendered_on(with_overlays(2));
    let (good, window) = world.open_filled("good", (200, 100), RED);
    let (bad, broken) = world.open("bad", 100, 50);
    world.move_window("good", (700, 100));
    world.move_window("bad", (100, 100));
    world.run_until_idle();
    let fd = rustix::fs::memfd_create("shrinks", rustix::fs::MemfdFlags::CLOEXEC).unwrap();
    rustix::fs::ftruncate(&fd, 100 * 50 * 4).unwrap();
    let buffer = {
        let client = world.client(bad);
        let pool = client.globals().shm.create_pool(fd.as_fd(), 100 * 50 * 4, &client.handle(), ());
        pool.create_buffer(0, 100, 50, 400, Format::Xrgb8888, &client.handle(), ())
    };
    broken.surface.attach(Some(&buffer), 0, 0);
    broken.surface.damage_buffer(0, 0, 100, 50);
    broken.surface.commit();
    world.run_until_idle();
    assert_eq!(planes(&world), [Some(OnPlane::Overlay); 2]);
    // The plane has shown it; the next frame reads it again.
    rustix::fs::ftruncate(&fd, 0).unwrap();
    for number in 7..10 {
        world.client(good).draw(&window.surface, number, (200, 100), GREEN);
        window.surface.commit();
        world.settle();
        world.run_until("light", |world| world.client(good).light(number).is_some());
        assert_eq!(world.pixel(720, 120), GREEN);
    }
    buffer.destroy();
    world.kill(bad);
    world.run_until_idle();
    assert_eq!(world.pixel(720, 120), GREEN);
}

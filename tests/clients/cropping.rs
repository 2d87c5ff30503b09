//! Buffers with a transform, a scale and a viewport, also changed without a new buffer.

use upbeat::output_transform::OutputTransform;
use upbeat::render::Renderer;
use wayland_client::protocol::wl_output::Transform;
use wayland_client::protocol::wl_shm::Format;
use wayland_protocols::wp::viewporter::client::wp_viewport;

use crate::fixture::content::{BLUE, GREEN, RED, Xrgb8888Pixel};
use crate::fixture::dispatch::id;
use crate::fixture::{ClientIndex, TestToplevel, TestWorld, gles};

/// Width and height of a patch of one colour.
const PATCH: i32 = 8;
const SIZE: (i32, i32) = (96, 64);
const CORNER: (i32, i32) = (40, 30);
const WHITE: Xrgb8888Pixel = 0x00ff_ffff;

fn patch(x: i32, y: i32) -> Xrgb8888Pixel {
    ((0x20 + 0x10 * (x / PATCH)) << 16 | (0x20 + 0x10 * (y / PATCH)) << 8 | 0x40) as Xrgb8888Pixel
}

/// The pixels of a buffer that shows the patches, and the buffer's size.
fn patches(turn: OutputTransform, scale: i32) -> (Vec<u32>, (i32, i32)) {
    let (width, height) = (SIZE.0 * scale, SIZE.1 * scale);
    let upright: Vec<u32> = (0..width * height).map(|at| patch(at % width / scale, at / width / scale)).collect();
    let size = if turn.swaps_sides() { (height, width) } else { (width, height) };
    (turn.pixels(&upright, (width, height)), size)
}

fn transform(turn: OutputTransform) -> Transform {
    Transform::try_from(OutputTransform::ALL.iter().position(|known| *known == turn).unwrap() as u32).unwrap()
}

#[test]
fn viewport_source_of_a_transformed_and_scaled_buffer_is_right() {
    for renderer in [Renderer::pixman().ok(), gles()].into_iter().flatten() {
        let mut world = TestWorld::rendered_by(renderer, 1.0);
        let (client, window) = world.open("a", 10, 10);
        let handle = world.client(client).handle();
        let viewport = world.client(client).globals().viewporter.get_viewport(&window.surface, &handle, ());
        for (turn, scale) in OutputTransform::ALL.into_iter().flat_map(|turn| [(turn, 1), (turn, 2)]) {
            let (pixels, size) = patches(turn, scale);
            for (x, y, width, height) in [(8, 16, 40, 24), (56, 0, 32, 64), (0, 40, 96, 8), (88, 56, 8, 8)] {
                let picture = world.client(client).buffer_of_pixels(0, Format::Xrgb8888, size.0, size.1, &pixels);
                viewport.set_source(f64::from(x), f64::from(y), f64::from(width), f64::from(height));
                window.surface.set_buffer_transform(transform(turn));
                window.surface.set_buffer_scale(scale);
                window.surface.attach(Some(&picture), 0, 0);
                window.surface.damage_buffer(0, 0, size.0, size.1);
                window.surface.commit();
                world.settle();
                world.move_window("a", CORNER);
                world.run_until_idle();
                let middles = (0..height / PATCH).flat_map(|row| (0..width / PATCH).map(move |column| (column, row)));
                for (left, top) in middles.map(|(column, row)| (column * PATCH + 4, row * PATCH + 4)) {
                    let seen = world.pixel(CORNER.0 + left, CORNER.1 + top);
                    let place = format!("{turn}, scale {scale}, ({left}, {top}) of {width}x{height} at ({x}, {y})");
                    assert_eq!(seen, patch(x + left, y + top), "{place}");
                }
            }
        }
    }
}

#[test]
fn damage_of_a_transformed_buffer_is_placed_right() {
    for turn in OutputTransform::ALL {
        let mut world = TestWorld::rendered();
        let (client, window) = world.open("a", 10, 10);
        let (mut pixels, size) = patches(turn, 1);
        for number in 0..8 {
            let picture = world.client(client).buffer_of_pixels(0, Format::Xrgb8888, size.0, size.1, &pixels);
            window.surface.set_buffer_transform(transform(turn));
            window.surface.attach(Some(&picture), 0, 0);
            if number == 0 {
                window.surface.damage_buffer(0, 0, size.0, size.1)
            } else {
                window.surface.damage(5, 9, 3, 2)
            }
            window.surface.commit();
            world.settle();
            world.move_window("a", CORNER);
            world.run_until_idle();
            pixels.iter_mut().for_each(|pixel| *pixel = WHITE);
        }
        let damage =
            world.state.outputs.states().next().unwrap().records().iter().next_back().map(|record| record.damage);
        assert_eq!(world.pixel(CORNER.0 + 6, CORNER.1 + 10), WHITE, "{turn}");
        assert_eq!(damage, Some(6), "{turn}");
    }
}

/// A window with a red, a green, a blue and a white quarter.
fn quarters(world: &mut TestWorld) -> (ClientIndex, TestToplevel) {
    let (client, window) = world.open("a", 10, 10);
    let colour = |at: i32| {
        let (x, y) = (at % SIZE.0, at / SIZE.0);
        [RED, GREEN, BLUE, WHITE][usize::from(x >= SIZE.0 / 2) + 2 * usize::from(y >= SIZE.1 / 2)]
    };
    let pixels: Vec<u32> = (0..SIZE.0 * SIZE.1).map(colour).collect();
    let picture = world.client(client).buffer_of_pixels(0, Format::Xrgb8888, SIZE.0, SIZE.1, &pixels);
    window.surface.attach(Some(&picture), 0, 0);
    window.surface.damage_buffer(0, 0, SIZE.0, SIZE.1);
    window.surface.commit();
    world.settle();
    world.move_window("a", CORNER);
    world.run_until_idle();
    (client, window)
}

fn corners(world: &mut TestWorld, (width, height): (i32, i32)) -> [Xrgb8888Pixel; 4] {
    world.settle();
    world.move_window("a", CORNER);
    world.run_until_idle();
    let size = world.window("a").geometry().size;
    assert_eq!((size.w, size.h), (width, height));
    [(4, 4), (width - 4, 4), (4, height - 4), (width - 4, height - 4)]
        .map(|(x, y)| world.pixel(CORNER.0 + x, CORNER.1 + y))
}

#[test]
fn buffer_scale_and_transform_apply_on_commit_without_a_new_buffer() {
    let mut world = TestWorld::rendered();
    let (_client, window) = quarters(&mut world);
    let background = world.pixel(CORNER.0 + 60, CORNER.1 + 80);
    window.surface.set_buffer_scale(2);
    assert_eq!(corners(&mut world, SIZE), [RED, GREEN, BLUE, WHITE], "the change is not committed yet");
    window.surface.commit();
    assert_eq!(corners(&mut world, (48, 32)), [RED, GREEN, BLUE, WHITE]);
    assert_eq!(world.pixel(CORNER.0 + 60, CORNER.1 + 20), background, "the window is smaller");
    window.surface.set_buffer_scale(1);
    window.surface.set_buffer_transform(Transform::_180);
    window.surface.commit();
    assert_eq!(corners(&mut world, SIZE), [WHITE, BLUE, GREEN, RED]);
    window.surface.set_buffer_transform(Transform::_90);
    window.surface.commit();
    assert_eq!(corners(&mut world, (64, 96)), [BLUE, RED, WHITE, GREEN]);
}

#[test]
fn opaque_region_applies_on_commit_without_a_new_buffer() {
    let mut world = TestWorld::rendered();
    let (_below, _window) = world.open_filled("below", SIZE, RED);
    world.move_window("below", CORNER);
    let (client, window) = world.open("above", 10, 10);
    let pixels = vec![0xff00_ff00; (SIZE.0 * SIZE.1) as usize];
    let picture = world.client(client).buffer_of_pixels(0, Format::Argb8888, SIZE.0, SIZE.1, &pixels);
    window.surface.attach(Some(&picture), 0, 0);
    window.surface.damage_buffer(0, 0, SIZE.0, SIZE.1);
    window.surface.commit();
    world.settle();
    world.move_window("above", CORNER);
    let layers = |world: &mut TestWorld| {
        world.settle();
        world.run_until_idle();
        world.state.outputs.states().next().unwrap().layers_on_screen()
    };
    assert_eq!(layers(&mut world), 2, "the surface has no opaque region");
    let handle = world.client(client).handle();
    let region = world.client(client).globals().compositor.create_region(&handle, ());
    region.add(0, 0, SIZE.0, SIZE.1);
    window.surface.set_opaque_region(Some(&region));
    window.surface.commit();
    assert_eq!(layers(&mut world), 1);
    window.surface.set_opaque_region(None);
    window.surface.commit();
    assert_eq!(layers(&mut world), 2);
}

#[test]
fn viewport_source_of_fractional_size_needs_a_destination() {
    let mut world = TestWorld::rendered();
    let (client, window) = world.open_filled("a", SIZE, RED);
    world.run_until_idle();
    let handle = world.client(client).handle();
    let viewport = world.client(client).globals().viewporter.get_viewport(&window.surface, &handle, ());
    viewport.set_source(0.0, 0.0, 20.5, 20.0);
    viewport.set_destination(41, 40);
    window.surface.commit();
    world.settle();
    assert!(!world.client(client).is_disconnected());
    viewport.set_destination(-1, -1);
    window.surface.commit();
    world.settle();
    let code = wp_viewport::Error::BadSize as u32;
    assert_eq!(world.client(client).error, Some(("wp_viewport".to_owned(), code)));
}

#[test]
fn viewport_sets_the_size_and_crop_of_a_cursor() {
    let mut world = TestWorld::rendered();
    let (client, window) = world.open_filled("a", (400, 300), BLUE);
    let corner = world.window("a").rect().loc;
    let at = (corner.x + 100, corner.y + 100);
    world.point(f64::from(at.0), f64::from(at.1));
    world.run_until_idle();
    let (serial, handle) = (world.client(client).data.last_enter, world.client(client).handle());
    let image = world.client(client).surface();
    let viewport = world.client(client).globals().viewporter.get_viewport(&image, &handle, ());
    // The cursor image is red on the left and green on the right.
    let pixels: Vec<u32> = (0..48 * 48).map(|at| 0xff00_0000 | if at % 48 < 24 { RED } else { GREEN }).collect();
    let picture = world.client(client).buffer_of_pixels(0, Format::Argb8888, 48, 48, &pixels);
    world.client(client).globals().pointer().set_cursor(serial, Some(&image), 2, 3);
    viewport.set_destination(12, 10);
    image.attach(Some(&picture), 0, 0);
    image.damage_buffer(0, 0, 48, 48);
    image.commit();
    let counts = |world: &mut TestWorld| {
        world.settle();
        world.run_until_idle();
        let picture = world.picture();
        let count =
            |colour: Xrgb8888Pixel| picture.pixels.iter().filter(|pixel| **pixel & 0x00ff_ffff == colour).count();
        (count(RED), count(GREEN), world.pixel(at.0 - 2, at.1 - 3), world.pixel(at.0 + 9, at.1 + 6))
    };
    assert_eq!(counts(&mut world), (60, 60, RED, GREEN));
    // Change the viewport without another buffer.
    viewport.set_source(12.0, 0.0, 12.0, 24.0);
    viewport.set_destination(12, 20);
    image.commit();
    assert_eq!(counts(&mut world).0, 240);
    image.set_buffer_transform(Transform::_180);
    image.commit();
    assert_eq!(counts(&mut world).1, 240, "turned");
    assert_ne!(id(&image), id(&window.surface));
}

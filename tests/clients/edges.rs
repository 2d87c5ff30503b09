//! Pixels at the edges of enlarged surfaces, and of surfaces and outputs at fractional scales.

use upbeat::render::Renderer;
use wayland_client::protocol::wl_output::Transform;
use wayland_client::protocol::wl_shm::Format;
use wayland_protocols_wlr::layer_shell::v1::client::zwlr_layer_surface_v1::Anchor;

use crate::fixture::content::{BLUE, GREEN, RED, Xrgb8888Pixel};
use crate::fixture::layers::Layer;
use crate::fixture::{OUTPUT, TestWorld, gles};

const WHITE: Xrgb8888Pixel = 0x00ff_ffff;
/// A colour that no cursor image has.
const MAGENTA: Xrgb8888Pixel = 0x00ff_00ff;

fn count(world: &TestWorld, colour: Xrgb8888Pixel) -> usize {
    world.picture().pixels.iter().filter(|pixel| **pixel & 0x00ff_ffff == colour).count()
}

#[test]
fn a_buffer_that_is_enlarged_keeps_its_colour_up_to_its_edges() {
    for renderer in [Renderer::pixman().ok(), gles()].into_iter().flatten() {
        let mut world = TestWorld::rendered_by(renderer, 1.0);
        let (client, window) = world.open("a", 10, 10);
        let handle = world.client(client).handle();
        let viewport = world.client(client).globals().viewporter.get_viewport(&window.surface, &handle, ());
        for (format, opacity) in [(Format::Xrgb8888, 0), (Format::Argb8888, 0xff00_0000)] {
            for turn in [Transform::Normal, Transform::_90, Transform::Flipped180] {
                for (buffer, shown) in
                    [((2, 2), (40, 40)), ((7, 3), (200, 31)), ((1, 1), (300, 200)), ((20, 20), (20, 33))]
                {
                    let pixels = vec![MAGENTA | opacity; (buffer.0 * buffer.1) as usize];
                    let picture = world.client(client).buffer_of_pixels(0, format, buffer.0, buffer.1, &pixels);
                    viewport.set_destination(shown.0, shown.1);
                    window.surface.set_buffer_transform(turn);
                    window.surface.attach(Some(&picture), 0, 0);
                    window.surface.damage_buffer(0, 0, buffer.0, buffer.1);
                    window.surface.commit();
                    world.settle();
                    world.run_until_idle();
                    let what = format!("{format:?} {turn:?} {buffer:?} as {shown:?}");
                    assert_eq!(count(&world, MAGENTA), (shown.0 * shown.1) as usize, "{what}");
                }
            }
        }
    }
}

#[test]
fn enlarged_buffer_samples_its_edges_right() {
    let mut world = TestWorld::rendered();
    let (client, window) = world.open("a", 10, 10);
    let handle = world.client(client).handle();
    let viewport = world.client(client).globals().viewporter.get_viewport(&window.surface, &handle, ());
    let picture = world.client(client).buffer_of_pixels(0, Format::Xrgb8888, 2, 2, &[RED, GREEN, BLUE, WHITE]);
    viewport.set_destination(40, 40);
    window.surface.attach(Some(&picture), 0, 0);
    window.surface.damage_buffer(0, 0, 2, 2);
    window.surface.commit();
    world.settle();
    world.move_window("a", (100, 50));
    world.run_until_idle();
    for (x, y, colour) in [(0, 0, RED), (39, 0, GREEN), (0, 39, BLUE), (39, 39, WHITE), (8, 8, RED), (31, 8, GREEN)] {
        assert_eq!(world.pixel(100 + x, 50 + y), colour, "({x}, {y})");
    }
    // Blue blends into white, on the edge as well as inside.
    let blue_to_white = |y: i32| [15, 20, 25].map(|x| world.pixel(100 + x, 50 + y));
    assert_eq!(blue_to_white(39), blue_to_white(32));
    assert!(blue_to_white(39).iter().all(|colour| ![BLUE, WHITE].contains(colour)));
}

#[test]
fn scaled_window_has_no_blended_rim() {
    for scale in [1.25, 1.5, 2.0] {
        let mut world = TestWorld::rendered_by(Renderer::pixman().unwrap(), scale);
        world.open_filled("a", (200, 100), MAGENTA);
        world.move_window("a", (20, 30));
        world.run_until_idle();
        let pixels = (200.0 * scale) as usize * (100.0 * scale) as usize;
        assert_eq!(count(&world, MAGENTA), pixels, "{scale}");
    }
}

#[test]
fn window_drawn_for_the_output_scale_is_pixel_exact_at_any_position() {
    let logical = (301, 201);
    for scale in [1.25, 1.5, 1.75] {
        let mut world = TestWorld::rendered_by(Renderer::pixman().unwrap(), scale);
        // Move the cursor out of the way.
        world.point(700.0, 400.0);
        let (client, window) = world.open("a", 10, 10);
        let handle = world.client(client).handle();
        let viewport = world.client(client).globals().viewporter.get_viewport(&window.surface, &handle, ());
        let pixels = |length: i32| (f64::from(length) * scale).round() as i32;
        let (width, height) = (pixels(logical.0), pixels(logical.1));
        let colour = |x: i32, y: i32| if (x + y) % 2 == 0 { WHITE } else { RED };
        let board: Vec<u32> = (0..width * height).map(|at| colour(at % width, at / width)).collect();
        let picture = world.client(client).buffer_of_pixels(0, Format::Xrgb8888, width, height, &board);
        viewport.set_destination(logical.0, logical.1);
        window.surface.attach(Some(&picture), 0, 0);
        window.surface.damage_buffer(0, 0, width, height);
        window.surface.commit();
        world.settle();
        for corner in
            [(277, 138), (276, 138), (277, 139), (275, 141), (13, 17), (14, 18), (15, 19), (281, 163), (-7, -3)]
        {
            world.move_window("a", corner);
            world.run_until_idle();
            let screen = world.picture();
            let (left, top) =
                ((f64::from(corner.0) * scale + 0.5).floor(), (f64::from(corner.1) * scale + 0.5).floor());
            let (left, top) = (left as i32, top as i32);
            let places = (0..height).flat_map(|y| (0..width).map(move |x| (x, y)));
            let seen = places.filter(|(x, y)| left + x >= 0 && top + y >= 0);
            let other = seen.filter(|(x, y)| {
                let pixel = screen.pixels[((top + y) * screen.width + left + x) as usize] & 0x00ff_ffff;
                pixel != colour(*x, *y)
            });
            assert_eq!(other.count(), 0, "{scale} at {corner:?}");
        }
    }
}

#[test]
fn windows_and_wallpapers_that_fill_an_output_cover_its_last_pixels_at_every_scale() {
    for scale in [1.5, 1.9667, 2.6, 2.9] {
        let mut world = TestWorld::rendered_by(Renderer::pixman().unwrap(), scale);
        let client = world.connect();
        world.map_layer(client, Layer::Background, GREEN, |layer| layer.set_anchor(Anchor::all()));
        world.run_until_idle();
        let edges = [(OUTPUT.0 - 1, 50), (50, OUTPUT.1 - 1), (OUTPUT.0 - 1, OUTPUT.1 - 1)];
        assert_eq!(edges.map(|(x, y)| world.pixel(x, y)), [GREEN; 3], "{scale}");
        let (owner, window) = world.open("a", 100, 100);
        for (is_fullscreen, colour) in [(false, BLUE), (true, RED)] {
            if is_fullscreen {
                window.toplevel.set_fullscreen(None)
            } else {
                window.toplevel.set_maximized()
            }
            world.settle();
            let size = world.client(owner).ack_newest_configure().unwrap();
            world.client(owner).draw(&window.surface, 2, size, colour);
            window.surface.commit();
            world.settle();
            world.run_until_idle();
            assert_eq!(edges.map(|(x, y)| world.pixel(x, y)), [colour; 3], "{scale}");
        }
    }
}

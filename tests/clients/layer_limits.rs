//! A layer that cannot be drawn is left out; the frame is still shown.

use upbeat::render::Renderer;
use wayland_client::protocol::wl_output::Transform;
use wayland_client::protocol::wl_shm::Format;
use wayland_client::protocol::wl_surface::WlSurface;

use crate::fixture::content::{GREEN, RED};
use crate::fixture::{OUTPUT, TestWorld, gles};

#[test]
fn extremely_scaled_surface_blocks_no_frame() {
    let mut world = TestWorld::rendered();
    let (bad, other) = world.open_filled("bad", (200, 100), RED);
    let (good, window) = world.open_filled("good", (200, 100), GREEN);
    world.run_until_idle();
    let viewport = {
        let client = world.client(bad);
        client.globals().viewporter.get_viewport(&other.surface, &client.handle(), ())
    };
    for (source, (width, height)) in
        [(1.0 / 256.0, (640, 480)), (1.0, (i32::MAX, i32::MAX)), (1.0 / 256.0, (1 << 18, 1))]
    {
        viewport.set_source(3.0, 3.0, source, source);
        viewport.set_destination(width, height);
        other.surface.commit();
        world.settle();
        world.client(good).request_feedback(&window.surface, 2);
        world.client(good).draw(&window.surface, 2, (200, 100), GREEN);
        window.surface.commit();
        world.run_until("the neighbour's next frame", |world| world.client(good).light(2).is_some());
        world.client(good).data.content_events.clear();
    }
}

/// Number of translucent surfaces that fill the screen above each other: more than can be seen through.
const SHEETS: u32 = 40;
/// Most layers of one process that are drawn, with its window.
const MOST_SHEETS: usize = 9;

#[test]
fn only_the_uppermost_translucent_layers_are_drawn() {
    assert_uppermost_drawn(Renderer::pixman().unwrap(), MOST_SHEETS, |_, _| ());
}

#[test]
fn only_the_uppermost_translucent_layers_are_drawn_by_gles() {
    if let Some(gles) = gles() {
        assert_uppermost_drawn(gles, MOST_SHEETS, |_, _| ());
    }
}

#[test]
fn half_as_many_transformed_layers_are_drawn() {
    assert_uppermost_drawn(Renderer::pixman().unwrap(), MOST_SHEETS / 2 + 1, |sheet, number| {
        sheet.set_buffer_transform(if number % 2 == 0 { Transform::_180 } else { Transform::Flipped });
    });
}

/// Checks that at most `most` of the translucent sheets are drawn, and that the remaining sheets are drawn when some
/// are destroyed. `made` prepares each sheet.
fn assert_uppermost_drawn(renderer: Renderer, most: usize, made: impl Fn(&WlSurface, u32)) {
    let mut world = TestWorld::rendered_by(renderer, 1.0);
    let (good, window) = world.open_filled("good", (200, 100), GREEN);
    let (bad, many) = world.open_filled("many", OUTPUT, RED);
    let mut sheets = Vec::new();
    for number in 0..SHEETS {
        let client = world.client(bad);
        let (sheet, role) = client.subsurface(&many.surface);
        role.set_desync();
        made(&sheet, number);
        let pixels = vec![0x0100_0000; (OUTPUT.0 * OUTPUT.1) as usize];
        sheet.attach(Some(&client.buffer_of_pixels(2, Format::Argb8888, OUTPUT.0, OUTPUT.1, &pixels)), 0, 0);
        sheet.commit();
        sheets.push((sheet, role));
        world.settle();
    }
    many.surface.commit();
    world.run_until_idle();
    let layers = |world: &TestWorld| world.state.outputs.states().next().unwrap().layers_on_screen();
    let all = layers(&world);
    assert!((4..=most).contains(&all), "{all}");
    // The omitted sheets are drawn when there are few enough.
    sheets.drain(4..).for_each(|(sheet, role)| {
        role.destroy();
        sheet.destroy();
    });
    many.surface.commit();
    world.run_until_idle();
    assert_eq!(layers(&world), 5, "four, and the window that hides the other");
    world.client(good).request_feedback(&window.surface, 3);
    window.surface.commit();
    world.run_until("the neighbour goes on", |world| world.client(good).callbacks().contains(&3));
}

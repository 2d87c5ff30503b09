//! A layer that cannot be drawn is left out; the frame is still shown.

use upbeat::render::Renderer;
use wayland_client::protocol::wl_output::Transform;
use wayland_client::protocol::wl_shm::Format;
use wayland_client::protocol::wl_surface::WlSurface;

use crate::fixture::content::{GREEN, RED};
use crate::fixture::{OUTPUT, World, gles};

#[test]
fn a_surface_that_is_enlarged_beyond_all_measure_keeps_no_frame_of_others_from_the_screen() {
    let mut world = World::lit();
    let (bad, other) = world.open_filled("bad", (200, 100), RED);
    let (good, window) = world.open_filled("good", (200, 100), GREEN);
    world.rest();
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
        world.client(good).ask(&window.surface, 2);
        world.client(good).draw(&window.surface, 2, (200, 100), GREEN);
        window.surface.commit();
        world.until("the neighbour's next frame", |world| world.client(good).light(2).is_some());
        world.client(good).data.heard.clear();
    }
}

/// Number of translucent surfaces that fill the screen above each other: more than can be seen through.
const SHEETS: u32 = 40;
/// Most layers of one process that are drawn, with its window.
const MOST_SHEETS: usize = 9;

#[test]
fn of_translucent_surfaces_above_each_other_the_uppermost_are_drawn_and_others_are_left_out() {
    the_uppermost_are_drawn(Renderer::pixman().unwrap(), MOST_SHEETS, |_, _| ());
}

#[test]
fn of_translucent_surfaces_above_each_other_the_uppermost_are_drawn_by_gles_too() {
    if let Some(gles) = gles() {
        the_uppermost_are_drawn(gles, MOST_SHEETS, |_, _| ());
    }
}

#[test]
fn of_those_that_are_turned_half_as_many_are_drawn() {
    the_uppermost_are_drawn(Renderer::pixman().unwrap(), MOST_SHEETS / 2 + 1, |sheet, number| {
        sheet.set_buffer_transform(if number % 2 == 0 { Transform::_180 } else { Transform::Flipped });
    });
}

/// Checks that at most `most` of the translucent sheets are drawn, and that the remaining sheets are drawn when some
/// are destroyed. `made` prepares each sheet.
fn the_uppermost_are_drawn(renderer: Renderer, most: usize, made: impl Fn(&WlSurface, u32)) {
    let mut world = World::lit_by(renderer, 1.0);
    let (good, window) = world.open_filled("good", (200, 100), GREEN);
    let (bad, many) = world.open_filled("many", OUTPUT, RED);
    let mut sheets = Vec::new();
    for number in 0..SHEETS {
        let client = world.client(bad);
        let (sheet, role) = client.subsurface(&many.surface);
        role.set_desync();
        made(&sheet, number);
        let pixels = vec![0x0100_0000; (OUTPUT.0 * OUTPUT.1) as usize];
        sheet.attach(Some(&client.picture(2, Format::Argb8888, OUTPUT.0, OUTPUT.1, &pixels)), 0, 0);
        sheet.commit();
        sheets.push((sheet, role));
        world.settle();
    }
    many.surface.commit();
    world.rest();
    let layers = |world: &World| world.state.outputs.states().next().unwrap().layers_on_screen();
    let all = layers(&world);
    assert!((4..=most).contains(&all), "{all}");
    // The omitted sheets are drawn when there are few enough.
    sheets.drain(4..).for_each(|(sheet, role)| {
        role.destroy();
        sheet.destroy();
    });
    many.surface.commit();
    world.rest();
    assert_eq!(layers(&world), 5, "four, and the window that hides the other");
    world.client(good).ask(&window.surface, 3);
    window.surface.commit();
    world.until("the neighbour goes on", |world| world.client(good).callbacks().contains(&3));
}

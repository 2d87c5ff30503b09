//! Recordings of transformed outputs: pictures have the orientation of the panel, and the `transform` event names it.

use wayland_client::protocol::wl_shm::Format;
use wayland_protocols::ext::image_copy_capture::v1::client::ext_image_copy_capture_manager_v1::Options;

use super::RecordingClient;
use crate::fixture::content::{GREEN, RED};
use crate::fixture::{OUTPUT, TestWorld};
use upbeat::backend::headless::OutputOptions;
use upbeat::output::hotplug::{self, Placement};
use upbeat::output_transform::OutputTransform;
use upbeat::render::Renderer;

/// A session whose output has the transform 90 (anticlockwise): logical (x, y) lies at (y, 719 - x) of the panel.
fn turned() -> TestWorld {
    let turn: Option<OutputTransform> = "90".parse().ok();
    let placement = Placement { position: Some((0, 0)), scale: Some(1.0), turn, ..Placement::default() };
    TestWorld::rendered_with_placement(Renderer::pixman().unwrap(), placement, OutputOptions::default())
}

fn on_panel(x: i32, y: i32) -> (i32, i32) {
    (y, OUTPUT.1 - 1 - x)
}

#[test]
fn output_capture_reports_transform_and_damage_in_panel_coordinates() {
    let mut world = turned();
    let (client, window) = world.open_filled("a", (300, 200), RED);
    world.move_window("a", (40, 600));
    world.run_until_idle();
    let camera = RecordingClient::new(&mut world);
    let source = camera.output(&mut world);
    let session = camera.session(&mut world, &source, Options::empty());
    assert_eq!(camera.events_of_next_turns(&mut world)[0], format!("size {}x{}", OUTPUT.0, OUTPUT.1), "the panel's");
    let film = camera.capture_buffer(&mut world, OUTPUT, Format::Xrgb8888);
    let whole = format!("damage {}x{} at 0,0", OUTPUT.0, OUTPUT.1);
    assert_eq!(camera.capture_frame(&mut world, &session, &film), ["transform _90", &whole, "time", "ready"]);
    let frame = camera.start_capture(&mut world, &session, &film);
    world.client(client).draw(&window.surface, 2, (300, 200), GREEN);
    window.surface.commit();
    // The window, 300 wide and 200 high at (40, 600), rotated anticlockwise.
    let changed = format!("damage 200x300 at 600,{}", OUTPUT.1 - 40 - 300);
    assert_eq!(camera.finish_capture(&mut world, &frame), ["transform _90", &changed, "time", "ready"]);
    let panel = world.picture();
    for (x, y) in [(40, 600), (339, 600), (40, 799), (339, 799), (39, 600), (340, 799), (0, 0), (719, 1279)] {
        let (x, y) = on_panel(x, y);
        assert_eq!(film.pixel(x, y), panel.pixels[(y * OUTPUT.0 + x) as usize] & 0x00ff_ffff, "({x}, {y})");
    }
    assert_eq!(film.pixel(600, OUTPUT.1 - 41), GREEN, "its top left corner");
    // Rotated back: the next frame reports the transform and full damage.
    let frame = camera.start_capture(&mut world, &session, &film);
    let id = hotplug::by_name(&world.state, "TEST-1").unwrap();
    hotplug::set_transform(&mut world.state, id, OutputTransform::NORMAL);
    assert_eq!(camera.finish_capture(&mut world, &frame), ["transform Normal", &whole, "time", "ready"]);
}

#[test]
fn window_capture_is_upright_on_a_rotated_output() {
    let mut world = turned();
    let (client, window) = world.open("a", 300, 200);
    let pixels: Vec<u32> = (0..300 * 200).map(|at| if at % 300 < 150 { RED } else { GREEN }).collect();
    let picture = world.client(client).buffer_of_pixels(7, Format::Xrgb8888, 300, 200, &pixels);
    window.surface.attach(Some(&picture), 0, 0);
    window.surface.damage_buffer(0, 0, 300, 200);
    window.surface.commit();
    world.run_until_idle();
    let camera = RecordingClient::new(&mut world);
    let source = camera.window(&mut world, 0);
    let session = camera.session(&mut world, &source, Options::empty());
    assert_eq!(camera.events_of_next_turns(&mut world)[0], "size 300x200");
    let film = camera.capture_buffer(&mut world, (300, 200), Format::Xrgb8888);
    assert_eq!(camera.capture_frame(&mut world, &session, &film)[0], "transform Normal");
    assert_eq!((film.pixel(2, 198), film.pixel(297, 2)), (RED, GREEN));
}

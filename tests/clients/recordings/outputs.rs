//! Capture sessions of outputs.

use wayland_client::protocol::wl_shm::Format;
use wayland_protocols::ext::image_copy_capture::v1::client::ext_image_copy_capture_manager_v1::Options;

use super::{RecordingClient, told};
use crate::fixture::content::{GREEN, RED};
use crate::fixture::{OUTPUT, TestWorld};
use crate::lock::Locker;
use upbeat::output::{hotplug, power};

const MIDDLE: (i32, i32) = (OUTPUT.0 / 2, OUTPUT.1 / 2);

#[test]
fn capture_session_announces_constraints_and_captures_the_presented_content_with_damage() {
    let mut world = TestWorld::rendered();
    let (client, window) = world.open_filled("a", (400, 300), RED);
    world.run_until_idle();
    let camera = RecordingClient::new(&mut world);
    let source = camera.output(&mut world);
    let session = camera.session(&mut world, &source, Options::empty());
    let size = format!("size {}x{}", OUTPUT.0, OUTPUT.1);
    let needs = [size.as_str(), "Xrgb8888", "Argb8888", "Xbgr8888", "Abgr8888", "done"];
    assert_eq!(camera.events_of_next_turns(&mut world), needs);
    let film = camera.capture_buffer(&mut world, OUTPUT, Format::Xrgb8888);
    // The first frame comes at once, although nothing changes.
    let whole = format!("damage {}x{} at 0,0", OUTPUT.0, OUTPUT.1);
    assert_eq!(camera.capture_frame(&mut world, &session, &film), ["transform Normal", &whole, "time", "ready"]);
    assert_eq!(film.pixel(MIDDLE.0, MIDDLE.1), RED);
    assert_eq!(film.pixel(1, 1), world.pixel(1, 1));
    // The second frame waits for damage.
    let frame = camera.start_capture(&mut world, &session, &film);
    assert_eq!(camera.events_of_next_turns(&mut world), Vec::<String>::new());
    world.client(client).draw(&window.surface, 2, (400, 300), GREEN);
    window.surface.commit();
    let rect = world.window("a").rect();
    let changed = format!("damage {}x{} at {},{}", rect.size.w, rect.size.h, rect.loc.x, rect.loc.y);
    assert_eq!(camera.finish_capture(&mut world, &frame), ["transform Normal", &changed, "time", "ready"]);
    assert_eq!(film.pixel(MIDDLE.0, MIDDLE.1), GREEN);
}

#[test]
fn all_announced_formats_hold_the_same_picture() {
    let mut world = TestWorld::rendered();
    world.open_filled("a", (400, 300), 0x0012_3456);
    world.run_until_idle();
    let camera = RecordingClient::new(&mut world);
    let source = camera.output(&mut world);
    world.settle();
    for (format, expected) in [
        (Format::Argb8888, 0xff12_3456),
        (Format::Xrgb8888, 0x0012_3456),
        (Format::Abgr8888, 0xff56_3412),
        (Format::Xbgr8888, 0x0056_3412),
    ] {
        let session = camera.session(&mut world, &source, Options::empty());
        // The stride may be larger than a row.
        let film = camera.padded_capture_buffer(&mut world, OUTPUT, OUTPUT.0 * 4 + 64, format);
        camera.capture_frame(&mut world, &session, &film);
        let mask = if expected >> 24 == 0 { 0x00ff_ffff } else { u32::MAX };
        assert_eq!(film.raw(MIDDLE.0, MIDDLE.1) & mask, expected, "{format:?}");
        session.destroy();
    }
}

#[test]
fn mode_change_announces_new_constraints_and_fails_a_waiting_frame() {
    let mut world = TestWorld::rendered();
    world.open_filled("a", (400, 300), RED);
    world.run_until_idle();
    let camera = RecordingClient::new(&mut world);
    let source = camera.output(&mut world);
    let session = camera.session(&mut world, &source, Options::empty());
    let film = camera.capture_buffer(&mut world, OUTPUT, Format::Xrgb8888);
    camera.capture_frame(&mut world, &session, &film);
    let frame = camera.start_capture(&mut world, &session, &film);
    world.turn();
    world.set_size("TEST-1", (800, 600));
    let said = camera.finish_capture(&mut world, &frame);
    assert_eq!(said.first().map(String::as_str), Some("size 800x600"), "{said:?}");
    assert_eq!(said.last().map(String::as_str), Some("failed BufferConstraints"), "{said:?}");
    // The old buffer fails at once; the session continues with a buffer of the new size.
    assert_eq!(camera.capture_frame(&mut world, &session, &film), ["failed BufferConstraints"]);
    world.run_until_idle();
    let film = camera.capture_buffer(&mut world, (800, 600), Format::Xrgb8888);
    assert_eq!(camera.capture_frame(&mut world, &session, &film).last().unwrap(), "ready");
}

#[test]
fn a_session_ends_with_its_output() {
    let mut world = TestWorld::rendered();
    world.open_filled("a", (400, 300), RED);
    world.run_until_idle();
    let camera = RecordingClient::new(&mut world);
    let source = camera.output(&mut world);
    let session = camera.session(&mut world, &source, Options::empty());
    let film = camera.capture_buffer(&mut world, OUTPUT, Format::Xrgb8888);
    camera.capture_frame(&mut world, &session, &film);
    let frame = camera.start_capture(&mut world, &session, &film);
    world.turn();
    told(&mut world, camera.client);
    let id = hotplug::by_name(&world.state, "TEST-1").unwrap();
    hotplug::remove(&mut world.state, id);
    let mut said = camera.events_of_next_turns(&mut world);
    said.sort_unstable();
    assert_eq!(said, ["failed Stopped", "stopped"]);
    frame.destroy();
    // A new session of the removed output is stopped from the start.
    camera.session(&mut world, &source, Options::empty());
    assert_eq!(camera.events_of_next_turns(&mut world), ["stopped"]);
}

#[test]
fn recordings_of_a_locked_session_show_no_windows() {
    let mut world = TestWorld::rendered();
    world.open_filled("a", (400, 300), RED);
    world.run_until_idle();
    let camera = RecordingClient::new(&mut world);
    let (output, window) = (camera.output(&mut world), camera.window(&mut world, 0));
    let of_output = camera.session(&mut world, &output, Options::PaintCursors);
    let of_window = camera.session(&mut world, &window, Options::empty());
    let film = camera.capture_buffer(&mut world, OUTPUT, Format::Xrgb8888);
    let portrait = camera.capture_buffer(&mut world, (400, 300), Format::Xrgb8888);
    camera.capture_frame(&mut world, &of_output, &film);
    camera.capture_frame(&mut world, &of_window, &portrait);
    assert_eq!((film.pixel(MIDDLE.0, MIDDLE.1), portrait.pixel(9, 9)), (RED, RED));
    let _locker = Locker::lock(&mut world, GREEN);
    world.run_until_idle();
    camera.capture_frame(&mut world, &of_output, &film);
    camera.capture_frame(&mut world, &of_window, &portrait);
    assert_eq!(film.pixel(MIDDLE.0, MIDDLE.1), GREEN);
    assert_eq!(portrait.pixel(9, 9), 0, "black");
}

#[test]
fn a_session_of_an_output_that_is_off_waits_until_it_is_on() {
    let mut world = TestWorld::rendered();
    let (client, window) = world.open_filled("a", (400, 300), RED);
    world.run_until_idle();
    let camera = RecordingClient::new(&mut world);
    let source = camera.output(&mut world);
    let session = camera.session(&mut world, &source, Options::empty());
    let film = camera.capture_buffer(&mut world, OUTPUT, Format::Xrgb8888);
    camera.capture_frame(&mut world, &session, &film);
    let id = hotplug::by_name(&world.state, "TEST-1").unwrap();
    power::set(&mut world.state, id, false);
    let frame = camera.start_capture(&mut world, &session, &film);
    assert_eq!(camera.events_of_next_turns(&mut world), Vec::<String>::new(), "it waits, and the session goes on");
    power::set(&mut world.state, id, true);
    world.client(client).draw(&window.surface, 2, (400, 300), GREEN);
    window.surface.commit();
    assert_eq!(camera.finish_capture(&mut world, &frame).last().unwrap(), "ready");
    assert_eq!(film.pixel(MIDDLE.0, MIDDLE.1), GREEN);
}

//! Cursor sessions: the cursor as a picture of its own.

use wayland_client::protocol::wl_shm::Format;

use super::RecordingClient;
use crate::fixture::content::RED;
use crate::fixture::{OUTPUT, TestWorld};

#[test]
fn cursor_session_reports_position_and_captures_the_image() {
    let mut world = TestWorld::rendered();
    world.open_filled("a", (400, 300), RED);
    world.point(300.0, 200.0);
    world.run_until_idle();
    let camera = RecordingClient::new(&mut world);
    let source = camera.output(&mut world);
    let handle = world.client(camera.client).handle();
    let pointer = world.client(camera.client).globals().pointer().clone();
    let cursor = camera.manager.create_pointer_cursor_session(&source, &pointer, &handle, ());
    let said = camera.events_of_next_turns(&mut world);
    assert_eq!(said.first().map(String::as_str), Some("enter"), "{said:?}");
    assert!(said[1].starts_with("hotspot ") && said[2] == "at 300,200", "{said:?}");
    let session = cursor.get_capture_session(&handle, ());
    let needs = camera.events_of_next_turns(&mut world);
    assert_eq!(needs[1..], ["Argb8888", "Abgr8888", "done"]);
    let (width, height) = needs[0].strip_prefix("size ").unwrap().split_once('x').unwrap();
    let size: (i32, i32) = (width.parse().unwrap(), height.parse().unwrap());
    let film = camera.capture_buffer(&mut world, size, Format::Argb8888);
    let said = camera.capture_frame(&mut world, &session, &film);
    assert_eq!(said.last().unwrap(), "ready");
    let pixels: Vec<u32> =
        (0..size.1).flat_map(|y| (0..size.0).map(move |x| (x, y))).map(|(x, y)| film.raw(x, y)).collect();
    assert!(pixels.contains(&0), "around it nothing is drawn");
    assert!(pixels.iter().any(|pixel| pixel >> 24 == 0xff), "it is opaque somewhere");
    // The next frame waits until the cursor image changes.
    let frame = camera.start_capture(&mut world, &session, &film);
    world.point(310.0, 220.0);
    assert_eq!(camera.events_of_next_turns(&mut world), ["at 310,220"]);
    frame.destroy();
    // The cursor moves to another output.
    world.plug_in_at("TEST-2", 60_000, (OUTPUT.0, 0));
    camera.events_of_next_turns(&mut world);
    world.point(f64::from(OUTPUT.0) + 300.0, 200.0);
    assert_eq!(camera.events_of_next_turns(&mut world), ["leave"]);
    world.point(10.0, 20.0);
    assert_eq!(
        camera.events_of_next_turns(&mut world),
        ["enter", hotspot_event(&mut world, &camera, &source).as_str(), "at 10,20"]
    );
}

/// The hotspot event of a new session, as words.
fn hotspot_event(
    world: &mut TestWorld,
    camera: &RecordingClient,
    source: &wayland_protocols::ext::image_capture_source::v1::client::ext_image_capture_source_v1::ExtImageCaptureSourceV1,
) -> String {
    let handle = world.client(camera.client).handle();
    let pointer = world.client(camera.client).globals().pointer().clone();
    let cursor = camera.manager.create_pointer_cursor_session(source, &pointer, &handle, ());
    let said = camera.events_of_next_turns(world);
    cursor.destroy();
    said[1].clone()
}

#[test]
fn cursor_session_of_a_window_is_entered_while_the_pointer_is_on_it() {
    let mut world = TestWorld::rendered();
    world.open_filled("a", (400, 300), RED);
    let rect = world.window("a").rect().to_f64();
    world.point(rect.loc.x + 30.0, rect.loc.y + 40.0);
    world.run_until_idle();
    let camera = RecordingClient::new(&mut world);
    let source = camera.window(&mut world, 0);
    let handle = world.client(camera.client).handle();
    let pointer = world.client(camera.client).globals().pointer().clone();
    let _cursor = camera.manager.create_pointer_cursor_session(&source, &pointer, &handle, ());
    let said = camera.events_of_next_turns(&mut world);
    assert_eq!((said[0].as_str(), said[2].as_str()), ("enter", "at 30,40"), "{said:?}");
    world.point(rect.loc.x - 50.0, rect.loc.y + 40.0);
    assert_eq!(camera.events_of_next_turns(&mut world), ["leave"]);
}

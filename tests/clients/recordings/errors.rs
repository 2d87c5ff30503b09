//! Invalid requests, buffers that do not fit, and recorders that disconnect.

use wayland_client::protocol::wl_shm::Format;
use wayland_protocols::ext::image_copy_capture::v1::client::ext_image_copy_capture_manager_v1::Options;
use wayland_protocols::ext::image_copy_capture::v1::client::ext_image_copy_capture_session_v1::ExtImageCopyCaptureSessionV1;

use super::{RecordingBuffer, RecordingClient};
use crate::fixture::TestWorld;
use crate::fixture::content::RED;

const FRAME: &str = "ext_image_copy_capture_frame_v1";

fn filmed() -> (TestWorld, RecordingClient, ExtImageCopyCaptureSessionV1, RecordingBuffer) {
    let mut world = TestWorld::rendered();
    world.open_filled("a", (400, 300), RED);
    world.run_until_idle();
    let camera = RecordingClient::new(&mut world);
    let source = camera.output(&mut world);
    let session = camera.session(&mut world, &source, Options::empty());
    let film = camera.capture_buffer(&mut world, crate::fixture::OUTPUT, Format::Xrgb8888);
    world.settle();
    (world, camera, session, film)
}

/// Interface and code of the protocol error that `act` causes.
fn error(
    act: impl FnOnce(&mut TestWorld, &RecordingClient, &ExtImageCopyCaptureSessionV1, &RecordingBuffer),
) -> (String, u32) {
    let (mut world, camera, session, film) = filmed();
    act(&mut world, &camera, &session, &film);
    world.settle();
    world.client(camera.client).error.clone().expect("an error")
}

#[test]
fn invalid_capture_requests_are_protocol_errors() {
    let twice = error(|world, camera, session, film| {
        camera.start_capture(world, session, film);
        camera.start_capture(world, session, film);
    });
    assert_eq!(twice, ("ext_image_copy_capture_session_v1".to_owned(), 1));
    let nothing = error(|world, camera, session, _| {
        session.create_frame(&world.client(camera.client).handle(), ()).capture();
    });
    assert_eq!(nothing, (FRAME.to_owned(), 1));
    for (x, y, width, height) in [(-1, 0, 1, 1), (0, -1, 1, 1), (0, 0, 0, 1), (0, 0, 1, i32::MIN)] {
        let damage = error(|world, camera, session, _| {
            session.create_frame(&world.client(camera.client).handle(), ()).damage_buffer(x, y, width, height);
        });
        assert_eq!(damage, (FRAME.to_owned(), 2));
    }
    let again = [
        error(|world, camera, session, film| camera.start_capture(world, session, film).capture()),
        error(|world, camera, session, film| camera.start_capture(world, session, film).attach_buffer(&film.buffer)),
        error(|world, camera, session, film| camera.start_capture(world, session, film).damage_buffer(0, 0, 1, 1)),
    ];
    assert_eq!(again, [3, 3, 3].map(|code| (FRAME.to_owned(), code)));
    let option = error(|world, camera, _, _| {
        let source = camera.output(world);
        camera.session(world, &source, Options::from_bits_retain(64));
    });
    assert_eq!(option, ("ext_image_copy_capture_manager_v1".to_owned(), 1));
    let session = error(|world, camera, _, _| {
        let source = camera.output(world);
        let handle = world.client(camera.client).handle();
        let pointer = world.client(camera.client).globals().pointer().clone();
        let cursor = camera.manager.create_pointer_cursor_session(&source, &pointer, &handle, ());
        cursor.get_capture_session(&handle, ());
        cursor.get_capture_session(&handle, ());
    });
    assert_eq!(session, ("ext_image_copy_capture_cursor_session_v1".to_owned(), 1));
}

#[test]
fn unsuitable_buffer_fails_the_frame_and_keeps_the_client() {
    let (mut world, camera, session, _) = filmed();
    let small = camera.capture_buffer(&mut world, (10, 10), Format::Xrgb8888);
    assert_eq!(camera.capture_frame(&mut world, &session, &small).last().unwrap(), "failed BufferConstraints");
    // A buffer that is destroyed before the capture.
    let film = camera.capture_buffer(&mut world, crate::fixture::OUTPUT, Format::Xrgb8888);
    let frame = session.create_frame(&world.client(camera.client).handle(), ());
    frame.attach_buffer(&film.buffer);
    film.buffer.destroy();
    frame.capture();
    assert_eq!(camera.finish_capture(&mut world, &frame), ["failed BufferConstraints"]);
    // A memory file that is truncated during the capture.
    let film = camera.capture_buffer(&mut world, crate::fixture::OUTPUT, Format::Xrgb8888);
    let frame = camera.start_capture(&mut world, &session, &film);
    rustix::fs::ftruncate(&film.memory, 4096).unwrap();
    assert_eq!(camera.finish_capture(&mut world, &frame), ["failed Unknown"]);
    // The failed frames reported no damage: the next frame reports all of it.
    let film = camera.capture_buffer(&mut world, crate::fixture::OUTPUT, Format::Xrgb8888);
    let said = camera.capture_frame(&mut world, &session, &film);
    assert!(said[1].ends_with("at 0,0") && said.last().unwrap() == "ready", "{said:?}");
    assert!(!world.client(camera.client).is_disconnected());
}

#[test]
fn capture_frames_outlive_their_session_and_clients_may_disconnect() {
    let (mut world, camera, session, film) = filmed();
    let frame = camera.start_capture(&mut world, &session, &film);
    session.destroy();
    camera.manager.destroy();
    assert_eq!(camera.finish_capture(&mut world, &frame).last().unwrap(), "ready");
    let (mut world, camera, session, film) = filmed();
    camera.start_capture(&mut world, &session, &film);
    world.turn();
    world.kill(camera.client);
    let other = RecordingClient::new(&mut world);
    let source = other.output(&mut world);
    let session = other.session(&mut world, &source, Options::empty());
    let film = other.capture_buffer(&mut world, crate::fixture::OUTPUT, Format::Xrgb8888);
    assert_eq!(other.capture_frame(&mut world, &session, &film).last().unwrap(), "ready");
}

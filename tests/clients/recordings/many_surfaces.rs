//! Many recordings of a window with many surfaces: the time spent on their damage is limited.

use wayland_client::protocol::wl_shm::Format;
use wayland_protocols::ext::image_copy_capture::v1::client::ext_image_copy_capture_manager_v1::Options;

use super::{RecordingClient, told};
use crate::fixture::TestWorld;
use crate::fixture::content::{BLUE, GREEN, RED};
use upbeat_timing::time::Span;

const SIZE: (i32, i32) = (200, 100);
const PARTS: i32 = 60;
const SESSIONS: usize = 30;
const FRAMES: u32 = 60;
/// Twice the number of layers that all recordings together may look at in a second.
const MOST_LAYERS_A_SECOND: f64 = 2.0 * 1_024.0 * 60.0;

#[test]
fn waiting_recordings_cost_a_neighbour_no_frame_and_all_get_their_next_frame() {
    let mut world = TestWorld::simulated(&[60_000]);
    let (many, window) = world.open_filled("many", SIZE, RED);
    for number in 0..PARTS {
        let (part, role) = world.client(many).subsurface(&window.surface);
        role.set_desync();
        role.set_position(number, 0);
        world.client(many).draw(&part, 2, (4, 4), BLUE);
        part.commit();
    }
    window.surface.commit();
    world.run_until_idle();
    let camera = RecordingClient::new(&mut world);
    let source = camera.window(&mut world, 0);
    let film = camera.capture_buffer(&mut world, SIZE, Format::Xrgb8888);
    let sessions: Vec<_> = (0..SESSIONS).map(|_| camera.session(&mut world, &source, Options::empty())).collect();
    for session in &sessions {
        let frame = camera.start_capture(&mut world, session, &film);
        camera.finish_capture(&mut world, &frame);
    }
    let frames: Vec<_> = sessions.iter().map(|session| camera.start_capture(&mut world, session, &film)).collect();
    let (neighbour, its) = world.open_filled("neighbour", SIZE, GREEN);
    world.run_until_idle();
    told(&mut world, camera.client);
    let (before, start) = (world.state.outputs.looked_at_for_pictures(), world.now());
    for number in 2..FRAMES + 2 {
        world.client(neighbour).draw(&its.surface, number, SIZE, if number % 2 == 0 { RED } else { GREEN });
        its.surface.commit();
        world.run_until("its frame", |world| world.client(neighbour).callbacks().contains(&number));
    }
    let seconds = (world.now() - start).as_millis_f64() / 1000.0;
    let looked_at = (world.state.outputs.looked_at_for_pictures() - before) as f64;
    assert!(looked_at > 0.0 && looked_at < MOST_LAYERS_A_SECOND * seconds, "{looked_at} layers in {seconds} s");
    assert_eq!(told(&mut world, camera.client), [""; 0], "nothing of the window has changed");
    world.client(many).draw(&window.surface, 9, SIZE, BLUE);
    window.surface.commit();
    let mut ready = 0;
    world.run_until("all pictures", |world| {
        ready += told(world, camera.client).iter().filter(|words| *words == "ready").count();
        ready == SESSIONS
    });
    assert!(world.now() - start < Span::from_seconds(30));
    drop(frames);
}

//! Recording a client's window costs that client no refresh.

use wayland_client::protocol::wl_shm::Format;
use wayland_protocols::ext::image_copy_capture::v1::client::ext_image_copy_capture_manager_v1::Options;

use super::{RecordingClient, told};
use crate::fixture::content::{GREEN, RED};
use crate::fixture::{OUTPUT, TestWorld};

/// Two seconds at 60 Hz.
const PICTURES: u32 = 120;

/// Numbers of the refreshes that show a new frame of a window which draws at each callback. Recorded pictures are not
/// counted, because another thread copies them and their number depends on the host.
fn refreshes(is_recorded: bool) -> Vec<u64> {
    let mut world = TestWorld::rendered();
    let (client, window) = world.open_filled("film", (400, 300), RED);
    world.run_until_idle();
    let camera = RecordingClient::new(&mut world);
    let source = camera.output(&mut world);
    let session = camera.session(&mut world, &source, Options::empty());
    camera.events_of_next_turns(&mut world);
    let film = camera.capture_buffer(&mut world, OUTPUT, Format::Xrgb8888);
    if is_recorded {
        let said = camera.capture_frame(&mut world, &session, &film);
        assert_eq!(said.last().map(String::as_str), Some("ready"), "no picture is taken");
    }
    let mut frame = is_recorded.then(|| camera.start_capture(&mut world, &session, &film));
    for number in 2..PICTURES + 2 {
        let filmed = world.client(client);
        filmed.draw(&window.surface, number, (400, 300), if number % 2 == 0 { GREEN } else { RED });
        window.surface.commit();
        world.run_until("the next frame", |world| {
            // The recorder asks for the next picture as soon as it has the previous picture.
            if let Some(last) = frame.take_if(|_| told(world, camera.client).iter().any(|words| words == "ready")) {
                last.destroy();
                frame = Some(camera.start_capture(world, &session, &film));
            }
            world.client(client).callbacks().contains(&number)
        });
    }
    world.run_until("light", |world| world.client(client).light(PICTURES + 1).is_some());
    let seen = (2..PICTURES + 2).filter_map(|number| world.client(client).light(number));
    seen.map(|(_, refresh)| refresh).collect()
}

#[test]
fn a_window_misses_no_refresh_beside_a_recorder() {
    for seen in [refreshes(false), refreshes(true)] {
        assert_eq!(seen.len(), PICTURES as usize, "each frame is presented");
        let dropped = seen.windows(2).filter(|pair| pair[1] != pair[0] + 1).count();
        assert_eq!(dropped, 0, "{seen:?}");
    }
}

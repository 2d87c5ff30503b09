//! `zwlr_screencopy`: pictures are copied on a thread of their own, even if the client disconnects meanwhile.

use std::os::fd::{AsFd, OwnedFd};
use std::time::Duration;

use crate::fixture::content::{GREEN, RED};
use crate::fixture::{ClientEvent, ClientIndex, OUTPUT, TestToplevel, TestWorld};
use crate::timed::cpu;
use rustix::fs::{MemfdFlags, ftruncate, memfd_create};
use upbeat::render::Renderer;
use wayland_client::protocol::wl_buffer::WlBuffer;
use wayland_client::protocol::wl_shm::Format;
use wayland_protocols_wlr::screencopy::v1::client::zwlr_screencopy_frame_v1::ZwlrScreencopyFrameV1;

const PIXELS: usize = (OUTPUT.0 * OUTPUT.1) as usize;

/// A session that shows a red window, and a client that captures it.
fn session_with_camera() -> (TestWorld, ClientIndex, TestToplevel, ClientIndex) {
    with_camera(TestWorld::rendered())
}

fn with_camera(mut world: TestWorld) -> (TestWorld, ClientIndex, TestToplevel, ClientIndex) {
    let (client, window) = world.open_filled("a", (400, 300), RED);
    world.run_until_idle();
    let camera = world.connect();
    (world, client, window, camera)
}

/// Shared memory for a picture of the output, and a buffer in it.
pub fn capture_buffer(world: &mut TestWorld, camera: ClientIndex) -> (OwnedFd, WlBuffer) {
    let memory = memfd_create("film", MemfdFlags::CLOEXEC).unwrap();
    ftruncate(&memory, PIXELS as u64 * 4).unwrap();
    let client = world.client(camera);
    let pool = client.globals().shm.create_pool(memory.as_fd(), PIXELS as i32 * 4, &client.handle(), ());
    let (width, height) = OUTPUT;
    let buffer = pool.create_buffer(0, width, height, width * 4, Format::Xrgb8888, &client.handle(), ());
    pool.destroy();
    (memory, buffer)
}

/// Requests a picture of the whole output into each buffer.
pub fn request_pictures(
    world: &mut TestWorld,
    camera: ClientIndex,
    buffers: &[&WlBuffer],
) -> Vec<ZwlrScreencopyFrameV1> {
    let client = world.client(camera);
    let output = client.bind_output();
    let copy = |buffer: &&WlBuffer| {
        let frame = client.globals().screencopy.capture_output(0, &output, &client.handle(), ());
        frame.copy(buffer);
        frame
    };
    buffers.iter().map(copy).collect()
}

/// Numbers of `ready` and of `failed` events.
pub fn ready_and_failed(world: &mut TestWorld, camera: ClientIndex) -> (usize, usize) {
    let events = &world.client(camera).data.events;
    let count = |what: fn(&&ClientEvent) -> bool| events.iter().filter(what).count();
    (count(|event| matches!(event, ClientEvent::Captured)), count(|event| matches!(event, ClientEvent::CaptureFailed)))
}

pub fn pixel(film: &OwnedFd, x: i32, y: i32) -> u32 {
    let mut bytes = [0; 4];
    rustix::io::pread(film, &mut bytes, (y * OUTPUT.0 + x) as u64 * 4).unwrap();
    u32::from_le_bytes(bytes) & 0x00ff_ffff
}

#[test]
fn capture_equals_the_screen() {
    let (mut world, client, window, camera) = session_with_camera();
    let (memory, buffer) = capture_buffer(&mut world, camera);
    for (number, colour) in [(2, GREEN), (3, RED)] {
        world.client(client).draw(&window.surface, number, (400, 300), colour);
        window.surface.commit();
        world.run_until_idle();
        world.client(camera).take_events();
        request_pictures(&mut world, camera, &[&buffer]);
        world.run_until("a picture", |world| ready_and_failed(world, camera) != (0, 0));
        assert_eq!(ready_and_failed(&mut world, camera), (1, 0));
        let shown = world.picture();
        let (x, y) = (OUTPUT.0 / 2, OUTPUT.1 / 2);
        assert_eq!(pixel(&memory, x, y), colour);
        for (x, y) in [(0, 0), (x - 200, y - 150), (OUTPUT.0 - 1, OUTPUT.1 - 1), (3, OUTPUT.1 - 1)] {
            assert_eq!(pixel(&memory, x, y), shown.pixels[(y * OUTPUT.0 + x) as usize] & 0x00ff_ffff, "({x}, {y})");
        }
    }
}

/// Nearly as many pictures as one client may have pending.
const PICTURES: usize = 60;

/// CPU time of the session's thread in each turn, until all of [`PICTURES`] simultaneous captures of one client are
/// ready.
pub fn turns_of_many_pictures() -> Vec<Duration> {
    // The world runs in real time, because the cost of a turn depends on how the turns follow each other.
    let (mut world, client, window, camera) = with_camera(TestWorld::in_real_time(Renderer::pixman().unwrap()));
    let (_memory, buffer) = capture_buffer(&mut world, camera);
    request_pictures(&mut world, camera, &vec![&buffer; PICTURES]);
    world.settle();
    let (mut drawn, mut work) = (1, Vec::new());
    world.run_until("all pictures", |world| {
        if drawn == 1 || world.client(client).light(drawn).is_some() {
            drawn += 1;
            let colour = if drawn % 2 == 0 { GREEN } else { RED };
            world.client(client).draw(&window.surface, drawn, (400, 300), colour);
            window.surface.commit();
        }
        let before = cpu();
        world.turn();
        work.push(cpu() - before);
        ready_and_failed(world, camera).0 == PICTURES
    });
    work
}

#[test]
fn many_pictures_at_once_come_while_their_window_draws() {
    assert!(turns_of_many_pictures().len() > 1, "in one turn");
}

#[test]
fn captures_survive_disconnects_and_destroyed_buffers() {
    let (mut world, _client, _window, camera) = session_with_camera();
    for leaves in [false, true, true] {
        let camera = if leaves { world.connect() } else { camera };
        let films: Vec<_> = (0..4).map(|_| capture_buffer(&mut world, camera)).collect();
        let frames = request_pictures(&mut world, camera, &films.iter().map(|(_, buffer)| buffer).collect::<Vec<_>>());
        world.client(camera).send();
        // Some pictures are being written when the client leaves.
        world.turn();
        if leaves {
            world.kill(camera);
        } else {
            films.iter().for_each(|(_, buffer)| buffer.destroy());
            frames[3].destroy();
        }
        drop(films);
        if !leaves {
            world.run_until("answers", |world| {
                let (came, failed) = ready_and_failed(world, camera);
                came + failed == 3
            });
            assert!(!world.client(camera).is_disconnected());
        }
    }
    let (_memory, buffer) = capture_buffer(&mut world, camera);
    world.client(camera).take_events();
    request_pictures(&mut world, camera, &[&buffer]);
    world.run_until("a picture", |world| ready_and_failed(world, camera) == (1, 0));
}

#[test]
fn capture_into_a_shrunk_file_fails() {
    let (mut world, _client, _window, camera) = session_with_camera();
    let (memory, buffer) = capture_buffer(&mut world, camera);
    request_pictures(&mut world, camera, &[&buffer, &buffer]);
    ftruncate(&memory, 4096).unwrap();
    world.run_until("answers", |world| ready_and_failed(world, camera) == (0, 2));
    assert!(!world.client(camera).is_disconnected());
    let (_memory, buffer) = capture_buffer(&mut world, camera);
    request_pictures(&mut world, camera, &[&buffer]);
    world.run_until("a picture", |world| ready_and_failed(world, camera) == (1, 2));
}

#[test]
fn repeated_captures_get_one_picture_per_refresh_and_do_not_delay_other_clients() {
    const PICTURES: u32 = 12;
    let (mut world, _client, _window, camera) = session_with_camera();
    let (_memory, buffer) = capture_buffer(&mut world, camera);
    let begun = world.now();
    for _ in 0..PICTURES {
        world.client(camera).take_events();
        request_pictures(&mut world, camera, &[&buffer]);
        world.run_until("a picture", |world| ready_and_failed(world, camera) == (1, 0));
    }
    let refreshes = (world.now() - begun).as_seconds_f64() * 60.0;
    assert!(refreshes > f64::from(PICTURES - 2), "{PICTURES} pictures in {refreshes:.1} refreshes");
    let other = world.connect();
    let (_memory, film) = capture_buffer(&mut world, other);
    request_pictures(&mut world, camera, &[&buffer]);
    request_pictures(&mut world, other, &[&film]);
    world.run_until("its picture", |world| ready_and_failed(world, other) == (1, 0));
}

/// Requests a picture of the whole output by `copy_with_damage`.
fn request_picture_with_damage(world: &mut TestWorld, camera: ClientIndex, buffer: &WlBuffer) -> ZwlrScreencopyFrameV1 {
    world.client(camera).take_events();
    let client = world.client(camera);
    let output = client.bind_output();
    let frame = client.globals().screencopy.capture_output(0, &output, &client.handle(), ());
    frame.copy_with_damage(buffer);
    frame
}

fn damage(world: &mut TestWorld, camera: ClientIndex) -> Vec<(i32, i32, i32, i32)> {
    let events = &world.client(camera).data.events;
    let damage = |event: &ClientEvent| match event {
        ClientEvent::CaptureDamage(x, y, width, height) => Some((*x, *y, *width, *height)),
        _ => None,
    };
    events.iter().filter_map(damage).collect()
}

#[test]
fn first_capture_with_damage_is_immediate_and_the_next_waits_for_damage() {
    let (mut world, client, window, camera) = session_with_camera();
    let (memory, buffer) = capture_buffer(&mut world, camera);
    request_picture_with_damage(&mut world, camera, &buffer);
    world.run_until("the first picture", |world| ready_and_failed(world, camera) == (1, 0));
    assert_eq!(damage(&mut world, camera), [(0, 0, OUTPUT.0, OUTPUT.1)]);
    request_picture_with_damage(&mut world, camera, &buffer);
    for _ in 0..100 {
        world.turn();
    }
    assert_eq!(ready_and_failed(&mut world, camera), (0, 0), "nothing has changed");
    let rect = world.window("a").rect();
    world.client(client).draw(&window.surface, 2, (400, 300), GREEN);
    window.surface.commit();
    world.run_until("the second picture", |world| ready_and_failed(world, camera) == (1, 0));
    assert_eq!(damage(&mut world, camera), [(rect.loc.x, rect.loc.y, rect.size.w, rect.size.h)]);
    assert_eq!(pixel(&memory, OUTPUT.0 / 2, OUTPUT.1 / 2), GREEN);
    // A change between two requests is reported with the next.
    world.client(client).draw(&window.surface, 3, (400, 300), RED);
    window.surface.commit();
    world.run_until_idle();
    request_picture_with_damage(&mut world, camera, &buffer);
    world.run_until("the third picture", |world| ready_and_failed(world, camera) == (1, 0));
    assert_eq!(damage(&mut world, camera), [(rect.loc.x, rect.loc.y, rect.size.w, rect.size.h)]);
    // The first request of another client is answered at once.
    let other = world.connect();
    let (_memory, film) = capture_buffer(&mut world, other);
    request_picture_with_damage(&mut world, other, &film);
    world.run_until("its first picture", |world| ready_and_failed(world, other) == (1, 0));
}

#[test]
fn captured_region_of_a_transformed_output_has_panel_orientation() {
    let (mut world, _client, window, camera) = session_with_camera();
    let id = upbeat::output::hotplug::by_name(&world.state, "TEST-1").unwrap();
    upbeat::output::hotplug::set_transform(&mut world.state, id, "90".parse().unwrap());
    world.move_window("a", (40, 600));
    keep_out(&mut world, "secret");
    world.run_until_idle();
    // Capture three columns beside the window and seven of the window, five rows down from its top.
    let pixels = |world: &mut TestWorld| {
        let (memory, _) = capture_buffer(world, camera);
        let client = world.client(camera);
        let output = client.bind_output();
        let pool = client.globals().shm.create_pool(memory.as_fd(), 5 * 10 * 4, &client.handle(), ());
        let buffer = pool.create_buffer(0, 5, 10, 5 * 4, Format::Xrgb8888, &client.handle(), ());
        let frame = client.globals().screencopy.capture_output_region(0, &output, 37, 600, 10, 5, &client.handle(), ());
        frame.copy(&buffer);
        client.take_events();
        world.run_until("a picture", |world| ready_and_failed(world, camera) == (1, 0));
        let size = |event: ClientEvent| match event {
            ClientEvent::CaptureBuffer { width, height, .. } => Some((width, height)),
            _ => None,
        };
        assert_eq!(world.client(camera).take_events().into_iter().find_map(size), Some((5, 10)));
        let mut bytes = [0; 5 * 10 * 4];
        rustix::io::pread(&memory, &mut bytes, 0).unwrap();
        bytes
            .chunks_exact(4)
            .map(|pixel| u32::from_le_bytes(pixel.try_into().unwrap()) & 0x00ff_ffff)
            .collect::<Vec<_>>()
    };
    // The output is turned anticlockwise: a row of the buffer is a column on the screen, the rightmost first.
    let seen = pixels(&mut world);
    assert!(seen[..35].iter().all(|pixel| *pixel == RED) && seen[35..].iter().all(|pixel| *pixel != RED), "{seen:x?}");
    // A window that a rule keeps out of captures is black.
    window.toplevel.set_app_id("secret".to_owned());
    world.settle();
    world.run_until_idle();
    let black = pixels(&mut world);
    assert!(black[..35].iter().all(|pixel| *pixel == 0) && black[35..] == seen[35..], "{black:x?}");
}

/// Sets a rule: windows of `app_id` are kept out of captures.
fn keep_out(world: &mut TestWorld, app_id: &str) {
    let rule = format!("[[app]]\napp-id = '{app_id}'\ncapture = false");
    world.state.outputs.rules_mut().set_apps(toml::from_str::<upbeat::config::Config>(&rule).unwrap().apps);
    world.state.outputs.rules_mut().mark_all_stale();
}

#[test]
fn windows_kept_out_by_a_rule_are_black_in_captures_only() {
    const BLACK: u32 = 0;
    let mut world = TestWorld::rendered();
    keep_out(&mut world, "secret");
    let (client, window) = world.open_filled("a", (400, 300), RED);
    window.toplevel.set_app_id("secret".to_owned());
    let (_, above) = world.open_filled("b", (100, 100), GREEN);
    let corner = world.window("a").rect().loc;
    world.move_window("b", (corner.x + 150, corner.y + 100));
    world.run_until_idle();
    let camera = world.connect();
    let (memory, buffer) = capture_buffer(&mut world, camera);
    let (a, b) = (world.window("a").rect(), world.window("b").rect());
    let middle = (b.loc.x + 50, b.loc.y + 50);
    let corner = (a.loc.x + 1, a.loc.y + 1);
    let look = |world: &mut TestWorld| {
        world.client(camera).take_events();
        request_pictures(world, camera, &[&buffer]);
        world.run_until("a picture", |world| ready_and_failed(world, camera) == (1, 0));
    };
    look(&mut world);
    assert_eq!(world.pixel(corner.0, corner.1), RED, "the window is on the screen");
    assert_eq!(pixel(&memory, corner.0, corner.1), BLACK);
    assert_eq!(pixel(&memory, middle.0, middle.1), GREEN, "a window above is captured");
    assert_eq!(pixel(&memory, a.loc.x - 2, a.loc.y), world.pixel(a.loc.x - 2, a.loc.y));
    // A popup of the window is kept out, too.
    let popup = {
        let client = world.client(client);
        let positioner = client.positioner(5, 5, 40, 40);
        let popup = client.popup(&window.xdg, &positioner);
        popup.surface.commit();
        popup
    };
    world.settle();
    world.client(client).ack_newest_configure();
    world.client(client).draw(&popup.surface, 9, (40, 40), GREEN);
    popup.surface.commit();
    world.settle();
    world.run_until_idle();
    assert_eq!(world.pixel(a.loc.x + 20, a.loc.y + 20), GREEN);
    look(&mut world);
    assert_eq!(pixel(&memory, a.loc.x + 20, a.loc.y + 20), BLACK);
    // A screenshot over the private socket (`upbeat msg`) keeps the window out, too.
    let shot = world.state.outputs.states().next().unwrap().picture(&world.state.shell, true).unwrap().whole().unwrap();
    assert_eq!(shot.pixels[(corner.1 * OUTPUT.0 + corner.0) as usize] & 0x00ff_ffff, BLACK);
    // Without the rule, the window is captured again.
    keep_out(&mut world, "others");
    above.surface.commit();
    world.run_until_idle();
    look(&mut world);
    assert_eq!(pixel(&memory, corner.0, corner.1), RED);
}

#[test]
fn a_picture_of_an_output_that_is_off_fails_also_while_the_session_is_locked() {
    let (mut world, _client, _window, camera) = session_with_camera();
    let (_memory, buffer) = capture_buffer(&mut world, camera);
    let id = upbeat::output::hotplug::by_name(&world.state, "TEST-1").unwrap();
    upbeat::output::power::set(&mut world.state, id, false);
    request_pictures(&mut world, camera, &[&buffer]);
    world.run_until("an answer", |world| ready_and_failed(world, camera) == (0, 1));
    upbeat::output::power::set(&mut world.state, id, true);
    world.run_until_idle();
    let _locker = crate::lock::Locker::lock(&mut world, GREEN);
    world.run_until_idle();
    upbeat::output::power::set(&mut world.state, id, false);
    world.client(camera).take_events();
    request_pictures(&mut world, camera, &[&buffer]);
    world.run_until("an answer", |world| ready_and_failed(world, camera) == (0, 1));
    upbeat::output::power::set(&mut world.state, id, true);
    world.client(camera).take_events();
    request_pictures(&mut world, camera, &[&buffer]);
    world.run_until("a picture", |world| ready_and_failed(world, camera) == (1, 0));
}

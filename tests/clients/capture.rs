//! `zwlr_screencopy`: pictures are copied on a thread of their own, even if the client disconnects meanwhile.

use std::os::fd::{AsFd, OwnedFd};
use std::time::Duration;

use crate::fixture::content::{GREEN, RED};
use crate::fixture::{ClientIndex, Event, OUTPUT, Toplevel, World};
use crate::timed::cpu;
use rustix::fs::{MemfdFlags, ftruncate, memfd_create};
use upbeat::render::Renderer;
use wayland_client::protocol::wl_buffer::WlBuffer;
use wayland_client::protocol::wl_shm::Format;
use wayland_protocols_wlr::screencopy::v1::client::zwlr_screencopy_frame_v1::ZwlrScreencopyFrameV1;

const PIXELS: usize = (OUTPUT.0 * OUTPUT.1) as usize;

/// A session that shows a red window, and a client that captures it.
fn filmed() -> (World, ClientIndex, Toplevel, ClientIndex) {
    filmed_in(World::lit())
}

fn filmed_in(mut world: World) -> (World, ClientIndex, Toplevel, ClientIndex) {
    let (client, window) = world.open_filled("a", (400, 300), RED);
    world.rest();
    let camera = world.connect();
    (world, client, window, camera)
}

/// Shared memory for a picture of the output, and a buffer in it.
fn film(world: &mut World, camera: ClientIndex) -> (OwnedFd, WlBuffer) {
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
fn ask(world: &mut World, camera: ClientIndex, buffers: &[&WlBuffer]) -> Vec<ZwlrScreencopyFrameV1> {
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
fn answers(world: &mut World, camera: ClientIndex) -> (usize, usize) {
    let events = &world.client(camera).data.events;
    let count = |what: fn(&&Event) -> bool| events.iter().filter(what).count();
    (count(|event| matches!(event, Event::Captured)), count(|event| matches!(event, Event::CaptureFailed)))
}

fn pixel(film: &OwnedFd, x: i32, y: i32) -> u32 {
    let mut bytes = [0; 4];
    rustix::io::pread(film, &mut bytes, (y * OUTPUT.0 + x) as u64 * 4).unwrap();
    u32::from_le_bytes(bytes) & 0x00ff_ffff
}

#[test]
fn a_picture_shows_what_is_on_screen() {
    let (mut world, client, window, camera) = filmed();
    let (memory, buffer) = film(&mut world, camera);
    for (number, colour) in [(2, GREEN), (3, RED)] {
        world.client(client).draw(&window.surface, number, (400, 300), colour);
        window.surface.commit();
        world.rest();
        world.client(camera).take_events();
        ask(&mut world, camera, &[&buffer]);
        world.until("a picture", |world| answers(world, camera) != (0, 0));
        assert_eq!(answers(&mut world, camera), (1, 0));
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
    let (mut world, client, window, camera) = filmed_in(World::in_real_time(Renderer::pixman().unwrap()));
    let (_memory, buffer) = film(&mut world, camera);
    ask(&mut world, camera, &vec![&buffer; PICTURES]);
    world.settle();
    let (mut drawn, mut work) = (1, Vec::new());
    world.until("all pictures", |world| {
        if drawn == 1 || world.client(client).light(drawn).is_some() {
            drawn += 1;
            let colour = if drawn % 2 == 0 { GREEN } else { RED };
            world.client(client).draw(&window.surface, drawn, (400, 300), colour);
            window.surface.commit();
        }
        let before = cpu();
        world.turn();
        work.push(cpu() - before);
        answers(world, camera).0 == PICTURES
    });
    work
}

#[test]
fn many_pictures_at_once_come_while_their_window_draws() {
    assert!(turns_of_many_pictures().len() > 1, "in one turn");
}

#[test]
fn clients_that_leave_or_destroy_their_buffers_harm_nobody() {
    let (mut world, _client, _window, camera) = filmed();
    for leaves in [false, true, true] {
        let camera = if leaves { world.connect() } else { camera };
        let films: Vec<_> = (0..4).map(|_| film(&mut world, camera)).collect();
        let frames = ask(&mut world, camera, &films.iter().map(|(_, buffer)| buffer).collect::<Vec<_>>());
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
            world.until("answers", |world| {
                let (came, failed) = answers(world, camera);
                came + failed == 3
            });
            assert!(!world.client(camera).is_gone());
        }
    }
    let (_memory, buffer) = film(&mut world, camera);
    world.client(camera).take_events();
    ask(&mut world, camera, &[&buffer]);
    world.until("a picture", |world| answers(world, camera) == (1, 0));
}

#[test]
fn memory_that_is_taken_away_costs_its_client_the_picture() {
    let (mut world, _client, _window, camera) = filmed();
    let (memory, buffer) = film(&mut world, camera);
    ask(&mut world, camera, &[&buffer, &buffer]);
    ftruncate(&memory, 4096).unwrap();
    world.until("answers", |world| answers(world, camera) == (0, 2));
    assert!(!world.client(camera).is_gone());
    let (_memory, buffer) = film(&mut world, camera);
    ask(&mut world, camera, &[&buffer]);
    world.until("a picture", |world| answers(world, camera) == (1, 2));
}

#[test]
fn who_asks_as_fast_as_it_can_gets_one_picture_a_refresh_and_others_theirs_at_once() {
    const PICTURES: u32 = 12;
    let (mut world, _client, _window, camera) = filmed();
    let (_memory, buffer) = film(&mut world, camera);
    let begun = world.now();
    for _ in 0..PICTURES {
        world.client(camera).take_events();
        ask(&mut world, camera, &[&buffer]);
        world.until("a picture", |world| answers(world, camera) == (1, 0));
    }
    let refreshes = (world.now() - begun).as_seconds_f64() * 60.0;
    assert!(refreshes > f64::from(PICTURES - 2), "{PICTURES} pictures in {refreshes:.1} refreshes");
    let other = world.connect();
    let (_memory, film) = film(&mut world, other);
    ask(&mut world, camera, &[&buffer]);
    ask(&mut world, other, &[&film]);
    world.until("its picture", |world| answers(world, other) == (1, 0));
}

/// Requests a picture of the whole output by `copy_with_damage`.
fn ask_with_damage(world: &mut World, camera: ClientIndex, buffer: &WlBuffer) -> ZwlrScreencopyFrameV1 {
    world.client(camera).take_events();
    let client = world.client(camera);
    let output = client.bind_output();
    let frame = client.globals().screencopy.capture_output(0, &output, &client.handle(), ());
    frame.copy_with_damage(buffer);
    frame
}

fn damage(world: &mut World, camera: ClientIndex) -> Vec<(i32, i32, i32, i32)> {
    let events = &world.client(camera).data.events;
    let damage = |event: &Event| match event {
        Event::CaptureDamage(x, y, width, height) => Some((*x, *y, *width, *height)),
        _ => None,
    };
    events.iter().filter_map(damage).collect()
}

#[test]
fn the_first_picture_with_damage_comes_at_once_and_the_next_with_what_has_changed() {
    let (mut world, client, window, camera) = filmed();
    let (memory, buffer) = film(&mut world, camera);
    ask_with_damage(&mut world, camera, &buffer);
    world.until("the first picture", |world| answers(world, camera) == (1, 0));
    assert_eq!(damage(&mut world, camera), [(0, 0, OUTPUT.0, OUTPUT.1)]);
    ask_with_damage(&mut world, camera, &buffer);
    for _ in 0..100 {
        world.turn();
    }
    assert_eq!(answers(&mut world, camera), (0, 0), "nothing has changed");
    let rect = world.window("a").rect();
    world.client(client).draw(&window.surface, 2, (400, 300), GREEN);
    window.surface.commit();
    world.until("the second picture", |world| answers(world, camera) == (1, 0));
    assert_eq!(damage(&mut world, camera), [(rect.loc.x, rect.loc.y, rect.size.w, rect.size.h)]);
    assert_eq!(pixel(&memory, OUTPUT.0 / 2, OUTPUT.1 / 2), GREEN);
    // A change between two requests is reported with the next.
    world.client(client).draw(&window.surface, 3, (400, 300), RED);
    window.surface.commit();
    world.rest();
    ask_with_damage(&mut world, camera, &buffer);
    world.until("the third picture", |world| answers(world, camera) == (1, 0));
    assert_eq!(damage(&mut world, camera), [(rect.loc.x, rect.loc.y, rect.size.w, rect.size.h)]);
    // The first request of another client is answered at once.
    let other = world.connect();
    let (_memory, film) = film(&mut world, other);
    ask_with_damage(&mut world, other, &film);
    world.until("its first picture", |world| answers(world, other) == (1, 0));
}

#[test]
fn a_region_of_a_turned_output_is_what_is_seen_there_as_it_lies_on_the_panel() {
    let (mut world, _client, window, camera) = filmed();
    let id = upbeat::output::hotplug::by_name(&world.state, "TEST-1").unwrap();
    upbeat::output::hotplug::turn(&mut world.state, id, "90".parse().unwrap());
    world.put("a", (40, 600));
    keep_out(&mut world, "secret");
    world.rest();
    // Capture three columns beside the window and seven of the window, five rows down from its top.
    let pixels = |world: &mut World| {
        let (memory, _) = film(world, camera);
        let client = world.client(camera);
        let output = client.bind_output();
        let pool = client.globals().shm.create_pool(memory.as_fd(), 5 * 10 * 4, &client.handle(), ());
        let buffer = pool.create_buffer(0, 5, 10, 5 * 4, Format::Xrgb8888, &client.handle(), ());
        let frame = client.globals().screencopy.capture_output_region(0, &output, 37, 600, 10, 5, &client.handle(), ());
        frame.copy(&buffer);
        client.take_events();
        world.until("a picture", |world| answers(world, camera) == (1, 0));
        let size = |event: Event| match event {
            Event::CaptureBuffer { width, height, .. } => Some((width, height)),
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
    world.rest();
    let black = pixels(&mut world);
    assert!(black[..35].iter().all(|pixel| *pixel == 0) && black[35..] == seen[35..], "{black:x?}");
}

/// Sets a rule: windows of `app_id` are kept out of captures.
fn keep_out(world: &mut World, app_id: &str) {
    let rule = format!("[[app]]\napp-id = '{app_id}'\ncapture = false");
    world.state.outputs.rules_mut().set_apps(toml::from_str::<upbeat::config::Config>(&rule).unwrap().apps);
    world.state.outputs.rules_mut().changed();
}

#[test]
fn windows_that_a_rule_keeps_out_are_black_in_pictures_and_as_they_are_on_screen() {
    const BLACK: u32 = 0;
    let mut world = World::lit();
    keep_out(&mut world, "secret");
    let (client, window) = world.open_filled("a", (400, 300), RED);
    window.toplevel.set_app_id("secret".to_owned());
    let (_, above) = world.open_filled("b", (100, 100), GREEN);
    let corner = world.window("a").rect().loc;
    world.put("b", (corner.x + 150, corner.y + 100));
    world.rest();
    let camera = world.connect();
    let (memory, buffer) = film(&mut world, camera);
    let (a, b) = (world.window("a").rect(), world.window("b").rect());
    let middle = (b.loc.x + 50, b.loc.y + 50);
    let corner = (a.loc.x + 1, a.loc.y + 1);
    let look = |world: &mut World| {
        world.client(camera).take_events();
        ask(world, camera, &[&buffer]);
        world.until("a picture", |world| answers(world, camera) == (1, 0));
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
    world.client(client).answer_newest();
    world.client(client).draw(&popup.surface, 9, (40, 40), GREEN);
    popup.surface.commit();
    world.settle();
    world.rest();
    assert_eq!(world.pixel(a.loc.x + 20, a.loc.y + 20), GREEN);
    look(&mut world);
    assert_eq!(pixel(&memory, a.loc.x + 20, a.loc.y + 20), BLACK);
    // A screenshot over the private socket (`upbeat msg`) keeps the window out, too.
    let shot = world.state.outputs.states().next().unwrap().picture(&world.state.shell, true).unwrap().whole().unwrap();
    assert_eq!(shot.pixels[(corner.1 * OUTPUT.0 + corner.0) as usize] & 0x00ff_ffff, BLACK);
    // Without the rule, the window is captured again.
    keep_out(&mut world, "others");
    above.surface.commit();
    world.rest();
    look(&mut world);
    assert_eq!(pixel(&memory, corner.0, corner.1), RED);
}

#[test]
fn a_picture_of_an_output_that_is_off_fails_also_while_the_session_is_locked() {
    let (mut world, _client, _window, camera) = filmed();
    let (_memory, buffer) = film(&mut world, camera);
    let id = upbeat::output::hotplug::by_name(&world.state, "TEST-1").unwrap();
    upbeat::output::power::set(&mut world.state, id, false);
    ask(&mut world, camera, &[&buffer]);
    world.until("an answer", |world| answers(world, camera) == (0, 1));
    upbeat::output::power::set(&mut world.state, id, true);
    world.rest();
    let _locker = crate::lock::Locker::lock(&mut world, GREEN);
    world.rest();
    upbeat::output::power::set(&mut world.state, id, false);
    world.client(camera).take_events();
    ask(&mut world, camera, &[&buffer]);
    world.until("an answer", |world| answers(world, camera) == (0, 1));
    upbeat::output::power::set(&mut world.state, id, true);
    world.client(camera).take_events();
    ask(&mut world, camera, &[&buffer]);
    world.until("a picture", |world| answers(world, camera) == (1, 0));
}

//! Capture sessions of single windows.

use std::ops::Range;

use wayland_client::protocol::wl_shm::Format;
use wayland_protocols::ext::image_copy_capture::v1::client::ext_image_copy_capture_manager_v1::Options;

use super::{Camera, Film, told};
use crate::fixture::content::{BLUE, GREEN, Heard, RED};
use crate::fixture::{ClientIndex, REFRESH, Toplevel, World, gles};
use upbeat::shell::workspaces::{Number, Place};
use upbeat_timing::time::Span;

const SIZE: (i32, i32) = (400, 300);

/// A red window, a capture session of it, and memory for the picture.
struct Stage {
    world: World,
    client: ClientIndex,
    window: Toplevel,
    camera: Camera,
    session: wayland_protocols::ext::image_copy_capture::v1::client::ext_image_copy_capture_session_v1::ExtImageCopyCaptureSessionV1,
    film: Film,
}

impl Stage {
    fn new(mut world: World, options: Options) -> Self {
        let (client, window) = world.open_filled("a", SIZE, RED);
        world.rest();
        let camera = Camera::new(&mut world);
        let source = camera.window(&mut world, 0);
        let session = camera.session(&mut world, &source, options);
        let film = camera.film(&mut world, SIZE, Format::Xrgb8888);
        world.settle();
        told(&mut world, camera.client);
        Stage { world, client, window, camera, session, film }
    }

    fn take(&mut self) -> Vec<String> {
        self.camera.take(&mut self.world, &self.session, &self.film)
    }
}

#[test]
fn a_window_is_recorded_alone_though_others_cover_it() {
    for renderer in [None, Some(())] {
        let world = match renderer {
            None => World::lit(),
            Some(()) => match gles() {
                Some(gles) => World::lit_by(gles, 1.0),
                None => return,
            },
        };
        let mut stage = Stage::new(world, Options::empty());
        let (surface, sub) = stage.world.client(stage.client).subsurface(&stage.window.surface);
        sub.set_position(10, 20);
        stage.world.client(stage.client).draw(&surface, 5, (50, 50), GREEN);
        surface.commit();
        stage.window.surface.commit();
        let cover = stage.world.open_filled("above", (1000, 700), BLUE);
        let rect = stage.world.window("a").rect();
        stage.world.put("above", (rect.loc.x - 20, rect.loc.y - 20));
        stage.world.rest();
        assert_eq!(stage.world.pixel(rect.loc.x + 1, rect.loc.y + 1), BLUE, "it is covered");
        told(&mut stage.world, stage.camera.client);
        let said = stage.take();
        assert_eq!(said, ["transform Normal", "damage 400x300 at 0,0", "time", "ready"]);
        assert_eq!((stage.film.pixel(1, 1), stage.film.pixel(399, 299)), (RED, RED));
        assert_eq!((stage.film.pixel(10, 20), stage.film.pixel(59, 69)), (GREEN, GREEN));
        assert_eq!((stage.film.pixel(9, 20), stage.film.pixel(60, 69)), (RED, RED));
        drop(cover);
    }
}

#[test]
fn a_window_that_is_recorded_counts_as_seen_on_a_workspace_that_is_not() {
    let mut stage = Stage::new(World::lit(), Options::empty());
    let (world, client) = (&mut stage.world, stage.client);
    let (id, workspaces) = (world.window("a").id, world.state.shell.workspaces());
    let place = workspaces.place(id).unwrap();
    let second = Number::try_from(2_u8).unwrap();
    upbeat::shell::send_to(&mut world.state, id, Place { number: second, ..place });
    world.rest();
    for (number, colour) in (10..20).zip([GREEN, BLUE].into_iter().cycle()) {
        world.client(client).draw(&stage.window.surface, number, SIZE, colour);
        stage.window.surface.commit();
        stage.camera.take(world, &stage.session, &stage.film);
        assert_eq!(stage.film.pixel(200, 150), colour);
    }
    // Measured while no frame is captured, because another thread copies it and virtual time goes on meanwhile.
    let spans = called_apart(world, client, &stage.window, 20..50);
    let refresh = Span::from_millihertz(REFRESH);
    assert!(spans.iter().all(|span| *span < refresh * 5 / 4), "it is called back at each refresh: {spans:?}");
    // A callback after one that was delayed by the copy of the last frame comes early.
    let at_refreshes = spans.iter().filter(|span| **span > refresh * 3 / 4).count();
    assert!(at_refreshes >= spans.len() * 3 / 4, "and not more often: {spans:?}");
    // No client records the window any more, so it counts as hidden.
    stage.session.destroy();
    world.settle();
    let spans = called_apart(world, client, &stage.window, 50..52);
    assert!(spans[0] > Span::from_millis(900), "{}", spans[0]);
}

/// Intervals (virtual time) between successive frame callbacks of `window`.
fn called_apart(world: &mut World, client: ClientIndex, window: &Toplevel, numbers: Range<u32>) -> Vec<Span> {
    let mut called = Vec::new();
    for number in numbers {
        world.client(client).ask(&window.surface, number);
        window.surface.commit();
        world.until("a callback", |world| world.client(client).heard(Heard::Called(number)));
        called.push(world.now());
    }
    called.windows(2).map(|pair| pair[1] - pair[0]).collect()
}

#[test]
fn a_window_of_another_size_needs_other_buffers() {
    let mut stage = Stage::new(World::lit(), Options::empty());
    stage.take();
    let frame = stage.camera.shoot(&mut stage.world, &stage.session, &stage.film);
    stage.world.turn();
    stage.world.client(stage.client).draw(&stage.window.surface, 2, (300, 200), GREEN);
    stage.window.surface.commit();
    let said = stage.camera.answer(&mut stage.world, &frame);
    assert!(said.contains(&"size 300x200".to_owned()), "{said:?}");
    assert_eq!(said.last().unwrap(), "failed BufferConstraints");
    stage.film = stage.camera.film(&mut stage.world, (300, 200), Format::Xrgb8888);
    assert!(stage.take().contains(&"damage 300x200 at 0,0".to_owned()));
    assert_eq!(stage.film.pixel(299, 199), GREEN);
}

#[test]
fn a_session_ends_with_its_window() {
    let mut stage = Stage::new(World::lit(), Options::empty());
    stage.take();
    stage.window.toplevel.destroy();
    assert!(stage.camera.hears(&mut stage.world).contains(&"stopped".to_owned()));
    assert_eq!(stage.take(), ["failed Stopped"]);
}

#[test]
fn menus_are_a_part_of_their_window_as_far_as_they_lie_in_it_and_the_cursor_where_it_is_asked_for() {
    for (options, has_cursor) in [(Options::empty(), false), (Options::PaintCursors, true)] {
        let mut stage = Stage::new(World::lit(), options);
        let popup = {
            let client = stage.world.client(stage.client);
            let positioner = client.positioner(380, 5, 40, 40);
            let popup = client.popup(&stage.window.xdg, &positioner);
            popup.surface.commit();
            popup
        };
        stage.world.settle();
        stage.world.client(stage.client).answer_newest();
        stage.world.client(stage.client).draw(&popup.surface, 9, (40, 40), GREEN);
        popup.surface.commit();
        let rect = stage.world.window("a").rect();
        stage.world.point(f64::from(rect.loc.x) + 100.0, f64::from(rect.loc.y) + 100.0);
        stage.world.rest();
        stage.take();
        assert_eq!((stage.film.pixel(390, 10), stage.film.pixel(370, 10)), (GREEN, RED));
        let around = (90..130).flat_map(|y| (90..130).map(move |x| (x, y)));
        let is_drawn = around.into_iter().any(|(x, y)| stage.film.pixel(x, y) != RED);
        assert_eq!(is_drawn, has_cursor);
    }
}

#[test]
fn a_window_that_a_rule_keeps_out_is_black_alone_too() {
    let mut world = World::lit();
    let config: upbeat::config::Config = toml::from_str("[[app]]\napp-id = '*'\ncapture = false").unwrap();
    world.state.outputs.rules_mut().set_apps(config.apps);
    let mut stage = Stage::new(world, Options::empty());
    stage.take();
    assert_eq!(stage.film.pixel(200, 150), 0);
}

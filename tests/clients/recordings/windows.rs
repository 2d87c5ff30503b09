//! Capture sessions of single windows.

use std::ops::Range;

use wayland_client::protocol::wl_shm::Format;
use wayland_protocols::ext::image_copy_capture::v1::client::ext_image_copy_capture_manager_v1::Options;

use super::{RecordingBuffer, RecordingClient, told};
use crate::fixture::content::{BLUE, ContentEvent, GREEN, RED};
use crate::fixture::{ClientIndex, REFRESH, TestToplevel, TestWorld, gles};
use upbeat::shell::workspaces::{WorkspaceId, WorkspaceNumber};
use upbeat_timing::time::Span;

const SIZE: (i32, i32) = (400, 300);

/// A red window, a capture session of it, and memory for the picture.
struct RecordedWindow {
    world: TestWorld,
    client: ClientIndex,
    window: TestToplevel,
    camera: RecordingClient,
    session: wayland_protocols::ext::image_copy_capture::v1::client::ext_image_copy_capture_session_v1::ExtImageCopyCaptureSessionV1,
    film: RecordingBuffer,
}

impl RecordedWindow {
    fn new(mut world: TestWorld, options: Options) -> Self {
        let (client, window) = world.open_filled("a", SIZE, RED);
        world.run_until_idle();
        let camera = RecordingClient::new(&mut world);
        let source = camera.window(&mut world, 0);
        let session = camera.session(&mut world, &source, options);
        let film = camera.capture_buffer(&mut world, SIZE, Format::Xrgb8888);
        world.settle();
        told(&mut world, camera.client);
        RecordedWindow { world, client, window, camera, session, film }
    }

    fn capture_frame(&mut self) -> Vec<String> {
        self.camera.capture_frame(&mut self.world, &self.session, &self.film)
    }
}

#[test]
fn window_is_captured_alone_although_it_is_covered() {
    for renderer in [None, Some(())] {
        let world = match renderer {
            None => TestWorld::rendered(),
            Some(()) => match gles() {
                Some(gles) => TestWorld::rendered_by(gles, 1.0),
                None => return,
            },
        };
        let mut stage = RecordedWindow::new(world, Options::empty());
        let (surface, sub) = stage.world.client(stage.client).subsurface(&stage.window.surface);
        sub.set_position(10, 20);
        stage.world.client(stage.client).draw(&surface, 5, (50, 50), GREEN);
        surface.commit();
        stage.window.surface.commit();
        let cover = stage.world.open_filled("above", (1000, 700), BLUE);
        let rect = stage.world.window("a").rect();
        stage.world.move_window("above", (rect.loc.x - 20, rect.loc.y - 20));
        stage.world.run_until_idle();
        assert_eq!(stage.world.pixel(rect.loc.x + 1, rect.loc.y + 1), BLUE, "it is covered");
        told(&mut stage.world, stage.camera.client);
        let said = stage.capture_frame();
        assert_eq!(said, ["transform Normal", "damage 400x300 at 0,0", "time", "ready"]);
        assert_eq!((stage.film.pixel(1, 1), stage.film.pixel(399, 299)), (RED, RED));
        assert_eq!((stage.film.pixel(10, 20), stage.film.pixel(59, 69)), (GREEN, GREEN));
        assert_eq!((stage.film.pixel(9, 20), stage.film.pixel(60, 69)), (RED, RED));
        drop(cover);
    }
}

#[test]
fn recorded_window_on_a_hidden_workspace_counts_as_visible() {
    let mut stage = RecordedWindow::new(TestWorld::rendered(), Options::empty());
    let (world, client) = (&mut stage.world, stage.client);
    let (id, workspaces) = (world.window("a").id, world.state.shell.workspaces());
    let place = workspaces.place(id).unwrap();
    let second = WorkspaceNumber::try_from(2_u8).unwrap();
    upbeat::shell::send_to(&mut world.state, id, WorkspaceId { number: second, ..place });
    world.run_until_idle();
    for (number, colour) in (10..20).zip([GREEN, BLUE].into_iter().cycle()) {
        world.client(client).draw(&stage.window.surface, number, SIZE, colour);
        stage.window.surface.commit();
        stage.camera.capture_frame(world, &stage.session, &stage.film);
        assert_eq!(stage.film.pixel(200, 150), colour);
    }
    // Measured while no frame is captured, because another thread copies it and virtual time goes on meanwhile.
    let spans = callback_intervals(world, client, &stage.window, 20..50);
    let refresh = Span::from_millihertz(REFRESH);
    assert!(spans.iter().all(|span| *span < refresh * 5 / 4), "it is called back at each refresh: {spans:?}");
    // A callback after one that was delayed by the copy of the last frame comes early.
    let at_refreshes = spans.iter().filter(|span| **span > refresh * 3 / 4).count();
    assert!(at_refreshes >= spans.len() * 3 / 4, "and not more often: {spans:?}");
    // No client records the window any more, so it counts as hidden.
    stage.session.destroy();
    world.settle();
    let spans = callback_intervals(world, client, &stage.window, 50..52);
    assert!(spans[0] > Span::from_millis(900), "{}", spans[0]);
}

/// Intervals (virtual time) between successive frame callbacks of `window`.
fn callback_intervals(
    world: &mut TestWorld,
    client: ClientIndex,
    window: &TestToplevel,
    numbers: Range<u32>,
) -> Vec<Span> {
    let mut called = Vec::new();
    for number in numbers {
        world.client(client).request_feedback(&window.surface, number);
        window.surface.commit();
        world.run_until("a callback", |world| world.client(client).has_received(ContentEvent::Callback(number)));
        called.push(world.now());
    }
    called.windows(2).map(|pair| pair[1] - pair[0]).collect()
}

#[test]
fn window_resize_announces_new_buffer_constraints() {
    let mut stage = RecordedWindow::new(TestWorld::rendered(), Options::empty());
    stage.capture_frame();
    let frame = stage.camera.start_capture(&mut stage.world, &stage.session, &stage.film);
    stage.world.turn();
    stage.world.client(stage.client).draw(&stage.window.surface, 2, (300, 200), GREEN);
    stage.window.surface.commit();
    let said = stage.camera.finish_capture(&mut stage.world, &frame);
    assert!(said.contains(&"size 300x200".to_owned()), "{said:?}");
    assert_eq!(said.last().unwrap(), "failed BufferConstraints");
    stage.film = stage.camera.capture_buffer(&mut stage.world, (300, 200), Format::Xrgb8888);
    assert!(stage.capture_frame().contains(&"damage 300x200 at 0,0".to_owned()));
    assert_eq!(stage.film.pixel(299, 199), GREEN);
}

#[test]
fn a_session_ends_with_its_window() {
    let mut stage = RecordedWindow::new(TestWorld::rendered(), Options::empty());
    stage.capture_frame();
    stage.window.toplevel.destroy();
    assert!(stage.camera.events_of_next_turns(&mut stage.world).contains(&"stopped".to_owned()));
    assert_eq!(stage.capture_frame(), ["failed Stopped"]);
}

#[test]
fn window_capture_includes_popups_inside_its_bounds_and_the_cursor_on_request() {
    for (options, has_cursor) in [(Options::empty(), false), (Options::PaintCursors, true)] {
        let mut stage = RecordedWindow::new(TestWorld::rendered(), options);
        let popup = {
            let client = stage.world.client(stage.client);
            let positioner = client.positioner(380, 5, 40, 40);
            let popup = client.popup(&stage.window.xdg, &positioner);
            popup.surface.commit();
            popup
        };
        stage.world.settle();
        stage.world.client(stage.client).ack_newest_configure();
        stage.world.client(stage.client).draw(&popup.surface, 9, (40, 40), GREEN);
        popup.surface.commit();
        let rect = stage.world.window("a").rect();
        stage.world.point(f64::from(rect.loc.x) + 100.0, f64::from(rect.loc.y) + 100.0);
        stage.world.run_until_idle();
        stage.capture_frame();
        assert_eq!((stage.film.pixel(390, 10), stage.film.pixel(370, 10)), (GREEN, RED));
        let around = (90..130).flat_map(|y| (90..130).map(move |x| (x, y)));
        let is_drawn = around.into_iter().any(|(x, y)| stage.film.pixel(x, y) != RED);
        assert_eq!(is_drawn, has_cursor);
    }
}

#[test]
fn window_excluded_by_a_rule_is_black_in_its_own_capture() {
    let mut world = TestWorld::rendered();
    let config: upbeat::config::Config = toml::from_str("[[app]]\napp-id = '*'\ncapture = false").unwrap();
    world.state.outputs.rules_mut().set_apps(config.apps);
    let mut stage = RecordedWindow::new(world, Options::empty());
    stage.capture_frame();
    assert_eq!(stage.film.pixel(200, 150), 0);
}

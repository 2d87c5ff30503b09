//! `upbeat_late_latch_v1`: subsurfaces that the compositor keeps at a device while their client sleeps.

mod predicted;
mod random;

use std::cell::Cell;

use upbeat::backend::headless::OutputOptions;
use upbeat::backend::headless::record::ProbeLog;
use upbeat::config::Config;
use upbeat::ipc::injected_input::device_events;
use upbeat::output::in_place;
use upbeat::protocol::late_latch;
use upbeat::session::apply_config;
use upbeat_record::ipc::message::input::InputEvent as Injected;
use upbeat_timing::time::{Instant, Span};
use wayland_client::Proxy;
use wayland_client::protocol::wl_surface::WlSurface;

use crate::fixture::content::{BLUE, GREEN, RED};
use crate::fixture::late_latch::{Devices, Means, UpbeatFollowerV1, UpbeatLateLatchManagerV1};
use crate::fixture::{ClientIndex, TestToplevel, TestWorld};

const WINDOW: (i32, i32) = (400, 300);
const CORNER: (i32, i32) = (100, 100);
/// Size of the follower (a square), and the pixel of it that is held at the pointer.
const SIZE: i32 = 11;
const ANCHOR: i32 = 5;
/// The pointer of [`move_pointer_each_millisecond`] is back at its first position after this number of pixels.
const ROUND: i32 = 350;
const INTERVAL: Span = Span::from_nanos(16_666_667);

/// A window with a subsurface that follows the pointer.
struct FollowerStage {
    world: TestWorld,
    client: ClientIndex,
    window: TestToplevel,
    part: WlSurface,
    follower: UpbeatFollowerV1,
}

impl FollowerStage {
    fn new() -> Self {
        FollowerStage::on(OutputOptions { cursor_plane: Some((64, 64)), ..OutputOptions::default() })
    }

    fn on(options: OutputOptions) -> Self {
        let mut world = TestWorld::rendered_on(options);
        late_latch::offer(&mut world.state, true);
        let (client, window) = world.open_filled("a", WINDOW, BLUE);
        world.move_window("a", CORNER);
        let (part, subsurface) = world.client(client).subsurface(&window.surface);
        subsurface.set_position(1, 1);
        world.client(client).draw(&part, 2, (SIZE, SIZE), RED);
        part.commit();
        window.surface.commit();
        let follower = world.client(client).follower(&part);
        follower.set_anchor(ANCHOR, ANCHOR);
        // At the last report; the tests in `predicted` are for expected positions.
        follower.set_horizon(0);
        world.run_until_idle();
        FollowerStage { world, client, window, part, follower }
    }

    /// Centre of the follower on the screen, found from pixels.
    fn visible_center(&self) -> Option<(i32, i32)> {
        let picture = self.world.picture();
        let first = picture.pixels.iter().position(|pixel| pixel & 0x00ff_ffff == RED)? as i32;
        Some((first % picture.width + SIZE / 2, first / picture.width + SIZE / 2))
    }

    fn means(&mut self) -> Vec<Means> {
        std::mem::take(&mut self.world.client(self.client).data.follower_means)
    }

    fn inject(&mut self, event: Injected) {
        let time = self.world.now();
        device_events(event, time).collect::<Vec<_>>().into_iter().for_each(|event| self.world.input(event));
        self.world.run_until_idle();
    }

    fn point(&mut self, x: i32, y: i32) {
        self.world.point(f64::from(x), f64::from(y));
        self.world.run_until_idle();
    }
}

const OWN_PLACE: (i32, i32) = (CORNER.0 + 1 + SIZE / 2, CORNER.1 + 1 + SIZE / 2);

#[test]
fn follower_is_at_the_pointer_while_the_pointer_is_on_its_window() {
    let mut stage = FollowerStage::new();
    assert_eq!((stage.visible_center(), stage.means()), (Some(OWN_PLACE), vec![Means::None]));
    stage.point(250, 220);
    assert_eq!((stage.visible_center(), stage.means()), (Some((250, 220)), vec![Means::Composed]));
    stage.point(251, 160);
    assert_eq!((stage.visible_center(), stage.means()), (Some((251, 160)), vec![]));
    // The window moves and the pointer stays.
    stage.world.move_window("a", (120, 110));
    stage.point(251, 160);
    assert_eq!(stage.visible_center(), Some((251, 160)));
    stage.world.move_window("a", CORNER);
    // The pointer is beside the window.
    stage.point(700, 600);
    assert_eq!((stage.visible_center(), stage.means()), (Some(OWN_PLACE), vec![Means::None]));
    // The pointer is on another window, which lies above.
    stage.point(250, 220);
    stage.world.open_filled("above", (60, 60), GREEN);
    stage.world.move_window("above", (300, 300));
    stage.point(310, 310);
    assert_eq!((stage.visible_center(), stage.means()), (Some(OWN_PLACE), vec![Means::Composed, Means::None]));
}

#[test]
fn destroyed_follower_returns_to_its_subsurface_position() {
    let mut stage = FollowerStage::new();
    stage.point(250, 220);
    assert_eq!(stage.visible_center(), Some((250, 220)));
    stage.follower.destroy();
    stage.world.run_until_idle();
    assert_eq!(stage.visible_center(), Some(OWN_PLACE));
    // The subsurface can get a follower again.
    stage.follower = stage.world.client(stage.client).follower(&stage.part);
    stage.point(260, 230);
    assert_eq!(stage.visible_center(), Some((260 + ANCHOR, 230 + ANCHOR)), "held by its corner");
    stage.part.destroy();
    stage.point(270, 230);
    assert_eq!(stage.visible_center(), None);
    // The surface of this follower is gone.
    stage.follower.set_anchor(3, 3);
    let window = stage.window.surface.clone();
    stage.world.client(stage.client).draw(&window, 3, WINDOW, GREEN);
    window.commit();
    stage.point(280, 230);
    assert_eq!(stage.world.client(stage.client).error, None);
    stage.world.kill(stage.client);
    stage.point(290, 230);
}

#[test]
fn follower_of_a_released_seat_stays_at_its_subsurface_position() {
    let mut stage = FollowerStage::new();
    stage.point(250, 220);
    assert_eq!(stage.visible_center(), Some((250, 220)));
    stage.world.client(stage.client).globals().seat.release();
    stage.point(260, 220);
    assert_eq!(stage.visible_center(), Some(OWN_PLACE));
}

#[test]
fn new_follower_is_at_the_pointer_that_stands_on_its_window() {
    let mut stage = FollowerStage::new();
    stage.follower.destroy();
    stage.point(250, 220);
    assert_eq!(stage.visible_center(), Some(OWN_PLACE));
    stage.follower = stage.world.client(stage.client).follower(&stage.part);
    stage.follower.set_anchor(ANCHOR, ANCHOR);
    stage.world.run_until_idle();
    assert_eq!(stage.visible_center(), Some((250, 220)));
}

#[test]
fn newest_report_of_the_requested_devices_leads_the_follower() {
    let mut stage = FollowerStage::new();
    stage.follower.destroy();
    stage.follower = stage.world.client(stage.client).follower_of(&stage.part, Devices::Pointer | Devices::Touch);
    stage.follower.set_anchor(ANCHOR, ANCHOR);
    stage.point(250, 220);
    assert_eq!(stage.visible_center(), Some((250, 220)));
    stage.inject(Injected::TouchDown { finger: 4, x: 180.0, y: 200.0 });
    assert_eq!(stage.visible_center(), Some((180, 200)));
    stage.inject(Injected::TouchMove { finger: 4, x: 190.0, y: 204.0 });
    assert_eq!(stage.visible_center(), Some((190, 204)));
    // The pen does not lead it, and is the pointer on a window without tablet support.
    stage.inject(Injected::TouchUp { finger: 4 });
    assert_eq!(stage.visible_center(), Some((250, 220)), "the pointer leads again");
    stage.follower.destroy();
    stage.follower = stage.world.client(stage.client).follower_of(&stage.part, Devices::Touch);
    stage.follower.set_anchor(ANCHOR, ANCHOR);
    stage.point(260, 220);
    assert_eq!(stage.visible_center(), Some(OWN_PLACE), "the pointer does not lead it");
    stage.inject(Injected::TouchDown { finger: 1, x: 300.0, y: 250.0 });
    assert_eq!(stage.visible_center(), Some((300, 250)));
    stage.inject(Injected::TouchUp { finger: 1 });
    assert_eq!(stage.visible_center(), Some(OWN_PLACE));
}

#[test]
fn follower_of_a_root_surface_second_follower_and_unknown_devices_are_errors() {
    let error = |code| Some((UpbeatLateLatchManagerV1::interface().name.to_owned(), code));
    let mut stage = FollowerStage::new();
    let root = stage.window.surface.clone();
    stage.world.client(stage.client).follower(&root);
    stage.world.settle();
    assert_eq!(stage.world.client(stage.client).error, error(1));
    let mut stage = FollowerStage::new();
    let part = stage.part.clone();
    stage.world.client(stage.client).follower(&part);
    stage.world.settle();
    assert_eq!(stage.world.client(stage.client).error, error(0));
    for devices in [Devices::empty(), Devices::from_bits_retain(9)] {
        let mut stage = FollowerStage::new();
        stage.follower.destroy();
        stage.world.client(stage.client).follower_of(&stage.part, devices);
        stage.world.settle();
        assert_eq!(stage.world.client(stage.client).error, error(2), "{devices:?}");
    }
}

#[test]
fn late_latch_global_is_offered_by_configuration() {
    let mut world = TestWorld::rendered();
    let client = world.connect();
    let name = UpbeatLateLatchManagerV1::interface().name;
    let is_offered = |world: &mut TestWorld| {
        world.settle();
        world.client(client).data.globals.iter().any(|(_, interface, _)| interface == name)
    };
    assert!(!is_offered(&mut world), "not offered unless the configuration says so");
    let mut with = Config::default();
    with.late_latch.followers = true;
    apply_config::apply(&mut world.state, Some(&Config::default()), &with).unwrap();
    assert!(is_offered(&mut world));
}

/// Moves the pointer one pixel to the right every millisecond; at the end of a round it jumps back. Returns the time of
/// each move.
fn move_pointer_each_millisecond(stage: &mut FollowerStage, y: i32, span: Span) -> Vec<Instant> {
    let moves = Cell::new(Vec::<Instant>::new());
    stage.world.run_for(span, &mut |world| {
        let mut known = moves.take();
        let now = world.now();
        if known.last().is_none_or(|last| *last + Span::from_millis(1) <= now) {
            known.push(now);
            let x = CORNER.0 + 20 + (known.len() as i32 - 1) % ROUND;
            world.point(f64::from(x), f64::from(y));
        }
        let next = known.last().copied().unwrap() + Span::from_millis(1);
        moves.set(known);
        Some(next)
    });
    moves.take()
}

/// Age of the pointer position that each recorded picture shows, at its light; sorted, the youngest first.
fn ages(log: &ProbeLog, moves: &[Instant]) -> Vec<Span> {
    let mut ages: Vec<Span> = std::iter::from_fn(|| log.pop())
        .filter_map(|sample| {
            let left = sample.pixels.iter().position(|pixel| pixel & 0x00ff_ffff == RED)?;
            let step = left as i32 + ANCHOR - 20;
            // A position repeats in each round: take the newest move that came before the light.
            let of_round = |round: i32| moves.get(usize::try_from(step + round * ROUND).ok()?);
            let newest = (0..2).filter_map(of_round).rfind(|at| **at <= sample.light)?;
            Some(sample.light - *newest)
        })
        .collect();
    ages.sort_unstable();
    ages
}

/// Median age of the shown position at its light, while the pointer moves one pixel every millisecond and the client
/// sleeps.
#[test]
fn follower_position_is_as_new_as_the_latch() {
    let mut stage = FollowerStage::new();
    let y = 220;
    let log = stage.world.probe((CORNER.0, y, WINDOW.0, 1));
    let told = stage.world.client(stage.client).count_content_events(|_| true);
    let moves = move_pointer_each_millisecond(&mut stage, y, Span::from_millis(600));
    let ages = ages(&log, &moves);
    assert!(ages.len() > 30, "a picture for nearly every refresh: {}", ages.len());
    let (median, way) = (ages[ages.len() / 2], Span::from_millis(16).scale(i64::from(y), 720));
    println!("{median} old, of which the beam takes {way}");
    // Submit lead of the display, cost of composing and slack; no time for the client, because that would cost a
    // refresh or more.
    assert!(median <= way + Span::from_micros(667) + Span::from_millis(3), "{median}");
    assert!(median < way + INTERVAL / 2);
    assert_eq!(stage.world.client(stage.client).count_content_events(|_| true), told, "the client was woken");
}

/// Each report keeps the compositor busy for a while, in which the beam may come. A move that is too late for its refresh
/// is made for the next, still in place; and later moves are planned earlier.
#[test]
fn follower_stays_in_place_while_reports_keep_the_compositor_busy() {
    const BUSY: Span = Span::from_micros(180);
    let options = OutputOptions { front_buffer: true, cursor_plane: Some((64, 64)), ..OutputOptions::default() };
    let mut stage = FollowerStage::on(options);
    in_place::set_enabled(&mut stage.world.state, true);
    let y = 330;
    stage.point(CORNER.0 + 15, y);
    move_pointer_each_millisecond(&mut stage, y, Span::from_millis(100));
    assert_eq!(stage.means().last(), Some(&Means::InPlace));
    let before = stage.world.output(0).in_place().counts();
    let (reports, mut due) = (Cell::new(0), stage.world.now());
    stage.world.run_for(Span::from_seconds(4), &mut |world| {
        if world.now() >= due {
            // Not in step with the refreshes, so that each moment of a refresh is hit.
            due += Span::from_micros(1_013);
            let x = CORNER.0 + 20 + reports.replace(reports.get() + 1) % ROUND;
            world.point(f64::from(x), f64::from(y));
            world.skip_time(BUSY);
        }
        Some(due)
    });
    let counts = stage.world.output(0).in_place().counts();
    let (lit, late) = (counts.lit - before.lit, counts.late - before.late);
    println!("{lit} lit, {late} late");
    assert!(late > 0, "no move was late: nothing was tried");
    assert!(stage.means().is_empty(), "the follower was composed");
    assert!(late <= 8 && lit >= 240 - 2 * late, "{lit} lit, {late} late");
}

/// The same with in-place (front-buffer) updates: the beam's way to the row adds nothing, at any height.
#[test]
fn in_place_follower_position_is_as_new_as_the_beam_at_each_height() {
    for corner in [10, 200, 400] {
        let options = OutputOptions { front_buffer: true, cursor_plane: Some((64, 64)), ..OutputOptions::default() };
        let mut stage = FollowerStage::on(options);
        in_place::set_enabled(&mut stage.world.state, true);
        stage.world.move_window("a", (CORNER.0, corner));
        let y = corner + 220;
        stage.point(CORNER.0 + 15, y);
        let log = stage.world.probe((CORNER.0, y, WINDOW.0, 1));
        let told = stage.world.client(stage.client).count_content_events(|_| true);
        let moves = move_pointer_each_millisecond(&mut stage, y, Span::from_millis(600));
        let ages = ages(&log, &moves);
        assert!(ages.len() > 30, "a picture for nearly every refresh: {}", ages.len());
        let median = ages[ages.len() / 2];
        println!("at {y}: {median} old; {:?}", stage.world.output(0).in_place().counts());
        assert!(median <= Span::from_millis(3), "{median} at {y}");
        assert_eq!(stage.world.output(0).in_place().counts().torn, 0);
        assert!(stage.world.output(0).in_place().counts().lit > 25, "{:?}", stage.world.output(0).in_place().counts());
        assert_eq!(stage.world.client(stage.client).count_content_events(|_| true), told, "the client was woken");
        assert_eq!(stage.means().last(), Some(&Means::InPlace));
        // The follower is seen exactly once, and the pixels that it covered before are restored.
        let picture = stage.world.picture();
        let rows = (corner..corner + WINDOW.1).map(|row| (row * picture.width + CORNER.0) as usize);
        let pixels = rows.flat_map(|at| &picture.pixels[at..at + WINDOW.0 as usize]).map(|pixel| pixel & 0x00ff_ffff);
        let (red, others): (Vec<u32>, Vec<u32>) = pixels.partition(|pixel| *pixel == RED);
        assert_eq!(red.len() as i32, SIZE * SIZE, "at {y}");
        assert!(others.iter().all(|pixel| *pixel == BLUE), "at {y}");
    }
}

//! Windows that open, close and change their geometry with an animation: every frame is right for its own display time.

mod ahead;
mod closing;
mod geometry;
mod late_flips;
mod locked;
mod slow_renderer;

use ahead::{ahead, records};

use crate::fixture::content::{BLUE, ContentEvent, GREEN, RED, Xrgb8888Pixel};
use crate::fixture::{ClientIndex, KEY_A, OUTPUT, TestToplevel, TestWorld};
use upbeat::backend::headless::record::{LoggedSample, ProbeLog};
use upbeat::config::Config;
use upbeat::shell::animation::{AnimationStyles, FadeStyle};
use upbeat_timing::defaults::START_DELAY;
use upbeat_timing::motion::MotionStyle;
use upbeat_timing::motion::easing::CubicBezier;
use upbeat_timing::motion::spring::SpringShape;
use upbeat_timing::pacing::Pacing;
use upbeat_timing::record::FrameRecord;
use upbeat_timing::time::{Instant, Span};

/// Duration of an animation: at least a dozen frames, even where some are late.
const DURATION: Span = Span::from_millis(400);
/// A window opens from this fraction of its size.
const SMALL: f64 = 0.5;
const SIZE: (i32, i32) = (400, 300);
fn spring(swings: f64) -> MotionStyle {
    MotionStyle::Spring(SpringShape::new(swings, 1.0).unwrap())
}

fn animated(animations: AnimationStyles) -> TestWorld {
    set_up(TestWorld::rendered(), animations)
}

fn set_up(mut world: TestWorld, animations: AnimationStyles) -> TestWorld {
    world.state.outputs.set_background([0.0; 3]);
    world.state.shell.set_animations(animations);
    world.run_until_idle();
    world
}

fn fades() -> AnimationStyles {
    fades_for(DURATION)
}

fn fades_for(duration: Span) -> AnimationStyles {
    let style = MotionStyle::Easing { duration, curve: CubicBezier::LINEAR };
    let fade = Some(FadeStyle { style, scale: SMALL });
    AnimationStyles { open: fade, close: fade, ..AnimationStyles::default() }
}

fn open(world: &mut TestWorld, colour: Xrgb8888Pixel) -> (ClientIndex, TestToplevel) {
    world.open_filled("a", SIZE, colour)
}

fn draw(
    world: &mut TestWorld,
    client: ClientIndex,
    window: &TestToplevel,
    number: u32,
    size: (i32, i32),
    colour: Xrgb8888Pixel,
) {
    world.client(client).draw(&window.surface, number, size, colour);
    window.surface.commit();
    world.settle();
}

/// Records the middle row of the screen.
fn row(world: &mut TestWorld) -> ProbeLog {
    world.probe((0, OUTPUT.1 / 2, OUTPUT.0, 1))
}

/// A frame's target time and the row of pixels that it showed.
struct ShownRow {
    present: Instant,
    interval: Span,
    pixels: Vec<u32>,
}

impl ShownRow {
    /// The first column that is not black, and the column after the last.
    fn edges(&self) -> Option<(i32, i32)> {
        let lit = |pixel: &u32| *pixel & 0x00ff_ffff != 0;
        let left = self.pixels.iter().position(lit)?;
        Some((left as i32, self.pixels.iter().rposition(lit)? as i32 + 1))
    }

    fn middle(&self) -> u32 {
        self.pixels[self.pixels.len() / 2] & 0x00ff_ffff
    }
}

/// The frames shown, each with the target time from the compositor's record.
fn frames(world: &TestWorld, log: &ProbeLog) -> Vec<ShownRow> {
    let output = world.state.outputs.states().next().unwrap();
    let frame = |LoggedSample { refresh, pixels, .. }: LoggedSample| {
        let record = output.records().iter().find(|record| record.sequence == Some(refresh.sequence))?;
        Some(ShownRow { present: record.present, interval: record.interval, pixels })
    };
    std::iter::from_fn(|| log.pop()).filter_map(frame).collect()
}

fn share(frame: &ShownRow, start: Instant, duration: Span) -> f64 {
    (frame.present.since(start).as_seconds_f64() / duration.as_seconds_f64()).clamp(0.0, 1.0)
}

/// Opens a window and compares the geometry in each frame with the frame's target time.
fn check_opening_frames(mut world: TestWorld, duration: Span) -> TestWorld {
    let log = row(&mut world);
    let opened = world.now();
    open(&mut world, RED);
    world.run_until_idle();
    let frames: Vec<ShownRow> = frames(&world, &log).into_iter().filter(|frame| frame.edges().is_some()).collect();
    assert!(frames.len() > 5, "only {} frames", frames.len());
    // The animation starts at the refresh before the window's first frame, or later by the start delay with frames
    // ahead.
    let first = records(&world).find(|record| record.latched > opened).unwrap();
    let waits = if world.state.outputs.frames_ahead() > 0 { i64::from(START_DELAY) } else { 0 };
    let start = first.present - first.interval + first.interval * waits;
    for frame in &frames {
        let share = share(frame, start, duration);
        let (left, right) = frame.edges().unwrap();
        let width = f64::from(SIZE.0) * (SMALL + (1.0 - SMALL) * share);
        assert!((f64::from(right - left) - width).abs() <= 2.0, "{left}..{right} at {share}, not {width} wide");
        let red = f64::from(frame.middle() >> 16);
        assert!((red - 255.0 * share).abs() <= 2.0, "{red} at {share}");
    }
    let last = frames.last().unwrap();
    assert_eq!((last.edges(), last.middle()), (Some((440, 840)), RED), "it ends at its own size");
    world
}

#[test]
fn every_frame_of_a_window_that_opens_represents_its_own_display_time() {
    let world = check_opening_frames(animated(fades()), DURATION);
    assert!(ahead(&world).is_empty());
}

#[test]
fn with_reduced_motion_the_first_frame_is_the_last() {
    let config = Config { reduced_motion: true, ..Config::default() };
    let mut world = animated(config.animations.to_shell(config.reduced_motion));
    let log = row(&mut world);
    let (client, window) = open(&mut world, RED);
    world.run_until_idle();
    window.toplevel.set_maximized();
    world.settle();
    let size = world.client(client).ack_newest_configure().unwrap();
    draw(&mut world, client, &window, 2, size, RED);
    world.run_until_idle();
    window.surface.attach(None, 0, 0);
    window.surface.commit();
    world.settle();
    world.run_until_idle();
    let seen: Vec<_> = frames(&world, &log).iter().map(|frame| (frame.edges(), frame.middle())).collect();
    let start = seen.iter().position(|(edges, _)| edges.is_some()).unwrap();
    assert_eq!(seen[start..], [(Some((440, 840)), RED), (Some((0, 1280)), RED), (None, 0)]);
}

#[test]
fn a_session_is_animated_unless_its_configuration_says_otherwise() {
    let motions = Config::default().animations.to_shell(false);
    assert!(motions.open.is_some() && motions.close.is_some() && motions.place.is_some());
    assert_eq!(Config::default().animations.to_shell(true), AnimationStyles::default());
    assert_eq!(
        AnimationStyles::default(),
        AnimationStyles { open: None, close: None, place: None, workspace: None, overview: None, help: None }
    );
}

#[test]
fn finished_animation_schedules_no_frame() {
    let mut world = animated(AnimationStyles { place: Some(spring(4.0)), ..fades() });
    let (client, window) = open(&mut world, RED);
    world.run_until_idle();
    let output =
        |world: &TestWorld| world.state.outputs.states().next().unwrap().records().iter().last().unwrap().frame;
    let last = output(&world);
    world.skip_time(Span::from_millis(100));
    world.turn();
    assert!(upbeat::session::turn::run(&mut world.state).is_none(), "a timer is set");
    assert_eq!(output(&world), last);
    drop((client, window));
}

/// Animations so slow that none ends while a test looks.
fn slow() -> AnimationStyles {
    let curve = CubicBezier::LINEAR;
    let fade =
        Some(FadeStyle { style: MotionStyle::Easing { duration: Span::from_seconds(1_000), curve }, scale: SMALL });
    AnimationStyles { open: fade, close: fade, ..AnimationStyles::default() }
}

#[test]
fn pointer_hits_an_animated_window_where_it_is_seen() {
    let mut world = animated(slow());
    let (_client, _window) = open(&mut world, RED);
    world.run_until("light", |world| records(world).any(|record| record.presented.is_some() && record.damage > 0));
    world.run_until("the window", |world| hit(world, 640.0, 360.0).is_some());
    // The window is half its size, about its centre: from 540 to 740, and from 285 to 435.
    let (x, y) = hit(&world, 640.0, 360.0).unwrap();
    assert!((x - 200.0).abs() < 1.0 && (y - 150.0).abs() < 1.0, "({x}, {y}) of the surface");
    let (x, y) = hit(&world, 545.0, 290.0).unwrap();
    assert!((x - 10.0).abs() < 1.0 && (y - 10.0).abs() < 1.0, "({x}, {y}) of the surface");
    assert_eq!(hit(&world, 500.0, 360.0), None, "the window does not reach there yet");
}

/// The surface-local point that is seen at (x, y).
fn hit(world: &TestWorld, x: f64, y: f64) -> Option<(f64, f64)> {
    let point = (x, y).into();
    let (surface, origin) = upbeat::output::scene_on_screen_hit(&world.state, point)?;
    drop(surface);
    let local = point - origin;
    Some((local.x, local.y))
}

#[test]
fn background_is_seen_until_a_window_has_become_fullscreen() {
    let mut world = animated(AnimationStyles { place: Some(spring(1.0)), ..AnimationStyles::default() });
    world.state.outputs.set_background([0.0, 0.0, 1.0]);
    let (client, window) = open(&mut world, RED);
    world.run_until_idle();
    window.toplevel.set_fullscreen(None);
    world.settle();
    let size = world.client(client).ack_newest_configure().unwrap();
    draw(&mut world, client, &window, 2, size, RED);
    world.run_until("the middle", |world| world.pixel(300, 360) == RED);
    assert_eq!(world.pixel(2, 700), BLUE, "the window does not reach there yet");
    world.run_until_idle();
    // The cursor is in the first rows: skip them.
    let below = &world.picture().pixels[(OUTPUT.0 * 100) as usize..];
    assert!(below.iter().all(|pixel| pixel & 0x00ff_ffff == RED));
}

//! Windows that appear, go and change their place by themselves: every frame is right for its own time.

use std::time::Duration;

use crate::fixture::content::{BLUE, Colour, GREEN, Heard, RED};
use crate::fixture::{ClientIndex, KEY_A, OUTPUT, Toplevel, World};
use upbeat::backend::headless::OutputOptions;
use upbeat::backend::headless::record::{LoggedSample, ProbeLog};
use upbeat::config::Config;
use upbeat::shell::animation::{Animations, Fade};
use upbeat::time::{Clock, Instant, Span};
use upbeat::timing::motion::Style;
use upbeat::timing::motion::easing::CubicBezier;
use upbeat::timing::motion::spring::SpringShape;
use upbeat::timing::pacing::Pacing;
use upbeat::timing::record::FrameRecord;

/// How long motion takes here: a dozen frames and more, also where some are late.
const DURATION: Span = Span::from_millis(400);
/// The share of its size that a window grows from.
const SMALL: f64 = 0.5;
const SIZE: (i32, i32) = (400, 300);
/// Frames that may be rendered ahead.
const AHEAD: u8 = 4;

fn linear() -> Style {
    Style::Easing { duration: DURATION, curve: CubicBezier::LINEAR }
}

fn spring(swings: f64) -> Style {
    Style::Spring(SpringShape::new(swings, 1.0).unwrap())
}

fn animated(animations: Animations) -> World {
    set_up(World::lit(), animations)
}

/// The same, with frames rendered ahead.
fn animated_ahead(animations: Animations) -> World {
    let plane = Some((64, 64));
    let buffers = 3 + usize::from(AHEAD);
    let mut world = World::lit_on(OutputOptions { buffers, cursor_plane: plane, ..OutputOptions::default() });
    world.state.outputs.frames_ahead = AHEAD;
    set_up(world, animations)
}

/// The same with a display that holds such frames itself.
fn presented_ahead(animations: Animations) -> World {
    let (plane, queue) = (Some((64, 64)), usize::from(AHEAD));
    let options = OutputOptions { buffers: 3 + queue, cursor_plane: plane, queue, ..OutputOptions::default() };
    let mut world = World::lit_on(options);
    world.state.outputs.frames_ahead = AHEAD;
    set_up(world, animations)
}

fn set_up(mut world: World, animations: Animations) -> World {
    world.state.outputs.background = [0.0; 3];
    world.state.shell.set_animations(animations);
    world.rest();
    world
}

fn fades() -> Animations {
    let fade = Some(Fade { style: linear(), scale: SMALL });
    Animations { open: fade, close: fade, ..Animations::default() }
}

/// Opens a window of one colour in the middle of the screen.
fn open(world: &mut World, colour: Colour) -> (ClientIndex, Toplevel) {
    world.open_filled("a", SIZE, colour)
}

fn draw(world: &mut World, client: ClientIndex, window: &Toplevel, number: u32, size: (i32, i32), colour: Colour) {
    world.client(client).draw(&window.surface, number, size, colour);
    window.surface.commit();
    world.settle();
}

/// The middle row of the screen.
fn row(world: &mut World) -> ProbeLog {
    world.probe((0, OUTPUT.1 / 2, OUTPUT.0, 1))
}

/// What a frame was made for, and the row of pixels that it showed.
struct Frame {
    present: Instant,
    interval: Span,
    pixels: Vec<u32>,
}

impl Frame {
    /// Where something that is not black begins and ends.
    fn edges(&self) -> Option<(i32, i32)> {
        let lit = |pixel: &u32| *pixel & 0x00ff_ffff != 0;
        let left = self.pixels.iter().position(lit)?;
        Some((left as i32, self.pixels.iter().rposition(lit)? as i32 + 1))
    }

    fn middle(&self) -> u32 {
        self.pixels[self.pixels.len() / 2] & 0x00ff_ffff
    }
}

/// The frames that were seen, by what the compositor says that each was made for.
fn frames(world: &World, log: &ProbeLog) -> Vec<Frame> {
    let output = world.state.outputs.states().next().unwrap();
    let frame = |LoggedSample { refresh, pixels, .. }: LoggedSample| {
        let record = output.records.iter().find(|record| record.sequence == Some(refresh.sequence))?;
        Some(Frame { present: record.present, interval: record.interval, pixels })
    };
    std::iter::from_fn(|| log.pop()).filter_map(frame).collect()
}

fn share(frame: &Frame, start: Instant) -> f64 {
    (frame.present.since(start).as_seconds_f64() / DURATION.as_seconds_f64()).clamp(0.0, 1.0)
}

/// Opens a window, and holds every frame against the time that it was made for.
fn opens_rightly(mut world: World) -> World {
    let log = row(&mut world);
    open(&mut world, RED);
    world.rest();
    let frames: Vec<Frame> = frames(&world, &log).into_iter().filter(|frame| frame.edges().is_some()).collect();
    assert!(frames.len() > 5, "only {} frames", frames.len());
    // It moves from the frame before the first that shows it.
    let start = frames[0].present - frames[0].interval;
    for frame in &frames {
        let share = share(frame, start);
        let (left, right) = frame.edges().unwrap();
        let width = f64::from(SIZE.0) * (SMALL + (1.0 - SMALL) * share);
        assert!((f64::from(right - left) - width).abs() <= 2.0, "{left}..{right} at {share}, not {width} wide");
        let red = f64::from(frame.middle() >> 16);
        assert!((red - 255.0 * share).abs() <= 2.0, "{red} at {share}");
    }
    let last = frames.last().unwrap();
    assert_eq!((last.edges(), last.middle()), (Some((440, 840)), RED), "it ends as what it is");
    world
}

#[test]
fn every_frame_of_a_window_that_opens_represents_its_own_display_time() {
    let world = opens_rightly(animated(fades()));
    assert!(ahead(&world).is_empty());
}

fn records(world: &World) -> impl Iterator<Item = &FrameRecord> {
    world.state.outputs.states().next().unwrap().records.iter()
}

/// The frames that were rendered ahead of their refreshes, and were shown.
fn ahead(world: &World) -> Vec<FrameRecord> {
    records(world).filter(|record| record.pacing == Pacing::Ahead && record.presented.is_some()).copied().collect()
}

#[test]
fn frames_that_are_rendered_ahead_represent_their_own_display_time_too() {
    for world in [animated_ahead(fades()), presented_ahead(fades())] {
        runs_ahead(&opens_rightly(world));
    }
}

fn runs_ahead(world: &World) {
    let ahead = ahead(world);
    assert!(ahead.len() > 5, "only {} frames", ahead.len());
    let runs_ahead = |pair: &[FrameRecord]| pair[1].composed < pair[0].presented;
    assert!(ahead.windows(2).any(runs_ahead), "each was made after the one before was shown");
    for pair in ahead.windows(2) {
        assert!(pair[1].target > pair[0].target && pair[1].sequence > pair[0].sequence, "{pair:?}");
    }
    // None is shown before its time.
    assert!(ahead.iter().all(|record| record.sequence >= record.due_sequence));
}

/// Lets a window be maximised until frames of that are rendered ahead.
fn maximise(world: &mut World) -> (ClientIndex, Toplevel) {
    let (client, window) = open(world, RED);
    world.rest();
    window.toplevel.set_maximized();
    world.settle();
    let size = world.client(client).answer_newest().unwrap();
    draw(world, client, &window, 2, size, RED);
    world.until("frames ahead", |world| ahead(world).len() > 4);
    (client, window)
}

fn moves() -> Animations {
    Animations { place: Some(spring(1.0)), ..Animations::default() }
}

#[test]
fn input_supersedes_what_was_rendered_ahead() {
    supersedes(animated_ahead(moves()));
}

#[test]
fn input_supersedes_what_the_display_holds() {
    supersedes(presented_ahead(moves()));
}

fn supersedes(mut world: World) {
    let _window = maximise(&mut world);
    world.key(KEY_A, true);
    let pressed = now();
    world.until("the end", |world| world.state.outputs.states().all(|output| !output.conductor.output().is_needed()));
    world.rest();
    // The one on its way to light, and the one that stays in case a fresh one is late.
    let before =
        ahead(&world).iter().filter(|record| record.latched < pressed && record.presented > Some(pressed)).count();
    assert!(before <= 2, "{before} frames that did not know of the key were shown after it");
    let fresh = records(&world).find(|record| record.latched > pressed).unwrap();
    assert_ne!(fresh.pacing, Pacing::Ahead, "the first one after it is made just in time");
    assert!(world.picture().pixels.iter().all(|pixel| pixel & 0x00ff_ffff == RED), "something stale is left");
    assert!(ahead(&world).last().unwrap().latched > pressed, "and when all is calm, frames are rendered ahead again");
}

#[test]
fn what_a_client_shows_while_its_window_moves_is_not_late() {
    for mut world in [animated_ahead(moves()), presented_ahead(moves())] {
        let (client, window) = maximise(&mut world);
        draw(&mut world, client, &window, 3, OUTPUT, GREEN);
        let committed = now();
        world.until("light", |world| world.client(client).light(3).is_some());
        let is_stale = |record: &&FrameRecord| record.latched < committed && record.presented > Some(committed);
        let stale = ahead(&world).iter().filter(is_stale).count();
        assert!(stale <= 2, "{stale} frames without it came first");
        world.rest();
        let picture = world.picture();
        assert!(picture.pixels.iter().all(|pixel| pixel & 0x00ff_ffff == GREEN), "something stale is left");
    }
}

#[test]
fn what_the_display_holds_is_shown_however_long_we_are_held_up() {
    // Long enough for a busy machine, and fast enough that every frame is another.
    let style = Style::Easing { duration: Span::from_seconds(8), curve: CubicBezier::LINEAR };
    let mut world = presented_ahead(Animations { place: Some(style), ..Animations::default() });
    let _window = maximise(&mut world);
    world.until("frames in the display", |world| {
        let newest = records(world).last().copied().unwrap();
        newest.pacing == Pacing::Ahead && newest.present - newest.composed.unwrap() > newest.interval * 4
    });
    let held_up = now();
    std::thread::sleep(Duration::from_millis(45));
    let over = now();
    world.until("what came of it", |world| records(world).any(|record| record.presented > Some(over)));
    let meanwhile: Vec<_> =
        ahead(&world).into_iter().filter(|it| it.presented > Some(held_up) && it.presented < Some(over)).collect();
    // As many as it held, however long it was.
    assert!(meanwhile.len() >= 2, "{meanwhile:?}");
    for pair in meanwhile[..meanwhile.len().min(3)].windows(2) {
        assert_eq!(pair[1].sequence.unwrap(), pair[0].sequence.unwrap() + 1, "a refresh had no frame");
        assert_eq!(pair[1].sequence, pair[1].due_sequence, "each in its own refresh");
    }
}

#[test]
fn the_cursor_moves_on_frames_that_the_display_holds() {
    let mut world = presented_ahead(moves());
    let _window = maximise(&mut world);
    world.point(200.0, 100.0);
    let moved = now();
    world.rest();
    let picture = world.state.outputs.states().next().unwrap().display.screenshot(true).unwrap();
    let at = |x: i32, y: i32| picture.pixels[(y * OUTPUT.0 + x) as usize] & 0x00ff_ffff;
    assert!((0..12).any(|y| at(201, 100 + y) != RED), "the cursor is where the pointer is");
    assert_eq!(at(900, 500), RED);
    assert!(ahead(&world).iter().any(|record| record.presented > Some(moved)));
}

fn now() -> Instant {
    upbeat::time::MonotonicClock.now()
}

#[test]
fn a_window_that_goes_is_seen_until_it_has_faded_and_its_buffer_comes_back_then() {
    let mut world = animated(fades());
    let (client, window) = open(&mut world, GREEN);
    world.rest();
    let log = row(&mut world);
    window.surface.attach(None, 0, 0);
    window.surface.commit();
    world.settle();
    assert!(world.stack().is_empty());
    world.until("a frame of the snapshot", |world| {
        world.state.shell.ghosts().len() == 1 && world.pixel(640, 360) < GREEN
    });
    assert!(!world.client(client).heard(Heard::Released(1)), "it is still seen");
    let hit = upbeat::output::scene_on_screen_hit(&world.state, (640.0, 360.0).into());
    assert_eq!(hit, None, "it takes no input");
    world.until("the end", |world| world.state.shell.ghosts().is_empty());
    world.rest();
    assert!(world.client(client).heard(Heard::Released(1)));
    let frames = frames(&world, &log);
    let start = frames.iter().position(|frame| frame.middle() != GREEN).unwrap();
    let begun = frames[start].present - frames[start].interval;
    for frame in &frames[start..] {
        let green = f64::from(frame.middle() >> 8);
        assert!((green - 255.0 * (1.0 - share(frame, begun))).abs() <= 2.0, "{green}");
    }
    assert_eq!(world.pixel(640, 360), 0);
    window.surface.commit();
    world.settle();
    world.client(client).answer_newest();
    draw(&mut world, client, &window, 2, SIZE, RED);
    world.rest();
    assert_eq!(world.pixel(640, 360), RED, "and it can come back");
}

#[test]
fn a_window_whose_client_dies_fades_too() {
    let mut world = animated(fades());
    let (client, window) = open(&mut world, GREEN);
    world.rest();
    world.kill(client);
    drop(window);
    let mut seen = 0;
    world.until("the end", |world| {
        seen += usize::from((1..GREEN).contains(&world.pixel(640, 360)));
        world.state.shell.ghosts().is_empty()
    });
    assert!(seen > 0, "it was gone at once");
    world.rest();
    assert_eq!(world.pixel(640, 360), 0);
}

#[test]
fn a_window_that_comes_back_before_it_is_gone_goes_on_from_there() {
    let mut world = animated(fades());
    let (client, window) = open(&mut world, GREEN);
    world.rest();
    let log = row(&mut world);
    window.surface.attach(None, 0, 0);
    window.surface.commit();
    world.until("the middle", |world| world.pixel(640, 360) >> 8 < 160);
    window.surface.commit();
    world.settle();
    world.client(client).answer_newest();
    draw(&mut world, client, &window, 2, SIZE, GREEN);
    world.rest();
    let levels: Vec<f64> = frames(&world, &log).iter().map(|frame| f64::from(frame.middle() >> 8)).collect();
    assert!(world.state.shell.ghosts().is_empty());
    assert!(levels.iter().all(|level| *level > 0.0), "it was gone in between: {levels:?}");
    assert_eq!(levels.last(), Some(&255.0));
}

#[test]
fn with_reduced_motion_the_first_frame_is_the_last() {
    let config = Config { reduced_motion: true, ..Config::default() };
    let mut world = animated(config.animations.motions(config.reduced_motion));
    let log = row(&mut world);
    let (client, window) = open(&mut world, RED);
    world.rest();
    window.toplevel.set_maximized();
    world.settle();
    let size = world.client(client).answer_newest().unwrap();
    draw(&mut world, client, &window, 2, size, RED);
    world.rest();
    window.surface.attach(None, 0, 0);
    window.surface.commit();
    world.settle();
    world.rest();
    let seen: Vec<_> = frames(&world, &log).iter().map(|frame| (frame.edges(), frame.middle())).collect();
    let start = seen.iter().position(|(edges, _)| edges.is_some()).unwrap();
    assert_eq!(seen[start..], [(Some((440, 840)), RED), (Some((0, 1280)), RED), (None, 0)]);
}

#[test]
fn a_session_is_animated_unless_its_configuration_says_otherwise() {
    let motions = Config::default().animations.motions(false);
    assert!(motions.open.is_some() && motions.close.is_some() && motions.place.is_some());
    assert_eq!(Config::default().animations.motions(true), Animations::default());
    assert_eq!(
        Animations::default(),
        Animations { open: None, close: None, place: None, workspace: None, overview: None, help: None }
    );
}

/// The edges of the window, frame by frame, while it is maximised and sent back in the middle.
fn interrupted(style: Style) -> (Vec<Frame>, Instant) {
    let mut world = animated(Animations { place: Some(style), ..Animations::default() });
    let (client, window) = open(&mut world, RED);
    world.rest();
    let log = row(&mut world);
    window.toplevel.set_maximized();
    world.settle();
    let size = world.client(client).answer_newest().unwrap();
    assert_eq!(size, OUTPUT);
    draw(&mut world, client, &window, 2, size, RED);
    world.until("the middle", |world| world.pixel(300, 360) == RED);
    window.toplevel.unset_maximized();
    world.settle();
    let size = world.client(client).answer_newest().unwrap();
    assert_eq!(size, SIZE);
    let turned = world.state.outputs.states().next().unwrap().records.iter().last().unwrap().present;
    draw(&mut world, client, &window, 3, size, RED);
    world.rest();
    (frames(&world, &log), turned)
}

#[test]
fn unmaximising_in_the_middle_of_maximising_keeps_place_and_velocity() {
    let (frames, turned) = interrupted(spring(1.0));
    let left: Vec<(Instant, f64)> =
        frames.iter().map(|frame| (frame.present, f64::from(frame.edges().unwrap().0))).collect();
    assert!(left.iter().all(|(_, left)| *left > 0.0), "it turns before it is there");
    assert_eq!(left.last().unwrap().1, 440.0, "and ends where it was");
    let velocity = |pair: &[(Instant, f64)]| (pair[1].1 - pair[0].1) / pair[1].0.since(pair[0].0).as_seconds_f64();
    let after: Vec<_> = left.iter().filter(|(at, _)| *at >= turned).copied().collect();
    assert!(velocity(&after[..2]) < 0.0, "it goes on in its direction at first: {after:?}");
    // A critically damped spring of 1 Hz that is turned round at full speed, 440 pixels apart, accelerates by at most
    // ω²·d + 2ω·v, with v < ω·d/e.
    let most = std::f64::consts::TAU.powi(2) * 440.0 * 2.0;
    for three in left.windows(3) {
        let (before, after) = (velocity(&three[..2]), velocity(&three[1..]));
        let time = three[2].0.since(three[0].0).as_seconds_f64() / 2.0;
        // Edges are whole pixels: each velocity is wrong by up to one of them per frame.
        let rounding = 2.0 / three[1].0.since(three[0].0).as_seconds_f64().min(time);
        assert!((after - before).abs() <= most * time + rounding, "{before} then {after}: {left:?}");
    }
}

#[test]
fn maximising_moves_every_edge_as_its_spring_does() {
    let style = spring(2.0);
    let mut world = animated(Animations { place: Some(style), ..Animations::default() });
    let (client, window) = open(&mut world, RED);
    world.rest();
    let log = row(&mut world);
    window.toplevel.set_maximized();
    world.settle();
    let size = world.client(client).answer_newest().unwrap();
    draw(&mut world, client, &window, 2, size, RED);
    world.rest();
    let frames = frames(&world, &log);
    let moving: Vec<_> = frames.iter().filter(|frame| frame.edges() != Some((440, 840))).collect();
    let start = moving[0].present - moving[0].interval;
    let motion = |from, to| upbeat::timing::motion::Motion::new(style, start, from, to, 0.25);
    for frame in &moving {
        let (left, width) = (motion(440.0, 0.0).at(frame.present).value, motion(400.0, 1280.0).at(frame.present).value);
        let (seen_left, seen_right) = frame.edges().unwrap();
        assert!((f64::from(seen_left) - left).abs() <= 1.0, "{seen_left}, not {left}");
        assert!((f64::from(seen_right) - left - width).abs() <= 1.0, "{seen_right}, not {}", left + width);
    }
    assert_eq!(moving.last().unwrap().edges(), Some((0, 1280)));
    assert!(moving.len() > 5);
}

#[test]
fn what_has_settled_asks_for_no_frame() {
    let mut world = animated(Animations { place: Some(spring(4.0)), ..fades() });
    let (client, window) = open(&mut world, RED);
    world.rest();
    let output = |world: &World| world.state.outputs.states().next().unwrap().records.iter().last().unwrap().frame;
    let last = output(&world);
    std::thread::sleep(Duration::from_millis(100));
    world.turn();
    assert!(upbeat::output::turn::run(&mut world.state).is_none(), "a timer is set");
    assert_eq!(output(&world), last);
    drop((client, window));
}

/// So slow that nothing is settled while a test looks.
fn slow() -> Animations {
    let curve = CubicBezier::LINEAR;
    let fade = Some(Fade { style: Style::Easing { duration: Span::from_seconds(1_000), curve }, scale: SMALL });
    Animations { open: fade, close: fade, ..Animations::default() }
}

#[test]
fn the_pointer_meets_a_window_where_it_is_seen() {
    let mut world = animated(slow());
    let (_client, _window) = open(&mut world, RED);
    world.until("light", |world| records(world).any(|record| record.presented.is_some() && record.damage > 0));
    world.until("the window", |world| hit(world, 640.0, 360.0).is_some());
    // Half its size, about its middle: from 540 to 740, and from 285 to 435.
    let (x, y) = hit(&world, 640.0, 360.0).unwrap();
    assert!((x - 200.0).abs() < 1.0 && (y - 150.0).abs() < 1.0, "({x}, {y}) of the surface");
    let (x, y) = hit(&world, 545.0, 290.0).unwrap();
    assert!((x - 10.0).abs() < 1.0 && (y - 10.0).abs() < 1.0, "({x}, {y}) of the surface");
    assert_eq!(hit(&world, 500.0, 360.0), None, "it is not there yet");
}

/// The point of the surface that is seen at (x, y).
fn hit(world: &World, x: f64, y: f64) -> Option<(f64, f64)> {
    let point = (x, y).into();
    let (surface, origin) = upbeat::output::scene_on_screen_hit(&world.state, point)?;
    drop(surface);
    let local = point - origin;
    Some((local.x, local.y))
}

#[test]
fn an_output_that_goes_dark_takes_what_is_going_with_it() {
    let mut world = animated(slow());
    let (client, window) = open(&mut world, GREEN);
    world.until("the window", |world| hit(world, 640.0, 360.0).is_some());
    window.surface.attach(None, 0, 0);
    window.surface.commit();
    world.settle();
    assert_eq!(world.state.shell.ghosts().len(), 1);
    let output = world.state.outputs.states().next().unwrap().id;
    upbeat::output::power::set(&mut world.state, output, false);
    world.turn();
    assert!(world.state.shell.ghosts().is_empty());
    assert!(world.client(client).heard(Heard::Released(1)), "nobody will see it end");
}

#[test]
fn what_is_below_a_window_that_becomes_fullscreen_is_seen_until_it_is() {
    let mut world = animated(Animations { place: Some(spring(1.0)), ..Animations::default() });
    world.state.outputs.background = [0.0, 0.0, 1.0];
    let (client, window) = open(&mut world, RED);
    world.rest();
    window.toplevel.set_fullscreen(None);
    world.settle();
    let size = world.client(client).answer_newest().unwrap();
    draw(&mut world, client, &window, 2, size, RED);
    world.until("the middle", |world| world.pixel(300, 360) == RED);
    assert_eq!(world.pixel(2, 700), BLUE, "it is not there yet");
    world.rest();
    // The cursor is in the first rows.
    let below = &world.picture().pixels[(OUTPUT.0 * 100) as usize..];
    assert!(below.iter().all(|pixel| pixel & 0x00ff_ffff == RED));
}

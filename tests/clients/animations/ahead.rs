//! Animation frames that are rendered ahead of their refreshes: each is right for its own display time and is
//! superseded when a change makes it wrong.

use std::sync::mpsc;

use super::*;
use crate::fixture::{REFRESH, gles};
use upbeat::backend::headless::OutputOptions;
use upbeat::render::{GpuFault, Renderer};
use upbeat_timing::defaults::ANIMATION;

pub(super) const AHEAD: u8 = 4;
/// Refreshes in 1000 s (mHz) of a slow display, so that a test has time to look inside one refresh.
pub(super) const SLOW: u32 = 30_000;

/// A world that renders ahead, on a display whose own queue holds up to `queue` frames.
pub(super) fn ahead_by(renderer: Renderer, refresh: u32, queue: usize, animations: AnimationStyles) -> TestWorld {
    ahead_on(renderer, refresh, OutputOptions { queue, ..OutputOptions::default() }, animations)
}

/// As [`ahead_by`], with more options of the display. It gets enough buffers and a cursor plane.
pub(super) fn ahead_on(
    renderer: Renderer,
    refresh: u32,
    options: OutputOptions,
    animations: AnimationStyles,
) -> TestWorld {
    let (cursor_plane, buffers) = (Some((64, 64)), 3 + usize::from(AHEAD));
    let options = OutputOptions { buffers, cursor_plane, ..options };
    let mut world = TestWorld::rendered_at(refresh, options, renderer);
    world.state.outputs.set_frames_ahead(AHEAD);
    set_up(world, animations)
}

fn animated_ahead(animations: AnimationStyles) -> TestWorld {
    ahead_by(Renderer::pixman().unwrap(), REFRESH, OutputOptions::default().queue, animations)
}

/// As [`animated_ahead`], and the display itself holds the frames rendered ahead.
fn presented_ahead(animations: AnimationStyles) -> TestWorld {
    ahead_by(Renderer::pixman().unwrap(), REFRESH, usize::from(AHEAD), animations)
}

/// OpenGL ES draws a frame in this time.
const DRAW: Span = Span::from_millis(5);

/// Both kinds of world, drawn by OpenGL ES on its own thread. Empty without OpenGL ES.
fn ahead_by_gles(animations: AnimationStyles) -> impl Iterator<Item = TestWorld> {
    let queues = [OutputOptions::default().queue, usize::from(AHEAD)];
    queues.into_iter().filter_map(move |queue| {
        let mut world = ahead_by(gles()?, SLOW, queue, animations);
        world.drawing_takes(DRAW);
        Some(world)
    })
}

pub(super) fn records(world: &TestWorld) -> impl Iterator<Item = &FrameRecord> {
    world.state.outputs.states().next().unwrap().records().iter()
}

/// The frames that were rendered ahead of their refreshes and shown.
pub(super) fn ahead(world: &TestWorld) -> Vec<FrameRecord> {
    records(world).filter(|record| record.pacing == Pacing::Ahead && record.presented.is_some()).copied().collect()
}

#[test]
fn frames_rendered_ahead_represent_their_display_time() {
    for world in [animated_ahead(fades()), presented_ahead(fades())] {
        runs_ahead(&check_opening_frames(world, DURATION));
    }
}

#[test]
fn frames_rendered_ahead_on_another_thread_represent_their_display_time() {
    let duration = DURATION * 4;
    ahead_by_gles(fades_for(duration)).for_each(|world| runs_ahead(&check_opening_frames(world, duration)));
}

fn runs_ahead(world: &TestWorld) {
    let ahead = ahead(world);
    assert!(ahead.len() > 5, "only {} frames", ahead.len());
    let runs_ahead = |pair: &[FrameRecord]| pair[1].composed < pair[0].presented;
    assert!(ahead.windows(2).any(runs_ahead), "each frame was composed only after the last was shown");
    for pair in ahead.windows(2) {
        assert!(pair[1].target > pair[0].target && pair[1].sequence > pair[0].sequence, "{pair:?}");
    }
    // No frame is shown before its time.
    assert!(ahead.iter().all(|record| record.sequence >= record.due_sequence));
}

/// Maximises a new window and waits until frames of that animation were rendered ahead.
pub(super) fn maximise(world: &mut TestWorld) -> (ClientIndex, TestToplevel) {
    let (client, window) = open(world, RED);
    world.run_until_idle();
    window.toplevel.set_maximized();
    world.settle();
    let size = world.client(client).ack_newest_configure().unwrap();
    draw(world, client, &window, 2, size, RED);
    world.run_until("frames ahead", |world| ahead(world).len() > 4);
    (client, window)
}

fn moves() -> AnimationStyles {
    AnimationStyles { place: Some(spring(1.0)), ..AnimationStyles::default() }
}

#[test]
fn a_window_that_opens_is_rendered_ahead_from_its_first_move_on() {
    let mut world = ahead_by(Renderer::pixman().unwrap(), SLOW, usize::from(AHEAD), fades());
    let opened = world.now();
    // The client requests no frame callback: after a callback it might draw, which would make the frames rendered ahead
    // wrong.
    let client = world.connect();
    let _window = world.open_in(client, "a", SIZE.0, SIZE.1);
    let of_it =
        |world: &TestWorld| records(world).filter(|record| record.latched > opened).copied().collect::<Vec<_>>();
    world.run_until("some frames", |world| of_it(world).len() > 3);
    let frames = of_it(&world);
    let made: Vec<Pacing> = frames[..3].iter().map(|frame| frame.pacing).collect();
    assert_eq!(made, [Pacing::JustInTime, Pacing::Ahead, Pacing::Ahead], "{frames:#?}");
}

#[test]
fn input_supersedes_frames_rendered_ahead() {
    supersedes(animated_ahead(moves()));
}

#[test]
fn input_supersedes_frames_held_by_the_display() {
    supersedes(presented_ahead(moves()));
}

#[test]
fn input_supersedes_even_the_frame_that_the_display_shows_next() {
    // The compose budget may have changed since the frame was recorded.
    const TOLERANCE: Span = Span::from_millis(2);
    let mut world = ahead_by(Renderer::pixman().unwrap(), SLOW, usize::from(AHEAD), lasting(8));
    let _window = maximise(&mut world);
    world.run_until("frames in the display", |world| {
        records(world).last().is_some_and(|newest| newest.present - newest.latched > newest.interval * 3)
    });
    let shown = records(&world).count();
    world.run_until("a refresh", |world| records(world).count() > shown);
    world.key(KEY_A, true);
    let pressed = world.now();
    world.run_until("a fresh frame", |world| {
        records(world).any(|record| record.latched > pressed && record.presented.is_some())
    });
    for stale in ahead(&world).iter().filter(|record| record.latched < pressed && record.presented > Some(pressed)) {
        let was_final = stale.submit_by - stale.compose_budget - TOLERANCE;
        assert!(was_final <= pressed, "it could have been superseded for {:?}: {stale:?}", was_final - pressed);
    }
}

#[test]
fn input_supersedes_frames_rendered_ahead_on_another_thread() {
    ahead_by_gles(moves()).for_each(supersedes);
}

/// How many frames are latched ahead but not drawn.
fn recorded(world: &TestWorld) -> usize {
    world.state.outputs.states().map(upbeat::output::OutputState::recorded_ahead).sum()
}

/// Motion that outlasts each step of a test.
pub(super) fn lasting(seconds: i64) -> AnimationStyles {
    let style = MotionStyle::Easing { duration: Span::from_seconds(seconds), curve: CubicBezier::LINEAR };
    AnimationStyles { place: Some(style), ..AnimationStyles::default() }
}

#[test]
fn frames_ahead_are_recorded_while_a_frame_is_drawn() {
    // The motion is fast enough that every frame differs.
    for mut world in ahead_by_gles(lasting(3)) {
        let _window = maximise(&mut world);
        let (gate, go) = mpsc::channel::<Span>();
        world.state.outputs.renderer().unwrap().inject_fault(GpuFault::Slow { begun: mpsc::channel().0, go });
        world.run_until("records", |world| {
            let is_drawing = world.state.outputs.states().all(upbeat::output::OutputState::is_drawing);
            is_drawing && recorded(world) >= usize::from(ANIMATION.run_ahead)
        });
        world.key(KEY_A, true);
        assert_eq!(recorded(&world), 0, "recorded frames are stale and dropped at once");
        let pressed = world.now();
        drop(gate);
        world.run_until("a fresh frame", |world| {
            records(world).any(|record| record.latched > pressed && record.presented.is_some())
        });
        let fresh = records(&world).find(|record| record.latched > pressed).unwrap();
        assert_ne!(fresh.pacing, Pacing::Ahead, "the first frame after the key is made just in time");
        world.run_until("frames ahead", |world| ahead(world).iter().any(|record| record.latched > pressed));
    }
}

fn supersedes(mut world: TestWorld) {
    let _window = maximise(&mut world);
    world.key(KEY_A, true);
    let pressed = world.now();
    world.run_until("the end", |world| {
        world.state.outputs.states().all(|output| !output.conductor().output().is_repaint_scheduled())
    });
    world.run_until_idle();
    // Two stale frames may be shown: the frame in flight, and the frame kept in case the fresh frame is late.
    let before =
        ahead(&world).iter().filter(|record| record.latched < pressed && record.presented > Some(pressed)).count();
    assert!(before <= 2, "{before} frames latched before the key were shown after it");
    let fresh = records(&world).find(|record| record.latched > pressed).unwrap();
    assert_ne!(fresh.pacing, Pacing::Ahead, "the first frame after the key is made just in time");
    assert!(world.picture().pixels.iter().all(|pixel| pixel & 0x00ff_ffff == RED), "stale pixels are left");
    assert!(ahead(&world).last().unwrap().latched > pressed, "without input, frames are rendered ahead again");
}

#[test]
fn commit_during_an_animation_is_not_late() {
    for mut world in [animated_ahead(moves()), presented_ahead(moves())] {
        let (client, window) = maximise(&mut world);
        draw(&mut world, client, &window, 3, OUTPUT, GREEN);
        let committed = world.now();
        world.run_until("light", |world| world.client(client).light(3).is_some());
        let is_stale = |record: &&FrameRecord| record.latched < committed && record.presented > Some(committed);
        let stale = ahead(&world).iter().filter(is_stale).count();
        assert!(stale <= 2, "{stale} frames without the commit came first");
        world.run_until_idle();
        let picture = world.picture();
        assert!(picture.pixels.iter().all(|pixel| pixel & 0x00ff_ffff == GREEN), "stale pixels are left");
    }
}

#[test]
fn display_shows_the_frames_it_holds_while_the_compositor_sleeps() {
    let mut world = presented_ahead(lasting(8));
    let _window = maximise(&mut world);
    world.run_until("frames in the display", |world| {
        let newest = records(world).last().copied().unwrap();
        newest.pacing == Pacing::Ahead && newest.present - newest.composed.unwrap() > newest.interval * 4
    });
    let held_up = world.now();
    world.skip_time(Span::from_millis(45));
    let over = world.now();
    world.run_until("a frame after the sleep", |world| records(world).any(|record| record.presented > Some(over)));
    let meanwhile: Vec<_> =
        ahead(&world).into_iter().filter(|it| it.presented > Some(held_up) && it.presented < Some(over)).collect();
    // The display shows the frames that it holds, however long the compositor sleeps.
    assert!(meanwhile.len() >= 2, "{meanwhile:?}");
    for pair in meanwhile[..meanwhile.len().min(3)].windows(2) {
        assert_eq!(pair[1].sequence.unwrap(), pair[0].sequence.unwrap() + 1, "a refresh had no frame");
        assert_eq!(pair[1].sequence, pair[1].due_sequence, "each frame in its own refresh");
    }
}

#[test]
fn the_cursor_moves_on_frames_that_the_display_holds() {
    let mut world = presented_ahead(moves());
    let _window = maximise(&mut world);
    world.point(200.0, 100.0);
    let moved = world.now();
    world.run_until_idle();
    let picture = world.state.outputs.states().next().unwrap().display().screenshot(true).unwrap();
    let at = |x: i32, y: i32| picture.pixels[(y * OUTPUT.0 + x) as usize] & 0x00ff_ffff;
    assert!((0..12).any(|y| at(201, 100 + y) != RED), "the cursor is where the pointer is");
    assert_eq!(at(900, 500), RED);
    assert!(ahead(&world).iter().any(|record| record.presented > Some(moved)));
}

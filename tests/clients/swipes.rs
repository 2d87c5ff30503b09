//! Swipes: the dragged content is under the fingers at every refresh, and moves on without a jump when they are lifted.
//! The finger is a recording with its original times.

use upbeat::backend::headless::OutputOptions;
use upbeat::backend::headless::record::ProbeLog;
use upbeat::bindings::{Binding, ShortcutAction};
use upbeat::input::session_swipes::EnabledSwipes;
use upbeat::input::{InputEvent, TouchpadGesture};
use upbeat::shell::animation::AnimationStyles;
use upbeat::shell::tiling::{self, TilingMode};
use upbeat::shell::workspaces::WorkspaceId;
use upbeat_timing::motion::MotionStyle;
use upbeat_timing::motion::spring::SpringShape;
use upbeat_timing::time::{Instant, Span};

use crate::fixture::content::{BLUE, GREEN, RED, Xrgb8888Pixel};
use crate::fixture::{ClientEvent, ClientIndex, KEY_2, KEY_LEFT_SUPER, OUTPUT, TestToplevel, TestWorld};
use crate::lock::Locker;

/// A finger on a touch screen, dragged along it and back: microseconds, two coordinates, and the kind of event.
const RECORDED: &str = include_str!("../data/input/touch_atmel_drag.csv");
const SIZE: (i32, i32) = (400, 300);
const LEFT: i32 = (OUTPUT.0 - SIZE.0) / 2;
/// Screen pixels per unit of the recording.
const STRETCH: f64 = 3.0;
/// x coordinate at which the finger touches.
const FROM: f64 = 3.0;

fn world() -> TestWorld {
    world_at(4.0)
}

/// A world whose animations are springs of this frequency (Hz).
fn world_at(frequency: f64) -> TestWorld {
    let mut world = TestWorld::rendered_on(OutputOptions { cursor_plane: Some((64, 64)), ..OutputOptions::default() });
    world.state.outputs.set_background([0.0; 3]);
    *world.state.input.gestures_mut() = EnabledSwipes { touchpad: true, edges: true };
    let style = Some(MotionStyle::Spring(SpringShape::new(frequency, 1.0).unwrap()));
    let all = AnimationStyles { workspace: style, place: style, overview: style, ..AnimationStyles::default() };
    world.state.shell.set_animations(all);
    world.run_until_idle();
    world
}

fn open(world: &mut TestWorld, title: &str, colour: Xrgb8888Pixel) -> (ClientIndex, TestToplevel) {
    world.open_filled(title, SIZE, colour)
}

/// A red window on the first workspace, and a green window on the second, which is shown.
fn two_workspaces(world: &mut TestWorld) -> [(ClientIndex, TestToplevel); 2] {
    let red = open(world, "red", RED);
    world.chord(&[KEY_LEFT_SUPER], KEY_2);
    let green = open(world, "green", GREEN);
    world.run_until_idle();
    [red, green]
}

fn active(world: &TestWorld) -> u8 {
    let workspaces = world.state.shell.workspaces();
    workspaces.active(workspaces.screen("TEST-1").unwrap()).get()
}

/// Distance of the recorded finger by the time since its touch, until it turned back.
fn strokes() -> Vec<(Span, f64)> {
    let mut strokes: Vec<(Span, f64)> = Vec::new();
    let mut start = None;
    for line in RECORDED.lines().skip(1) {
        let fields: Vec<f64> = line.split(',').take(3).map(|field| field.parse().unwrap()).collect();
        let way = (*start.get_or_insert(fields[2]) - fields[2]) * STRETCH;
        if strokes.last().is_some_and(|(_, before)| way < *before) {
            break;
        }
        strokes.push((Span::from_micros(fields[0] as i64), way));
    }
    assert!(strokes.len() > 40 && strokes.last().unwrap().1 > 700.0, "{strokes:?}");
    strokes
}

/// Drags a finger in from the left edge, as it was recorded, up to the distance `furthest`. Returns the times of touch
/// and lift.
fn drag_in(world: &mut TestWorld, furthest: f64) -> (Instant, Instant) {
    let begun = world.now() + Span::from_millis(3);
    let strokes: Vec<_> = strokes().into_iter().filter(|(_, way)| *way <= furthest).collect();
    let last = begun + strokes.last().unwrap().0;
    let mut next = 0;
    let mut act = |world: &mut TestWorld| {
        while let Some((after, way)) = strokes.get(next).filter(|(after, _)| begun + *after <= world.now()) {
            let (time, position) = (begun + *after, (FROM + way, f64::from(OUTPUT.1) / 2.0).into());
            world.input(match next {
                0 => InputEvent::TouchDown { time, slot: 0, position },
                _ => InputEvent::TouchMotion { time, slot: 0, position },
            });
            next += 1;
        }
        strokes.get(next).map(|(after, _)| begun + *after)
    };
    let now = world.now();
    world.run_for(last - now + Span::from_millis(2), &mut act);
    assert_eq!(next, strokes.len());
    (begun, last)
}

fn lift(world: &mut TestWorld) {
    let time = world.now();
    world.input(InputEvent::TouchUp { time, slot: 0 });
}

/// Position of the finger at `at`.
fn finger(begun: Instant, at: Instant) -> f64 {
    let strokes = strokes();
    let after = at - begun;
    let next = strokes.iter().position(|(when, _)| *when > after).unwrap_or(strokes.len() - 1).max(1);
    let ((from, a), (to, b)) = (strokes[next - 1], strokes[next]);
    let share = (after - from).as_seconds_f64() / (to - from).as_seconds_f64();
    FROM + a + (b - a) * share.clamp(0.0, 1.0)
}

/// Times at which a row of the screen was refreshed, and the first pixel of a colour in it.
fn edges(log: &ProbeLog, colour: u32) -> Vec<(Instant, f64)> {
    let seen = std::iter::from_fn(|| log.pop()).filter_map(|sample| {
        let edge = sample.pixels.iter().position(|pixel| pixel & 0x00ff_ffff == colour)?;
        Some((sample.refresh.time, edge as f64))
    });
    seen.collect()
}

#[test]
fn workspace_follows_the_finger_at_each_refresh_and_goes_on_without_a_jump() {
    // A slow spring, so that the velocity at the release stays visible for a while.
    let mut world = world_at(0.8);
    two_workspaces(&mut world);
    let log = world.probe((0, OUTPUT.1 / 2, OUTPUT.0, 1));
    let (begun, lifted) = drag_in(&mut world, 600.0);
    lift(&mut world);
    assert_eq!(active(&world), 1, "the finger had gone far, and fast");
    world.run_until_idle();
    let seen = edges(&log, GREEN);
    // Skip the begin, because there is no prediction for a finger that has only just touched.
    let held = seen.iter().filter(|(at, edge)| *edge > f64::from(LEFT) + 100.0 && *at < lifted);
    // The first motion, which distinguishes a swipe from a tap, moves nothing.
    let taken = FROM + strokes()[1].1 - f64::from(LEFT);
    let off: Vec<f64> = held.map(|(at, edge)| finger(begun, *at) - taken - edge).collect();
    assert!(off.len() > 15 && off.iter().all(|off| off.abs() < 9.0), "{off:?}");
    let after: Vec<f64> =
        seen.iter().filter(|(at, _)| *at + Span::from_millis(40) > lifted).map(|(_, edge)| *edge).collect();
    let steps: Vec<f64> = after.windows(2).map(|pair| pair[1] - pair[0]).collect();
    assert!(steps.len() > 6 && steps.windows(2).all(|pair| (pair[1] - pair[0]).abs() < 16.0), "{steps:?}");
    assert_eq!((world.pixel(OUTPUT.0 / 2, OUTPUT.1 / 2), world.focused().as_deref()), (RED, Some("red")));
}

#[test]
fn recognised_edge_swipe_cancels_the_clients_touch() {
    let mut world = world();
    let (client, _window) = open(&mut world, "red", RED);
    world.move_window("red", (0, 200));
    let touch = |world: &mut TestWorld, way: &[(f64, f64)]| {
        world.run_until_idle();
        world.client(client).take_events();
        let time = world.now();
        world.input(InputEvent::TouchDown { time, slot: 0, position: (5.0, 300.0).into() });
        for (x, y) in way {
            let (time, position) = (world.now(), (5.0 + x, 300.0 + y).into());
            world.input(InputEvent::TouchMotion { time, slot: 0, position });
        }
        lift(world);
        let said = |event| match event {
            ClientEvent::TouchDown { .. } => Some("down"),
            ClientEvent::TouchMotion { .. } => Some("motion"),
            ClientEvent::TouchUp => Some("up"),
            ClientEvent::TouchCancel => Some("cancel"),
            _ => None,
        };
        world.client(client).take_events().into_iter().filter_map(said).collect::<Vec<_>>()
    };
    assert_eq!(touch(&mut world, &[(4.0, 0.0), (30.0, 2.0), (60.0, 2.0)]), ["down", "motion", "cancel"]);
    assert_eq!(touch(&mut world, &[(2.0, 20.0), (60.0, 20.0)]), ["down", "motion", "motion", "up"], "along the edge");
    world.state.input.gestures_mut().edges = false;
    assert_eq!(touch(&mut world, &[(30.0, 0.0)]), ["down", "motion", "up"]);
}

/// Moves fingers on a touchpad by these distances, one each 8 ms.
fn swipe(world: &mut TestWorld, fingers: u32, steps: &[(f64, f64)], ends: bool) {
    let gesture = |world: &mut TestWorld, gesture| {
        let time = world.now();
        world.input(InputEvent::Gesture { time, gesture });
        world.run_for(Span::from_millis(8), &mut |_| None);
    };
    gesture(world, TouchpadGesture::SwipeBegin { fingers });
    steps.iter().for_each(|step| gesture(world, TouchpadGesture::SwipeUpdate { delta: (*step).into() }));
    if ends {
        gesture(world, TouchpadGesture::SwipeEnd { cancelled: false });
    }
}

/// Opens three windows in columns; the last two are visible.
fn columns(world: &mut TestWorld) {
    tiling::set_mode(&mut world.state, TilingMode::Strip);
    world.state.shell.effects_mut().border = None;
    for (title, colour) in [("red", RED), ("green", GREEN), ("blue", BLUE)] {
        world.open_filled_at_configured_size(title, colour);
        world.turn();
    }
    world.run_until_idle();
}

fn left(world: &TestWorld, title: &str) -> i32 {
    world.window(title).rect().loc.x
}

#[test]
fn three_finger_swipe_scrolls_columns_to_the_nearest() {
    let mut world = world();
    columns(&mut world);
    let (green, step) = (left(&world, "green"), left(&world, "blue") - left(&world, "green"));
    assert_eq!((world.focused().as_deref(), green), (Some("blue"), 8));
    let log = world.probe((0, OUTPUT.1 / 2, OUTPUT.0, 1));
    // A screen width is 1200 units of the touchpad: this is most of a column.
    swipe(&mut world, 3, &[(12.0, 0.0); 40], false);
    world.run_for(Span::from_millis(200), &mut |_| None);
    let held = edges(&log, GREEN);
    let moved = 39.0 * 12.0 * f64::from(OUTPUT.0) / 1200.0;
    assert!((held.last().unwrap().1 - (8.0 + moved)).abs() <= 1.0, "{moved} {:?}", held.last());
    assert!(held.windows(2).all(|pair| pair[1].1 - pair[0].1 > -30.0), "{held:?}");
    assert_eq!(left(&world, "green"), 8, "the layout is updated at the end");
    let time = world.now();
    world.input(InputEvent::Gesture { time, gesture: TouchpadGesture::SwipeEnd { cancelled: false } });
    world.turn();
    assert_eq!((left(&world, "green"), world.focused().as_deref()), (8 + step, Some("green")));
    world.run_until_idle();
    let after = edges(&log, GREEN);
    let steps: Vec<f64> = after.windows(2).map(|pair| pair[1].1 - pair[0].1).collect();
    assert!(steps.iter().all(|step| (-1.0..60.0).contains(step)), "{steps:?}");
    assert_eq!(world.pixel(8 + step + 2, OUTPUT.1 / 2), GREEN);
    // A short flick has the same effect as a long, slow swipe.
    swipe(&mut world, 3, &[(-20.0, 0.0); 8], true);
    assert_eq!(left(&world, "green"), 8);
    world.run_until_idle();
    assert_eq!(world.pixel(10, OUTPUT.1 / 2), GREEN);
}

#[test]
fn cancelled_swipe_goes_back_and_floating_workspace_does_not_scroll() {
    let mut world = world();
    columns(&mut world);
    let before = left(&world, "green");
    swipe(&mut world, 3, &[(12.0, 0.0); 40], false);
    let time = world.now();
    world.input(InputEvent::Gesture { time, gesture: TouchpadGesture::SwipeEnd { cancelled: true } });
    world.run_until_idle();
    assert_eq!((left(&world, "green"), world.pixel(before + 2, OUTPUT.1 / 2)), (before, GREEN));
    let place = world.state.shell.workspaces().place(world.window("green").id).unwrap();
    upbeat::shell::workspace_actions::switch(&mut world.state, WorkspaceId { number: 5.try_into().unwrap(), ..place });
    swipe(&mut world, 3, &[(12.0, 0.0); 40], true);
    world.run_until_idle();
    // On a strip, workspaces lie below each other, and four fingers switch between them.
    swipe(&mut world, 4, &[(0.0, 12.0); 20], true);
    assert_eq!(active(&world), 4);
}

#[test]
fn swipe_up_opens_the_overview_by_its_end_position() {
    let mut world = world();
    two_workspaces(&mut world);
    let share = |world: &TestWorld| world.state.shell.overlays().overview().at(world.now());
    swipe(&mut world, 3, &[(0.0, -10.0); 9], false);
    assert!((0.2..0.35).contains(&share(&world)), "{}", share(&world));
    world.run_for(Span::from_millis(300), &mut |_| None);
    let time = world.now();
    world.input(InputEvent::Gesture { time, gesture: TouchpadGesture::SwipeEnd { cancelled: false } });
    assert!(!world.state.shell.overlays().overview().is_on());
    world.run_until_idle();
    assert_eq!(share(&world), 0.0);
    swipe(&mut world, 3, &[(0.0, -10.0); 20], true);
    assert!(world.state.shell.overlays().overview().is_on());
    world.run_until_idle();
    assert_eq!(share(&world), 1.0);
    swipe(&mut world, 3, &[(0.0, 10.0); 20], true);
    world.run_until_idle();
    assert!(!world.state.shell.overlays().overview().is_on());
}

#[test]
fn touch_stops_a_glide_and_a_resting_finger_causes_no_wakeups() {
    let mut world = world();
    two_workspaces(&mut world);
    let place = world.state.shell.workspaces().place(world.window("red").id).unwrap();
    upbeat::shell::workspace_actions::switch(&mut world.state, place);
    world.run_for(Span::from_millis(80), &mut |_| None);
    let time = world.now();
    world.input(InputEvent::Gesture { time, gesture: TouchpadGesture::HoldBegin { fingers: 3 } });
    world.run_for(Span::from_millis(60), &mut |_| None);
    let log = world.probe((0, OUTPUT.1 / 2, OUTPUT.0, 1));
    let drawn = |world: &TestWorld| world.output(0).records().last().map(|record| record.frame);
    let (frames, turns) = (drawn(&world), world.turns());
    world.run_for(Span::from_millis(500), &mut |_| None);
    assert_eq!((drawn(&world), log.pop().map(|_| log.pop().is_none())), (frames, Some(true)), "it stands still");
    assert!(world.turns() - turns < 20, "{} turns", world.turns() - turns);
    let time = world.now();
    world.input(InputEvent::Gesture { time, gesture: TouchpadGesture::HoldEnd { cancelled: false } });
    world.run_until_idle();
    assert!([RED, GREEN].contains(&world.pixel(OUTPUT.0 / 2, OUTPUT.1 / 2)), "it comes to rest on a workspace");
}

#[test]
fn two_finger_and_disabled_swipes_reach_the_window() {
    let mut world = world();
    two_workspaces(&mut world);
    swipe(&mut world, 2, &[(-30.0, 0.0); 20], true);
    assert_eq!(active(&world), 2);
    world.state.input.gestures_mut().touchpad = false;
    swipe(&mut world, 3, &[(30.0, 0.0); 20], true);
    assert_eq!(active(&world), 2);
    world.state.input.gestures_mut().touchpad = true;
    swipe(&mut world, 3, &[(30.0, 0.0); 20], true);
    assert_eq!(active(&world), 1);
}

fn bind(world: &mut TestWorld, chord: &str, action: &str, when_locked: bool) {
    let bound = Binding { when_locked, ..Binding::from(action.parse::<ShortcutAction>().unwrap()) };
    world.state.bindings.keys.insert(chord.parse().unwrap(), bound);
}

fn number_of(world: &TestWorld, title: &str) -> u8 {
    world.state.shell.workspaces().place(world.window(title).id).unwrap().number.get()
}

#[test]
fn swipe_shortcut_runs_once_and_keeps_the_default_swipes() {
    let mut world = world();
    two_workspaces(&mut world);
    bind(&mut world, "Swipe3Left", "move-to-workspace 5", false);
    // Not far enough, and back again.
    swipe(&mut world, 3, &[(-20.0, 0.0); 3], true);
    assert_eq!((number_of(&world, "green"), active(&world)), (2, 2));
    swipe(&mut world, 3, &[(-20.0, 3.0); 40], true);
    assert_eq!((number_of(&world, "green"), active(&world)), (5, 2), "the next workspace is not shown");
    // One large step is enough, and the usual action of a four-finger swipe is not done.
    bind(&mut world, "Swipe4Left", "workspace 5", false);
    swipe(&mut world, 4, &[(-150.0, 0.0)], true);
    assert_eq!(active(&world), 5);
    bind(&mut world, "Swipe3Left", "move-to-previous-workspace", false);
    swipe(&mut world, 3, &[(-20.0, 0.0); 80], true);
    assert_eq!(active(&world), 4, "once, however far it goes");
    swipe(&mut world, 3, &[(30.0, 0.0); 20], true);
    assert_eq!(active(&world), 3, "in the other direction the usual swipe works");
}

#[test]
fn swipe_shortcut_depends_on_held_modifiers() {
    let mut world = world();
    two_workspaces(&mut world);
    bind(&mut world, "Mod+Swipe3Up", "workspace 7", false);
    world.key(KEY_LEFT_SUPER, true);
    swipe(&mut world, 3, &[(0.0, -20.0); 10], true);
    assert_eq!((active(&world), world.state.shell.overlays().overview().is_on()), (7, false));
    world.key(KEY_LEFT_SUPER, false);
    swipe(&mut world, 3, &[(0.0, -20.0); 20], true);
    assert_eq!((active(&world), world.state.shell.overlays().overview().is_on()), (7, true));
}

#[test]
fn swipe_shortcut_works_with_gestures_disabled() {
    let mut world = world();
    two_workspaces(&mut world);
    world.state.input.gestures_mut().touchpad = false;
    bind(&mut world, "Swipe4Down", "workspace 8", false);
    swipe(&mut world, 4, &[(0.0, 20.0); 10], true);
    assert_eq!(active(&world), 8);
    swipe(&mut world, 4, &[(20.0, 0.0); 20], true);
    swipe(&mut world, 3, &[(20.0, 0.0); 20], true);
    assert_eq!(active(&world), 8);
    // "none" unbinds a shortcut; [gestures] switches the usual swipes off.
    world.state.input.gestures_mut().touchpad = true;
    bind(&mut world, "Swipe3Right", "none", false);
    swipe(&mut world, 3, &[(30.0, 0.0); 20], true);
    assert_eq!(active(&world), 7);
}

#[test]
fn swipe_shortcut_works_while_locked_only_if_marked() {
    let mut world = world();
    two_workspaces(&mut world);
    let locker = Locker::lock(&mut world, BLUE);
    bind(&mut world, "Swipe3Left", "workspace 6", false);
    swipe(&mut world, 3, &[(-20.0, 0.0); 20], true);
    assert_eq!(active(&world), 2);
    bind(&mut world, "Swipe3Left", "workspace 6", true);
    swipe(&mut world, 3, &[(-20.0, 0.0); 20], true);
    assert_eq!(active(&world), 6);
    swipe(&mut world, 3, &[(30.0, 0.0); 20], true);
    assert_eq!(active(&world), 6);
    locker.unlock(&mut world);
}

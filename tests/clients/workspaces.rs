//! Workspaces: what is hidden is neither seen nor pointed at, nothing is lost, and another one glides in.

use smithay::utils::Point;
use upbeat::backend::headless::OutputOptions;
use upbeat::shell::animation::{Animations, GAP};
use upbeat::shell::spaces;
use upbeat::shell::workspaces::{Number, Place};
use upbeat::time::Span;
use upbeat::timing::motion::Style;
use upbeat::timing::motion::easing::CubicBezier;
use upbeat::timing::pacing::Pacing;
use upbeat::timing::record::FrameRecord;

use crate::fixture::content::{BLUE, Colour, GREEN, Heard, RED};
use crate::fixture::{ClientIndex, KEY_1, KEY_2, KEY_LEFT_ALT, KEY_LEFT_SHIFT, KEY_LEFT_SUPER, KEY_TAB, OUTPUT};
use crate::fixture::{Toplevel, World};

const BLACK: u32 = 0;
const SIZE: (i32, i32) = (400, 300);
/// Where a window of that size is put: in the middle of the screen.
const LEFT: i32 = (OUTPUT.0 - SIZE.0) / 2;
const MIDDLE: (i32, i32) = (OUTPUT.0 / 2, OUTPUT.1 / 2);
const DURATION: Span = Span::from_millis(400);

fn number(number: u8) -> Number {
    number.try_into().unwrap()
}

fn lit() -> World {
    let mut world = World::lit();
    world.state.outputs.background = [0.0; 3];
    world
}

/// Opens a window of one colour.
fn open(world: &mut World, title: &str, colour: Colour) -> (ClientIndex, Toplevel) {
    let client = world.connect();
    let window = world.client(client).toplevel(title);
    world.settle();
    world.client(client).answer_newest();
    world.client(client).draw(&window.surface, 1, SIZE, colour);
    window.surface.commit();
    world.settle();
    (client, window)
}

fn switch(world: &mut World, key: u32) {
    world.chord(&[KEY_LEFT_SUPER], key);
}

fn send(world: &mut World, key: u32) {
    world.chord(&[KEY_LEFT_SUPER, KEY_LEFT_SHIFT], key);
}

fn place(world: &World, title: &str) -> (String, u8) {
    let workspaces = &world.state.shell.workspaces;
    let place = workspaces.place(world.window(title).id).unwrap();
    (workspaces.name(place.screen).unwrap().to_owned(), place.number.get())
}

#[test]
fn a_hidden_workspace_is_not_seen_not_hit_and_has_no_focus() {
    let mut world = lit();
    open(&mut world, "red", RED);
    world.rest();
    assert_eq!(world.pixel(MIDDLE.0, MIDDLE.1), RED);
    switch(&mut world, KEY_2);
    assert_eq!(world.focused(), None);
    assert_eq!(world.state.shell.hit((640.0, 360.0).into()), None);
    // Also before anything else is on screen.
    assert_eq!(upbeat::output::scene_on_screen_hit(&world.state, (640.0, 360.0).into()), None);
    world.rest();
    assert_eq!(world.pixel(MIDDLE.0, MIDDLE.1), BLACK);
    open(&mut world, "green", GREEN);
    world.rest();
    assert_eq!((world.focused().as_deref(), world.pixel(MIDDLE.0, MIDDLE.1)), (Some("green"), GREEN));
    switch(&mut world, KEY_1);
    world.rest();
    assert_eq!((world.focused().as_deref(), world.pixel(MIDDLE.0, MIDDLE.1)), (Some("red"), RED));
}

#[test]
fn the_switcher_stays_on_the_workspace_that_is_seen() {
    let mut world = World::new();
    world.open("a", 100, 100);
    world.open("b", 100, 100);
    switch(&mut world, KEY_2);
    world.open("c", 100, 100);
    world.chord(&[KEY_LEFT_ALT], KEY_TAB);
    assert_eq!(world.focused().as_deref(), Some("c"));
    switch(&mut world, KEY_1);
    world.chord(&[KEY_LEFT_ALT], KEY_TAB);
    assert_eq!(world.focused().as_deref(), Some("a"));
}

#[test]
fn a_window_is_sent_with_its_dialogs_and_the_focus_stays() {
    let mut world = World::new();
    world.open("below", 100, 100);
    let (client, parent) = world.open("parent", 300, 200);
    let dialog = world.client(client).toplevel("dialog");
    dialog.toplevel.set_parent(Some(&parent.toplevel));
    world.settle();
    world.client(client).answer_newest();
    world.client(client).show(&dialog.surface, 100, 100);
    world.settle();
    assert_eq!(world.focused().as_deref(), Some("dialog"));
    send(&mut world, KEY_2);
    assert_eq!(world.focused().as_deref(), Some("below"));
    assert_eq!((place(&world, "parent").1, place(&world, "dialog").1, place(&world, "below").1), (2, 2, 1));
    // A dialog of a window that is not seen waits with it.
    let late = world.client(client).toplevel("late");
    late.toplevel.set_parent(Some(&parent.toplevel));
    world.settle();
    world.client(client).answer_newest();
    world.client(client).show(&late.surface, 100, 100);
    world.settle();
    assert_eq!((world.focused().as_deref(), place(&world, "late").1), (Some("below"), 2));
    switch(&mut world, KEY_2);
    assert_eq!(world.focused().as_deref(), Some("late"));
}

#[test]
fn a_hidden_window_is_called_back_seldom_and_at_once_when_it_is_seen_again() {
    let mut world = lit();
    let (client, window) = open(&mut world, "red", RED);
    world.rest();
    switch(&mut world, KEY_2);
    world.rest();
    let shown = |world: &World| world.state.outputs.states().next().unwrap().records.iter().count();
    let before = shown(&world);
    for update in 2..4 {
        world.client(client).ask(&window.surface, update);
        window.surface.commit();
        world.until("the slow tick", |world| world.client(client).callbacks().len() as u32 >= update - 1);
    }
    assert_eq!(shown(&world), before, "nothing was drawn for it");
    switch(&mut world, KEY_1);
    world.client(client).draw(&window.surface, 9, SIZE, BLUE);
    window.surface.commit();
    world.until("light", |world| world.client(client).light(9).is_some());
    assert!(world.client(client).heard(Heard::Released(1)));
}

#[test]
fn workspaces_of_an_unplugged_output_are_on_another_one_until_it_is_back() {
    let mut world = World::new();
    world.plug_at("TEST-2", 60_000, (OUTPUT.0, 0));
    world.point(f64::from(OUTPUT.0) + 100.0, 100.0);
    world.open("there", 200, 100);
    let corner = world.window("there").rect().loc;
    assert_eq!(place(&world, "there"), ("TEST-2".to_owned(), 1));
    assert!(corner.x >= OUTPUT.0);
    world.point(100.0, 100.0);
    world.open("hidden", 200, 100);
    send(&mut world, KEY_2);
    world.unplug("TEST-2");
    assert_eq!(place(&world, "there"), ("TEST-1".to_owned(), 1));
    assert!(world.window("there").rect().loc.x < OUTPUT.0 && world.state.shell.is_visible(world.window("there").id));
    assert_eq!(place(&world, "hidden"), ("TEST-1".to_owned(), 2));
    world.plug_at("TEST-2", 60_000, (OUTPUT.0, 0));
    assert_eq!((place(&world, "there"), world.window("there").rect().loc), (("TEST-2".to_owned(), 1), corner));
}

#[test]
fn a_window_that_is_dragged_to_another_output_belongs_there() {
    let mut world = World::new();
    world.plug_at("TEST-2", 60_000, (OUTPUT.0, 0));
    world.point(100.0, 100.0);
    world.open("a", 200, 100);
    assert_eq!(place(&world, "a").0, "TEST-1");
    world.key(KEY_LEFT_SUPER, true);
    let corner = world.window("a").rect().loc.to_f64();
    world.point(corner.x + 5.0, corner.y + 5.0);
    world.button(crate::fixture::BUTTON_LEFT, true);
    world.point(f64::from(OUTPUT.0) + 300.0, 300.0);
    world.latch();
    world.button(crate::fixture::BUTTON_LEFT, false);
    world.key(KEY_LEFT_SUPER, false);
    assert_eq!(place(&world, "a").0, "TEST-2");
    // Sent back by name, it lies in the same part of that screen.
    let (workspaces, id) = (&world.state.shell.workspaces, world.window("a").id);
    let (first, before) = (workspaces.screen("TEST-1").unwrap(), world.window("a").rect().loc);
    spaces::send(&mut world.state, id, Place { screen: first, number: number(1) });
    assert_eq!(world.window("a").rect().loc, before - Point::from((OUTPUT.0, 0)));
}

fn slides(ahead: u8) -> World {
    slides_for(ahead, DURATION)
}

fn slides_for(ahead: u8, duration: Span) -> World {
    let buffers = 3 + usize::from(ahead);
    let mut world = World::lit_on(OutputOptions { buffers, cursor_plane: Some((64, 64)), ..OutputOptions::default() });
    world.state.outputs.background = [0.0; 3];
    world.state.outputs.frames_ahead = ahead;
    let style = Style::Easing { duration, curve: CubicBezier::LINEAR };
    world.state.shell.set_animations(Animations { workspace: Some(style), ..Animations::default() });
    world.rest();
    world
}

/// Switches from a red window to a green one, and holds every frame against the time that it was made for.
fn slides_rightly(world: &mut World) {
    open(world, "red", RED);
    send(world, KEY_2);
    open(world, "green", GREEN);
    world.rest();
    let log = world.probe((0, MIDDLE.1, OUTPUT.0, 1));
    switch(world, KEY_2);
    world.rest();
    let output = world.state.outputs.states().next().unwrap();
    let frames: Vec<_> = std::iter::from_fn(|| log.pop())
        .filter_map(|sample| {
            let of = |record: &&FrameRecord| record.sequence == Some(sample.refresh.sequence);
            output.records.iter().find(of).map(|record| (*record, sample.pixels))
        })
        .collect();
    let left_of = |pixels: &[u32], colour: u32| pixels.iter().position(|pixel| pixel & 0x00ff_ffff == colour);
    let moved = |(_, pixels): &(_, Vec<u32>)| left_of(pixels, GREEN) != Some(LEFT as usize);
    let first = frames.iter().position(moved).unwrap();
    let start = frames[first].0.present - frames[first].0.interval;
    assert!(frames.len() - first > 5, "only {} frames", frames.len() - first);
    let row = f64::from(OUTPUT.0) * (1.0 + GAP);
    for (record, pixels) in &frames[first..] {
        let share = (record.present.since(start).as_seconds_f64() / DURATION.as_seconds_f64()).clamp(0.0, 1.0);
        for (colour, at) in [(GREEN, -share), (RED, 1.0 - share)] {
            let left = f64::from(LEFT) + row * at;
            let seen = left_of(pixels, colour).map_or(f64::INFINITY, |left| left as f64);
            let expected = if left + f64::from(SIZE.0) <= 0.5 || left >= f64::from(OUTPUT.0) - 0.5 {
                f64::INFINITY
            } else {
                left.max(0.0)
            };
            let right = seen == expected || (seen - expected).abs() <= 1.0;
            assert!(right, "{colour:06x} at {seen}, not {expected}, after {share}");
        }
    }
    assert_eq!(left_of(&frames.last().unwrap().1, RED), Some(LEFT as usize), "it ends where it belongs");
}

#[test]
fn every_frame_of_a_slide_represents_its_own_display_time() {
    slides_rightly(&mut slides(0));
    let mut world = slides(4);
    slides_rightly(&mut world);
    let output = world.state.outputs.states().next().unwrap();
    let ahead = output.records.iter().filter(|record| record.pacing == Pacing::Ahead && record.presented.is_some());
    assert!(ahead.count() > 5, "they were not rendered ahead");
}

#[test]
fn a_key_during_a_slide_turns_it_back_at_once_and_without_a_jump() {
    // Long enough for a busy machine.
    let duration = Span::from_seconds(3);
    let mut world = slides_for(4, duration);
    open(&mut world, "red", RED);
    world.rest();
    let log = world.probe((0, MIDDLE.1, OUTPUT.0, 1));
    switch(&mut world, KEY_2);
    world.until("frames ahead", |world| {
        let output = world.state.outputs.states().next().unwrap();
        let ahead = |it: &&FrameRecord| it.pacing == Pacing::Ahead && it.presented.is_some();
        output.records.iter().filter(ahead).count() > 4
    });
    switch(&mut world, KEY_1);
    let pressed = upbeat::time::Clock::now(&upbeat::time::MonotonicClock);
    world.rest();
    let output = world.state.outputs.states().next().unwrap();
    let stale = |record: &&FrameRecord| {
        record.pacing == Pacing::Ahead && record.latched < pressed && record.presented > Some(pressed)
    };
    assert!(output.records.iter().filter(stale).count() <= 2, "frames that did not know of the key were shown");
    let lefts: Vec<(upbeat::time::Instant, f64)> = std::iter::from_fn(|| log.pop())
        .filter_map(|sample| {
            let left = sample.pixels.iter().position(|pixel| pixel & 0x00ff_ffff == RED)?;
            Some((sample.light, left as f64))
        })
        .collect();
    assert!(lefts.iter().filter(|(_, left)| *left < f64::from(LEFT)).count() > 5, "{lefts:?}");
    // A row of workspaces in the duration is its pace; turning back it may be faster by as much.
    let pace = 2.5 * f64::from(OUTPUT.0) * (1.0 + GAP) / duration.as_seconds_f64();
    for pair in lefts.windows(2) {
        let (time, way) = (pair[1].0.since(pair[0].0).as_seconds_f64(), (pair[1].1 - pair[0].1).abs());
        assert!(way <= pace * (time + 0.017) + 2.0, "a jump of {way} in {time} s");
    }
    assert_eq!(world.pixel(LEFT, MIDDLE.1), RED);
    assert_eq!(world.pixel(LEFT - 1, MIDDLE.1), BLACK, "it ends where it was");
}

#[test]
fn without_motion_another_workspace_is_there_at_once() {
    let mut world = lit();
    open(&mut world, "red", RED);
    world.rest();
    let log = world.probe((0, MIDDLE.1, OUTPUT.0, 1));
    switch(&mut world, KEY_2);
    world.rest();
    let middles: Vec<u32> =
        std::iter::from_fn(|| log.pop()).map(|sample| sample.pixels[MIDDLE.0 as usize] & 0x00ff_ffff).collect();
    assert!(middles.iter().all(|pixel| [RED, BLACK].contains(pixel)), "{middles:x?}");
    assert_eq!(middles.last(), Some(&BLACK));
}

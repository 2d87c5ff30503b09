//! Mouse shortcuts, and focus that follows the pointer.

use upbeat::bindings::Action;
use upbeat::input::{InputEvent, Scroll, ScrollSource};
use upbeat::shell::strips::{self, Mode};
use upbeat::shell::workspaces::Place;

use crate::fixture::{BUTTON_LEFT, BUTTON_RIGHT, Event, KEY_LEFT, KEY_LEFT_SHIFT, KEY_LEFT_SUPER, World};

const BUTTON_MIDDLE: u32 = 0x112;
const BUTTON_BACK: u32 = 0x113;

/// Turns the wheel; `parts` are 120ths of a step.
fn turn(world: &mut World, parts: i32) {
    let time = world.now();
    let vertical = Scroll { distance: f64::from(parts) / 8.0, v120: Some(parts), ..Scroll::default() };
    world.input(InputEvent::Axis { time, source: ScrollSource::Wheel, horizontal: Scroll::default(), vertical });
}

fn workspace(world: &World) -> u8 {
    let workspaces = world.state.shell.workspaces();
    workspaces.active(workspaces.screen("TEST-1").unwrap()).get()
}

fn bind(world: &mut World, chord: &str, action: Action) {
    world.state.bindings.keys.insert(chord.parse().unwrap(), action.into());
}

/// Centre of a window.
fn middle(world: &World, title: &str) -> (f64, f64) {
    let rect = world.window(title).rect();
    (f64::from(rect.loc.x + rect.size.w / 2), f64::from(rect.loc.y + rect.size.h / 2))
}

fn point_at(world: &mut World, title: &str) {
    let (x, y) = middle(world, title);
    world.point(x, y);
}

#[test]
fn with_mod_a_step_of_the_wheel_is_a_shortcut_and_without_it_is_the_windows() {
    let mut world = World::new();
    let (client, _window) = world.open("a", 400, 300);
    point_at(&mut world, "a");
    let heard = |world: &mut World| {
        let events = world.client(client).take_events();
        events.iter().filter(|event| matches!(event, Event::Scroll { .. })).count()
    };
    heard(&mut world);
    turn(&mut world, 120);
    assert_eq!((heard(&mut world), workspace(&world)), (1, 1));
    world.key(KEY_LEFT_SUPER, true);
    turn(&mut world, 60);
    assert_eq!((heard(&mut world), workspace(&world)), (0, 1), "half a step is not the window's either");
    turn(&mut world, 60);
    assert_eq!(workspace(&world), 2);
    turn(&mut world, 240);
    assert_eq!(workspace(&world), 4);
    turn(&mut world, -120);
    assert_eq!(workspace(&world), 3);
    world.key(KEY_LEFT_SHIFT, true);
    turn(&mut world, 120);
    assert_eq!((heard(&mut world), workspace(&world)), (0, 3), "that is another shortcut");
}

#[test]
fn a_button_is_bound_like_a_key_and_gives_the_window_below_it_the_focus() {
    let mut world = World::new();
    let (a, _first) = world.open("a", 200, 100);
    let (_b, _second) = world.open("b", 200, 100);
    world.put("a", (0, 0));
    world.put("b", (600, 400));
    bind(&mut world, "Mod+MouseMiddle", Action::Workspace(5.try_into().unwrap()));
    bind(&mut world, "MouseBack", Action::Workspace(7.try_into().unwrap()));
    point_at(&mut world, "a");
    world.client(a).take_events();
    world.key(KEY_LEFT_SUPER, true);
    world.button(BUTTON_MIDDLE, true);
    world.button(BUTTON_MIDDLE, false);
    world.key(KEY_LEFT_SUPER, false);
    assert_eq!(workspace(&world), 5);
    let place =
        Place { number: 1.try_into().unwrap(), ..world.state.shell.workspaces().place(world.window("a").id).unwrap() };
    upbeat::shell::spaces::switch(&mut world.state, place);
    assert_eq!(world.focused().as_deref(), Some("a"), "it was pressed last");
    world.button(BUTTON_BACK, true);
    world.button(BUTTON_BACK, false);
    assert_eq!(workspace(&world), 7);
    assert!(!world.client(a).take_events().iter().any(|event| matches!(event, Event::Button { .. })));
}

#[test]
fn in_the_middle_of_a_side_that_alone_goes_with_the_pointer() {
    let mut world = World::new();
    world.open("a", 300, 300);
    world.put("a", (100, 100));
    let press = |world: &mut World, from: (f64, f64), to: (f64, f64)| {
        world.point(from.0, from.1);
        world.key(KEY_LEFT_SUPER, true);
        world.button(BUTTON_RIGHT, true);
        world.point(to.0, to.1);
        world.latch();
        let rect = world.window("a").rect();
        world.button(BUTTON_RIGHT, false);
        world.key(KEY_LEFT_SUPER, false);
        (rect.loc.x, rect.loc.y, rect.size.w, rect.size.h)
    };
    assert_eq!(press(&mut world, (390.0, 250.0), (440.0, 290.0)), (100, 100, 350, 300));
}

#[test]
fn a_key_lets_a_window_go_with_the_pointer_until_a_button_is_pressed() {
    let mut world = World::new();
    world.open("a", 300, 300);
    world.put("a", (100, 100));
    bind(&mut world, "Mod+Left", Action::MoveWithPointer);
    world.point(200.0, 200.0);
    world.chord(&[KEY_LEFT_SUPER], KEY_LEFT);
    world.point(250.0, 210.0);
    world.latch();
    let corner = |world: &World| (world.window("a").rect().loc.x, world.window("a").rect().loc.y);
    assert_eq!(corner(&world), (150, 110));
    world.button(BUTTON_LEFT, true);
    world.button(BUTTON_LEFT, false);
    world.point(400.0, 400.0);
    world.latch();
    assert_eq!(corner(&world), (150, 110));
}

#[test]
fn the_focus_follows_the_pointer_that_is_moved_and_raises_nothing() {
    let mut world = World::new();
    for (title, corner) in [("a", (0, 0)), ("b", (300, 0)), ("c", (0, 200))] {
        world.open(title, 200, 100);
        world.put(title, corner);
    }
    point_at(&mut world, "a");
    assert_eq!(world.focused().as_deref(), Some("c"), "not unless it is configured");
    world.state.shell.set_focus_follows_pointer(true);
    point_at(&mut world, "b");
    assert_eq!((world.focused().as_deref(), world.stack().join("")), (Some("b"), "abc".to_owned()));
    let used: Vec<_> = world.state.shell.used_last_first();
    assert_eq!(used.first(), Some(&world.window("b").id), "the switcher goes by the last focus");
    // A window that moves under the resting pointer does not get the focus. Motion within a window changes no focus
    // either.
    world.put("b", (900, 500));
    world.put("a", (300, 0));
    upbeat::input::refresh_focus(&mut world.state);
    assert_eq!(world.focused().as_deref(), Some("b"));
    world.click(400.0, 50.0);
    assert_eq!((world.focused().as_deref(), world.stack().join("")), (Some("a"), "bca".to_owned()));
    world.point(1000.0, 100.0);
    assert_eq!(world.focused().as_deref(), Some("a"), "nothing is there");
}

#[test]
fn a_column_that_is_not_seen_whole_stays_where_it_is_under_the_pointer() {
    let mut world = World::new();
    strips::set_mode(&mut world.state, Mode::Strip);
    world.state.shell.set_focus_follows_pointer(true);
    for title in ["a", "b", "c"] {
        world.open_as_asked(title);
        world.turn();
    }
    // Half of "a" lies left of the screen, because the middle column is wider than the others.
    world.chord(&[KEY_LEFT_SUPER], KEY_LEFT);
    world.turn();
    assert_eq!(world.focused().as_deref(), Some("b"));
    point_at(&mut world, "c");
    assert_eq!(world.focused().as_deref(), Some("c"));
    strips::acting::set_width(&mut world.state, upbeat::shell::layout::op::Resize::To(75));
    world.turn();
    let rect = world.window("b").rect();
    assert!(rect.loc.x < 0 && rect.loc.x + rect.size.w > 20, "{rect:?}");
    world.point(5.0, 300.0);
    assert_eq!(world.focused().as_deref(), Some("c"));
}

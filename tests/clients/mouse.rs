//! Mouse shortcuts, and focus that follows the pointer.

use upbeat::bindings::ShortcutAction;
use upbeat::input::{InputEvent, ScrollAxis, ScrollSource};
use upbeat::shell::tiling::{self, TilingMode};
use upbeat::shell::workspaces::WorkspaceId;

use crate::fixture::{BUTTON_LEFT, BUTTON_RIGHT, ClientEvent, KEY_LEFT, KEY_LEFT_SHIFT, KEY_LEFT_SUPER, TestWorld};

const BUTTON_MIDDLE: u32 = 0x112;
const BUTTON_BACK: u32 = 0x113;

/// Turns the wheel; `parts` are 120ths of a step.
fn turn(world: &mut TestWorld, parts: i32) {
    let time = world.now();
    let vertical = ScrollAxis { distance: f64::from(parts) / 8.0, v120: Some(parts), ..ScrollAxis::default() };
    world.input(InputEvent::Axis { time, source: ScrollSource::Wheel, horizontal: ScrollAxis::default(), vertical });
}

fn workspace(world: &TestWorld) -> u8 {
    let workspaces = world.state.shell.workspaces();
    workspaces.active(workspaces.screen("TEST-1").unwrap()).get()
}

fn bind(world: &mut TestWorld, chord: &str, action: ShortcutAction) {
    world.state.bindings.keys.insert(chord.parse().unwrap(), action.into());
}

/// Centre of a window.
fn middle(world: &TestWorld, title: &str) -> (f64, f64) {
    let rect = world.window(title).rect();
    (f64::from(rect.loc.x + rect.size.w / 2), f64::from(rect.loc.y + rect.size.h / 2))
}

fn point_at(world: &mut TestWorld, title: &str) {
    let (x, y) = middle(world, title);
    world.point(x, y);
}

#[test]
fn wheel_step_with_mod_is_a_shortcut_and_without_mod_reaches_the_window() {
    let mut world = TestWorld::new();
    let (client, _window) = world.open("a", 400, 300);
    point_at(&mut world, "a");
    let heard = |world: &mut TestWorld| {
        let events = world.client(client).take_events();
        events.iter().filter(|event| matches!(event, ClientEvent::Scroll { .. })).count()
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
fn mouse_button_shortcut_runs_and_focuses_the_window_below() {
    let mut world = TestWorld::new();
    let (a, _first) = world.open("a", 200, 100);
    let (_b, _second) = world.open("b", 200, 100);
    world.move_window("a", (0, 0));
    world.move_window("b", (600, 400));
    bind(&mut world, "Mod+MouseMiddle", ShortcutAction::Workspace("5".parse().unwrap()));
    bind(&mut world, "MouseBack", ShortcutAction::Workspace("7".parse().unwrap()));
    point_at(&mut world, "a");
    world.client(a).take_events();
    world.key(KEY_LEFT_SUPER, true);
    world.button(BUTTON_MIDDLE, true);
    world.button(BUTTON_MIDDLE, false);
    world.key(KEY_LEFT_SUPER, false);
    assert_eq!(workspace(&world), 5);
    let place = WorkspaceId {
        number: 1.try_into().unwrap(),
        ..world.state.shell.workspaces().place(world.window("a").id).unwrap()
    };
    upbeat::shell::workspace_actions::switch(&mut world.state, place);
    assert_eq!(world.focused().as_deref(), Some("a"), "it was pressed last");
    world.button(BUTTON_BACK, true);
    world.button(BUTTON_BACK, false);
    assert_eq!(workspace(&world), 7);
    assert!(!world.client(a).take_events().iter().any(|event| matches!(event, ClientEvent::Button { .. })));
}

#[test]
fn resize_from_the_middle_of_a_side_moves_that_side_only() {
    let mut world = TestWorld::new();
    world.open("a", 300, 300);
    world.move_window("a", (100, 100));
    let press = |world: &mut TestWorld, from: (f64, f64), to: (f64, f64)| {
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
fn move_by_shortcut_follows_the_pointer_until_a_button_is_pressed() {
    let mut world = TestWorld::new();
    world.open("a", 300, 300);
    world.move_window("a", (100, 100));
    bind(&mut world, "Mod+Left", ShortcutAction::MoveWithPointer);
    world.point(200.0, 200.0);
    world.chord(&[KEY_LEFT_SUPER], KEY_LEFT);
    world.point(250.0, 210.0);
    world.latch();
    let corner = |world: &TestWorld| (world.window("a").rect().loc.x, world.window("a").rect().loc.y);
    assert_eq!(corner(&world), (150, 110));
    world.button(BUTTON_LEFT, true);
    world.button(BUTTON_LEFT, false);
    world.point(400.0, 400.0);
    world.latch();
    assert_eq!(corner(&world), (150, 110));
}

#[test]
fn focus_follows_pointer_motion_without_raising() {
    let mut world = TestWorld::new();
    for (title, corner) in [("a", (0, 0)), ("b", (300, 0)), ("c", (0, 200))] {
        world.open(title, 200, 100);
        world.move_window(title, corner);
    }
    point_at(&mut world, "a");
    assert_eq!(world.focused().as_deref(), Some("c"), "not unless it is configured");
    world.state.shell.set_focus_follows_pointer(true);
    point_at(&mut world, "b");
    assert_eq!((world.focused().as_deref(), world.stack().join("")), (Some("b"), "abc".to_owned()));
    let used: Vec<_> = world.state.shell.windows_by_last_use();
    assert_eq!(used.first(), Some(&world.window("b").id), "the switcher goes by the last focus");
    // A window that moves under the resting pointer does not get the focus. Motion within a window changes no focus
    // either.
    world.move_window("b", (900, 500));
    world.move_window("a", (300, 0));
    upbeat::input::refresh_focus(&mut world.state);
    assert_eq!(world.focused().as_deref(), Some("b"));
    world.click(400.0, 50.0);
    assert_eq!((world.focused().as_deref(), world.stack().join("")), (Some("a"), "bca".to_owned()));
    world.point(1000.0, 100.0);
    assert_eq!(world.focused().as_deref(), Some("a"), "nothing is there");
}

#[test]
fn partly_visible_column_does_not_scroll_when_the_pointer_focuses_it() {
    let mut world = TestWorld::new();
    tiling::set_mode(&mut world.state, TilingMode::Strip);
    world.state.shell.set_focus_follows_pointer(true);
    for title in ["a", "b", "c"] {
        world.open_at_configured_size(title);
        world.turn();
    }
    // Half of "a" lies left of the screen, because the middle column is wider than the others.
    world.chord(&[KEY_LEFT_SUPER], KEY_LEFT);
    world.turn();
    assert_eq!(world.focused().as_deref(), Some("b"));
    point_at(&mut world, "c");
    assert_eq!(world.focused().as_deref(), Some("c"));
    tiling::actions::set_width(&mut world.state, upbeat::shell::layout::op::Resize::To(75));
    world.turn();
    let rect = world.window("b").rect();
    assert!(rect.loc.x < 0 && rect.loc.x + rect.size.w > 20, "{rect:?}");
    world.point(5.0, 300.0);
    assert_eq!(world.focused().as_deref(), Some("c"));
}

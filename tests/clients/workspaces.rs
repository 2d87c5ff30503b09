//! Workspaces: hidden windows are neither drawn nor hit, no window is lost, and switching is animated.

mod named;
mod random_actions;
mod slide;

use smithay::utils::Point;
use upbeat::shell::workspaces::{WorkspaceId, WorkspaceNumber};

use crate::fixture::content::{BLUE, ContentEvent, GREEN, RED, Xrgb8888Pixel};
use crate::fixture::{
    BUTTON_LEFT, ClientEvent, ClientIndex, KEY_1, KEY_2, KEY_LEFT_ALT, KEY_LEFT_SHIFT, KEY_LEFT_SUPER, KEY_O, KEY_TAB,
    OUTPUT, TestToplevel, TestWorld,
};
use wayland_protocols::xdg::shell::client::xdg_toplevel;

const BLACK: u32 = 0;
const SIZE: (i32, i32) = (400, 300);
/// Position of a window of that size: in the middle of the screen.
const LEFT: i32 = (OUTPUT.0 - SIZE.0) / 2;
const MIDDLE: (i32, i32) = (OUTPUT.0 / 2, OUTPUT.1 / 2);

fn number(number: u8) -> WorkspaceNumber {
    number.try_into().unwrap()
}

fn lit_world() -> TestWorld {
    let mut world = TestWorld::rendered();
    world.state.outputs.set_background([0.0; 3]);
    world
}

/// Opens a window of one colour.
fn open(world: &mut TestWorld, title: &str, colour: Xrgb8888Pixel) -> (ClientIndex, TestToplevel) {
    world.open_filled(title, SIZE, colour)
}

fn switch(world: &mut TestWorld, key: u32) {
    world.chord(&[KEY_LEFT_SUPER], key);
}

fn send(world: &mut TestWorld, key: u32) {
    world.chord(&[KEY_LEFT_SUPER, KEY_LEFT_SHIFT], key);
}

fn place(world: &TestWorld, title: &str) -> (String, u8) {
    let workspaces = world.state.shell.workspaces();
    let place = workspaces.place(world.window(title).id).unwrap();
    (workspaces.name(place.screen).unwrap().to_owned(), place.number.get())
}

#[test]
fn hidden_workspace_is_not_drawn_not_hit_and_has_no_focus() {
    let mut world = lit_world();
    open(&mut world, "red", RED);
    world.run_until_idle();
    assert_eq!(world.pixel(MIDDLE.0, MIDDLE.1), RED);
    switch(&mut world, KEY_2);
    assert_eq!(world.focused(), None);
    assert_eq!(world.state.shell.hit((640.0, 360.0).into()), None);
    // Checked before anything else is on screen.
    assert_eq!(upbeat::output::scene_on_screen_hit(&world.state, (640.0, 360.0).into()), None);
    world.run_until_idle();
    assert_eq!(world.pixel(MIDDLE.0, MIDDLE.1), BLACK);
    open(&mut world, "green", GREEN);
    world.run_until_idle();
    assert_eq!((world.focused().as_deref(), world.pixel(MIDDLE.0, MIDDLE.1)), (Some("green"), GREEN));
    switch(&mut world, KEY_1);
    world.run_until_idle();
    assert_eq!((world.focused().as_deref(), world.pixel(MIDDLE.0, MIDDLE.1)), (Some("red"), RED));
}

#[test]
fn the_switcher_stays_on_the_workspace_that_is_seen() {
    let mut world = TestWorld::new();
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
fn window_is_moved_to_a_workspace_with_its_dialogs_and_focus_stays() {
    let mut world = TestWorld::new();
    world.open("below", 100, 100);
    let (client, parent) = world.open("parent", 300, 200);
    let dialog = world.client(client).toplevel("dialog");
    dialog.toplevel.set_parent(Some(&parent.toplevel));
    world.settle();
    world.client(client).ack_newest_configure();
    world.client(client).commit_buffer(&dialog.surface, 100, 100);
    world.settle();
    assert_eq!(world.focused().as_deref(), Some("dialog"));
    send(&mut world, KEY_2);
    assert_eq!(world.focused().as_deref(), Some("below"));
    assert_eq!((place(&world, "parent").1, place(&world, "dialog").1, place(&world, "below").1), (2, 2, 1));
    // A dialog of a hidden window stays hidden with its parent.
    let late = world.client(client).toplevel("late");
    late.toplevel.set_parent(Some(&parent.toplevel));
    world.settle();
    world.client(client).ack_newest_configure();
    world.client(client).commit_buffer(&late.surface, 100, 100);
    world.settle();
    assert_eq!((world.focused().as_deref(), place(&world, "late").1), (Some("below"), 2));
    switch(&mut world, KEY_2);
    assert_eq!(world.focused().as_deref(), Some("late"));
}

#[test]
fn hidden_window_gets_rare_callbacks_and_one_at_once_when_visible() {
    let mut world = lit_world();
    let (client, window) = open(&mut world, "red", RED);
    world.run_until_idle();
    switch(&mut world, KEY_2);
    world.run_until_idle();
    let shown = |world: &TestWorld| world.state.outputs.states().next().unwrap().records().iter().count();
    let before = shown(&world);
    for update in 2..4 {
        world.client(client).request_feedback(&window.surface, update);
        window.surface.commit();
        world.run_until("the slow tick", |world| world.client(client).callbacks().len() as u32 >= update - 1);
    }
    assert_eq!(shown(&world), before, "nothing was drawn for it");
    switch(&mut world, KEY_1);
    world.client(client).draw(&window.surface, 9, SIZE, BLUE);
    window.surface.commit();
    world.run_until("light", |world| world.client(client).light(9).is_some());
    assert!(world.client(client).has_received(ContentEvent::Released(1)));
}

#[test]
fn workspaces_of_an_unplugged_output_are_on_another_one_until_it_is_back() {
    let mut world = TestWorld::new();
    world.plug_in_at("TEST-2", 60_000, (OUTPUT.0, 0));
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
    world.plug_in_at("TEST-2", 60_000, (OUTPUT.0, 0));
    assert_eq!((place(&world, "there"), world.window("there").rect().loc), (("TEST-2".to_owned(), 1), corner));
}

#[test]
fn hidden_window_is_suspended() {
    let mut world = TestWorld::new();
    let (client, _) = world.open("a", 100, 100);
    let suspended = |world: &mut TestWorld| {
        let events = world.client(client).take_events();
        let states = events.into_iter().rev().find_map(|event| match event {
            ClientEvent::ToplevelConfigure { states, .. } => Some(states),
            _ => None,
        });
        states.map(|states| states.contains(&(xdg_toplevel::State::Suspended as u32)))
    };
    suspended(&mut world);
    switch(&mut world, KEY_2);
    assert_eq!(suspended(&mut world), Some(true));
    // The overview shows the window, so it is not suspended.
    world.chord(&[KEY_LEFT_SUPER], KEY_O);
    assert_eq!(suspended(&mut world), Some(false));
    world.chord(&[KEY_LEFT_SUPER], KEY_O);
    assert_eq!(suspended(&mut world), Some(true));
    switch(&mut world, KEY_1);
    assert_eq!(suspended(&mut world), Some(false));
}

#[test]
fn dragged_window_moves_along_on_a_workspace_switch() {
    let mut world = TestWorld::new();
    world.open("a", 200, 100);
    world.key(KEY_LEFT_SUPER, true);
    let corner = world.window("a").rect().loc.to_f64();
    world.point(corner.x + 5.0, corner.y + 5.0);
    world.button(BUTTON_LEFT, true);
    world.key(KEY_2, true);
    world.key(KEY_2, false);
    assert_eq!((place(&world, "a").1, world.focused().as_deref()), (2, Some("a")));
    world.point(corner.x + 55.0, corner.y + 5.0);
    world.latch();
    assert_eq!(world.window("a").rect().loc.to_f64().x, corner.x + 50.0, "it is still held");
    world.button(BUTTON_LEFT, false);
}

#[test]
fn a_window_that_is_dragged_to_another_output_belongs_there() {
    let mut world = TestWorld::new();
    world.plug_in_at("TEST-2", 60_000, (OUTPUT.0, 0));
    world.point(100.0, 100.0);
    world.open("a", 200, 100);
    assert_eq!(place(&world, "a").0, "TEST-1");
    world.key(KEY_LEFT_SUPER, true);
    let corner = world.window("a").rect().loc.to_f64();
    world.point(corner.x + 5.0, corner.y + 5.0);
    world.button(BUTTON_LEFT, true);
    world.point(f64::from(OUTPUT.0) + 300.0, 300.0);
    world.latch();
    world.button(BUTTON_LEFT, false);
    world.key(KEY_LEFT_SUPER, false);
    assert_eq!(place(&world, "a").0, "TEST-2");
    // Moved back by output name, it lies at the same relative place of that output.
    let (workspaces, id) = (world.state.shell.workspaces(), world.window("a").id);
    let (first, before) = (workspaces.screen("TEST-1").unwrap(), world.window("a").rect().loc);
    upbeat::shell::send_to(&mut world.state, id, WorkspaceId { screen: first, number: number(1) });
    assert_eq!(world.window("a").rect().loc, before - Point::from((OUTPUT.0, 0)));
}

#[test]
fn rule_opens_windows_on_a_workspace_without_switching_to_it() {
    let mut world = lit_world();
    let config: upbeat::config::Config = toml::from_str("[[app]]\napp-id = '*'\nworkspace = 2").unwrap();
    world.state.outputs.rules_mut().set_apps(config.apps);
    world.open("a", SIZE.0, SIZE.1);
    assert_eq!(place(&world, "a"), ("TEST-1".to_owned(), 2));
    assert_eq!(world.focused(), None, "its window is hidden");
    switch(&mut world, KEY_2);
    world.state.outputs.rules_mut().set_apps(Vec::new());
    world.open("b", SIZE.0, SIZE.1);
    assert_eq!(place(&world, "b"), ("TEST-1".to_owned(), 2), "without a rule, the visible workspace");
}

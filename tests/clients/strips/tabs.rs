//! Tabs above a column that shows one of its windows at a time.

use super::{GAP, HALF, answer, open, press, press_shifted, rect};
use crate::fixture::{BUTTON_LEFT, ClientEvent, KEY_COMMA, KEY_LEFT_SUPER, KEY_T, KEY_W, TestWorld};
use upbeat::input::InputEvent;
use upbeat::shell::tiling::{self, TITLES, TilingMode};

/// Centres of the tabs of two windows.
const LEFT: (i32, i32) = (GAP + HALF.0 / 4, GAP + TITLES / 2);
const RIGHT: (i32, i32) = (GAP + HALF.0 * 3 / 4, GAP + TITLES / 2);

/// Two windows in a tabbed column: "a", and "b", which is visible.
fn tabbed() -> (TestWorld, [(crate::fixture::ClientIndex, crate::fixture::TestToplevel); 2]) {
    let mut world = TestWorld::rendered();
    world.state.outputs.set_background([0.0; 3]);
    tiling::set_mode(&mut world.state, TilingMode::Strip);
    let windows = [open(&mut world, "a"), open(&mut world, "b")];
    press(&mut world, KEY_COMMA);
    press(&mut world, KEY_W);
    windows.iter().for_each(|window| _ = answer(&mut world, window));
    world.run_until_idle();
    (world, windows)
}

fn is_lit(world: &TestWorld, (x, y): (i32, i32)) -> bool {
    world.pixel(x, y) & 0x00ff_ffff != 0
}

/// Number of text pixels in a tab.
fn text_pixels(world: &TestWorld, (x, y): (i32, i32)) -> usize {
    let picture = world.picture();
    let at = |x: i32, y: i32| picture.pixels[(y * picture.width + x) as usize];
    let all = (x - HALF.0 / 4 + 4..x + HALF.0 / 4 - 4).flat_map(|x| (y - 10..y + 8).map(move |y| (x, y)));
    all.filter(|(x, y)| at(*x, *y) & 0xff > 0xc0).count()
}

#[test]
fn tabs_show_titles_and_focus_and_follow_their_windows() {
    let (mut world, windows) = tabbed();
    assert_eq!(rect(&world, "b").1, GAP + TITLES);
    assert!(text_pixels(&world, LEFT) > 0 && text_pixels(&world, RIGHT) > 0);
    let colours = |world: &TestWorld| [LEFT, RIGHT].map(|(x, y)| world.pixel(x, y));
    let before = colours(&world);
    assert_ne!(before[0], before[1], "b has the focus");

    let short = text_pixels(&world, LEFT);
    windows[0].1.toplevel.set_title("a much longer title".to_owned());
    world.settle();
    world.turn();
    world.run_until_idle();
    assert!(text_pixels(&world, LEFT) > 3 * short);

    let id = world.window("a much longer title").id;
    upbeat::shell::activate(&mut world.state, Some(id));
    world.turn();
    world.run_until_idle();
    assert_eq!(colours(&world), [before[1], before[0]]);

    // Stacked rows have no tabs, and neither have floating windows.
    press(&mut world, KEY_W);
    windows.iter().for_each(|window| _ = answer(&mut world, window));
    world.run_until_idle();
    assert_eq!(rect(&world, "b").0, GAP);
    assert_eq!(text_pixels(&world, LEFT), 0);
    press(&mut world, KEY_W);
    world.run_until_idle();
    assert!(is_lit(&world, LEFT));
    press(&mut world, KEY_T);
    windows.iter().for_each(|window| _ = answer(&mut world, window));
    assert!(["a much longer title", "b"].iter().all(|title| !world.window(title).carries_titles()));
}

#[test]
fn press_on_a_tab_selects_its_window_and_middle_button_closes_it() {
    let (mut world, windows) = tabbed();
    world.client(windows[0].0).take_events();
    world.point(f64::from(LEFT.0), f64::from(LEFT.1));
    world.button(BUTTON_LEFT, true);
    world.button(BUTTON_LEFT, false);
    world.turn();
    assert_eq!(world.focused().as_deref(), Some("a"));
    assert!(world.state.shell.is_visible(world.window("a").id));
    let time = world.now();
    let position = (f64::from(RIGHT.0), f64::from(RIGHT.1)).into();
    world.input(InputEvent::TouchDown { time, slot: 0, position });
    world.turn();
    assert_eq!(world.focused().as_deref(), Some("b"), "a finger does, too");
    let is_told = |event: &ClientEvent| matches!(event, ClientEvent::Button { .. } | ClientEvent::TouchDown { .. });
    assert!(windows.iter().all(|(client, _)| !world.client(*client).take_events().iter().any(is_told)));

    world.button(0x112, true);
    world.button(0x112, false);
    assert!(world.client(windows[0].0).take_events().iter().any(|event| matches!(event, ClientEvent::Close)));
    // A press has no effect where no tab is visible.
    world.chord(&[KEY_LEFT_SUPER], crate::fixture::KEY_O);
    world.turn();
    assert_eq!(world.state.shell.title_at((f64::from(LEFT.0), f64::from(LEFT.1)).into()), None);
}

#[test]
fn tabs_are_redrawn_only_when_their_text_changes() {
    let (mut world, windows) = tabbed();
    let picture =
        |world: &TestWorld| world.state.shell.titles(world.window("b").id).map(|titles| titles.picture.number());
    let before = picture(&world);
    assert!(before.is_some());
    for _ in 0..3 {
        world.client(windows[1].0).commit_buffer(&windows[1].1.surface, HALF.0, HALF.1 - TITLES);
        world.settle();
        world.turn();
        world.run_until_idle();
    }
    assert_eq!(picture(&world), before);
    press_shifted(&mut world, crate::fixture::KEY_RIGHT);
    assert_eq!(picture(&world), before, "another place is no other title");
    windows[0].1.toplevel.set_title("c".to_owned());
    world.settle();
    world.turn();
    assert_ne!(picture(&world), before);
}

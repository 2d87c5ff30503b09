//! Tiles that are dragged to another place, and edges of tiles that are dragged.

use super::*;
use crate::fixture::BUTTON_RIGHT;

/// The left edges of windows, in the order of the strip.
fn order(world: &TestWorld, titles: &[&str]) -> Vec<String> {
    let mut all: Vec<(i32, i32, String)> =
        titles.iter().map(|title| (rect(world, title).0, rect(world, title).1, (*title).to_owned())).collect();
    all.sort();
    all.into_iter().map(|(.., title)| title).collect()
}

/// Presses the left button with `Mod` at `from`, and moves the pointer to `to`.
fn drag(world: &mut TestWorld, from: (i32, i32), to: (i32, i32)) {
    world.point(f64::from(from.0), f64::from(from.1));
    world.key(KEY_LEFT_SUPER, true);
    world.button(BUTTON_LEFT, true);
    world.turn();
    world.point(f64::from(to.0), f64::from(to.1));
    world.latch();
    world.turn();
}

fn release(world: &mut TestWorld) {
    world.button(BUTTON_LEFT, false);
    world.key(KEY_LEFT_SUPER, false);
    world.settle();
    world.turn();
}

#[test]
fn tile_follows_the_pointer_and_goes_into_the_strip_where_it_is_released() {
    let mut world = world();
    ["a", "b"].iter().for_each(|title| _ = open(&mut world, title));
    drag(&mut world, (100, 100), (300, 150));
    assert_eq!((rect(&world, "a").0, rect(&world, "a").1), (GAP + 200, GAP + 50));
    assert_eq!(left(&world, "b"), GAP, "the other columns close up");
    let mark = world.state.shell.snap_preview().expect("the place is marked").rect();
    assert_eq!((mark.loc.x, mark.loc.y, mark.size.w), (GAP, GAP, HALF.0), "above b, in its column");
    world.point(f64::from(SECOND + 10), 150.0);
    world.latch();
    release(&mut world);
    assert_eq!(order(&world, &["a", "b"]), ["b", "a"]);
    assert_eq!((left(&world, "b"), left(&world, "a")), (GAP, SECOND));
    assert_eq!(world.focused().as_deref(), Some("a"));
    assert_eq!(world.state.shell.snap_preview(), None);
    // Into the column of "b", below it.
    drag(&mut world, (SECOND + 100, 100), (GAP + HALF.0 / 2, OUTPUT.1 - 60));
    release(&mut world);
    assert_eq!(left(&world, "a"), left(&world, "b"));
    assert!(rect(&world, "a").1 > rect(&world, "b").1);
}

#[test]
fn tile_stays_in_its_column_while_a_press_slips_a_little() {
    let mut world = world();
    ["a", "b"].iter().for_each(|title| _ = open(&mut world, title));
    let before = ["a", "b"].map(|title| rect(&world, title));
    drag(&mut world, (100, 100), (105, 104));
    assert_eq!(["a", "b"].map(|title| rect(&world, title)), before);
    assert_eq!(world.state.shell.snap_preview(), None);
    release(&mut world);
    assert_eq!(["a", "b"].map(|title| rect(&world, title)), before);
    assert!(world.state.shell.drag().is_none());
}

#[test]
fn tile_is_moved_by_its_client_and_to_another_output() {
    let mut world = world();
    let a = open(&mut world, "a");
    open(&mut world, "b");
    world.plug_in_unplaced("TEST-2", REFRESH);
    world.turn();
    world.point(100.0, 100.0);
    world.button(BUTTON_LEFT, true);
    world.turn();
    let serial = world.client(a.0).press_serial();
    let seat = world.client(a.0).globals().seat.clone();
    a.1.toplevel._move(&seat, serial);
    world.settle();
    world.point(f64::from(OUTPUT.0 + 400), 300.0);
    world.latch();
    world.turn();
    let mark = world.state.shell.snap_preview().expect("the place is marked").rect();
    assert!(mark.loc.x >= OUTPUT.0, "{mark:?}");
    world.button(BUTTON_LEFT, false);
    world.settle();
    world.turn();
    assert_eq!(workspace_and_output(&world, "a").1, "TEST-2");
    assert_eq!((left(&world, "a"), left(&world, "b")), (OUTPUT.0 + GAP, GAP));
    assert!(world.state.shell.is_tile(world.window("a").id));
}

#[test]
fn floating_window_above_columns_goes_on_floating_where_it_is_released() {
    let mut world = world();
    ["a", "b"].iter().for_each(|title| _ = open(&mut world, title));
    press(&mut world, KEY_V);
    let before = rect(&world, "b");
    drag(&mut world, (before.0 + 20, before.1 + 20), (before.0 + 70, before.1 + 50));
    assert_eq!(world.state.shell.snap_preview(), None);
    release(&mut world);
    assert_eq!((rect(&world, "b").0, rect(&world, "b").1), (before.0 + 50, before.1 + 30));
    assert!(!world.state.shell.is_tile(world.window("b").id));
}

/// Drags the edges of a window that are nearest to `from`, by the right button with `Mod`.
fn drag_edge(world: &mut TestWorld, from: (i32, i32), to: (i32, i32)) {
    world.point(f64::from(from.0), f64::from(from.1));
    world.key(KEY_LEFT_SUPER, true);
    world.button(BUTTON_RIGHT, true);
    world.turn();
    world.point(f64::from(to.0), f64::from(to.1));
    world.latch();
    world.turn();
    world.button(BUTTON_RIGHT, false);
    world.key(KEY_LEFT_SUPER, false);
    world.settle();
    world.turn();
}

#[test]
fn edge_of_a_column_follows_the_pointer_and_its_neighbour_moves_along() {
    let mut world = world();
    let (a, b) = (open(&mut world, "a"), open(&mut world, "b"));
    let middle = OUTPUT.1 / 2;
    drag_edge(&mut world, (GAP + HALF.0 - 10, middle), (GAP + HALF.0 - 110, middle));
    [&a, &b].into_iter().for_each(|window| _ = answer(&mut world, window));
    assert_eq!(rect(&world, "a"), (GAP, GAP, HALF.0 - 100, HALF.1));
    assert_eq!(rect(&world, "b"), (SECOND - 100, GAP, HALF.0, HALF.1));
    // The left edge: the right edge of the column stays in place.
    drag_edge(&mut world, (SECOND - 90, middle), (SECOND - 40, middle));
    [&a, &b].into_iter().for_each(|window| _ = answer(&mut world, window));
    let b = rect(&world, "b");
    assert_eq!(b.2, HALF.0 - 50);
    assert!(rect(&world, "a").2 == HALF.0 - 100);
}

#[test]
fn edge_between_two_rows_follows_the_pointer() {
    let mut world = world();
    let (a, b) = (open(&mut world, "a"), open(&mut world, "b"));
    press(&mut world, KEY_COMMA);
    [&a, &b].into_iter().for_each(|window| _ = answer(&mut world, window));
    let (upper, lower) = (rect(&world, "a"), rect(&world, "b"));
    assert_eq!(upper.0, lower.0);
    let x = upper.0 + upper.2 / 2;
    drag_edge(&mut world, (x, upper.1 + upper.3 - 5), (x, upper.1 + upper.3 + 75));
    [&a, &b].into_iter().for_each(|window| _ = answer(&mut world, window));
    assert_eq!(rect(&world, "a").3, upper.3 + 80);
    assert_eq!((rect(&world, "b").1, rect(&world, "b").3), (lower.1 + 80, lower.3 - 80));
    // The lower edge of the last row cannot be moved.
    let now = ["a", "b"].map(|title| rect(&world, title));
    drag_edge(&mut world, (x, lower.1 + lower.3 - 5), (x, lower.1 + lower.3 - 75));
    assert_eq!(["a", "b"].map(|title| rect(&world, title)), now);
}

#[test]
fn click_on_an_edge_changes_nothing() {
    let mut world = world();
    ["a", "b"].iter().for_each(|title| _ = open(&mut world, title));
    press(&mut world, KEY_COMMA);
    let before = format!("{:?}", world.state.shell.strips());
    let middle = (GAP + HALF.0 - 10, OUTPUT.1 / 2 - 10);
    drag_edge(&mut world, middle, middle);
    let after = format!("{:?}", world.state.shell.strips());
    let widths = |text: &str| text.matches("Share(500)").count();
    assert_eq!(widths(&before), widths(&after));
}

#[test]
fn tile_that_is_released_on_a_bar_or_dropped_by_a_cancelled_touch_stays_among_the_columns() {
    let mut world = world();
    ["a", "b"].iter().for_each(|title| _ = open(&mut world, title));
    // Outside of the output: the nearest place.
    drag(&mut world, (100, 100), (OUTPUT.0 - 1, 0));
    release(&mut world);
    assert_eq!(order(&world, &["a", "b"]), ["b", "a"]);
    assert!(world.state.shell.is_tile(world.window("a").id));
}

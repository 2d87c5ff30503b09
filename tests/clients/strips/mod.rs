//! Windows in columns: where they open, stretching until the client answers, focus, and windows outside the strip.

pub mod layout_passes;
mod pointer;
mod reaction;
mod tabs;

use smithay::utils::Point;
use upbeat::shell::tiling::{self, TITLES, TilingMode};
use wayland_protocols::xdg::shell::client::xdg_toplevel::State;

use crate::fixture::{
    BUTTON_LEFT, ClientEvent, ClientIndex, KEY_COMMA, KEY_F, KEY_LEFT, KEY_LEFT_ALT, KEY_LEFT_SHIFT, KEY_LEFT_SUPER,
    KEY_M, KEY_RIGHT, KEY_T, KEY_TAB, KEY_V, KEY_W, OUTPUT, REFRESH, TestToplevel, TestWorld,
};

const GAP: i32 = 8;
/// Size of a half-width column: two of them and the gaps fill the screen.
const HALF: (i32, i32) = ((OUTPUT.0 - 3 * GAP) / 2, OUTPUT.1 - 2 * GAP);
const SECOND: i32 = HALF.0 + 2 * GAP;

fn world() -> TestWorld {
    let mut world = TestWorld::new();
    tiling::set_mode(&mut world.state, TilingMode::Strip);
    world
}

/// Opens a window whose client draws the configured size.
fn open(world: &mut TestWorld, title: &str) -> (ClientIndex, TestToplevel) {
    let opened = world.open_at_configured_size(title);
    world.turn();
    opened
}

/// The client draws the newest configured size. Returns that size, or `None` without a new configure.
fn answer(world: &mut TestWorld, (client, window): &(ClientIndex, TestToplevel)) -> Option<(i32, i32)> {
    let size = world.client(*client).ack_newest_configure()?;
    world.client(*client).commit_buffer(&window.surface, size.0, size.1);
    world.settle();
    world.turn();
    Some(size)
}

fn press(world: &mut TestWorld, key: u32) {
    world.chord(&[KEY_LEFT_SUPER], key);
    world.turn();
}

fn press_shifted(world: &mut TestWorld, key: u32) {
    world.chord(&[KEY_LEFT_SUPER, KEY_LEFT_SHIFT], key);
    world.turn();
}

fn rect(world: &TestWorld, title: &str) -> (i32, i32, i32, i32) {
    let rect = world.window(title).rect();
    (rect.loc.x, rect.loc.y, rect.size.w, rect.size.h)
}

fn left(world: &TestWorld, title: &str) -> i32 {
    rect(world, title).0
}

#[test]
fn new_windows_open_as_columns_at_their_final_size_and_scroll_into_view() {
    let mut world = world();
    let first = open(&mut world, "a");
    assert_eq!(rect(&world, "a"), (GAP, GAP, HALF.0, HALF.1), "it got its size before it drew");
    let more = world.client(first.0).ack_newest_configure();
    assert!(more.is_none_or(|size| size == HALF), "later configures only say that it has the focus: {more:?}");
    let states = |world: &mut TestWorld, client| {
        let events = world.client(client).take_events();
        events.into_iter().find_map(|event| match event {
            ClientEvent::ToplevelConfigure { states, .. } => Some(states),
            _ => None,
        })
    };
    open(&mut world, "b");
    assert_eq!((left(&world, "a"), left(&world, "b")), (GAP, SECOND));
    assert!(!states(&mut world, first.0).unwrap().contains(&(State::Activated as u32)));
    open(&mut world, "c");
    assert_eq!(["a", "b", "c"].map(|title| left(&world, title)), [GAP - SECOND + GAP, GAP, SECOND]);
    press(&mut world, KEY_LEFT);
    assert_eq!((world.focused().as_deref(), left(&world, "b")), (Some("b"), GAP), "it is in the view already");
    assert!(states(&mut world, first.0).unwrap().contains(&(State::TiledLeft as u32)));
    press(&mut world, KEY_LEFT);
    assert_eq!(
        (world.focused().as_deref(), left(&world, "a"), left(&world, "c")),
        (Some("a"), GAP, SECOND + HALF.0 + GAP)
    );
    press(&mut world, KEY_LEFT);
    assert_eq!(world.focused().as_deref(), Some("a"), "there is nothing further left");
}

#[test]
fn closing_a_window_restores_focus_and_view() {
    let mut world = world();
    ["a", "b", "c"].iter().for_each(|title| _ = open(&mut world, title));
    press(&mut world, KEY_LEFT);
    press(&mut world, KEY_LEFT);
    let before = ["a", "b", "c"].map(|title| left(&world, title));
    let (client, window) = open(&mut world, "new");
    assert_eq!((left(&world, "a"), left(&world, "new")), (GAP, SECOND), "it opens right of the focused column");
    window.toplevel.destroy();
    window.xdg.destroy();
    world.settle();
    world.turn();
    assert_eq!((world.focused().as_deref(), ["a", "b", "c"].map(|title| left(&world, title))), (Some("a"), before));
    world.kill(client);
}

#[test]
fn dialog_floats_above_all_columns() {
    let mut world = world();
    let parent = open(&mut world, "a");
    open(&mut world, "b");
    let dialog = world.client(parent.0).toplevel("dialog");
    dialog.toplevel.set_parent(Some(&parent.1.toplevel));
    world.settle();
    world.client(parent.0).ack_newest_configure();
    world.client(parent.0).commit_buffer(&dialog.surface, 800, 200);
    world.settle();
    world.turn();
    let (x, y, width, height) = rect(&world, "dialog");
    assert_eq!((width, height), (800, 200), "as large as it wants to be");
    assert!(x + width > SECOND, "it overlaps both columns");
    assert_eq!(world.focused().as_deref(), Some("dialog"));
    press_shifted(&mut world, KEY_V);
    press(&mut world, KEY_RIGHT);
    assert_eq!(world.focused().as_deref(), Some("b"));
    assert_eq!(world.stack().last().map(String::as_str), Some("dialog"));
    let at = Point::from((f64::from(x + width - 5), f64::from(y + 5)));
    let hit = world.state.shell.hit(at).and_then(|(surface, _)| world.state.shell.window_of(&surface)?.title());
    assert_eq!(hit.as_deref(), Some("dialog"));
}

#[test]
fn maximised_or_fullscreen_window_returns_to_its_column() {
    let mut world = world();
    let (a, b) = (open(&mut world, "a"), open(&mut world, "b"));
    for (key, size, at) in [(KEY_F, OUTPUT, 0), (KEY_M, OUTPUT, 0)] {
        world.client(b.0).take_events();
        press(&mut world, key);
        assert_eq!(rect(&world, "b"), (at, 0, size.0, size.1), "it is there at once, stretched");
        assert_eq!(answer(&mut world, &b), Some(size));
        assert!(left(&world, "a") < -HALF.0);
        press(&mut world, key);
        assert_eq!(answer(&mut world, &b), Some(HALF));
        assert_eq!((left(&world, "a"), left(&world, "b")), (GAP, SECOND));
    }
    world.client(a.0).ack_newest_configure();
    a.1.toplevel.set_fullscreen(None);
    world.settle();
    assert_eq!(world.client(a.0).ack_newest_configure(), Some(OUTPUT), "a client asks for it, too");
}

#[test]
fn tabbed_column_shows_one_window_and_hides_the_rest() {
    let mut world = world();
    let (a, _b) = (open(&mut world, "a"), open(&mut world, "b"));
    press(&mut world, KEY_COMMA);
    let half = (HALF.1 - GAP) / 2;
    assert_eq!((rect(&world, "a"), rect(&world, "b")), ((GAP, GAP, HALF.0, half), (GAP, 2 * GAP + half, HALF.0, half)));
    world.client(a.0).take_events();
    press(&mut world, KEY_W);
    let below = (GAP, GAP + TITLES, HALF.0, HALF.1 - TITLES);
    assert_eq!((rect(&world, "a"), rect(&world, "b")), (below, below), "below their titles");
    let id = world.window("a").id;
    assert!(!world.state.shell.is_visible(id));
    let is_told = |event: &ClientEvent| matches!(event, ClientEvent::ToplevelConfigure { states, .. } if states.contains(&(State::Suspended as u32)));
    assert!(world.client(a.0).take_events().iter().any(is_told));
    // The chosen window scrolls into view.
    world.chord(&[KEY_LEFT_ALT], KEY_TAB);
    assert_eq!(world.focused().as_deref(), Some("a"));
    assert!(world.state.shell.is_visible(id));
}

#[test]
fn columns_are_visible_on_their_own_output_only() {
    let mut world = world();
    world.plug_in_at("TEST-2", 60_000, (OUTPUT.0, 0));
    ["a", "b", "c"].iter().for_each(|title| _ = open(&mut world, title));
    press(&mut world, KEY_LEFT);
    press(&mut world, KEY_LEFT);
    let at = Point::from((f64::from(left(&world, "c") + 20), 100.0));
    assert!(at.x > f64::from(OUTPUT.0), "it lies where the other output is");
    assert_eq!(world.state.shell.hit(at), None);
}

#[test]
fn replugged_output_gets_its_columns_back() {
    let mut world = world();
    world.plug_in_at("TEST-2", 60_000, (OUTPUT.0, 0));
    open(&mut world, "stays");
    world.point(f64::from(OUTPUT.0 + 100), 100.0);
    ["a", "b", "c"].iter().for_each(|title| _ = open(&mut world, title));
    press(&mut world, KEY_COMMA);
    let before = ["a", "b", "c", "stays"].map(|title| rect(&world, title));
    world.unplug("TEST-2");
    world.turn();
    assert!(["a", "b", "c"].iter().all(|title| left(&world, title) < OUTPUT.0 * 3 && rect(&world, title).3 == HALF.1));
    world.plug_in_at("TEST-2", 60_000, (OUTPUT.0, 0));
    world.turn();
    assert_eq!(["a", "b", "c", "stays"].map(|title| rect(&world, title)), before);
}

#[test]
fn workspace_switches_between_strip_and_floating_layout() {
    let mut world = TestWorld::new();
    let (_, _a) = world.open("a", 400, 300);
    let (_, _b) = world.open("b", 400, 300);
    let before = ["a", "b"].map(|title| rect(&world, title));
    press(&mut world, KEY_T);
    assert_eq!(["a", "b"].map(|title| rect(&world, title).1), [GAP, GAP]);
    press(&mut world, KEY_T);
    assert_eq!(["a", "b"].map(|title| rect(&world, title)), before);
}

/// Number of the window's workspace, and the name of its output.
fn workspace_and_output(world: &TestWorld, title: &str) -> (u8, String) {
    let place = world.state.shell.workspaces().place(world.window(title).id).unwrap();
    (place.number.get(), world.state.shell.workspaces().name(place.screen).unwrap().to_owned())
}

fn act(world: &mut TestWorld, action: &str) {
    upbeat::input::actions::run(&mut world.state, &action.parse().unwrap());
    world.settle();
    world.turn();
}

/// "a", and a column of "b" above "c" that is three quarters wide and has the focus.
fn with_column(world: &mut TestWorld) -> Vec<(ClientIndex, TestToplevel)> {
    let windows = ["a", "b", "c"].map(|title| open(world, title));
    press(world, KEY_COMMA);
    act(world, "width 75%");
    windows.iter().for_each(|window| _ = answer(world, window));
    windows.into()
}

#[test]
fn column_is_moved_to_a_workspace_with_its_rows_and_width() {
    let mut world = world();
    let windows = with_column(&mut world);
    let before = ["b", "c"].map(|title| rect(&world, title));
    assert_eq!(before[0].0, before[1].0, "they are a column");
    act(&mut world, "column-to-workspace 2");
    assert_eq!(["a", "b", "c"].map(|title| workspace_and_output(&world, title).0), [1, 2, 2]);
    assert_eq!(world.focused().as_deref(), Some("a"), "the focus stays, as with a window");
    act(&mut world, "workspace 2");
    windows.iter().for_each(|window| _ = answer(&mut world, window));
    assert_eq!(world.focused().as_deref(), Some("c"));
    let after = ["b", "c"].map(|title| rect(&world, title));
    assert_eq!(after.map(|it| (it.1, it.2, it.3)), before.map(|it| (it.1, it.2, it.3)));
    assert_eq!(after[0].0, after[1].0);
}

#[test]
fn column_is_moved_to_another_output() {
    let mut world = world();
    with_column(&mut world);
    world.plug_in_unplaced("TEST-2", REFRESH);
    world.turn();
    act(&mut world, "column-to-output right");
    let there = (1, "TEST-2".to_owned());
    assert_eq!(["b", "c"].map(|title| workspace_and_output(&world, title)), [there.clone(), there]);
    assert_eq!(workspace_and_output(&world, "a").1, "TEST-1");
    assert_eq!(world.focused().as_deref(), Some("c"));
    let (b, c) = (rect(&world, "b"), rect(&world, "c"));
    assert_eq!((b.0, b.2), (c.0, c.2), "they are a column there");
    assert!(b.0 >= OUTPUT.0 && b.1 < c.1);
}

#[test]
fn column_to_workspace_takes_tabs_dialogs_and_a_window_that_floats_alone() {
    let mut world = world();
    let windows = with_column(&mut world);
    let dialog = world.client(windows[1].0).toplevel("dialog");
    dialog.toplevel.set_parent(Some(&windows[1].1.toplevel));
    world.settle();
    world.client(windows[1].0).ack_newest_configure();
    world.client(windows[1].0).commit_buffer(&dialog.surface, 200, 100);
    world.settle();
    world.turn();
    // The dialog floats: it is in no column, and moves with its parent only.
    assert_eq!(world.focused().as_deref(), Some("dialog"));
    act(&mut world, "column-to-workspace 3");
    assert_eq!(["b", "dialog", "c"].map(|title| workspace_and_output(&world, title).0), [3, 3, 1]);
    act(&mut world, "workspace 3");
    act(&mut world, "move-to-workspace 1");
    act(&mut world, "workspace 1");
    let b = world.window("b").id;
    upbeat::shell::activate(&mut world.state, Some(b));
    world.turn();
    press(&mut world, KEY_COMMA);
    press(&mut world, KEY_W);
    act(&mut world, "column-to-workspace 4");
    act(&mut world, "workspace 4");
    assert_eq!(["b", "c", "dialog"].map(|title| workspace_and_output(&world, title).0), [4, 4, 4]);
    let seen = world.state.shell.visible_windows().filter_map(|window| window.title());
    assert_eq!(seen.collect::<Vec<_>>(), ["b", "dialog"], "it has tabs, and one window is visible");
}

#[test]
fn column_moved_to_a_floating_workspace_becomes_floating_windows() {
    let mut world = world();
    let windows = with_column(&mut world);
    act(&mut world, "workspace 2");
    act(&mut world, "layout");
    act(&mut world, "workspace 1");
    assert_eq!(world.focused().as_deref(), Some("c"));
    act(&mut world, "column-to-workspace 2");
    act(&mut world, "workspace 2");
    windows.iter().for_each(|window| _ = answer(&mut world, window));
    assert_eq!(["b", "c"].map(|title| workspace_and_output(&world, title).0), [2, 2]);
    assert!(["b", "c"].iter().all(|title| !world.state.shell.is_tile(world.window(title).id)));
    // A floating window counts as a column of its own.
    act(&mut world, "column-to-workspace 1");
    assert_eq!(["b", "c"].map(|title| workspace_and_output(&world, title).0), [2, 1]);
}

#[test]
fn dialog_that_names_its_parent_after_its_first_configure_is_told_that_it_floats() {
    let mut world = world();
    let (client, parent) = open(&mut world, "parent");
    world.client(client).take_events();
    let dialog = world.open_in(client, "dialog", 60, 40);
    dialog.toplevel.set_parent(Some(&parent.toplevel));
    world.settle();
    world.turn();
    world.settle();
    let states = world.client(client).take_events().into_iter().rev().find_map(|event| match event {
        ClientEvent::ToplevelConfigure { width: 60, height: 40, states, .. } => Some(states),
        _ => None,
    });
    let states = states.expect("a configure in its own size");
    assert!(!states.contains(&(State::TiledLeft as u32)), "{states:?}");
}

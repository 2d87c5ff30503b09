//! Minimised windows: hidden with their dialogs, and restored to their place.

use smithay::utils::{Logical, Rectangle};
use upbeat::shell::animation::{AnimationStyles, FadeStyle};
use upbeat::shell::tiling::{self, TilingMode};
use upbeat_timing::motion::MotionStyle;
use upbeat_timing::motion::easing::CubicBezier;
use upbeat_timing::time::Span;
use wayland_protocols::xdg::shell::client::xdg_toplevel::{State, WmCapabilities};

use crate::fixture::content::{BLUE, GREEN, RED, Xrgb8888Pixel};
use crate::fixture::{
    BUTTON_LEFT, ClientEvent, ClientIndex, KEY_1, KEY_2, KEY_COMMA, KEY_ESCAPE, KEY_F, KEY_LEFT_ALT, KEY_LEFT_SUPER,
    KEY_O, KEY_TAB, KEY_V, OUTPUT, REFRESH, TestToplevel, TestWorld,
};
use crate::lock::Locker;
use crate::urgency::activate_with_token;

const KEY_N: u32 = 49;
const SIZE: (i32, i32) = (400, 300);
const MIDDLE: (i32, i32) = (OUTPUT.0 / 2, OUTPUT.1 / 2);
const BLACK: Xrgb8888Pixel = 0;
const GAP: i32 = 8;

type OpenedToplevel = (ClientIndex, TestToplevel);

fn minimise(world: &mut TestWorld) {
    world.chord(&[KEY_LEFT_SUPER], KEY_N);
    world.settle();
    world.turn();
}

fn is_minimised(world: &TestWorld, title: &str) -> bool {
    world.state.shell.is_minimised(world.window(title).id)
}

/// Whether the window is shown, or would be if no window lay above it.
fn is_visible(world: &TestWorld, title: &str) -> bool {
    world.state.shell.is_visible(world.window(title).id)
}

fn focused(world: &TestWorld) -> Option<String> {
    world.focused()
}

fn rect(world: &TestWorld, title: &str) -> (i32, i32, i32, i32) {
    let rect = world.window(title).rect();
    (rect.loc.x, rect.loc.y, rect.size.w, rect.size.h)
}

fn place(world: &TestWorld, title: &str) -> (String, u8) {
    let place = world.state.shell.workspaces().place(world.window(title).id).unwrap();
    (world.state.shell.workspaces().name(place.screen).unwrap().to_owned(), place.number.get())
}

fn activate(world: &mut TestWorld, title: &str) {
    let id = world.window(title).id;
    upbeat::shell::activate(&mut world.state, Some(id));
    world.settle();
    world.turn();
}

fn act(world: &mut TestWorld, action: &str) {
    upbeat::input::actions::run(&mut world.state, &action.parse().unwrap());
    world.settle();
    world.turn();
}

/// Opens a dialog of a window; its client chooses the size.
fn dialog(world: &mut TestWorld, (client, parent): &OpenedToplevel, title: &str) -> TestToplevel {
    let dialog = world.client(*client).toplevel(title);
    dialog.toplevel.set_parent(Some(&parent.toplevel));
    world.settle();
    world.client(*client).ack_newest_configure();
    world.client(*client).commit_buffer(&dialog.surface, 100, 100);
    world.settle();
    world.turn();
    dialog
}

fn cell(world: &TestWorld, title: &str) -> Option<Rectangle<f64, Logical>> {
    let output = world.state.outputs.iter().next().unwrap();
    world.state.shell.overview(output).window(world.window(title).id)
}

fn states_of(world: &mut TestWorld, client: ClientIndex) -> Option<Vec<u32>> {
    let events = world.client(client).take_events().into_iter();
    events
        .filter_map(|event| if let ClientEvent::ToplevelConfigure { states, .. } = event { Some(states) } else { None })
        .last()
}

fn lit_world() -> TestWorld {
    let mut world = TestWorld::rendered();
    world.state.outputs.set_background([0.0; 3]);
    world.run_until_idle();
    world
}

#[test]
fn minimised_window_is_not_seen_and_the_next_one_has_the_focus() {
    let mut world = lit_world();
    let (_, _below) = world.open_filled("below", SIZE, GREEN);
    let (client, window) = world.open_filled("a", SIZE, RED);
    let corner = ((OUTPUT.0 - SIZE.0) / 2, (OUTPUT.1 - SIZE.1) / 2);
    world.move_window("below", (0, 0));
    world.move_window("a", corner);
    world.run_until_idle();
    assert_eq!(world.pixel(MIDDLE.0, MIDDLE.1), RED);
    world.client(client).take_events();
    minimise(&mut world);
    let states = states_of(&mut world, client).unwrap();
    assert!(states.contains(&(State::Suspended as u32)) && !states.contains(&(State::Activated as u32)));
    world.run_until_idle();
    assert_eq!((focused(&world).as_deref(), world.pixel(MIDDLE.0, MIDDLE.1)), (Some("below"), BLACK));
    // Its callbacks are as rare as those of other hidden windows, and no frame is composed for it.
    let shown = |world: &TestWorld| world.state.outputs.states().next().unwrap().records().iter().count();
    let before = shown(&world);
    for update in 2..4 {
        world.client(client).request_feedback(&window.surface, update);
        window.surface.commit();
        world.run_until("the slow tick", |world| world.client(client).callbacks().len() as u32 >= update - 1);
    }
    assert_eq!(shown(&world), before, "nothing was drawn for it");
    activate(&mut world, "a");
    world.run_until_idle();
    assert_eq!((focused(&world).as_deref(), world.pixel(MIDDLE.0, MIDDLE.1)), (Some("a"), RED));
    assert_eq!(rect(&world, "a"), (corner.0, corner.1, SIZE.0, SIZE.1), "it lies where it did");
}

#[test]
fn client_may_minimise_its_window_and_receives_the_capability() {
    let mut world = TestWorld::new();
    let (client, window) = world.open("a", 400, 300);
    world.open("b", 200, 200);
    let told = &world.client(client).data.capabilities;
    assert!(told.contains(&(WmCapabilities::Minimize as u32)), "{told:?}");
    window.toplevel.set_minimized();
    world.settle();
    assert!(is_minimised(&world, "a") && !is_visible(&world, "a"));
    assert_eq!(focused(&world).as_deref(), Some("b"), "the focus stays where it is");
    window.toplevel.set_minimized();
    world.settle();
    assert!(is_minimised(&world, "a") && !world.client(client).is_disconnected());
    // A window without content is not minimised.
    let early = world.client(client).toplevel("early");
    early.toplevel.set_minimized();
    world.settle();
    world.client(client).ack_newest_configure();
    world.client(client).commit_buffer(&early.surface, 100, 100);
    world.settle();
    assert!(is_visible(&world, "early"));
}

#[test]
fn overview_shows_a_minimised_window_and_a_click_brings_it_back() {
    let mut world = lit_world();
    let (_, _a) = world.open_filled("a", SIZE, RED);
    minimise(&mut world);
    world.run_until_idle();
    assert_eq!((focused(&world), world.pixel(MIDDLE.0, MIDDLE.1)), (None, BLACK));
    let cell_middle = |world: &TestWorld| {
        let cell = cell(world, "a").unwrap();
        (cell.loc.x + cell.size.w / 2.0, cell.loc.y + cell.size.h / 2.0)
    };
    world.chord(&[KEY_LEFT_SUPER], KEY_O);
    world.run_until_idle();
    let (x, y) = cell_middle(&world);
    assert_eq!(world.pixel(x as i32, y as i32), RED);
    world.key(KEY_ESCAPE, true);
    world.key(KEY_ESCAPE, false);
    world.run_until_idle();
    assert!(is_minimised(&world, "a"));
    assert_eq!(world.pixel(MIDDLE.0, MIDDLE.1), BLACK);
    world.chord(&[KEY_LEFT_SUPER], KEY_O);
    world.run_until_idle();
    let (x, y) = cell_middle(&world);
    world.click(x, y);
    world.run_until_idle();
    assert_eq!((focused(&world).as_deref(), is_minimised(&world, "a")), (Some("a"), false));
    assert_eq!(world.pixel(MIDDLE.0, MIDDLE.1), RED);
}

#[test]
fn switcher_brings_back_the_only_window() {
    let mut world = TestWorld::new();
    world.open("a", 400, 300);
    minimise(&mut world);
    assert_eq!(focused(&world), None);
    minimise(&mut world);
    world.key(KEY_LEFT_ALT, true);
    world.key(KEY_TAB, true);
    world.key(KEY_TAB, false);
    assert!(is_minimised(&world, "a"), "as long as the modifier is held");
    world.key(KEY_LEFT_ALT, false);
    world.settle();
    assert_eq!((focused(&world).as_deref(), is_visible(&world, "a")), (Some("a"), true));
}

#[test]
fn switcher_begins_with_the_window_used_last_where_all_are_minimised() {
    let mut world = TestWorld::new();
    ["a", "b"].iter().for_each(|title| _ = world.open(title, 100, 100));
    minimise(&mut world);
    assert_eq!(focused(&world).as_deref(), Some("a"));
    minimise(&mut world);
    assert_eq!(focused(&world), None);
    world.chord(&[KEY_LEFT_ALT], KEY_TAB);
    world.settle();
    assert_eq!((focused(&world).as_deref(), is_minimised(&world, "b")), (Some("a"), true));
}

#[test]
fn switcher_does_not_restore_minimised_windows_it_passes() {
    let mut world = TestWorld::new();
    ["a", "b", "c"].iter().for_each(|title| _ = world.open(title, 100, 100));
    activate(&mut world, "b");
    minimise(&mut world);
    assert_eq!(focused(&world).as_deref(), Some("c"));
    let tab = |world: &mut TestWorld| {
        world.key(KEY_TAB, true);
        world.key(KEY_TAB, false);
        world.settle();
    };
    // Order of use, the last first: "c", "b" (minimised), "a".
    world.key(KEY_LEFT_ALT, true);
    tab(&mut world);
    tab(&mut world);
    world.key(KEY_LEFT_ALT, false);
    world.settle();
    assert_eq!((focused(&world).as_deref(), is_minimised(&world, "b")), (Some("a"), true));
    // A single quick step restores a minimised window if it is the next in the order.
    activate(&mut world, "b");
    minimise(&mut world);
    assert_eq!(focused(&world).as_deref(), Some("a"));
    world.chord(&[KEY_LEFT_ALT], KEY_TAB);
    world.settle();
    assert_eq!((focused(&world).as_deref(), is_minimised(&world, "b")), (Some("b"), false));
}

#[test]
fn escape_in_the_switcher_brings_nothing_back() {
    let mut world = TestWorld::new();
    ["a", "b"].iter().for_each(|title| _ = world.open(title, 100, 100));
    minimise(&mut world);
    minimise(&mut world);
    world.key(KEY_LEFT_ALT, true);
    for _ in 0..2 {
        world.key(KEY_TAB, true);
        world.key(KEY_TAB, false);
    }
    world.settle();
    assert!(world.state.shell.overlays().is_switcher_open());
    world.key(KEY_ESCAPE, true);
    world.key(KEY_ESCAPE, false);
    world.key(KEY_LEFT_ALT, false);
    world.settle();
    assert_eq!(focused(&world), None);
    assert!(is_minimised(&world, "a") && is_minimised(&world, "b"));
}

#[test]
fn window_unmaximised_while_minimised_is_restored_as_a_plain_column() {
    let mut world = TestWorld::new();
    tiling::set_mode(&mut world.state, TilingMode::Strip);
    let (client, window) = world.open_at_configured_size("a");
    world.turn();
    window.toplevel.set_maximized();
    world.settle();
    world.turn();
    let states = states_of(&mut world, client).unwrap();
    assert!(states.contains(&(State::Maximized as u32)), "{states:?}");
    minimise(&mut world);
    window.toplevel.unset_maximized();
    world.settle();
    activate(&mut world, "a");
    let states = states_of(&mut world, client).unwrap();
    assert!(!states.contains(&(State::Maximized as u32)), "{states:?}");
}

#[test]
fn dialogs_are_minimised_with_their_parent_also_late_dialogs() {
    let mut world = TestWorld::new();
    world.open("below", 100, 100);
    let parent = world.open("parent", 300, 200);
    let _dialog = dialog(&mut world, &parent, "dialog");
    assert_eq!(focused(&world).as_deref(), Some("dialog"));
    minimise(&mut world);
    assert!(is_minimised(&world, "parent") && is_minimised(&world, "dialog"));
    assert_eq!(focused(&world).as_deref(), Some("below"));
    let _late = dialog(&mut world, &parent, "late");
    assert_eq!((focused(&world).as_deref(), is_visible(&world, "late")), (Some("below"), false));
    activate(&mut world, "dialog");
    assert!(["parent", "dialog", "late"].iter().all(|title| is_visible(&world, title)));
    assert_eq!(focused(&world).as_deref(), Some("dialog"));
}

#[test]
fn minimised_window_that_closes_or_is_unmapped_is_forgotten() {
    let mut world = TestWorld::new();
    let (client, window) = world.open("a", 400, 300);
    let (second, other) = world.open("b", 200, 200);
    minimise(&mut world);
    assert!(is_minimised(&world, "b"));
    // Unmapped and mapped again: for all observers this is a new window.
    other.surface.attach(None, 0, 0);
    other.surface.commit();
    world.settle();
    other.surface.commit();
    world.settle();
    world.client(second).ack_newest_configure();
    world.client(second).commit_buffer(&other.surface, 200, 200);
    world.settle();
    assert_eq!((focused(&world).as_deref(), is_visible(&world, "b")), (Some("b"), true));
    activate(&mut world, "a");
    minimise(&mut world);
    window.toplevel.destroy();
    window.xdg.destroy();
    world.settle();
    world.turn();
    assert_eq!((focused(&world).as_deref(), world.stack()), (Some("b"), vec!["b".to_owned()]));
    world.kill(second);
    world.kill(client);
    assert_eq!(focused(&world), None);
}

#[test]
fn restored_column_has_its_former_place_and_width() {
    let mut world = TestWorld::new();
    tiling::set_mode(&mut world.state, TilingMode::Strip);
    let windows = ["a", "b", "c"].map(|title| {
        let opened = world.open_at_configured_size(title);
        world.turn();
        opened
    });
    let answer = |world: &mut TestWorld| {
        for (client, window) in &windows {
            if let Some(size) = world.client(*client).ack_newest_configure() {
                world.client(*client).commit_buffer(&window.surface, size.0, size.1);
                world.settle();
            }
        }
        world.turn();
    };
    activate(&mut world, "b");
    act(&mut world, "width 25%");
    answer(&mut world);
    let before = ["a", "b", "c"].map(|title| rect(&world, title));
    minimise(&mut world);
    answer(&mut world);
    assert!(["a", "c"].contains(&focused(&world).unwrap().as_str()));
    let (a, c) = (rect(&world, "a"), rect(&world, "c"));
    assert_eq!(c.0, a.0 + a.2 + GAP, "its neighbours close up");
    activate(&mut world, "b");
    answer(&mut world);
    assert_eq!(["a", "b", "c"].map(|title| rect(&world, title)), before);
    // Now "b" is a row of a column.
    activate(&mut world, "c");
    world.chord(&[KEY_LEFT_SUPER], KEY_COMMA);
    world.turn();
    answer(&mut world);
    let before = ["a", "b", "c"].map(|title| rect(&world, title));
    assert_eq!(before[1].0, before[2].0);
    activate(&mut world, "b");
    minimise(&mut world);
    answer(&mut world);
    assert_eq!(rect(&world, "c").1, before[1].1);
    activate(&mut world, "b");
    answer(&mut world);
    assert_eq!(["a", "b", "c"].map(|title| rect(&world, title)), before);
}

#[test]
fn window_above_columns_comes_back_above_them() {
    let mut world = TestWorld::new();
    tiling::set_mode(&mut world.state, TilingMode::Strip);
    let windows = ["a", "b"].map(|title| {
        let opened = world.open_at_configured_size(title);
        world.turn();
        opened
    });
    world.chord(&[KEY_LEFT_SUPER], KEY_V);
    world.turn();
    let (client, window) = &windows[1];
    let size = world.client(*client).ack_newest_configure().unwrap();
    world.client(*client).commit_buffer(&window.surface, size.0, size.1);
    world.settle();
    act(&mut world, "move left");
    let before = (rect(&world, "a"), rect(&world, "b"));
    minimise(&mut world);
    assert_eq!(focused(&world).as_deref(), Some("a"));
    activate(&mut world, "b");
    assert_eq!((rect(&world, "a"), rect(&world, "b")), before);
    assert!(!world.state.shell.is_tile(world.window("b").id));
}

#[test]
fn fullscreen_window_is_minimised_and_fullscreen_again() {
    for mode in [TilingMode::Floating, TilingMode::Strip] {
        let mut world = TestWorld::new();
        tiling::set_mode(&mut world.state, mode);
        let (client, window) = world.open("a", 400, 300);
        world.turn();
        world.chord(&[KEY_LEFT_SUPER], KEY_F);
        world.settle();
        world.turn();
        assert_eq!(world.client(client).ack_newest_configure(), Some(OUTPUT));
        world.client(client).commit_buffer(&window.surface, OUTPUT.0, OUTPUT.1);
        world.settle();
        window.toplevel.set_minimized();
        world.settle();
        world.turn();
        assert_eq!((focused(&world), is_visible(&world, "a")), (None, false), "{mode:?}");
        activate(&mut world, "a");
        assert!(world.window("a").is_fullscreen() && is_visible(&world, "a"), "{mode:?}");
        assert_eq!(rect(&world, "a"), (0, 0, OUTPUT.0, OUTPUT.1), "{mode:?}");
        // It may leave fullscreen while it is minimised.
        window.toplevel.set_minimized();
        window.toplevel.unset_fullscreen();
        world.settle();
        world.turn();
        activate(&mut world, "a");
        let size = world.client(client).ack_newest_configure().unwrap_or(OUTPUT);
        assert_ne!(size, OUTPUT, "{mode:?}");
        // A minimised window that asks for fullscreen is restored.
        window.toplevel.set_minimized();
        window.toplevel.set_fullscreen(None);
        world.settle();
        world.turn();
        assert!(is_visible(&world, "a"), "{mode:?}");
        assert_eq!(world.client(client).ack_newest_configure(), Some(OUTPUT), "{mode:?}");
    }
}

#[test]
fn window_minimised_on_an_unplugged_output_is_restored_on_another_and_returns_with_its_output() {
    for mode in [TilingMode::Floating, TilingMode::Strip] {
        let mut world = TestWorld::new();
        tiling::set_mode(&mut world.state, mode);
        world.plug_in_unplaced("TEST-2", REFRESH);
        world.turn();
        world.open("a", 400, 300);
        world.turn();
        act(&mut world, "move-to-output right");
        assert_eq!(place(&world, "a").0, "TEST-2", "{mode:?}");
        minimise(&mut world);
        world.unplug("TEST-2");
        world.turn();
        assert_eq!((place(&world, "a").0.as_str(), is_minimised(&world, "a")), ("TEST-1", true), "{mode:?}");
        activate(&mut world, "a");
        assert!(is_visible(&world, "a"), "{mode:?}");
        let rect = world.window("a").rect();
        assert!(rect.loc.x >= 0 && rect.loc.x < OUTPUT.0, "{mode:?} {rect:?}");
        minimise(&mut world);
        world.plug_in_unplaced("TEST-2", REFRESH);
        world.turn();
        activate(&mut world, "a");
        assert_eq!((place(&world, "a").0.as_str(), is_visible(&world, "a")), ("TEST-2", true), "{mode:?}");
        let rect = world.window("a").rect();
        assert!(rect.loc.x >= OUTPUT.0, "{mode:?} {rect:?}");
    }
}

#[test]
fn minimised_window_stays_minimised_during_workspace_switches() {
    let mut world = TestWorld::new();
    world.open("a", 400, 300);
    minimise(&mut world);
    world.chord(&[KEY_LEFT_SUPER], KEY_2);
    world.open("b", 400, 300);
    world.chord(&[KEY_LEFT_SUPER], KEY_1);
    assert_eq!((focused(&world), is_visible(&world, "a")), (None, false));
    world.chord(&[KEY_LEFT_SUPER], KEY_2);
    assert_eq!(focused(&world).as_deref(), Some("b"));
    activate(&mut world, "a");
    assert_eq!((focused(&world).as_deref(), is_visible(&world, "a")), (Some("a"), true));
    assert!(!is_visible(&world, "b"), "its workspace is shown");
}

#[test]
fn valid_activation_token_restores_a_minimised_window_and_invalid_token_marks_it_urgent() {
    let mut world = TestWorld::new();
    let (client, window) = world.open("a", 100, 100);
    world.move_window("a", (0, 0));
    world.click(10.0, 10.0);
    world.settle();
    let serial = world.client(client).press_serial();
    world.open("b", 100, 100);
    window.toplevel.set_minimized();
    world.settle();
    activate_with_token(&mut world, client, &window, None);
    assert_eq!((focused(&world).as_deref(), is_minimised(&world, "a")), (Some("b"), true));
    assert!(world.state.shell.workspaces().is_urgent(world.window("a").id));
    activate_with_token(&mut world, client, &window, Some(serial));
    assert_eq!((focused(&world).as_deref(), is_visible(&world, "a")), (Some("a"), true));
}

#[test]
fn window_minimised_while_locked_stays_hidden_after_unlocking() {
    let mut world = lit_world();
    let (_, _below) = world.open_filled("below", SIZE, GREEN);
    let (_, window) = world.open_filled("a", SIZE, RED);
    let corner = ((OUTPUT.0 - SIZE.0) / 2, (OUTPUT.1 - SIZE.1) / 2);
    world.move_window("below", (0, 0));
    world.move_window("a", corner);
    let locker = Locker::lock(&mut world, BLUE);
    window.toplevel.set_minimized();
    world.settle();
    minimise(&mut world);
    world.run_until_idle();
    assert_eq!(world.pixel(MIDDLE.0, MIDDLE.1), BLUE);
    assert!(!is_minimised(&world, "below"), "keys do nothing to it");
    locker.unlock(&mut world);
    assert_eq!((focused(&world).as_deref(), world.pixel(MIDDLE.0, MIDDLE.1)), (Some("below"), BLACK));
}

#[test]
fn dragged_window_is_released_when_it_is_minimised() {
    let mut world = TestWorld::new();
    let (client, window) = world.open("a", 400, 300);
    world.move_window("a", (100, 100));
    world.key(KEY_LEFT_SUPER, true);
    world.point(200.0, 200.0);
    world.button(BUTTON_LEFT, true);
    window.toplevel.set_minimized();
    world.settle();
    world.point(600.0, 400.0);
    world.latch();
    world.button(BUTTON_LEFT, false);
    world.key(KEY_LEFT_SUPER, false);
    activate(&mut world, "a");
    assert_eq!(rect(&world, "a"), (100, 100, 400, 300));
    assert!(!world.client(client).is_disconnected());
}

#[test]
fn minimised_window_fades_out_like_a_closing_window_and_its_snapshot_is_dropped() {
    let mut world = lit_world();
    let style = MotionStyle::Easing { curve: CubicBezier::LINEAR, duration: Span::from_millis(200) };
    let fade = Some(FadeStyle { style, scale: 1.0 });
    world.state.shell.set_animations(AnimationStyles { open: fade, close: fade, ..AnimationStyles::default() });
    let (client, window) = world.open_filled("a", SIZE, RED);
    world.run_until_idle();
    minimise(&mut world);
    assert_eq!(world.state.shell.closing_windows().len(), 1);
    world.run_until_idle();
    assert_eq!((world.state.shell.closing_windows().len(), world.pixel(MIDDLE.0, MIDDLE.1)), (0, BLACK));
    activate(&mut world, "a");
    world.run_until_idle();
    assert_eq!(world.pixel(MIDDLE.0, MIDDLE.1), RED);
    world.client(client).draw(&window.surface, 2, SIZE, BLUE);
    window.surface.commit();
    world.run_until("light", |world| world.client(client).light(2).is_some());
}

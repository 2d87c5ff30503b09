//! Windows that snap when they are dropped at the edges of the screen.

use wayland_protocols::xdg::shell::client::xdg_toplevel::State;

use crate::fixture::content::RED;
use crate::fixture::{
    BUTTON_LEFT, ClientEvent, ClientIndex, KEY_LEFT, KEY_LEFT_SUPER, KEY_RIGHT, OUTPUT, TestToplevel, TestWorld,
};

const KEY_UP: u32 = 103;
const KEY_DOWN: u32 = 108;
const SIZE: (i32, i32) = (400, 300);

/// A session with a window that has acknowledged all configures.
fn with_window() -> (TestWorld, ClientIndex, TestToplevel) {
    let mut world = TestWorld::new();
    let (client, window) = world.open_filled("a", SIZE, RED);
    world.client(client).ack_newest_configure();
    (world, client, window)
}

fn rect(world: &TestWorld) -> (i32, i32, i32, i32) {
    let rect = world.window("a").rect();
    (rect.loc.x, rect.loc.y, rect.size.w, rect.size.h)
}

/// Starts to drag the window by its middle.
fn start_drag(world: &mut TestWorld) {
    let (x, y, width, height) = rect(world);
    world.key(KEY_LEFT_SUPER, true);
    world.point(f64::from(x + width / 2), f64::from(y + height / 2));
    world.button(BUTTON_LEFT, true);
}

fn let_go(world: &mut TestWorld) {
    world.button(BUTTON_LEFT, false);
    world.key(KEY_LEFT_SUPER, false);
}

/// Drags the window to a point and drops it.
fn drag_to(world: &mut TestWorld, (x, y): (i32, i32)) {
    start_drag(world);
    world.point(f64::from(x), f64::from(y));
    world.latch();
    let_go(world);
}

/// The client follows the newest configure. Returns its size and its states.
fn answer(world: &mut TestWorld, client: ClientIndex, window: &TestToplevel) -> ((i32, i32), Vec<u32>) {
    world.settle();
    let mut told = Vec::new();
    for event in world.client(client).events() {
        if let ClientEvent::ToplevelConfigure { states, .. } = event {
            told.clone_from(states);
        }
    }
    let size = world.client(client).ack_newest_configure().unwrap();
    world.client(client).commit_buffer(&window.surface, size.0, size.1);
    world.settle();
    (size, told)
}

fn edges(told: &[u32]) -> [bool; 4] {
    [State::TiledLeft, State::TiledRight, State::TiledTop, State::TiledBottom]
        .map(|state| told.contains(&(state as u32)))
}

#[test]
fn window_dropped_at_an_edge_fills_that_half_and_in_a_corner_a_quarter() {
    let (width, height) = OUTPUT;
    let places = [
        ((0, height / 2), (0, 0, width / 2, height), [true, false, true, true]),
        ((width - 1, height / 2), (width / 2, 0, width / 2, height), [false, true, true, true]),
        ((0, 0), (0, 0, width / 2, height / 2), [true, false, true, false]),
        ((width - 1, height - 1), (width / 2, height / 2, width / 2, height / 2), [false, true, false, true]),
    ];
    for (at, wanted, tiled) in places {
        let (mut world, client, window) = with_window();
        drag_to(&mut world, at);
        let (size, told) = answer(&mut world, client, &window);
        assert_eq!((size, edges(&told)), ((wanted.2, wanted.3), tiled), "{at:?}");
        assert_eq!(rect(&world), wanted, "{at:?}");
    }
}

#[test]
fn window_dropped_at_the_top_is_maximised_and_can_be_restored() {
    let (mut world, client, window) = with_window();
    let before = rect(&world);
    drag_to(&mut world, (OUTPUT.0 / 2, 0));
    assert_eq!(answer(&mut world, client, &window).0, OUTPUT);
    world.chord(&[KEY_LEFT_SUPER], KEY_DOWN);
    assert_eq!(answer(&mut world, client, &window).0, SIZE);
    assert_eq!(rect(&world), before);
}

#[test]
fn snapped_window_dragged_away_has_its_former_size_under_the_pointer() {
    let (mut world, client, window) = with_window();
    drag_to(&mut world, (0, OUTPUT.1 / 2));
    answer(&mut world, client, &window);
    start_drag(&mut world);
    world.point(700.0, 400.0);
    world.latch();
    let (size, told) = answer(&mut world, client, &window);
    assert_eq!((size, edges(&told)), (SIZE, [false; 4]));
    let (x, y, width, height) = rect(&world);
    assert!((x..x + width).contains(&700) && (y..y + height).contains(&400), "{:?}", rect(&world));
    let_go(&mut world);
    assert_eq!(rect(&world), (x, y, width, height));
}

#[test]
fn shortcut_snaps_a_window_to_a_half_and_restores_it() {
    let (mut world, client, window) = with_window();
    let before = rect(&world);
    world.chord(&[KEY_LEFT_SUPER], KEY_RIGHT);
    assert_eq!(answer(&mut world, client, &window).0, (OUTPUT.0 / 2, OUTPUT.1));
    assert_eq!(rect(&world).0, OUTPUT.0 / 2);
    world.chord(&[KEY_LEFT_SUPER], KEY_LEFT);
    let (size, told) = answer(&mut world, client, &window);
    assert_eq!((size, edges(&told)), (SIZE, [false; 4]));
    assert_eq!(rect(&world), before);
}

#[test]
fn second_direction_makes_a_quarter_of_a_half_and_opposite_directions_lead_back() {
    let (mut world, client, window) = with_window();
    let before = rect(&world);
    let (width, height) = (OUTPUT.0 / 2, OUTPUT.1 / 2);
    let steps = [
        (KEY_LEFT, (0, 0, width, OUTPUT.1), [true, false, true, true]),
        (KEY_DOWN, (0, height, width, height), [true, false, false, true]),
        (KEY_UP, (0, 0, width, OUTPUT.1), [true, false, true, true]),
        (KEY_UP, (0, 0, width, height), [true, false, true, false]),
        (KEY_RIGHT, (0, 0, OUTPUT.0, height), [true, true, true, false]),
        (KEY_RIGHT, (width, 0, width, height), [false, true, true, false]),
        (KEY_LEFT, (0, 0, OUTPUT.0, height), [true, true, true, false]),
        (KEY_DOWN, before, [false; 4]),
    ];
    for (step, (key, wanted, tiled)) in steps.into_iter().enumerate() {
        world.chord(&[KEY_LEFT_SUPER], key);
        let (size, told) = answer(&mut world, client, &window);
        assert_eq!((size, edges(&told)), ((wanted.2, wanted.3), tiled), "step {step}");
        assert_eq!(rect(&world), wanted, "step {step}");
    }
    // From a floating window up and down are for maximised windows, as before.
    world.chord(&[KEY_LEFT_SUPER], KEY_UP);
    assert_eq!(answer(&mut world, client, &window).0, OUTPUT);
    world.chord(&[KEY_LEFT_SUPER], KEY_DOWN);
    answer(&mut world, client, &window);
    assert_eq!(rect(&world), before);
}

#[test]
fn repeated_direction_changes_nothing_and_dragging_a_quarter_restores_the_size() {
    let (mut world, client, window) = with_window();
    for key in [KEY_RIGHT, KEY_UP] {
        world.chord(&[KEY_LEFT_SUPER], key);
        answer(&mut world, client, &window);
    }
    let quarter = rect(&world);
    for key in [KEY_RIGHT, KEY_UP] {
        world.chord(&[KEY_LEFT_SUPER], key);
        world.settle();
        assert_eq!(rect(&world), quarter);
    }
    start_drag(&mut world);
    world.point(700.0, 400.0);
    world.latch();
    assert_eq!(answer(&mut world, client, &window).0, SIZE);
    let_go(&mut world);
}

#[test]
fn snap_preview_is_shown_only_while_dragging_at_an_edge() {
    let mut world = TestWorld::rendered();
    let (_, _window) = world.open_filled("a", SIZE, RED);
    let probe = (OUTPUT.0 / 4, OUTPUT.1 / 8);
    world.run_until_idle();
    let bare = world.pixel(probe.0, probe.1);
    start_drag(&mut world);
    world.point(0.0, f64::from(OUTPUT.1) / 2.0);
    world.run_until_idle();
    assert_ne!(world.pixel(probe.0, probe.1), bare);
    world.point(f64::from(OUTPUT.0) / 2.0, f64::from(OUTPUT.1) / 2.0);
    world.run_until_idle();
    assert_eq!(world.pixel(probe.0, probe.1), bare, "it is nowhere near an edge");
    let_go(&mut world);
}

#[test]
fn window_of_fixed_size_does_not_snap() {
    let (mut world, client, window) = with_window();
    window.toplevel.set_min_size(SIZE.0, SIZE.1);
    window.toplevel.set_max_size(SIZE.0, SIZE.1);
    world.client(client).commit_buffer(&window.surface, SIZE.0, SIZE.1);
    world.settle();
    drag_to(&mut world, (0, OUTPUT.1 / 2));
    world.settle();
    assert_eq!(rect(&world), (-SIZE.0 / 2, (OUTPUT.1 - SIZE.1) / 2, SIZE.0, SIZE.1));
}

//! Shortcuts that move and resize a floating window.

use upbeat::shell::tiling::{self, TilingMode};

use crate::fixture::content::RED;
use crate::fixture::{
    ClientIndex, KEY_F, KEY_LEFT, KEY_LEFT_SHIFT, KEY_LEFT_SUPER, KEY_M, KEY_V, OUTPUT, REFRESH, TestToplevel,
    TestWorld,
};

const SIZE: (i32, i32) = (400, 300);
/// One step of a move, and the width of a window that always stays on the screen (logical pixels).
const STEP: i32 = 50;
const REACHABLE: i32 = 48;

fn with_window() -> (TestWorld, ClientIndex, TestToplevel) {
    let mut world = TestWorld::new();
    let (client, window) = world.open_filled("a", SIZE, RED);
    world.client(client).ack_newest_configure();
    (world, client, window)
}

fn act(world: &mut TestWorld, action: &str) {
    upbeat::input::actions::run(&mut world.state, &action.parse().unwrap());
    world.settle();
    world.turn();
}

/// Acknowledges the newest configure, if any, and commits content of its size.
fn ack_and_draw(world: &mut TestWorld, client: ClientIndex, window: &TestToplevel) -> Option<(i32, i32)> {
    let size = world.client(client).ack_newest_configure()?;
    world.client(client).commit_buffer(&window.surface, size.0, size.1);
    world.settle();
    Some(size)
}

fn rect(world: &TestWorld) -> (i32, i32, i32, i32) {
    let rect = world.window("a").rect();
    (rect.loc.x, rect.loc.y, rect.size.w, rect.size.h)
}

#[test]
fn floating_window_moves_by_a_step_and_stays_reachable() {
    let (mut world, client, _window) = with_window();
    let (x, y, width, height) = rect(&world);
    world.chord(&[KEY_LEFT_SUPER, KEY_LEFT_SHIFT], KEY_LEFT);
    assert_eq!(rect(&world), (x - STEP, y, width, height));
    act(&mut world, "move down");
    assert_eq!(rect(&world), (x - STEP, y + STEP, width, height));
    assert_eq!(world.client(client).ack_newest_configure(), None, "a move needs no configure");
    (0..60).for_each(|_| act(&mut world, "move left"));
    assert_eq!(rect(&world).0, REACHABLE - width);
    (0..60).for_each(|_| act(&mut world, "move up"));
    assert_eq!(rect(&world).1, 0, "the top edge stays on the screen");
    (0..60).for_each(|_| act(&mut world, "move right"));
    (0..60).for_each(|_| act(&mut world, "move down"));
    assert_eq!(rect(&world), (OUTPUT.0 - REACHABLE, OUTPUT.1 - REACHABLE, width, height));
}

#[test]
fn floating_window_moves_to_the_next_output() {
    let (mut world, ..) = with_window();
    world.plug_in_unplaced("TEST-2", REFRESH);
    (0..60).for_each(|_| act(&mut world, "move right"));
    assert!(rect(&world).0 > OUTPUT.0, "{:?}", rect(&world));
    let id = world.window("a").id;
    let screen = world.state.shell.workspaces().place(id).unwrap().screen;
    assert_eq!(world.state.shell.workspaces().name(screen), Some("TEST-2"));
}

#[test]
fn width_and_height_of_a_floating_window_change_and_its_corner_stays() {
    let (mut world, client, window) = with_window();
    let corner = (100, 50);
    world.move_window("a", corner);
    let steps = [
        ("width +10%", (SIZE.0 + OUTPUT.0 / 10, SIZE.1)),
        ("height -10%", (SIZE.0 + OUTPUT.0 / 10, SIZE.1 - OUTPUT.1 / 10)),
        ("width 50%", (OUTPUT.0 / 2, SIZE.1 - OUTPUT.1 / 10)),
        ("width next", (OUTPUT.0 * 667 / 1000, SIZE.1 - OUTPUT.1 / 10)),
        ("width next", (OUTPUT.0 * 333 / 1000, SIZE.1 - OUTPUT.1 / 10)),
        ("height next", (OUTPUT.0 * 333 / 1000, OUTPUT.1 / 2)),
    ];
    for (action, size) in steps {
        act(&mut world, action);
        assert_eq!(ack_and_draw(&mut world, client, &window), Some(size), "{action}");
        assert_eq!(rect(&world), (corner.0, corner.1, size.0, size.1), "{action}");
    }
}

#[test]
fn steps_add_up_before_the_client_answers() {
    let (mut world, client, window) = with_window();
    world.move_window("a", (100, 50));
    act(&mut world, "width +10%");
    act(&mut world, "width +10%");
    assert_eq!(ack_and_draw(&mut world, client, &window), Some((SIZE.0 + 2 * (OUTPUT.0 / 10), SIZE.1)));
}

#[test]
fn floating_window_is_no_larger_than_the_screen_and_keeps_within_its_own_limits() {
    let (mut world, client, window) = with_window();
    world.move_window("a", (OUTPUT.0 - SIZE.0, 50));
    act(&mut world, "width 100%");
    assert_eq!(ack_and_draw(&mut world, client, &window), Some((OUTPUT.0, SIZE.1)));
    assert_eq!(rect(&world), (0, 50, OUTPUT.0, SIZE.1), "the window is kept on the screen");
    act(&mut world, "width +10%");
    assert_eq!(ack_and_draw(&mut world, client, &window), None, "there is no more room");
    window.toplevel.set_min_size(300, 200);
    window.toplevel.set_max_size(500, 0);
    world.client(client).commit_buffer(&window.surface, 450, 300);
    world.settle();
    act(&mut world, "width 100%");
    assert_eq!(ack_and_draw(&mut world, client, &window), Some((500, 300)));
    act(&mut world, "width 5%");
    assert_eq!(ack_and_draw(&mut world, client, &window), Some((300, 300)));
    act(&mut world, "height -100%");
    assert_eq!(ack_and_draw(&mut world, client, &window), Some((300, 200)));
}

#[test]
fn next_width_advances_although_the_client_rounds_its_size() {
    let (mut world, client, window) = with_window();
    let mut widths = Vec::new();
    for _ in 0..4 {
        act(&mut world, "width next");
        let (width, height) = world.client(client).ack_newest_configure().unwrap();
        widths.push(width);
        world.client(client).commit_buffer(&window.surface, width - 7, height);
        world.settle();
    }
    let share = |part: i32| OUTPUT.0 * part / 1000;
    assert_eq!(widths, [share(500), share(667), share(333), share(500)]);
}

#[test]
fn move_and_size_shortcuts_leave_a_maximised_or_fullscreen_window() {
    for key in [KEY_M, KEY_F] {
        let (mut world, client, window) = with_window();
        world.chord(&[KEY_LEFT_SUPER], key);
        world.settle();
        assert_eq!(ack_and_draw(&mut world, client, &window), Some(OUTPUT));
        ["move left", "width 50%", "height -10%", "width next"].iter().for_each(|action| act(&mut world, action));
        assert_eq!((ack_and_draw(&mut world, client, &window), rect(&world)), (None, (0, 0, OUTPUT.0, OUTPUT.1)));
    }
}

#[test]
fn half_tiled_window_is_released_by_move_and_width_shortcuts() {
    let (mut world, client, window) = with_window();
    act(&mut world, "left");
    assert_eq!(ack_and_draw(&mut world, client, &window), Some((OUTPUT.0 / 2, OUTPUT.1)));
    act(&mut world, "width +10%");
    assert_eq!(ack_and_draw(&mut world, client, &window), Some((OUTPUT.0 / 2 + OUTPUT.0 / 10, OUTPUT.1)));
    act(&mut world, "left");
    ack_and_draw(&mut world, client, &window);
    act(&mut world, "move right");
    assert_eq!(ack_and_draw(&mut world, client, &window), Some((OUTPUT.0 / 2 + OUTPUT.0 / 10, OUTPUT.1)));
    assert_eq!((rect(&world).0, rect(&world).2), (STEP, OUTPUT.0 / 2 + OUTPUT.0 / 10), "its size is restored");
}

#[test]
fn floating_window_above_columns_moves_and_resizes_without_changing_them() {
    let mut world = TestWorld::new();
    tiling::set_mode(&mut world.state, TilingMode::Strip);
    world.open_at_configured_size("b");
    let (client, window) = world.open_at_configured_size("a");
    world.chord(&[KEY_LEFT_SUPER], KEY_V);
    world.turn();
    ack_and_draw(&mut world, client, &window);
    let (column, before) = (world.window("b").rect(), rect(&world));
    act(&mut world, "move left");
    assert_eq!(rect(&world), (before.0 - STEP, before.1, before.2, before.3));
    act(&mut world, "width 25%");
    assert_eq!(ack_and_draw(&mut world, client, &window), Some((OUTPUT.0 / 4, before.3)));
    world.turn();
    assert_eq!(rect(&world), (before.0 - STEP, before.1, OUTPUT.0 / 4, before.3));
    assert_eq!(world.window("b").rect(), column);
    // In a strip again, `move left` moves the window's column.
    world.chord(&[KEY_LEFT_SUPER], KEY_V);
    world.turn();
    ack_and_draw(&mut world, client, &window);
    act(&mut world, "move left");
    assert!(rect(&world).0 < world.window("b").rect().loc.x);
}

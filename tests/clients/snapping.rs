//! Windows that snap when they are dropped at the edges of the screen.

use wayland_protocols::xdg::shell::client::xdg_toplevel::State;

use crate::fixture::content::RED;
use crate::fixture::{BUTTON_LEFT, ClientIndex, Event, KEY_LEFT_SUPER, KEY_RIGHT, OUTPUT, Toplevel, World};

const KEY_DOWN: u32 = 108;
const SIZE: (i32, i32) = (400, 300);

/// A session with a window that has acknowledged all configures.
fn with_window() -> (World, ClientIndex, Toplevel) {
    let mut world = World::new();
    let (client, window) = world.open_filled("a", SIZE, RED);
    world.client(client).answer_newest();
    (world, client, window)
}

fn rect(world: &World) -> (i32, i32, i32, i32) {
    let rect = world.window("a").rect();
    (rect.loc.x, rect.loc.y, rect.size.w, rect.size.h)
}

/// Starts to drag the window by its middle.
fn take(world: &mut World) {
    let (x, y, width, height) = rect(world);
    world.key(KEY_LEFT_SUPER, true);
    world.point(f64::from(x + width / 2), f64::from(y + height / 2));
    world.button(BUTTON_LEFT, true);
}

fn let_go(world: &mut World) {
    world.button(BUTTON_LEFT, false);
    world.key(KEY_LEFT_SUPER, false);
}

/// Drags the window to a point and drops it.
fn drag_to(world: &mut World, (x, y): (i32, i32)) {
    take(world);
    world.point(f64::from(x), f64::from(y));
    world.latch();
    let_go(world);
}

/// The client follows the newest configure. Returns its size and its states.
fn answer(world: &mut World, client: ClientIndex, window: &Toplevel) -> ((i32, i32), Vec<u32>) {
    world.settle();
    let mut told = Vec::new();
    for event in world.client(client).events() {
        if let Event::ToplevelConfigure { states, .. } = event {
            told.clone_from(states);
        }
    }
    let size = world.client(client).answer_newest().unwrap();
    world.client(client).show(&window.surface, size.0, size.1);
    world.settle();
    (size, told)
}

fn edges(told: &[u32]) -> [bool; 4] {
    [State::TiledLeft, State::TiledRight, State::TiledTop, State::TiledBottom]
        .map(|state| told.contains(&(state as u32)))
}

#[test]
fn a_window_let_go_at_an_edge_gets_that_half_and_in_a_corner_a_quarter() {
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
fn at_the_top_it_fills_the_screen_and_comes_back_to_where_it_was() {
    let (mut world, client, window) = with_window();
    let before = rect(&world);
    drag_to(&mut world, (OUTPUT.0 / 2, 0));
    assert_eq!(answer(&mut world, client, &window).0, OUTPUT);
    world.chord(&[KEY_LEFT_SUPER], KEY_DOWN);
    assert_eq!(answer(&mut world, client, &window).0, SIZE);
    assert_eq!(rect(&world), before);
}

#[test]
fn dragged_away_it_is_as_large_as_before_and_under_the_pointer() {
    let (mut world, client, window) = with_window();
    drag_to(&mut world, (0, OUTPUT.1 / 2));
    answer(&mut world, client, &window);
    take(&mut world);
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
fn by_key_it_goes_to_a_half_and_back_to_where_it_was() {
    let (mut world, client, window) = with_window();
    let before = rect(&world);
    world.chord(&[KEY_LEFT_SUPER], KEY_RIGHT);
    assert_eq!(answer(&mut world, client, &window).0, (OUTPUT.0 / 2, OUTPUT.1));
    assert_eq!(rect(&world).0, OUTPUT.0 / 2);
    world.chord(&[KEY_LEFT_SUPER], KEY_DOWN);
    let (size, told) = answer(&mut world, client, &window);
    assert_eq!((size, edges(&told)), (SIZE, [false; 4]));
    assert_eq!(rect(&world), before);
}

#[test]
fn where_it_would_go_is_seen_while_it_is_held_there_and_not_after() {
    let mut world = World::lit();
    let (_, _window) = world.open_filled("a", SIZE, RED);
    let probe = (OUTPUT.0 / 4, OUTPUT.1 / 8);
    world.rest();
    let bare = world.pixel(probe.0, probe.1);
    take(&mut world);
    world.point(0.0, f64::from(OUTPUT.1) / 2.0);
    world.rest();
    assert_ne!(world.pixel(probe.0, probe.1), bare);
    world.point(f64::from(OUTPUT.0) / 2.0, f64::from(OUTPUT.1) / 2.0);
    world.rest();
    assert_eq!(world.pixel(probe.0, probe.1), bare, "it is nowhere near an edge");
    let_go(&mut world);
}

#[test]
fn a_window_of_one_size_goes_where_it_is_put() {
    let (mut world, client, window) = with_window();
    window.toplevel.set_min_size(SIZE.0, SIZE.1);
    window.toplevel.set_max_size(SIZE.0, SIZE.1);
    world.client(client).show(&window.surface, SIZE.0, SIZE.1);
    world.settle();
    drag_to(&mut world, (0, OUTPUT.1 / 2));
    world.settle();
    assert_eq!(rect(&world), (-SIZE.0 / 2, (OUTPUT.1 - SIZE.1) / 2, SIZE.0, SIZE.1));
}

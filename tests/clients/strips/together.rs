//! Resizes of several columns in one frame, and clients that disturb the layout.

use upbeat::render::Renderer;
use upbeat::shell::effects::{Effects, Mark};
use upbeat::shell::strips::{self, Mode, TITLES};

use super::{GAP, HALF, SECOND, answer, left, open, press, rect, world};
use crate::fixture::content::{BLUE, GREEN, RED};
use crate::fixture::{KEY_COMMA, KEY_LEFT, KEY_LEFT_SUPER, OUTPUT, World};

const KEY_R: u32 = 19;

#[test]
fn windows_that_are_resized_together_change_in_one_frame_whoever_has_answered() {
    let mut world = World::lit();
    world.state.outputs.set_background([0.0; 3]);
    strips::set_mode(&mut world.state, Mode::Strip);
    let mut clients = Vec::new();
    for (title, colour) in [("a", RED), ("b", GREEN)] {
        clients.push(world.open_filled_as_asked(title, colour));
    }
    world.rest();
    let (inner, outer) = (SECOND + 20, OUTPUT.0 - GAP - 10);
    assert_eq!([GAP + 10, inner, outer].map(|x| world.pixel(x, 300)), [RED, GREEN, GREEN]);
    // The second column becomes wider. One frame later all windows have their new places, before any client answered.
    world.chord(&[KEY_LEFT_SUPER], KEY_R);
    let frames = world.state.outputs.states().next().unwrap().records().iter().count();
    world.rest();
    let wider = rect(&world, "b");
    assert!(wider.2 > HALF.0 && wider.0 + wider.2 == OUTPUT.0 - GAP);
    assert_eq!(
        [wider.0 + 3, outer, wider.0 - GAP / 2, wider.0 - GAP - 3].map(|x| world.pixel(x, 300)),
        [GREEN, GREEN, 0, RED]
    );
    assert_eq!(world.state.outputs.states().next().unwrap().records().iter().count(), frames + 1);
    // The client answers, and no window moves.
    let (client, window) = &clients[1];
    let size = world.client(*client).answer_newest().unwrap();
    assert_eq!(size, (wider.2, wider.3));
    world.client(*client).draw(&window.surface, 2, size, BLUE);
    window.surface.commit();
    world.settle();
    world.rest();
    assert_eq!((rect(&world, "b"), world.pixel(outer, 300)), (wider, BLUE));
}

#[test]
fn a_client_that_ignores_sizes_moves_nobody() {
    let mut world = world();
    let (client, window) = world.open("stubborn", 300, 200);
    world.turn();
    let b = open(&mut world, "b");
    assert_eq!((left(&world, "stubborn"), left(&world, "b")), (GAP, SECOND));
    world.client(b.0).answer_newest();
    for (width, height) in [(2000, 1500), (10, 10)] {
        world.client(client).answer_newest();
        world.client(client).show(&window.surface, width, height);
        world.settle();
        world.turn();
        assert_eq!((left(&world, "stubborn"), rect(&world, "b")), (GAP, (SECOND, GAP, HALF.0, HALF.1)));
    }
    assert_eq!(answer(&mut world, &b), None);
}

#[test]
fn a_client_that_changes_its_limits_in_a_loop_is_arranged_once_in_a_turn() {
    let mut world = world();
    let (client, window) = open(&mut world, "a");
    let b = open(&mut world, "b");
    world.client(b.0).take_events();
    for round in 0..200 {
        window.toplevel.set_min_size(if round % 2 == 0 { 900 } else { 10 }, 0);
        window.surface.commit();
    }
    world.settle();
    world.turn();
    assert!(world.client(client).take_events().len() < 10);
    assert_eq!(rect(&world, "a").2, HALF.0);
    window.toplevel.set_min_size(3000, 3000);
    window.surface.commit();
    world.settle();
    world.turn();
    assert_eq!((rect(&world, "a").2, rect(&world, "b").2), (3000, HALF.0));
}

/// Columns beside the column that asks for another width in every turn.
const MANY: usize = 60;
/// Turns in which a client asks for another width.
pub const TURNS: u64 = 300;

/// Number of layout passes while a client asks for another width in each of [`TURNS`] turns. In real time, because the
/// pause between two passes follows from the time that a pass takes.
pub fn arrangements_of_changing_wishes() -> u64 {
    let mut world = World::in_real_time(Renderer::pixman().unwrap());
    strips::set_mode(&mut world.state, Mode::Strip);
    let (client, window) = open(&mut world, "a");
    for number in 0..MANY {
        open(&mut world, &format!("column {number}"));
    }
    let before = world.state.shell.strips().arrangements();
    for round in 0..TURNS {
        window.toplevel.set_min_size(900 + round as i32 % 2, 0);
        window.surface.commit();
        world.turn();
    }
    let arrangements = world.state.shell.strips().arrangements() - before;
    assert!(!world.client(client).is_gone(), "{}", world.client(client).said());
    world.until("the newest requested width", |world| rect(world, "a").2 == 901);
    arrangements
}

#[test]
fn a_client_with_another_wish_in_every_turn_gets_its_newest_one() {
    assert!(arrangements_of_changing_wishes() <= TURNS);
}

#[test]
fn while_nothing_changes_nobody_is_looked_at_and_content_alone_arranges_nothing() {
    let mut world = World::lit();
    strips::set_mode(&mut world.state, Mode::Strip);
    let (client, window) = world.open_filled_as_asked("a", RED);
    world.rest();
    let count = |world: &World| {
        let output = world.state.outputs.states().next().unwrap();
        (output.arrangement(), world.state.shell.changes())
    };
    let before = count(&world);
    for number in 2..12 {
        world.client(client).draw(&window.surface, number, HALF, if number % 2 == 0 { GREEN } else { BLUE });
        window.surface.commit();
        world.rest();
    }
    assert_eq!(count(&world), before);
}

#[test]
fn a_column_of_windows_that_cannot_be_so_small_shows_one_of_them() {
    let mut world = world();
    for title in ["a", "b"] {
        let (_, window) = open(&mut world, title);
        window.toplevel.set_min_size(100, 500);
        window.surface.commit();
        world.settle();
    }
    world.turn();
    press(&mut world, KEY_COMMA);
    let left = HALF.1 - TITLES;
    assert_eq!((rect(&world, "a").3, rect(&world, "b").3), (left, left), "the height that their tabs leave");
    let seen = |world: &World, title| world.state.shell.is_visible(world.window(title).id);
    assert!(!seen(&world, "a") && seen(&world, "b"));
    press(&mut world, KEY_LEFT);
    assert_eq!(world.focused().as_deref(), Some("b"), "there is no column further left");
}

#[test]
fn the_window_with_the_focus_has_an_edge_that_covers_nobody() {
    const MARK: u32 = 0x00ff_ffff;
    let mut world = World::lit();
    world.state.outputs.set_background([0.0; 3]);
    world.state.shell.set_effects(Effects {
        mark: Some(Mark { width: 2.0, colour: Some([1.0; 4]), urgent: [0.0; 4] }),
        ..Effects::default()
    });
    strips::set_mode(&mut world.state, Mode::Strip);
    for (title, colour) in [("a", RED), ("b", GREEN)] {
        world.open_filled_as_asked(title, colour);
    }
    world.rest();
    let around = |world: &World, left: i32| [left - 3, left - 2, left - 1, left].map(|x| world.pixel(x, 300));
    assert_eq!((around(&world, GAP), around(&world, SECOND)), ([0, 0, 0, RED], [0, MARK, MARK, GREEN]));
    world.chord(&[KEY_LEFT_SUPER], KEY_LEFT);
    world.rest();
    assert_eq!((around(&world, GAP), around(&world, SECOND)), ([0, MARK, MARK, RED], [0, 0, 0, GREEN]));
}

//! Resizes of several columns in one frame, and clients that disturb the layout.

use upbeat::render::Renderer;
use upbeat::shell::effects::{BorderStyle, WindowEffects};
use upbeat::shell::tiling::{self, TITLES, TilingMode};

use super::{GAP, HALF, SECOND, answer, left, open, press, rect, world};
use crate::fixture::content::{BLUE, GREEN, RED};
use crate::fixture::{KEY_COMMA, KEY_LEFT, KEY_LEFT_SUPER, OUTPUT, TestWorld};

const KEY_R: u32 = 19;

#[test]
fn columns_resized_together_change_in_one_frame_before_any_client_answers() {
    let mut world = TestWorld::rendered();
    world.state.outputs.set_background([0.0; 3]);
    tiling::set_mode(&mut world.state, TilingMode::Strip);
    let mut clients = Vec::new();
    for (title, colour) in [("a", RED), ("b", GREEN)] {
        clients.push(world.open_filled_at_configured_size(title, colour));
    }
    world.run_until_idle();
    let (inner, outer) = (SECOND + 20, OUTPUT.0 - GAP - 10);
    assert_eq!([GAP + 10, inner, outer].map(|x| world.pixel(x, 300)), [RED, GREEN, GREEN]);
    // The second column becomes wider. One frame later all windows have their new places, before any client answered.
    world.chord(&[KEY_LEFT_SUPER], KEY_R);
    let frames = world.state.outputs.states().next().unwrap().records().iter().count();
    world.run_until_idle();
    let wider = rect(&world, "b");
    assert!(wider.2 > HALF.0 && wider.0 + wider.2 == OUTPUT.0 - GAP);
    assert_eq!(
        [wider.0 + 3, outer, wider.0 - GAP / 2, wider.0 - GAP - 3].map(|x| world.pixel(x, 300)),
        [GREEN, GREEN, 0, RED]
    );
    assert_eq!(world.state.outputs.states().next().unwrap().records().iter().count(), frames + 1);
    // The client answers, and no window moves.
    let (client, window) = &clients[1];
    let size = world.client(*client).ack_newest_configure().unwrap();
    assert_eq!(size, (wider.2, wider.3));
    world.client(*client).draw(&window.surface, 2, size, BLUE);
    window.surface.commit();
    world.settle();
    world.run_until_idle();
    assert_eq!((rect(&world, "b"), world.pixel(outer, 300)), (wider, BLUE));
}

#[test]
fn client_that_ignores_its_size_moves_no_other_window() {
    let mut world = world();
    let (client, window) = world.open("stubborn", 300, 200);
    world.turn();
    let b = open(&mut world, "b");
    assert_eq!((left(&world, "stubborn"), left(&world, "b")), (GAP, SECOND));
    world.client(b.0).ack_newest_configure();
    for (width, height) in [(2000, 1500), (10, 10)] {
        world.client(client).ack_newest_configure();
        world.client(client).commit_buffer(&window.surface, width, height);
        world.settle();
        world.turn();
        assert_eq!((left(&world, "stubborn"), rect(&world, "b")), (GAP, (SECOND, GAP, HALF.0, HALF.1)));
    }
    assert_eq!(answer(&mut world, &b), None);
}

#[test]
fn size_limits_changed_in_a_loop_cause_one_layout_pass_a_turn() {
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
    let mut world = TestWorld::in_real_time(Renderer::pixman().unwrap());
    tiling::set_mode(&mut world.state, TilingMode::Strip);
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
    assert!(!world.client(client).is_disconnected(), "{}", world.client(client).error_message());
    world.run_until("the newest requested width", |world| rect(world, "a").2 == 901);
    arrangements
}

#[test]
fn client_that_requests_a_new_width_each_turn_gets_the_newest() {
    assert!(arrangements_of_changing_wishes() <= TURNS);
}

#[test]
fn idle_strip_causes_no_layout_pass_and_neither_does_content() {
    let mut world = TestWorld::rendered();
    tiling::set_mode(&mut world.state, TilingMode::Strip);
    let (client, window) = world.open_filled_at_configured_size("a", RED);
    world.run_until_idle();
    let count = |world: &TestWorld| {
        let output = world.state.outputs.states().next().unwrap();
        (output.arrangement(), world.state.shell.changes())
    };
    let before = count(&world);
    for number in 2..12 {
        world.client(client).draw(&window.surface, number, HALF, if number % 2 == 0 { GREEN } else { BLUE });
        window.surface.commit();
        world.run_until_idle();
    }
    assert_eq!(count(&world), before);
}

#[test]
fn column_too_low_for_the_minimum_heights_shows_one_window() {
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
    let seen = |world: &TestWorld, title| world.state.shell.is_visible(world.window(title).id);
    assert!(!seen(&world, "a") && seen(&world, "b"));
    press(&mut world, KEY_LEFT);
    assert_eq!(world.focused().as_deref(), Some("b"), "there is no column further left");
}

#[test]
fn focus_border_covers_no_other_window() {
    const MARK: u32 = 0x00ff_ffff;
    let mut world = TestWorld::rendered();
    world.state.outputs.set_background([0.0; 3]);
    world.state.shell.set_effects(WindowEffects {
        border: Some(BorderStyle { width: 2.0, colour: Some([1.0; 4]), urgent: [0.0; 4] }),
        ..WindowEffects::default()
    });
    tiling::set_mode(&mut world.state, TilingMode::Strip);
    for (title, colour) in [("a", RED), ("b", GREEN)] {
        world.open_filled_at_configured_size(title, colour);
    }
    world.run_until_idle();
    let around = |world: &TestWorld, left: i32| [left - 3, left - 2, left - 1, left].map(|x| world.pixel(x, 300));
    assert_eq!((around(&world, GAP), around(&world, SECOND)), ([0, 0, 0, RED], [0, MARK, MARK, GREEN]));
    world.chord(&[KEY_LEFT_SUPER], KEY_LEFT);
    world.run_until_idle();
    assert_eq!((around(&world, GAP), around(&world, SECOND)), ([0, MARK, MARK, RED], [0, 0, 0, GREEN]));
}

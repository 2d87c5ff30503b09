//! Work of each turn: it must not grow with the product of client objects and visible surfaces.

use std::time::Duration;

use crate::fixture::content::{BLUE, RED};
use crate::fixture::{ClientIndex, TestToplevel, TestWorld};
use crate::idle;
use crate::recordings::RecordingClient;
use crate::timed::cpu;
use crate::timed_figure::Noise;

/// Number of visible subsurfaces of a window.
const PARTS: i32 = 400;
/// Number of objects, of kinds of which a client may have a few hundred.
const MANY: usize = 200;
/// Allowed cost of a turn with [`MANY`] objects, as a multiple of a turn with one. A walk over all visible surfaces for
/// each object makes it a hundred.
const MOST: u32 = 10;

/// A window with many subsurfaces, none of which takes input, and the pointer above it.
fn crowded() -> (TestWorld, ClientIndex, TestToplevel) {
    let mut world = TestWorld::rendered();
    let (client, window) = world.open_filled("many", (400, 300), RED);
    let nothing = {
        let client = world.client(client);
        client.globals().compositor.create_region(&client.handle(), ())
    };
    for number in 0..PARTS {
        let (part, role) = world.client(client).subsurface(&window.surface);
        role.set_desync();
        role.set_position(number % 40 * 10, number / 40 * 10);
        part.set_input_region(Some(&nothing));
        world.client(client).draw(&part, 2, (4, 4), BLUE);
        part.commit();
    }
    window.surface.commit();
    world.run_until_idle();
    let corner = world.window("many").rect().loc.to_f64();
    world.point(corner.x + 200.0, corner.y + 150.0);
    world.run_until_idle();
    (world, client, window)
}

/// CPU time of a turn in which nothing happens.
fn idle_turn_time(world: &mut TestWorld) -> Duration {
    world.run_until_idle();
    let turns = (0..20).map(|_| {
        let start = cpu();
        upbeat::session::turn::run(&mut world.state);
        cpu() - start
    });
    turns.min().unwrap()
}

/// Checks that a turn takes about as long with many objects from `make` as with one.
#[track_caller]
fn assert_turn_time_independent(world: &mut TestWorld, mut make: impl FnMut(&mut TestWorld)) {
    let noise = Noise::begin();
    make(world);
    world.settle();
    let one = idle_turn_time(world);
    (1..MANY).for_each(|_| make(world));
    world.settle();
    let many = idle_turn_time(world);
    noise.judge(many < one * MOST, format_args!("a turn takes {one:?} with one, {many:?} with {MANY}"));
}

#[test]
#[ignore = "timed: ./up measure"]
fn turn_time_is_independent_of_hidden_idle_inhibitors() {
    let (mut world, client, _) = crowded();
    let waits = world.connect();
    idle::notification(&mut world, waits);
    assert_turn_time_independent(&mut world, |world| {
        let surface = world.client(client).surface();
        idle::inhibitor(world, client, &surface);
    });
}

/// CPU time of a turn that looks the rules up again, after `more` surfaces with predicted input were added.
fn rule_lookup_time(world: &mut TestWorld, client: ClientIndex, more: usize) -> Duration {
    for _ in 0..more {
        let surface = world.client(client).surface();
        world.client(client).predicted_input(&surface);
    }
    world.run_until_idle();
    let turns = (0..20).map(|_| {
        world.state.outputs.rules_mut().mark_all_stale();
        let start = cpu();
        upbeat::session::turn::run(&mut world.state);
        cpu() - start
    });
    turns.min().unwrap()
}

#[test]
#[ignore = "timed: ./up measure"]
fn turn_time_is_independent_of_predicted_input_objects() {
    let noise = Noise::begin();
    let (mut world, client, _) = crowded();
    let (one, many) = (rule_lookup_time(&mut world, client, 1), rule_lookup_time(&mut world, client, MANY - 1));
    noise.judge(many < one * MOST, format_args!("a turn takes {one:?} with one, {many:?} with {MANY}"));
}

#[test]
#[ignore = "timed: ./up measure"]
fn turn_time_is_independent_of_cursor_sessions() {
    let (mut world, ..) = crowded();
    let camera = RecordingClient::new(&mut world);
    let source = camera.window(&mut world, 0);
    assert_turn_time_independent(&mut world, |world| {
        let client = world.client(camera.client);
        let pointer = client.globals().pointer().clone();
        camera.manager.create_pointer_cursor_session(&source, &pointer, &client.handle(), ());
    });
}

/// CPU time to create and commit `count` subsurfaces of a window that was not committed yet.
fn early_subsurface_time(count: usize) -> Duration {
    let mut world = TestWorld::new();
    let client = world.connect();
    let window = world.client(client).toplevel("late");
    world.settle();
    let start = cpu();
    for made in 0..count {
        let (part, role) = world.client(client).subsurface(&window.surface);
        role.set_desync();
        part.commit();
        if made % 32 == 0 {
            world.deliver_once();
        }
    }
    world.settle();
    assert_eq!(world.state.surfaces.iter().count(), count + 1);
    cpu() - start
}

#[test]
#[ignore = "timed: ./up measure"]
fn early_subsurface_commits_take_linear_time() {
    // If each subsurface walks over all the others, four times as many take sixteen times as long.
    let noise = Noise::begin();
    let quickest = |count| (0..3).map(|_| early_subsurface_time(count)).min().unwrap();
    let (few, many) = (quickest(250), quickest(1_000));
    noise.judge(many < few * 9, format_args!("early parts: {few:?} for 250, {many:?} for 1000"));
}

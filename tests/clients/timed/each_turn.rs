//! Work of each turn: it must not grow with the product of client objects and visible surfaces.

use std::time::Duration;

use crate::fixture::content::{BLUE, RED};
use crate::fixture::{ClientIndex, Toplevel, World};
use crate::idle;
use crate::recordings::Camera;
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
fn crowded() -> (World, ClientIndex, Toplevel) {
    let mut world = World::lit();
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
    world.rest();
    let corner = world.window("many").rect().loc.to_f64();
    world.point(corner.x + 200.0, corner.y + 150.0);
    world.rest();
    (world, client, window)
}

/// CPU time of a turn in which nothing happens.
fn turn(world: &mut World) -> Duration {
    world.rest();
    let turns = (0..20).map(|_| {
        let start = cpu();
        upbeat::session::turn::run(&mut world.state);
        cpu() - start
    });
    turns.min().unwrap()
}

/// Checks that a turn takes about as long with many objects from `make` as with one.
#[track_caller]
fn is_not_longer(world: &mut World, mut make: impl FnMut(&mut World)) {
    let noise = Noise::begin();
    make(world);
    world.settle();
    let one = turn(world);
    (1..MANY).for_each(|_| make(world));
    world.settle();
    let many = turn(world);
    noise.judge(many < one * MOST, format_args!("a turn takes {one:?} with one, {many:?} with {MANY}"));
}

#[test]
#[ignore = "timed: ./up measure"]
fn surfaces_that_keep_the_screen_on_and_that_nobody_sees() {
    let (mut world, client, _) = crowded();
    let waits = world.connect();
    idle::notification(&mut world, waits);
    is_not_longer(&mut world, |world| {
        let surface = world.client(client).surface();
        idle::inhibitor(world, client, &surface);
    });
}

/// CPU time of a turn that looks the rules up again, after `more` surfaces with predicted input were added.
fn looks_up(world: &mut World, client: ClientIndex, more: usize) -> Duration {
    for _ in 0..more {
        let surface = world.client(client).surface();
        world.client(client).predicted_input(&surface);
    }
    world.rest();
    let turns = (0..20).map(|_| {
        world.state.outputs.rules_mut().changed();
        let start = cpu();
        upbeat::session::turn::run(&mut world.state);
        cpu() - start
    });
    turns.min().unwrap()
}

#[test]
#[ignore = "timed: ./up measure"]
fn surfaces_that_are_told_where_devices_will_be_while_others_appear() {
    let noise = Noise::begin();
    let (mut world, client, _) = crowded();
    let (one, many) = (looks_up(&mut world, client, 1), looks_up(&mut world, client, MANY - 1));
    noise.judge(many < one * MOST, format_args!("a turn takes {one:?} with one, {many:?} with {MANY}"));
}

#[test]
#[ignore = "timed: ./up measure"]
fn recordings_of_the_cursor_above_a_window() {
    let (mut world, ..) = crowded();
    let camera = Camera::new(&mut world);
    let source = camera.window(&mut world, 0);
    is_not_longer(&mut world, |world| {
        let client = world.client(camera.client);
        let pointer = client.globals().pointer().clone();
        camera.manager.create_pointer_cursor_session(&source, &pointer, &client.handle(), ());
    });
}

/// CPU time to create and commit `count` subsurfaces of a window that was not committed yet.
fn early_parts(count: usize) -> Duration {
    let mut world = World::new();
    let client = world.connect();
    let window = world.client(client).toplevel("late");
    world.settle();
    let start = cpu();
    for made in 0..count {
        let (part, role) = world.client(client).subsurface(&window.surface);
        role.set_desync();
        part.commit();
        if made % 32 == 0 {
            world.carry_once();
        }
    }
    world.settle();
    assert_eq!(world.state.surfaces.iter().count(), count + 1);
    cpu() - start
}

#[test]
#[ignore = "timed: ./up measure"]
fn parts_of_a_window_that_are_committed_before_it_cost_as_much_as_they_are() {
    // If each subsurface walks over all the others, four times as many take sixteen times as long.
    let noise = Noise::begin();
    let quickest = |count| (0..3).map(|_| early_parts(count)).min().unwrap();
    let (few, many) = (quickest(250), quickest(1_000));
    noise.judge(many < few * 9, format_args!("early parts: {few:?} for 250, {many:?} for 1000"));
}

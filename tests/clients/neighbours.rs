//! Cost of one window's frames beside resting windows: no extra work for the resting windows.

use upbeat::output::OutputState;
use upbeat::shell;
use upbeat_timing::time::Span;

use crate::fixture::World;
use crate::fixture::content::{BLUE, GREEN, RED};
use crate::fixture::making::SMALL;
use crate::fixture::simulated::nothing;

/// Number of windows that rest.
const NEIGHBOURS: usize = 60;
/// Frames of the animated window.
const FRAMES: u32 = 20;
/// Surfaces that may be awake: the animated surface, and a surface that was checked recently.
const MOST_AWAKE: usize = 2;

fn output(world: &World) -> &OutputState {
    world.state.outputs.states().next().unwrap()
}

#[test]
fn a_window_that_animates_wakes_none_of_those_that_rest_and_nothing_is_arranged_for_it() {
    let mut world = World::lit();
    let size = (120, 80);
    for number in 0..NEIGHBOURS {
        world.open_filled(&format!("resting {number}"), size, BLUE);
    }
    let (client, window) = world.open_filled("animated", size, RED);
    // Each got a callback and had nothing to draw.
    world.until("no surface counts as drawing", |world| world.state.surfaces.awake().count() == 0);
    let arranged = output(&world).arrangement();
    let latches = output(&world).latches();
    for number in 2..FRAMES + 2 {
        let animated = world.client(client);
        animated.draw(&window.surface, number, size, if number % 2 == 0 { GREEN } else { RED });
        window.surface.commit();
        world.until("it is shown", |world| world.client(client).light(number).is_some());
        let awake = world.state.surfaces.awake().count();
        assert!(awake <= MOST_AWAKE, "{awake} surfaces are awake at frame {number}");
    }
    assert!(output(&world).latches() >= latches + u64::from(FRAMES));
    assert_eq!(output(&world).arrangement(), arranged, "an unchanged scene was arranged again");
}

#[test]
fn whatever_says_what_is_seen_where_has_the_scene_arranged_anew() {
    let mut world = World::lit();
    let (client, first) = world.open_filled("first", (200, 100), RED);
    world.open_filled("second", (200, 100), BLUE);
    world.rest();
    let mut arranged = output(&world).arrangement();
    let mut is_arranged_anew = |world: &mut World, what: &str| {
        world.rest();
        let before = std::mem::replace(&mut arranged, output(world).arrangement());
        assert!(arranged != before, "{what} changed nothing");
    };
    // The size changes.
    world.client(client).draw(&first.surface, 2, (240, 100), GREEN);
    first.surface.commit();
    is_arranged_anew(&mut world, "a size");
    // A subsurface appears, moves and vanishes with its parent's commits.
    let (child, role) = world.client(client).subsurface(&first.surface);
    role.set_desync();
    world.client(client).draw(&child, 3, (20, 20), BLUE);
    child.commit();
    first.surface.commit();
    is_arranged_anew(&mut world, "a subsurface");
    role.set_position(40, 30);
    first.surface.commit();
    is_arranged_anew(&mut world, "a place");
    role.destroy();
    is_arranged_anew(&mut world, "a subsurface that goes");
    // The window is unmapped.
    first.surface.attach(None, 0, 0);
    first.surface.commit();
    is_arranged_anew(&mut world, "a window that goes");
}

#[test]
fn content_that_nobody_will_see_is_not_kept_in_mind_for_ever() {
    let mut world = World::simulated(&[60_000]);
    let (client, hidden) = world.open_filled("hidden", SMALL, BLUE);
    world.open_filled("above", SMALL, RED);
    world.rest();
    // This commit asks for no callback.
    hidden.surface.attach(Some(&world.client(client).solid(2, SMALL.0, SMALL.1, GREEN)), 0, 0);
    hidden.surface.commit();
    world.run_for(Span::from_seconds(3), &mut nothing);
    assert_eq!(world.state.surfaces.awake().count(), 0);
}

#[test]
fn of_a_window_that_is_raised_all_is_seen_that_was_hidden() {
    let mut world = World::lit();
    let (client, window) = world.open_filled("with a part", (300, 200), RED);
    let (part, role) = world.client(client).subsurface(&window.surface);
    role.set_desync();
    role.set_position(40, 40);
    world.client(client).draw(&part, 2, (50, 50), GREEN);
    part.commit();
    window.surface.commit();
    let lower = world.state.shell.windows().next().unwrap();
    let (lower, place) = (lower.id, lower.rect().loc);
    // This window covers the subsurface, and a part of the window below.
    world.open_filled("above", (200, 150), BLUE);
    let above = world.state.shell.windows().next_back().unwrap().surface().clone();
    shell::set_location(&mut world.state, &above, place);
    world.rest();
    assert_eq!(world.pixel(place.x + 50, place.y + 50), BLUE);
    shell::activate(&mut world.state, Some(lower));
    world.rest();
    assert_eq!(world.pixel(place.x + 50, place.y + 50), GREEN);
}

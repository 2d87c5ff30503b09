//! Cost of one window's frames beside resting windows: no extra work for the resting windows.

use upbeat::output::OutputState;
use upbeat::shell;
use upbeat_timing::time::Span;

use crate::fixture::TestWorld;
use crate::fixture::content::{BLUE, GREEN, RED};
use crate::fixture::simulated::nothing;
use crate::fixture::worlds::SMALL;

/// Number of windows that rest.
const NEIGHBOURS: usize = 60;
/// Frames of the animated window.
const FRAMES: u32 = 20;
/// Surfaces that may be awake: the animated surface, and a surface that was checked recently.
const MOST_AWAKE: usize = 2;

fn output(world: &TestWorld) -> &OutputState {
    world.state.outputs.states().next().unwrap()
}

#[test]
fn animated_window_wakes_no_idle_window_and_rebuilds_no_scene() {
    let mut world = TestWorld::rendered();
    let size = (120, 80);
    for number in 0..NEIGHBOURS {
        world.open_filled(&format!("resting {number}"), size, BLUE);
    }
    let (client, window) = world.open_filled("animated", size, RED);
    // Each got a callback and had nothing to draw.
    world.run_until("no surface counts as drawing", |world| world.state.surfaces.awake().count() == 0);
    let arranged = output(&world).arrangement();
    let latches = output(&world).latches();
    for number in 2..FRAMES + 2 {
        let animated = world.client(client);
        animated.draw(&window.surface, number, size, if number % 2 == 0 { GREEN } else { RED });
        window.surface.commit();
        world.run_until("it is shown", |world| world.client(client).light(number).is_some());
        let awake = world.state.surfaces.awake().count();
        assert!(awake <= MOST_AWAKE, "{awake} surfaces are awake at frame {number}");
    }
    assert!(output(&world).latches() >= latches + u64::from(FRAMES));
    assert_eq!(output(&world).arrangement(), arranged, "an unchanged scene was arranged again");
}

#[test]
fn each_change_of_placement_rebuilds_the_scene() {
    let mut world = TestWorld::rendered();
    let (client, first) = world.open_filled("first", (200, 100), RED);
    world.open_filled("second", (200, 100), BLUE);
    world.run_until_idle();
    let mut arranged = output(&world).arrangement();
    let mut is_arranged_anew = |world: &mut TestWorld, what: &str| {
        world.run_until_idle();
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
fn hidden_content_does_not_stay_awake() {
    let mut world = TestWorld::simulated(&[60_000]);
    let (client, hidden) = world.open_filled("hidden", SMALL, BLUE);
    world.open_filled("above", SMALL, RED);
    let place = world.window("hidden").rect().loc;
    world.move_window("above", (place.x, place.y));
    world.run_until_idle();
    // This commit asks for no callback.
    hidden.surface.attach(Some(&world.client(client).solid(2, SMALL.0, SMALL.1, GREEN)), 0, 0);
    hidden.surface.commit();
    world.run_for(Span::from_seconds(3), &mut nothing);
    assert_eq!(world.state.surfaces.awake().count(), 0);
}

#[test]
fn raised_window_shows_its_covered_subsurfaces() {
    let mut world = TestWorld::rendered();
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
    world.run_until_idle();
    assert_eq!(world.pixel(place.x + 50, place.y + 50), BLUE);
    shell::activate(&mut world.state, Some(lower));
    world.run_until_idle();
    assert_eq!(world.pixel(place.x + 50, place.y + 50), GREEN);
}

//! Windows with very many subsurfaces, few of which change with each commit: the cost of such a commit.

use std::time::Duration;

use wayland_client::protocol::wl_subsurface::WlSubsurface;

use crate::fixture::content::{BLUE, RED};
use crate::fixture::{ClientIndex, TestToplevel, TestWorld};
use crate::timed::cpu;

/// Number of commits measured.
const COMMITS: i32 = 12;
/// A window with `count` subsurfaces, and the role object of the first.
fn crowded(count: i32, synchronised: bool) -> (TestWorld, ClientIndex, TestToplevel, WlSubsurface) {
    let mut world = TestWorld::rendered();
    let (client, window) = world.open_filled("crowded", (400, 300), RED);
    let mut first = None;
    for number in 0..count {
        let (part, role) = world.client(client).subsurface(&window.surface);
        if !synchronised {
            role.set_desync();
        }
        role.set_position(number % 40 * 10, number / 40 * 10);
        part.attach(Some(&world.client(client).solid(2, 4, 4, BLUE)), 0, 0);
        part.commit();
        first.get_or_insert(role);
        if number % 32 == 0 {
            world.deliver_once();
        }
    }
    window.surface.commit();
    world.run_until_idle();
    (world, client, window, first.unwrap())
}

/// The least CPU time of a commit that moves one subsurface.
pub fn moving(count: i32, synchronised: bool) -> Duration {
    let (mut world, client, window, part) = crowded(count, synchronised);
    let commits = (0..COMMITS).map(|number| {
        part.set_position(number + 1, number);
        window.surface.commit();
        world.client(client).send();
        let start = cpu();
        world.deliver_once();
        cpu() - start
    });
    let least = commits.min().unwrap();
    world.run_until_idle();
    let (place, last) = (world.window("crowded").rect().loc, (COMMITS, COMMITS - 1));
    assert_eq!(world.pixel(place.x + last.0 + 3, place.y + last.1 + 3), BLUE, "the part is not where it was moved");
    least
}

#[test]
fn moved_subsurface_of_a_thousand_is_drawn_at_its_new_position() {
    for synchronised in [true, false] {
        moving(1_000, synchronised);
    }
}

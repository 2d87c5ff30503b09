//! What it costs the others when a client with many objects dies.

use std::time::Duration;

use rustix::time::{ClockId, clock_gettime};
use upbeat::guard::Kind;

use crate::fixture::{ClientIndex, World};

/// CPU time of this thread: a busy machine does not count.
fn cpu() -> Duration {
    let time = clock_gettime(ClockId::ThreadCPUTime);
    Duration::new(time.tv_sec as u64, time.tv_nsec as u32)
}

/// What a client makes one of.
type Make = fn(&mut World, ClientIndex);

const MAKES: &[(Kind, Make)] = &[
    (Kind::Surfaces, |world, client| _ = world.client(client).surface()),
    (Kind::Subsurfaces, |world, client| {
        let client = world.client(client);
        client.subsurface(&client.surface());
    }),
    (Kind::Windows, |world, client| _ = world.client(client).toplevel("many")),
    (Kind::Devices, |world, client| {
        let client = world.client(client);
        client.globals().seat.get_pointer(&client.handle(), ());
    }),
    (Kind::Paced, |world, client| {
        let client = world.client(client);
        client.pacing(&client.surface());
    }),
    (Kind::Regions, |world, client| {
        let client = world.client(client);
        client.globals().compositor.create_region(&client.handle(), ());
    }),
];

/// How long the thread is busy with the death of a client with `count` things.
fn death(make: Make, count: u32) -> Duration {
    let mut world = World::new();
    let client = world.connect();
    for made in 0..count {
        make(&mut world, client);
        if made % 32 == 0 {
            world.client(client).send();
            world.carry_once();
            world.client(client).receive();
        }
    }
    world.settle();
    assert!(!world.client(client).is_gone(), "{}", world.client(client).said());
    world.hang_up(client);
    let start = cpu();
    world.carry_once();
    cpu() - start
}

#[test]
fn the_death_of_a_client_takes_as_long_as_it_has_things_and_no_longer() {
    for (kind, make) in MAKES.iter().filter(|(kind, _)| matches!(kind, Kind::Surfaces | Kind::Subsurfaces)) {
        // Lists that are walked for each of the things take sixteen times as long for four times as many.
        let count = kind.most() / 4;
        let quickest = |count| (0..3).map(|_| death(*make, count)).min().unwrap();
        let (few, many) = (quickest(count / 4), quickest(count));
        assert!(many < few * 9, "{}: {few:?} for {}, {many:?} for {count}", kind.words(), count / 4);
    }
}

#[test]
fn the_windows_of_a_client_that_dies_are_gone_in_the_first_turn() {
    let mut world = World::new();
    let (_, _) = world.open("good", 200, 100);
    let (client, _) = world.open("bad", 200, 100);
    for made in 0..2_000 {
        world.client(client).surface();
        if made % 32 == 0 {
            world.client(client).send();
            world.carry_once();
        }
    }
    world.settle();
    world.hang_up(client);
    world.carry_once();
    assert_eq!(world.stack(), ["good"]);
    assert_eq!(world.state.surfaces.iter().count(), 1);
}

#[test]
#[ignore = "prints figures"]
fn what_the_death_of_a_client_takes() {
    for (kind, make) in MAKES {
        for part in [8, 4, 2, 1] {
            let count = (kind.most() - 8) / part;
            let count = if *kind == Kind::Subsurfaces { count / 2 } else { count };
            let took = death(*make, count);
            println!("{:>24} {count:>6}: {:>9.2} ms", kind.words(), took.as_secs_f64() * 1e3);
        }
    }
}

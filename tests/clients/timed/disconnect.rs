//! CPU time to clean up after a client that disconnects.

use std::time::Duration;

use upbeat::guard::Kind;

use crate::fixture::{ClientIndex, TestWorld};
use crate::timed::cpu;
use crate::timed_figure::Noise;

/// Creates one object for a client.
type CreateObject = fn(&mut TestWorld, ClientIndex);

const MAKES: &[(Kind, CreateObject)] = &[
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

/// CPU time of the disconnection of a client with `count` objects: at the disconnection itself, and in each turn that
/// follows.
fn disconnect_times(make: CreateObject, count: u32) -> (Duration, Vec<Duration>) {
    let mut world = TestWorld::new();
    let client = world.connect();
    for made in 0..count {
        make(&mut world, client);
        if made % 32 == 0 {
            world.client(client).send();
            world.deliver_once();
            world.client(client).receive();
        }
    }
    world.settle();
    assert!(!world.client(client).is_disconnected(), "{}", world.client(client).error_message());
    world.hang_up(client);
    let start = cpu();
    world.deliver_once();
    let end = cpu() - start;
    let mut turns = Vec::new();
    while turns.is_empty() || world.state.protocols.deferred_ends() > 0 {
        let start = cpu();
        upbeat::session::turn::run(&mut world.state);
        turns.push(cpu() - start);
    }
    (end, turns)
}

fn total_time((end, turns): (Duration, Vec<Duration>)) -> Duration {
    end + turns.iter().sum::<Duration>()
}

#[test]
#[ignore = "timed: ./up measure"]
fn disconnect_time_is_linear_in_the_number_of_objects() {
    let noise = Noise::begin();
    let (mut keeps, mut figures) = (true, Vec::new());
    for (kind, make) in MAKES.iter().filter(|(kind, _)| matches!(kind, Kind::Surfaces | Kind::Subsurfaces)) {
        // If a list is walked for each object, four times as many objects take sixteen times as long.
        let count = kind.most() / 4;
        let quickest = |count| (0..3).map(|_| total_time(disconnect_times(*make, count))).min().unwrap();
        let (few, many) = (quickest(count / 4), quickest(count));
        keeps &= many < few * 9;
        figures.push(format!("{}: {few:?} for {}, {many:?} for {count}", kind.words(), count / 4));
    }
    noise.judge(keeps, figures.join("; "));
}

#[test]
#[ignore = "timed: ./up measure"]
fn disconnect_time_for_each_kind_of_object() {
    for (kind, make) in MAKES {
        for part in [8, 4, 2, 1] {
            let count = (kind.most() - 8) / part;
            let count = if *kind == Kind::Subsurfaces { count / 2 } else { count };
            let (end, turns) = disconnect_times(*make, count);
            let longest = turns.iter().max().unwrap();
            let [end, longest] = [end, *longest].map(|span| span.as_secs_f64() * 1e3);
            let (words, turns) = (kind.words(), turns.len());
            println!("{words:>24} {count:>6}: {end:>9.2} ms, then {turns:>4} turns of {longest:>6.2} ms at most");
        }
    }
}

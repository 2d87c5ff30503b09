//! Notices on the screen about clients that were ended for an offence. In virtual time.

use upbeat::guard::Kind;
use upbeat_timing::time::Span;

use crate::fixture::World;
use crate::fixture::content::RED;
use crate::fixture::making::SMALL;
use crate::fixture::simulated::nothing;

/// Longer than a notice is shown.
const LATER: Span = Span::from_seconds(10);

/// Ends a client that creates more virtual pointers than allowed.
fn one_is_ended(world: &mut World) {
    let bad = world.connect();
    for _ in 0..2 {
        let client = world.client(bad);
        client.globals().virtual_pointers.create_virtual_pointer(None, &client.handle(), ());
    }
    world.run_for(Span::from_millis(500), &mut nothing);
    assert!(world.client(bad).is_gone());
}

/// A pixel in the area of notices.
fn at_the_top(world: &World) -> u32 {
    world.pixel(SMALL.0 / 2, 30)
}

#[test]
fn who_is_ended_is_told_of_for_a_while_and_then_nothing_more_happens() {
    let mut world = World::simulated(&[60_000]);
    world.state.rules.set_most(Kind::VirtualDevices, 1);
    world.open_filled("all of it", SMALL, RED);
    world.rest();
    assert_eq!(at_the_top(&world), RED);
    one_is_ended(&mut world);
    let (pid, told) =
        (std::process::id(), world.state.shell.overlays().notices().seen().next().expect("a notice").clone());
    assert_eq!((told.ended.pid, told.times), (pid, 1));
    assert_eq!(told.ended.reason, "more than 1 virtual devices of one client");
    assert!(!told.ended.program.is_empty());
    assert_ne!(at_the_top(&world), RED);
    world.run_for(LATER, &mut nothing);
    assert_eq!(at_the_top(&world), RED);
    let turns = world.turns();
    world.run_for(LATER * 6, &mut nothing);
    assert_eq!(world.turns() - turns, 1, "turns of the loop in a minute, but for the last");
    // It stays in the list of remembered notices.
    assert_eq!(world.state.shell.overlays().notices().remembered().count(), 1);
}

#[test]
fn one_who_is_ended_while_a_notice_is_seen_is_seen_as_long_as_if_it_were_alone() {
    let mut world = World::simulated(&[60_000]);
    world.state.rules.set_most(Kind::VirtualDevices, 1);
    world.open_filled("all of it", SMALL, RED);
    world.rest();
    one_is_ended(&mut world);
    world.run_for(LATER / 2, &mut nothing);
    one_is_ended(&mut world);
    world.run_for(LATER / 2, &mut nothing);
    assert_ne!(at_the_top(&world), RED);
    assert_eq!(world.state.shell.overlays().notices().seen().map(|notice| notice.times).collect::<Vec<_>>(), [2]);
    world.run_for(LATER, &mut nothing);
    assert_eq!(at_the_top(&world), RED);
}

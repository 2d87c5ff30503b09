//! Notices on the screen about clients that were ended for an offence. In virtual time.

use upbeat::guard::Kind;
use upbeat_timing::time::Span;

use crate::fixture::TestWorld;
use crate::fixture::content::RED;
use crate::fixture::simulated::nothing;
use crate::fixture::worlds::SMALL;

/// Longer than a notice is shown.
const LATER: Span = Span::from_seconds(10);

/// Ends a client that creates more virtual pointers than allowed.
fn end_a_client(world: &mut TestWorld) {
    let bad = world.connect();
    for _ in 0..2 {
        let client = world.client(bad);
        client.globals().virtual_pointers.create_virtual_pointer(None, &client.handle(), ());
    }
    world.run_for(Span::from_millis(500), &mut nothing);
    assert!(world.client(bad).is_disconnected());
}

/// A pixel in the area of notices.
fn notice_pixel(world: &TestWorld) -> u32 {
    world.pixel(SMALL.0 / 2, 30)
}

#[test]
fn notice_about_an_ended_client_is_shown_for_a_while_and_then_the_session_is_idle() {
    let mut world = TestWorld::simulated(&[60_000]);
    world.state.rules.set_limit(Kind::VirtualDevices, 1);
    world.open_filled("all of it", SMALL, RED);
    world.run_until_idle();
    assert_eq!(notice_pixel(&world), RED);
    end_a_client(&mut world);
    let (pid, told) =
        (std::process::id(), world.state.shell.overlays().notices().seen().next().expect("a notice").clone());
    assert_eq!((told.ended.pid, told.times), (pid, 1));
    assert_eq!(told.ended.reason, "more than 1 virtual devices of one client");
    assert!(!told.ended.program.is_empty());
    assert_ne!(notice_pixel(&world), RED);
    world.run_for(LATER, &mut nothing);
    assert_eq!(notice_pixel(&world), RED);
    let turns = world.turns();
    world.run_for(LATER * 6, &mut nothing);
    assert_eq!(world.turns() - turns, 1, "turns of the loop in a minute, but for the last");
    // It stays in the list of remembered notices.
    assert_eq!(world.state.shell.overlays().notices().remembered().count(), 1);
}

#[test]
fn second_notice_is_shown_as_long_as_a_single_notice() {
    let mut world = TestWorld::simulated(&[60_000]);
    world.state.rules.set_limit(Kind::VirtualDevices, 1);
    world.open_filled("all of it", SMALL, RED);
    world.run_until_idle();
    end_a_client(&mut world);
    world.run_for(LATER / 2, &mut nothing);
    end_a_client(&mut world);
    world.run_for(LATER / 2, &mut nothing);
    assert_ne!(notice_pixel(&world), RED);
    assert_eq!(world.state.shell.overlays().notices().seen().map(|notice| notice.times).collect::<Vec<_>>(), [2]);
    world.run_for(LATER, &mut nothing);
    assert_eq!(notice_pixel(&world), RED);
}

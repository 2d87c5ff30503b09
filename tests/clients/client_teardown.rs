//! The cost to other clients when a client with many objects disconnects: its objects are destroyed over several turns.

use wayland_protocols::wp::input_timestamps::zv1::client::zwp_input_timestamps_manager_v1::ZwpInputTimestampsManagerV1;
use wayland_protocols::xdg::shell::client::xdg_surface;
use wayland_protocols_wlr::data_control::v1::client::zwlr_data_control_manager_v1::ZwlrDataControlManagerV1;

use crate::fixture::{ClientIndex, KEY_A, TestWorld};

/// A client with a window and many surfaces, beside a well-behaved client.
fn crowded() -> (TestWorld, ClientIndex, ClientIndex) {
    let mut world = TestWorld::new();
    let (good, _) = world.open("good", 200, 100);
    let (bad, _) = world.open("bad", 200, 100);
    for made in 0..MANY {
        world.client(bad).surface();
        if made % 32 == 0 {
            world.client(bad).send();
            world.deliver_once();
        }
    }
    world.settle();
    (world, good, bad)
}

/// Number of surfaces: too many to be destroyed in one turn.
const MANY: usize = 3_000;
/// At most this many surfaces are destroyed in one turn.
const MOST: usize = 1_100;

/// The dead client's windows are gone at once; its other surfaces go over several turns, until none is left.
fn is_destroyed_over_turns(world: &mut TestWorld) {
    assert_eq!((world.stack(), world.focused()), (vec!["good".to_owned()], Some("good".to_owned())));
    let (mut left, mut turns) = (world.state.surfaces.iter().count(), 0);
    assert!(left > MANY / 2, "nearly all surfaces went at once: {left} are left");
    while left > 1 {
        world.turn();
        let now = world.state.surfaces.iter().count();
        assert!(now < left && left - now <= MOST, "{left} surfaces, and {now} after the next turn");
        (left, turns) = (now, turns + 1);
    }
    assert!(turns > 1, "all surfaces went in one turn");
    assert_eq!(world.state.protocols.deferred_ends(), 0);
}

#[test]
fn dead_client_loses_its_windows_at_once_and_its_surfaces_over_turns() {
    let (mut world, good, bad) = crowded();
    world.hang_up(bad);
    world.turn();
    is_destroyed_over_turns(&mut world);
    world.open_in(good, "another", 50, 50);
    assert_eq!(world.stack(), ["good", "another"]);
}

#[test]
fn client_with_many_objects_gets_its_protocol_error_and_goes_over_turns() {
    let (mut world, _, bad) = crowded();
    // A commit of content before the first configure is a protocol error.
    let early = world.client(bad).toplevel("early");
    world.client(bad).commit_buffer(&early.surface, 10, 10);
    world.turn();
    let code = xdg_surface::Error::UnconfiguredBuffer as u32;
    assert_eq!(world.client(bad).error, Some(("xdg_surface".to_owned(), code)));
    is_destroyed_over_turns(&mut world);
}

#[test]
fn requests_of_other_clients_are_handled_during_a_long_teardown() {
    let (mut world, good, bad) = crowded();
    world.hang_up(bad);
    world.turn();
    let before = world.state.protocols.deferred_ends();
    world.client(good).toplevel("beside");
    world.click(20.0, 20.0);
    world.key(KEY_A, true);
    world.key(KEY_A, false);
    let (late, _) = world.open("late", 60, 40);
    assert!(before > 0);
    assert_eq!(world.stack(), ["good", "late"]);
    world.kill(late);
    for _ in 0..20 {
        world.turn();
    }
    assert_eq!(world.stack(), ["good"]);
    // The second surface is "beside", which has no content yet.
    assert_eq!(world.state.surfaces.iter().count(), 2);
}

/// The account of the client that connected last; the weak reference ends when the account is freed.
fn newest_account(world: &TestWorld) -> std::sync::Weak<upbeat::guard::ResourceAccount> {
    let all = upbeat::guard::all(&world.state.display_handle);
    std::sync::Arc::downgrade(&all.last().expect("no client is connected").1)
}

#[test]
fn account_of_a_client_ended_by_an_error_is_freed() {
    let mut world = TestWorld::new();
    let hangs_up = world.connect();
    world.settle();
    let account = newest_account(&world);
    assert!(account.upgrade().is_some());
    world.kill(hangs_up);
    world.run_until("nothing left of a client that hangs up", |_| account.upgrade().is_none());

    let errs = world.connect();
    world.settle();
    let account = newest_account(&world);
    let client = world.client(errs);
    let (surface, handle) = (client.globals().compositor.create_surface(&client.handle(), ()), client.handle());
    client.globals().base.get_xdg_surface(&surface, &handle, ());
    client.globals().base.destroy();
    // The client sends another request after its error.
    client.globals().compositor.create_surface(&handle, ());
    world.settle();
    assert!(world.client(errs).is_disconnected());
    world.run_until("nothing left of a client that was ended", |_| account.upgrade().is_none());
}

#[test]
fn account_of_a_clipboard_manager_ended_by_an_error_is_freed() {
    let mut world = TestWorld::new();
    let errs = world.connect();
    let client = world.client(errs);
    let (manager, seat) = (client.bind::<ZwlrDataControlManagerV1>(), client.globals().seat.clone());
    let handle = client.handle();
    manager.get_data_device(&seat, &handle, ());
    let times = client.bind::<ZwpInputTimestampsManagerV1>();
    times.get_pointer_timestamps(client.globals().pointer(), &handle, ());
    world.settle();
    let account = newest_account(&world);
    assert_eq!(world.state.protocols.input_timestamp_clients(), 1);
    let client = world.client(errs);
    let surface = client.globals().compositor.create_surface(&handle, ());
    client.globals().base.get_xdg_surface(&surface, &handle, ());
    client.globals().base.destroy();
    world.settle();
    assert!(world.client(errs).is_disconnected());
    let known = account.upgrade();
    assert!(known.is_none_or(|account| !account.is_connected()), "its socket is closed, so its number may be reused");
    // The entry is removed at the latest when the next clipboard manager binds.
    let next = world.connect();
    let client = world.client(next);
    let (manager, seat) = (client.bind::<ZwlrDataControlManagerV1>(), client.globals().seat.clone());
    manager.get_data_device(&seat, &client.handle(), ());
    world.run_until("nothing left of a client that was ended", |_| account.upgrade().is_none());
    assert_eq!(world.state.protocols.input_timestamp_clients(), 0);
}

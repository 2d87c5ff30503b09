//! Unlocking: lockers that die, give up, were refused or use a false object.

use super::{
    AcknowledgesLockSize, Locker, ask_again, do_everything, ended_with, has_green, input_kinds, lock_events, middle,
    shows_only, with_a_window,
};
use crate::fixture::content::{BLUE, GREEN, RED};
use crate::fixture::{OUTPUT, TestWorld};
use wayland_protocols::ext::session_lock::v1::client::ext_session_lock_surface_v1;
use wayland_protocols::ext::session_lock::v1::client::ext_session_lock_v1;

#[test]
fn session_stays_locked_after_its_locker_dies_and_another_locker_takes_over() {
    let (mut world, client, window) = with_a_window();
    let locker = Locker::lock(&mut world, BLUE);
    // The locker has a keyboard with the focus, which is destroyed later than the lock.
    let its = world.client(locker.client);
    its.globals().seat.get_keyboard(&its.handle(), ());
    world.settle();
    world.kill(locker.client);
    world.run_until_idle();
    let picture = world.picture();
    let lit = picture.pixels.iter().filter(|pixel| **pixel & 0x00ff_ffff != 0).count();
    assert!(lit > 500, "the screen says that it is locked: {lit} pixels");
    assert!(!has_green(&world) && middle(&world) != BLUE);
    world.client(client).draw(&window.surface, 2, (400, 300), GREEN);
    window.surface.commit();
    world.client(client).take_events();
    do_everything(&mut world);
    assert_eq!(input_kinds(&mut world, client), Vec::<&str>::new());
    world.run_until_idle();
    assert!(!has_green(&world));

    let next = Locker::lock(&mut world, RED);
    world.run_until_idle();
    assert!(shows_only(&world, RED));
    next.unlock(&mut world);
    assert_eq!(middle(&world), GREEN);
}

#[test]
fn a_locker_that_dies_before_it_is_granted_leaves_the_session_locked() {
    let (mut world, ..) = with_a_window();
    let mut locker = Locker::ask(&mut world);
    locker.pane(&mut world, 0);
    world.kill(locker.client);
    world.run_until_idle();
    assert!(!has_green(&world));
    Locker::lock(&mut world, RED).unlock(&mut world);
    assert_eq!(middle(&world), GREEN);
}

#[test]
fn lock_destroyed_before_the_grant_leaves_the_session_open_and_later_is_an_error() {
    let (mut world, client, _) = with_a_window();
    let locker = Locker::ask(&mut world);
    locker.lock.destroy();
    world.run_until_idle();
    world.client(client).take_events();
    do_everything(&mut world);
    assert_eq!(input_kinds(&mut world, client).len(), 5);

    let locker = Locker::lock(&mut world, BLUE);
    locker.lock.destroy();
    ended_with(&mut world, locker.client, "ext_session_lock_v1", ext_session_lock_v1::Error::InvalidDestroy as u32);
    world.run_until_idle();
    assert!(!has_green(&world));
    // Another locker has the lock and destroys it before `locked` was sent: that unlocks nothing either.
    let mut other = Locker::ask(&mut world);
    other.pane(&mut world, 0);
    other.lock.destroy();
    world.run_until_idle();
    assert!(!has_green(&world));
}

#[test]
fn refused_or_ungranted_locker_cannot_unlock() {
    let (mut world, ..) = with_a_window();
    let mut first = Locker::ask(&mut world);
    first.pane(&mut world, 0);
    let mut refused = Locker::ask(&mut world);
    assert_eq!(lock_events(&mut world, refused.client), ["finished"]);
    refused.pane(&mut world, 0);
    assert_eq!(
        lock_events(&mut world, refused.client),
        Vec::<String>::new(),
        "a refused lock surface gets no configure"
    );
    refused.lock.unlock_and_destroy();
    let invalid = ext_session_lock_v1::Error::InvalidUnlock as u32;
    ended_with(&mut world, refused.client, "ext_session_lock_v1", invalid);
    first.draw(&mut world, 0, 1, OUTPUT, BLUE);
    first.wait(&mut world);
    // A refused locker cannot unlock the lock of another client.
    let refused = Locker::ask(&mut world);
    refused.lock.unlock_and_destroy();
    ended_with(&mut world, refused.client, "ext_session_lock_v1", invalid);
    world.run_until_idle();
    assert_eq!(middle(&world), BLUE);
    // A second lock object of the same client unlocks nothing either.
    let again = ask_again(&mut world, first.client);
    again.destroy();
    world.run_until_idle();
    assert_eq!(middle(&world), BLUE);
    first.unlock(&mut world);

    let early = Locker::ask(&mut world);
    early.lock.unlock_and_destroy();
    ended_with(&mut world, early.client, "ext_session_lock_v1", invalid);
    world.run_until_idle();
    assert!(!has_green(&world));
}

#[test]
fn lock_surface_with_another_role_or_size_is_an_error() {
    use ext_session_lock_surface_v1::Error;
    use ext_session_lock_v1::Error as LockError;
    type LockAttack = fn(&mut TestWorld, &mut Locker);
    let attacks: [(&str, u32, LockAttack); 8] = [
        ("ext_session_lock_v1", LockError::Role as u32, |world, locker| {
            let window = world.client(locker.client).toplevel("b");
            let output = world.client(locker.client).bind_output();
            let handle = world.client(locker.client).handle();
            locker.lock.get_lock_surface(&window.surface, &output, &handle, AcknowledgesLockSize(true));
        }),
        ("ext_session_lock_v1", LockError::DuplicateOutput as u32, |world, locker| {
            locker.pane(world, 0);
            locker.pane(world, 0);
        }),
        ("ext_session_lock_v1", LockError::AlreadyConstructed as u32, |world, locker| {
            let client = world.client(locker.client);
            let (surface, output) = (client.surface(), client.bind_output());
            client.commit_buffer(&surface, 10, 10);
            locker.lock.get_lock_surface(&surface, &output, &client.handle(), AcknowledgesLockSize(true));
        }),
        ("ext_session_lock_surface_v1", Error::CommitBeforeFirstAck as u32, |world, locker| {
            let client = world.client(locker.client);
            let (surface, output) = (client.surface(), client.bind_output());
            locker.lock.get_lock_surface(&surface, &output, &client.handle(), AcknowledgesLockSize(false));
            client.commit_buffer(&surface, OUTPUT.0, OUTPUT.1);
        }),
        ("ext_session_lock_surface_v1", Error::NullBuffer as u32, |world, locker| {
            locker.pane(world, 0).surface.commit();
        }),
        ("ext_session_lock_surface_v1", Error::NullBuffer as u32, |world, locker| {
            locker.pane(world, 0);
            locker.draw(world, 0, 1, OUTPUT, BLUE);
            locker.panes[0].surface.attach(None, 0, 0);
            locker.panes[0].surface.commit();
        }),
        ("ext_session_lock_surface_v1", Error::DimensionsMismatch as u32, |world, locker| {
            locker.pane(world, 0);
            locker.draw(world, 0, 1, (OUTPUT.0, OUTPUT.1 - 1), BLUE);
        }),
        ("ext_session_lock_surface_v1", Error::InvalidSerial as u32, |world, locker| {
            locker.pane(world, 0).object.ack_configure(4_000_000_000);
        }),
    ];
    for (interface, code, act) in attacks {
        let (mut world, ..) = with_a_window();
        let mut locker = Locker::ask(&mut world);
        act(&mut world, &mut locker);
        ended_with(&mut world, locker.client, interface, code);
        world.run_until_idle();
        assert!(!has_green(&world), "{interface} {code}: the session stays locked");
    }
}

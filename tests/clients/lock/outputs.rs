//! Outputs that are plugged in, unplugged or changed while the session is locked.

use super::{Locker, lock_events, middle, outputs, shows_only, shows_only_inside, with_a_window};
use crate::fixture::OUTPUT;
use crate::fixture::content::{BLUE, GREEN, RED, Xrgb8888Pixel};
use upbeat::output::{hotplug, power};
use upbeat::shell::lock::machine::LONGEST_WAIT;

#[test]
fn outputs_plugged_in_while_locked_start_black_and_unplugged_outputs_do_not_delay_the_grant() {
    let (mut world, ..) = with_a_window();
    let mut locker = Locker::lock(&mut world, BLUE);
    world.unplug("TEST-1");
    world.plug_in("TEST-1", 60_000);
    let seen = world.probe((OUTPUT.0 / 2, OUTPUT.1 / 2, 1, 1));
    world.run_until_idle();
    let colours: Vec<Xrgb8888Pixel> =
        std::iter::from_fn(|| seen.pop()).map(|sample| sample.pixels[0] & 0x00ff_ffff).collect();
    assert!(colours.iter().all(|colour| *colour == 0), "{colours:x?}");
    world.client(locker.client).take_events();
    let place = outputs(&mut world, locker.client).len() - 1;
    locker.pane(&mut world, place);
    assert_eq!(lock_events(&mut world, locker.client), ["1280x720"]);
    locker.draw(&mut world, 1, 2, OUTPUT, RED);
    world.run_until_idle();
    assert_eq!(middle(&world), RED);
    locker.unlock(&mut world);
    assert_eq!(middle(&world), GREEN);

    // First an output that is unplugged while the locker has yet to draw for it, then an output that is off.
    world.plug_in_at("TEST-2", 60_000, (OUTPUT.0, 0));
    world.run_until_idle();
    let mut locker = Locker::ask(&mut world);
    let place = outputs(&mut world, locker.client).len() - 2;
    locker.pane(&mut world, place);
    locker.draw(&mut world, 0, 1, OUTPUT, BLUE);
    let begun = world.now();
    world.unplug("TEST-2");
    locker.wait(&mut world);
    assert!(world.now() - begun < LONGEST_WAIT / 2);
    locker.unlock(&mut world);
    let id = hotplug::by_name(&world.state, "TEST-1").unwrap();
    power::set(&mut world.state, id, false);
    let locker = Locker::ask(&mut world);
    locker.wait(&mut world);
    power::set(&mut world.state, id, true);
    world.run_until_idle();
    assert!(shows_only(&world, 0));
}

#[test]
fn output_resize_configures_lock_surfaces_and_old_content_is_no_error() {
    let (mut world, ..) = with_a_window();
    let locker = Locker::lock(&mut world, BLUE);
    world.client(locker.client).take_events();
    let id = hotplug::by_name(&world.state, "TEST-1").unwrap();
    hotplug::arrange(&mut world.state, id, None, 2.0);
    assert_eq!(lock_events(&mut world, locker.client), ["640x360"]);
    // The acknowledged size applies from the next commit on.
    world.run_until_idle();
    locker.draw(&mut world, 0, 2, (OUTPUT.0 / 2, OUTPUT.1 / 2), RED);
    world.run_until_idle();
    assert!(world.client(locker.client).error.is_none());
    assert!(shows_only_inside(&world, RED));
}

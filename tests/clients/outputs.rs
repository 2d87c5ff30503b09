//! Events about outputs, also about outputs that were unplugged.

use wayland_client::protocol::wl_output::WlOutput;
use wayland_protocols::xdg::xdg_output::zv1::client::zxdg_output_manager_v1::ZxdgOutputManagerV1;
use wayland_protocols::xdg::xdg_output::zv1::client::zxdg_output_v1;

use crate::fixture::{BUTTON_LEFT, ClientIndex, Event, KEY_LEFT_SUPER, OUTPUT, World};
use upbeat::output::hotplug;

/// More outputs than can be bound after they were unplugged.
const MANY: usize = 20;

/// Events about an output since the last call, in order.
fn heard(world: &mut World, client: ClientIndex) -> Vec<String> {
    use zxdg_output_v1::Event as E;
    world.settle();
    let events = world.client(client).take_events().into_iter().filter_map(|event| match event {
        Event::XdgOutput(E::LogicalPosition { x, y }) => Some(format!("at {x}, {y}")),
        Event::XdgOutput(E::LogicalSize { width, height }) => Some(format!("{width} x {height}")),
        Event::XdgOutput(E::Name { name }) => Some(name),
        Event::OutputDone => Some("done".to_owned()),
        _ => None,
    });
    events.collect()
}

fn know_output(world: &mut World, client: ClientIndex) -> WlOutput {
    let output = world.client(client).bind_output();
    let manager = world.client(client).bind::<ZxdgOutputManagerV1>();
    manager.get_xdg_output(&output, &world.client(client).handle(), ());
    output
}

#[test]
fn a_client_hears_where_an_output_is_and_of_a_change_before_it_is_done() {
    let mut world = World::new();
    let client = world.connect();
    know_output(&mut world, client);
    let (width, height) = OUTPUT;
    let size = format!("{width} x {height}");
    assert_eq!(heard(&mut world, client), ["done", "at 0, 0", &size, "TEST-1", "done"]);

    let id = hotplug::by_name(&world.state, "TEST-1").unwrap();
    hotplug::arrange(&mut world.state, id, Some((30, 40)), 2.0);
    let half = format!("{} x {}", width / 2, height / 2);
    assert_eq!(heard(&mut world, client), ["at 30, 40", &half, "done"]);
}

#[test]
fn an_output_that_was_just_unplugged_can_still_be_bound() {
    let mut world = World::new();
    let client = world.connect();
    world.unplug("TEST-1");
    let output = know_output(&mut world, client);
    world.settle();
    output.release();
    world.settle();
    assert!(!world.client(client).is_gone(), "{:?}", world.client(client).error);
}

#[test]
fn asking_about_an_output_that_is_long_gone_does_no_harm() {
    let mut world = World::new();
    let client = world.connect();
    let output = world.client(client).bind_output();
    world.settle();
    world.unplug("TEST-1");
    for _ in 0..MANY {
        world.plug("another", 60_000);
        world.unplug("another");
    }
    heard(&mut world, client);
    let manager = world.client(client).bind::<ZxdgOutputManagerV1>();
    manager.get_xdg_output(&output, &world.client(client).handle(), ());
    assert_eq!(heard(&mut world, client), Vec::<String>::new());
    assert!(!world.client(client).is_gone(), "{:?}", world.client(client).error);
}

#[test]
fn a_window_that_an_output_becomes_too_small_for_comes_back_into_it_and_goes_home_when_it_is_large_again() {
    let mut world = World::new();
    let id = hotplug::by_name(&world.state, "TEST-1").unwrap();
    let scale = |world: &mut World, scale| hotplug::arrange(&mut world.state, id, None, scale);
    let corner = |world: &World, title| {
        let corner = world.window(title).rect().loc;
        (corner.x, corner.y)
    };
    let size = (400, 200);
    for (title, place) in [("within", (OUTPUT.0 - 410, OUTPUT.1 - 210)), ("beyond", (-50, 20))] {
        world.open(title, size.0, size.1);
        let (x, y) = corner(&world, title);
        world.key(KEY_LEFT_SUPER, true);
        world.point(f64::from(x + 200), f64::from(y + 100));
        world.button(BUTTON_LEFT, true);
        world.point(f64::from(place.0 + 200), f64::from(place.1 + 100));
        world.latch();
        world.button(BUTTON_LEFT, false);
        world.key(KEY_LEFT_SUPER, false);
        assert_eq!(corner(&world, title), place);
    }
    // At the first scale a part of "within" would still be visible, at the next one none.
    for (factor, width, height) in [(1.25, 1024, 576), (1.6, 800, 450), (1.25, 1024, 576)] {
        scale(&mut world, factor);
        assert_eq!(corner(&world, "within"), (width - size.0, height - size.1), "as near as it can be");
        assert_eq!(corner(&world, "beyond"), (-50, 20), "the user put it there");
    }
    scale(&mut world, 1.0);
    assert_eq!(corner(&world, "within"), (OUTPUT.0 - 410, OUTPUT.1 - 210));
}

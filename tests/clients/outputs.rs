//! Events about outputs, also about outputs that were unplugged.

use wayland_client::protocol::wl_output::WlOutput;
use wayland_protocols::xdg::xdg_output::zv1::client::zxdg_output_manager_v1::ZxdgOutputManagerV1;
use wayland_protocols::xdg::xdg_output::zv1::client::zxdg_output_v1;

use crate::fixture::{
    BUTTON_LEFT, ClientEvent, ClientIndex, KEY_LEFT, KEY_LEFT_CTRL, KEY_LEFT_SUPER, KEY_RIGHT, OUTPUT, TestWorld,
};
use upbeat::output::hotplug;

/// More outputs than can be bound after they were unplugged.
const MANY: usize = 20;

/// Events about an output since the last call, in order.
fn output_events(world: &mut TestWorld, client: ClientIndex) -> Vec<String> {
    use zxdg_output_v1::Event as E;
    world.settle();
    let events = world.client(client).take_events().into_iter().filter_map(|event| match event {
        ClientEvent::XdgOutput(E::LogicalPosition { x, y }) => Some(format!("at {x}, {y}")),
        ClientEvent::XdgOutput(E::LogicalSize { width, height }) => Some(format!("{width} x {height}")),
        ClientEvent::XdgOutput(E::Name { name }) => Some(name),
        ClientEvent::OutputDone => Some("done".to_owned()),
        _ => None,
    });
    events.collect()
}

fn know_output(world: &mut TestWorld, client: ClientIndex) -> WlOutput {
    let output = world.client(client).bind_output();
    let manager = world.client(client).bind::<ZxdgOutputManagerV1>();
    manager.get_xdg_output(&output, &world.client(client).handle(), ());
    output
}

#[test]
fn client_receives_output_geometry_and_changes_before_done() {
    let mut world = TestWorld::new();
    let client = world.connect();
    know_output(&mut world, client);
    let (width, height) = OUTPUT;
    let size = format!("{width} x {height}");
    assert_eq!(output_events(&mut world, client), ["done", "at 0, 0", &size, "TEST-1", "done"]);

    let id = hotplug::by_name(&world.state, "TEST-1").unwrap();
    hotplug::arrange(&mut world.state, id, Some((30, 40)), 2.0);
    let half = format!("{} x {}", width / 2, height / 2);
    assert_eq!(output_events(&mut world, client), ["at 30, 40", &half, "done"]);
}

#[test]
fn an_output_that_was_just_unplugged_can_still_be_bound() {
    let mut world = TestWorld::new();
    let client = world.connect();
    world.unplug("TEST-1");
    let output = know_output(&mut world, client);
    world.settle();
    output.release();
    world.settle();
    assert!(!world.client(client).is_disconnected(), "{:?}", world.client(client).error);
}

#[test]
fn requests_for_a_long_removed_output_are_harmless() {
    let mut world = TestWorld::new();
    let client = world.connect();
    let output = world.client(client).bind_output();
    world.settle();
    world.unplug("TEST-1");
    for _ in 0..MANY {
        world.plug_in("another", 60_000);
        world.unplug("another");
    }
    output_events(&mut world, client);
    let manager = world.client(client).bind::<ZxdgOutputManagerV1>();
    manager.get_xdg_output(&output, &world.client(client).handle(), ());
    assert_eq!(output_events(&mut world, client), Vec::<String>::new());
    assert!(!world.client(client).is_disconnected(), "{:?}", world.client(client).error);
}

#[test]
fn window_is_moved_into_a_shrunk_output_and_back_when_it_grows() {
    let mut world = TestWorld::new();
    let id = hotplug::by_name(&world.state, "TEST-1").unwrap();
    let scale = |world: &mut TestWorld, scale| hotplug::arrange(&mut world.state, id, None, scale);
    let corner = |world: &TestWorld, title| {
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

#[test]
fn empty_output_gets_the_focus_by_key_and_new_windows_open_there() {
    let mut world = TestWorld::new();
    for (name, x) in [("TEST-2", OUTPUT.0), ("TEST-3", 2 * OUTPUT.0)] {
        world.plug_in_at(name, 60_000, (x, 0));
    }
    world.point(100.0, 100.0);
    let screen = |world: &TestWorld, title| world.window(title).rect().loc.x / OUTPUT.0;
    let go = |world: &mut TestWorld, key| world.chord(&[KEY_LEFT_SUPER, KEY_LEFT_CTRL], key);
    world.open("a", 200, 100);
    assert_eq!((screen(&world, "a"), world.focused().as_deref()), (0, Some("a")));
    go(&mut world, KEY_RIGHT);
    assert_eq!(world.focused(), None, "there is no window");
    world.point(150.0, 100.0);
    for title in ["b", "c"] {
        world.open(title, 200, 100);
        assert_eq!((screen(&world, title), world.focused().as_deref()), (1, Some(title)), "not at the pointer");
    }
    go(&mut world, KEY_RIGHT);
    go(&mut world, KEY_LEFT);
    go(&mut world, KEY_LEFT);
    assert_eq!(world.focused().as_deref(), Some("a"));
    go(&mut world, KEY_RIGHT);
    world.open("d", 200, 100);
    assert_eq!(screen(&world, "d"), 1, "an output with windows, too");
    world.point(f64::from(2 * OUTPUT.0) + 100.0, 100.0);
    world.open("e", 200, 100);
    assert_eq!(screen(&world, "e"), 2, "the pointer has moved to another output");
    go(&mut world, KEY_LEFT);
    world.point(100.0, 100.0);
    world.point(f64::from(2 * OUTPUT.0) + 100.0, 100.0);
    upbeat::shell::activate(&mut world.state, None);
    world.open("back", 200, 100);
    assert_eq!(screen(&world, "back"), 2, "the pointer was on another output meanwhile");
    go(&mut world, KEY_LEFT);
    world.unplug("TEST-2");
    world.open("f", 200, 100);
    assert_eq!(screen(&world, "f"), 2, "the chosen output is gone");
}

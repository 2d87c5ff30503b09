//! Layer surfaces of hostile or faulty clients.

use super::*;
use crate::fixture::layers::ZwlrLayerShellV1;
use upbeat::guard::Kind;

/// Interface and code of the protocol error that ended the client.
fn protocol_error(world: &mut TestWorld, client: ClientIndex) -> Option<(String, u32)> {
    world.settle();
    world.client(client).error.clone()
}

fn layer_error(interface: &str, code: u32) -> Option<(String, u32)> {
    Some((interface.to_owned(), code))
}

#[test]
fn a_buffer_before_the_first_acknowledgement_is_an_error() {
    let mut world = TestWorld::new();
    let client = world.connect();
    let pinned = world.client(client).layer(Layer::Top, None);
    pinned.layer.set_size(100, 100);
    pinned.surface.commit();
    world.settle();
    world.client(client).commit_buffer(&pinned.surface, 100, 100);
    assert_eq!(protocol_error(&mut world, client), layer_error("zwlr_layer_surface_v1", 0));
    assert!(
        world.client(client).error_message().contains("before the first configure"),
        "{}",
        world.client(client).error_message()
    );
}

#[test]
fn second_role_and_content_before_the_role_are_errors() {
    let mut world = TestWorld::new();
    let twice = world.connect();
    let pinned = world.client(twice).layer(Layer::Top, None);
    let shell = world.client(twice).bind::<ZwlrLayerShellV1>();
    let handle = world.client(twice).handle();
    shell.get_layer_surface(&pinned.surface, None, Layer::Top, String::new(), &handle, ());
    assert_eq!(protocol_error(&mut world, twice), layer_error("zwlr_layer_shell_v1", 2));

    let (client, window) = world.open("a", 100, 100);
    let shell = world.client(client).bind::<ZwlrLayerShellV1>();
    let handle = world.client(client).handle();
    shell.get_layer_surface(&window.surface, None, Layer::Top, String::new(), &handle, ());
    assert_eq!(protocol_error(&mut world, client), layer_error("zwlr_layer_shell_v1", 0));

    let drawn = world.connect();
    let surface = world.client(drawn).surface();
    world.client(drawn).commit_buffer(&surface, 10, 10);
    let shell = world.client(drawn).bind::<ZwlrLayerShellV1>();
    let handle = world.client(drawn).handle();
    shell.get_layer_surface(&surface, None, Layer::Top, String::new(), &handle, ());
    assert_eq!(protocol_error(&mut world, drawn), layer_error("zwlr_layer_shell_v1", 2));
}

#[test]
fn zero_width_without_opposite_anchors_is_an_error() {
    let mut world = TestWorld::new();
    let client = world.connect();
    let pinned = world.client(client).layer(Layer::Top, None);
    pinned.layer.set_anchor(Anchor::Left);
    pinned.layer.set_size(0, 10);
    pinned.surface.commit();
    assert_eq!(protocol_error(&mut world, client), layer_error("zwlr_layer_surface_v1", 1));
}

#[test]
fn extreme_zones_and_margins_leave_room_for_windows() {
    let mut world = TestWorld::rendered();
    maximised(&mut world);
    let client = world.connect();
    for (anchor, zone) in
        [(Anchor::Top, i32::MAX), (Anchor::Bottom, i32::MAX), (Anchor::Left, i32::MAX), (Anchor::Right, i32::MIN)]
    {
        let pinned = world.client(client).layer(Layer::Top, None);
        pinned.layer.set_anchor(anchor);
        pinned.layer.set_size(40, 40);
        pinned.layer.set_margin(i32::MAX, i32::MIN, i32::MIN, i32::MAX);
        pinned.layer.set_exclusive_zone(zone);
        pinned.surface.commit();
        world.settle();
        world.draw_layer(client, &pinned, RED);
        pinned.layer.set_size(u32::MAX, u32::MAX);
        pinned.surface.commit();
        world.run_until_idle();
    }
    let (_, _, width, height) = rect(world.window("a"));
    assert!(width >= OUTPUT.0 / 4 && height >= OUTPUT.1 / 4, "{width}×{height}");
    assert!(!world.client(client).is_disconnected());
    world.point(1.0, 1.0);
    world.kill(client);
    assert_eq!(rect(world.window("a")), (0, 0, OUTPUT.0, OUTPUT.1));
}

#[test]
fn unacknowledged_configures_are_limited() {
    let mut world = TestWorld::new();
    let client = world.connect();
    let pinned = world.map_layer(client, Layer::Top, RED, bar(30));
    for height in 31..200 {
        pinned.layer.set_size(0, height);
        pinned.surface.commit();
        world.deliver_once();
    }
    world.settle();
    let asked = world.client(client).data.layer_events.len();
    assert!(asked < 20, "{asked} configures");
    // After the client acknowledged, it receives the newest size.
    let heard = world.client(client).ack_layer_configure(&pinned).unwrap();
    assert_ne!(heard, (OUTPUT.0 as u32, 199));
    world.client(client).commit_buffer(&pinned.surface, heard.0 as i32, heard.1 as i32);
    world.settle();
    assert_eq!(world.client(client).ack_layer_configure(&pinned), Some((OUTPUT.0 as u32, 199)));
}

#[test]
fn layer_popup_gets_its_parent_once_and_before_its_commit() {
    let mut world = TestWorld::new();
    let client = world.connect();
    let pinned = world.map_layer(client, Layer::Top, RED, bar(30));
    let positioner = world.client(client).positioner(0, 0, 10, 10);
    let popup = world.client(client).orphan_popup(&positioner);
    pinned.layer.get_popup(&popup.popup);
    world.settle();
    assert!(!world.client(client).is_disconnected());
    pinned.layer.get_popup(&popup.popup);
    assert_eq!(protocol_error(&mut world, client), layer_error("zwlr_layer_surface_v1", 0));
}

#[test]
fn too_many_layer_surfaces_end_their_client() {
    let mut world = TestWorld::new();
    let client = world.connect();
    for _ in 0..=Kind::Layers.most() {
        world.client(client).layer(Layer::Top, None);
    }
    world.settle();
    assert!(world.client(client).is_disconnected());
    assert!(
        world.client(client).error_message().contains("layer surfaces"),
        "{}",
        world.client(client).error_message()
    );
}

#[test]
fn layer_surface_objects_may_be_destroyed_in_any_order() {
    let mut world = TestWorld::new();
    maximised(&mut world);
    let client = world.connect();
    let first = world.map_layer(client, Layer::Top, RED, bar(30));
    let second = world.map_layer(client, Layer::Top, RED, bar(20));
    assert_eq!(rect(world.window("a")).1, 50);
    first.surface.destroy();
    world.settle();
    assert_eq!(rect(world.window("a")).1, 20);
    first.layer.destroy();
    second.layer.destroy();
    world.settle();
    // A surface keeps its role and may get it again.
    let shell = world.client(client).bind::<ZwlrLayerShellV1>();
    let handle = world.client(client).handle();
    second.surface.attach(None, 0, 0);
    second.surface.commit();
    let layer = shell.get_layer_surface(&second.surface, None, Layer::Top, String::new(), &handle, ());
    bar(10)(&layer);
    second.surface.commit();
    world.settle();
    let again = TestLayerSurface { surface: second.surface, layer };
    world.draw_layer(client, &again, RED);
    assert_eq!(rect(world.window("a")).1, 10);
    world.kill(client);
    assert_eq!((rect(world.window("a")).1, world.state.shell.layers().shown().count()), (0, 0));
}

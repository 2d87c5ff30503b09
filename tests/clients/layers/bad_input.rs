//! Layer surfaces of hostile or faulty clients.

use super::*;
use crate::fixture::layers::ZwlrLayerShellV1;
use upbeat::guard::Kind;

/// Interface and code of the protocol error that ended the client.
fn ended(world: &mut World, client: ClientIndex) -> Option<(String, u32)> {
    world.settle();
    world.client(client).error.clone()
}

fn layer_error(interface: &str, code: u32) -> Option<(String, u32)> {
    Some((interface.to_owned(), code))
}

#[test]
fn a_buffer_before_the_first_acknowledgement_is_an_error() {
    let mut world = World::new();
    let client = world.connect();
    let pinned = world.client(client).layer(Layer::Top, None);
    pinned.layer.set_size(100, 100);
    pinned.surface.commit();
    world.settle();
    world.client(client).show(&pinned.surface, 100, 100);
    assert_eq!(ended(&mut world, client), layer_error("zwlr_layer_surface_v1", 0));
    assert!(world.client(client).said().contains("before the first configure"), "{}", world.client(client).said());
}

#[test]
fn a_surface_has_one_role_and_one_layer_surface_and_no_content_before() {
    let mut world = World::new();
    let twice = world.connect();
    let pinned = world.client(twice).layer(Layer::Top, None);
    let shell = world.client(twice).bind::<ZwlrLayerShellV1>();
    let handle = world.client(twice).handle();
    shell.get_layer_surface(&pinned.surface, None, Layer::Top, String::new(), &handle, ());
    assert_eq!(ended(&mut world, twice), layer_error("zwlr_layer_shell_v1", 2));

    let (client, window) = world.open("a", 100, 100);
    let shell = world.client(client).bind::<ZwlrLayerShellV1>();
    let handle = world.client(client).handle();
    shell.get_layer_surface(&window.surface, None, Layer::Top, String::new(), &handle, ());
    assert_eq!(ended(&mut world, client), layer_error("zwlr_layer_shell_v1", 0));

    let drawn = world.connect();
    let surface = world.client(drawn).surface();
    world.client(drawn).show(&surface, 10, 10);
    let shell = world.client(drawn).bind::<ZwlrLayerShellV1>();
    let handle = world.client(drawn).handle();
    shell.get_layer_surface(&surface, None, Layer::Top, String::new(), &handle, ());
    assert_eq!(ended(&mut world, drawn), layer_error("zwlr_layer_shell_v1", 2));
}

#[test]
fn no_width_without_edges_to_stretch_between_is_an_error() {
    let mut world = World::new();
    let client = world.connect();
    let pinned = world.client(client).layer(Layer::Top, None);
    pinned.layer.set_anchor(Anchor::Left);
    pinned.layer.set_size(0, 10);
    pinned.surface.commit();
    assert_eq!(ended(&mut world, client), layer_error("zwlr_layer_surface_v1", 1));
}

#[test]
fn extreme_numbers_overflow_nothing_and_leave_room_for_windows() {
    let mut world = World::lit();
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
        world.answer_in(client, &pinned, RED);
        pinned.layer.set_size(u32::MAX, u32::MAX);
        pinned.surface.commit();
        world.rest();
    }
    let (_, _, width, height) = rect(world.window("a"));
    assert!(width >= OUTPUT.0 / 4 && height >= OUTPUT.1 / 4, "{width}×{height}");
    assert!(!world.client(client).is_gone());
    world.point(1.0, 1.0);
    world.kill(client);
    assert_eq!(rect(world.window("a")), (0, 0, OUTPUT.0, OUTPUT.1));
}

#[test]
fn who_answers_nothing_is_not_asked_for_ever() {
    let mut world = World::new();
    let client = world.connect();
    let pinned = world.pin(client, Layer::Top, RED, bar(30));
    for height in 31..200 {
        pinned.layer.set_size(0, height);
        pinned.surface.commit();
        world.carry_once();
    }
    world.settle();
    let asked = world.client(client).data.layers.len();
    assert!(asked < 20, "{asked} configures");
    // After the client acknowledged, it receives the newest size.
    let heard = world.client(client).answer_layer(&pinned).unwrap();
    assert_ne!(heard, (OUTPUT.0 as u32, 199));
    world.client(client).show(&pinned.surface, heard.0 as i32, heard.1 as i32);
    world.settle();
    assert_eq!(world.client(client).answer_layer(&pinned), Some((OUTPUT.0 as u32, 199)));
}

#[test]
fn popups_are_hung_on_a_layer_once_and_before_they_are_committed() {
    let mut world = World::new();
    let client = world.connect();
    let pinned = world.pin(client, Layer::Top, RED, bar(30));
    let positioner = world.client(client).positioner(0, 0, 10, 10);
    let popup = world.client(client).orphan_popup(&positioner);
    pinned.layer.get_popup(&popup.popup);
    world.settle();
    assert!(!world.client(client).is_gone());
    pinned.layer.get_popup(&popup.popup);
    assert_eq!(ended(&mut world, client), layer_error("zwlr_layer_surface_v1", 0));
}

#[test]
fn more_layer_surfaces_than_a_desktop_has_end_their_client() {
    let mut world = World::new();
    let client = world.connect();
    for _ in 0..=Kind::Layers.most() {
        world.client(client).layer(Layer::Top, None);
    }
    world.settle();
    assert!(world.client(client).is_gone());
    assert!(world.client(client).said().contains("layer surfaces"), "{}", world.client(client).said());
}

#[test]
fn surfaces_that_go_in_any_order_leave_nothing_behind() {
    let mut world = World::new();
    maximised(&mut world);
    let client = world.connect();
    let first = world.pin(client, Layer::Top, RED, bar(30));
    let second = world.pin(client, Layer::Top, RED, bar(20));
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
    let again = LayerSurface { surface: second.surface, layer };
    world.answer_in(client, &again, RED);
    assert_eq!(rect(world.window("a")).1, 10);
    world.kill(client);
    assert_eq!((rect(world.window("a")).1, world.state.shell.layers().shown().count()), (0, 0));
}

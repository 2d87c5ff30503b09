//! Layer surfaces: placement, exclusive zones, stacking and input focus.

mod above_fullscreen;
mod bad_input;
mod input;
mod rules;
mod visibility;

use upbeat::shell::Window;
use wayland_client::protocol::wl_surface::WlSurface;
use wayland_protocols_wlr::layer_shell::v1::client::zwlr_layer_surface_v1::Anchor;

use crate::fixture::content::{BLUE, GREEN, RED};
use crate::fixture::dispatch::id;
use crate::fixture::layers::{Layer, LayerEvent, TestLayerSurface, ZwlrLayerSurfaceV1};
use crate::fixture::{ClientEvent, ClientIndex, KEY_F, KEY_LEFT_SUPER, KEY_UP, OUTPUT, TestToplevel, TestWorld};
use crate::output_management::{HeadWithSettings, area, configure, manager, output_manager_events};

/// A bar along the top edge whose exclusive zone is its height.
fn bar(height: u32) -> impl FnOnce(&ZwlrLayerSurfaceV1) {
    move |layer| {
        layer.set_anchor(Anchor::Top | Anchor::Left | Anchor::Right);
        layer.set_size(0, height);
        layer.set_exclusive_zone(height as i32);
    }
}

/// Rectangle of a layer surface: left, top, width, height.
fn place(world: &TestWorld, pinned: &TestLayerSurface) -> (i32, i32, i32, i32) {
    let number = id(&pinned.surface);
    let of = |surface: &smithay::reexports::wayland_server::protocol::wl_surface::WlSurface| {
        smithay::reexports::wayland_server::Resource::id(surface).protocol_id()
    };
    let found = world.state.shell.layers().shown().find(|known| of(known.surface()) == number).expect("it is shown");
    let rect = found.rect();
    (rect.loc.x, rect.loc.y, rect.size.w, rect.size.h)
}

fn rect(window: &Window) -> (i32, i32, i32, i32) {
    let rect = window.rect();
    (rect.loc.x, rect.loc.y, rect.size.w, rect.size.h)
}

/// A maximised window whose client has acknowledged and drawn.
fn maximised(world: &mut TestWorld) -> (ClientIndex, TestToplevel) {
    let (client, window) = world.open("a", 400, 300);
    window.toplevel.set_maximized();
    world.settle();
    answer(world, client, &window.surface);
    (client, window)
}

fn answer(world: &mut TestWorld, client: ClientIndex, surface: &WlSurface) -> (i32, i32) {
    let size = world.client(client).ack_newest_configure().expect("it was asked for a size");
    world.client(client).commit_buffer(surface, size.0, size.1);
    world.settle();
    size
}

#[test]
fn layer_surface_is_configured_with_its_size_and_placed_at_its_anchors() {
    let mut world = TestWorld::new();
    let client = world.connect();
    let top = world.map_layer(client, Layer::Top, RED, bar(30));
    assert_eq!(place(&world, &top), (0, 0, OUTPUT.0, 30));
    let corner = world.map_layer(client, Layer::Overlay, BLUE, |layer| {
        layer.set_anchor(Anchor::Bottom | Anchor::Right);
        layer.set_margin(0, 10, 20, 0);
        layer.set_size(100, 50);
    });
    assert_eq!(place(&world, &corner), (OUTPUT.0 - 110, OUTPUT.1 - 70, 100, 50));
    // Below the first bar, which has its zone already.
    let second = world.map_layer(client, Layer::Top, GREEN, bar(20));
    assert_eq!(place(&world, &second), (0, 30, OUTPUT.0, 20));
    // A request takes effect with the commit. No acknowledgement is needed, because the size stays.
    corner.layer.set_anchor(Anchor::Top | Anchor::Left);
    world.settle();
    assert_eq!(place(&world, &corner), (OUTPUT.0 - 110, OUTPUT.1 - 70, 100, 50));
    corner.surface.commit();
    world.settle();
    assert_eq!(place(&world, &corner), (0, 50, 100, 50));
    assert_eq!(world.client(client).layer_events(&corner), []);
}

#[test]
fn new_size_takes_effect_with_its_content() {
    let mut world = TestWorld::new();
    let client = world.connect();
    let pinned = world.map_layer(client, Layer::Top, RED, |layer| {
        layer.set_anchor(Anchor::Bottom);
        layer.set_size(200, 40);
    });
    assert_eq!(place(&world, &pinned), (540, 680, 200, 40));
    pinned.layer.set_size(400, 100);
    pinned.surface.commit();
    world.settle();
    assert_eq!(place(&world, &pinned), (540, 680, 200, 40), "its client has not drawn that yet");
    let serial = match world.client(client).layer_events(&pinned)[..] {
        [LayerEvent::Configure { serial, size: (400, 100) }] => serial,
        ref other => panic!("{other:?}"),
    };
    pinned.layer.ack_configure(serial);
    world.settle();
    assert_eq!(place(&world, &pinned), (540, 680, 200, 40), "an answer takes effect with the commit that follows it");
    world.client(client).commit_buffer(&pinned.surface, 400, 100);
    world.settle();
    assert_eq!(place(&world, &pinned), (440, 620, 400, 100));
}

#[test]
fn exclusive_zone_resizes_windows_in_the_frame_that_shows_it() {
    let mut world = TestWorld::new();
    let (client, window) = maximised(&mut world);
    assert_eq!(rect(world.window("a")), (0, 0, OUTPUT.0, OUTPUT.1));
    let panel = world.connect();
    let top = world.map_layer(panel, Layer::Top, RED, bar(30));
    // The client has not answered: its old content is stretched to the area that is left. It gets one configure only.
    assert_eq!(rect(world.window("a")), (0, 30, OUTPUT.0, OUTPUT.1 - 30));
    assert!(world.window("a").is_stretched());
    let asked =
        world.client(client).data.events.iter().filter(|event| matches!(event, ClientEvent::ToplevelConfigure { .. }));
    assert_eq!(asked.count(), 1);
    assert_eq!(answer(&mut world, client, &window.surface), (OUTPUT.0, OUTPUT.1 - 30));
    assert_eq!(rect(world.window("a")), (0, 30, OUTPUT.0, OUTPUT.1 - 30));
    assert!(!world.window("a").is_stretched());
    // A destroyed bar frees its exclusive zone.
    top.layer.destroy();
    world.settle();
    assert_eq!(rect(world.window("a")), (0, 0, OUTPUT.0, OUTPUT.1));
    assert_eq!(answer(&mut world, client, &window.surface), OUTPUT);
}

#[test]
fn destroyed_bar_frees_its_zone_and_windows_follow_their_output() {
    let mut world = TestWorld::rendered();
    let panel = world.connect();
    let top = world.map_layer(panel, Layer::Top, RED, bar(30));
    top.layer.destroy();
    world.settle();
    let (arranger, manager) = manager(&mut world);
    output_manager_events(&mut world, arranger);
    let away = |head: &HeadWithSettings| head.set_position(5_000, 4_000);
    configure(&mut world, arranger, &manager, &[(1, Some(&away))]).apply();
    world.run_until_idle();
    assert_eq!(area(&world, "TEST-1"), (5_000, 4_000, OUTPUT.0, OUTPUT.1));
    world.open("late", 400, 300);
    assert_eq!(rect(world.window("late")), (5_440, 4_210, 400, 300), "in the middle of its output");
}

#[test]
fn hidden_and_fullscreen_windows_get_the_new_work_area() {
    let mut world = TestWorld::new();
    let (client, window) = maximised(&mut world);
    world.chord(&[KEY_LEFT_SUPER], KEY_F);
    answer(&mut world, client, &window.surface);
    let panel = world.connect();
    world.map_layer(panel, Layer::Top, RED, bar(30));
    assert_eq!(rect(world.window("a")), (0, 0, OUTPUT.0, OUTPUT.1), "a fullscreen window has all of its output");
    world.chord(&[KEY_LEFT_SUPER], KEY_F);
    assert_eq!(answer(&mut world, client, &window.surface), (OUTPUT.0, OUTPUT.1 - 30));
    let (_, _b) = world.open("b", 300, 200);
    world.chord(&[KEY_LEFT_SUPER], KEY_UP);
    let (_, top, ..) = rect(world.window("b"));
    assert!(top >= 30, "new windows are placed in the area that is left");
}

#[test]
fn unmapped_bar_has_no_zone_and_is_configured_again() {
    let mut world = TestWorld::new();
    maximised(&mut world);
    let client = world.connect();
    let pinned = world.client(client).layer(Layer::Top, None);
    bar(30)(&pinned.layer);
    pinned.surface.commit();
    world.settle();
    assert_eq!(rect(world.window("a")).1, 0, "a zone counts when its surface is there");
    world.draw_layer(client, &pinned, RED);
    assert_eq!(rect(world.window("a")).1, 30);
    pinned.surface.attach(None, 0, 0);
    pinned.surface.commit();
    world.settle();
    assert_eq!(rect(world.window("a")).1, 0);
    assert_eq!(world.client(client).layer_events(&pinned), []);
    pinned.surface.commit();
    world.settle();
    world.draw_layer(client, &pinned, RED);
    assert_eq!(place(&world, &pinned), (0, 0, OUTPUT.0, 30));
}

#[test]
fn layers_close_with_their_output_and_follow_its_size() {
    let mut world = TestWorld::new();
    world.plug_in_at("TEST-2", 60_000, (OUTPUT.0, 0));
    let client = world.connect();
    // A surface without an output opens on the output of the pointer.
    world.point(f64::from(OUTPUT.0) + 10.0, 10.0);
    let right = world.map_layer(client, Layer::Top, RED, bar(30));
    assert_eq!(place(&world, &right), (OUTPUT.0, 0, OUTPUT.0, 30));
    world.unplug("TEST-2");
    assert_eq!(world.client(client).layer_events(&right), [LayerEvent::Closed]);
    assert_eq!(world.state.shell.layers().shown().count(), 0);
    // Requests to a closed surface have no effect.
    right.layer.set_size(0, 50);
    right.surface.commit();
    world.settle();
    assert_eq!(world.client(client).layer_events(&right), []);
    right.layer.destroy();
    right.surface.destroy();
    world.settle();
    assert!(!world.client(client).is_disconnected());
    // Another scale gives another logical size.
    let left = world.map_layer(client, Layer::Top, RED, bar(30));
    let output = upbeat::output::hotplug::by_name(&world.state, "TEST-1").unwrap();
    upbeat::output::hotplug::arrange(&mut world.state, output, None, 2.0);
    world.settle();
    assert_eq!(world.client(client).ack_layer_configure(&left), Some((OUTPUT.0 as u32 / 2, 30)));
}

//! Layer surfaces: placement, exclusive zones, stacking and input focus.

mod above_fullscreen;
mod bad_input;
mod input;
mod rules;
mod seen;

use upbeat::shell::Window;
use wayland_client::protocol::wl_surface::WlSurface;
use wayland_protocols_wlr::layer_shell::v1::client::zwlr_layer_surface_v1::Anchor;

use crate::fixture::content::{BLUE, GREEN, RED};
use crate::fixture::handlers::id;
use crate::fixture::layers::{Layer, LayerSaid, LayerSurface, ZwlrLayerSurfaceV1};
use crate::fixture::{ClientIndex, Event, KEY_F, KEY_LEFT_SUPER, KEY_UP, OUTPUT, Toplevel, World};
use crate::output_management::{Head, area, configure, manager, told};

/// A bar along the top edge whose exclusive zone is its height.
fn bar(height: u32) -> impl FnOnce(&ZwlrLayerSurfaceV1) {
    move |layer| {
        layer.set_anchor(Anchor::Top | Anchor::Left | Anchor::Right);
        layer.set_size(0, height);
        layer.set_exclusive_zone(height as i32);
    }
}

/// Rectangle of a layer surface: left, top, width, height.
fn place(world: &World, pinned: &LayerSurface) -> (i32, i32, i32, i32) {
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
fn maximised(world: &mut World) -> (ClientIndex, Toplevel) {
    let (client, window) = world.open("a", 400, 300);
    window.toplevel.set_maximized();
    world.settle();
    answer(world, client, &window.surface);
    (client, window)
}

fn answer(world: &mut World, client: ClientIndex, surface: &WlSurface) -> (i32, i32) {
    let size = world.client(client).answer_newest().expect("it was asked for a size");
    world.client(client).show(surface, size.0, size.1);
    world.settle();
    size
}

#[test]
fn a_surface_is_told_its_size_and_goes_where_it_is_anchored() {
    let mut world = World::new();
    let client = world.connect();
    let top = world.pin(client, Layer::Top, RED, bar(30));
    assert_eq!(place(&world, &top), (0, 0, OUTPUT.0, 30));
    let corner = world.pin(client, Layer::Overlay, BLUE, |layer| {
        layer.set_anchor(Anchor::Bottom | Anchor::Right);
        layer.set_margin(0, 10, 20, 0);
        layer.set_size(100, 50);
    });
    assert_eq!(place(&world, &corner), (OUTPUT.0 - 110, OUTPUT.1 - 70, 100, 50));
    // Below the first bar, which has its zone already.
    let second = world.pin(client, Layer::Top, GREEN, bar(20));
    assert_eq!(place(&world, &second), (0, 30, OUTPUT.0, 20));
    // A request takes effect with the commit. No acknowledgement is needed, because the size stays.
    corner.layer.set_anchor(Anchor::Top | Anchor::Left);
    world.settle();
    assert_eq!(place(&world, &corner), (OUTPUT.0 - 110, OUTPUT.1 - 70, 100, 50));
    corner.surface.commit();
    world.settle();
    assert_eq!(place(&world, &corner), (0, 50, 100, 50));
    assert_eq!(world.client(client).said_to(&corner), []);
}

#[test]
fn another_size_takes_effect_with_the_content_that_was_made_for_it() {
    let mut world = World::new();
    let client = world.connect();
    let pinned = world.pin(client, Layer::Top, RED, |layer| {
        layer.set_anchor(Anchor::Bottom);
        layer.set_size(200, 40);
    });
    assert_eq!(place(&world, &pinned), (540, 680, 200, 40));
    pinned.layer.set_size(400, 100);
    pinned.surface.commit();
    world.settle();
    assert_eq!(place(&world, &pinned), (540, 680, 200, 40), "its client has not drawn that yet");
    let serial = match world.client(client).said_to(&pinned)[..] {
        [LayerSaid::Configure { serial, size: (400, 100) }] => serial,
        ref other => panic!("{other:?}"),
    };
    pinned.layer.ack_configure(serial);
    world.settle();
    assert_eq!(place(&world, &pinned), (540, 680, 200, 40), "an answer takes effect with the commit that follows it");
    world.client(client).show(&pinned.surface, 400, 100);
    world.settle();
    assert_eq!(place(&world, &pinned), (440, 620, 400, 100));
}

#[test]
fn a_zone_resizes_the_windows_beside_it_in_the_frame_that_it_is_in() {
    let mut world = World::new();
    let (client, window) = maximised(&mut world);
    assert_eq!(rect(world.window("a")), (0, 0, OUTPUT.0, OUTPUT.1));
    let panel = world.connect();
    let top = world.pin(panel, Layer::Top, RED, bar(30));
    // The client has not answered: its old content is stretched to the area that is left. It gets one configure only.
    assert_eq!(rect(world.window("a")), (0, 30, OUTPUT.0, OUTPUT.1 - 30));
    assert!(world.window("a").is_stretched());
    let asked =
        world.client(client).data.events.iter().filter(|event| matches!(event, Event::ToplevelConfigure { .. }));
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
fn what_a_bar_left_for_windows_is_forgotten_with_it_and_windows_open_where_their_output_goes() {
    let mut world = World::lit();
    let panel = world.connect();
    let top = world.pin(panel, Layer::Top, RED, bar(30));
    top.layer.destroy();
    world.settle();
    let (arranger, manager) = manager(&mut world);
    told(&mut world, arranger);
    let away = |head: &Head| head.set_position(5_000, 4_000);
    configure(&mut world, arranger, &manager, &[(1, Some(&away))]).apply();
    world.rest();
    assert_eq!(area(&world, "TEST-1"), (5_000, 4_000, OUTPUT.0, OUTPUT.1));
    world.open("late", 400, 300);
    assert_eq!(rect(world.window("late")), (5_440, 4_210, 400, 300), "in the middle of its output");
}

#[test]
fn a_window_on_another_workspace_and_a_fullscreen_one_find_the_new_area() {
    let mut world = World::new();
    let (client, window) = maximised(&mut world);
    world.chord(&[KEY_LEFT_SUPER], KEY_F);
    answer(&mut world, client, &window.surface);
    let panel = world.connect();
    world.pin(panel, Layer::Top, RED, bar(30));
    assert_eq!(rect(world.window("a")), (0, 0, OUTPUT.0, OUTPUT.1), "a fullscreen window has all of its output");
    world.chord(&[KEY_LEFT_SUPER], KEY_F);
    assert_eq!(answer(&mut world, client, &window.surface), (OUTPUT.0, OUTPUT.1 - 30));
    let (_, _b) = world.open("b", 300, 200);
    world.chord(&[KEY_LEFT_SUPER], KEY_UP);
    let (_, top, ..) = rect(world.window("b"));
    assert!(top >= 30, "new windows are placed in the area that is left");
}

#[test]
fn an_unmapped_bar_has_no_zone_and_starts_again_with_a_configure() {
    let mut world = World::new();
    maximised(&mut world);
    let client = world.connect();
    let pinned = world.client(client).layer(Layer::Top, None);
    bar(30)(&pinned.layer);
    pinned.surface.commit();
    world.settle();
    assert_eq!(rect(world.window("a")).1, 0, "a zone counts when its surface is there");
    world.answer_in(client, &pinned, RED);
    assert_eq!(rect(world.window("a")).1, 30);
    pinned.surface.attach(None, 0, 0);
    pinned.surface.commit();
    world.settle();
    assert_eq!(rect(world.window("a")).1, 0);
    assert_eq!(world.client(client).said_to(&pinned), []);
    pinned.surface.commit();
    world.settle();
    world.answer_in(client, &pinned, RED);
    assert_eq!(place(&world, &pinned), (0, 0, OUTPUT.0, 30));
}

#[test]
fn layers_close_with_their_output_and_follow_its_size() {
    let mut world = World::new();
    world.plug_at("TEST-2", 60_000, (OUTPUT.0, 0));
    let client = world.connect();
    // A surface without an output opens on the output of the pointer.
    world.point(f64::from(OUTPUT.0) + 10.0, 10.0);
    let right = world.pin(client, Layer::Top, RED, bar(30));
    assert_eq!(place(&world, &right), (OUTPUT.0, 0, OUTPUT.0, 30));
    world.unplug("TEST-2");
    assert_eq!(world.client(client).said_to(&right), [LayerSaid::Closed]);
    assert_eq!(world.state.shell.layers().shown().count(), 0);
    // Requests to a closed surface have no effect.
    right.layer.set_size(0, 50);
    right.surface.commit();
    world.settle();
    assert_eq!(world.client(client).said_to(&right), []);
    right.layer.destroy();
    right.surface.destroy();
    world.settle();
    assert!(!world.client(client).is_gone());
    // Another scale gives another logical size.
    let left = world.pin(client, Layer::Top, RED, bar(30));
    let output = upbeat::output::hotplug::by_name(&world.state, "TEST-1").unwrap();
    upbeat::output::hotplug::arrange(&mut world.state, output, None, 2.0);
    world.settle();
    assert_eq!(world.client(client).answer_layer(&left), Some((OUTPUT.0 as u32 / 2, 30)));
}

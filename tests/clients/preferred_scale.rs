//! `wl_surface.enter`, preferred buffer scale and fractional scale for surfaces of all roles.

use upbeat::output::hotplug;
use wayland_client::protocol::wl_surface::WlSurface;
use wayland_client::{Connection, Dispatch, QueueHandle};
use wayland_protocols::wp::fractional_scale::v1::client::wp_fractional_scale_manager_v1::WpFractionalScaleManagerV1;
use wayland_protocols::wp::fractional_scale::v1::client::wp_fractional_scale_v1::{self, WpFractionalScaleV1};
use wayland_protocols::xdg::shell::client::xdg_surface::XdgSurface;
use wayland_protocols_wlr::layer_shell::v1::client::zwlr_layer_surface_v1::Anchor;

use crate::fixture::client::TestClientState;
use crate::fixture::content::RED;
use crate::fixture::dispatch::{id, silent};
use crate::fixture::layers::Layer;
use crate::fixture::{BUTTON_LEFT, ClientIndex, OUTPUT, TestPopup, TestToplevel, TestWorld};

silent!(WpFractionalScaleManagerV1);

/// Fractional scales are recorded with the id of their surface, in 120ths.
impl Dispatch<WpFractionalScaleV1, u32> for TestClientState {
    fn event(
        data: &mut Self,
        _: &WpFractionalScaleV1,
        event: wp_fractional_scale_v1::Event,
        surface: &u32,
        _: &Connection,
        _: &QueueHandle<Self>,
    ) {
        if let wp_fractional_scale_v1::Event::PreferredScale { scale } = event {
            data.surface_outputs.push((*surface, format!("fraction {scale}")));
        }
    }
}

/// Two outputs beside each other: the second at scale 2.
fn with_two_outputs() -> TestWorld {
    let mut world = TestWorld::rendered();
    // Plugged in before any client connects, so that clients bind both outputs.
    world.plug_in_at("TEST-2", 60_000, (OUTPUT.0, 0));
    let id = hotplug::by_name(&world.state, "TEST-2").unwrap();
    hotplug::arrange(&mut world.state, id, Some((OUTPUT.0, 0)), 2.0);
    world.run_until_idle();
    world
}

fn turn(world: &mut TestWorld) {
    world.settle();
    world.turn();
    world.settle();
}

/// Newest events of a surface: whether it is on an output, and both scales.
fn output_and_scales(world: &mut TestWorld, client: ClientIndex, surface: &WlSurface) -> (bool, String, String) {
    turn(world);
    let data = &world.client(client).data.surface_outputs;
    let mine: Vec<&str> = data.iter().filter(|(of, _)| *of == id(surface)).map(|(_, said)| said.as_str()).collect();
    let last = |start: &str| mine.iter().rev().find_map(|said| said.strip_prefix(start)).unwrap_or_default().to_owned();
    let outputs =
        mine.iter().filter(|said| **said == "enter").count() - mine.iter().filter(|said| **said == "leave").count();
    (outputs == 1, last("scale "), last("fraction "))
}

/// Asks for the fractional scale of a surface.
fn request_fractional_scale(world: &mut TestWorld, client: ClientIndex, surface: &WlSurface) {
    let client = world.client(client);
    let manager = client.bind::<WpFractionalScaleManagerV1>();
    manager.get_fractional_scale(surface, &client.handle(), id(surface));
}

fn scale(world: &mut TestWorld, scale: f64) {
    let id = hotplug::by_name(&world.state, "TEST-2").unwrap();
    hotplug::arrange(&mut world.state, id, None, scale);
}

#[track_caller]
fn is_at(world: &mut TestWorld, client: ClientIndex, surface: &WlSurface, scale: &str, fraction: &str) {
    assert_eq!(output_and_scales(world, client, surface), (true, scale.to_owned(), fraction.to_owned()));
}

/// A window on the second output, whose client binds both.
fn window(world: &mut TestWorld) -> (ClientIndex, TestToplevel) {
    let (client, window) = world.open_filled("a", (200, 100), RED);
    let names: Vec<u32> = {
        let globals = &world.client(client).data.globals;
        globals.iter().filter(|(_, interface, _)| interface == "wl_output").map(|(name, ..)| *name).collect()
    };
    for name in names {
        world.client(client).bind_named::<wayland_client::protocol::wl_output::WlOutput>(name);
    }
    world.settle();
    world.move_window("a", (OUTPUT.0 + 50, 50));
    world.run_until_idle();
    (client, window)
}

fn popup(world: &mut TestWorld, client: ClientIndex, parent: &XdgSurface) -> TestPopup {
    let positioner = world.client(client).positioner(10, 10, 60, 40);
    let popup = world.client(client).popup(parent, &positioner);
    request_fractional_scale(world, client, &popup.surface);
    popup.surface.commit();
    world.settle();
    popup
}

fn draw(world: &mut TestWorld, client: ClientIndex, popup: &TestPopup) {
    world.client(client).ack_newest_configure();
    world.client(client).commit_buffer(&popup.surface, 60, 40);
    world.settle();
    world.run_until_idle();
}

#[test]
fn popups_and_subsurfaces_receive_their_scale_before_drawing_and_on_change() {
    let mut world = with_two_outputs();
    let (client, window) = window(&mut world);
    is_at(&mut world, client, &window.surface, "2", "");
    let menu = popup(&mut world, client, &window.xdg);
    assert_eq!(
        output_and_scales(&mut world, client, &menu.surface),
        (false, "2".to_owned(), "240".to_owned()),
        "it is to draw"
    );
    draw(&mut world, client, &menu);
    is_at(&mut world, client, &menu.surface, "2", "240");
    let nested = popup(&mut world, client, &menu.xdg);
    draw(&mut world, client, &nested);
    is_at(&mut world, client, &nested.surface, "2", "240");
    let (part, _) = world.client(client).subsurface(&nested.surface);
    request_fractional_scale(&mut world, client, &part);
    world.client(client).commit_buffer(&part, 5, 5);
    nested.surface.commit();
    is_at(&mut world, client, &part, "2", "240");
    scale(&mut world, 3.0);
    for surface in [&window.surface, &menu.surface, &nested.surface, &part] {
        assert_eq!(output_and_scales(&mut world, client, surface).1, "3");
    }
    nested.surface.attach(None, 0, 0);
    nested.surface.commit();
    assert!(!output_and_scales(&mut world, client, &nested.surface).0, "it is nowhere any more");
    assert!(output_and_scales(&mut world, client, &menu.surface).0);
}

#[test]
fn popup_of_a_layer_surface_receives_its_scale() {
    let mut world = with_two_outputs();
    let client = world.connect();
    let outputs: Vec<u32> = {
        let globals = &world.client(client).data.globals;
        globals.iter().filter(|(_, interface, _)| interface == "wl_output").map(|(name, ..)| *name).collect()
    };
    let output = world.client(client).bind_named(*outputs.last().unwrap());
    let bar = world.client(client).layer(Layer::Top, Some(&output));
    bar.layer.set_anchor(Anchor::Top | Anchor::Left | Anchor::Right);
    bar.layer.set_size(0, 30);
    bar.surface.commit();
    world.settle();
    world.draw_layer(client, &bar, RED);
    let positioner = world.client(client).positioner(10, 10, 60, 40);
    let menu = world.client(client).orphan_popup(&positioner);
    bar.layer.get_popup(&menu.popup);
    menu.surface.commit();
    world.settle();
    draw(&mut world, client, &menu);
    is_at(&mut world, client, &menu.surface, "2", "");
}

#[test]
fn cursor_and_drag_icon_receive_the_scale_of_the_pointers_output() {
    let mut world = with_two_outputs();
    let (client, window) = window(&mut world);
    let at = world.window("a").rect().loc;
    world.point(f64::from(at.x + 20), f64::from(at.y + 20));
    let serial = world.client(client).data.last_enter;
    let cursor = world.client(client).surface();
    request_fractional_scale(&mut world, client, &cursor);
    world.client(client).globals().pointer().set_cursor(serial, Some(&cursor), 0, 0);
    world.client(client).commit_buffer(&cursor, 16, 16);
    is_at(&mut world, client, &cursor, "2", "240");
    scale(&mut world, 3.0);
    is_at(&mut world, client, &cursor, "3", "360");
    scale(&mut world, 2.0);
    world.point(f64::from(at.x + 20), f64::from(at.y + 20));
    world.button(BUTTON_LEFT, true);
    let serial = world.client(client).press_serial();
    let icon = world.client(client).surface();
    request_fractional_scale(&mut world, client, &icon);
    {
        let client = world.client(client);
        let source = client.globals().data_devices.create_data_source(&client.handle(), ());
        client.globals().data_device.start_drag(Some(&source), &window.surface, Some(&icon), serial);
    }
    world.client(client).commit_buffer(&icon, 30, 30);
    is_at(&mut world, client, &icon, "2", "240");
    world.point(100.0, 100.0);
    is_at(&mut world, client, &icon, "1", "120");
    world.button(BUTTON_LEFT, false);
    assert!(!output_and_scales(&mut world, client, &icon).0, "it is nowhere any more");
}

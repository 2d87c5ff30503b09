//! Launchers with the keyboard and on-screen keyboards lie above fullscreen windows; other layer surfaces on *top* do
//! not.

use wayland_protocols_wlr::layer_shell::v1::client::zwlr_layer_surface_v1::KeyboardInteractivity as Wants;

use super::*;
use crate::fixture::KEY_A;
use crate::text;

const MIDDLE: (i32, i32) = (OUTPUT.0 / 2, OUTPUT.1 / 2);
const BOTTOM: (i32, i32) = (OUTPUT.0 / 2, OUTPUT.1 - 50);

/// A session with a bar and a fullscreen window above the bar.
fn with_bar_below_fullscreen() -> (TestWorld, ClientIndex, TestToplevel) {
    let mut world = TestWorld::rendered();
    let client = world.connect();
    world.map_layer(client, Layer::Top, GREEN, bar(30));
    let (owner, window) = world.open_filled("a", (400, 300), BLUE);
    window.toplevel.set_fullscreen(None);
    world.settle();
    let size = world.client(owner).ack_newest_configure().unwrap();
    world.client(owner).draw(&window.surface, 2, size, BLUE);
    window.surface.commit();
    world.settle();
    world.run_until_idle();
    assert_eq!(world.pixel(200, 5), BLUE);
    (world, owner, window)
}

fn keyboard(layer: &ZwlrLayerSurfaceV1) {
    layer.set_anchor(Anchor::Bottom | Anchor::Left | Anchor::Right);
    layer.set_size(0, 100);
}

/// Lets the input method receive the state of text fields, and shows the result.
fn sync_input_method(world: &mut TestWorld) {
    for _ in 0..3 {
        world.settle();
        world.turn();
    }
    world.run_until_idle();
}

#[test]
fn launcher_with_the_keyboard_is_above_fullscreen_and_the_bar_is_not() {
    let (mut world, owner, _window) = with_bar_below_fullscreen();
    let client = world.connect();
    let launcher = world.map_layer(client, Layer::Top, RED, |layer| {
        layer.set_size(300, 200);
        layer.set_keyboard_interactivity(Wants::Exclusive);
    });
    sync_input_method(&mut world);
    assert_eq!((world.pixel(MIDDLE.0, MIDDLE.1), world.pixel(200, 5)), (RED, BLUE));
    world.client(client).take_events();
    world.point(f64::from(MIDDLE.0), f64::from(MIDDLE.1));
    let entered = world.client(client).take_events();
    let launchers = id(&launcher.surface);
    assert!(
        entered.iter().any(|event| matches!(event, ClientEvent::PointerEnter { surface, .. } if *surface == launchers))
    );
    world.key(KEY_A, true);
    world.key(KEY_A, false);
    assert!(world.client(client).take_events().iter().any(|event| matches!(event, ClientEvent::Key { .. })));
    launcher.layer.set_keyboard_interactivity(Wants::None);
    launcher.surface.commit();
    sync_input_method(&mut world);
    // This pixel lies beside the cursor.
    assert_eq!(world.pixel(MIDDLE.0 - 50, MIDDLE.1), BLUE, "without the keyboard it is a surface like the bar");
    assert!(!world.client(owner).is_disconnected());
}

#[test]
fn onscreen_keyboard_is_above_fullscreen_while_a_field_is_enabled() {
    let (mut world, owner, _window) = with_bar_below_fullscreen();
    let field = text::field(&mut world, owner, "");
    let typist = world.connect();
    let _method = text::method(&mut world, typist);
    world.map_layer(typist, Layer::Top, RED, keyboard);
    sync_input_method(&mut world);
    assert_eq!(world.pixel(BOTTOM.0, BOTTOM.1), BLUE, "nothing is typed into");
    field.enable();
    field.commit();
    sync_input_method(&mut world);
    assert_eq!((world.pixel(BOTTOM.0, BOTTOM.1), world.pixel(200, 5)), (RED, BLUE));
    field.disable();
    field.commit();
    sync_input_method(&mut world);
    assert_eq!(world.pixel(BOTTOM.0, BOTTOM.1), BLUE);
}

#[test]
fn virtual_keyboard_client_is_above_fullscreen_while_it_has_a_virtual_keyboard() {
    let (mut world, ..) = with_bar_below_fullscreen();
    let typist = world.connect();
    let keys = {
        let client = world.client(typist);
        let globals = client.globals();
        globals.virtual_keyboards.create_virtual_keyboard(&globals.seat, &client.handle(), ())
    };
    world.map_layer(typist, Layer::Top, RED, keyboard);
    sync_input_method(&mut world);
    assert_eq!(world.pixel(BOTTOM.0, BOTTOM.1), RED);
    keys.destroy();
    sync_input_method(&mut world);
    assert_eq!(world.pixel(BOTTOM.0, BOTTOM.1), BLUE);
}

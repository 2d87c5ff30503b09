//! Keyboard focus and pointer hits of layer surfaces.

use upbeat::input::InputEvent;
use wayland_protocols_wlr::layer_shell::v1::client::zwlr_layer_surface_v1::KeyboardInteractivity as Wants;

use super::*;
use crate::fixture::{KEY_A, KEY_O};
use crate::lock::Locker;

/// Surfaces that the client's keyboard entered, and surfaces that its pointer entered; each list in order.
fn entered_surfaces(world: &mut TestWorld, client: ClientIndex) -> (Vec<u32>, Vec<u32>) {
    let (mut keyboard, mut pointer) = (Vec::new(), Vec::new());
    for event in world.client(client).take_events() {
        match event {
            ClientEvent::KeyboardEnter { surface } => keyboard.push(surface),
            ClientEvent::PointerEnter { surface, .. } => pointer.push(surface),
            _ => {}
        }
    }
    (keyboard, pointer)
}

fn is_typed_into(world: &mut TestWorld, client: ClientIndex) -> bool {
    world.client(client).take_events();
    world.key(KEY_A, true);
    world.key(KEY_A, false);
    world.client(client).take_events().iter().any(|event| matches!(event, ClientEvent::Key { .. }))
}

fn launcher(wants: Wants) -> impl FnOnce(&ZwlrLayerSurfaceV1) {
    move |layer| {
        layer.set_size(300, 200);
        layer.set_keyboard_interactivity(wants);
    }
}

#[test]
fn launcher_has_the_keyboard_as_long_as_it_is_mapped() {
    let mut world = TestWorld::new();
    let (window, _a) = world.open("a", 400, 300);
    let client = world.connect();
    let pinned = world.map_layer(client, Layer::Overlay, RED, launcher(Wants::Exclusive));
    assert!(is_typed_into(&mut world, client));
    assert!(!is_typed_into(&mut world, window));
    // A click on a window and a new window leave the keyboard with the launcher.
    let (x, y, ..) = rect(world.window("a"));
    world.click(f64::from(x) + 3.0, f64::from(y) + 3.0);
    let (other, _b) = world.open("b", 100, 100);
    assert!(is_typed_into(&mut world, client));
    assert!(!is_typed_into(&mut world, other));
    pinned.layer.destroy();
    world.settle();
    assert!(is_typed_into(&mut world, other));
}

#[test]
fn topmost_exclusive_layer_surface_has_the_keyboard_and_none_below_windows() {
    let mut world = TestWorld::new();
    let (window, _a) = world.open("a", 400, 300);
    let clients = [world.connect(), world.connect(), world.connect()];
    world.map_layer(clients[0], Layer::Background, RED, launcher(Wants::Exclusive));
    assert!(is_typed_into(&mut world, window));
    let overlay = world.map_layer(clients[1], Layer::Overlay, RED, launcher(Wants::Exclusive));
    world.map_layer(clients[2], Layer::Top, RED, launcher(Wants::Exclusive));
    assert!(is_typed_into(&mut world, clients[1]));
    overlay.layer.set_keyboard_interactivity(Wants::None);
    overlay.surface.commit();
    world.settle();
    assert!(is_typed_into(&mut world, clients[2]));
}

#[test]
fn on_demand_layer_surface_gets_the_keyboard_on_map_and_by_press() {
    let mut world = TestWorld::new();
    let (window, _a) = world.open("a", 400, 300);
    let client = world.connect();
    world.map_layer(client, Layer::Top, RED, |layer| {
        layer.set_anchor(Anchor::Top);
        layer.set_size(300, 40);
        layer.set_keyboard_interactivity(Wants::OnDemand);
    });
    assert!(is_typed_into(&mut world, client), "as a window that opens");
    let (other, _b) = world.open("b", 100, 100);
    assert!(is_typed_into(&mut world, other), "as from a window");
    world.click(f64::from(OUTPUT.0 / 2), 10.0);
    assert!(is_typed_into(&mut world, client));
    let (x, y, ..) = rect(world.window("a"));
    world.click(f64::from(x) + 3.0, f64::from(y) + 3.0);
    assert!(is_typed_into(&mut world, window));
    // A touch has the same effect.
    let time = world.now();
    world.input(InputEvent::TouchDown { time, slot: 0, position: (f64::from(OUTPUT.0 / 2), 10.0).into() });
    world.input(InputEvent::TouchUp { time, slot: 0 });
    assert!(is_typed_into(&mut world, client));
}

#[test]
fn press_on_a_bar_without_interactivity_keeps_the_keyboard_focus() {
    let mut world = TestWorld::new();
    let (window, _a) = world.open("a", 400, 300);
    let client = world.connect();
    world.map_layer(client, Layer::Top, RED, bar(30));
    world.client(client).take_events();
    world.click(10.0, 10.0);
    let pressed = world.client(client).take_events();
    assert!(pressed.iter().any(|event| matches!(event, ClientEvent::Button { pressed: true, .. })));
    assert!(is_typed_into(&mut world, window));
}

#[test]
fn uppermost_surface_is_hit_first() {
    let mut world = TestWorld::rendered();
    let client = world.connect();
    let all = |layer: &ZwlrLayerSurfaceV1| layer.set_anchor(Anchor::all());
    let wallpaper = world.map_layer(client, Layer::Background, GREEN, all);
    let (window, a) = world.open_filled("a", (400, 300), BLUE);
    let top = world.map_layer(client, Layer::Top, RED, |layer| {
        layer.set_anchor(Anchor::Left);
        layer.set_size(600, 100);
    });
    world.run_until_idle();
    world.point(5.0, 5.0);
    assert_eq!(entered_surfaces(&mut world, client).1, [id(&wallpaper.surface)]);
    world.point(500.0, 360.0);
    assert_eq!(entered_surfaces(&mut world, client).1, [id(&top.surface)]);
    world.client(window).take_events();
    world.point(650.0, 360.0);
    assert_eq!(entered_surfaces(&mut world, window).1, [id(&a.surface)]);
}

#[test]
fn bars_are_shown_and_clickable_in_the_overview() {
    let mut world = TestWorld::rendered();
    let client = world.connect();
    world.map_layer(client, Layer::Top, RED, bar(30));
    world.open_filled("a", (400, 300), BLUE);
    world.run_until_idle();
    world.chord(&[KEY_LEFT_SUPER], KEY_O);
    world.run_until_idle();
    // The cursor lies in the corner.
    assert_eq!(world.pixel(200, 10), RED);
    world.client(client).take_events();
    world.click(10.0, 10.0);
    let heard = world.client(client).take_events();
    assert!(heard.iter().any(|event| matches!(event, ClientEvent::Button { pressed: true, .. })), "{heard:?}");
    assert!(world.state.shell.overlays().overview().is_on(), "the bar got the click, not the overview");
    // A launcher that opens there gets the keyboard.
    world.map_layer(client, Layer::Overlay, GREEN, launcher(Wants::Exclusive));
    assert!(is_typed_into(&mut world, client));
}

#[test]
fn a_bar_has_menus_that_lie_above_windows_and_take_a_grab() {
    let mut world = TestWorld::new();
    let (window, _w) = maximised(&mut world);
    let client = world.connect();
    let pinned = world.map_layer(client, Layer::Bottom, RED, bar(30));
    world.client(client).take_events();
    world.click(100.0, 10.0);
    let serial = world.client(client).press_serial();
    let seat = world.client(client).globals().seat.clone();
    let positioner = world.client(client).positioner(OUTPUT.0 - 10, 30, 100, 80);
    let popup = world.client(client).orphan_popup(&positioner);
    pinned.layer.get_popup(&popup.popup);
    popup.popup.grab(&seat, serial);
    popup.surface.commit();
    world.settle();
    world.client(client).ack_newest_configure();
    world.client(client).commit_buffer(&popup.surface, 100, 80);
    world.settle();
    let shell = &world.state.shell;
    let root = shell.layers().shown().next().unwrap().surface();
    let at: Vec<_> = shell.popups_of(root).map(|(_, at)| (at.x, at.y)).collect();
    assert_eq!(at, [(OUTPUT.0 - 100, 30)], "it slides back onto the screen");
    let hit = shell.hit((f64::from(OUTPUT.0) - 50.0, 60.0).into()).expect("a surface is hit").0;
    assert_eq!(smithay::reexports::wayland_server::Resource::id(&hit).protocol_id(), id(&popup.surface));
    assert!(is_typed_into(&mut world, client), "a menu that grabs has the keyboard");
    world.click(300.0, 400.0);
    assert!(world.client(client).take_events().iter().any(|event| matches!(event, ClientEvent::PopupDone)));
    assert!(is_typed_into(&mut world, window));
    pinned.layer.destroy();
    world.settle();
    assert!(!world.client(client).is_disconnected());
}

#[test]
fn nothing_takes_the_keyboard_from_the_locker() {
    let mut world = TestWorld::rendered();
    let client = world.connect();
    world.map_layer(client, Layer::Overlay, RED, launcher(Wants::Exclusive));
    world.run_until_idle();
    let locker = Locker::lock(&mut world, BLUE);
    world.run_until_idle();
    let late = world.connect();
    world.map_layer(late, Layer::Overlay, GREEN, launcher(Wants::Exclusive));
    world.run_until_idle();
    assert_eq!(world.pixel(OUTPUT.0 / 2, OUTPUT.1 / 2), BLUE, "no layer lies above the lock");
    world.click(f64::from(OUTPUT.0 / 2), f64::from(OUTPUT.1 / 2));
    assert!(!is_typed_into(&mut world, client) && !is_typed_into(&mut world, late));
    assert!(is_typed_into(&mut world, locker.client));
    locker.unlock(&mut world);
    assert!(is_typed_into(&mut world, late));
}

/// Makes the window fullscreen, or ends its fullscreen state.
fn set_fullscreen(world: &mut TestWorld, client: ClientIndex, window: &TestToplevel, fullscreen: bool) {
    match fullscreen {
        true => window.toplevel.set_fullscreen(None),
        false => window.toplevel.unset_fullscreen(),
    }
    world.settle();
    world.client(client).ack_newest_configure();
    let size = if fullscreen { OUTPUT } else { (400, 300) };
    world.client(client).commit_buffer(&window.surface, size.0, size.1);
    world.settle();
    world.turn();
}

#[test]
fn layer_surface_below_a_fullscreen_window_has_no_keyboard() {
    for wants in [Wants::Exclusive, Wants::OnDemand] {
        let mut world = TestWorld::new();
        let (window, a) = world.open("a", 400, 300);
        let client = world.connect();
        world.map_layer(client, Layer::Top, RED, launcher(wants));
        assert!(is_typed_into(&mut world, client), "{wants:?}");
        // Another layer surface has the keyboard when the window becomes fullscreen.
        let other = world.connect();
        let above = (wants == Wants::Exclusive).then(|| world.map_layer(other, Layer::Overlay, RED, launcher(wants)));
        set_fullscreen(&mut world, window, &a, true);
        above.into_iter().for_each(|above| above.layer.destroy());
        world.settle();
        assert!(is_typed_into(&mut world, window), "{wants:?}");
        set_fullscreen(&mut world, window, &a, false);
        let has_it = is_typed_into(&mut world, client);
        assert_eq!(has_it, wants == Wants::Exclusive, "{wants:?}: only an exclusive surface takes it back");
    }
}

#[test]
fn prompt_keeps_the_keyboard_when_a_window_goes_fullscreen() {
    let mut world = TestWorld::new();
    let (window, a) = world.open("a", 400, 300);
    let client = world.connect();
    let prompt = world.map_layer(client, Layer::Top, RED, launcher(Wants::Exclusive));
    for fullscreen in [true, false, true] {
        set_fullscreen(&mut world, window, &a, fullscreen);
        assert!(is_typed_into(&mut world, client), "a password goes to no other window");
        assert!(!is_typed_into(&mut world, window));
        let hit = world.state.shell.hit((f64::from(OUTPUT.0 / 2), f64::from(OUTPUT.1 / 2)).into()).unwrap().0;
        let hit = smithay::reexports::wayland_server::Resource::id(&hit).protocol_id();
        assert_eq!(hit, id(&prompt.surface), "the prompt is visible");
    }
    prompt.layer.destroy();
    world.settle();
    assert!(is_typed_into(&mut world, window));
}

#[test]
fn launcher_that_opens_above_a_fullscreen_window_has_the_keyboard() {
    for wants in [Wants::Exclusive, Wants::OnDemand] {
        let mut world = TestWorld::new();
        let (window, a) = world.open("a", 400, 300);
        set_fullscreen(&mut world, window, &a, true);
        let client = world.connect();
        world.map_layer(client, Layer::Top, RED, launcher(wants));
        world.turn();
        assert!(is_typed_into(&mut world, client), "{wants:?}");
    }
}

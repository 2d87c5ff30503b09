//! Popups (`xdg_popup`): placement, grabs and dismissal.

use smithay::reexports::wayland_server::Resource as _;

use crate::fixture::dispatch::id;
use crate::fixture::{BUTTON_LEFT, ClientEvent, ClientIndex, OUTPUT, TestPopup, TestToplevel, TestWorld};
use wayland_protocols::xdg::shell::client::xdg_wm_base;

fn open_popup(world: &mut TestWorld, client: ClientIndex, parent: &TestToplevel, x: i32, y: i32) -> TestPopup {
    let positioner = world.client(client).positioner(x, y, 100, 80);
    let popup = world.client(client).popup(&parent.xdg, &positioner);
    show(world, client, &popup);
    popup
}

fn show(world: &mut TestWorld, client: ClientIndex, popup: &TestPopup) {
    popup.surface.commit();
    world.settle();
    world.client(client).ack_newest_configure();
    world.client(client).commit_buffer(&popup.surface, 100, 80);
    world.settle();
}

/// Opens a popup that grabs, after a click on its parent.
fn open_menu(world: &mut TestWorld, client: ClientIndex, parent: &TestToplevel) -> TestPopup {
    let corner = world.window("a").rect().loc.to_f64();
    world.client(client).take_events();
    world.click(corner.x + 5.0, corner.y + 5.0);
    let serial = world.client(client).press_serial();
    let seat = world.client(client).globals().seat.clone();
    let positioner = world.client(client).positioner(10, 10, 100, 80);
    let popup = world.client(client).popup(&parent.xdg, &positioner);
    popup.popup.grab(&seat, serial);
    show(world, client, &popup);
    popup
}

fn popup_locations(world: &TestWorld) -> Vec<(i32, i32)> {
    let window = world.window("a");
    world.state.shell.popups_of(window.surface()).map(|(_, location)| (location.x, location.y)).collect()
}

#[test]
fn a_popup_appears_at_its_anchor() {
    let mut world = TestWorld::new();
    let (client, window) = world.open("a", 400, 300);
    open_popup(&mut world, client, &window, 30, 40);
    let corner = world.window("a").rect().loc;
    assert_eq!(popup_locations(&world), [(corner.x + 30, corner.y + 40)]);
}

#[test]
fn a_popup_that_would_leave_the_screen_slides_back() {
    let mut world = TestWorld::new();
    let (client, window) = world.open("a", 400, 300);
    let surface = world.window("a").surface().clone();
    upbeat::shell::set_location(&mut world.state, &surface, (OUTPUT.0 - 400, OUTPUT.1 - 300).into());
    open_popup(&mut world, client, &window, 390, 290);
    assert_eq!(popup_locations(&world), [(OUTPUT.0 - 100, OUTPUT.1 - 80)]);
}

#[test]
fn repositioned_popup_moves_after_its_client_acknowledged() {
    let mut world = TestWorld::new();
    let (client, window) = world.open("a", 400, 300);
    let popup = open_popup(&mut world, client, &window, 30, 40);
    world.client(client).take_events();
    let before = popup_locations(&world);
    let positioner = world.client(client).positioner(50, 60, 100, 80);
    popup.popup.reposition(&positioner, 77);
    world.settle();
    assert_eq!(popup_locations(&world), before);
    assert!(world.client(client).data.events.iter().any(|event| matches!(event, ClientEvent::Repositioned(77))));
    world.client(client).ack_newest_configure();
    popup.surface.commit();
    world.settle();
    assert_eq!(popup_locations(&world), [(before[0].0 + 20, before[0].1 + 20)]);
}

#[test]
fn a_menu_has_the_keyboard_until_a_click_elsewhere_closes_it() {
    let mut world = TestWorld::new();
    let (other, _) = world.open("other", 1000, 600);
    let (client, window) = world.open("a", 200, 150);
    let popup = open_menu(&mut world, client, &window);
    let menu = id(&popup.surface);
    let events = world.client(client).take_events();
    assert!(events.iter().any(|event| matches!(event, ClientEvent::KeyboardEnter { surface } if *surface == menu)));

    world.client(other).take_events();
    world.point(200.0, 100.0);
    world.button(BUTTON_LEFT, true);
    world.button(BUTTON_LEFT, false);
    assert!(world.client(client).data.events.iter().any(|event| matches!(event, ClientEvent::PopupDone)));
    assert!(popup_locations(&world).is_empty(), "hidden at once, however late its client destroys it");
    assert!(
        !world.client(other).take_events().iter().any(|event| matches!(event, ClientEvent::Button { .. })),
        "the click that closes a menu does nothing else"
    );
    let back = id(&window.surface);
    let events = world.client(client).take_events();
    assert!(events.iter().any(|event| matches!(event, ClientEvent::KeyboardEnter { surface } if *surface == back)));
}

#[test]
fn a_grab_without_a_press_is_refused_by_closing_the_popup() {
    let mut world = TestWorld::new();
    let (client, window) = world.open("a", 200, 150);
    let seat = world.client(client).globals().seat.clone();
    let positioner = world.client(client).positioner(10, 10, 100, 80);
    let popup = world.client(client).popup(&window.xdg, &positioner);
    popup.popup.grab(&seat, 4_000_000_000);
    world.settle();
    assert!(world.client(client).data.events.iter().any(|event| matches!(event, ClientEvent::PopupDone)));
    assert!(!world.client(client).is_disconnected());
}

#[test]
fn popups_are_closed_from_the_topmost_down() {
    let mut world = TestWorld::new();
    let (client, window) = world.open("a", 200, 150);
    let first = open_popup(&mut world, client, &window, 10, 10);
    let positioner = world.client(client).positioner(20, 20, 100, 80);
    let second = world.client(client).popup(&first.xdg, &positioner);
    show(&mut world, client, &second);
    let corner = world.window("a").rect().loc;
    assert_eq!(popup_locations(&world), [(corner.x + 10, corner.y + 10), (corner.x + 30, corner.y + 30)]);

    first.popup.destroy();
    world.settle();
    let code = xdg_wm_base::Error::NotTheTopmostPopup as u32;
    assert_eq!(world.client(client).error, Some(("xdg_wm_base".to_owned(), code)));
    assert!(world.stack().is_empty());
}

#[test]
fn keyboard_returns_after_a_grabbing_popups_client_dies() {
    let mut world = TestWorld::new();
    let (other, other_window) = world.open("other", 1000, 600);
    let (client, window) = world.open("a", 200, 150);
    open_menu(&mut world, client, &window);
    world.client(other).take_events();
    world.kill(client);
    let back = id(&other_window.surface);
    let events = world.client(other).take_events();
    assert!(events.iter().any(|event| matches!(event, ClientEvent::KeyboardEnter { surface } if *surface == back)));
    world.click(200.0, 100.0);
    assert!(world.client(other).take_events().iter().any(|event| matches!(event, ClientEvent::Button { .. })));
}

#[test]
fn popup_of_a_destroyed_parent_is_hidden() {
    let mut world = TestWorld::new();
    let (client, window) = world.open("a", 200, 150);
    let popup = open_popup(&mut world, client, &window, 10, 10);
    window.surface.attach(None, 0, 0);
    window.surface.commit();
    world.settle();
    assert!(world.client(client).data.events.iter().any(|event| matches!(event, ClientEvent::PopupDone)));
    world.client(client).commit_buffer(&popup.surface, 100, 80);
    world.settle();
    assert!(world.stack().is_empty());
    assert!(!world.client(client).is_disconnected());
}

#[test]
fn a_new_window_closes_the_menus_of_others() {
    let mut world = TestWorld::new();
    let (client, window) = world.open("a", 200, 150);
    open_menu(&mut world, client, &window);
    let (other, _) = world.open("other", 300, 200);
    assert!(world.client(client).data.events.iter().any(|event| matches!(event, ClientEvent::PopupDone)));
    world.client(other).take_events();
    world.key(crate::fixture::KEY_A, true);
    assert!(world.client(other).take_events().iter().any(|event| matches!(event, ClientEvent::Key { .. })));
}

#[test]
fn late_grab_on_dismissed_popup_gets_popup_done() {
    let mut world = TestWorld::new();
    world.open("other", 1000, 600);
    let (client, window) = world.open("a", 200, 150);
    let menu = open_menu(&mut world, client, &window);
    let serial = click_on_menu(&mut world, client);
    world.point(200.0, 100.0);
    world.client(client).take_events();

    // The press dismisses the menu before this request arrives.
    let seat = world.client(client).globals().seat.clone();
    let positioner = world.client(client).positioner(20, 20, 100, 80);
    let nested = world.client(client).popup(&menu.xdg, &positioner);
    nested.popup.grab(&seat, serial);
    world.button(BUTTON_LEFT, true);
    world.button(BUTTON_LEFT, false);
    let client = world.client(client);
    assert_eq!(client.error, None);
    assert_eq!(popups_done(client.events()), 2, "the menu and its submenu");
}

#[test]
fn late_grab_while_another_clients_menu_is_open_gets_popup_done() {
    let mut world = TestWorld::new();
    let (late, late_window) = world.open("late", 300, 200);
    let (client, window) = world.open("a", 200, 150);
    world.move_window("late", (0, 0));
    world.move_window("a", (600, 300));
    world.click(200.0, 100.0);
    let serial = world.client(late).press_serial();
    let menu = open_menu(&mut world, client, &window);
    world.client(late).take_events();

    let seat = world.client(late).globals().seat.clone();
    let positioner = world.client(late).positioner(20, 20, 100, 80);
    let popup = world.client(late).popup(&late_window.xdg, &positioner);
    popup.popup.grab(&seat, serial);
    world.settle();
    assert_eq!(world.client(late).error, None);
    assert_eq!(popups_done(world.client(late).events()), 1);
    assert_eq!(popups_done(world.client(client).events()), 0, "the open menu stays");
    let grabbing = world.state.shell.grabbing_popup().map(|surface| surface.id().protocol_id());
    assert_eq!(grabbing, Some(id(&menu.surface)));
}

#[test]
fn grab_beside_the_own_topmost_popup_is_an_error() {
    let mut world = TestWorld::new();
    let (client, window) = world.open("a", 200, 150);
    open_menu(&mut world, client, &window);
    let serial = click_on_menu(&mut world, client);
    let seat = world.client(client).globals().seat.clone();
    let positioner = world.client(client).positioner(20, 20, 100, 80);
    let beside = world.client(client).popup(&window.xdg, &positioner);
    beside.popup.grab(&seat, serial);
    world.settle();
    let code = xdg_wm_base::Error::NotTheTopmostPopup as u32;
    assert_eq!(world.client(client).error, Some(("xdg_wm_base".to_owned(), code)));
}

/// Clicks on the menu of [`open_menu`] and returns the serial of the press.
fn click_on_menu(world: &mut TestWorld, client: ClientIndex) -> u32 {
    let corner = world.window("a").rect().loc.to_f64();
    world.click(corner.x + 20.0, corner.y + 20.0);
    world.client(client).press_serial()
}

fn popups_done(events: &[ClientEvent]) -> usize {
    events.iter().filter(|event| matches!(event, ClientEvent::PopupDone)).count()
}

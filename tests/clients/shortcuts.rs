//! `zwp_keyboard_shortcuts_inhibit_v1`: clients that get the session's shortcuts as keys.

use upbeat::bindings::{Chord, ShortcutAction};
use upbeat_timing::time::Span;
use wayland_client::protocol::wl_seat::WlSeat;
use wayland_client::protocol::wl_surface::WlSurface;
use wayland_client::{Connection, Dispatch, Proxy, QueueHandle};
use wayland_protocols::wp::keyboard_shortcuts_inhibit::zv1::client::zwp_keyboard_shortcuts_inhibit_manager_v1::ZwpKeyboardShortcutsInhibitManagerV1;
use wayland_protocols::wp::keyboard_shortcuts_inhibit::zv1::client::zwp_keyboard_shortcuts_inhibitor_v1::{
    self, ZwpKeyboardShortcutsInhibitorV1,
};

use crate::fixture::client::TestClientState;
use crate::fixture::simulated::nothing;
use crate::fixture::{
    BUTTON_LEFT, ClientEvent, ClientIndex, KEY_A, KEY_ESCAPE, KEY_F4, KEY_LEFT_ALT, KEY_LEFT_SUPER, KEY_O,
    KEY_PAGE_DOWN, KEY_TAB, KEY_VOLUME_UP, TestWorld,
};
use crate::lock::Locker;

impl Dispatch<ZwpKeyboardShortcutsInhibitManagerV1, ()> for TestClientState {
    fn event(
        _: &mut Self,
        _: &ZwpKeyboardShortcutsInhibitManagerV1,
        _: <ZwpKeyboardShortcutsInhibitManagerV1 as Proxy>::Event,
        _: &(),
        _: &Connection,
        _: &QueueHandle<Self>,
    ) {
    }
}

impl Dispatch<ZwpKeyboardShortcutsInhibitorV1, ()> for TestClientState {
    fn event(
        data: &mut Self,
        _: &ZwpKeyboardShortcutsInhibitorV1,
        event: zwp_keyboard_shortcuts_inhibitor_v1::Event,
        _: &(),
        _: &Connection,
        _: &QueueHandle<Self>,
    ) {
        let words = match event {
            zwp_keyboard_shortcuts_inhibitor_v1::Event::Active => "active",
            zwp_keyboard_shortcuts_inhibitor_v1::Event::Inactive => "inactive",
            _ => return,
        };
        data.events.push(ClientEvent::InWords(words.to_owned()));
    }
}

fn inhibitor(world: &mut TestWorld, client: ClientIndex, surface: &WlSurface) -> ZwpKeyboardShortcutsInhibitorV1 {
    let client = world.client(client);
    let manager = client.bind::<ZwpKeyboardShortcutsInhibitManagerV1>();
    manager.inhibit_shortcuts(surface, &client.bind::<WlSeat>(), &client.handle(), ())
}

fn inhibitor_events(world: &mut TestWorld, client: ClientIndex) -> Vec<String> {
    world.settle();
    let told = |event| if let ClientEvent::InWords(words) = event { Some(words) } else { None };
    world.client(client).take_events().into_iter().filter_map(told).collect()
}

/// Whether the client receives the press of `key` while `held` is down.
fn receives_key(world: &mut TestWorld, client: ClientIndex, held: u32, key: u32) -> bool {
    inhibitor_events(world, client);
    world.chord(&[held], key);
    world.settle();
    let heard = |event| matches!(event, ClientEvent::Key { key: heard, pressed: true, .. } if heard == key);
    world.client(client).take_events().into_iter().any(heard)
}

#[test]
fn focused_inhibitor_gets_shortcuts_until_the_user_deactivates_it() {
    let mut world = TestWorld::rendered();
    let (other, _) = world.open("other", 200, 100);
    let (remote, window) = world.open("remote", 200, 100);
    let _inhibitor = inhibitor(&mut world, remote, &window.surface);
    assert_eq!(inhibitor_events(&mut world, remote), ["active"]);
    assert!(receives_key(&mut world, remote, KEY_LEFT_ALT, KEY_TAB));
    assert!(receives_key(&mut world, remote, KEY_LEFT_ALT, KEY_F4));
    assert_eq!(world.focused().as_deref(), Some("remote"));
    world.chord(&[KEY_LEFT_SUPER], KEY_ESCAPE);
    assert_eq!(inhibitor_events(&mut world, remote), ["inactive"]);
    assert!(!receives_key(&mut world, remote, KEY_LEFT_ALT, KEY_TAB));
    assert_eq!(world.focused().as_deref(), Some("other"));
    // `Super+Escape` ends an inhibitor. This client has none, so it receives the keys.
    assert!(receives_key(&mut world, other, KEY_LEFT_SUPER, KEY_ESCAPE));
    assert!(!receives_key(&mut world, other, KEY_LEFT_ALT, KEY_TAB), "a client without the keyboard gets no shortcuts");
    world.chord(&[KEY_LEFT_SUPER], KEY_ESCAPE);
    assert_eq!(inhibitor_events(&mut world, remote), ["active"]);
    assert!(receives_key(&mut world, remote, KEY_LEFT_ALT, KEY_TAB));
}

#[test]
fn shortcuts_are_not_inhibited_in_the_overview() {
    let mut world = TestWorld::rendered();
    let (remote, window) = world.open("remote", 200, 100);
    world.chord(&[KEY_LEFT_SUPER], KEY_O);
    let _inhibitor = inhibitor(&mut world, remote, &window.surface);
    assert_eq!(inhibitor_events(&mut world, remote), ["active"]);
    assert!(!receives_key(&mut world, remote, KEY_LEFT_SUPER, KEY_O), "it closes the overview");
    assert!(receives_key(&mut world, remote, KEY_LEFT_SUPER, KEY_O), "and now it is the window's");
}

#[test]
fn key_pressed_while_inhibited_is_released_to_the_same_window() {
    let mut world = TestWorld::rendered();
    let (remote, window) = world.open("remote", 200, 100);
    let inhibitor = inhibitor(&mut world, remote, &window.surface);
    inhibitor_events(&mut world, remote);
    world.key(KEY_LEFT_SUPER, true);
    world.key(KEY_O, true);
    inhibitor.destroy();
    inhibitor_events(&mut world, remote);
    world.key(KEY_O, false);
    world.settle();
    let released = |event| matches!(event, ClientEvent::Key { key: KEY_O, pressed: false, .. });
    assert!(world.client(remote).take_events().into_iter().any(released));
    world.key(KEY_LEFT_SUPER, false);
    assert!(!receives_key(&mut world, remote, KEY_LEFT_SUPER, KEY_O), "it gave them back");
}

#[test]
fn second_inhibitor_is_an_error_and_a_dead_client_leaves_none() {
    let mut world = TestWorld::rendered();
    let (remote, window) = world.open("remote", 200, 100);
    let first = inhibitor(&mut world, remote, &window.surface);
    first.destroy();
    let _again = inhibitor(&mut world, remote, &window.surface);
    assert_eq!(inhibitor_events(&mut world, remote), ["active"], "the first inhibitor was destroyed before its event");
    let _second = inhibitor(&mut world, remote, &window.surface);
    world.settle();
    assert!(
        world.client(remote).error_message().contains("has an inhibitor"),
        "{}",
        world.client(remote).error_message()
    );
    world.kill(remote);
    world.open("other", 200, 100);
    world.key(KEY_A, true);
    world.settle();
    assert_eq!(world.focused().as_deref(), Some("other"));
}

#[test]
fn inhibitor_gets_mod_button_while_the_pointer_is_on_its_window() {
    let mut world = TestWorld::rendered();
    let (other, _) = world.open("other", 200, 100);
    world.move_window("other", (600, 0));
    let (remote, window) = world.open("remote", 200, 100);
    world.move_window("remote", (0, 0));
    world.run_until_idle();
    let _inhibitor = inhibitor(&mut world, remote, &window.surface);
    let presses = |world: &mut TestWorld, at: (f64, f64), client: ClientIndex| {
        world.point(at.0, at.1);
        world.key(KEY_LEFT_SUPER, true);
        inhibitor_events(world, client);
        world.button(BUTTON_LEFT, true);
        world.button(BUTTON_LEFT, false);
        world.key(KEY_LEFT_SUPER, false);
        let events = world.client(client).take_events();
        events.into_iter().any(|event| matches!(event, ClientEvent::Button { pressed: true, .. }))
    };
    assert!(presses(&mut world, (50.0, 50.0), remote));
    assert!(!presses(&mut world, (650.0, 50.0), other), "it moves the other window");
}

/// Holds the volume key for two seconds and counts its action instead of running it. Returns the count.
fn times_of_the_volume_key(world: &mut TestWorld) -> u8 {
    let chord: Chord = "XF86AudioRaiseVolume".parse().unwrap();
    let bound = world.state.bindings.keys.get_mut(&chord).unwrap();
    assert!(bound.repeats && bound.when_locked, "as it is by default");
    bound.action = ShortcutAction::NextWorkspace;
    let row = |world: &TestWorld| world.state.shell.workspaces().screens().next().unwrap().0;
    let number = |world: &TestWorld| world.state.shell.workspaces().active(row(world)).get();
    let before = number(world);
    world.key(KEY_VOLUME_UP, true);
    // The first repetition comes after 400 ms, then one each 40 ms.
    world.run_for(Span::from_millis(400 + 4 * 40 + 20), &mut nothing);
    world.key(KEY_VOLUME_UP, false);
    let times = number(world) - before;
    world.run_for(Span::from_seconds(1), &mut nothing);
    assert_eq!(number(world) - before, times, "it is not held any more");
    times
}

#[test]
fn held_volume_key_is_repeated_whether_the_session_is_locked_or_not() {
    let mut world = TestWorld::simulated(&[60_000]);
    assert_eq!(times_of_the_volume_key(&mut world), 6);
    let mut world = TestWorld::simulated(&[60_000]);
    let _locker = Locker::ask(&mut world);
    assert_eq!(times_of_the_volume_key(&mut world), 6);
}

#[test]
fn held_key_that_may_do_nothing_while_locked_is_not_repeated_then() {
    let mut world = TestWorld::simulated(&[60_000]);
    let chord: Chord = "Mod+Page_Down".parse().unwrap();
    world.state.bindings.keys.get_mut(&chord).unwrap().repeats = true;
    let row = world.state.shell.workspaces().screens().next().unwrap().0;
    world.key(KEY_LEFT_SUPER, true);
    world.key(KEY_PAGE_DOWN, true);
    world.run_for(Span::from_millis(450), &mut nothing);
    let before = world.state.shell.workspaces().active(row);
    assert_eq!(before.get(), 4, "pressed, and repeated twice");
    let _locker = Locker::ask(&mut world);
    world.run_for(Span::from_millis(450), &mut nothing);
    assert_eq!(world.state.shell.workspaces().active(row), before);
}

//! `ext-idle-notify` and `idle-inhibit`: notifications about an idle user, and surfaces that prevent them.

use wayland_client::protocol::wl_seat::WlSeat;
use wayland_client::protocol::wl_surface::WlSurface;
use wayland_client::{Connection, Dispatch, Proxy, QueueHandle};
use wayland_protocols::ext::idle_notify::v1::client::ext_idle_notification_v1::{self, ExtIdleNotificationV1};
use wayland_protocols::ext::idle_notify::v1::client::ext_idle_notifier_v1::ExtIdleNotifierV1;
use wayland_protocols::wp::idle_inhibit::zv1::client::zwp_idle_inhibit_manager_v1::ZwpIdleInhibitManagerV1;
use wayland_protocols::wp::idle_inhibit::zv1::client::zwp_idle_inhibitor_v1::ZwpIdleInhibitorV1;

use upbeat_timing::time::Span;

use crate::fixture::client::TestClientState;
use crate::fixture::{ClientEvent, ClientIndex, KEY_1, KEY_2, KEY_LEFT_SUPER, TestWorld};

/// Idle timeout in these tests, in milliseconds.
const TIMEOUT: u32 = 1_000;

impl Dispatch<ExtIdleNotifierV1, ()> for TestClientState {
    fn event(
        _: &mut Self,
        _: &ExtIdleNotifierV1,
        _: <ExtIdleNotifierV1 as Proxy>::Event,
        _: &(),
        _: &Connection,
        _: &QueueHandle<Self>,
    ) {
    }
}

impl Dispatch<ExtIdleNotificationV1, ()> for TestClientState {
    fn event(
        data: &mut Self,
        _: &ExtIdleNotificationV1,
        event: ext_idle_notification_v1::Event,
        _: &(),
        _: &Connection,
        _: &QueueHandle<Self>,
    ) {
        let words = match event {
            ext_idle_notification_v1::Event::Idled => "idled",
            ext_idle_notification_v1::Event::Resumed => "resumed",
            _ => return,
        };
        data.events.push(ClientEvent::InWords(words.to_owned()));
    }
}

/// Runs the session for this time, and returns the events of the client.
fn events_within(world: &mut TestWorld, client: ClientIndex, millis: i64) -> Vec<String> {
    world.settle();
    world.run_for(Span::from_millis(millis), &mut |_| None);
    world.settle();
    let told = |event| if let ClientEvent::InWords(words) = event { Some(words) } else { None };
    world.client(client).take_events().into_iter().filter_map(told).collect()
}

fn seat(world: &mut TestWorld, client: ClientIndex) -> (ExtIdleNotifierV1, WlSeat) {
    let client = world.client(client);
    (client.bind(), client.bind())
}

pub fn notification(world: &mut TestWorld, client: ClientIndex) -> ExtIdleNotificationV1 {
    let (notifier, seat) = seat(world, client);
    notifier.get_idle_notification(TIMEOUT, &seat, &world.client(client).handle(), ())
}

pub fn inhibitor(world: &mut TestWorld, client: ClientIndex, surface: &WlSurface) -> ZwpIdleInhibitorV1 {
    let client = world.client(client);
    client.bind::<ZwpIdleInhibitManagerV1>().create_inhibitor(surface, &client.handle(), ())
}

const IDLED: [&str; 1] = ["idled"];
const RESUMED: [&str; 1] = ["resumed"];
const NOTHING: [&str; 0] = [];

#[test]
fn idle_notification_is_sent_after_the_timeout_and_on_resume() {
    let mut world = TestWorld::rendered();
    let client = world.connect();
    let _notification = notification(&mut world, client);
    assert_eq!(events_within(&mut world, client, 900), NOTHING);
    world.point(10.0, 10.0);
    assert_eq!(events_within(&mut world, client, 900), NOTHING);
    assert_eq!(events_within(&mut world, client, 200), IDLED);
    assert_eq!(events_within(&mut world, client, 5_000), NOTHING);
    world.key(30, true);
    assert_eq!(events_within(&mut world, client, 10), RESUMED);
    world.key(30, false);
    assert_eq!(events_within(&mut world, client, 1_100), IDLED);
}

#[test]
fn only_inhibitors_of_visible_surfaces_count() {
    let mut world = TestWorld::rendered();
    let (player, window) = world.open("player", 200, 100);
    let watcher = world.connect();
    let _notification = notification(&mut world, watcher);
    let (notifier, seat) = seat(&mut world, watcher);
    let inhibitor = inhibitor(&mut world, player, &window.surface);
    assert_eq!(events_within(&mut world, watcher, 3_000), NOTHING);
    let _of_input = notifier.get_input_idle_notification(TIMEOUT, &seat, &world.client(watcher).handle(), ());
    assert_eq!(events_within(&mut world, watcher, 3_000), IDLED, "input idleness ignores inhibitors");
    // An inhibitor on a hidden workspace does not count. The keys that switch workspaces are input like any other.
    world.chord(&[KEY_LEFT_SUPER], KEY_2);
    assert_eq!(events_within(&mut world, watcher, 900), RESUMED);
    assert_eq!(events_within(&mut world, watcher, 200), ["idled", "idled"]);
    world.chord(&[KEY_LEFT_SUPER], KEY_1);
    assert_eq!(events_within(&mut world, watcher, 900), ["resumed", "resumed"]);
    assert_eq!(events_within(&mut world, watcher, 5_000), IDLED, "only the input notification");
    inhibitor.destroy();
    assert_eq!(events_within(&mut world, watcher, 1_100), IDLED);
}

#[test]
fn inhibitor_is_forgotten_with_its_surface() {
    let mut world = TestWorld::rendered();
    let (player, window) = world.open("player", 200, 100);
    let (other, kept) = world.open("other", 200, 100);
    let _of_gone = inhibitor(&mut world, player, &window.surface);
    let _of_kept = inhibitor(&mut world, other, &kept.surface);
    world.settle();
    let inhibiting = |world: &TestWorld| world.state.protocols.idle_inhibitors().count();
    assert_eq!(inhibiting(&world), 2);
    window.toplevel.destroy();
    window.xdg.destroy();
    window.surface.destroy();
    world.settle();
    assert_eq!(inhibiting(&world), 1);
}

#[test]
fn extreme_idle_timeouts_work_and_destroyed_notifications_stop() {
    let mut world = TestWorld::rendered();
    let client = world.connect();
    let (notifier, seat) = seat(&mut world, client);
    let handle = world.client(client).handle();
    let never = notifier.get_idle_notification(u32::MAX, &seat, &handle, ());
    let at_once = notifier.get_idle_notification(0, &seat, &handle, ());
    assert_eq!(events_within(&mut world, client, 100), IDLED);
    at_once.destroy();
    world.point(10.0, 10.0);
    assert_eq!(events_within(&mut world, client, 100), NOTHING);
    never.destroy();
    let _third = notifier.get_idle_notification(TIMEOUT, &seat, &handle, ());
    world.kill(client);
    world.run_for(Span::from_seconds(2), &mut |_| None);
}

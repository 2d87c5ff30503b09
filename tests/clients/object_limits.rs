//! A client that exceeds the limit for a kind of object gets an error that names the kind; no other client is affected.

use crate::bad_input::world;
use crate::fixture::client::TestClientState;
use crate::fixture::content::RED;
use crate::fixture::{ClientEvent, ClientIndex, TestToplevel, TestWorld};
use smithay::wayland::compositor::{RegionAttributes, SurfaceAttributes};
use upbeat::guard::Kind;
use upbeat::guard::with_states;
use upbeat::surface::regions::MOST_OPAQUE;
use wayland_client::{Connection, Dispatch, QueueHandle};
use wayland_protocols::ext::foreign_toplevel_list::v1::client::ext_foreign_toplevel_list_v1::ExtForeignToplevelListV1;
use wayland_protocols::ext::idle_notify::v1::client::ext_idle_notifier_v1::ExtIdleNotifierV1;
use wayland_protocols::ext::image_capture_source::v1::client::ext_output_image_capture_source_manager_v1::ExtOutputImageCaptureSourceManagerV1;
use wayland_protocols::ext::session_lock::v1::client::ext_session_lock_manager_v1::ExtSessionLockManagerV1;
use wayland_protocols::wp::idle_inhibit::zv1::client::{
    zwp_idle_inhibit_manager_v1::{self, ZwpIdleInhibitManagerV1},
    zwp_idle_inhibitor_v1::{self, ZwpIdleInhibitorV1},
};
use wayland_protocols::xdg::activation::v1::client::xdg_activation_v1::{self, XdgActivationV1};

macro_rules! deaf {
    ($($interface:ty: $event:ty),* $(,)?) => {
        $(impl Dispatch<$interface, ()> for TestClientState {
            fn event(_: &mut Self, _: &$interface, _: $event, _: &(), _: &Connection, _: &QueueHandle<Self>) {}
        })*
    };
}

deaf!(
    ZwpIdleInhibitManagerV1: zwp_idle_inhibit_manager_v1::Event,
    ZwpIdleInhibitorV1: zwp_idle_inhibitor_v1::Event,
    XdgActivationV1: xdg_activation_v1::Event,
);

/// The requests by which a client makes one object of a kind.
type MakeObject = fn(&mut TestWorld, ClientIndex, &TestToplevel);

/// A test makes at most this many objects of a kind.
const MOST_MADE: u32 = 2_048;

const MAKES: &[(Kind, MakeObject)] = &[
    (Kind::Popups, |world, client, window| {
        let client = world.client(client);
        let positioner = client.positioner(0, 0, 10, 10);
        client.popup(&window.xdg, &positioner);
        positioner.destroy();
    }),
    (Kind::Captures, |world, client, _| {
        let client = world.client(client);
        client.globals().screencopy.capture_output(0, &client.bind_output(), &client.handle(), ());
    }),
    (Kind::VirtualDevices, |world, client, _| {
        let client = world.client(client);
        client.globals().virtual_pointers.create_virtual_pointer(None, &client.handle(), ());
    }),
    (Kind::Devices, |world, client, _| {
        let client = world.client(client);
        client.globals().seat.get_pointer(&client.handle(), ());
    }),
    (Kind::Locks, |world, client, _| {
        let client = world.client(client);
        client.bind::<ExtSessionLockManagerV1>().lock(&client.handle(), ());
    }),
    (Kind::IdleInhibitors, |world, client, window| {
        let client = world.client(client);
        client.bind::<ZwpIdleInhibitManagerV1>().create_inhibitor(&window.surface, &client.handle(), ());
    }),
    (Kind::ActivationTokens, |world, client, _| {
        let client = world.client(client);
        client.bind::<XdgActivationV1>().get_activation_token(&client.handle(), ());
    }),
    (Kind::Paced, |world, client, _| {
        let client = world.client(client);
        client.pacing(&client.surface());
    }),
    (Kind::IdleNotifications, |world, client, _| {
        let client = world.client(client);
        let (notifier, seat) = (client.bind::<ExtIdleNotifierV1>(), client.globals().seat.clone());
        notifier.get_idle_notification(1, &seat, &client.handle(), ());
    }),
    (Kind::Recordings, |world, client, _| {
        let client = world.client(client);
        let sources = client.bind::<ExtOutputImageCaptureSourceManagerV1>();
        sources.create_source(&client.bind_output(), &client.handle(), ());
    }),
    (Kind::Listeners, |world, client, _| _ = world.client(client).bind::<ExtForeignToplevelListV1>()),
    (Kind::Positioners, |world, client, _| _ = world.client(client).positioner(0, 0, 1, 1)),
    (Kind::Windows, |world, client, _| {
        let client = world.client(client);
        let surface = client.surface();
        client.globals().base.get_xdg_surface(&surface, &client.handle(), ()).get_toplevel(&client.handle(), ());
    }),
];

/// The bad client got `no_memory` with `words` in the message; no other client got an error.
#[track_caller]
fn only_bad_client_is_disconnected(world: &mut TestWorld, good: ClientIndex, bad: ClientIndex, words: &str) {
    world.settle();
    assert_eq!(world.client(bad).error, Some(("wl_display".to_owned(), 2)));
    let said = world.client(bad).error_message();
    assert!(said.contains(words), "{said}");
    assert!(!world.client(good).is_disconnected());
    assert_eq!(world.stack(), ["good"]);
}

#[test]
fn exceeding_an_object_limit_ends_only_that_client_with_the_kind_in_the_error() {
    for (kind, make) in MAKES {
        let (mut world, good, bad, window) = world();
        // The requests for this kind may also make objects of other kinds: stay below the limits of all.
        let most = kind.most().min(MOST_MADE);
        world.state.rules.set_limit(*kind, most);
        for made in 0..=most {
            make(&mut world, bad, &window);
            if made % 32 == 0 {
                world.settle();
            }
        }
        only_bad_client_is_disconnected(&mut world, good, bad, &format!("more than {most} {}", kind.words()));
    }
}

#[test]
fn destroyed_objects_do_not_count() {
    let (mut world, _, client, _) = world();
    for _ in 0..3 * Kind::Positioners.most() {
        world.client(client).positioner(0, 0, 1, 1).destroy();
    }
    world.settle();
    assert!(!world.client(client).is_disconnected(), "{:?}", world.client(client).error);
}

#[test]
fn committed_activation_tokens_that_are_never_destroyed_do_not_count() {
    let (mut world, _, client, _) = world();
    for made in 0..2_000 {
        let client = world.client(client);
        client.bind::<XdgActivationV1>().get_activation_token(&client.handle(), ()).commit();
        if made % 32 == 0 {
            world.settle();
        }
    }
    world.settle();
    assert!(!world.client(client).is_disconnected(), "{:?}", world.client(client).error);
}

#[test]
fn waiting_updates_with_far_timestamps_are_limited() {
    let (mut world, good, bad, window) = world();
    let client = world.client(bad);
    let timer = client.globals().commit_timing.get_timer(&window.surface, &client.handle(), ());
    for made in 0..=Kind::WaitingUpdates.most() {
        timer.set_timestamp(7, 0, 0);
        window.surface.damage(0, 0, 1, 1);
        window.surface.commit();
        if made % 32 == 0 {
            world.settle();
        }
    }
    only_bad_client_is_disconnected(&mut world, good, bad, "more than 1024 updates that wait");
}

#[test]
fn updates_waiting_for_a_parent_are_limited_and_applied_updates_do_not_count() {
    let (mut world, good, bad, window) = world();
    let child = world.client(bad).surface();
    let client = world.client(bad);
    client.globals().subcompositor.get_subsurface(&child, &window.surface, &client.handle(), ());
    let commit = |world: &mut TestWorld, times: u32| {
        for made in 0..times {
            child.damage(0, 0, 1, 1);
            child.commit();
            if made % 32 == 0 {
                world.settle();
            }
        }
    };
    for _ in 0..3 {
        commit(&mut world, Kind::WaitingUpdates.most() - 1);
        world.client(bad).commit_buffer(&window.surface, 200, 100);
        world.settle();
        assert!(!world.client(bad).is_disconnected(), "{}", world.client(bad).error_message());
    }
    // The first update does not wait, so it does not count.
    commit(&mut world, Kind::WaitingUpdates.most() + 2);
    only_bad_client_is_disconnected(&mut world, good, bad, "more than 1024 updates that wait");
}

#[test]
fn window_of_many_subsurfaces_may_commit_again_while_a_frame_waits() {
    const PARTS: usize = 700;
    let (mut world, _, busy, window) = world();
    let buffer = world.client(busy).solid(2, 4, 4, RED);
    let parts = world.subsurfaces(busy, &window.surface, PARTS);
    for _ in 0..2 {
        for (number, (part, _)) in parts.iter().enumerate() {
            part.attach(Some(&buffer), 0, 0);
            part.commit();
            if number % 32 == 0 {
                world.client(busy).send();
                world.deliver_once();
            }
        }
    }
    window.surface.commit();
    world.settle();
    assert!(!world.client(busy).is_disconnected(), "{}", world.client(busy).error_message());
}

#[test]
fn regions_of_many_rectangles_are_simplified_and_input_still_arrives() {
    let (mut world, _, client, window) = world();
    let region = {
        let client = world.client(client);
        client.globals().compositor.create_region(&client.handle(), ())
    };
    for rect in 0..10_000 {
        region.add(rect % 200, rect / 200, 1, 1);
        if rect % 32 == 0 {
            world.settle();
        }
    }
    window.surface.set_opaque_region(Some(&region));
    window.surface.set_input_region(Some(&region));
    world.client(client).commit_buffer(&window.surface, 200, 100);
    world.settle();
    let surface = world.window("bad").surface().clone();
    let (opaque, input) = with_states(&surface, |states| {
        let mut attributes = states.cached_state.get::<SurfaceAttributes>();
        let rects = |region: &Option<RegionAttributes>| region.as_ref().map(|region| region.rects.len());
        (rects(&attributes.current().opaque_region), rects(&attributes.current().input_region))
    });
    assert!(opaque.unwrap() <= MOST_OPAQUE, "{opaque:?}");
    assert_eq!(input, Some(1));
    world.client(client).take_events();
    let place = world.window("bad").rect().loc;
    world.point(f64::from(place.x + 199), f64::from(place.y + 49));
    let enters = |event: &ClientEvent| matches!(event, ClientEvent::PointerEnter { .. });
    assert!(world.client(client).take_events().iter().any(enters), "the last rectangle of the region gets input");
}

#[test]
fn damage_in_many_places_is_merged() {
    let (mut world, _, _, window) = world();
    for place in 0..3_000 {
        window.surface.damage_buffer(place % 200, place / 200, 1, 1);
        if place % 32 == 0 {
            world.settle();
        }
    }
    world.settle();
    let surface = world.window("bad").surface().clone();
    let count = with_states(&surface, |states| states.cached_state.get::<SurfaceAttributes>().pending().damage.len());
    assert!((1..=256).contains(&count), "{count}");
}

#[test]
fn selection_with_too_many_mime_types_ends_only_its_own_client() {
    let (mut world, good, bad, _) = world();
    let client = world.client(bad);
    let source = client.globals().data_devices.create_data_source(&client.handle(), ());
    source.offer("text/plain".to_owned());
    world.click(545.0, 315.0);
    let serial = world.client(good).press_serial();
    world.client(bad).globals().data_device.set_selection(Some(&source), serial);
    for number in 0..20_000 {
        source.offer(format!("text/{number:09}"));
        if number % 32 == 0 {
            world.settle();
        }
        if world.client(bad).is_disconnected() {
            break;
        }
    }
    only_bad_client_is_disconnected(&mut world, good, bad, "more than 512 types");
}

#[test]
fn idle_pacing_objects_up_to_the_limit_cause_no_wake_ups() {
    let mut world = TestWorld::rendered();
    let (client, _window) = world.open("paced", 200, 100);
    for made in 0..Kind::Paced.most() {
        let client = world.client(client);
        client.pacing(&client.surface());
        if made % 32 == 0 {
            world.settle();
        }
    }
    world.run_until_idle();
    let wake = upbeat::session::turn::run(&mut world.state);
    let wait = wake.map(|wake| wake - upbeat_timing::time::Clock::now(&world.state.clock));
    assert!(wait.is_none_or(|wait| wait > upbeat_timing::time::Span::from_millis(100)), "{wait:?}");
}

//! Finds leaks: after clients and monitors have come and gone, no more memory is in use than before.

#![allow(dead_code, clippy::unwrap_used, clippy::expect_used)]

mod allocations;
#[path = "clients/fixture/mod.rs"]
mod fixture;

use allocations::{alone, kept_by_all};
use fixture::{ClientIndex, TestWorld};
use upbeat::backend::headless::OutputOptions;
use upbeat::render::Renderer;
use wayland_client::{Connection, Dispatch, QueueHandle};
use wayland_protocols::wp::pointer_gestures::zv1::client::zwp_pointer_gesture_hold_v1::ZwpPointerGestureHoldV1;
use wayland_protocols::wp::pointer_gestures::zv1::client::zwp_pointer_gesture_pinch_v1::ZwpPointerGesturePinchV1;
use wayland_protocols::wp::pointer_gestures::zv1::client::zwp_pointer_gesture_swipe_v1::ZwpPointerGestureSwipeV1;
use wayland_protocols::wp::pointer_gestures::zv1::client::zwp_pointer_gestures_v1::ZwpPointerGesturesV1;
use wayland_protocols::wp::primary_selection::zv1::client::zwp_primary_selection_device_manager_v1::ZwpPrimarySelectionDeviceManagerV1;
use wayland_protocols::wp::primary_selection::zv1::client::zwp_primary_selection_device_v1::ZwpPrimarySelectionDeviceV1;
use wayland_protocols::wp::tablet::zv2::client::zwp_tablet_manager_v2::ZwpTabletManagerV2;
use wayland_protocols::wp::tablet::zv2::client::zwp_tablet_seat_v2::ZwpTabletSeatV2;
use wayland_protocols::xdg::xdg_output::zv1::client::zxdg_output_manager_v1::ZxdgOutputManagerV1;

use fixture::client::TestClientState;

/// Repetitions until tables have reached their final size.
const WARM_UP: usize = 40;
/// This many clients, with a few frames each, fill the records of an output's frames.
const FIRST_CLIENTS: usize = 160;
const TIMES: usize = 100;
/// Allowed growth per repetition (bytes): less than any object. It is not zero because the last repetition may not be
/// freed yet.
const LARGEST_GROWTH: i64 = 64;
/// 500 Hz, in mHz: the test waits for light, and a fast display makes that short.
const REFRESH: u32 = 500_000;

macro_rules! ignore {
    ($($interface:ty),* $(,)?) => { $(
        impl Dispatch<$interface, ()> for TestClientState {
            fn event(
                _: &mut Self,
                _: &$interface,
                _: <$interface as wayland_client::Proxy>::Event,
                _: &(),
                _: &Connection,
                _: &QueueHandle<Self>,
            ) {
            }
        }
    )* };
}

ignore!(
    ZwpPointerGestureHoldV1,
    ZwpPointerGesturePinchV1,
    ZwpPointerGestureSwipeV1,
    ZwpPointerGesturesV1,
    ZwpPrimarySelectionDeviceManagerV1,
    ZwpPrimarySelectionDeviceV1,
    ZwpTabletManagerV2,
    ZwpTabletSeatV2,
);

/// Creates the objects that toolkits create besides a window: each kind that the seat or an output keeps in a list.
fn ask_for_all(world: &mut TestWorld, client: ClientIndex) {
    let client = world.client(client);
    let (globals, handle) = (client.globals(), client.handle());
    let output = client.bind_output();
    client.bind::<ZxdgOutputManagerV1>().get_xdg_output(&output, &handle, ());
    client.bind::<ZwpPrimarySelectionDeviceManagerV1>().get_device(&globals.seat, &handle, ());
    client.bind::<ZwpTabletManagerV2>().get_tablet_seat(&globals.seat, &handle, ());
    let gestures = client.bind::<ZwpPointerGesturesV1>();
    gestures.get_swipe_gesture(globals.pointer(), &handle, ());
    gestures.get_pinch_gesture(globals.pointer(), &handle, ());
    gestures.get_hold_gesture(globals.pointer(), &handle, ());
    globals.relative_pointers.get_relative_pointer(globals.pointer(), &handle, ());
    globals.data_devices.create_data_source(&handle, ()).offer("text/plain".to_owned());
    world.settle();
}

fn come_and_go(world: &mut TestWorld) {
    let (client, _) = world.open_filled("short-lived", (200, 100), 0xff80_4020);
    ask_for_all(world, client);
    world.run_until("light", |world| world.client(client).light(1).is_some());
    world.kill(client);
    world.run_until_idle();
}

#[test]
fn hundred_killed_clients_leak_no_memory() {
    let _alone = alone();
    let mut world = TestWorld::rendered_at(REFRESH, OutputOptions::default(), Renderer::pixman().unwrap());
    (0..FIRST_CLIENTS).for_each(|_| come_and_go(&mut world));
    let kept = kept_by_all(|| (0..TIMES).for_each(|_| come_and_go(&mut world)));
    assert!(kept / TIMES as i64 <= LARGEST_GROWTH, "{kept} bytes are left after {TIMES} clients");
}

#[test]
fn monitor_unplugged_a_hundred_times_leaks_no_memory() {
    let _alone = alone();
    let mut world = TestWorld::new();
    let client = world.connect();
    world.settle();
    let manager = world.client(client).bind::<ZxdgOutputManagerV1>();
    let replug = |world: &mut TestWorld| {
        // Forget the old globals, so that the next bound output is the new output.
        world.client(client).data.globals.clear();
        world.plug_in("second", 60_000);
        let output = world.client(client).bind_output();
        let xdg_output = manager.get_xdg_output(&output, &world.client(client).handle(), ());
        world.settle();
        world.unplug("second");
        xdg_output.destroy();
        output.release();
        world.client(client).take_events();
    };
    (0..WARM_UP).for_each(|_| replug(&mut world));
    let kept = kept_by_all(|| (0..TIMES).for_each(|_| replug(&mut world)));
    assert!(kept / TIMES as i64 <= LARGEST_GROWTH, "{kept} bytes are left after {TIMES} monitors");
}

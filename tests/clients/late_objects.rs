//! Seat objects that a client creates while it has the focus already: each receives the present state.

use upbeat::input::InputEvent;
use upbeat::input::cursor::CursorView;
use wayland_client::protocol::wl_data_device::{self, WlDataDevice};
use wayland_client::protocol::wl_data_offer::WlDataOffer;
use wayland_client::protocol::wl_pointer::{self, WlPointer};
use wayland_client::protocol::wl_touch::{self, WlTouch};
use wayland_client::{Connection, Dispatch, Proxy, QueueHandle, event_created_child};
use wayland_protocols::wp::primary_selection::zv1::client::zwp_primary_selection_device_manager_v1::ZwpPrimarySelectionDeviceManagerV1;
use wayland_protocols::wp::primary_selection::zv1::client::zwp_primary_selection_device_v1::{
    self, ZwpPrimarySelectionDeviceV1,
};
use wayland_protocols::wp::primary_selection::zv1::client::zwp_primary_selection_offer_v1::ZwpPrimarySelectionOfferV1;
use wayland_protocols::wp::primary_selection::zv1::client::zwp_primary_selection_source_v1::ZwpPrimarySelectionSourceV1;

use crate::fixture::client::TestClientState;
use crate::fixture::dispatch::{id, silent};
use crate::fixture::{BUTTON_LEFT, ClientEvent, ClientIndex, KEY_A, TestWorld};

silent!(ZwpPrimarySelectionDeviceManagerV1, ZwpPrimarySelectionSourceV1, ZwpPrimarySelectionOfferV1);

/// User data of a late object: its events are recorded as words.
#[derive(Clone, Copy, Debug)]
struct LateObjectData;

macro_rules! in_words {
    ($interface:ty, |$event:ident| $words:expr $(, children $opcode:path => $child:ty)*) => {
        impl Dispatch<$interface, LateObjectData> for TestClientState {
            fn event(
                data: &mut Self,
                _: &$interface,
                $event: <$interface as Proxy>::Event,
                _: &LateObjectData,
                _: &Connection,
                _: &QueueHandle<Self>,
            ) {
                if let Some(words) = $words {
                    data.events.push(ClientEvent::InWords(words));
                }
            }

            event_created_child!(TestClientState, $interface, [$($opcode => ($child, ())),*]);
        }
    };
}

in_words!(WlPointer, |event| match event {
    wl_pointer::Event::Enter { surface, surface_x, surface_y, .. } => {
        Some(format!("enter {} {surface_x} {surface_y}", id(&surface)))
    }
    wl_pointer::Event::Motion { surface_x, surface_y, .. } => Some(format!("motion {surface_x} {surface_y}")),
    wl_pointer::Event::Button { .. } => Some("button".to_owned()),
    wl_pointer::Event::Frame => Some("frame".to_owned()),
    _ => None,
});

in_words!(WlTouch, |event| match event {
    wl_touch::Event::Down { id, x, y, .. } => Some(format!("down {id} {x} {y}")),
    wl_touch::Event::Motion { id, x, y, .. } => Some(format!("motion {id} {x} {y}")),
    wl_touch::Event::Up { id, .. } => Some(format!("up {id}")),
    wl_touch::Event::Frame => Some("frame".to_owned()),
    _ => None,
});

in_words!(WlDataDevice, |event| match event {
    wl_data_device::Event::Selection { id } => Some(format!("selection {}", id.is_some())),
    _ => None,
}, children wl_data_device::EVT_DATA_OFFER_OPCODE => WlDataOffer);

in_words!(ZwpPrimarySelectionDeviceV1, |event| match event {
    zwp_primary_selection_device_v1::Event::Selection { id } => Some(format!("primary {}", id.is_some())),
    _ => None,
}, children zwp_primary_selection_device_v1::EVT_DATA_OFFER_OPCODE => ZwpPrimarySelectionOfferV1);

/// Events of the late objects of `client` since the last call.
fn late_object_events(world: &mut TestWorld, client: ClientIndex) -> Vec<String> {
    world.settle();
    let told = |event| if let ClientEvent::InWords(words) = event { Some(words) } else { None };
    world.client(client).take_events().into_iter().filter_map(told).collect()
}

fn make_pointer(world: &mut TestWorld, client: ClientIndex) -> WlPointer {
    let client = world.client(client);
    client.globals().seat.get_pointer(&client.handle(), LateObjectData)
}

#[test]
fn pointer_created_inside_a_window_receives_enter_and_frame() {
    let mut world = TestWorld::new();
    let (a, window) = world.open("a", 200, 100);
    let (b, _) = world.open("b", 200, 100);
    let corner = world.window("a").rect().loc.to_f64();
    world.point(corner.x + 5.0, corner.y + 6.0);
    let surface = id(&window.surface);
    make_pointer(&mut world, a);
    assert_eq!(late_object_events(&mut world, a), [format!("enter {surface} 5 6"), "frame".to_owned()]);
    make_pointer(&mut world, b);
    assert!(late_object_events(&mut world, b).is_empty(), "the pointer is not on its windows");
    world.point(corner.x + 7.0, corner.y + 8.0);
    assert_eq!(late_object_events(&mut world, a), ["motion 7 8", "frame"]);
}

#[test]
fn pointer_created_during_a_press_enters_the_pressed_surface() {
    let mut world = TestWorld::new();
    let (a, window) = world.open("a", 200, 100);
    let corner = world.window("a").rect().loc.to_f64();
    world.point(corner.x + 5.0, corner.y + 6.0);
    world.button(BUTTON_LEFT, true);
    // Outside the window: the implicit grab of the press keeps the pointer on its surface.
    world.point(corner.x - 30.0, corner.y + 6.0);
    make_pointer(&mut world, a);
    let surface = id(&window.surface);
    assert_eq!(late_object_events(&mut world, a), [format!("enter {surface} -30 6"), "frame".to_owned()]);
    world.button(BUTTON_LEFT, false);
    assert_eq!(late_object_events(&mut world, a)[..2], ["button", "frame"]);
}

#[test]
fn late_pointer_may_set_the_cursor_with_the_serial_of_its_enter() {
    let mut world = TestWorld::new();
    let (a, _) = world.open("a", 200, 100);
    let corner = world.window("a").rect().loc.to_f64();
    world.point(corner.x + 5.0, corner.y + 6.0);
    let client = world.client(a);
    let pointer = client.globals().seat.get_pointer(&client.handle(), ());
    let before = client.data.last_enter;
    world.settle();
    let serial = world.client(a).data.last_enter;
    assert_eq!(serial, before, "the serial that is in force");
    pointer.set_cursor(serial, None, 0, 0);
    world.settle();
    assert!(matches!(world.state.input.cursor().view(1.0), CursorView::Hidden));
}

#[test]
fn touch_created_during_touches_receives_the_touches_of_its_client() {
    let mut world = TestWorld::new();
    let (a, _) = world.open("a", 200, 100);
    let (b, _) = world.open("b", 200, 100);
    let corner = world.window("a").rect().loc.to_f64();
    let touch = |world: &mut TestWorld, slot, x, y| {
        let time = world.now();
        world.input(InputEvent::TouchDown { time, slot, position: (corner.x + x, corner.y + y).into() });
    };
    touch(&mut world, 1, 5.0, 6.0);
    touch(&mut world, 4, 50.0, 60.0);
    let time = world.now();
    world.input(InputEvent::TouchMotion { time, slot: 4, position: (corner.x + 51.0, corner.y + 61.0).into() });
    for client in [a, b] {
        let client = world.client(client);
        client.globals().seat.get_touch(&client.handle(), LateObjectData);
    }
    assert_eq!(late_object_events(&mut world, a), ["down 1 5 6", "down 4 51 61", "frame"]);
    assert!(late_object_events(&mut world, b).is_empty());
    world.input(InputEvent::TouchUp { time, slot: 1 });
    world.input(InputEvent::TouchFrame { time });
    assert_eq!(late_object_events(&mut world, a), ["up 1", "frame"]);
}

#[test]
fn data_device_created_with_focus_receives_the_selection() {
    let mut world = TestWorld::new();
    let (copies, _) = world.open("copies", 200, 100);
    world.key(KEY_A, true);
    let serial = world.client(copies).press_serial();
    world.key(KEY_A, false);
    let client = world.client(copies);
    let source = client.globals().data_devices.create_data_source(&client.handle(), ());
    source.offer("text/plain".to_owned());
    client.globals().data_device.set_selection(Some(&source), serial);
    let (other, _) = world.open("other", 200, 100);
    late_object_events(&mut world, other);
    let make = |world: &mut TestWorld, client: ClientIndex| {
        let client = world.client(client);
        let globals = client.globals();
        globals.data_devices.get_data_device(&globals.seat, &client.handle(), LateObjectData);
    };
    make(&mut world, other);
    assert_eq!(late_object_events(&mut world, other), ["selection true"]);
    make(&mut world, copies);
    assert!(late_object_events(&mut world, copies).is_empty(), "without the keyboard a client receives no selection");
}

#[test]
fn primary_device_created_with_focus_receives_the_selection() {
    let mut world = TestWorld::new();
    let (a, _) = world.open("a", 200, 100);
    world.key(KEY_A, true);
    let serial = world.client(a).press_serial();
    world.key(KEY_A, false);
    let make = |world: &mut TestWorld| {
        let client = world.client(a);
        let manager = client.bind::<ZwpPrimarySelectionDeviceManagerV1>();
        let device = manager.get_device(&client.globals().seat, &client.handle(), LateObjectData);
        (manager, device)
    };
    let (manager, device) = make(&mut world);
    assert_eq!(late_object_events(&mut world, a), ["primary false"]);
    let source = manager.create_source(&world.client(a).handle(), ());
    source.offer("text/plain".to_owned());
    device.set_selection(Some(&source), serial);
    assert_eq!(late_object_events(&mut world, a), ["primary true"]);
    make(&mut world);
    assert!(late_object_events(&mut world, a).contains(&"primary true".to_owned()));
}

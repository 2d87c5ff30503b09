//! Clients with several tablet seats, or with one seat after another: each seat has objects of its own.

use wayland_client::backend::ObjectId;
use wayland_client::protocol::wl_seat::WlSeat;
use wayland_client::{Proxy, WEnum};
use wayland_protocols::wp::cursor_shape::v1::client::wp_cursor_shape_device_v1::{self, Shape};

use super::late_seats::{BTN_STYLUS, pen_at};
use super::*;

/// Tablet events that the client received: object, event as words.
type TabletEvents = Vec<(ObjectId, String)>;

/// User data of a seat whose events are recorded with their object.
struct RecordingSeat;

impl Dispatch<ZwpTabletSeatV2, RecordingSeat> for TestClientState {
    fn event(
        data: &mut Self,
        seat: &ZwpTabletSeatV2,
        event: zwp_tablet_seat_v2::Event,
        _: &RecordingSeat,
        _: &Connection,
        _: &QueueHandle<Self>,
    ) {
        match event {
            zwp_tablet_seat_v2::Event::TabletAdded { id } => data.tablet_objects.push((seat.id(), id.id())),
            zwp_tablet_seat_v2::Event::ToolAdded { id } => data.tablet_objects.push((seat.id(), id.id())),
            _ => {}
        }
    }

    event_created_child!(TestClientState, ZwpTabletSeatV2, [
        zwp_tablet_seat_v2::EVT_TABLET_ADDED_OPCODE => (ZwpTabletV2, RecordingSeat),
        zwp_tablet_seat_v2::EVT_TOOL_ADDED_OPCODE => (ZwpTabletToolV2, RecordingSeat),
        zwp_tablet_seat_v2::EVT_PAD_ADDED_OPCODE => (ZwpTabletPadV2, ()),
    ]);
}

impl Dispatch<ZwpTabletV2, RecordingSeat> for TestClientState {
    fn event(
        data: &mut Self,
        tablet: &ZwpTabletV2,
        event: zwp_tablet_v2::Event,
        _: &RecordingSeat,
        _: &Connection,
        _: &QueueHandle<Self>,
    ) {
        match event {
            zwp_tablet_v2::Event::Id { vid, pid } => data.tablet_events.push((tablet.id(), format!("id {vid} {pid}"))),
            zwp_tablet_v2::Event::Done => data.tablets.push(tablet.clone()),
            zwp_tablet_v2::Event::Removed => data.tablet_events.push((tablet.id(), "tablet removed".to_owned())),
            _ => {}
        }
    }
}

impl Dispatch<ZwpTabletToolV2, RecordingSeat> for TestClientState {
    fn event(
        data: &mut Self,
        tool: &ZwpTabletToolV2,
        event: zwp_tablet_tool_v2::Event,
        _: &RecordingSeat,
        _: &Connection,
        _: &QueueHandle<Self>,
    ) {
        use zwp_tablet_tool_v2::Event as Said;
        let said = match event {
            Said::Done => {
                data.tools.push(tool.clone());
                return;
            }
            Said::HardwareSerial { hardware_serial_hi, hardware_serial_lo } => {
                format!("serial {hardware_serial_hi} {hardware_serial_lo}")
            }
            Said::ProximityIn { tablet, .. } => {
                let seat_of = |id: ObjectId| data.tablet_objects.iter().find(|(_, object)| *object == id).cloned();
                let is_own = seat_of(tablet.id()).zip(seat_of(tool.id())).is_some_and(|(a, b)| a.0 == b.0);
                format!("near {} tablet", if is_own { "its" } else { "a foreign" })
            }
            Said::ProximityOut => "away".to_owned(),
            Said::Motion { x, y } => format!("at {x} {y}"),
            Said::Down { serial } => {
                data.tool_press = serial;
                "down".to_owned()
            }
            Said::Up => "up".to_owned(),
            Said::Button { button, state, .. } => format!("button {button} {}", u32::from(state)),
            Said::Removed => "removed".to_owned(),
            Said::Frame { .. } => "frame".to_owned(),
            _ => return,
        };
        data.tablet_events.push((tool.id(), said));
    }
}

/// A tablet, a window "a", and the manager that its client has bound.
fn with_manager() -> (TestWorld, ClientIndex, TestToplevel, ZwpTabletManagerV2) {
    let mut world = TestWorld::new();
    world.plug_tablet(true);
    let (a, window) = world.open("a", 200, 100);
    let manager = world.client(a).bind::<ZwpTabletManagerV2>();
    world.settle();
    (world, a, window, manager)
}

fn add_seat(world: &mut TestWorld, a: ClientIndex, manager: &ZwpTabletManagerV2, seat: &WlSeat) -> ZwpTabletSeatV2 {
    let client = world.client(a);
    let made = manager.get_tablet_seat(seat, &client.handle(), RecordingSeat);
    world.settle();
    made
}

/// Events of each tool object since the last call, in the order in which the objects were created.
fn events_by_tool(world: &mut TestWorld, a: ClientIndex) -> Vec<Vec<String>> {
    let data = &mut world.client(a).data;
    let heard: TabletEvents = std::mem::take(&mut data.tablet_events);
    let of = |tool: &ZwpTabletToolV2| {
        heard.iter().filter(|(id, _)| *id == tool.id()).map(|(_, said)| said.clone()).collect()
    };
    data.tools.iter().map(of).collect()
}

#[test]
fn each_tablet_seat_of_a_client_uses_its_own_objects() {
    let (mut world, a, _window, manager) = with_manager();
    let first = world.client(a).globals().seat.clone();
    let second = world.client(a).bind::<WlSeat>();
    add_seat(&mut world, a, &manager, &first);
    add_seat(&mut world, a, &manager, &first);
    add_seat(&mut world, a, &manager, &second);
    pen_at(&mut world, (10, 20), ToolAction::Enter);
    let told = ["serial 0 1", "near its tablet", "at 10 20", "frame"];
    assert_eq!(events_by_tool(&mut world, a), [told; 3]);
    pen_at(&mut world, (10, 20), ToolAction::Tip(true));
    assert_eq!(events_by_tool(&mut world, a), [["at 10 20", "frame", "down", "frame"]; 3]);
    pen_at(&mut world, (11, 20), ToolAction::Tip(false));
    assert_eq!(events_by_tool(&mut world, a), [["at 11 20", "frame", "up", "frame"]; 3]);
    pen_at(&mut world, (11, 20), ToolAction::Leave);
    assert_eq!(events_by_tool(&mut world, a), [["away", "frame"]; 3]);
}

#[test]
fn second_tablet_seat_receives_proximity_and_presses_and_the_first_nothing() {
    let (mut world, a, window, manager) = with_manager();
    let seat = world.client(a).globals().seat.clone();
    add_seat(&mut world, a, &manager, &seat);
    for action in [ToolAction::Enter, ToolAction::Tip(true), ToolAction::Button(BTN_STYLUS, true)] {
        pen_at(&mut world, (10, 20), action);
    }
    let press = world.client(a).data.tool_press;
    events_by_tool(&mut world, a);
    add_seat(&mut world, a, &manager, &seat);
    let heard = events_by_tool(&mut world, a);
    assert!(heard[0].is_empty(), "{heard:?}");
    assert_eq!(heard[1], ["serial 0 1", "near its tablet", "at 10 20", "down", "button 331 1", "frame"]);
    assert_eq!(world.client(a).data.tool_press, press, "it is the same press");
    let corner = world.window("a").rect().loc;
    window.toplevel._move(&seat, press);
    world.settle();
    assert_eq!(events_by_tool(&mut world, a), [["up", "button 331 0", "away", "frame"]; 2]);
    pen_at(&mut world, (13, 24), ToolAction::Move);
    world.latch();
    assert_eq!(world.window("a").rect().loc, corner + Point::from((3, 4)));
}

#[test]
fn replacing_tablet_seat_receives_a_held_button_once() {
    let (mut world, a, _window, manager) = with_manager();
    let seat = world.client(a).globals().seat.clone();
    let first = add_seat(&mut world, a, &manager, &seat);
    pen_at(&mut world, (10, 20), ToolAction::Enter);
    pen_at(&mut world, (10, 20), ToolAction::Button(BTN_STYLUS, true));
    events_by_tool(&mut world, a);
    first.destroy();
    world.settle();
    add_seat(&mut world, a, &manager, &seat);
    let heard = events_by_tool(&mut world, a);
    assert!(heard[0].is_empty(), "its objects outlive a seat, and know the state: {heard:?}");
    assert_eq!(heard[1], ["serial 0 1", "near its tablet", "at 10 20", "button 331 1", "frame"]);
    world.client(a).data.tools[0].destroy();
    world.settle();
    pen_at(&mut world, (10, 20), ToolAction::Button(BTN_STYLUS, false));
    let heard = events_by_tool(&mut world, a);
    assert!(heard[0].is_empty(), "{heard:?}");
    assert_eq!(heard[1], ["at 10 20", "frame", "button 331 0", "frame"]);
}

#[test]
fn tool_of_a_destroyed_tablet_object_receives_no_events() {
    let (mut world, a, _window, manager) = with_manager();
    let seat = world.client(a).globals().seat.clone();
    add_seat(&mut world, a, &manager, &seat);
    add_seat(&mut world, a, &manager, &seat);
    world.client(a).data.tablets[0].destroy();
    world.settle();
    pen_at(&mut world, (10, 20), ToolAction::Enter);
    pen_at(&mut world, (10, 20), ToolAction::Tip(true));
    let heard = events_by_tool(&mut world, a);
    assert_eq!(heard[0], ["serial 0 1"]);
    assert_eq!(heard[1].len(), 8, "{heard:?}");
}

#[test]
fn unplugged_tablet_removes_its_objects_and_releases_presses() {
    let (mut world, a, _window, manager) = with_manager();
    let seat = world.client(a).globals().seat.clone();
    add_seat(&mut world, a, &manager, &seat);
    pen_at(&mut world, (10, 20), ToolAction::Enter);
    pen_at(&mut world, (10, 20), ToolAction::Tip(true));
    events_by_tool(&mut world, a);
    world.plug_tablet(false);
    world.settle();
    let data = &mut world.client(a).data;
    let said: Vec<String> = std::mem::take(&mut data.tablet_events).into_iter().map(|(_, said)| said).collect();
    assert_eq!(said, ["up", "away", "frame", "tablet removed", "removed"]);
}

#[test]
fn pen_that_is_a_pointer_releases_its_button_when_its_tablet_is_unplugged() {
    let mut world = TestWorld::new();
    world.plug_tablet(true);
    let (a, _) = world.open("a", 200, 100);
    pen_at(&mut world, (10, 20), ToolAction::Enter);
    pen_at(&mut world, (10, 20), ToolAction::Tip(true));
    world.client(a).take_events();
    world.plug_tablet(false);
    let events = world.client(a).take_events();
    assert!(events.iter().any(|event| matches!(event, ClientEvent::Button { pressed: false, .. })), "{events:?}");
}

#[test]
fn tablet_is_named_by_vendor_and_product() {
    let (mut world, a, _window, manager) = with_manager();
    let seat = world.client(a).globals().seat.clone();
    // The product comes first, because Smithay's description has this order.
    let tablet = TabletDescriptor { name: "Slate".to_owned(), usb_id: Some((7, 5)), syspath: None };
    let time = world.now();
    world.input(InputEvent::Tablet { time, tablet, there: true });
    add_seat(&mut world, a, &manager, &seat);
    let said: Vec<String> = world.client(a).data.tablet_events.drain(..).map(|(_, said)| said).collect();
    assert_eq!(said, ["id 5 7"]);
}

#[test]
fn tool_has_the_cursor_that_its_client_sets_while_it_is_near() {
    let (mut world, a, _window, manager) = with_manager();
    let seat = world.client(a).globals().seat.clone();
    add_seat(&mut world, a, &manager, &seat);
    pen_at(&mut world, (10, 20), ToolAction::Enter);
    let client = world.client(a);
    let surface = client.globals().compositor.create_surface(&client.handle(), ());
    let tool = client.data.tools[0].clone();
    let shapes = client.globals().cursor_shapes.get_tablet_tool_v2(&tool, &client.handle(), ());
    tool.set_cursor(0, Some(&surface), 3, 4);
    world.settle();
    assert!(world.state.input.cursor().surface().is_some());
    shapes.set_shape(0, Shape::Crosshair);
    world.settle();
    assert!(world.state.input.cursor().surface().is_none(), "it has a shape");
    pen_at(&mut world, (10, 20), ToolAction::Leave);
    tool.set_cursor(0, Some(&surface), 3, 4);
    world.settle();
    assert!(world.state.input.cursor().surface().is_none(), "the tool is not on a surface of the client");
    assert!(world.client(a).error.is_none());
    let none = wp_cursor_shape_device_v1::Request::SetShape { serial: 0, shape: WEnum::Unknown(999) };
    shapes.send_request(none).unwrap();
    world.settle();
    let code = wp_cursor_shape_device_v1::Error::InvalidShape as u32;
    assert_eq!(world.client(a).error, Some(("wp_cursor_shape_device_v1".to_owned(), code)));
}

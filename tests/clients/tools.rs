//! Touchpad gestures, graphics tablets and the lid switch.

mod late_seats;
mod several_seats;

use smithay::backend::input::{TabletToolCapabilities, TabletToolDescriptor, TabletToolType};
use smithay::utils::{Point, Size};
use smithay::wayland::tablet_manager::TabletDescriptor;
use upbeat::input::tablet::{ToolAction, ToolAxes, ToolEvent};
use upbeat::input::{InputEvent, LaptopSwitch, TouchpadGesture};
use wayland_client::protocol::wl_data_device_manager::DndAction;
use wayland_client::{Connection, Dispatch, Proxy, QueueHandle, WEnum, event_created_child};
use wayland_protocols::wp::pointer_gestures::zv1::client::zwp_pointer_gesture_hold_v1::{
    self, ZwpPointerGestureHoldV1,
};
use wayland_protocols::wp::pointer_gestures::zv1::client::zwp_pointer_gesture_pinch_v1::{
    self, ZwpPointerGesturePinchV1,
};
use wayland_protocols::wp::pointer_gestures::zv1::client::zwp_pointer_gesture_swipe_v1::{
    self, ZwpPointerGestureSwipeV1,
};
use wayland_protocols::wp::pointer_gestures::zv1::client::zwp_pointer_gestures_v1::ZwpPointerGesturesV1;
use wayland_protocols::wp::tablet::zv2::client::zwp_tablet_manager_v2::ZwpTabletManagerV2;
use wayland_protocols::wp::tablet::zv2::client::zwp_tablet_pad_v2::ZwpTabletPadV2;
use wayland_protocols::wp::tablet::zv2::client::zwp_tablet_seat_v2::{self, ZwpTabletSeatV2};
use wayland_protocols::wp::tablet::zv2::client::zwp_tablet_tool_v2::{self, ZwpTabletToolV2};
use wayland_protocols::wp::tablet::zv2::client::zwp_tablet_v2::{self, ZwpTabletV2};
use wayland_protocols::xdg::shell::client::xdg_toplevel::ResizeEdge;

use crate::fixture::client::TestClientState;
use crate::fixture::{BUTTON_LEFT, ClientEvent, ClientIndex, KEY_LEFT_SUPER, KEY_O, TestToplevel, TestWorld};
use crate::selection::drag;

macro_rules! tell {
    ($interface:ty, |$data:ident, $event:ident| $body:expr $(, children $opcode:path => $child:ty)*) => {
        impl Dispatch<$interface, ()> for TestClientState {
            fn event(
                $data: &mut Self,
                _: &$interface,
                $event: <$interface as Proxy>::Event,
                _: &(),
                _: &Connection,
                _: &QueueHandle<Self>,
            ) {
                $body
            }

            event_created_child!(TestClientState, $interface, [$($opcode => ($child, ())),*]);
        }
    };
}

fn record_event(data: &mut TestClientState, what: String) {
    data.events.push(ClientEvent::InWords(what));
}

tell!(ZwpPointerGesturesV1, |_data, _event| {});
tell!(ZwpTabletManagerV2, |_data, _event| {});
tell!(ZwpTabletPadV2, |_data, _event| {});

tell!(ZwpPointerGestureSwipeV1, |data, event| {
    match event {
        zwp_pointer_gesture_swipe_v1::Event::Begin { fingers, .. } => record_event(data, format!("swipe of {fingers}")),
        zwp_pointer_gesture_swipe_v1::Event::Update { dx, dy, .. } => record_event(data, format!("swiped {dx} {dy}")),
        zwp_pointer_gesture_swipe_v1::Event::End { cancelled, .. } => {
            record_event(data, format!("swipe over {cancelled}"))
        }
        _ => {}
    }
});

tell!(ZwpPointerGesturePinchV1, |data, event| {
    match event {
        zwp_pointer_gesture_pinch_v1::Event::Begin { fingers, .. } => record_event(data, format!("pinch of {fingers}")),
        zwp_pointer_gesture_pinch_v1::Event::Update { scale, rotation, .. } => {
            record_event(data, format!("pinched {scale} {rotation}"));
        }
        zwp_pointer_gesture_pinch_v1::Event::End { cancelled, .. } => {
            record_event(data, format!("pinch over {cancelled}"))
        }
        _ => {}
    }
});

tell!(ZwpPointerGestureHoldV1, |data, event| {
    match event {
        zwp_pointer_gesture_hold_v1::Event::Begin { fingers, .. } => record_event(data, format!("hold of {fingers}")),
        zwp_pointer_gesture_hold_v1::Event::End { cancelled, .. } => {
            record_event(data, format!("hold over {cancelled}"))
        }
        _ => {}
    }
});

tell!(ZwpTabletSeatV2, |_data, _event| {},
    children zwp_tablet_seat_v2::EVT_TABLET_ADDED_OPCODE => ZwpTabletV2,
    children zwp_tablet_seat_v2::EVT_TOOL_ADDED_OPCODE => ZwpTabletToolV2,
    children zwp_tablet_seat_v2::EVT_PAD_ADDED_OPCODE => ZwpTabletPadV2);

tell!(ZwpTabletV2, |data, event| {
    if let zwp_tablet_v2::Event::Name { name } = event {
        record_event(data, format!("tablet {name}"));
    }
});

tell!(ZwpTabletToolV2, |data, event| {
    match event {
        zwp_tablet_tool_v2::Event::Type { tool_type: WEnum::Value(kind) } => {
            record_event(data, format!("tool {kind:?}"))
        }
        zwp_tablet_tool_v2::Event::ProximityIn { .. } => record_event(data, "near".to_owned()),
        zwp_tablet_tool_v2::Event::ProximityOut => record_event(data, "away".to_owned()),
        zwp_tablet_tool_v2::Event::Motion { x, y } => record_event(data, format!("at {x} {y}")),
        zwp_tablet_tool_v2::Event::Pressure { pressure } => record_event(data, format!("pressure {pressure}")),
        zwp_tablet_tool_v2::Event::Tilt { tilt_x, tilt_y } => record_event(data, format!("tilt {tilt_x} {tilt_y}")),
        zwp_tablet_tool_v2::Event::Down { serial } => {
            data.tool_press = serial;
            record_event(data, "down".to_owned());
        }
        zwp_tablet_tool_v2::Event::Up => record_event(data, "up".to_owned()),
        zwp_tablet_tool_v2::Event::Button { button, .. } => record_event(data, format!("button {button}")),
        _ => {}
    }
});

fn told_to(world: &mut TestWorld, client: ClientIndex) -> Vec<String> {
    let told = |event| if let ClientEvent::InWords(what) = event { Some(what) } else { None };
    world.client(client).take_events().into_iter().filter_map(told).collect()
}

#[test]
fn gestures_reach_the_window_under_the_pointer_and_no_other() {
    let mut world = TestWorld::new();
    let (a, _) = world.open("a", 200, 100);
    let (b, _) = world.open("b", 200, 100);
    for client in [a, b] {
        let client = world.client(client);
        let (gestures, pointer) = (client.bind::<ZwpPointerGesturesV1>(), client.globals().pointer().clone());
        gestures.get_swipe_gesture(&pointer, &client.handle(), ());
        gestures.get_pinch_gesture(&pointer, &client.handle(), ());
        gestures.get_hold_gesture(&pointer, &client.handle(), ());
    }
    world.settle();
    let middle = world.window("a").rect().loc.to_f64();
    world.point(middle.x + 5.0, middle.y + 5.0);
    let said = [
        TouchpadGesture::HoldBegin { fingers: 2 },
        TouchpadGesture::HoldEnd { cancelled: true },
        TouchpadGesture::PinchBegin { fingers: 2 },
        TouchpadGesture::PinchUpdate { delta: (0.0, 0.0).into(), scale: 1.5, rotation: 10.0 },
        TouchpadGesture::PinchEnd { cancelled: false },
        TouchpadGesture::SwipeBegin { fingers: 3 },
        TouchpadGesture::SwipeUpdate { delta: (7.0, -2.0).into() },
        TouchpadGesture::SwipeEnd { cancelled: true },
    ];
    for gesture in said {
        let time = world.now();
        world.input(InputEvent::Gesture { time, gesture });
    }
    let heard = [
        "hold of 2",
        "hold over 1",
        "pinch of 2",
        "pinched 1.5 10",
        "pinch over 0",
        "swipe of 3",
        "swiped 7 -2",
        "swipe over 1",
    ];
    assert_eq!(told_to(&mut world, a), heard);
    assert!(told_to(&mut world, b).is_empty());
}

fn tablet() -> TabletDescriptor {
    TabletDescriptor { name: "Slate".to_owned(), usb_id: None, syspath: None }
}

fn pen(position: (f64, f64), action: ToolAction, axes: ToolAxes) -> ToolEvent {
    let tool = TabletToolDescriptor {
        tool_type: TabletToolType::Pen,
        hardware_serial: 1,
        hardware_id_wacom: 2,
        capabilities: TabletToolCapabilities::PRESSURE | TabletToolCapabilities::TILT,
    };
    ToolEvent { tablet: tablet(), tool, position: position.into(), axes, action }
}

impl TestWorld {
    fn plug_tablet(&mut self, there: bool) {
        let time = self.now();
        self.input(InputEvent::Tablet { time, tablet: tablet(), there });
    }

    fn pen(&mut self, position: (f64, f64), action: ToolAction, axes: ToolAxes) {
        let time = self.now();
        self.input(InputEvent::Tool { time, event: Box::new(pen(position, action, axes)) });
    }
}

/// A tablet, and a window "a" whose client has bound it.
fn open_with_tablet(world: &mut TestWorld) -> ClientIndex {
    open_window_with_tablet(world).0
}

fn open_window_with_tablet(world: &mut TestWorld) -> (ClientIndex, TestToplevel) {
    world.plug_tablet(true);
    let (a, window) = world.open("a", 200, 100);
    let client = world.client(a);
    let seat = client.globals().seat.clone();
    client.bind::<ZwpTabletManagerV2>().get_tablet_seat(&seat, &client.handle(), ());
    world.settle();
    (a, window)
}

/// Presses the pen on the window "a" at (10, 20). Returns the serial.
fn press_with_pen(world: &mut TestWorld, client: ClientIndex) -> u32 {
    let corner = world.window("a").rect().loc.to_f64();
    world.pen((corner.x + 10.0, corner.y + 20.0), ToolAction::Enter, ToolAxes::default());
    world.pen((corner.x + 10.0, corner.y + 20.0), ToolAction::Tip(true), ToolAxes::default());
    told_to(world, client);
    world.client(client).data.tool_press
}

#[test]
fn pen_moves_window_of_tablet_client() {
    let mut world = TestWorld::new();
    let (a, window) = open_window_with_tablet(&mut world);
    let serial = press_with_pen(&mut world, a);
    let corner = world.window("a").rect().loc;
    let at = |x: i32, y: i32| (f64::from(corner.x + x), f64::from(corner.y + y));
    world.pen(at(13, 24), ToolAction::Move, ToolAxes::default());
    told_to(&mut world, a);
    window.toplevel._move(&world.client(a).globals().seat, serial);
    world.settle();
    assert_eq!(told_to(&mut world, a), ["up", "away"], "a client gets no motion of the pen that drags its window");
    world.latch();
    assert_eq!(world.window("a").rect().loc, corner + Point::from((3, 4)), "it follows from the press");
    world.pen(at(60, 50), ToolAction::Move, ToolAxes::default());
    world.latch();
    assert_eq!(world.window("a").rect().loc, corner + Point::from((50, 30)));
    world.pen(at(60, 50), ToolAction::Tip(false), ToolAxes::default());
    assert!(world.state.shell.drag().is_none());
    assert!(told_to(&mut world, a).is_empty());
    world.pen(at(61, 50), ToolAction::Move, ToolAxes::default());
    assert_eq!(told_to(&mut world, a), ["near", "at 11 20"], "it draws again");
}

#[test]
fn pen_resizes_window_of_tablet_client() {
    let mut world = TestWorld::new();
    let (a, window) = open_window_with_tablet(&mut world);
    let serial = press_with_pen(&mut world, a);
    let rect = world.window("a").rect();
    window.toplevel.resize(&world.client(a).globals().seat, serial, ResizeEdge::BottomRight);
    world.settle();
    let at = (f64::from(rect.loc.x) + 40.0, f64::from(rect.loc.y) + 60.0);
    world.pen(at, ToolAction::Move, ToolAxes::default());
    world.latch();
    assert_eq!(world.window("a").rect().size, rect.size + Size::from((30, 40)));
    // The pen leaves without a lift: no button is held any more.
    world.pen(at, ToolAction::Leave, ToolAxes::default());
    assert!(world.state.shell.drag().is_none());
}

#[test]
fn pen_that_was_lifted_moves_nothing() {
    let mut world = TestWorld::new();
    let (a, window) = open_window_with_tablet(&mut world);
    let serial = press_with_pen(&mut world, a);
    let corner = world.window("a").rect().loc;
    let at = (f64::from(corner.x) + 10.0, f64::from(corner.y) + 20.0);
    world.pen(at, ToolAction::Tip(false), ToolAxes::default());
    window.toplevel._move(&world.client(a).globals().seat, serial);
    world.settle();
    assert!(world.state.shell.drag().is_none());
}

#[test]
fn pen_drags_data_of_tablet_client() {
    let mut world = TestWorld::new();
    let (a, window) = open_window_with_tablet(&mut world);
    let (b, _) = world.open("b", 100, 100);
    world.move_window("a", (0, 0));
    world.move_window("b", (600, 400));
    let serial = press_with_pen(&mut world, a);
    drag(&mut world, a, &window, serial);
    assert!(world.state.surfaces.drag_icon().is_some());
    assert_eq!(told_to(&mut world, a)[..2], ["up", "away"]);
    world.pen((610.0, 420.0), ToolAction::Move, ToolAxes::default());
    world.pen((611.0, 420.0), ToolAction::Move, ToolAxes::default());
    assert_eq!(told_to(&mut world, b), ["dragged over it at 10 20", "dragged to 11 20"]);
    let offer = world.client(b).data.drag_offer.clone().unwrap();
    offer.accept(0, Some("text/plain".to_owned()));
    offer.set_actions(DndAction::Copy, DndAction::Copy);
    world.settle();
    world.pen((611.0, 420.0), ToolAction::Tip(false), ToolAxes::default());
    assert_eq!(told_to(&mut world, b), ["dragged to 11 20", "dropped on it", "dragged away"]);
    assert!(told_to(&mut world, a).contains(&"source dropped".to_owned()));
    assert!(!world.state.input.pointer().is_grabbed());
}

#[test]
fn pen_sends_pressure_to_a_tablet_client() {
    let mut world = TestWorld::new();
    let a = open_with_tablet(&mut world);
    assert_eq!(told_to(&mut world, a), ["tablet Slate"]);
    world.open("b", 200, 100);

    let corner = world.window("a").rect().loc.to_f64();
    let at = |x: f64, y: f64| (corner.x + x, corner.y + y);
    let pressed = ToolAxes { pressure: Some(0.5), tilt: Some((10.0, -20.0)), ..ToolAxes::default() };
    world.pen(at(10.0, 20.0), ToolAction::Enter, ToolAxes::default());
    assert_eq!(told_to(&mut world, a), ["tool Pen", "near", "at 10 20"]);
    world.pen(at(10.0, 20.0), ToolAction::Tip(true), pressed);
    assert_eq!(told_to(&mut world, a), ["at 10 20", "pressure 32768", "tilt 10 -20", "down"]);
    assert_eq!(world.focused().as_deref(), Some("a"), "a press activates its window");
    // A stroke that leaves the window still goes to the window.
    world.pen(at(-500.0, 20.0), ToolAction::Move, ToolAxes::default());
    assert_eq!(told_to(&mut world, a), ["at -500 20"]);
    world.pen(at(-500.0, 20.0), ToolAction::Tip(false), ToolAxes::default());
    world.pen(at(-500.0, 20.0), ToolAction::Move, ToolAxes::default());
    assert_eq!(told_to(&mut world, a), ["at -500 20", "up", "away"]);
    world.pen(at(10.0, 20.0), ToolAction::Move, ToolAxes::default());
    world.pen(at(10.0, 20.0), ToolAction::Leave, ToolAxes::default());
    assert_eq!(told_to(&mut world, a), ["near", "at 10 20", "away"]);
}

#[test]
fn pen_acts_as_a_pointer_for_other_clients() {
    let mut world = TestWorld::new();
    world.plug_tablet(true);
    let (a, _) = world.open("a", 200, 100);
    let corner = world.window("a").rect().loc.to_f64();
    let at = (corner.x + 10.0, corner.y + 20.0);
    world.client(a).take_events();
    world.pen(at, ToolAction::Enter, ToolAxes::default());
    world.pen(at, ToolAction::Tip(true), ToolAxes::default());
    // The pen leaves without a lift: the button is released.
    world.pen(at, ToolAction::Leave, ToolAxes::default());
    let events = world.client(a).take_events();
    assert!(
        events.iter().any(|event| matches!(event, ClientEvent::PointerEnter { x: 10.0, y: 20.0, .. })),
        "{events:?}"
    );
    let buttons: Vec<(u32, bool)> = events
        .iter()
        .filter_map(|event| match event {
            ClientEvent::Button { button, pressed, .. } => Some((*button, *pressed)),
            _ => None,
        })
        .collect();
    assert_eq!(buttons, [(BUTTON_LEFT, true), (BUTTON_LEFT, false)]);
}

#[test]
fn unplugged_tablet_sends_no_events() {
    let mut world = TestWorld::new();
    world.plug_tablet(true);
    let (a, _) = world.open("a", 200, 100);
    let corner = world.window("a").rect().loc.to_f64();
    world.client(a).take_events();
    world.plug_tablet(false);
    world.pen((corner.x + 10.0, corner.y + 20.0), ToolAction::Enter, ToolAxes::default());
    assert!(world.client(a).take_events().iter().all(|event| !matches!(event, ClientEvent::PointerEnter { .. })));
}

#[test]
fn closed_lid_switches_off_the_internal_output_only() {
    let mut world = TestWorld::new();
    world.plug_in("eDP-1", 60_000);
    let lit = |world: &TestWorld| -> Vec<(String, bool)> {
        world.state.outputs.states().map(|output| (output.output().name(), output.is_on())).collect()
    };
    for (closed, on) in [(true, false), (false, true)] {
        let time = world.now();
        world.input(InputEvent::Switch { time, switch: LaptopSwitch::Lid, on: closed });
        assert_eq!(lit(&world), [("TEST-1".to_owned(), true), ("eDP-1".to_owned(), on)]);
    }
}

#[test]
fn switch_shortcuts_run_beside_the_default_action() {
    let mut world = TestWorld::new();
    world.plug_in("eDP-1", 60_000);
    world.open("a", 100, 100);
    let bound = |when_locked: bool, action: &str| upbeat::bindings::Binding {
        when_locked,
        ..upbeat::bindings::Binding::from(action.parse::<upbeat::bindings::ShortcutAction>().unwrap())
    };
    for (chord, action) in [("LidClose", "workspace 2"), ("LidOpen", "workspace 3"), ("TabletModeOn", "workspace 4")] {
        world.state.bindings.keys.insert(chord.parse().unwrap(), bound(false, action));
    }
    let switch = |world: &mut TestWorld, switch, on| {
        let time = world.now();
        world.input(InputEvent::Switch { time, switch, on });
        let workspaces = world.state.shell.workspaces();
        let is_on = world.state.outputs.states().find(|it| it.output().name() == "eDP-1").unwrap().is_on();
        let screen = workspaces.screen("TEST-1").unwrap();
        (workspaces.active(screen).get(), is_on)
    };
    assert_eq!(switch(&mut world, LaptopSwitch::Lid, true), (2, false), "a closed lid darkens its screen all the same");
    assert_eq!(switch(&mut world, LaptopSwitch::Lid, false), (3, true));
    assert_eq!(world.state.input.hardware().tablet_mode(), None);
    assert_eq!(switch(&mut world, LaptopSwitch::TabletMode, true), (4, true));
    assert_eq!(world.state.input.hardware().tablet_mode(), Some(true));
    assert_eq!(switch(&mut world, LaptopSwitch::TabletMode, false), (4, true), "it has none");
    world.state.bindings.keys.insert("TabletModeOff".parse().unwrap(), bound(false, "workspace 5"));
    assert_eq!(switch(&mut world, LaptopSwitch::TabletMode, false), (5, true));
    assert_eq!(world.state.input.hardware().tablet_mode(), Some(false));
    let locker = crate::lock::Locker::ask(&mut world);
    world.settle();
    assert_eq!(switch(&mut world, LaptopSwitch::Lid, true), (5, false), "not behind the lock, unless it says so");
    world.state.bindings.keys.insert("LidClose".parse().unwrap(), bound(true, "workspace 6"));
    assert_eq!(switch(&mut world, LaptopSwitch::Lid, true), (6, false));
    world.kill(locker.client);
}

#[test]
fn pen_selects_windows_in_the_overview() {
    let mut world = TestWorld::rendered();
    let a = open_with_tablet(&mut world);
    world.open("b", 200, 100);
    world.run_until_idle();
    let corner = world.window("a").rect().loc.to_f64();
    world.pen((corner.x + 10.0, corner.y + 20.0), ToolAction::Enter, ToolAxes::default());
    world.chord(&[KEY_LEFT_SUPER], KEY_O);
    world.run_until_idle();
    told_to(&mut world, a);

    let output = world.state.outputs.iter().next().unwrap().clone();
    let id = world.window("a").id;
    let cell = world.state.shell.overview(&output).window(id).unwrap();
    let middle = (cell.loc.x + cell.size.w / 2.0, cell.loc.y + cell.size.h / 2.0);
    world.pen(middle, ToolAction::Move, ToolAxes::default());
    world.pen(middle, ToolAction::Tip(true), ToolAxes::default());
    world.pen(middle, ToolAction::Tip(false), ToolAxes::default());
    assert!(!world.state.shell.overlays().take_input(), "the overview is left");
    assert_eq!(world.state.shell.focused(), Some(id));
    let told = told_to(&mut world, a);
    assert!(!told.iter().any(|told| told == "down" || told == "up"), "{told:?}");
}

//! Data that is dragged between clients, and the keyboard meanwhile.

use smithay::utils::{Logical, Point};
use upbeat::input::InputEvent;
use wayland_client::protocol::wl_data_device::{self, WlDataDevice};
use wayland_client::protocol::wl_data_device_manager::{DndAction, WlDataDeviceManager};
use wayland_client::protocol::wl_data_offer::{self, WlDataOffer};
use wayland_client::protocol::wl_data_source::{self, WlDataSource};
use wayland_client::{Connection, Dispatch, Proxy, QueueHandle, WEnum, event_created_child};

use crate::fixture::client::Data;
use crate::fixture::{BUTTON_LEFT, ClientIndex, Event, KEY_A, KEY_ESCAPE, Toplevel, World};
use crate::selection::{drag, told};

/// Something is dragged from "source", by the pointer or by the finger 3, and lies on "target", which accepts it.
struct Dragged {
    world: World,
    source: ClientIndex,
    target: ClientIndex,
    over: Point<f64, Logical>,
}

impl Dragged {
    fn new(by_finger: bool) -> Self {
        let mut world = World::new();
        let (source, window) = world.open("source", 200, 100);
        let (target, _) = world.open("target", 200, 100);
        world.put("source", (0, 0));
        world.put("target", (600, 400));
        let over = Point::from((610.0, 420.0));
        let time = world.now();
        world.client(source).take_events();
        if by_finger {
            world.input(InputEvent::TouchDown { time, slot: 3, position: (10.0, 10.0).into() });
        } else {
            world.point(10.0, 10.0);
            world.button(BUTTON_LEFT, true);
        }
        let serial = world.client(source).press_serial();
        drag(&mut world, source, &window, serial);
        if by_finger {
            world.input(InputEvent::TouchMotion { time, slot: 3, position: over });
        } else {
            world.point(over.x, over.y);
        }
        assert_eq!(told(&mut world, target), ["dragged over it at 10 20"]);
        let offer = world.client(target).data.dragged.clone().unwrap();
        offer.accept(0, Some("text/plain".to_owned()));
        offer.set_actions(DndAction::Copy, DndAction::Copy);
        world.settle();
        told(&mut world, source);
        told(&mut world, target);
        Dragged { world, source, target, over }
    }

    /// The keys that either client heard of since the last call. Forgets all else.
    fn keys(&mut self) -> Vec<u32> {
        let clients = [self.source, self.target];
        let events: Vec<Event> =
            clients.into_iter().flat_map(|client| self.world.client(client).take_events()).collect();
        events.iter().filter_map(|event| if let Event::Key { key, .. } = event { Some(*key) } else { None }).collect()
    }
}

#[test]
fn escape_cancels_a_drag_of_data_and_is_kept() {
    let mut dragged = Dragged::new(false);
    let Dragged { source, target, .. } = dragged;
    let world = &mut dragged.world;
    world.key(KEY_ESCAPE, true);
    assert_eq!(told(world, source), ["source cancelled"]);
    assert_eq!(told(world, target), ["dragged away"]);
    assert!(world.state.input.drag_icon.is_none() && !world.state.input.pointer.is_grabbed());
    world.key(KEY_ESCAPE, false);
    world.button(BUTTON_LEFT, false);
    let clients = [source, target];
    let events: Vec<Event> = clients.into_iter().flat_map(|client| world.client(client).take_events()).collect();
    let is_heard = |event: &Event| matches!(event, Event::Key { .. } | Event::Button { .. });
    assert!(!events.iter().any(is_heard), "neither the key nor the release: {events:?}");
    world.click(dragged.over.x, dragged.over.y);
    let events = world.client(target).take_events();
    let clicks = events.iter().filter(|event| matches!(event, Event::Button { .. })).count();
    assert_eq!(clicks, 2, "the next click is heard");
}

#[test]
fn escape_cancels_a_drag_of_data_by_a_finger() {
    let mut dragged = Dragged::new(true);
    let Dragged { source, target, .. } = dragged;
    let world = &mut dragged.world;
    world.key(KEY_ESCAPE, true);
    world.key(KEY_ESCAPE, false);
    assert_eq!(told(world, source), ["source cancelled"]);
    assert_eq!(told(world, target), ["dragged away"]);
    assert!(world.state.input.drag_icon.is_none() && !world.state.input.touch.is_grabbed());
    let time = world.now();
    world.input(InputEvent::TouchMotion { time, slot: 3, position: dragged.over + Point::from((5.0, 5.0)) });
    world.input(InputEvent::TouchUp { time, slot: 3 });
    for client in [source, target] {
        let events = world.client(client).take_events();
        let is_touch = |event: &Event| matches!(event, Event::TouchMotion { .. } | Event::TouchUp);
        assert!(!events.iter().any(is_touch), "{events:?}");
    }
}

#[test]
fn keys_pressed_during_a_drag_of_data_reach_no_client() {
    let mut dragged = Dragged::new(false);
    dragged.keys();
    dragged.world.key(KEY_A, true);
    dragged.world.key(KEY_A, false);
    assert_eq!(dragged.keys(), [0_u32; 0]);
    dragged.world.key(KEY_A, true);
    dragged.world.button(BUTTON_LEFT, false);
    dragged.world.key(KEY_A, false);
    assert_eq!(dragged.keys(), [0_u32; 0], "a release whose press was kept is kept, too");
    dragged.world.key(KEY_A, true);
    assert_eq!(dragged.keys(), [KEY_A]);
}

#[test]
fn key_that_was_down_before_a_drag_of_data_comes_up_in_it() {
    let mut world = World::new();
    let (client, window) = world.open("source", 200, 100);
    let corner = world.window("source").rect().loc.to_f64();
    world.key(KEY_A, true);
    world.point(corner.x + 5.0, corner.y + 5.0);
    world.button(BUTTON_LEFT, true);
    let serial = world.client(client).press_serial();
    drag(&mut world, client, &window, serial);
    world.client(client).take_events();
    world.key(KEY_A, false);
    let events = world.client(client).take_events();
    assert!(events.iter().any(|event| matches!(event, Event::Key { key: KEY_A, pressed: false, .. })), "{events:?}");
}

/// User data of objects whose every event is told in words.
#[derive(Clone, Copy, Debug)]
struct Heeded;

macro_rules! in_words {
    ($interface:ty, |$data:ident, $event:ident| $words:expr $(, children $opcode:path => $child:ty)*) => {
        impl Dispatch<$interface, Heeded> for Data {
            fn event(
                $data: &mut Self,
                _: &$interface,
                $event: <$interface as Proxy>::Event,
                _: &Heeded,
                _: &Connection,
                _: &QueueHandle<Self>,
            ) {
                if let Some(words) = $words {
                    $data.events.push(Event::Told(words));
                }
            }

            event_created_child!(Data, $interface, [$($opcode => ($child, Heeded)),*]);
        }
    };
}

fn name(action: WEnum<DndAction>) -> String {
    let action = action.into_result().unwrap();
    let names = [(DndAction::Copy, "copy"), (DndAction::Move, "move"), (DndAction::Ask, "ask")];
    let named: Vec<&str> = names.iter().filter(|(flag, _)| action.contains(*flag)).map(|(_, name)| *name).collect();
    named.join(" ")
}

in_words!(WlDataSource, |data, event| match event {
    wl_data_source::Event::Target { mime_type } => Some(format!("target {}", mime_type.unwrap_or_default())),
    wl_data_source::Event::Action { dnd_action } => Some(format!("action {}", name(dnd_action))),
    wl_data_source::Event::DndDropPerformed => Some("dropped".to_owned()),
    wl_data_source::Event::DndFinished => Some("finished".to_owned()),
    wl_data_source::Event::Cancelled => Some("cancelled".to_owned()),
    _ => None,
});

in_words!(WlDataOffer, |data, event| match event {
    wl_data_offer::Event::Offer { mime_type } => Some(format!("offer {mime_type}")),
    wl_data_offer::Event::SourceActions { source_actions } => Some(format!("offers {}", name(source_actions))),
    wl_data_offer::Event::Action { dnd_action } => Some(format!("action {}", name(dnd_action))),
    _ => None,
});

in_words!(WlDataDevice, |data, event| match event {
    wl_data_device::Event::Enter { id, .. } => {
        data.dragged = id;
        Some("enter".to_owned())
    }
    wl_data_device::Event::Leave => Some("leave".to_owned()),
    wl_data_device::Event::Drop => Some("drop".to_owned()),
    _ => None,
}, children wl_data_device::EVT_DATA_OFFER_OPCODE => WlDataOffer);

/// A drag from a client with a source of one version to a client with devices of others.
struct Between {
    world: World,
    source: ClientIndex,
    target: ClientIndex,
}

impl Between {
    /// The target has one device for each of `versions`, made in that order.
    fn new(source_version: u32, versions: &[u32]) -> Self {
        let mut world = World::new();
        let (source, window) = world.open("source", 200, 100);
        let (target, _) = world.open("target", 200, 100);
        world.put("source", (0, 0));
        world.put("target", (600, 400));
        world.client(target).globals().data_device.release();
        for version in versions {
            let client = world.client(target);
            let manager = client.bind_at::<WlDataDeviceManager>(*version);
            manager.get_data_device(&client.globals().seat, &client.handle(), Heeded);
        }
        let mut between = Between { world, source, target };
        between.begin(source_version, &window);
        between
    }

    fn begin(&mut self, version: u32, window: &Toplevel) {
        let world = &mut self.world;
        world.client(self.source).take_events();
        world.point(10.0, 10.0);
        world.button(BUTTON_LEFT, true);
        let serial = world.client(self.source).press_serial();
        let client = world.client(self.source);
        let manager = client.bind_at::<WlDataDeviceManager>(version);
        let source = manager.create_data_source(&client.handle(), Heeded);
        source.offer("text/plain".to_owned());
        if version >= 3 {
            source.set_actions(DndAction::Copy | DndAction::Move);
        }
        client.globals().data_device.start_drag(Some(&source), &window.surface, None, serial);
        world.settle();
        world.client(self.source).take_events();
    }

    /// Moves onto the target. Returns what that was told.
    fn enter(&mut self) -> Vec<String> {
        self.world.client(self.target).take_events();
        self.world.point(610.0, 420.0);
        self.target()
    }

    /// The newest offer.
    fn offer(&mut self) -> WlDataOffer {
        self.world.client(self.target).data.dragged.clone().unwrap()
    }

    /// Lets go, after all that was asked before.
    fn release(&mut self) {
        self.world.settle();
        self.world.button(BUTTON_LEFT, false);
    }

    fn source(&mut self) -> Vec<String> {
        self.world.settle();
        told(&mut self.world, self.source)
    }

    fn target(&mut self) -> Vec<String> {
        self.world.settle();
        told(&mut self.world, self.target)
    }
}

#[test]
fn client_that_knows_no_actions_is_dropped_on_and_told_of_none() {
    for version in [1, 2] {
        let mut between = Between::new(3, &[version]);
        assert_eq!(between.enter(), ["offer text/plain", "enter"], "version {version}");
        between.offer().accept(0, Some("text/plain".to_owned()));
        assert_eq!(between.source(), ["action copy", "target text/plain"]);
        between.release();
        assert_eq!(between.target(), ["drop", "leave"]);
        assert_eq!(between.source(), ["dropped"]);
        between.offer().destroy();
        assert_eq!(between.source(), ["finished"], "it cannot say so itself");
    }
}

#[test]
fn source_that_knows_no_actions_is_copied() {
    for version in [1, 2] {
        let mut between = Between::new(version, &[3]);
        assert_eq!(between.enter(), ["offer text/plain", "offers copy", "enter"], "version {version}");
        between.offer().accept(0, Some("text/plain".to_owned()));
        between.offer().set_actions(DndAction::Copy | DndAction::Move, DndAction::Move);
        assert_eq!(between.target(), ["action copy"]);
        between.release();
        assert_eq!(between.target(), ["drop", "leave"]);
        assert_eq!(between.source(), ["target text/plain"]);
        between.offer().finish();
        between.offer().destroy();
        assert_eq!(between.source(), [""; 0]);
        assert!(!between.world.client(between.target).is_gone());
    }
}

#[test]
fn what_was_not_accepted_is_not_dropped() {
    let mut between = Between::new(3, &[3]);
    between.enter();
    between.offer().set_actions(DndAction::Copy, DndAction::Copy);
    between.release();
    assert_eq!(between.target(), ["action copy", "leave"]);
    assert_eq!(between.source(), ["action copy", "cancelled"]);

    let mut between = Between::new(3, &[3]);
    between.enter();
    between.offer().accept(0, Some("text/plain".to_owned()));
    between.release();
    assert_eq!(between.target(), ["leave"], "nor what has no action");
    assert_eq!(between.source(), ["target text/plain", "cancelled"]);
}

#[test]
fn source_is_told_the_type_that_its_target_accepts() {
    let mut between = Between::new(3, &[3]);
    between.enter();
    let offer = between.offer();
    offer.accept(0, Some("text/plain".to_owned()));
    assert_eq!(between.source(), ["target text/plain"]);
    offer.accept(0, None);
    assert_eq!(between.source(), ["target "]);
    offer.accept(0, Some("image/png".to_owned()));
    assert_eq!(between.source(), ["target "], "it offers no such type");
    offer.accept(0, Some("text/plain".to_owned()));
    offer.set_actions(DndAction::Move, DndAction::Move);
    assert_eq!(between.source(), ["target text/plain", "action move"]);
    between.world.point(300.0, 300.0);
    assert_eq!(between.source(), ["action ", "target "], "it has left");
}

#[test]
fn each_device_of_a_client_is_told_the_action() {
    let mut between = Between::new(3, &[3, 3]);
    let heard = between.enter();
    assert_eq!(heard.iter().filter(|words| *words == "enter").count(), 2);
    // The offer of the second device.
    between.offer().accept(0, Some("text/plain".to_owned()));
    between.offer().set_actions(DndAction::Move, DndAction::Move);
    assert_eq!(between.target(), ["action move", "action move"]);
    between.release();
    assert_eq!(between.target(), ["drop", "drop", "leave", "leave"]);
    between.offer().finish();
    assert_eq!(between.source().last().map(String::as_str), Some("finished"));
}

#[test]
fn drop_on_a_client_that_goes_before_it_has_finished_is_cancelled() {
    let mut between = Between::new(3, &[3]);
    between.enter();
    between.offer().accept(0, Some("text/plain".to_owned()));
    between.offer().set_actions(DndAction::Copy, DndAction::Copy);
    between.world.settle();
    between.release();
    between.source();
    between.world.kill(between.target);
    assert_eq!(between.source(), ["cancelled"]);
}

#[test]
fn finish_without_a_drop_is_an_error() {
    let mut between = Between::new(3, &[3]);
    between.enter();
    between.offer().finish();
    between.world.settle();
    let code = wl_data_offer::Error::InvalidFinish as u32;
    assert_eq!(between.world.client(between.target).error, Some(("wl_data_offer".to_owned(), code)));
}

#[test]
fn what_has_no_source_is_dropped_within_its_client() {
    let mut world = World::new();
    let (client, window) = world.open("both", 200, 100);
    let (other, _) = world.open("other", 200, 100);
    world.put("both", (0, 0));
    world.put("other", (600, 400));
    world.client(client).take_events();
    world.point(10.0, 10.0);
    world.button(BUTTON_LEFT, true);
    let serial = world.client(client).press_serial();
    world.client(client).globals().data_device.start_drag(None, &window.surface, None, serial);
    world.settle();
    told(&mut world, other);
    world.point(610.0, 420.0);
    assert_eq!(told(&mut world, other), [""; 0], "other clients hear nothing of it");
    world.point(20.0, 30.0);
    world.button(BUTTON_LEFT, false);
    assert_eq!(told(&mut world, client), ["dragged over it at 20 30", "dropped on it", "dragged away"]);
}

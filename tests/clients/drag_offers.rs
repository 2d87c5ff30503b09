//! Drag and drop between sources and data devices of all versions: the events that each side gets.

use wayland_client::protocol::wl_data_device::{self, WlDataDevice};
use wayland_client::protocol::wl_data_device_manager::{DndAction, WlDataDeviceManager};
use wayland_client::protocol::wl_data_offer::{self, WlDataOffer};
use wayland_client::protocol::wl_data_source::{self, WlDataSource};
use wayland_client::{Connection, Dispatch, Proxy, QueueHandle, WEnum, event_created_child};

use crate::fixture::client::TestClientState;
use crate::fixture::{BUTTON_LEFT, ClientEvent, ClientIndex, KEY_ESCAPE, TestToplevel, TestWorld};
use crate::selection::source_events;

/// User data of objects that record each of their events as words.
#[derive(Clone, Copy, Debug)]
struct RecordedInWords;

macro_rules! in_words {
    ($interface:ty, |$data:ident, $event:ident| $words:expr $(, children $opcode:path => $child:ty)*) => {
        impl Dispatch<$interface, RecordedInWords> for TestClientState {
            fn event(
                $data: &mut Self,
                _: &$interface,
                $event: <$interface as Proxy>::Event,
                _: &RecordedInWords,
                _: &Connection,
                _: &QueueHandle<Self>,
            ) {
                if let Some(words) = $words {
                    $data.events.push(ClientEvent::InWords(words));
                }
            }

            event_created_child!(TestClientState, $interface, [$($opcode => ($child, RecordedInWords)),*]);
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
        data.drag_offers.extend(id);
        Some("enter".to_owned())
    }
    wl_data_device::Event::Leave => Some("leave".to_owned()),
    wl_data_device::Event::Drop => Some("drop".to_owned()),
    _ => None,
}, children wl_data_device::EVT_DATA_OFFER_OPCODE => WlDataOffer);

/// Accepts "text/plain", with `action` as the only and preferred action.
fn accept(offer: &WlDataOffer, action: DndAction) {
    offer.accept(0, Some("text/plain".to_owned()));
    offer.set_actions(action, action);
}

/// A drag from a client to another, each with its own versions of the source and of the data devices.
struct DragBetweenClients {
    world: TestWorld,
    source: ClientIndex,
    target: ClientIndex,
    window: TestToplevel,
    dragged: WlDataSource,
}

impl DragBetweenClients {
    /// The target has one data device for each of `versions`, created in that order.
    fn new(source_version: u32, versions: &[u32]) -> Self {
        let actions = DndAction::Copy | DndAction::Move;
        Self::with_actions(source_version, (source_version >= 3).then_some(actions), versions)
    }

    /// As [`DragBetweenClients::new`]; the source sets these actions.
    fn with_actions(source_version: u32, actions: Option<DndAction>, versions: &[u32]) -> Self {
        let mut world = TestWorld::new();
        let (source, window) = world.open("source", 200, 100);
        let (target, onto) = world.open("target", 200, 100);
        world.move_window("source", (0, 0));
        world.move_window("target", (600, 400));
        world.client(target).globals().data_device.release();
        for version in versions {
            let client = world.client(target);
            let manager = client.bind_at::<WlDataDeviceManager>(*version);
            manager.get_data_device(&client.globals().seat, &client.handle(), RecordedInWords);
        }
        let dragged = Self::begin(&mut world, source, (source_version, actions), &window);
        DragBetweenClients { world, source, target, window: onto, dragged }
    }

    fn begin(
        world: &mut TestWorld,
        source: ClientIndex,
        (version, actions): (u32, Option<DndAction>),
        window: &TestToplevel,
    ) -> WlDataSource {
        world.client(source).take_events();
        world.point(10.0, 10.0);
        world.button(BUTTON_LEFT, true);
        let serial = world.client(source).press_serial();
        let client = world.client(source);
        let manager = client.bind_at::<WlDataDeviceManager>(version);
        let dragged = manager.create_data_source(&client.handle(), RecordedInWords);
        dragged.offer("text/plain".to_owned());
        actions.into_iter().for_each(|actions| dragged.set_actions(actions));
        client.globals().data_device.start_drag(Some(&dragged), &window.surface, None, serial);
        world.settle();
        world.client(source).take_events();
        dragged
    }

    /// Moves onto the target. Returns the events of the target.
    fn enter(&mut self) -> Vec<String> {
        self.world.client(self.target).take_events();
        self.world.point(610.0, 420.0);
        self.target()
    }

    fn offer(&mut self) -> WlDataOffer {
        self.offers().pop().unwrap()
    }

    /// All offers, the newest last.
    fn offers(&mut self) -> Vec<WlDataOffer> {
        self.world.client(self.target).data.drag_offers.clone()
    }

    /// Releases the button after all pending requests.
    fn release(&mut self) {
        self.world.settle();
        self.world.button(BUTTON_LEFT, false);
    }

    fn source(&mut self) -> Vec<String> {
        self.world.settle();
        source_events(&mut self.world, self.source)
    }

    fn target(&mut self) -> Vec<String> {
        self.world.settle();
        source_events(&mut self.world, self.target)
    }
}

#[test]
fn old_target_gets_the_drop_without_action_events() {
    for version in [1, 2] {
        let mut between = DragBetweenClients::new(3, &[version]);
        assert_eq!(between.enter(), ["offer text/plain", "enter"], "version {version}");
        between.offer().accept(0, Some("text/plain".to_owned()));
        assert_eq!(between.source(), ["action copy", "target text/plain"]);
        between.release();
        assert_eq!(between.target(), ["drop", "leave"]);
        assert_eq!(between.source(), ["dropped"]);
        between.offer().destroy();
        assert_eq!(between.source(), ["finished"], "an old target cannot finish by itself");
    }
}

#[test]
fn drag_from_an_old_source_has_action_copy() {
    for version in [1, 2] {
        let mut between = DragBetweenClients::new(version, &[3]);
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
        assert!(!between.world.client(between.target).is_disconnected());
    }
}

#[test]
fn drag_from_a_source_without_set_actions_has_action_copy() {
    let mut between = DragBetweenClients::with_actions(3, None, &[3]);
    assert_eq!(between.enter(), ["offer text/plain", "offers copy", "enter"]);
    accept(&between.offer(), DndAction::Copy);
    assert_eq!(between.source(), ["target text/plain", "action copy"]);
    between.release();
    assert_eq!(between.target(), ["action copy", "drop", "leave"]);
    between.offer().finish();
    assert_eq!(between.source(), ["dropped", "finished"]);
}

#[test]
fn drag_from_a_source_with_action_none_is_never_dropped() {
    let mut between = DragBetweenClients::with_actions(3, Some(DndAction::None), &[3]);
    assert_eq!(between.enter(), ["offer text/plain", "offers ", "enter"]);
    accept(&between.offer(), DndAction::Copy);
    between.release();
    assert_eq!(between.target(), ["leave"]);
    assert_eq!(between.source(), ["target text/plain", "cancelled"]);
}

#[test]
fn source_gets_target_null_from_its_first_target() {
    let mut between = DragBetweenClients::new(3, &[3]);
    between.enter();
    assert_eq!(between.source(), [""; 0], "the target has not accepted");
    between.offer().accept(0, None);
    assert_eq!(between.source(), ["target "]);
    between.offer().accept(0, None);
    assert_eq!(between.source(), [""; 0], "the source knows already");
}

#[test]
fn drag_without_an_accepted_type_or_action_is_cancelled() {
    let mut between = DragBetweenClients::new(3, &[3]);
    between.enter();
    between.offer().set_actions(DndAction::Copy, DndAction::Copy);
    between.release();
    assert_eq!(between.target(), ["action copy", "leave"]);
    assert_eq!(between.source(), ["action copy", "cancelled"]);

    let mut between = DragBetweenClients::new(3, &[3]);
    between.enter();
    between.offer().accept(0, Some("text/plain".to_owned()));
    between.release();
    assert_eq!(between.target(), ["leave"], "an offer without an action gets no drop");
    assert_eq!(between.source(), ["target text/plain", "cancelled"]);
}

#[test]
fn source_gets_the_accepted_type() {
    let mut between = DragBetweenClients::new(3, &[3]);
    between.enter();
    let offer = between.offer();
    offer.accept(0, Some("text/plain".to_owned()));
    assert_eq!(between.source(), ["target text/plain"]);
    offer.accept(0, None);
    assert_eq!(between.source(), ["target "]);
    offer.accept(0, Some("text/plain".to_owned()));
    assert_eq!(between.source(), ["target text/plain"]);
    offer.accept(0, Some("text/uri-list".to_owned()));
    assert_eq!(between.source(), ["target text/uri-list"], "toolkits have names of their own for some types");
    offer.accept(0, Some(String::new()));
    assert_eq!(between.source(), ["target "], "Qt rejects so");
    offer.accept(0, Some("text/plain".to_owned()));
    offer.set_actions(DndAction::Move, DndAction::Move);
    assert_eq!(between.source(), ["target text/plain", "action move"]);
    between.world.point(300.0, 300.0);
    assert_eq!(between.source(), ["action ", "target "], "the pointer has left the target");
}

#[test]
fn only_the_accepting_device_of_a_client_gets_the_drop() {
    let mut between = DragBetweenClients::new(3, &[3, 3]);
    let heard = between.enter();
    assert_eq!(heard.iter().filter(|words| *words == "enter").count(), 2);
    let offers = between.offers();
    accept(&offers[1], DndAction::Move);
    assert_eq!(between.target(), ["action move"], "the other offer has no action");
    assert_eq!(between.source(), ["target text/plain", "action move"]);
    between.release();
    assert_eq!(between.target(), ["drop", "leave", "leave"]);
    between.source();
    // The client did not use this offer, so the source is not told of its end.
    offers[0].destroy();
    assert_eq!(between.source(), [""; 0]);
    offers[1].finish();
    assert_eq!(between.source(), ["finished"]);
    assert!(!between.world.client(between.target).is_disconnected());
}

#[test]
fn both_accepting_devices_of_a_client_get_the_drop() {
    let mut between = DragBetweenClients::new(3, &[3, 3]);
    between.enter();
    let offers = between.offers();
    offers.iter().for_each(|offer| accept(offer, DndAction::Copy));
    between.release();
    assert_eq!(between.target(), ["action copy", "action copy", "drop", "drop", "leave", "leave"]);
    between.source();
    offers[0].finish();
    offers[0].destroy();
    assert_eq!(between.source(), ["finished"]);
    offers[1].finish();
    offers[1].destroy();
    assert_eq!(between.source(), [""; 0]);
    assert!(!between.world.client(between.target).is_disconnected());

    let mut between = DragBetweenClients::new(3, &[3, 3]);
    between.enter();
    let offers = between.offers();
    offers.iter().for_each(|offer| accept(offer, DndAction::Copy));
    between.release();
    between.source();
    offers[0].destroy();
    assert_eq!(between.source(), [""; 0], "the other may still finish");
    offers[1].destroy();
    assert_eq!(between.source(), ["cancelled"]);
}

#[test]
fn destroying_an_offer_before_the_drop_withdraws_its_acceptance() {
    let mut between = DragBetweenClients::new(3, &[3]);
    between.enter();
    accept(&between.offer(), DndAction::Copy);
    assert_eq!(between.source(), ["target text/plain", "action copy"]);
    between.offer().destroy();
    assert_eq!(between.source(), ["action ", "target "]);
    between.target();
    between.release();
    assert_eq!(between.target(), ["leave"]);
    assert_eq!(between.source(), ["cancelled"]);
}

#[test]
fn old_source_gets_no_cancelled_event() {
    for version in [1, 2] {
        let mut between = DragBetweenClients::new(version, &[3]);
        between.enter();
        between.release();
        assert_eq!(between.source(), [""; 0], "version {version}: nothing was accepted");

        let mut between = DragBetweenClients::new(version, &[3]);
        between.enter();
        accept(&between.offer(), DndAction::Copy);
        between.world.settle();
        between.world.key(KEY_ESCAPE, true);
        assert_eq!(between.source(), ["target text/plain", "target "], "version {version}: the drag was cancelled");

        let mut between = DragBetweenClients::new(version, &[3]);
        between.enter();
        accept(&between.offer(), DndAction::Copy);
        between.release();
        between.offer().destroy();
        assert_eq!(between.source(), ["target text/plain"], "version {version}: dropped, and not finished");
    }
}

#[test]
fn source_gets_only_changes() {
    let mut between = DragBetweenClients::new(3, &[3]);
    between.enter();
    for _ in 0..3 {
        accept(&between.offer(), DndAction::Copy);
    }
    assert_eq!(between.source(), ["target text/plain", "action copy"]);
}

/// A target changes its answer [`CHANGES`] times [`CHANGES_AT_ONCE`]: more events for the source than fit into a
/// socket.
const CHANGES: usize = 200;
const CHANGES_AT_ONCE: usize = 100;

#[test]
fn stalled_source_gets_the_newest_state_of_its_target() {
    let mut between = DragBetweenClients::new(3, &[3]);
    between.enter();
    let (source, offer) = (between.source, between.offer());
    between.world.client(source).is_stalled = true;
    for _ in 0..CHANGES {
        for _ in 0..CHANGES_AT_ONCE {
            offer.accept(0, None);
            offer.accept(0, Some("text/plain".to_owned()));
        }
        between.world.settle();
    }
    offer.set_actions(DndAction::Move, DndAction::Move);
    between.world.settle();
    between.world.client(source).is_stalled = false;
    between.world.settle();
    assert!(!between.world.client(source).is_disconnected(), "{}", between.world.client(source).error_message());
    let mut heard = Vec::new();
    between.world.run_until("the newest state", |world| {
        heard.extend(source_events(world, source));
        heard.iter().any(|words| words == "action move")
    });
    let accepted = heard.iter().rfind(|words| words.starts_with("target"));
    assert_eq!(accepted.map(String::as_str), Some("target text/plain"));
    between.release();
    assert_eq!(between.source(), ["dropped"]);
}

#[test]
fn action_withdrawn_after_the_drop_is_still_finished() {
    let mut between = DragBetweenClients::new(3, &[3]);
    between.enter();
    accept(&between.offer(), DndAction::Move);
    between.release();
    // The target sends this before it has read `drop`.
    between.offer().set_actions(DndAction::None, DndAction::None);
    between.offer().finish();
    assert_eq!(between.source(), ["target text/plain", "action move", "dropped", "finished"]);
    assert!(
        !between.world.client(between.target).is_disconnected(),
        "{}",
        between.world.client(between.target).error_message()
    );
}

#[test]
fn window_destroyed_under_the_pointer_gets_no_drop() {
    let mut between = DragBetweenClients::new(3, &[3]);
    between.enter();
    accept(&between.offer(), DndAction::Move);
    assert_eq!(between.source(), ["target text/plain", "action move"]);
    between.window.toplevel.destroy();
    between.window.xdg.destroy();
    between.window.surface.destroy();
    between.target();
    between.release();
    assert_eq!(between.target(), ["leave"]);
    assert_eq!(between.source(), ["cancelled"]);
}

#[test]
fn drag_ends_with_its_source() {
    let mut between = DragBetweenClients::new(3, &[3]);
    between.enter();
    accept(&between.offer(), DndAction::Move);
    between.target();
    between.dragged.destroy();
    assert_eq!(between.target(), ["leave"]);
    between.release();
    assert_eq!(between.target(), [""; 0]);
}

#[test]
fn drop_is_cancelled_if_its_target_dies_before_finish() {
    let mut between = DragBetweenClients::new(3, &[3]);
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
    let mut between = DragBetweenClients::new(3, &[3]);
    between.enter();
    between.offer().finish();
    between.world.settle();
    let code = wl_data_offer::Error::InvalidFinish as u32;
    assert_eq!(between.world.client(between.target).error, Some(("wl_data_offer".to_owned(), code)));
}

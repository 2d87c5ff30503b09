//! Helpers for tests of the client library: the connection, its list of globals, and recorded pointer and touch events.

use std::sync::{Arc, Mutex};

use wayland_client::globals::{GlobalList, GlobalListContents, registry_queue_init};
use wayland_client::protocol::wl_pointer::{self, WlPointer};
use wayland_client::protocol::wl_registry::{self, WlRegistry};
use wayland_client::protocol::wl_touch::{self, WlTouch};
use wayland_client::{Connection, Dispatch, Proxy, QueueHandle};

use crate::fixture::client::TestClientState;
use crate::fixture::{ClientIndex, TestWorld};

/// Recorded pointer and touch events.
#[derive(Debug, Default)]
pub struct RecordedInput {
    pub pointer: Vec<wl_pointer::Event>,
    pub touch: Vec<wl_touch::Event>,
}

/// Recorded events, shared with the dispatch of the client.
pub type SharedRecordedInput = Arc<Mutex<RecordedInput>>;

/// Connection of the client that owns `object`.
pub fn connection(object: &impl Proxy) -> Connection {
    Connection::from_backend(object.backend().upgrade().unwrap())
}

/// List of globals of a client, fetched on a thread of its own because that blocks.
pub fn global_list(world: &mut TestWorld, client: ClientIndex, connection: &Connection) -> GlobalList {
    let connection = connection.clone();
    world.client(client).is_stalled = true;
    let asking = std::thread::spawn(move || registry_queue_init::<TestClientState>(&connection).unwrap().0);
    while !asking.is_finished() {
        world.deliver();
        std::thread::sleep(std::time::Duration::from_millis(1));
    }
    world.client(client).is_stalled = false;
    asking.join().unwrap()
}

/// Records the events of a client's pointer and touch from now on.
pub fn keep_events(world: &mut TestWorld, client: ClientIndex) -> SharedRecordedInput {
    let kept = SharedRecordedInput::default();
    let client = world.client(client);
    client.globals().seat.get_pointer(&client.handle(), kept.clone());
    client.globals().seat.get_touch(&client.handle(), kept.clone());
    world.settle();
    kept
}

impl Dispatch<WlRegistry, GlobalListContents> for TestClientState {
    fn event(
        _: &mut Self,
        _: &WlRegistry,
        _: wl_registry::Event,
        _: &GlobalListContents,
        _: &Connection,
        _: &QueueHandle<Self>,
    ) {
    }
}

impl Dispatch<WlPointer, SharedRecordedInput> for TestClientState {
    fn event(
        _: &mut Self,
        _: &WlPointer,
        event: wl_pointer::Event,
        kept: &SharedRecordedInput,
        _: &Connection,
        _: &QueueHandle<Self>,
    ) {
        kept.lock().unwrap().pointer.push(event);
    }
}

impl Dispatch<WlTouch, SharedRecordedInput> for TestClientState {
    fn event(
        _: &mut Self,
        _: &WlTouch,
        event: wl_touch::Event,
        kept: &SharedRecordedInput,
        _: &Connection,
        _: &QueueHandle<Self>,
    ) {
        kept.lock().unwrap().touch.push(event);
    }
}

//! `zwp_input_timestamps_manager_v1` 1: times of pointer, keyboard and touch events in nanoseconds.
//!
//! A time stamp is sent right before its event. A wheel event for two axes has one time stamp for both. Tablet tools,
//! which this protocol leaves out, have theirs in [`predicted_input`](super::predicted_input).

use ahash::HashMap;
use smithay::reexports::wayland_protocols::wp::input_timestamps::zv1::server::zwp_input_timestamps_manager_v1::{
    self as manager, ZwpInputTimestampsManagerV1,
};
use smithay::reexports::wayland_protocols::wp::input_timestamps::zv1::server::zwp_input_timestamps_v1::{
    self as wire, ZwpInputTimestampsV1,
};
use smithay::reexports::wayland_server::backend::{ClientId, GlobalId, ObjectId};
use smithay::reexports::wayland_server::protocol::wl_surface::WlSurface;
use smithay::reexports::wayland_server::{Client, DataInit, Dispatch, DisplayHandle, GlobalDispatch, New, Resource};

use crate::guard::Handlers;
use crate::input::{InputTimes, TimestampedDevice};
use crate::state::State;
use upbeat_timing::time::Instant;

const VERSION: u32 = 1;

/// The global, and the subscriptions of each client.
#[derive(Debug)]
pub struct InputTimestamps {
    _global: GlobalId,
    subscriptions: HashMap<ClientId, Vec<Subscription>>,
}

/// The device whose events get time stamps.
#[derive(Debug)]
struct Subscription {
    object: ZwpInputTimestampsV1,
    of: TimestampedDevice,
    device: ObjectId,
}

impl InputTimestamps {
    pub(super) fn new(display: &DisplayHandle) -> Self {
        let global = display.create_global::<State, ZwpInputTimestampsManagerV1, ()>(VERSION, ());
        InputTimestamps { _global: global, subscriptions: HashMap::default() }
    }

    /// How many clients get time stamps. For tests.
    pub(super) fn clients(&self) -> usize {
        self.subscriptions.len()
    }
}

impl InputTimes for State {
    fn send_time(&self, of: TimestampedDevice, surface: Option<&WlSurface>, at: Instant) {
        let timestamps = &self.protocols.input_timestamps;
        if timestamps.subscriptions.is_empty() {
            return;
        }
        let client = surface.and_then(|surface| surface.client()).map(|client| client.id());
        let its = client.and_then(|client| timestamps.subscriptions.get(&client)).into_iter().flatten();
        let (seconds_high, seconds_low, nanos) = at.as_wayland_parts();
        for subscription in its.filter(|subscription| subscription.of == of) {
            // If the device object is destroyed, its events are not sent, and neither is their time.
            if self.display_handle.backend_handle().object_info(subscription.device.clone()).is_ok() {
                subscription.object.timestamp(seconds_high, seconds_low, nanos);
            }
        }
    }
}

impl GlobalDispatch<ZwpInputTimestampsManagerV1, (), State> for Handlers {
    fn bind(
        _state: &mut State,
        _display: &DisplayHandle,
        _client: &Client,
        manager: New<ZwpInputTimestampsManagerV1>,
        _data: &(),
        init: &mut DataInit<'_, State>,
    ) {
        init.init(manager, ());
    }
}

impl Dispatch<ZwpInputTimestampsManagerV1, (), State> for Handlers {
    fn request(
        state: &mut State,
        client: &Client,
        _manager: &ZwpInputTimestampsManagerV1,
        request: manager::Request,
        _data: &(),
        _display: &DisplayHandle,
        init: &mut DataInit<'_, State>,
    ) {
        use manager::Request;
        let (id, of, device) = match request {
            Request::GetKeyboardTimestamps { id, keyboard } => (id, TimestampedDevice::Keyboard, keyboard.id()),
            Request::GetPointerTimestamps { id, pointer } => (id, TimestampedDevice::Pointer, pointer.id()),
            Request::GetTouchTimestamps { id, touch } => (id, TimestampedDevice::Touch, touch.id()),
            _ => return,
        };
        let subscription = Subscription { object: init.init(id, client.id()), of, device };
        state.protocols.input_timestamps.subscriptions.entry(client.id()).or_default().push(subscription);
    }
}

impl Dispatch<ZwpInputTimestampsV1, ClientId, State> for Handlers {
    fn request(
        _state: &mut State,
        _client: &Client,
        _object: &ZwpInputTimestampsV1,
        _request: wire::Request,
        _client_id: &ClientId,
        _display: &DisplayHandle,
        _init: &mut DataInit<'_, State>,
    ) {
    }

    /// The client's id is stored as user data, because wayland-backend no longer knows it when the client is gone.
    fn destroyed(state: &mut State, _client: ClientId, object: &ZwpInputTimestampsV1, client: &ClientId) {
        let timestamps = &mut state.protocols.input_timestamps;
        if let Some(its) = timestamps.subscriptions.get_mut(client) {
            its.retain(|subscription| subscription.object.id() != object.id());
            if its.is_empty() {
                timestamps.subscriptions.remove(client);
            }
        }
    }
}

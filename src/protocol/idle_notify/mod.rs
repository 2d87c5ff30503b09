//! `ext_idle_notifier_v1` 2: clients are told when the user has not used the seat for some time (swayidle).
//!
//! Input writes one time stamp ([`Input::last_use`](crate::input::Input::last_use)); the notifications are computed
//! from it at the end of a turn ([`idle_timeouts`], pure). All input of the seat counts, virtual input too. A
//! notification of `get_idle_notification` never comes while a visible surface keeps the screen on
//! ([`idle_inhibit`](super::idle_inhibit)); a notification of `get_input_idle_notification` ignores such surfaces.

pub mod idle_timeouts;

use smithay::reexports::wayland_protocols::ext::idle_notify::v1::server::ext_idle_notification_v1::{
    self, ExtIdleNotificationV1,
};
use smithay::reexports::wayland_protocols::ext::idle_notify::v1::server::ext_idle_notifier_v1::{
    self, ExtIdleNotifierV1,
};
use smithay::reexports::wayland_server::backend::{ClientId, GlobalId};
use smithay::reexports::wayland_server::{Client, DataInit, Dispatch, DisplayHandle, GlobalDispatch, New};

use crate::guard::Handlers;
use crate::state::State;
use idle_timeouts::{IdleEvent, IdleTimeouts};
use upbeat_timing::time::{Clock, Instant, Span};

const VERSION: u32 = 2;

/// The global, and the notifications that clients have requested.
#[derive(Debug)]
pub struct IdleNotify {
    _global: GlobalId,
    waiting: IdleTimeouts<ExtIdleNotificationV1>,
}

impl IdleNotify {
    pub(super) fn new(display: &DisplayHandle) -> Self {
        let global = display.create_global::<State, ExtIdleNotifierV1, ()>(VERSION, ());
        IdleNotify { _global: global, waiting: IdleTimeouts::default() }
    }
}

/// Sends `idled` and `resumed` events that are due. Returns when to call it next if there is no input.
pub fn send_due(state: &mut State) -> Option<Instant> {
    let asks = state.protocols.idle_notify.waiting.heeds_inhibitors();
    let is_inhibited = asks && super::idle_inhibit::inhibits(state);
    let now = state.clock.now();
    let waiting = &mut state.protocols.idle_notify.waiting;
    waiting.update(state.input.last_use(), is_inhibited, now, |notification, told| match told {
        IdleEvent::Idled => notification.idled(),
        IdleEvent::Resumed => notification.resumed(),
    });
    state.input.set_use_awaited(waiting.is_any_idle());
    waiting.wake()
}

impl GlobalDispatch<ExtIdleNotifierV1, (), State> for Handlers {
    fn bind(
        _state: &mut State,
        _display: &DisplayHandle,
        _client: &Client,
        notifier: New<ExtIdleNotifierV1>,
        _data: &(),
        init: &mut DataInit<'_, State>,
    ) {
        init.init(notifier, ());
    }

    fn can_view(client: Client, _data: &()) -> bool {
        super::privileges::may_bind::<ExtIdleNotifierV1>(&client)
    }
}

impl Dispatch<ExtIdleNotifierV1, (), State> for Handlers {
    fn request(
        state: &mut State,
        _client: &Client,
        _notifier: &ExtIdleNotifierV1,
        request: ext_idle_notifier_v1::Request,
        _data: &(),
        _display: &DisplayHandle,
        init: &mut DataInit<'_, State>,
    ) {
        let (id, timeout, heeds_inhibitors) = match request {
            ext_idle_notifier_v1::Request::GetIdleNotification { id, timeout, .. } => (id, timeout, true),
            ext_idle_notifier_v1::Request::GetInputIdleNotification { id, timeout, .. } => (id, timeout, false),
            _ => return,
        };
        let now = state.clock.now();
        let notification = init.init(id, ());
        let timeout = Span::from_millis(timeout.into());
        state.protocols.idle_notify.waiting.add(notification, timeout, heeds_inhibitors, now);
    }
}

impl Dispatch<ExtIdleNotificationV1, (), State> for Handlers {
    fn request(
        _state: &mut State,
        _client: &Client,
        _notification: &ExtIdleNotificationV1,
        _request: ext_idle_notification_v1::Request,
        _data: &(),
        _display: &DisplayHandle,
        _init: &mut DataInit<'_, State>,
    ) {
        // The only request is `destroy`.
    }

    fn destroyed(state: &mut State, _client: ClientId, notification: &ExtIdleNotificationV1, _data: &()) {
        state.protocols.idle_notify.waiting.remove(notification);
    }
}

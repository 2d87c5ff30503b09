//! `ext_session_lock_manager_v1` 1: a client locks the session until it unlocks it (swaylock).
//!
//! Requests are checked here; [`shell::lock`](crate::shell::lock) implements the lock. The locker is sent `locked` when
//! [every output shows the lock](crate::output::lock::is_shown_everywhere). Our own implementation, since Smithay 0.7
//! lets any client unlock, by `unlock_and_destroy` on a lock that was refused.
//!
//! While a client has the lock, another locker is sent `finished`, and its surfaces are never shown. If a locker is
//! gone without `unlock_and_destroy`, the session stays locked, unless nothing was hidden yet.

mod surface;

use std::sync::atomic::{AtomicBool, Ordering};

use smithay::reexports::wayland_protocols::ext::session_lock::v1::server::ext_session_lock_manager_v1::{
    self, ExtSessionLockManagerV1,
};
use smithay::reexports::wayland_protocols::ext::session_lock::v1::server::ext_session_lock_v1::{
    self, Error, ExtSessionLockV1,
};
use smithay::reexports::wayland_server::backend::{ClientId, GlobalId};
use smithay::reexports::wayland_server::{Client, DataInit, Dispatch, DisplayHandle, GlobalDispatch, New, Resource};

use crate::guard::Handlers;
use crate::output;
use crate::shell::lock::{self, LockId};
use crate::state::State;

const VERSION: u32 = 1;

/// The global, and the lock in force.
#[derive(Debug)]
pub struct SessionLock {
    _global: GlobalId,
    holder: Option<(LockId, ExtSessionLockV1)>,
}

impl SessionLock {
    pub(super) fn new(display: &DisplayHandle) -> Self {
        let global = display.create_global::<State, ExtSessionLockManagerV1, ()>(VERSION, ());
        SessionLock { _global: global, holder: None }
    }
}

/// User data of a lock object.
#[derive(Debug)]
pub struct LockData {
    /// `None` if the lock was refused.
    id: Option<LockId>,
    /// The client destroyed it by a request, which decides whether the session stays locked.
    has_ended: AtomicBool,
}

/// Sends `locked` once only the lock is visible.
pub(super) fn refresh(state: &mut State) {
    if !state.shell.lock().awaits_confirmation() || !output::lock::is_shown_everywhere(state) {
        return;
    }
    let confirmed = state.shell.lock_mut().confirm_shown();
    if let Some((id, holder)) = &state.protocols.session_lock.holder
        && confirmed == Some(*id)
    {
        tracing::info!("the session is locked");
        holder.locked();
    }
}

impl GlobalDispatch<ExtSessionLockManagerV1, (), State> for Handlers {
    fn bind(
        _state: &mut State,
        _display: &DisplayHandle,
        _client: &Client,
        manager: New<ExtSessionLockManagerV1>,
        _data: &(),
        init: &mut DataInit<'_, State>,
    ) {
        init.init(manager, ());
    }

    fn can_view(client: Client, _data: &()) -> bool {
        super::privileges::may_bind::<ExtSessionLockManagerV1>(&client)
    }
}

impl Dispatch<ExtSessionLockManagerV1, (), State> for Handlers {
    fn request(
        state: &mut State,
        _client: &Client,
        _manager: &ExtSessionLockManagerV1,
        request: ext_session_lock_manager_v1::Request,
        _data: &(),
        _display: &DisplayHandle,
        init: &mut DataInit<'_, State>,
    ) {
        use ext_session_lock_manager_v1::Request;
        let Request::Lock { id } = request else { return };
        let asked = lock::request(state).ok();
        let object = init.init(id, LockData { id: asked, has_ended: AtomicBool::new(false) });
        match asked {
            Some(id) => state.protocols.session_lock.holder = Some((id, object)),
            None => object.finished(),
        }
    }
}

impl Dispatch<ExtSessionLockV1, LockData, State> for Handlers {
    fn request(
        state: &mut State,
        _client: &Client,
        object: &ExtSessionLockV1,
        request: ext_session_lock_v1::Request,
        data: &LockData,
        _display: &DisplayHandle,
        init: &mut DataInit<'_, State>,
    ) {
        use ext_session_lock_v1::Request;
        match request {
            Request::GetLockSurface { id, surface, output } => {
                surface::make(state, object, data.id, id, surface, &output, init);
            }
            Request::UnlockAndDestroy => match data.id.map(|id| lock::unlock(state, id)) {
                Some(Ok(())) => data.has_ended.store(true, Ordering::Relaxed),
                _ => object.post_error(Error::InvalidUnlock, "`locked` was not sent for this lock"),
            },
            Request::Destroy if data.id.is_some_and(|id| state.shell.lock().is_confirmed(id)) => {
                object.post_error(Error::InvalidDestroy, "the session is locked: only unlock_and_destroy unlocks it");
            }
            Request::Destroy => {
                data.has_ended.store(true, Ordering::Relaxed);
                data.id.into_iter().for_each(|id| lock::give_up(state, id));
            }
            _ => {}
        }
    }

    fn destroyed(state: &mut State, _client: ClientId, object: &ExtSessionLockV1, data: &LockData) {
        state.protocols.session_lock.holder.take_if(|(_, holder)| holder == object);
        if let Some(id) = data.id.filter(|_| !data.has_ended.load(Ordering::Relaxed)) {
            lock::locker_died(state, id);
        }
    }
}

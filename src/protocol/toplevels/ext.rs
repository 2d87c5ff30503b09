//! `ext_foreign_toplevel_list_v1` 1: lists windows by title and app id. Other protocols use its handles.

use std::collections::BTreeMap;
use std::sync::Arc;

use smithay::reexports::wayland_protocols::ext::foreign_toplevel_list::v1::server::ext_foreign_toplevel_handle_v1::{
    self, ExtForeignToplevelHandleV1,
};
use smithay::reexports::wayland_protocols::ext::foreign_toplevel_list::v1::server::ext_foreign_toplevel_list_v1::{
    self, ExtForeignToplevelListV1,
};
use smithay::reexports::wayland_server::backend::{ClientId, GlobalId};
use smithay::reexports::wayland_server::{Client, DataInit, Dispatch, DisplayHandle, GlobalDispatch, New, Resource};

use super::{ToplevelState, ToplevelStates, is_behind};
use crate::guard::Handlers;
use crate::protocol::privileges;
use crate::shell::WindowId;
use crate::state::State;

const VERSION: u32 = 1;

/// The global, and the lists that clients have bound.
#[derive(Debug)]
pub struct ExtToplevelLists {
    _global: GlobalId,
    list: Vec<ExtToplevelList>,
}

#[derive(Debug)]
struct ExtToplevelList {
    object: ExtForeignToplevelListV1,
    /// The client has sent `stop` or has destroyed the list: no new windows are sent, but existing handles are updated.
    is_stopped: bool,
    handles: BTreeMap<WindowId, (ExtForeignToplevelHandleV1, Arc<ToplevelState>)>,
}

/// The window of a handle, whether or not it still exists.
pub fn window_of(handle: &ExtForeignToplevelHandleV1) -> Option<WindowId> {
    handle.data::<WindowId>().copied()
}

impl ExtToplevelLists {
    pub(super) fn new(display: &DisplayHandle) -> Self {
        let global = display.create_global::<State, ExtForeignToplevelListV1, ()>(VERSION, ());
        ExtToplevelLists { _global: global, list: Vec::new() }
    }

    pub(super) fn is_empty(&self) -> bool {
        self.list.is_empty()
    }

    /// Sends all changes. Returns whether every client is up to date.
    pub(super) fn send_changes(&mut self, looks: &ToplevelStates, display: &DisplayHandle) -> bool {
        let all_know = self.list.iter_mut().fold(true, |all_know, list| all_know & list.send_changes(looks, display));
        self.list.retain(|list| !list.is_stopped || !list.handles.is_empty());
        all_know
    }

    fn stop(&mut self, list: &ExtForeignToplevelListV1) {
        let list = self.list.iter_mut().find(|known| known.object == *list);
        list.into_iter().for_each(|list| list.is_stopped = true);
    }
}

impl ExtToplevelList {
    /// Sends changes as far as the client reads them. Returns whether the client is up to date.
    fn send_changes(&mut self, looks: &ToplevelStates, display: &DisplayHandle) -> bool {
        self.handles.retain(|id, (handle, sent)| {
            let gone = looks.get(id).is_none_or(|look| look.number != sent.number);
            if gone && handle.is_alive() {
                handle.closed();
            }
            !gone && (handle.is_alive() || !self.is_stopped)
        });
        for (id, look) in looks {
            let known = self.handles.get_mut(id);
            if known.is_none() && self.is_stopped {
                continue;
            }
            if known.as_ref().is_some_and(|(_, sent)| Arc::ptr_eq(sent, look)) {
                continue;
            }
            let is_behind = known.as_ref().map_or_else(|| is_behind(&self.object), |(handle, _)| is_behind(handle));
            if is_behind {
                return false;
            }
            if let Some((handle, sent)) = known {
                let before = std::mem::replace(sent, look.clone());
                send_state(handle, Some(&before), look);
            } else if self.announce(*id, look, display).is_none() {
                // The client has just disconnected.
                return true;
            }
        }
        true
    }

    fn announce(&mut self, id: WindowId, look: &Arc<ToplevelState>, display: &DisplayHandle) -> Option<()> {
        let client = self.object.client()?;
        let handle = client.create_resource::<ExtForeignToplevelHandleV1, _, State>(display, self.object.version(), id);
        let handle = handle.ok()?;
        self.object.toplevel(&handle);
        handle.identifier(format!("{:x}-{:x}", std::process::id(), look.number));
        send_state(&handle, None, look);
        self.handles.insert(id, (handle, look.clone()));
        Some(())
    }
}

fn send_state(handle: &ExtForeignToplevelHandleV1, sent: Option<&ToplevelState>, look: &ToplevelState) {
    let is_other = |part: fn(&ToplevelState) -> &Arc<str>| sent.is_none_or(|sent| part(sent) != part(look));
    let (title, app_id) = (is_other(|look| &look.title), is_other(|look| &look.app_id));
    if !handle.is_alive() || !(title || app_id) {
        return;
    }
    if title {
        handle.title(look.title.to_string());
    }
    if app_id {
        handle.app_id(look.app_id.to_string());
    }
    handle.done();
}

impl GlobalDispatch<ExtForeignToplevelListV1, (), State> for Handlers {
    fn bind(
        state: &mut State,
        _display: &DisplayHandle,
        _client: &Client,
        list: New<ExtForeignToplevelListV1>,
        _data: &(),
        init: &mut DataInit<'_, State>,
    ) {
        let object = init.init(list, ());
        let toplevels = &mut state.protocols.toplevels;
        toplevels.ext.list.push(ExtToplevelList { object, is_stopped: false, handles: BTreeMap::new() });
        // Makes this turn's refresh send all windows to the new list.
        toplevels.basis = None;
    }

    fn can_view(client: Client, _data: &()) -> bool {
        privileges::may_bind::<ExtForeignToplevelListV1>(&client)
    }
}

impl Dispatch<ExtForeignToplevelListV1, (), State> for Handlers {
    fn request(
        state: &mut State,
        _client: &Client,
        list: &ExtForeignToplevelListV1,
        request: ext_foreign_toplevel_list_v1::Request,
        _data: &(),
        _display: &DisplayHandle,
        _init: &mut DataInit<'_, State>,
    ) {
        if let ext_foreign_toplevel_list_v1::Request::Stop = request {
            state.protocols.toplevels.ext.stop(list);
            list.finished();
        }
    }

    fn destroyed(state: &mut State, _client: ClientId, list: &ExtForeignToplevelListV1, _data: &()) {
        state.protocols.toplevels.ext.stop(list);
    }
}

impl Dispatch<ExtForeignToplevelHandleV1, WindowId, State> for Handlers {
    fn request(
        _state: &mut State,
        _client: &Client,
        _handle: &ExtForeignToplevelHandleV1,
        _request: ext_foreign_toplevel_handle_v1::Request,
        _id: &WindowId,
        _display: &DisplayHandle,
        _init: &mut DataInit<'_, State>,
    ) {
        // The only request is `destroy`.
    }
}

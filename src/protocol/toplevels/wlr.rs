//! `zwlr_foreign_toplevel_manager_v1` 3: a bar lists windows, and closes, activates and arranges them.
//!
//! A handle whose window is gone does nothing.

use std::collections::BTreeMap;
use std::sync::Arc;

use smithay::output::Output;
use smithay::reexports::wayland_protocols_wlr::foreign_toplevel::v1::server::zwlr_foreign_toplevel_handle_v1::{
    self, Error, State as Flag, ZwlrForeignToplevelHandleV1,
};
use smithay::reexports::wayland_protocols_wlr::foreign_toplevel::v1::server::zwlr_foreign_toplevel_manager_v1::{
    self, ZwlrForeignToplevelManagerV1,
};
use smithay::reexports::wayland_server::backend::{ClientId, GlobalId};
use smithay::reexports::wayland_server::protocol::wl_output::WlOutput;
use smithay::reexports::wayland_server::protocol::wl_surface::WlSurface;
use smithay::reexports::wayland_server::{Client, DataInit, Dispatch, DisplayHandle, GlobalDispatch, New, Resource};

use super::{ToplevelState, ToplevelStates, is_behind};
use crate::guard::Handlers;
use crate::protocol::privileges;
use crate::shell::{self, WindowId, minimising};
use crate::state::State;

const VERSION: u32 = 3;
/// Versions of a handle from which on it has the fullscreen state, and parents.
const SAYS_FULLSCREEN: u32 = 2;
const SAYS_PARENTS: u32 = 3;

/// The global, and the managers that clients have bound.
#[derive(Debug)]
pub struct WlrToplevelManagers {
    _global: GlobalId,
    list: Vec<WlrToplevelManager>,
}

#[derive(Debug)]
struct WlrToplevelManager {
    object: ZwlrForeignToplevelManagerV1,
    /// The client has sent `stop` or has destroyed the manager: no new windows are sent, but existing handles are
    /// updated.
    is_stopped: bool,
    handles: BTreeMap<WindowId, WlrToplevelHandle>,
}

/// A window that was announced.
#[derive(Debug)]
struct WlrToplevelHandle {
    handle: ZwlrForeignToplevelHandleV1,
    number: u64,
    /// The state that was sent last; `None` right after the announcement.
    sent: Option<Arc<ToplevelState>>,
}

impl WlrToplevelHandle {
    fn knows(&self, look: &Arc<ToplevelState>) -> bool {
        self.sent.as_ref().is_some_and(|sent| Arc::ptr_eq(sent, look) || sent == look)
    }
}

impl WlrToplevelManagers {
    pub(super) fn new(display: &DisplayHandle) -> Self {
        let global = display.create_global::<State, ZwlrForeignToplevelManagerV1, ()>(VERSION, ());
        WlrToplevelManagers { _global: global, list: Vec::new() }
    }

    pub(super) fn output_bound(&self, output: &Output, object: &WlOutput) {
        self.list.iter().for_each(|manager| manager.output_bound(output, object));
    }

    pub(super) fn is_empty(&self) -> bool {
        self.list.is_empty()
    }

    /// Sends all changes. Returns whether every client is up to date.
    pub(super) fn send_changes(&mut self, looks: &ToplevelStates, display: &DisplayHandle) -> bool {
        let all_know =
            self.list.iter_mut().fold(true, |all_know, manager| all_know & manager.send_changes(looks, display));
        self.list.retain(|manager| !manager.is_stopped || !manager.handles.is_empty());
        all_know
    }

    fn stop(&mut self, manager: &ZwlrForeignToplevelManagerV1) {
        let manager = self.list.iter_mut().find(|known| known.object == *manager);
        manager.into_iter().for_each(|manager| manager.is_stopped = true);
    }
}

impl WlrToplevelManager {
    /// Sends changes as far as the client reads them. Returns whether the client is up to date.
    fn send_changes(&mut self, looks: &ToplevelStates, display: &DisplayHandle) -> bool {
        self.handles.retain(|id, known| {
            let gone = looks.get(id).is_none_or(|look| look.number != known.number);
            if gone && known.handle.is_alive() {
                known.handle.closed();
            }
            !gone && (known.handle.is_alive() || !self.is_stopped)
        });
        for (id, look) in looks {
            if self.handles.contains_key(id) || self.is_stopped {
                continue;
            }
            if is_behind(&self.object) {
                return false;
            }
            // `None` if the client has just disconnected.
            if self.announce(*id, look.number, display).is_none() {
                return true;
            }
        }
        // After all announcements, because a state may name another window as its parent.
        for (id, look) in looks {
            let Some(known) = self.handles.get(id).filter(|known| !known.knows(look)) else { continue };
            if is_behind(&known.handle) {
                return false;
            }
            self.send_state(*id, look);
        }
        true
    }

    fn announce(&mut self, id: WindowId, number: u64, display: &DisplayHandle) -> Option<()> {
        let (client, version) = (self.object.client()?, self.object.version());
        let handle = client.create_resource::<ZwlrForeignToplevelHandleV1, _, State>(display, version, id).ok()?;
        self.object.toplevel(&handle);
        self.handles.insert(id, WlrToplevelHandle { handle, number, sent: None });
        Some(())
    }

    fn send_state(&mut self, id: WindowId, look: &Arc<ToplevelState>) {
        let parent = look.parent.and_then(|parent| self.handles.get(&parent)).map(|known| known.handle.clone());
        let Some(WlrToplevelHandle { handle, sent, .. }) = self.handles.get_mut(&id) else { return };
        let sent = sent.replace(look.clone());
        let (Some(client), version) = (handle.client().filter(|_| handle.is_alive()), handle.version()) else { return };
        let sent = sent.as_ref();
        if sent.is_none_or(|sent| sent.title != look.title) {
            handle.title(look.title.to_string());
        }
        if sent.is_none_or(|sent| sent.app_id != look.app_id) {
            handle.app_id(look.app_id.to_string());
        }
        let before = sent.and_then(|sent| sent.output.as_ref());
        if before != look.output.as_ref() {
            let objects = |output: &Output| output.client_outputs(&client).collect::<Vec<_>>();
            before.into_iter().flat_map(objects).for_each(|object| handle.output_leave(&object));
            look.output.iter().flat_map(objects).for_each(|object| handle.output_enter(&object));
        }
        if sent.is_none_or(|sent| flags(sent, version) != flags(look, version)) {
            handle.state(flags(look, version));
        }
        if version >= SAYS_PARENTS && sent.and_then(|sent| sent.parent) != look.parent {
            handle.parent(parent.as_ref());
        }
        handle.done();
    }

    /// Sends `output_enter` for a `wl_output` that the client has just bound.
    fn output_bound(&self, output: &Output, object: &WlOutput) {
        let is_its = |known: &&WlrToplevelHandle| known.handle.id().same_client_as(&object.id());
        let on =
            |known: &&WlrToplevelHandle| known.sent.as_ref().is_some_and(|sent| sent.output.as_ref() == Some(output));
        for known in self.handles.values().filter(on).filter(is_its).filter(|known| known.handle.is_alive()) {
            known.handle.output_enter(object);
            known.handle.done();
        }
    }
}

/// The states as an event carries them: an array of 32-bit numbers.
fn flags(look: &ToplevelState, version: u32) -> Vec<u8> {
    let fullscreen = look.fullscreen && version >= SAYS_FULLSCREEN;
    let all = [
        (Flag::Maximized, look.maximized),
        (Flag::Minimized, look.minimised),
        (Flag::Activated, look.activated),
        (Flag::Fullscreen, fullscreen),
    ];
    all.into_iter().filter(|(_, on)| *on).flat_map(|(flag, _)| u32::from(flag).to_ne_bytes()).collect()
}

impl GlobalDispatch<ZwlrForeignToplevelManagerV1, (), State> for Handlers {
    fn bind(
        state: &mut State,
        _display: &DisplayHandle,
        _client: &Client,
        manager: New<ZwlrForeignToplevelManagerV1>,
        _data: &(),
        init: &mut DataInit<'_, State>,
    ) {
        let object = init.init(manager, ());
        let toplevels = &mut state.protocols.toplevels;
        toplevels.wlr.list.push(WlrToplevelManager { object, is_stopped: false, handles: BTreeMap::new() });
        // Makes this turn's refresh send all windows to the new manager.
        toplevels.basis = None;
    }

    fn can_view(client: Client, _data: &()) -> bool {
        privileges::may_bind::<ZwlrForeignToplevelManagerV1>(&client)
    }
}

impl Dispatch<ZwlrForeignToplevelManagerV1, (), State> for Handlers {
    fn request(
        state: &mut State,
        _client: &Client,
        manager: &ZwlrForeignToplevelManagerV1,
        request: zwlr_foreign_toplevel_manager_v1::Request,
        _data: &(),
        _display: &DisplayHandle,
        _init: &mut DataInit<'_, State>,
    ) {
        if let zwlr_foreign_toplevel_manager_v1::Request::Stop = request {
            state.protocols.toplevels.wlr.stop(manager);
            manager.finished();
        }
    }

    fn destroyed(state: &mut State, _client: ClientId, manager: &ZwlrForeignToplevelManagerV1, _data: &()) {
        state.protocols.toplevels.wlr.stop(manager);
    }
}

impl Dispatch<ZwlrForeignToplevelHandleV1, WindowId, State> for Handlers {
    fn request(
        state: &mut State,
        _client: &Client,
        handle: &ZwlrForeignToplevelHandleV1,
        request: zwlr_foreign_toplevel_handle_v1::Request,
        id: &WindowId,
        _display: &DisplayHandle,
        _init: &mut DataInit<'_, State>,
    ) {
        use zwlr_foreign_toplevel_handle_v1::Request;
        if let Request::SetRectangle { width, height, .. } = &request
            && (*width < 0 || *height < 0)
        {
            handle.post_error(Error::InvalidRectangle, format!("a rectangle of {width}x{height}"));
            return;
        }
        let window = state.shell.window(*id).filter(|window| window.is_mapped());
        let Some(window) = window else { return };
        // The window's client is behind: more events would fill its socket and disconnect it.
        if !window.can_send_more() && !matches!(request, Request::Activate { .. }) {
            return;
        }
        let surface: WlSurface = window.surface().clone();
        match request {
            Request::SetMaximized => shell::maximize(state, &surface),
            Request::UnsetMaximized => shell::unmaximize(state, &surface),
            Request::SetFullscreen { output } => {
                let output = output.as_ref().and_then(Output::from_resource);
                shell::fullscreen(state, &surface, output);
            }
            Request::UnsetFullscreen => shell::unfullscreen(state, &surface),
            Request::SetMinimized => minimising::minimise(state, *id),
            // As in other compositors, a window that a taskbar restores gets the focus.
            Request::UnsetMinimized if state.shell.is_minimised(*id) => shell::activate(state, Some(*id)),
            Request::Activate { .. } => shell::activate(state, Some(*id)),
            Request::Close => shell::close(state, *id),
            _ => {}
        }
    }
}

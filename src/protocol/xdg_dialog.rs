//! `xdg_wm_dialog_v1` 1: dialogs, and whether they are modal. Activating a window with a modal dialog activates the
//! dialog ([`shell::activate`]).
//!
//! Our own implementation. In Smithay 0.7 a window and its dialog object keep each other in memory when their client
//! goes without destroying the dialog, and a destroyed window leads to a panic.

use std::sync::PoisonError;

use smithay::reexports::wayland_protocols::xdg::dialog::v1::server::xdg_dialog_v1::{self, XdgDialogV1};
use smithay::reexports::wayland_protocols::xdg::dialog::v1::server::xdg_wm_dialog_v1::{self, XdgWmDialogV1};
use smithay::reexports::wayland_protocols::xdg::shell::server::xdg_toplevel::XdgToplevel;
use smithay::reexports::wayland_server::backend::{ClientId, GlobalId};
use smithay::reexports::wayland_server::{
    Client, DataInit, Dispatch, DisplayHandle, GlobalDispatch, New, Resource, Weak,
};
use smithay::wayland::shell::xdg::XdgToplevelSurfaceData;

use crate::guard::{self, Handlers};
use crate::shell;
use crate::state::State;

const VERSION: u32 = 1;

/// The global, and the existing dialog objects.
#[derive(Debug)]
pub struct Dialogs {
    _global: GlobalId,
    list: Vec<(XdgDialogV1, Weak<XdgToplevel>)>,
}

impl Dialogs {
    pub(super) fn new(display: &DisplayHandle) -> Self {
        Dialogs { _global: display.create_global::<State, XdgWmDialogV1, ()>(VERSION, ()), list: Vec::new() }
    }
}

impl GlobalDispatch<XdgWmDialogV1, (), State> for Handlers {
    fn bind(
        _state: &mut State,
        _display: &DisplayHandle,
        _client: &Client,
        manager: New<XdgWmDialogV1>,
        _data: &(),
        init: &mut DataInit<'_, State>,
    ) {
        init.init(manager, ());
    }
}

impl Dispatch<XdgWmDialogV1, (), State> for Handlers {
    fn request(
        state: &mut State,
        _client: &Client,
        manager: &XdgWmDialogV1,
        request: xdg_wm_dialog_v1::Request,
        _data: &(),
        _display: &DisplayHandle,
        init: &mut DataInit<'_, State>,
    ) {
        let xdg_wm_dialog_v1::Request::GetXdgDialog { id, toplevel } = request else { return };
        let toplevel = toplevel.downgrade();
        let dialog = init.init(id, toplevel.clone());
        let dialogs = &mut state.protocols.xdg_dialog.list;
        if dialogs.iter().any(|(_, known)| *known == toplevel) {
            manager.post_error(xdg_wm_dialog_v1::Error::AlreadyUsed, "the window has a dialog object");
            return;
        }
        dialogs.push((dialog, toplevel));
    }
}

impl Dispatch<XdgDialogV1, Weak<XdgToplevel>, State> for Handlers {
    fn request(
        state: &mut State,
        _client: &Client,
        _dialog: &XdgDialogV1,
        request: xdg_dialog_v1::Request,
        toplevel: &Weak<XdgToplevel>,
        _display: &DisplayHandle,
        _init: &mut DataInit<'_, State>,
    ) {
        match request {
            xdg_dialog_v1::Request::SetModal => set_modal(state, toplevel, true),
            xdg_dialog_v1::Request::UnsetModal | xdg_dialog_v1::Request::Destroy => set_modal(state, toplevel, false),
            _ => {}
        }
    }

    fn destroyed(state: &mut State, _client: ClientId, dialog: &XdgDialogV1, _toplevel: &Weak<XdgToplevel>) {
        state.protocols.xdg_dialog.list.retain(|(known, _)| known != dialog);
    }
}

/// Sets whether a window is modal. Has no effect on a destroyed window.
fn set_modal(state: &mut State, toplevel: &Weak<XdgToplevel>, modal: bool) {
    let Ok(toplevel) = toplevel.upgrade() else { return };
    let Some(window) = state.protocols.xdg_shell.get_toplevel(&toplevel) else { return };
    let was_modal = guard::with_states(window.wl_surface(), |states| {
        let role = states.data_map.get::<XdgToplevelSurfaceData>()?;
        let mut role = role.lock().unwrap_or_else(PoisonError::into_inner);
        Some(std::mem::replace(&mut role.modal, modal))
    });
    if was_modal == Some(false) && modal {
        let focused = state.shell.focused();
        if focused.is_some() {
            shell::activate(state, focused);
        }
    }
}

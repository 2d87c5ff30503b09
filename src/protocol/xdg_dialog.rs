//! `xdg_wm_dialog_v1` 1: dialogs, and whether they are modal. Whoever activates a window with a modal dialog means the
//! dialog ([`shell::activate`]).
//!
//! Smithay 0.7 looks for what a dialog's surface was even where that is gone; what comes then is left out here.

use smithay::reexports::wayland_protocols::xdg::dialog::v1::server::xdg_dialog_v1::{self, XdgDialogV1};
use smithay::reexports::wayland_protocols::xdg::dialog::v1::server::xdg_wm_dialog_v1::XdgWmDialogV1;
use smithay::reexports::wayland_server::{Client, DataInit, Dispatch, DisplayHandle};
use smithay::wayland::shell::xdg::ToplevelSurface;
use smithay::wayland::shell::xdg::dialog::{XdgDialogHandler, XdgDialogState};

use super::floor::delegate;
use crate::guard::Handlers;
use crate::shell;
use crate::state::State;

delegate!(global XdgWmDialogV1: () => XdgDialogState);
delegate!(XdgWmDialogV1: () => XdgDialogState);

impl Dispatch<XdgDialogV1, ToplevelSurface, State> for Handlers {
    fn request(
        state: &mut State,
        client: &Client,
        dialog: &XdgDialogV1,
        request: xdg_dialog_v1::Request,
        toplevel: &ToplevelSurface,
        display: &DisplayHandle,
        init: &mut DataInit<'_, State>,
    ) {
        if toplevel.alive() {
            <XdgDialogState as Dispatch<XdgDialogV1, ToplevelSurface, State>>::request(
                state, client, dialog, request, toplevel, display, init,
            );
        }
    }
}

impl XdgDialogHandler for State {
    fn modal_changed(&mut self, _toplevel: ToplevelSurface, is_modal: bool) {
        let focused = self.shell.focused();
        if is_modal && focused.is_some() {
            shell::activate(self, focused);
        }
    }
}

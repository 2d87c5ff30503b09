//! Windows whose clients want them to be looked at and may not move the focus. They say so until they have it: to bars and to
//! those who follow what happens ([`Workspaces::is_urgent`](super::workspaces::Workspaces::is_urgent)), by an edge around them,
//! and to rules.

use smithay::reexports::wayland_server::Resource;
use smithay::reexports::wayland_server::protocol::wl_surface::WlSurface;

use super::{Hand, WindowId, activate, wishes};
use crate::guard;
use crate::shell::Desk;
use crate::state::State;

/// The client of the window that `surface` is part of wants it to be looked at.
pub fn urge(state: &mut State, surface: &WlSurface) {
    let window = state.shell.window_of(surface).filter(|window| window.mapped).map(|window| window.id);
    if let Some(id) = window.filter(|id| state.shell.focused != Some(*id)) {
        set(state, id, true);
    }
}

/// A window that has just come gets the focus. One from inside a sandbox does not get it in the middle of a word that a person
/// types for another program: it is urgent, as one that asks for the focus without a right to it.
pub(super) fn focus_new(state: &mut State, id: WindowId) {
    let Some(surface) = state.shell.window(id).map(|window| window.surface().clone()) else { return };
    let focused = state.shell.focused.and_then(|id| state.shell.window(id)).map(|window| window.surface().clone());
    let is_sandboxed = surface.client().is_some_and(|client| guard::sandbox(&client).is_some());
    let is_anothers = focused.filter(|focused| !focused.id().same_client_as(&surface.id()));
    if is_sandboxed && is_anothers.is_some_and(|focused| state.is_typed_into(&focused)) {
        urge(state, &surface);
    } else {
        activate(state, Some(id));
    }
}

/// A window has the focus.
pub(super) fn calm(state: &mut State, id: WindowId) {
    set(state, id, false);
}

fn set(state: &mut State, id: WindowId, urgent: bool) {
    if state.shell.workspaces.set_urgent(id, urgent) {
        wishes::renew(state, id);
        state.need_look();
    }
}

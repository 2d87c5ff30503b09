//! Windows whose clients want them to be looked at and may not move the focus. They say so until they have it: to bars and to
//! those who follow what happens ([`Workspaces::is_urgent`](super::workspaces::Workspaces::is_urgent)), by an edge around them,
//! and to rules.

use smithay::reexports::wayland_server::protocol::wl_surface::WlSurface;

use super::{WindowId, wishes};
use crate::shell::Desk;
use crate::state::State;

/// The client of the window that `surface` is part of wants it to be looked at.
pub fn urge(state: &mut State, surface: &WlSurface) {
    let window = state.shell.window_of(surface).filter(|window| window.mapped).map(|window| window.id);
    if let Some(id) = window.filter(|id| state.shell.focused != Some(*id)) {
        set(state, id, true);
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

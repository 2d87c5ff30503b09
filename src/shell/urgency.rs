//! Windows whose clients want them to be looked at and may not move the focus. They say so until they have it: to bars and to
//! those who follow what happens ([`Workspaces::is_urgent`](super::workspaces::Workspaces::is_urgent)), by an edge around them,
//! and to rules.

use smithay::reexports::wayland_server::Resource;
use smithay::reexports::wayland_server::protocol::wl_surface::WlSurface;

use super::{Hand, WindowId, activate, wishes};
use crate::guard;
use crate::shell::Desk;
use crate::state::State;
use upbeat_timing::time::{Clock, Span};

/// How long a window that was activated before it has content may take to have some: as long as a token may take to be used.
const ACTIVATION_LASTS: Span = Span::from_seconds(30);

/// The client of the window that `surface` is part of wants it to be looked at.
pub fn urge(state: &mut State, surface: &WlSurface) {
    let window = state.shell.window_of(surface).filter(|window| window.mapped).map(|window| window.id);
    if let Some(id) = window.filter(|id| state.shell.focused != Some(*id)) {
        set(state, id, true);
    }
}

/// The client of the window that `surface` is part of may move the focus there, as an activation token says. A window that has no
/// content yet gets it with its first.
pub fn activate_by_token(state: &mut State, surface: &WlSurface) {
    let now = state.clock.now();
    match state.shell.window_of(surface).map(|window| (window.id, window.mapped)) {
        Some((id, true)) => activate(state, Some(id)),
        Some((id, false)) => {
            let window = state.shell.windows.get_mut_quietly(id);
            window.into_iter().for_each(|window| window.activated = Some(now));
        }
        None => {}
    }
}

/// A window that has just come gets the focus. One from inside a sandbox does not get it in the middle of a word that a person
/// types for another program: it is urgent, as one that asks for the focus without a right to it. Unless a rule gives it the focus
/// (`is_wished`), or an activation token has.
pub(super) fn focus_new(state: &mut State, id: WindowId, is_wished: bool) {
    let now = state.clock.now();
    let activated = state.shell.windows.get_mut_quietly(id).and_then(|window| window.activated.take());
    let is_activated = activated.is_some_and(|at| now - at < ACTIVATION_LASTS);
    let Some(surface) = state.shell.window(id).map(|window| window.surface().clone()) else { return };
    let focused = state.shell.focused.and_then(|id| state.shell.window(id)).map(|window| window.surface().clone());
    let is_sandboxed = surface.client().is_some_and(|client| guard::sandbox(&client).is_some());
    let is_anothers = focused.filter(|focused| !focused.id().same_client_as(&surface.id()));
    let may_interrupt = is_wished || is_activated || !is_sandboxed;
    if !may_interrupt && is_anothers.is_some_and(|focused| state.is_typed_into(&focused)) {
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

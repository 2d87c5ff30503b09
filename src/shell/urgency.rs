//! Urgent windows: windows whose clients ask for attention but may not take the focus. They are urgent until they get
//! the focus. Urgency is shown to bars and IPC clients
//! ([`Workspaces::is_urgent`](super::workspaces::Workspaces::is_urgent)), by a border, and to rules.

use smithay::reexports::wayland_server::Resource;
use smithay::reexports::wayland_server::protocol::wl_surface::WlSurface;

use super::{ShellSeat, WindowId, activate, window_rules};
use crate::guard;
use crate::shell::ShellOutputs;
use crate::state::State;
use upbeat_timing::time::{Clock, Span};

/// Time that a window without content has to get some after an activation; as long as a token is valid.
const ACTIVATION_LASTS: Span = Span::from_seconds(30);

/// The client of `surface` asks for attention for its window.
pub fn request_attention(state: &mut State, surface: &WlSurface) {
    let window = state.shell.window_of(surface).filter(|window| window.mapped).map(|window| window.id);
    if let Some(id) = window.filter(|id| state.shell.focused != Some(*id)) {
        set(state, id, true);
    }
}

/// The client of `surface` has a valid activation token for its window: focuses the window. A window without content
/// gets the focus with its first content.
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

/// Focuses a new window. A new window of a sandboxed client becomes urgent instead if the user is typing into another
/// client at that moment, unless a rule (`is_wished`) or an activation token gives it the focus.
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
        request_attention(state, &surface);
    } else {
        activate(state, Some(id));
    }
}

/// Called when a window gets the focus.
pub(super) fn clear_urgent(state: &mut State, id: WindowId) {
    set(state, id, false);
}

fn set(state: &mut State, id: WindowId, urgent: bool) {
    if state.shell.workspaces.set_urgent(id, urgent) {
        window_rules::apply_rules(state, id);
        state.schedule_update_all();
    }
}

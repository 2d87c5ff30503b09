//! Sends the selections to the client with keyboard focus. Focus may change many times in a turn, as clients open
//! windows or the user steers them. Each client that gets it is sent all offered types, and would be disconnected when
//! its socket is full. So selections leave the old client at once, and reach the new one after the turn's requests.

use smithay::reexports::wayland_server::{Client, DisplayHandle, Resource};
use smithay::wayland::selection::data_device::set_data_device_focus;
use smithay::wayland::selection::primary_selection::set_primary_focus;

use crate::guard::{self, Kind};
use crate::state::State;

/// Keyboard focus moves to `client`. From now on no other client is sent a selection.
pub(in crate::protocol) fn focus_changed(state: &mut State, client: Option<Client>) {
    set_focus(state, None);
    state.protocols.selection.pending_focus = client;
}

/// `client` has created a device. If the client has keyboard focus, all its devices are sent the selections at the end
/// of the turn.
pub(super) fn device_made(state: &mut State, client: &Client, display: &DisplayHandle) {
    let number = guard::newest_object_id(Kind::Devices);
    let device = number.and_then(|number| client.object_from_protocol_id(display, number).ok());
    state.protocols.selection.devices.extend(device);
    let focus = state.input.keyboard().and_then(|keyboard| keyboard.current_focus()?.client());
    if focus.is_some_and(|focus| focus == *client) {
        focus_changed(state, Some(client.clone()));
    }
}

/// Sends the selections to the new client with focus. Called in each turn, after its requests.
pub fn send_pending(state: &mut State) {
    // A client that does not read must wait, or selections of other clients would disconnect it.
    if let Some(client) = state.protocols.selection.pending_focus.take_if(|client| guard::may_send_to_client(client)) {
        set_focus(state, Some(client));
    }
}

fn set_focus(state: &State, client: Option<Client>) {
    set_data_device_focus(&state.display_handle, state.input.seat(), client.clone());
    set_primary_focus(&state.display_handle, state.input.seat(), client);
}

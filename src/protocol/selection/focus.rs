//! Whom the selections follow. The keyboard may go to and fro many times in a turn, as somebody opens windows or steers
//! them; each who gets it is told of all types that are offered, and would be thrown out when he has no room for it. So
//! the selections leave at once, and come to whoever has the keyboard when the turn's requests are met.

use smithay::reexports::wayland_server::{Client, DisplayHandle, Resource};
use smithay::wayland::selection::data_device::set_data_device_focus;
use smithay::wayland::selection::primary_selection::set_primary_focus;

use crate::guard::{self, Kind};
use crate::state::State;

/// The keyboard is `client`'s from now on. Nobody else is told of a selection from then on.
pub(in crate::protocol) fn changed(state: &mut State, client: Option<Client>) {
    tell(state, None);
    state.protocols.selection.coming_to = client;
}

/// `client` has made a device: if it has the keyboard, all its devices are told the selections at the end of the turn.
pub(super) fn device_made(state: &mut State, client: &Client, display: &DisplayHandle) {
    let number = guard::number_of_newest(Kind::Devices);
    let device = number.and_then(|number| client.object_from_protocol_id(display, number).ok());
    state.protocols.selection.devices.extend(device);
    let focus = state.input.keyboard().and_then(|keyboard| keyboard.current_focus()?.client());
    if focus.is_some_and(|focus| focus == *client) {
        changed(state, Some(client.clone()));
    }
}

/// Tells who has the keyboard, if somebody else had it before. Called in each turn, after what was asked in it.
pub fn attend(state: &mut State) {
    // One who does not read would be thrown out for what others copied.
    if let Some(client) = state.protocols.selection.coming_to.take_if(|client| guard::client_reads_on(client)) {
        tell(state, Some(client));
    }
}

fn tell(state: &State, client: Option<Client>) {
    set_data_device_focus(&state.display_handle, state.input.seat(), client.clone());
    set_primary_focus(&state.display_handle, state.input.seat(), client);
}

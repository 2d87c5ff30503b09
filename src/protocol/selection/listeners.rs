//! Clients that are sent every selection: clipboard managers, and the client with keyboard focus.
//!
//! Each is sent all types of a selection at once, and is disconnected if its socket is full. So while a listener is
//! behind, a new selection is refused and its source cancelled. A listener that reads nothing at all delays other
//! clients only for `PATIENCE`.

use smithay::reexports::wayland_server::{Client, Resource};

use crate::guard;
use crate::state::State;
use upbeat_timing::time::{Clock, Instant, Span};

/// How long a listener that does not read may delay other clients: a client stopped in a debugger must not keep the
/// user from copying.
const PATIENCE: Span = Span::from_millis(1_000);

#[derive(Debug, Default)]
pub(super) struct Listeners {
    managers: Vec<Client>,
    /// Listeners that are behind, and since when that is known.
    behind: Vec<(Client, Instant)>,
}

impl Listeners {
    /// `client` may have created a device that gets every selection.
    pub fn add(&mut self, client: &Client) {
        let is_new = !self.managers.contains(client);
        self.managers.retain(is_connected);
        if is_new {
            self.managers.push(client.clone());
        }
    }
}

fn is_connected(client: &Client) -> bool {
    guard::account(client).is_some_and(|account| account.is_connected())
}

fn is_behind(client: &Client) -> bool {
    guard::account(client).is_some_and(|account| account.is_behind())
}

/// Whether `by` may set a selection now: not while another listener has been behind for less than [`PATIENCE`].
pub(super) fn may_set_selection(state: &mut State, by: Option<&Client>) -> bool {
    let now = state.clock.now();
    let focus = state.input.keyboard().and_then(|keyboard| keyboard.current_focus()?.client());
    let Listeners { managers, behind } = &mut state.protocols.selection.listeners;
    behind.retain(|(client, _)| is_connected(client) && is_behind(client));
    for client in managers.iter().chain(&focus).filter(|client| Some(*client) != by) {
        if is_behind(client) && !behind.iter().any(|(known, _)| known == client) {
            behind.push((client.clone(), now));
        }
    }
    behind.iter().all(|(client, since)| Some(client) == by || now - *since >= PATIENCE)
}

//! Who hears of every selection, whether or not he wants to: clipboard managers, and whoever has the keyboard.
//!
//! Each is told at once of all types that a selection is offered as, and is thrown out if he has no room for it. So who
//! sets one after another faster than they are heard of is told that they came to nothing, until the listeners have read
//! on. One who reads nothing at all holds nobody up for long.

use smithay::reexports::wayland_server::{Client, Resource};

use crate::guard;
use crate::state::State;
use upbeat_timing::time::{Clock, Instant, Span};

/// So long a listener that does not read may hold up others: who stops in a debugger must not keep people from copying.
const PATIENCE: Span = Span::from_millis(1_000);

/// All of them.
#[derive(Debug, Default)]
pub(super) struct Listeners {
    managers: Vec<Client>,
    /// Who has much to read, and since when that is known.
    behind: Vec<(Client, Instant)>,
}

impl Listeners {
    /// `client` may have made a device that hears of everything.
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

/// Whether `by` may set a selection now: not while others have much to read that have been reading until lately.
pub(super) fn may_hear(state: &mut State, by: Option<&Client>) -> bool {
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

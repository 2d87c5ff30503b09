//! Postpones events for a client that reads nothing for a while (stopped in a debugger, swapped out). Events that other
//! clients can cause again and again must not fill its socket, because a full socket disconnects it. Once it has read
//! on, it gets the current state.

use std::cell::Cell;

use smithay::reexports::wayland_server::{Client, Resource};

use super::{Account, account};

thread_local! {
    /// An event was postponed since the last `take_owed`.
    static OWED: Cell<bool> = const { Cell::new(false) };
}

/// Whether an event that can wait may be sent to the client of `object` now. If not, the caller must try again soon
/// ([`take_owed`]).
pub fn reads_on(object: &impl Resource) -> bool {
    object.client().is_none_or(|client| client_reads_on(&client))
}

/// As [`reads_on`], for `client`.
pub fn client_reads_on(client: &Client) -> bool {
    is_told(client, |account| !account.is_behind())
}

/// As [`reads_on`], for an event that can hardly wait because the user is waiting for it.
pub fn has_room(object: &impl Resource) -> bool {
    object.client().is_none_or(|client| is_told(&client, Account::has_room))
}

fn is_told(client: &Client, takes: impl Fn(&Account) -> bool) -> bool {
    let is_told = account(client).is_none_or(|account| takes(account));
    if !is_told {
        OWED.set(true);
    }
    is_told
}

/// Whether an event was postponed on this thread since the last call.
pub fn take_owed() -> bool {
    OWED.take()
}

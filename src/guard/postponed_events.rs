//! Postpones events for a client that reads nothing for a while (stopped in a debugger, swapped out). Events that other
//! clients can cause again and again must not fill its socket, because a full socket disconnects it. Once it has read
//! on, it gets the current state.

use std::cell::Cell;

use smithay::reexports::wayland_server::{Client, Resource};

use super::{ResourceAccount, account};

thread_local! {
    /// An event was postponed since the last `take_postponed`.
    static OWED: Cell<bool> = const { Cell::new(false) };
}

/// Whether an event that can wait may be sent to the client of `object` now. If not, the caller must try again soon
/// ([`take_postponed`]).
pub fn may_send(object: &impl Resource) -> bool {
    object.client().is_none_or(|client| may_send_to_client(&client))
}

/// As [`may_send`], for `client`.
pub fn may_send_to_client(client: &Client) -> bool {
    check_or_postpone(client, |account| !account.is_behind())
}

/// As [`may_send`], for an event that can hardly wait because the user is waiting for it.
pub fn may_send_urgent(object: &impl Resource) -> bool {
    object.client().is_none_or(|client| check_or_postpone(&client, ResourceAccount::has_room))
}

fn check_or_postpone(client: &Client, takes: impl Fn(&ResourceAccount) -> bool) -> bool {
    let is_told = account(client).is_none_or(|account| takes(account));
    if !is_told {
        OWED.set(true);
    }
    is_told
}

/// Whether an event was postponed on this thread since the last call.
pub fn take_postponed() -> bool {
    OWED.take()
}

//! Who reads nothing for a while (stopped in a debugger, swapped out) is told less: what others make happen again and again must
//! not fill his socket, since he would be thrown out for it. He is told how things are when he has read on.

use std::cell::Cell;

use smithay::reexports::wayland_server::{Client, Resource};

use super::{Account, account};

thread_local! {
    /// Something was not told since this was asked for.
    static OWED: Cell<bool> = const { Cell::new(false) };
}

/// Whether the client of `object` is to be told now of what bears waiting. If not, it is to be looked at again soon
/// ([`take_owed`]).
pub fn reads_on(object: &impl Resource) -> bool {
    object.client().is_none_or(|client| client_reads_on(&client))
}

/// The same of `client`.
pub fn client_reads_on(client: &Client) -> bool {
    is_told(client, |account| !account.is_behind())
}

/// The same of what can hardly wait: a person has something to do with it.
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

/// Whether somebody on this thread was not told something since the last call.
pub fn take_owed() -> bool {
    OWED.take()
}

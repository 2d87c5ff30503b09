//! Resource limits and privileges of clients, so that one client cannot exhaust resources that all clients share.
//!
//! ```text
//!   libwayland ── object made / gone ──────────► objects ─┐
//!   modules ── a resource is kept for a client ───────────┴─► Account ── over its limit? ─► protocol error (offence)
//! ```
//!
//! Objects of all protocols are counted where libwayland creates and destroys them. The module that keeps another
//! resource (waiting updates, descriptors) counts it. Each limit is a line in [`kinds`], with its reason; a user can
//! change it ([`Rules`]).

mod account;
mod client;
mod complaints;
pub mod connection;
mod ended;
pub mod floor;
pub mod kinds;
mod objects;
mod offence;
mod owed;
pub mod requests;
mod rules;
mod states;
mod together;
mod unsent;

pub use account::{Account, Held};
pub use client::{Client, account, has, process_of, sandbox};
pub use connection::{Sandbox, all};
pub use ended::{Ended, program, take_ended};
pub use floor::Handlers;
pub use kinds::Kind;
pub use objects::{Shares, number_of_newest, share, share_newest, shares_of, take_offers};
pub use offence::{end, end_for};
pub use owed::{client_reads_on, has_room, reads_on, take_owed};
pub use rules::{Privilege, Rules};
pub use states::with_states;
pub use unsent::Unsent;

use smithay::reexports::wayland_server::{Client as WaylandClient, DisplayHandle};

/// Rate limit for warnings that a client can cause as often as it likes. `None` if a line of `kind` about `client` is
/// to be suppressed; else the number of such lines suppressed since the last.
pub fn complaint(client: &WaylandClient, kind: &'static str) -> Option<u32> {
    account(client).map_or(Some(0), |account| account.complaints.may_say(kind, std::time::Instant::now()))
}

/// Counts one more `kind` (not an object) for `client` until the result is dropped. A client over its limit is ended.
pub fn hold(display: &DisplayHandle, client: &WaylandClient, kind: Kind) -> Option<Held> {
    let held = Held::new(account(client)?, kind);
    if held.is_too_many() {
        end(display, client, kind);
    }
    Some(held)
}

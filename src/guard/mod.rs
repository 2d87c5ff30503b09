//! The wall in front: what each client has of what all share, and how much of it one may have.
//!
//! ```text
//!   libwayland ── object made / gone ──► objects ─┐
//!   rooms ── something is kept for a client ──────┴─► Account ── more than its bound? ─► Offence: he is told, and ends
//! ```
//!
//! Objects are counted where libwayland makes and ends them, whatever protocol they belong to. What is no object (updates
//! that wait, rectangles) is counted by the room that keeps it. Every bound is a line in [`kinds`], with its reason; a
//! user can say otherwise ([`Rules`]).

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

/// Whether a line about `client` is to be written that is of the kind `kind`; then how many lines of that kind were not
/// written since the last. For whatever a client can be the cause of as often as it likes.
pub fn complaint(client: &WaylandClient, kind: &'static str) -> Option<u32> {
    account(client).map_or(Some(0), |account| account.complaints.may_say(kind, std::time::Instant::now()))
}

/// `client` has one more of `kind`, which is no object, until what is returned is dropped; who has too many ends.
pub fn hold(display: &DisplayHandle, client: &WaylandClient, kind: Kind) -> Option<Held> {
    let held = Held::new(account(client)?, kind);
    if held.is_too_many() {
        end(display, client, kind);
    }
    Some(held)
}

//! Resource limits and privileges of clients, so that one client cannot exhaust resources that all clients share.
//!
//! ```text
//!   libwayland ── object made / gone ──────────► objects ─┐
//!   modules ── a resource is kept for a client ───────────┴─► ResourceAccount ── over its limit? ─► `client_errors`
//! ```
//!
//! Objects of all protocols are counted where libwayland creates and destroys them. The module that keeps another
//! resource (waiting updates, descriptors) counts it. Each limit is a line in [`resource_kinds`], with its reason; a
//! user can change it ([`Rules`]).

mod client;
mod client_errors;
mod client_warnings;
pub mod connection;
mod ended_clients;
mod objects;
pub mod panic_guard;
mod pending_flush;
mod postponed_events;
pub mod requests;
mod resource_account;
mod resource_counts;
pub mod resource_kinds;
mod rules;
mod surface_states;

pub use client::{Client, account, has, process_of, sandbox};
pub use client_errors::{end_for_limit, end_for_reason};
pub use connection::{Sandbox, all};
pub use ended_clients::{Ended, program, take_ended};
pub use objects::{SharedResources, newest_object_id, share, share_newest, shares_of, take_offers};
pub use panic_guard::Handlers;
pub use pending_flush::PendingFlush;
pub use postponed_events::{may_send, may_send_to_client, may_send_urgent, take_postponed};
pub use resource_account::{CountedResource, ResourceAccount};
pub use resource_kinds::Kind;
pub use rules::{Privilege, Rules};
pub use surface_states::with_states;

use smithay::reexports::wayland_server::{Client as WaylandClient, DisplayHandle};

/// Rate limit for warnings that a client can cause as often as it likes. `None` if a line of `kind` about `client` is
/// to be suppressed; else the number of such lines suppressed since the last.
pub fn warning_allowed(client: &WaylandClient, kind: &'static str) -> Option<u32> {
    account(client).map_or(Some(0), |account| account.warnings.may_log(kind, std::time::Instant::now()))
}

/// Counts one more `kind` (not an object) for `client` until the result is dropped. A client over its limit is ended.
pub fn hold(display: &DisplayHandle, client: &WaylandClient, kind: Kind) -> Option<CountedResource> {
    let held = CountedResource::new(account(client)?, kind);
    if held.is_too_many() {
        end_for_limit(display, client, kind);
    }
    Some(held)
}

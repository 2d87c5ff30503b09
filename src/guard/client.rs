//! What is kept for each client for as long as it is connected.

use std::sync::Arc;
use std::sync::atomic::AtomicBool;

use smithay::reexports::wayland_server::backend::{ClientData, ClientId, DisconnectReason};
use smithay::reexports::wayland_server::{self, DisplayHandle};
use smithay::wayland::compositor::CompositorClientState;

use super::account::Account;
use super::rules::Privilege;

/// Per-client state.
#[derive(Debug, Default)]
pub struct Client {
    /// Smithay's transaction queue of this client.
    pub compositor: CompositorClientState,
    /// It has bound the tablet manager.
    pub knows_tablets: AtomicBool,
    /// What it has.
    pub account: Arc<Account>,
    /// The sandbox that it is in, as that says.
    pub sandbox: Option<String>,
}

impl ClientData for Client {
    fn initialized(&self, client: ClientId) {
        tracing::debug!(?client, "client connected");
    }

    fn disconnected(&self, client: ClientId, reason: DisconnectReason) {
        tracing::debug!(?client, ?reason, "client disconnected");
    }
}

/// What `client` has.
pub fn account(client: &wayland_server::Client) -> Option<&Arc<Account>> {
    client.get_data::<Client>().map(|data| &data.account)
}

/// Whether `client` may do that to others: nobody in a sandbox may.
pub fn has(client: &wayland_server::Client, privilege: Privilege) -> bool {
    let data = client.get_data::<Client>();
    data.is_some_and(|data| data.sandbox.is_none() && data.account.rules().grants(privilege))
}

/// The process that speaks as `client`, as the socket states it; `None` where it does not.
pub fn process_of(display: &DisplayHandle, client: &wayland_server::Client) -> Option<u32> {
    client.get_credentials(display).ok().and_then(|credentials| u32::try_from(credentials.pid).ok())
}

/// The sandbox that `client` is in, as that says.
pub fn sandbox(client: &wayland_server::Client) -> Option<&str> {
    client.get_data::<Client>()?.sandbox.as_deref()
}

//! Per-client data, kept while the client is connected.

use std::sync::Arc;
use std::sync::atomic::AtomicBool;

use smithay::reexports::wayland_server::backend::{ClientData, ClientId, DisconnectReason};
use smithay::reexports::wayland_server::{self, DisplayHandle};
use smithay::wayland::compositor::CompositorClientState;

use super::resource_account::ResourceAccount;
use super::rules::Privilege;

#[derive(Debug, Default)]
pub struct Client {
    /// Smithay's transaction queue of this client.
    pub compositor: CompositorClientState,
    /// It has bound the tablet manager.
    pub knows_tablets: AtomicBool,
    /// Its use of limited resources.
    pub account: Arc<ResourceAccount>,
    /// Name of its sandbox, as the sandbox engine gave it.
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

/// The resource account of `client`.
pub fn account(client: &wayland_server::Client) -> Option<&Arc<ResourceAccount>> {
    client.get_data::<Client>().map(|data| &data.account)
}

/// Whether `client` has `privilege`. A sandboxed client has none.
pub fn has(client: &wayland_server::Client, privilege: Privilege) -> bool {
    let data = client.get_data::<Client>();
    data.is_some_and(|data| data.sandbox.is_none() && data.account.rules().grants(privilege))
}

/// Process id of `client`, from its socket's credentials; `None` where the kernel names none.
pub fn process_of(display: &DisplayHandle, client: &wayland_server::Client) -> Option<u32> {
    client.get_credentials(display).ok().and_then(|credentials| u32::try_from(credentials.pid).ok())
}

/// Name of the sandbox of `client`, as the sandbox engine gave it.
pub fn sandbox(client: &wayland_server::Client) -> Option<&str> {
    client.get_data::<Client>()?.sandbox.as_deref()
}

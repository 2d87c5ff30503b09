//! What is kept for each client for as long as it is connected.
//!
//! Every client must be inserted with an [`Arc<Client>`](Client): [`connect`] does.

use std::os::unix::net::UnixStream;
use std::sync::Arc;
use std::sync::atomic::AtomicBool;

use smithay::reexports::wayland_server::backend::{ClientData, ClientId, DisconnectReason};
use smithay::reexports::wayland_server::{self, DisplayHandle};
use smithay::wayland::compositor::CompositorClientState;

/// Per-client state.
#[derive(Debug, Default)]
pub struct Client {
    /// Smithay's transaction queue of this client.
    pub compositor: CompositorClientState,
    /// It has bound the tablet manager.
    pub knows_tablets: AtomicBool,
}

impl ClientData for Client {
    fn initialized(&self, client: ClientId) {
        tracing::debug!(?client, "client connected");
    }

    fn disconnected(&self, client: ClientId, reason: DisconnectReason) {
        tracing::debug!(?client, ?reason, "client disconnected");
    }
}

/// Takes a connection in.
///
/// # Errors
/// When the socket cannot be used.
pub fn connect(display: &mut DisplayHandle, stream: UnixStream) -> std::io::Result<wayland_server::Client> {
    display.insert_client(stream, Arc::new(Client::default()))
}

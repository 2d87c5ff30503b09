//! What is kept for each client for as long as it is connected.
//!
//! Every client must be inserted with an [`Arc<Client>`](Client): [`connect`] does.

use std::os::unix::net::UnixStream;
use std::sync::Arc;
use std::sync::atomic::AtomicBool;

use smithay::reexports::wayland_server::backend::{ClientData, ClientId, DisconnectReason};
use smithay::reexports::wayland_server::{self, DisplayHandle};
use smithay::wayland::compositor::CompositorClientState;

use crate::session::reading::{Ear, Ears};

/// Per-client state.
#[derive(Debug, Default)]
pub struct Client {
    /// Smithay's transaction queue of this client.
    pub compositor: CompositorClientState,
    /// Where it is heard while others flood.
    ear: Option<Ear>,
    /// It has bound the tablet manager.
    pub knows_tablets: AtomicBool,
}

impl ClientData for Client {
    fn initialized(&self, client: ClientId) {
        tracing::debug!(?client, "client connected");
    }

    fn disconnected(&self, client: ClientId, reason: DisconnectReason) {
        tracing::debug!(?client, ?reason, "client disconnected");
        if let Some(ear) = &self.ear {
            ear.close();
        }
    }
}

/// Takes a connection in; with `ears`, it is heard while others flood.
///
/// # Errors
/// When the socket cannot be used.
pub fn connect(
    display: &mut DisplayHandle,
    stream: UnixStream,
    ears: Option<&Arc<Ears>>,
) -> std::io::Result<wayland_server::Client> {
    let ear = ears.map(|ears| ears.add(&stream)).transpose()?;
    display.insert_client(stream, Arc::new(Client { ear, ..Client::default() }))
}

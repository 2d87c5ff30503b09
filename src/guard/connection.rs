//! Inserts connections into the display, and lists them.
//!
//! Each client must be inserted with an [`Arc<Client>`](Client), as [`connect`] does.

use std::os::fd::AsRawFd as _;
use std::os::unix::net::UnixStream;
use std::sync::Arc;
use std::sync::atomic::Ordering;

use rustix::net::sockopt;
use smithay::reexports::wayland_server::{self, DisplayHandle};

use super::client::Client;
use super::objects;
use super::resource_account::ResourceAccount;
use super::resource_counts::SharedCounts;
use super::rules::Rules;

/// Size of a client's socket buffer, in bytes. The kernel doubles it for its overhead, so a client may leave some 680
/// small messages unread; the default (212 992, not doubled) has room for 270. Debian allows an ordinary user 212 992,
/// doubled. The memory is only used while messages wait.
const SEND_BUFFER_BYTES: usize = 256 << 10;

/// Inserts a client, with its limits and privileges from `rules`.
///
/// # Errors
/// When libwayland cannot use the socket.
pub fn connect(
    display: &mut DisplayHandle,
    stream: UnixStream,
    rules: &Arc<Rules>,
) -> std::io::Result<wayland_server::Client> {
    let together = rules.counts_of_process(sockopt::socket_peercred(&stream).ok().map(|peer| peer.pid));
    insert(display, stream, ResourceAccount::new(rules, together), None)
}

/// A sandbox. All clients inside share the limits of one process.
#[derive(Debug)]
pub struct Sandbox {
    name: String,
    together: Arc<SharedCounts>,
}

impl Sandbox {
    /// An empty sandbox. `name` comes from the sandbox engine.
    pub fn new(name: String) -> Self {
        Sandbox { name, together: Arc::default() }
    }

    /// The name given by the sandbox engine.
    pub fn name(&self) -> &str {
        &self.name
    }
}

/// Inserts a client that connects from inside `sandbox`.
///
/// # Errors
/// When libwayland cannot use the socket.
pub fn connect_from(
    display: &mut DisplayHandle,
    stream: UnixStream,
    rules: &Arc<Rules>,
    sandbox: &Sandbox,
) -> std::io::Result<wayland_server::Client> {
    insert(display, stream, ResourceAccount::new(rules, sandbox.together.clone()), Some(sandbox.name.clone()))
}

fn insert(
    display: &mut DisplayHandle,
    stream: UnixStream,
    account: ResourceAccount,
    sandbox: Option<String>,
) -> std::io::Result<wayland_server::Client> {
    let account = Arc::new(account);
    let data = Client { account: account.clone(), sandbox, ..Client::default() };
    account.socket.store(stream.as_raw_fd(), Ordering::Relaxed);
    // If the kernel refuses, the socket keeps its default size.
    let _ = sockopt::set_socket_send_buffer_size(&stream, SEND_BUFFER_BYTES);
    let client = display.insert_client(stream, Arc::new(data))?;
    objects::watch(display, &client, &account);
    Ok(client)
}

/// All connected clients and their accounts.
pub fn all(display: &DisplayHandle) -> Vec<(wayland_server::Client, Arc<ResourceAccount>)> {
    objects::clients(display)
}

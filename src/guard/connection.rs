//! Who is connected.
//!
//! Every client must be inserted with an [`Arc<Client>`](Client): [`connect`] does.

use std::os::fd::AsRawFd as _;
use std::os::unix::net::UnixStream;
use std::sync::Arc;
use std::sync::atomic::Ordering;

use rustix::net::sockopt;
use smithay::reexports::wayland_server::{self, DisplayHandle};

use super::account::Account;
use super::client::Client;
use super::objects;
use super::rules::Rules;
use super::together::Together;

/// Bytes of a client's socket that may wait to be read. The kernel doubles them for what it keeps beside each message, so a
/// client may leave some 680 small messages unread, where the default (212 992, not doubled) has room for 270. Debian lets an
/// ordinary user have 212 992, doubled. The memory is taken only while messages wait.
const SEND_BUFFER_BYTES: usize = 256 << 10;

/// Takes a connection in, for which `rules` hold.
///
/// # Errors
/// When the socket cannot be used.
pub fn connect(
    display: &mut DisplayHandle,
    stream: UnixStream,
    rules: &Arc<Rules>,
) -> std::io::Result<wayland_server::Client> {
    let together = rules.together(sockopt::socket_peercred(&stream).ok().map(|peer| peer.pid));
    insert(display, stream, Account::new(rules, together), None)
}

/// A sandbox: all who are inside have together as much as one process.
#[derive(Debug)]
pub struct Sandbox {
    name: String,
    together: Arc<Together>,
}

impl Sandbox {
    /// One that says of itself that it is `name`, with nobody inside.
    pub fn new(name: String) -> Self {
        Sandbox { name, together: Arc::default() }
    }

    /// What it says that it is.
    pub fn name(&self) -> &str {
        &self.name
    }
}

/// Takes a connection in that comes from inside `sandbox`.
///
/// # Errors
/// When the socket cannot be used.
pub fn connect_from(
    display: &mut DisplayHandle,
    stream: UnixStream,
    rules: &Arc<Rules>,
    sandbox: &Sandbox,
) -> std::io::Result<wayland_server::Client> {
    insert(display, stream, Account::new(rules, sandbox.together.clone()), Some(sandbox.name.clone()))
}

fn insert(
    display: &mut DisplayHandle,
    stream: UnixStream,
    account: Account,
    sandbox: Option<String>,
) -> std::io::Result<wayland_server::Client> {
    let account = Arc::new(account);
    let data = Client { account: account.clone(), sandbox, ..Client::default() };
    account.socket.store(stream.as_raw_fd(), Ordering::Relaxed);
    // Refused, the socket keeps the kernel's default.
    let _ = sockopt::set_socket_send_buffer_size(&stream, SEND_BUFFER_BYTES);
    let client = display.insert_client(stream, Arc::new(data))?;
    objects::watch(display, &client, &account);
    Ok(client)
}

/// Everybody who is connected, and what they have.
pub fn all(display: &DisplayHandle) -> Vec<(wayland_server::Client, Arc<Account>)> {
    objects::clients(display)
}

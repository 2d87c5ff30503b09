//! Who is connected.
//!
//! Every client must be inserted with an [`Arc<Client>`](Client): [`connect`] does.

use std::os::fd::AsRawFd as _;
use std::os::unix::net::UnixStream;
use std::sync::Arc;
use std::sync::atomic::Ordering;

use smithay::reexports::wayland_server::{self, DisplayHandle};

use super::account::Account;
use super::client::Client;
use super::objects;
use super::rules::Rules;

/// Takes a connection in, for which `rules` hold.
///
/// # Errors
/// When the socket cannot be used.
pub fn connect(
    display: &mut DisplayHandle,
    stream: UnixStream,
    rules: &Arc<Rules>,
) -> std::io::Result<wayland_server::Client> {
    insert(display, stream, rules, None)
}

/// Takes a connection in that comes from inside `sandbox`.
///
/// # Errors
/// When the socket cannot be used.
pub fn connect_from(
    display: &mut DisplayHandle,
    stream: UnixStream,
    rules: &Arc<Rules>,
    sandbox: &str,
) -> std::io::Result<wayland_server::Client> {
    insert(display, stream, rules, Some(sandbox.to_owned()))
}

fn insert(
    display: &mut DisplayHandle,
    stream: UnixStream,
    rules: &Arc<Rules>,
    sandbox: Option<String>,
) -> std::io::Result<wayland_server::Client> {
    let account = Arc::new(Account::new(rules));
    let data = Client { account: account.clone(), sandbox, ..Client::default() };
    account.socket.store(stream.as_raw_fd(), Ordering::Relaxed);
    let client = display.insert_client(stream, Arc::new(data))?;
    objects::watch(display, &client, &account);
    Ok(client)
}

/// Everybody who is connected, and what they have.
pub fn all(display: &DisplayHandle) -> Vec<(wayland_server::Client, Arc<Account>)> {
    objects::clients(display)
}

//! Ends a client that exceeds a limit, with a protocol error that names the limit. Other clients are not affected.

use std::ffi::CString;
use std::os::fd::BorrowedFd;

use smithay::reexports::wayland_server::backend::{ClientId, ObjectId};
use smithay::reexports::wayland_server::protocol::__interfaces::WL_DISPLAY_INTERFACE;
use smithay::reexports::wayland_server::{Client, DisplayHandle};

use super::client::{account as client_account, process_of};
use super::ended_clients;
use super::resource_account::ResourceAccount;
use super::resource_kinds::Kind;

/// Protocol id of every client's `wl_display`.
pub(super) const DISPLAY: u32 = 1;
/// Error code `wl_display.error.no_memory`.
pub(super) const NO_MEMORY: u32 = 2;
/// Error code `wl_display.error.implementation`: a bug in the compositor.
const IMPLEMENTATION: u32 = 3;

pub(super) fn display_of(display: &DisplayHandle, client: &ClientId) -> Option<ObjectId> {
    display.backend_handle().object_for_protocol_id(client.clone(), &WL_DISPLAY_INTERFACE, DISPLAY).ok()
}

/// Error text for a client over its limit for `kind`.
pub(super) fn limit_error_text(kind: Kind, most: u32) -> String {
    format!("more than {most} {} of one client", kind.words())
}

/// Ends `client` because it exceeds its limit for `kind`.
pub fn end_for_limit(display: &DisplayHandle, client: &Client, kind: Kind) {
    let account = client_account(client);
    if account.is_none_or(|account| account.begin_disconnect()) {
        let most = account.map_or(kind.most(), |account| account.limit(kind));
        end_with(display, client, NO_MEMORY, limit_error_text(kind, most));
    }
}

/// Ends `client` for a reason other than the limit of a kind.
pub fn end_for_reason(display: &DisplayHandle, client: &Client, reason: &str) {
    if client_account(client).is_none_or(|account| account.begin_disconnect()) {
        end_with(display, client, NO_MEMORY, reason.to_owned());
    }
}

/// Ends `client` because its request led to a panic. It has a protocol error on return, even if it had one before.
pub(super) fn end_for_a_bug(display: &DisplayHandle, client: &Client, reason: &str) {
    if let Some(account) = client_account(client) {
        account.begin_disconnect();
    }
    end_with(display, client, IMPLEMENTATION, reason.to_owned());
}

/// Disconnects `client` without an error.
pub(super) fn disconnect(client: &Client) {
    if let Some(account) = client_account(client) {
        shut_socket_down(account);
    }
}

fn end_with(display: &DisplayHandle, client: &Client, code: u32, reason: String) {
    let text = CString::new(reason.as_str()).unwrap_or_default();
    ended_clients::note(process_of(display, client).unwrap_or_default(), reason);
    post(display, client, code, text);
}

fn post(display: &DisplayHandle, client: &Client, code: u32, text: CString) {
    let Some(object) = display_of(display, &client.id()) else { return };
    let mut handle = display.backend_handle();
    handle.post_error(object, code, text);
    // All clients, because a flush that names a client with an error skips it.
    let _ = handle.flush(None);
    disconnect(client);
}

/// Shuts the socket down, because libwayland destroys a client with an error only when it parses its next message or
/// sees the connection closed. Events that were sent before still reach the client.
#[expect(unsafe_code, reason = "the socket is libwayland's")]
fn shut_socket_down(account: &ResourceAccount) {
    if let Some(socket) = account.socket() {
        // SAFETY: libwayland keeps it open while the client is connected, and only this thread closes clients.
        let socket = unsafe { BorrowedFd::borrow_raw(socket) };
        let _ = rustix::net::shutdown(socket, rustix::net::Shutdown::Both);
    }
}

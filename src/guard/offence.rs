//! A client that has more than it may is told so, by name, and ends alone.

use std::ffi::CString;
use std::os::fd::BorrowedFd;

use smithay::reexports::wayland_server::backend::{ClientId, ObjectId};
use smithay::reexports::wayland_server::protocol::__interfaces::WL_DISPLAY_INTERFACE;
use smithay::reexports::wayland_server::{Client, DisplayHandle};

use super::account::Account;
use super::client::{account as client_account, process_of};
use super::ended;
use super::kinds::Kind;

/// The number of every client's `wl_display`.
pub(super) const DISPLAY: u32 = 1;
/// `wl_display.error.no_memory`: what clients show when there is not enough of something.
pub(super) const NO_MEMORY: u32 = 2;
/// `wl_display.error.implementation`: the compositor has gone wrong.
const IMPLEMENTATION: u32 = 3;

/// The client's `wl_display`.
pub(super) fn display_of(display: &DisplayHandle, client: &ClientId) -> Option<ObjectId> {
    display.backend_handle().object_for_protocol_id(client.clone(), &WL_DISPLAY_INTERFACE, DISPLAY).ok()
}

/// What a client is told that has too many of `kind`.
pub(super) fn sentence(kind: Kind, most: u32) -> String {
    format!("more than {most} {} of one client", kind.words())
}

/// Ends `client`, which has more of `kind` than it may.
pub fn end(display: &DisplayHandle, client: &Client, kind: Kind) {
    let account = client_account(client);
    if account.is_none_or(|account| account.begin_end()) {
        let most = account.map_or(kind.most(), |account| account.most(kind));
        end_with(display, client, NO_MEMORY, sentence(kind, most));
    }
}

/// Ends `client` for a reason that no bound has.
pub fn end_for(display: &DisplayHandle, client: &Client, reason: &str) {
    if client_account(client).is_none_or(|account| account.begin_end()) {
        end_with(display, client, NO_MEMORY, reason.to_owned());
    }
}

/// Ends `client`, which met a bug. It has an error when this returns, whatever it was told before.
pub(super) fn end_for_a_bug(display: &DisplayHandle, client: &Client, reason: &str) {
    if let Some(account) = client_account(client) {
        account.begin_end();
    }
    end_with(display, client, IMPLEMENTATION, reason.to_owned());
}

/// Lets go of `client` without a word.
pub(super) fn hang_up_on(client: &Client) {
    if let Some(account) = client_account(client) {
        hang_up(account);
    }
}

fn end_with(display: &DisplayHandle, client: &Client, code: u32, reason: String) {
    let text = CString::new(reason.as_str()).unwrap_or_default();
    ended::note(process_of(display, client).unwrap_or_default(), reason);
    post(display, client, code, text);
}

fn post(display: &DisplayHandle, client: &Client, code: u32, text: CString) {
    let Some(object) = display_of(display, &client.id()) else { return };
    let mut handle = display.backend_handle();
    handle.post_error(object, code, text);
    // All of them: one with an error is left out when it is named.
    let _ = handle.flush(None);
    hang_up_on(client);
}

/// libwayland lets go of a client with an error when it understands a message of it the next time, or when it has hung up:
/// so it has, now. What was said to it still reaches it.
#[expect(unsafe_code, reason = "the socket is libwayland's")]
fn hang_up(account: &Account) {
    if let Some(socket) = account.socket() {
        // SAFETY: libwayland has it open while the client is connected, and only this thread closes clients.
        let socket = unsafe { BorrowedFd::borrow_raw(socket) };
        let _ = rustix::net::shutdown(socket, rustix::net::Shutdown::Both);
    }
}

//! Disconnects clients whose messages libwayland can never read.
//!
//! libwayland buffers a message until it is complete, up to 4 096 bytes. If a message header announces a longer
//! message, libwayland stops reading this client. Then its socket stays readable, and the event loop never sleeps
//! again. Such a client is recognised by a read that is unlike all others: there was something to read, nothing was
//! taken, and no request was dispatched.

use std::os::fd::{BorrowedFd, RawFd};

use ahash::HashMap;
use smithay::reexports::wayland_server::{Client, DisplayHandle};

use super::client_epoll::{EpollClient, ReadableClient};
use crate::guard::{self, ResourceAccount};
use upbeat_timing::time::{Instant, Span};

/// Number of such reads in a row. A single such read proves nothing, for two reasons: between two checks a client may
/// have sent as much as was read, and if many clients are readable at once, only some are read in a turn.
const OFTEN: u32 = 64;
/// Shortest time that such reads must span.
const LASTING: Span = Span::from_seconds(1);
/// Text of the protocol error that the client gets.
const REASON: &str = "a message of more than 4096 bytes";

/// A client that is about to be read, with its counters before the read.
#[derive(Debug)]
pub(super) struct BeforeRead {
    epoll_client: EpollClient,
    client: Client,
    account: std::sync::Arc<ResourceAccount>,
    bytes: u64,
    requests: u32,
    took: u64,
}

impl BeforeRead {
    /// The client, and the time that its requests have taken since these counters were read.
    pub fn cost(&self) -> (EpollClient, Span) {
        let took = self.account.handling_nanos().saturating_sub(self.took);
        (self.epoll_client, Span::from_nanos(i64::try_from(took).unwrap_or(i64::MAX)))
    }
}

/// For each client, the reads in a row that took nothing although there was input.
#[derive(Debug, Default)]
pub(super) struct UnreadableClients(HashMap<EpollClient, FruitlessReads>);

#[derive(Clone, Copy, Debug)]
struct FruitlessReads {
    times: u32,
    first: Instant,
}

/// Reads the counters of these clients before they are read.
pub(super) fn counters_before_read(display: &DisplayHandle, suspects: &[ReadableClient]) -> Vec<BeforeRead> {
    if suspects.is_empty() {
        // Taken in every turn without a flood, so its cost must not depend on the number of clients.
        return Vec::new();
    }
    let sockets: Vec<_> = suspects.iter().map(|one| (one.client, one.socket.and_then(socket_inode))).collect();
    let mut unread = Vec::with_capacity(sockets.len());
    for (client, account) in guard::all(display) {
        let socket = account.socket().and_then(socket_inode);
        let Some((epoll_client, _)) = sockets.iter().find(|(_, other)| socket.is_some() && *other == socket) else {
            continue;
        };
        let (bytes, requests, took) = (unread_bytes(&account), account.requests(), account.handling_nanos());
        unread.push(BeforeRead { epoll_client: *epoll_client, client, account, bytes, requests, took });
    }
    unread
}

impl UnreadableClients {
    /// Compares the counters after a read, and disconnects clients that are stuck.
    pub fn check_after_read(&mut self, display: &DisplayHandle, before: Vec<BeforeRead>, now: Instant) {
        for BeforeRead { epoll_client, client, account, bytes, requests, .. } in before {
            let is_stuck = bytes > 0 && unread_bytes(&account) >= bytes && account.requests() == requests;
            if !is_stuck {
                self.0.remove(&epoll_client);
                continue;
            }
            let since = self.0.entry(epoll_client).or_insert(FruitlessReads { times: 0, first: now });
            since.times += 1;
            if since.times >= OFTEN && now - since.first >= LASTING {
                self.0.remove(&epoll_client);
                guard::end_for_reason(display, &client, REASON);
            }
        }
    }
}

/// Identifies a socket by its inode, because libwayland reads from a duplicate of the descriptor that it writes to.
#[expect(unsafe_code, reason = "the socket belongs to libwayland")]
fn socket_inode(socket: RawFd) -> Option<u64> {
    // SAFETY: libwayland keeps both descriptors open while the client is connected, and only this thread closes
    // clients.
    let socket = unsafe { BorrowedFd::borrow_raw(socket) };
    rustix::fs::fstat(socket).ok().map(|status| status.st_ino)
}

#[expect(unsafe_code, reason = "the socket belongs to libwayland")]
fn unread_bytes(account: &ResourceAccount) -> u64 {
    let Some(socket) = account.socket() else { return 0 };
    // SAFETY: libwayland keeps the socket open while the client is connected, and only this thread closes clients.
    let socket = unsafe { BorrowedFd::borrow_raw(socket) };
    rustix::io::ioctl_fionread(socket).unwrap_or(0)
}

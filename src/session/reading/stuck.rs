//! Clients that say something and are never understood.
//!
//! libwayland keeps what it has read of a message until there is all of it, 4 096 bytes at most. Whoever begins one that
//! says it is longer is not read any further: his socket stays readable, and waiting for clients never waits again. Such
//! a one is told by what nobody else's reading looks like: there was something to read, none of it was taken, and no
//! request came of it.

use std::os::fd::{BorrowedFd, RawFd};

use ahash::HashMap;
use smithay::reexports::wayland_server::{Client, DisplayHandle};

use super::muting::{Speaker, Suspect};
use crate::guard::{self, Account};
use upbeat_timing::time::{Instant, Span};

/// So many times in a row: between two looks a client may happen to have said as much as was read, and of many that say
/// something at once only some are read in a turn.
const OFTEN: u32 = 64;
/// And for so long.
const LASTING: Span = Span::from_seconds(1);
/// What the client is told.
const REASON: &str = "a message of more than 4096 bytes";

/// Somebody who is about to be read.
#[derive(Debug)]
pub(super) struct Unread {
    speaker: Speaker,
    client: Client,
    account: std::sync::Arc<Account>,
    bytes: u64,
    requests: u32,
    took: u64,
}

impl Unread {
    /// Who it is, and what the requests took that were met since.
    pub fn cost(&self) -> (Speaker, Span) {
        let took = self.account.took().saturating_sub(self.took);
        (self.speaker, Span::from_nanos(i64::try_from(took).unwrap_or(i64::MAX)))
    }
}

/// How often in a row nothing was taken of what they had said.
#[derive(Debug, Default)]
pub(super) struct Stuck(HashMap<Speaker, Since>);

/// How often, and since when.
#[derive(Clone, Copy, Debug)]
struct Since {
    times: u32,
    first: Instant,
}

/// What these have said that was not read yet.
pub(super) fn look(display: &DisplayHandle, suspects: &[Suspect]) -> Vec<Unread> {
    if suspects.is_empty() {
        // In every turn of a session in which nobody floods: it must not cost by how many are connected.
        return Vec::new();
    }
    let sockets: Vec<_> = suspects.iter().map(|one| (one.speaker, one.socket.and_then(same_socket))).collect();
    let mut unread = Vec::with_capacity(sockets.len());
    for (client, account) in guard::all(display) {
        let socket = account.socket().and_then(same_socket);
        let Some((speaker, _)) = sockets.iter().find(|(_, other)| socket.is_some() && *other == socket) else {
            continue;
        };
        let (bytes, requests, took) = (unread_bytes(&account), account.requests(), account.took());
        unread.push(Unread { speaker: *speaker, client, account, bytes, requests, took });
    }
    unread
}

impl Stuck {
    /// They were read. Who is stuck ends.
    pub fn were_read(&mut self, display: &DisplayHandle, before: Vec<Unread>, now: Instant) {
        for Unread { speaker, client, account, bytes, requests, .. } in before {
            let is_stuck = bytes > 0 && unread_bytes(&account) >= bytes && account.requests() == requests;
            if !is_stuck {
                self.0.remove(&speaker);
                continue;
            }
            let since = self.0.entry(speaker).or_insert(Since { times: 0, first: now });
            since.times += 1;
            if since.times >= OFTEN && now - since.first >= LASTING {
                self.0.remove(&speaker);
                guard::end_for(display, &client, REASON);
            }
        }
    }
}

/// What tells a socket from others: libwayland listens to a duplicate of the descriptor that it writes to.
#[expect(unsafe_code, reason = "the socket is libwayland's")]
fn same_socket(socket: RawFd) -> Option<u64> {
    // SAFETY: libwayland has both open while the client is connected, and only this thread closes clients.
    let socket = unsafe { BorrowedFd::borrow_raw(socket) };
    rustix::fs::fstat(socket).ok().map(|status| status.st_ino)
}

#[expect(unsafe_code, reason = "the socket is libwayland's")]
fn unread_bytes(account: &Account) -> u64 {
    let Some(socket) = account.socket() else { return 0 };
    // SAFETY: libwayland has it open while the client is connected, and only this thread closes clients.
    let socket = unsafe { BorrowedFd::borrow_raw(socket) };
    rustix::io::ioctl_fionread(socket).unwrap_or(0)
}

//! What one client has.

use std::os::fd::RawFd;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicI32, AtomicU32, AtomicU64, Ordering};

use super::complaints::Complaints;
use super::kinds::Kind;
use super::rules::Rules;
use super::together::{Counts, Together};

/// Unread bytes of a client that is behind, as the kernel counts them (with what it keeps beside each piece): a quarter of
/// what it lets wait by default, an eighth of what [`connect`](super::connection::connect) asks for. The rest is for what cannot
/// wait.
const BEHIND_BYTES: std::ffi::c_int = 52 * 1024;
/// The same of one who has hardly any room: what is left is enough for the keys that a person types in ten seconds.
const FULL_BYTES: std::ffi::c_int = 128 * 1024;

/// So many pieces are written to a client before it is looked how much of them it has not read, which is a system call. Small
/// ones are together less than half of [`BEHIND_BYTES`].
const PIECES_UNASKED: u32 = 24;

/// What one client has, and the most that it had. Shared by all that is counted: it lives on while anything is.
#[derive(Debug, Default)]
pub struct Account {
    rules: Arc<Rules>,
    used: Counts,
    most: Counts,
    together: Arc<Together>,
    /// It was told that it ends.
    ends: AtomicBool,
    /// What was said of it in the log.
    pub(super) complaints: Complaints,
    /// Requests of it that were [counted](super::requests::Counting).
    pub(super) requests: AtomicU32,
    /// Nanoseconds that these took.
    pub(super) took: AtomicU64,
    /// It was told something that was not [written](super::Unsent) yet.
    pub(super) unsent: AtomicBool,
    /// Pieces that were written to it since it was looked what it has not read; [`PIECES_UNASKED`] while it is behind.
    pieces: AtomicU32,
    /// Its socket while it is connected, 0 after that.
    pub(super) socket: AtomicI32,
}

impl Account {
    /// Nothing yet; how much it may be is said by `rules`, `together` with others.
    pub(super) fn new(rules: &Arc<Rules>, together: Arc<Together>) -> Self {
        Account { rules: rules.clone(), together, ..Account::default() }
    }

    /// What clients may have and do.
    pub(super) fn rules(&self) -> &Rules {
        &self.rules
    }

    /// How many of `kind` it may have.
    pub fn most(&self, kind: Kind) -> u32 {
        self.rules.most(kind)
    }

    /// It has `count` more. Returns whether that is more than it may have, with all that its process has.
    pub fn take(&self, kind: Kind, count: u32) -> bool {
        let used = self.used[kind].fetch_add(count, Ordering::Relaxed).saturating_add(count);
        self.most[kind].fetch_max(used, Ordering::Relaxed);
        let together = self.together.0[kind].fetch_add(count, Ordering::Relaxed).saturating_add(count);
        together > self.most(kind)
    }

    /// It has `count` fewer, or none where it has not so many.
    pub fn give_back(&self, kind: Kind, count: u32) {
        let fewer = |used: u32| Some(used.saturating_sub(count));
        let used = self.used[kind].fetch_update(Ordering::Relaxed, Ordering::Relaxed, fewer);
        let count = used.unwrap_or_else(|used| used).min(count);
        self.together.0[kind].fetch_sub(count, Ordering::Relaxed);
    }

    /// How many it has.
    pub fn used(&self, kind: Kind) -> u32 {
        self.used[kind].load(Ordering::Relaxed)
    }

    /// How many it had when it had most.
    pub fn most_used(&self, kind: Kind) -> u32 {
        self.most[kind].load(Ordering::Relaxed)
    }

    /// How many of its requests were counted, modulo 2³².
    pub fn requests(&self) -> u32 {
        self.requests.load(Ordering::Relaxed)
    }

    /// How many nanoseconds those took.
    pub fn took(&self) -> u64 {
        self.took.load(Ordering::Relaxed)
    }

    /// Its socket, while it is connected: a number to compare.
    pub fn socket(&self) -> Option<RawFd> {
        Some(self.socket.load(Ordering::Relaxed)).filter(|socket| *socket > 0)
    }

    /// Whether it has not read much of what it was told: what would bear waiting should.
    pub fn is_behind(&self) -> bool {
        self.unread() > BEHIND_BYTES
    }

    /// Whether what it is told next is to be gathered, and not written at once: it is behind.
    pub(super) fn gathers(&self) -> bool {
        let pieces = self.pieces.load(Ordering::Relaxed) + 1;
        let is_asked = pieces > PIECES_UNASKED;
        let is_behind = is_asked && self.is_behind();
        let pieces = if is_behind { PIECES_UNASKED } else { pieces * u32::from(!is_asked) };
        self.pieces.store(pieces, Ordering::Relaxed);
        is_behind
    }

    /// Its socket took nothing more.
    pub(super) fn note_behind(&self) {
        self.pieces.store(PIECES_UNASKED, Ordering::Relaxed);
    }

    /// Whether it has room for what can hardly wait.
    pub fn has_room(&self) -> bool {
        self.unread() <= FULL_BYTES
    }

    /// Whether it has not read all that it was told.
    pub fn has_unread(&self) -> bool {
        self.unread() > 0
    }

    /// Bytes that lie in its socket, and what the kernel needs to keep them.
    #[expect(unsafe_code, reason = "the socket is libwayland's, and rustix has no name for this question")]
    fn unread(&self) -> std::ffi::c_int {
        let Some(socket) = self.socket() else { return 0 };
        let mut unread: std::ffi::c_int = 0;
        // SAFETY: the kernel writes one number where `unread` is.
        let asked = unsafe { libc::ioctl(socket, libc::TIOCOUTQ, &raw mut unread) };
        if asked == 0 { unread } else { 0 }
    }

    /// It is not connected any more.
    pub(super) fn is_gone(&self) {
        self.socket.store(0, Ordering::Relaxed);
    }

    /// Whether it is connected.
    pub fn is_connected(&self) -> bool {
        self.socket().is_some()
    }

    /// It is told that it ends. Returns whether it was not told before.
    pub(super) fn begin_end(&self) -> bool {
        !self.ends.swap(true, Ordering::Relaxed)
    }
}

/// One thing that a client has, until it is dropped.
#[derive(Debug)]
pub struct Held {
    account: Arc<Account>,
    kind: Kind,
}

impl Held {
    /// `account` has one more of `kind`.
    pub fn new(account: &Arc<Account>, kind: Kind) -> Self {
        account.take(kind, 1);
        Held { account: account.clone(), kind }
    }

    /// Whether it is more than its client may have.
    pub fn is_too_many(&self) -> bool {
        self.account.together.0[self.kind].load(Ordering::Relaxed) > self.account.most(self.kind)
    }

    /// Whether its client was told that it ends.
    pub fn is_of_one_who_ends(&self) -> bool {
        self.account.ends.load(Ordering::Relaxed)
    }
}

impl Drop for Held {
    fn drop(&mut self) {
        self.account.give_back(self.kind, 1);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn one_more_than_the_bound_is_too_many_and_what_is_given_back_can_be_had_again() {
        let account = Account::default();
        assert!(!account.take(Kind::Popups, Kind::Popups.most()));
        assert!(account.take(Kind::Popups, 1));
        account.give_back(Kind::Popups, 2);
        assert!(!account.take(Kind::Popups, 1));
        assert_eq!((account.used(Kind::Popups), account.most_used(Kind::Popups)), (128, 129));
        assert_eq!(account.used(Kind::Windows), 0);
    }

    #[test]
    fn five_connections_of_one_process_have_as_much_as_one() {
        let together = Arc::<Together>::default();
        let five = [(); 5].map(|()| Account::new(&Arc::default(), together.clone()));
        let each = Kind::Popups.most() / 4;
        let took = |account: &Account| account.take(Kind::Popups, each);
        assert_eq!([0, 1, 2, 3, 4].map(|index| took(&five[index])), [false, false, false, false, true]);
        five[0].give_back(Kind::Popups, each + 1);
        five[4].give_back(Kind::Popups, 1);
        assert!(!five[4].take(Kind::Popups, 1), "no more was given back than it had");
        assert!(five[4].take(Kind::Popups, 1), "no more was given back than it had");
        assert!(!Account::default().take(Kind::Popups, each), "another process");
    }
}

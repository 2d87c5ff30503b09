//! Resource account of a client: how many objects, updates and descriptors it has, and how much it has not read.

use std::os::fd::RawFd;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicI32, AtomicU32, AtomicU64, Ordering};

use super::complaints::Complaints;
use super::kinds::Kind;
use super::rules::Rules;
use super::together::{Counts, Together};

/// A client with more unread bytes than this is behind. The kernel's count, which includes its overhead for each write:
/// a quarter of the default socket buffer, an eighth of the size that [`connect`](super::connection::connect) gets on
/// Debian. The rest is for events that cannot wait.
const BEHIND_BYTES: std::ffi::c_int = 52 * 1024;
/// With more unread bytes than this, the socket is nearly full: the rest is enough for the keys typed in ten seconds.
const FULL_BYTES: std::ffi::c_int = 128 * 1024;

/// So many writes go to a client before its unread bytes are queried again, because the query is a system call. So many
/// small writes take less than half of [`BEHIND_BYTES`].
const PIECES_UNASKED: u32 = 24;

/// A client's current and highest use of each resource. Each counted resource keeps it alive.
#[derive(Debug, Default)]
pub struct Account {
    rules: Arc<Rules>,
    used: Counts,
    most: Counts,
    together: Arc<Together>,
    /// The client was sent the error that ends it.
    ends: AtomicBool,
    /// Limits how often the log repeats a warning about the client.
    pub(super) complaints: Complaints,
    /// Number of requests [counted](super::requests::Counting), modulo 2³².
    pub(super) requests: AtomicU32,
    /// Nanoseconds that handling these requests took.
    pub(super) took: AtomicU64,
    /// Events for the client wait to be [flushed](super::Unsent).
    pub(super) unsent: AtomicBool,
    /// Writes since its unread bytes were last queried; [`PIECES_UNASKED`] while it is behind.
    pieces: AtomicU32,
    /// The socket's descriptor while it is connected, then 0.
    pub(super) socket: AtomicI32,
}

impl Account {
    /// An empty account. `rules` has its limits, `together` the use of all connections of its process.
    pub(super) fn new(rules: &Arc<Rules>, together: Arc<Together>) -> Self {
        Account { rules: rules.clone(), together, ..Account::default() }
    }

    /// Limits and privileges of clients.
    pub(super) fn rules(&self) -> &Rules {
        &self.rules
    }

    pub fn most(&self, kind: Kind) -> u32 {
        self.rules.most(kind)
    }

    /// Adds `count` to its use. Returns whether its process now exceeds the limit.
    pub fn take(&self, kind: Kind, count: u32) -> bool {
        let used = self.used[kind].fetch_add(count, Ordering::Relaxed).saturating_add(count);
        self.most[kind].fetch_max(used, Ordering::Relaxed);
        let together = self.together.0[kind].fetch_add(count, Ordering::Relaxed).saturating_add(count);
        together > self.most(kind)
    }

    /// Subtracts `count` from its use, down to zero at most.
    pub fn give_back(&self, kind: Kind, count: u32) {
        let fewer = |used: u32| Some(used.saturating_sub(count));
        let used = self.used[kind].fetch_update(Ordering::Relaxed, Ordering::Relaxed, fewer);
        let count = used.unwrap_or_else(|used| used).min(count);
        self.together.0[kind].fetch_sub(count, Ordering::Relaxed);
    }

    /// Current use of `kind`.
    pub fn used(&self, kind: Kind) -> u32 {
        self.used[kind].load(Ordering::Relaxed)
    }

    /// Highest use of `kind` so far.
    pub fn most_used(&self, kind: Kind) -> u32 {
        self.most[kind].load(Ordering::Relaxed)
    }

    /// Number of requests counted, modulo 2³².
    pub fn requests(&self) -> u32 {
        self.requests.load(Ordering::Relaxed)
    }

    /// Nanoseconds that handling these requests took.
    pub fn took(&self) -> u64 {
        self.took.load(Ordering::Relaxed)
    }

    /// Its socket's descriptor while it is connected: only to be compared.
    pub fn socket(&self) -> Option<RawFd> {
        Some(self.socket.load(Ordering::Relaxed)).filter(|socket| *socket > 0)
    }

    /// Whether much is unread: events that can wait should wait.
    pub fn is_behind(&self) -> bool {
        self.unread() > BEHIND_BYTES
    }

    /// Whether the next events are to be gathered instead of written at once, because the client is behind.
    pub(super) fn gathers(&self) -> bool {
        let pieces = self.pieces.load(Ordering::Relaxed) + 1;
        let is_asked = pieces > PIECES_UNASKED;
        let is_behind = is_asked && self.is_behind();
        let pieces = if is_behind { PIECES_UNASKED } else { pieces * u32::from(!is_asked) };
        self.pieces.store(pieces, Ordering::Relaxed);
        is_behind
    }

    /// Its socket is full (EAGAIN).
    pub(super) fn note_behind(&self) {
        self.pieces.store(PIECES_UNASKED, Ordering::Relaxed);
    }

    /// Whether its socket has room for events that can hardly wait.
    pub fn has_room(&self) -> bool {
        self.unread() <= FULL_BYTES
    }

    /// Whether anything in its socket is unread.
    pub fn has_unread(&self) -> bool {
        self.unread() > 0
    }

    /// Unread bytes in its socket, including the kernel's overhead for each write.
    #[expect(unsafe_code, reason = "the socket is libwayland's, and rustix lacks this ioctl")]
    fn unread(&self) -> std::ffi::c_int {
        let Some(socket) = self.socket() else { return 0 };
        let mut unread: std::ffi::c_int = 0;
        // SAFETY: the kernel writes one number, into `unread`.
        let asked = unsafe { libc::ioctl(socket, libc::TIOCOUTQ, &raw mut unread) };
        if asked == 0 { unread } else { 0 }
    }

    /// To be called when the client disconnects, since its descriptor may then be another file's.
    pub(super) fn is_gone(&self) {
        self.socket.store(0, Ordering::Relaxed);
    }

    pub fn is_connected(&self) -> bool {
        self.socket().is_some()
    }

    /// Marks the client as being ended. Returns whether it was not marked before.
    pub(super) fn begin_end(&self) -> bool {
        !self.ends.swap(true, Ordering::Relaxed)
    }
}

/// Counts one resource of a client until it is dropped.
#[derive(Debug)]
pub struct Held {
    account: Arc<Account>,
    kind: Kind,
}

impl Held {
    /// Adds one of `kind` to `account`.
    pub fn new(account: &Arc<Account>, kind: Kind) -> Self {
        account.take(kind, 1);
        Held { account: account.clone(), kind }
    }

    /// Whether the client's process now exceeds its limit.
    pub fn is_too_many(&self) -> bool {
        self.account.together.0[self.kind].load(Ordering::Relaxed) > self.account.most(self.kind)
    }

    /// Whether the client was sent the error that ends it.
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

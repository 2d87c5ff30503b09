//! Resource account of a client: how many objects, updates and descriptors it has, and how much it has not read.

use std::os::fd::RawFd;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicI32, AtomicU32, AtomicU64, Ordering};

use super::client_warnings::ClientWarnings;
use super::resource_counts::{ResourceCounts, SharedCounts};
use super::resource_kinds::Kind;
use super::rules::Rules;

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
pub struct ResourceAccount {
    rules: Arc<Rules>,
    used: ResourceCounts,
    most: ResourceCounts,
    shared: Arc<SharedCounts>,
    /// The client was sent the error that ends it.
    is_ending: AtomicBool,
    /// Limits how often the log repeats a warning about the client.
    pub(super) warnings: ClientWarnings,
    /// Number of requests [counted](super::requests::Counting), modulo 2³².
    pub(super) requests: AtomicU32,
    /// Nanoseconds that handling these requests took.
    pub(super) handling_nanos: AtomicU64,
    /// Events for the client wait to be [flushed](super::PendingFlush).
    pub(super) unsent: AtomicBool,
    /// Writes since its unread bytes were last queried; [`PIECES_UNASKED`] while it is behind.
    writes_since_query: AtomicU32,
    /// The socket's descriptor while it is connected, then 0.
    pub(super) socket: AtomicI32,
}

impl ResourceAccount {
    /// An empty account. `rules` has its limits, `together` the use of all connections of its process.
    pub(super) fn new(rules: &Arc<Rules>, together: Arc<SharedCounts>) -> Self {
        ResourceAccount { rules: rules.clone(), shared: together, ..ResourceAccount::default() }
    }

    /// Limits and privileges of clients.
    pub(super) fn rules(&self) -> &Rules {
        &self.rules
    }

    pub fn limit(&self, kind: Kind) -> u32 {
        self.rules.limit(kind)
    }

    /// Adds `count` to its use. Returns whether its process now exceeds the limit.
    pub fn take(&self, kind: Kind, count: u32) -> bool {
        let used = self.used[kind].fetch_add(count, Ordering::Relaxed).saturating_add(count);
        self.most[kind].fetch_max(used, Ordering::Relaxed);
        let together = self.shared.0[kind].fetch_add(count, Ordering::Relaxed).saturating_add(count);
        together > self.limit(kind)
    }

    /// Subtracts `count` from its use, down to zero at most.
    pub fn give_back(&self, kind: Kind, count: u32) {
        let fewer = |used: u32| Some(used.saturating_sub(count));
        let used = self.used[kind].fetch_update(Ordering::Relaxed, Ordering::Relaxed, fewer);
        let count = used.unwrap_or_else(|used| used).min(count);
        self.shared.0[kind].fetch_sub(count, Ordering::Relaxed);
    }

    /// Current use of `kind`.
    pub fn used(&self, kind: Kind) -> u32 {
        self.used[kind].load(Ordering::Relaxed)
    }

    /// Highest use of `kind` so far.
    pub fn highest_use(&self, kind: Kind) -> u32 {
        self.most[kind].load(Ordering::Relaxed)
    }

    /// Number of requests counted, modulo 2³².
    pub fn requests(&self) -> u32 {
        self.requests.load(Ordering::Relaxed)
    }

    /// Nanoseconds that handling these requests took.
    pub fn handling_nanos(&self) -> u64 {
        self.handling_nanos.load(Ordering::Relaxed)
    }

    /// Its socket's descriptor while it is connected: only to be compared.
    pub fn socket(&self) -> Option<RawFd> {
        Some(self.socket.load(Ordering::Relaxed)).filter(|socket| *socket > 0)
    }

    /// Whether much is unread: events that can wait should wait.
    pub fn is_behind(&self) -> bool {
        self.unread_bytes() > BEHIND_BYTES
    }

    /// Whether the next events are to be gathered instead of written at once, because the client is behind.
    pub(super) fn must_gather_events(&self) -> bool {
        let pieces = self.writes_since_query.load(Ordering::Relaxed) + 1;
        let is_asked = pieces > PIECES_UNASKED;
        let is_behind = is_asked && self.is_behind();
        let pieces = if is_behind { PIECES_UNASKED } else { pieces * u32::from(!is_asked) };
        self.writes_since_query.store(pieces, Ordering::Relaxed);
        is_behind
    }

    /// Its socket is full (EAGAIN).
    pub(super) fn note_socket_full(&self) {
        self.writes_since_query.store(PIECES_UNASKED, Ordering::Relaxed);
    }

    /// Whether its socket has room for events that can hardly wait.
    pub fn has_room(&self) -> bool {
        self.unread_bytes() <= FULL_BYTES
    }

    /// Whether anything in its socket is unread.
    pub fn has_unread(&self) -> bool {
        self.unread_bytes() > 0
    }

    /// Unread bytes in its socket, including the kernel's overhead for each write.
    #[expect(unsafe_code, reason = "the socket is libwayland's, and rustix lacks this ioctl")]
    fn unread_bytes(&self) -> std::ffi::c_int {
        let Some(socket) = self.socket() else { return 0 };
        let mut unread: std::ffi::c_int = 0;
        // SAFETY: the kernel writes one number, into `unread`.
        let asked = unsafe { libc::ioctl(socket, libc::TIOCOUTQ, &raw mut unread) };
        if asked == 0 { unread } else { 0 }
    }

    /// To be called when the client disconnects, since its descriptor may then be another file's.
    pub(super) fn note_disconnected(&self) {
        self.socket.store(0, Ordering::Relaxed);
    }

    pub fn is_connected(&self) -> bool {
        self.socket().is_some()
    }

    /// Marks the client as being ended. Returns whether it was not marked before.
    pub(super) fn begin_disconnect(&self) -> bool {
        !self.is_ending.swap(true, Ordering::Relaxed)
    }
}

/// Counts one resource of a client until it is dropped.
#[derive(Debug)]
pub struct CountedResource {
    account: Arc<ResourceAccount>,
    kind: Kind,
}

impl CountedResource {
    /// Adds one of `kind` to `account`.
    pub fn new(account: &Arc<ResourceAccount>, kind: Kind) -> Self {
        account.take(kind, 1);
        CountedResource { account: account.clone(), kind }
    }

    /// Whether the client's process now exceeds its limit.
    pub fn is_too_many(&self) -> bool {
        self.account.shared.0[self.kind].load(Ordering::Relaxed) > self.account.limit(self.kind)
    }

    /// Whether the client was sent the error that ends it.
    pub fn is_of_ending_client(&self) -> bool {
        self.account.is_ending.load(Ordering::Relaxed)
    }
}

impl Drop for CountedResource {
    fn drop(&mut self) {
        self.account.give_back(self.kind, 1);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn use_above_the_limit_is_reported_and_returned_use_is_available_again() {
        let account = ResourceAccount::default();
        assert!(!account.take(Kind::Popups, Kind::Popups.most()));
        assert!(account.take(Kind::Popups, 1));
        account.give_back(Kind::Popups, 2);
        assert!(!account.take(Kind::Popups, 1));
        assert_eq!((account.used(Kind::Popups), account.highest_use(Kind::Popups)), (128, 129));
        assert_eq!(account.used(Kind::Windows), 0);
    }

    #[test]
    fn connections_of_one_process_share_one_limit() {
        let together = Arc::<SharedCounts>::default();
        let five = [(); 5].map(|()| ResourceAccount::new(&Arc::default(), together.clone()));
        let each = Kind::Popups.most() / 4;
        let took = |account: &ResourceAccount| account.take(Kind::Popups, each);
        assert_eq!([0, 1, 2, 3, 4].map(|index| took(&five[index])), [false, false, false, false, true]);
        five[0].give_back(Kind::Popups, each + 1);
        five[4].give_back(Kind::Popups, 1);
        assert!(!five[4].take(Kind::Popups, 1), "no more was given back than it had");
        assert!(five[4].take(Kind::Popups, 1), "no more was given back than it had");
        assert!(!ResourceAccount::default().take(Kind::Popups, each), "another process");
    }
}

//! How many descriptors the session may have: each client and each of its buffers is one.

use std::io;
use std::sync::OnceLock;

use rustix::process::{Resource, Rlimit, getrlimit, setrlimit};

/// What the limit was before it was ours, for programs that we start: those that call `select` cannot do with more.
static BEFORE: OnceLock<Rlimit> = OnceLock::new();

/// Has as many as the system allows. Usual are 1024, of which one client may take 1021.
pub(super) fn raise() {
    let before = *BEFORE.get_or_init(|| getrlimit(Resource::Nofile));
    if let Err(error) = setrlimit(Resource::Nofile, Rlimit { current: before.maximum, maximum: before.maximum }) {
        tracing::warn!(%error, "the number of open files stays limited to {:?}", before.current);
    }
}

/// What programs that the session starts are to have. Makes system calls only: to be used between fork and exec.
pub(super) fn restore(before: Option<Rlimit>) -> io::Result<()> {
    before.map_or(Ok(()), |before| setrlimit(Resource::Nofile, before).map_err(io::Error::from))
}

/// What the limit was, if it was raised.
pub(super) fn before() -> Option<Rlimit> {
    BEFORE.get().copied()
}

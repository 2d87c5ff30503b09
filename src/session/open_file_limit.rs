//! The limit on open files: each client, and each of its buffers, needs a descriptor.

use std::io;
use std::sync::OnceLock;

use rustix::process::{Resource, Rlimit, getrlimit, setrlimit};

/// The limit before it was raised. Programs that we start get it back, because programs that call `select` cannot
/// handle more.
static BEFORE: OnceLock<Rlimit> = OnceLock::new();

/// Raises the limit as far as the system allows. The usual limit is 1024, of which one client may take 1021.
pub(super) fn raise_open_files() {
    let before = *BEFORE.get_or_init(|| getrlimit(Resource::Nofile));
    if let Err(error) = setrlimit(Resource::Nofile, Rlimit { current: before.maximum, maximum: before.maximum }) {
        tracing::warn!(%error, "the number of open files stays limited to {:?}", before.current);
    }
}

/// Restores the limit `before` in a program that is being started. Makes only system calls, so that it can be used
/// between fork and exec.
pub(super) fn restore_open_files(before: Option<Rlimit>) -> io::Result<()> {
    before.map_or(Ok(()), |before| setrlimit(Resource::Nofile, before).map_err(io::Error::from))
}

/// The limit before it was raised; `None` if it was not.
pub(super) fn original_limit() -> Option<Rlimit> {
    BEFORE.get().copied()
}

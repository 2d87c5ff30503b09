//! Files that clients hand over: they may lie where nobody answers.
//!
//! Reading, mapping, even closing a file of a file system that is a program (FUSE) or a network waits for whoever runs it, in
//! the kernel, where nothing can be given a time limit. What a client hands over lies in memory, nearly always; what lies
//! there or on a disk is used, and what does not is not touched.

use std::fs;
use std::os::fd::{AsFd, AsRawFd, BorrowedFd, OwnedFd};
use std::sync::OnceLock;
use std::sync::mpsc::{self, Sender};

use rustix::fs::fcntl_get_seals;

/// Beginnings of the names of file systems that wait for somebody else.
const WAITING: [&str; 9] = ["fuse", "nfs", "cifs", "smb", "9p", "ceph", "afs", "virtiofs", "glusterfs"];

/// Whether nobody is waited for who uses this file.
pub fn is_at_hand(file: BorrowedFd<'_>) -> bool {
    is_memory(file) || !lies_with(&WAITING, file).unwrap_or(false)
}

/// Whether the file system of `file` is one of `kinds`; `None` where the kernel does not tell.
fn lies_with(kinds: &[&str], file: BorrowedFd<'_>) -> Option<bool> {
    let information = fs::read_to_string(format!("/proc/self/fdinfo/{}", file.as_raw_fd())).ok()?;
    let mount = information.lines().find_map(|line| line.strip_prefix("mnt_id:"))?.trim().to_owned();
    let mounts = fs::read_to_string("/proc/self/mountinfo").ok()?;
    let line = mounts.lines().find(|line| line.split(' ').next() == Some(mount.as_str()))?;
    let kind = line.split_once(" - ")?.1;
    Some(kinds.iter().any(|waiting| kind.starts_with(waiting)))
}

/// Whether it lies in memory, where nobody is ever waited for. Asks no file system.
pub fn is_memory(file: BorrowedFd<'_>) -> bool {
    // Only memory can be sealed.
    fcntl_get_seals(file).is_ok()
}

/// A file that a client handed over and that nobody has looked at yet: it can be dropped without waiting.
#[derive(Debug)]
pub struct Lent(Option<OwnedFd>);

impl Lent {
    /// Takes it over.
    pub fn new(file: OwnedFd) -> Self {
        Lent(Some(file))
    }

    /// The file, whose user may wait.
    pub fn take(mut self) -> Option<OwnedFd> {
        self.0.take()
    }

    /// See [`is_memory`].
    pub fn is_memory(&self) -> bool {
        self.0.as_ref().is_some_and(|file| is_memory(file.as_fd()))
    }
}

impl Drop for Lent {
    fn drop(&mut self) {
        if let Some(file) = self.0.take().filter(|file| !is_memory(file.as_fd())) {
            let_go(file);
        }
    }
}

/// Lets go of a file that is not at hand: closing it may wait, for as long as its owner likes, so that somebody else does.
pub fn let_go(file: OwnedFd) {
    static CLOSER: OnceLock<Sender<OwnedFd>> = OnceLock::new();
    let closer = CLOSER.get_or_init(|| {
        let (closer, files) = mpsc::channel();
        let thread = std::thread::Builder::new().name("closer".to_owned());
        if let Err(error) = thread.spawn(move || files.into_iter().for_each(drop)) {
            tracing::error!(%error, "nobody closes files that may wait");
        }
        closer
    });
    if let Err(mpsc::SendError(file)) = closer.send(file) {
        // Rather lost than waited for.
        std::mem::forget(file);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn memory_and_local_files_are_at_hand_and_others_are_told_by_their_mount() {
        let memory = rustix::fs::memfd_create("memory", rustix::fs::MemfdFlags::CLOEXEC).unwrap();
        assert!(is_at_hand(memory.as_fd()));
        let file = fs::File::open("/proc/self/status").unwrap();
        assert!(is_at_hand(file.as_fd()));
        assert_eq!(lies_with(&["proc"], file.as_fd()), Some(true));
        assert_eq!(lies_with(&WAITING, file.as_fd()), Some(false));
        let_go(memory);
    }
}

//! Descriptors of all kinds.

use std::os::fd::OwnedFd;
use std::os::unix::net::{UnixListener, UnixStream};

use rustix::fs::{MemfdFlags, SealFlags, fcntl_add_seals, ftruncate, memfd_create};
use serde::{Deserialize, Serialize};

#[derive(Clone, Copy, Debug, Serialize, Deserialize)]
pub enum Descriptor {
    /// Of so many bytes.
    Memory(u32),
    /// The same, which cannot be changed.
    Sealed(u32),
    /// The same, of which nothing is left when it is looked at.
    Cut(u32),
    /// The end that is read; nothing comes.
    Pipe,
    /// The end that is written to; nobody reads.
    FullPipe,
    Socket,
    Listener,
    Null,
    Directory,
}

/// A descriptor, and whether it is to be cut off once it is sent.
pub fn make(kind: Descriptor) -> (OwnedFd, bool) {
    let memory = |flags, bytes: u32| {
        let fd = memfd_create("fuzz", MemfdFlags::CLOEXEC | flags).unwrap();
        ftruncate(&fd, u64::from(bytes)).unwrap();
        fd
    };
    let open = |path| std::fs::File::open(path).unwrap().into();
    let fd = match kind {
        Descriptor::Memory(bytes) => memory(MemfdFlags::empty(), bytes),
        Descriptor::Sealed(bytes) => {
            let fd = memory(MemfdFlags::ALLOW_SEALING, bytes);
            fcntl_add_seals(&fd, SealFlags::SHRINK | SealFlags::GROW | SealFlags::WRITE | SealFlags::SEAL).unwrap();
            fd
        }
        Descriptor::Cut(bytes) => return (memory(MemfdFlags::empty(), bytes), true),
        Descriptor::Pipe => rustix::pipe::pipe().unwrap().0,
        Descriptor::FullPipe => rustix::pipe::pipe().unwrap().1,
        Descriptor::Socket => UnixStream::pair().unwrap().0.into(),
        Descriptor::Listener => {
            let directory = tempfile::tempdir().unwrap();
            UnixListener::bind(directory.path().join("socket")).unwrap().into()
        }
        Descriptor::Null => open("/dev/null"),
        Descriptor::Directory => open("/proc"),
    };
    (fd, false)
}

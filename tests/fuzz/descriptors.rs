//! Descriptors of all kinds.

use std::fs::{File, OpenOptions};
use std::os::fd::OwnedFd;
use std::os::linux::net::SocketAddrExt;
use std::os::unix::net::{SocketAddr, UnixListener, UnixStream};
use std::sync::OnceLock;
use std::sync::atomic::{AtomicU32, Ordering};

use rustix::event::{EventfdFlags, eventfd};
use rustix::fs::{MemfdFlags, SealFlags, fcntl_add_seals, ftruncate, memfd_create};
use serde::{Deserialize, Serialize};
use smithay::input::keyboard::xkb;

#[derive(Clone, Copy, Debug, Serialize, Deserialize)]
pub enum Descriptor {
    /// Of so many bytes.
    Memory(u32),
    /// The same, which cannot be changed.
    Sealed(u32),
    /// The same, which keeps its size and can be written to.
    Fixed(u32),
    /// The same, of which nothing is left when it is looked at.
    Cut(u32),
    /// A keymap that can be used, of [`keymap`]'s length.
    Keymap,
    /// A file of so many bytes on a disk, which has no name any more.
    Deleted(u32),
    /// The end that is read; nothing comes, and nobody is there.
    Pipe,
    /// The end that is written to; nobody reads.
    FullPipe,
    /// The end that is read, and the one that is written to, of somebody who says nothing.
    SilentPipe,
    OpenPipe,
    /// Its peer is gone.
    Socket,
    /// Its peer says nothing.
    SilentSocket,
    Listener,
    Event,
    Null,
    /// Has no end.
    Zeroes,
    /// Always full.
    Full,
    Directory,
}

/// What is done with a descriptor once it is sent.
pub enum Afterwards {
    Nothing,
    /// Nothing is left of the file.
    Cut,
    /// The other end stays open.
    Keep(OwnedFd),
}

/// A keymap as clients send it.
pub fn keymap() -> &'static [u8] {
    static KEYMAP: OnceLock<Vec<u8>> = OnceLock::new();
    KEYMAP.get_or_init(|| {
        let context = xkb::Context::new(xkb::CONTEXT_NO_FLAGS);
        let keymap = xkb::Keymap::new_from_names(&context, "", "", "fr", "", None, xkb::KEYMAP_COMPILE_NO_FLAGS);
        let mut text = keymap.unwrap().get_as_string(xkb::KEYMAP_FORMAT_TEXT_V1).into_bytes();
        text.push(0);
        text
    })
}

fn memory(flags: MemfdFlags, bytes: u32, seals: SealFlags) -> OwnedFd {
    let fd = memfd_create("fuzz", MemfdFlags::CLOEXEC | flags).unwrap();
    ftruncate(&fd, u64::from(bytes)).unwrap();
    if !seals.is_empty() {
        fcntl_add_seals(&fd, seals).unwrap();
    }
    fd
}

/// A descriptor, and what is to be done with it once it is sent.
pub fn make(kind: Descriptor) -> (OwnedFd, Afterwards) {
    let (none, sealable) = (SealFlags::empty(), MemfdFlags::ALLOW_SEALING);
    let open = |path| File::open(path).unwrap().into();
    let fd = match kind {
        Descriptor::Memory(bytes) => memory(MemfdFlags::empty(), bytes, none),
        Descriptor::Sealed(bytes) => {
            memory(sealable, bytes, SealFlags::SHRINK | SealFlags::GROW | SealFlags::WRITE | SealFlags::SEAL)
        }
        Descriptor::Fixed(bytes) => memory(sealable, bytes, SealFlags::SHRINK | SealFlags::GROW | SealFlags::SEAL),
        Descriptor::Cut(bytes) => return (memory(MemfdFlags::empty(), bytes, none), Afterwards::Cut),
        Descriptor::Keymap => {
            let fd = memory(MemfdFlags::empty(), 0, none);
            let written = rustix::io::write(&fd, keymap()).unwrap();
            assert_eq!(written, keymap().len());
            fd
        }
        Descriptor::Deleted(bytes) => {
            let file = tempfile::tempfile().unwrap();
            file.set_len(u64::from(bytes)).unwrap();
            file.into()
        }
        Descriptor::Pipe => rustix::pipe::pipe().unwrap().0,
        Descriptor::FullPipe => rustix::pipe::pipe().unwrap().1,
        Descriptor::SilentPipe => {
            let (read, write) = rustix::pipe::pipe().unwrap();
            return (read, Afterwards::Keep(write));
        }
        Descriptor::OpenPipe => {
            let (read, write) = rustix::pipe::pipe().unwrap();
            return (write, Afterwards::Keep(read));
        }
        Descriptor::Socket => UnixStream::pair().unwrap().0.into(),
        Descriptor::SilentSocket => {
            let (ours, theirs) = UnixStream::pair().unwrap();
            return (ours.into(), Afterwards::Keep(theirs.into()));
        }
        Descriptor::Listener => {
            static LISTENERS: AtomicU32 = AtomicU32::new(0);
            let name = format!("upbeat-fuzz-{}-{}", std::process::id(), LISTENERS.fetch_add(1, Ordering::Relaxed));
            UnixListener::bind_addr(&SocketAddr::from_abstract_name(name).unwrap()).unwrap().into()
        }
        Descriptor::Event => eventfd(0, EventfdFlags::CLOEXEC).unwrap(),
        Descriptor::Null => open("/dev/null"),
        Descriptor::Zeroes => open("/dev/zero"),
        Descriptor::Full => OpenOptions::new().write(true).open("/dev/full").unwrap().into(),
        Descriptor::Directory => open("/proc"),
    };
    (fd, Afterwards::Nothing)
}

//! File descriptors of all kinds, as arguments of random requests.

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
    /// A memfd of this many bytes.
    Memory(u32),
    /// A memfd of this many bytes whose content and size are sealed.
    Sealed(u32),
    /// A memfd of this many bytes whose size is sealed; it can be written to.
    Fixed(u32),
    /// A memfd of this many bytes that is truncated to nothing after it was sent.
    Cut(u32),
    /// A valid keymap, of [`keymap`]'s length.
    Keymap,
    /// A file of this many bytes on a disk, already unlinked.
    Deleted(u32),
    /// The read end of an empty pipe whose write end is closed.
    Pipe,
    /// The write end of a pipe whose read end is closed.
    FullPipe,
    /// The read end, or the write end, of a pipe whose other end stays open and idle.
    SilentPipe,
    OpenPipe,
    /// A socket whose peer is closed.
    Socket,
    /// A socket whose peer stays open and idle.
    SilentSocket,
    Listener,
    Event,
    Null,
    /// `/dev/zero`: reading never ends.
    Zeroes,
    /// `/dev/full`: writing always fails.
    Full,
    Directory,
}

/// Action after a descriptor was sent.
pub enum Afterwards {
    Nothing,
    /// Truncate the file to nothing.
    Truncate,
    /// Keep the other end open.
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

/// A descriptor, and the action that follows once it is sent.
pub fn make(kind: Descriptor) -> (OwnedFd, Afterwards) {
    let (none, sealable) = (SealFlags::empty(), MemfdFlags::ALLOW_SEALING);
    let open = |path| File::open(path).unwrap().into();
    let fd = match kind {
        Descriptor::Memory(bytes) => memory(MemfdFlags::empty(), bytes, none),
        Descriptor::Sealed(bytes) => {
            memory(sealable, bytes, SealFlags::SHRINK | SealFlags::GROW | SealFlags::WRITE | SealFlags::SEAL)
        }
        Descriptor::Fixed(bytes) => memory(sealable, bytes, SealFlags::SHRINK | SealFlags::GROW | SealFlags::SEAL),
        Descriptor::Cut(bytes) => return (memory(MemfdFlags::empty(), bytes, none), Afterwards::Truncate),
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

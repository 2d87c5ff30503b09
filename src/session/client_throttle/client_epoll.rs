//! Stops and resumes reading single clients, by changing libwayland's epoll.
//!
//! libwayland reads every client that its event loop finds readable, and has no call to leave a client out. But its
//! loop is an epoll, and libwayland hands out the descriptor, so that we can change the events waited for. A muted
//! client stays in the set, but input from it no longer counts; a hang-up still does. The kernel says which socket in
//! the epoll belongs to which event data (proc(5), `fdinfo` of an epoll). So the only assumption about libwayland is
//! that it uses an epoll. Without an epoll or without /proc, no client is muted.
//!
//! ```text
//!  our loop ── waits for ──► libwayland's epoll ── IN ──► socket of the victim    data: p     │ an event of the epoll
//!                                               ── —  ──► socket of the flooder   data: q     │ names its socket
//! ```

use std::fs::File;
use std::io;
use std::os::fd::{AsFd, AsRawFd, BorrowedFd, OwnedFd, RawFd};
use std::os::unix::fs::FileExt as _;

use rustix::event::epoll::{self, EventData, EventFlags};
use rustix::process::Pid;
use rustix::time::Timespec;

/// Readable clients that are listed at a time. If more are readable at once, the next read lists the rest.
const AT_ONCE: usize = 64;

/// Read size for `fdinfo` in bytes: enough for a hundred sockets. Longer contents take several reads.
const ROOM: usize = 8_192;

/// A client connection, identified by its event data in libwayland's epoll.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub(super) struct EpollClient(u64);

/// The owner of a share of the reading time: all connections of a process have one share together.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(super) enum BudgetOwner {
    /// The client process, by `SO_PEERCRED`.
    Process(Pid),
    /// A single connection: this process opened it, or the opener is unknown.
    Connection(EpollClient),
}

/// A client that is about to be read.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct ReadableClient {
    pub(in crate::session) client: EpollClient,
    pub(in crate::session) socket: Option<RawFd>,
    pub(in crate::session) owner: BudgetOwner,
}

/// The epoll of libwayland's event loop.
#[derive(Debug)]
pub(super) struct ClientEpoll {
    epoll: OwnedFd,
    /// `fdinfo` of the epoll. Kept open, because on a busy screen it is read with each read of the clients.
    fdinfo: Option<File>,
}

impl ClientEpoll {
    /// The event loop of `display`.
    ///
    /// # Errors
    /// The process has no descriptors left.
    pub fn of(display: impl AsFd) -> io::Result<Self> {
        let epoll = display.as_fd().try_clone_to_owned()?;
        let fdinfo = File::open(format!("/proc/self/fdinfo/{}", epoll.as_raw_fd())).ok();
        Ok(ClientEpoll { epoll, fdinfo })
    }

    /// The readable clients, without muted clients.
    pub fn readable(&self) -> Vec<EpollClient> {
        let mut events = Vec::with_capacity(AT_ONCE);
        // If the wait fails, the list is empty: only clients known to flood are muted.
        let _ = epoll::wait(&self.epoll, rustix::buffer::spare_capacity(&mut events), Some(&Timespec::default()));
        // EPOLLOUT alone, after unmuting, is not input: skip it.
        let speaking = events.iter().filter(|event| { event.flags } != EventFlags::OUT);
        speaking.map(|event| EpollClient(event.data.u64())).collect()
    }

    /// Ignores input from this client until [`unmute`](Self::unmute). Returns whether this was possible.
    pub fn mute(&self, client: EpollClient) -> bool {
        self.set_events(client, EventFlags::empty())
    }

    /// Reads this client again. Returns whether it is still connected.
    ///
    /// EPOLLOUT is included because libwayland also waits for room in a client's socket if it has events left to
    /// send, and muting has removed this. If libwayland does not need it, it removes EPOLLOUT by itself at the
    /// first wake-up.
    pub fn unmute(&self, client: EpollClient) -> bool {
        self.set_events(client, EventFlags::IN | EventFlags::OUT)
    }

    #[expect(unsafe_code, reason = "the descriptor belongs to libwayland")]
    fn set_events(&self, client: EpollClient, what: EventFlags) -> bool {
        let Some(socket) = self.socket(client) else { return false };
        // SAFETY: the socket was in the epoll a moment ago, so libwayland has it open. Only this thread closes
        // clients, and the borrow lasts for this call alone.
        let socket = unsafe { BorrowedFd::borrow_raw(socket) };
        epoll::modify(&self.epoll, socket, EventData::new_u64(client.0), what).is_ok()
    }

    /// The readable clients, with the socket and the process of each where they are known.
    pub fn readable_clients(&self) -> Vec<ReadableClient> {
        let clients = self.readable();
        let sockets = self.sockets(&clients);
        let suspect = |client: &EpollClient| {
            let socket = sockets.iter().find(|(other, _)| other == client).map(|(_, socket)| *socket);
            let process = socket.and_then(peer_process).filter(|process| *process != rustix::process::getpid());
            ReadableClient {
                client: *client,
                socket,
                owner: process.map_or(BudgetOwner::Connection(*client), BudgetOwner::Process),
            }
        };
        clients.iter().map(suspect).collect()
    }

    fn sockets(&self, clients: &[EpollClient]) -> Vec<(EpollClient, RawFd)> {
        if clients.is_empty() {
            return Vec::new();
        }
        let text = self.fdinfo.as_ref().map(text_of).unwrap_or_default();
        let targets = text.lines().filter_map(parse_fdinfo_line).map(|(socket, data)| (EpollClient(data), socket));
        targets.filter(|(client, _)| clients.contains(client)).collect()
    }

    /// The client's descriptor in the epoll.
    fn socket(&self, client: EpollClient) -> Option<RawFd> {
        self.sockets(&[client]).first().map(|(_, socket)| *socket)
    }
}

/// Reads a `/proc` file from its start, as far as that succeeds.
fn text_of(file: &File) -> String {
    let (mut text, mut length) = (Vec::new(), 0);
    loop {
        text.resize(length + ROOM, 0);
        match file.read_at(&mut text[length..], length as u64) {
            Ok(0) | Err(_) => break,
            Ok(read) => length += read,
        }
    }
    text.truncate(length);
    String::from_utf8(text).unwrap_or_default()
}

/// The process that opened the connection.
#[expect(unsafe_code, reason = "the socket belongs to libwayland")]
fn peer_process(socket: RawFd) -> Option<Pid> {
    // SAFETY: the socket was in libwayland's epoll a moment ago, and only this thread closes clients.
    let socket = unsafe { BorrowedFd::borrow_raw(socket) };
    rustix::net::sockopt::socket_peercred(socket).ok().map(|credentials| credentials.pid)
}

/// Parses the line of a descriptor in the set: `tfd: DESCRIPTOR events: MASK data: HEX …`.
fn parse_fdinfo_line(line: &str) -> Option<(RawFd, u64)> {
    let mut words = line.split_ascii_whitespace();
    let mut value = |name: &str| words.by_ref().skip_while(|word| *word != name).nth(1);
    let socket = value("tfd:")?.parse().ok()?;
    Some((socket, u64::from_str_radix(value("data:")?, 16).ok()?))
}

#[cfg(test)]
mod tests {
    use std::io::{Read as _, Write as _};
    use std::os::unix::net::UnixStream;
    use std::sync::Arc;

    use smithay::reexports::wayland_server::Display;

    use super::*;

    /// The wire bytes of a `wl_display.sync` request with this new id.
    fn sync(id: u32) -> Vec<u8> {
        [1, 12 << 16, id].iter().flat_map(|word: &u32| word.to_ne_bytes()).collect()
    }

    /// A real libwayland display with two clients.
    struct World {
        display: Display<()>,
        listening: ClientEpoll,
        clients: [UnixStream; 2],
    }

    impl World {
        fn new() -> Self {
            let display = Display::new().unwrap();
            let listening = ClientEpoll::of(&display).unwrap();
            let clients = [(); 2].map(|()| {
                let (theirs, ours) = UnixStream::pair().unwrap();
                theirs.set_nonblocking(true).unwrap();
                display.handle().insert_client(ours, Arc::new(())).unwrap();
                theirs
            });
            World { display, listening, clients }
        }

        fn says(&mut self, client: usize, id: u32) {
            self.clients[client].write_all(&sync(id)).unwrap();
        }

        fn answered(&mut self) -> [bool; 2] {
            self.display.dispatch_clients(&mut ()).unwrap();
            self.display.flush_clients().unwrap();
            self.clients.each_mut().map(|client| client.read(&mut [0; 256]).is_ok_and(|read| read > 0))
        }
    }

    #[test]
    fn muted_client_is_not_read_until_it_is_unmuted() {
        let mut world = World::new();
        world.says(0, 2);
        let [flooder] = world.listening.readable()[..] else { panic!("one speaks") };
        assert!(world.listening.mute(flooder));
        assert_eq!(world.listening.readable(), [], "muted");
        world.says(1, 2);
        assert_eq!(world.answered(), [false, true]);
        assert!(world.listening.unmute(flooder));
        assert_eq!(world.answered(), [true, false]);
        // No wait for room in the socket is left over, which would report a client that has sent nothing.
        world.answered();
        assert_eq!(world.listening.readable(), []);
    }

    #[test]
    fn hang_up_of_a_muted_client_is_noticed() {
        let mut world = World::new();
        world.says(0, 2);
        let [flooder] = world.listening.readable()[..] else { panic!("one speaks") };
        world.listening.mute(flooder);
        let (gone, stays) = UnixStream::pair().unwrap();
        drop(std::mem::replace(&mut world.clients[0], stays));
        drop(gone);
        assert_eq!(world.listening.readable(), [flooder]);
        world.answered();
        assert_eq!(world.listening.readable(), []);
        assert!(!world.listening.unmute(flooder), "it is gone");
    }

    #[test]
    fn fdinfo_line_is_parsed() {
        let line = "tfd:       12 events:       19 data:     7ffc1aa0  pos:0 ino:61af sdev:7";
        assert_eq!(parse_fdinfo_line(line), Some((12, 0x7ffc_1aa0)));
        assert_eq!(parse_fdinfo_line("flags:\t02"), None);
        assert_eq!(parse_fdinfo_line("tfd: x data: 1"), None);
    }
}

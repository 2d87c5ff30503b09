//! Which clients are not listened to for a while.
//!
//! libwayland reads all clients that its event loop finds readable, and has no word for leaving one out. But the loop is
//! an epoll whose descriptor it gives out to be waited for, and whoever holds that may change what is waited for: a muted
//! client stays in the set, and only what it says is no news. That it hangs up still is. Which socket of libwayland's is
//! whose the kernel tells (proc(5), `fdinfo` of an epoll), so nothing is assumed of libwayland but that it uses an epoll.
//! Where that is not so, or without /proc, nobody is muted.
//!
//! ```text
//!  our loop ── waits for ──► libwayland's epoll ── IN ──► socket of the victim    data: p     │ what a wait returns
//!                                               ── —  ──► socket of the flooder   data: q     │ names a socket: `data`
//! ```

use std::fs::File;
use std::io;
use std::os::fd::{AsFd, AsRawFd, BorrowedFd, OwnedFd, RawFd};
use std::os::unix::fs::FileExt as _;

use rustix::event::epoll::{self, EventData, EventFlags};
use rustix::process::Pid;
use rustix::time::Timespec;

/// Clients asked for in one go who speaks. With more of them speaking at once, the rest is asked for the next time.
const AT_ONCE: usize = 64;

/// Room for what the kernel says of a hundred sockets, in bytes. What is longer is read in more than one go.
const ROOM: usize = 8_192;

/// Somebody that libwayland listens to: what its epoll says of him.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub(super) struct Speaker(u64);

/// Whose share of the time a speaker's reading is: all connections of a process have one.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(super) enum Source {
    /// The process that made the connection.
    Process(Pid),
    /// The connection alone: this process made it, or nobody knows who did.
    Connection(Speaker),
}

/// Somebody who is about to be read.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Suspect {
    pub(in crate::session) speaker: Speaker,
    pub(in crate::session) socket: Option<RawFd>,
    pub(in crate::session) source: Source,
}

/// libwayland's event loop.
#[derive(Debug)]
pub(super) struct Listening {
    epoll: OwnedFd,
    /// What the kernel says of it: kept open, since on a busy screen it is read with each reading of the clients.
    told: Option<File>,
}

impl Listening {
    /// What `display`'s event loop listens to.
    ///
    /// # Errors
    /// When the process has no descriptors left.
    pub fn of(display: impl AsFd) -> io::Result<Self> {
        let epoll = display.as_fd().try_clone_to_owned()?;
        let told = File::open(format!("/proc/self/fdinfo/{}", epoll.as_raw_fd())).ok();
        Ok(Listening { epoll, told })
    }

    /// Those who have said something that was not read, without those who are muted.
    pub fn speaking(&self) -> Vec<Speaker> {
        let mut events = Vec::with_capacity(AT_ONCE);
        // Of whom is not known that he floods, he is not muted.
        let _ = epoll::wait(&self.epoll, rustix::buffer::spare_capacity(&mut events), Some(&Timespec::default()));
        // Whose socket has room, after he was unmuted, has said nothing.
        let speaking = events.iter().filter(|event| { event.flags } != EventFlags::OUT);
        speaking.map(|event| Speaker(event.data.u64())).collect()
    }

    /// What this one says is no news any more, until [`unmute`](Self::unmute). Whether that could be done.
    pub fn mute(&self, speaker: Speaker) -> bool {
        self.listen_for(speaker, EventFlags::empty())
    }

    /// Hears this one again. Whether he is still there.
    ///
    /// If libwayland has something left to send to him it waits for room in his socket, too, which a muted one had no
    /// part in; that it finds some without need makes it set right itself what it waits for.
    pub fn unmute(&self, speaker: Speaker) -> bool {
        self.listen_for(speaker, EventFlags::IN | EventFlags::OUT)
    }

    #[expect(unsafe_code, reason = "the descriptor that is changed in the epoll is libwayland's")]
    fn listen_for(&self, speaker: Speaker, what: EventFlags) -> bool {
        let Some(socket) = self.socket(speaker) else { return false };
        // SAFETY: it was in the epoll a moment ago, so libwayland has it open; only this thread closes clients, and it is
        // borrowed for this call alone.
        let socket = unsafe { BorrowedFd::borrow_raw(socket) };
        epoll::modify(&self.epoll, socket, EventData::new_u64(speaker.0), what).is_ok()
    }

    /// Those who have said something, with all that is known of them.
    pub fn suspects(&self) -> Vec<Suspect> {
        let speakers = self.speaking();
        let sockets = self.sockets(&speakers);
        let suspect = |speaker: &Speaker| {
            let socket = sockets.iter().find(|(other, _)| other == speaker).map(|(_, socket)| *socket);
            let process = socket.and_then(process).filter(|process| *process != rustix::process::getpid());
            Suspect { speaker: *speaker, socket, source: process.map_or(Source::Connection(*speaker), Source::Process) }
        };
        speakers.iter().map(suspect).collect()
    }

    /// The sockets of these.
    fn sockets(&self, speakers: &[Speaker]) -> Vec<(Speaker, RawFd)> {
        if speakers.is_empty() {
            return Vec::new();
        }
        let text = self.told.as_ref().map(text_of).unwrap_or_default();
        let targets = text.lines().filter_map(target).map(|(socket, data)| (Speaker(data), socket));
        targets.filter(|(speaker, _)| speakers.contains(speaker)).collect()
    }

    /// The descriptor in the epoll.
    fn socket(&self, speaker: Speaker) -> Option<RawFd> {
        self.sockets(&[speaker]).first().map(|(_, socket)| *socket)
    }
}

/// What is in a file of the kernel's now; as much of it as could be read.
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

/// Who made the connection.
#[expect(unsafe_code, reason = "the socket is libwayland's")]
fn process(socket: RawFd) -> Option<Pid> {
    // SAFETY: it was in libwayland's epoll a moment ago, and only this thread closes clients.
    let socket = unsafe { BorrowedFd::borrow_raw(socket) };
    rustix::net::sockopt::socket_peercred(socket).ok().map(|credentials| credentials.pid)
}

/// `tfd: DESCRIPTOR events: MASK data: HEX …`, one line for each descriptor in the set.
fn target(line: &str) -> Option<(RawFd, u64)> {
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

    /// `wl_display.sync` in the bytes of the wire, with this new id.
    fn sync(id: u32) -> Vec<u8> {
        [1, 12 << 16, id].iter().flat_map(|word: &u32| word.to_ne_bytes()).collect()
    }

    /// A real display of libwayland's, and what was answered to each of two clients in bytes.
    struct World {
        display: Display<()>,
        listening: Listening,
        clients: [UnixStream; 2],
    }

    impl World {
        fn new() -> Self {
            let display = Display::new().unwrap();
            let listening = Listening::of(&display).unwrap();
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
    fn one_who_is_muted_is_not_read_while_another_is_and_is_read_later() {
        let mut world = World::new();
        world.says(0, 2);
        let [flooder] = world.listening.speaking()[..] else { panic!("one speaks") };
        assert!(world.listening.mute(flooder));
        assert_eq!(world.listening.speaking(), [], "muted");
        world.says(1, 2);
        assert_eq!(world.answered(), [false, true]);
        assert!(world.listening.unmute(flooder));
        assert_eq!(world.answered(), [true, false]);
        // Who has nothing more to say is no news: no wait for room is left over.
        world.answered();
        assert_eq!(world.listening.speaking(), []);
    }

    #[test]
    fn one_who_hangs_up_is_noticed_though_muted_and_gone_then() {
        let mut world = World::new();
        world.says(0, 2);
        let [flooder] = world.listening.speaking()[..] else { panic!("one speaks") };
        world.listening.mute(flooder);
        let (gone, stays) = UnixStream::pair().unwrap();
        drop(std::mem::replace(&mut world.clients[0], stays));
        drop(gone);
        assert_eq!(world.listening.speaking(), [flooder]);
        world.answered();
        assert_eq!(world.listening.speaking(), []);
        assert!(!world.listening.unmute(flooder), "he is gone");
    }

    #[test]
    fn a_line_of_the_kernel_s_says_which_descriptor_is_whose() {
        let line = "tfd:       12 events:       19 data:     7ffc1aa0  pos:0 ino:61af sdev:7";
        assert_eq!(target(line), Some((12, 0x7ffc_1aa0)));
        assert_eq!(target("flags:\t02"), None);
        assert_eq!(target("tfd: x data: 1"), None);
    }
}

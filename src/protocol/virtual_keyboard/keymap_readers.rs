//! Reader threads for keymap files on disks: one for each file, because a read may block for any time.
//!
//! A read that never returns keeps its thread for good, since it cannot be interrupted in the kernel. So a client with
//! a read that hangs gets no further readers, nor does any other client of its process; all other clients do:
//!
//! ```text
//!   a client's file ─┬─ a reader of its process is late ─────────────► refused
//!                    ├─ another of its files is read, or none is free ► waits in the queue
//!                    └─ else ─► read ─┬─ in time ────────────────────► compiled
//!                                     └─ late: no longer waited for ─► refused; the thread counts as late
//! ```

use std::time::{Duration, Instant};

use rustix::process::Pid;
use smithay::reexports::wayland_server::backend::ClientId;
use smithay::reexports::wayland_server::{Client, DisplayHandle};

use crate::guard;
use crate::input::KeyboardId;

/// Time limit for reading a file: a disk needs some seconds to spin up.
pub(super) const TIME_LIMIT: Duration = Duration::from_secs(5);
/// Readers of one process at the same time.
const MOST_OF_PROCESS: usize = 2;
/// Readers of all clients at the same time, without late readers: more would only wait for the same disk.
const MOST_READING: usize = 8;
/// Late readers at most. To exhaust them, a user would have to start so many malicious processes. Each takes 64 KB at
/// most.
const MOST_LATE: usize = 64;

/// The client of a file, and its process.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct KeymapOwner {
    pub(in crate::protocol) client: ClientId,
    /// `None` if unknown, or if this process itself made the connection, as tests do.
    pub(in crate::protocol) process: Option<Pid>,
}

impl KeymapOwner {
    /// The owner that stands for `client`.
    pub fn of(client: &Client, display: &DisplayHandle) -> Self {
        let process = guard::process_of(display, client).and_then(|process| Pid::from_raw(process.cast_signed()));
        KeymapOwner { client: client.id(), process: process.filter(|process| *process != rustix::process::getpid()) }
    }

    fn is_of_the_process_of(&self, other: &KeymapOwner) -> bool {
        self.client == other.client || self.process.is_some() && self.process == other.process
    }
}

/// A keymap that a keyboard waits for: the keyboard and the keymap's number.
pub(super) type WantedKeymap = (KeyboardId, u64);

/// Whether and when a file may be read.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum ReadPermission {
    Now,
    Later,
    Refused,
}

#[derive(Debug)]
struct KeymapReader {
    number: u64,
    owner: KeymapOwner,
    until: Instant,
    /// `None`: the reader is late.
    wanted: Option<WantedKeymap>,
}

#[derive(Debug, Default)]
pub(super) struct KeymapReaders {
    list: Vec<KeymapReader>,
    last: u64,
}

impl KeymapReaders {
    /// Whether a file of `owner` may be read.
    pub fn may_read(&self, owner: &KeymapOwner) -> ReadPermission {
        let of_process = || self.list.iter().filter(|reader| reader.owner.is_of_the_process_of(owner));
        let late = self.list.iter().filter(|reader| reader.wanted.is_none()).count();
        if late >= MOST_LATE || of_process().any(|reader| reader.wanted.is_none()) {
            return ReadPermission::Refused;
        }
        let is_being_read = self.list.iter().any(|reader| reader.owner.client == owner.client);
        let is_full = self.list.len() - late >= MOST_READING || of_process().count() >= MOST_OF_PROCESS;
        if is_being_read || is_full { ReadPermission::Later } else { ReadPermission::Now }
    }

    /// Adds a reader, which is late after `until`. Returns its number.
    pub fn begin(&mut self, owner: KeymapOwner, wanted: WantedKeymap, until: Instant) -> u64 {
        self.last += 1;
        self.list.push(KeymapReader { number: self.last, owner, until, wanted: Some(wanted) });
        self.last
    }

    /// Removes a reader. Returns the keymap that it has read, unless it was late.
    pub fn end(&mut self, number: u64) -> Option<WantedKeymap> {
        let place = self.list.iter().position(|reader| reader.number == number)?;
        self.list.swap_remove(place).wanted
    }

    /// Marks readers as late whose time is over. Returns their keymaps.
    pub fn expire(&mut self, now: Instant) -> Vec<(KeymapOwner, WantedKeymap)> {
        let late = self.list.iter_mut().filter(|reader| reader.until <= now);
        late.filter_map(|reader| reader.wanted.take().map(|wanted| (reader.owner.clone(), wanted))).collect()
    }

    #[cfg(test)]
    pub fn is_empty(&self) -> bool {
        self.list.is_empty()
    }

    /// When the next reader is late.
    pub fn next_expiry(&self) -> Option<Instant> {
        self.list.iter().filter(|reader| reader.wanted.is_some()).map(|reader| reader.until).min()
    }
}

/// `count` clients without a known process.
#[cfg(test)]
pub(super) fn owners(count: usize) -> (smithay::reexports::wayland_server::Display<()>, Vec<KeymapOwner>) {
    let display = smithay::reexports::wayland_server::Display::<()>::new().unwrap();
    let connect = |_| {
        let (_theirs, ours) = std::os::unix::net::UnixStream::pair().unwrap();
        let client = display.handle().insert_client(ours, std::sync::Arc::new(())).unwrap().id();
        KeymapOwner { client, process: None }
    };
    let owners = (0..count).map(connect).collect();
    (display, owners)
}

#[cfg(test)]
mod tests {
    use super::*;

    const WANTED: WantedKeymap = (KeyboardId::Virtual(1), 1);

    #[test]
    fn process_with_a_hanging_read_gets_no_reader_until_it_ends() {
        let (_display, mut owners) = owners(3);
        let process = Pid::from_raw(4_711);
        owners.iter_mut().take(2).for_each(|owner| owner.process = process);
        let [bad, same, good] = &owners[..] else { panic!("three") };
        let (mut readers, start) = (KeymapReaders::default(), Instant::now());
        let hangs = readers.begin(bad.clone(), WANTED, start + TIME_LIMIT);
        assert_eq!(
            [bad, same, good].map(|owner| readers.may_read(owner)),
            [ReadPermission::Later, ReadPermission::Now, ReadPermission::Now]
        );
        assert_eq!(readers.next_expiry(), Some(start + TIME_LIMIT));
        assert_eq!(readers.expire(start + TIME_LIMIT / 2), []);
        assert_eq!(readers.expire(start + TIME_LIMIT), [(bad.clone(), WANTED)]);
        assert_eq!((readers.next_expiry(), readers.expire(start + TIME_LIMIT * 2)), (None, vec![]));
        assert_eq!(
            [bad, same, good].map(|owner| readers.may_read(owner)),
            [ReadPermission::Refused, ReadPermission::Refused, ReadPermission::Now]
        );
        assert_eq!(readers.end(hangs), None, "nobody waits any more");
        assert_eq!(readers.may_read(bad), ReadPermission::Now);
    }

    #[test]
    fn readers_of_a_process_are_limited_and_late_readers_do_not_count() {
        let (_display, mut owners) = owners(MOST_LATE + 1);
        let (mut readers, start) = (KeymapReaders::default(), Instant::now());
        let process = Pid::from_raw(4_711);
        owners.iter_mut().take(3).for_each(|owner| owner.process = process);
        for owner in &owners[..MOST_OF_PROCESS] {
            readers.begin(owner.clone(), WANTED, start + TIME_LIMIT);
        }
        assert_eq!(readers.may_read(&owners[2]), ReadPermission::Later);
        for owner in &owners[3..3 + MOST_READING - MOST_OF_PROCESS] {
            assert_eq!(readers.may_read(owner), ReadPermission::Now);
            readers.begin(owner.clone(), WANTED, start + TIME_LIMIT);
        }
        assert_eq!(readers.may_read(&owners[20]), ReadPermission::Later);
        assert_eq!(readers.expire(start + TIME_LIMIT).len(), MOST_READING);
        assert_eq!(readers.may_read(&owners[20]), ReadPermission::Now);
        // The number of threads stays limited.
        for owner in &owners[1 + MOST_READING..] {
            readers.begin(owner.clone(), WANTED, start + TIME_LIMIT);
        }
        readers.expire(start + TIME_LIMIT);
        let (_other, another) = super::owners(1);
        assert_eq!(readers.may_read(&another[0]), ReadPermission::Refused);
    }
}

//! Who reads keymaps that lie on disks: a thread for each, for nobody knows how long that takes.
//!
//! A read that never returns keeps its thread for good: nothing can be done to it in the kernel. So whoever hands over
//! what hangs is refused further readers, as are all of his process, while others have theirs:
//!
//! ```text
//!   a client's file ─┬─ a reader of his process is late ────────────► refused
//!                    ├─ he is being read already, or no reader free ─► waits in line
//!                    └─ else ─► read ─┬─ in time ───────────────────► compiled
//!                                     └─ late: nobody waits any more ► refused; the thread is not counted as free
//! ```

use std::time::{Duration, Instant};

use rustix::process::Pid;
use smithay::reexports::wayland_server::backend::ClientId;
use smithay::reexports::wayland_server::{Client, DisplayHandle};

use crate::guard;
use crate::input::KeyboardId;

/// A file is read in so much time: a disk that slept needs some seconds to turn again.
pub(super) const TIME_LIMIT: Duration = Duration::from_secs(5);
/// Files of one process that are read at the same time.
const MOST_OF_PROCESS: usize = 2;
/// Files of all that are read in time at the same time: more only wait for the same disk.
const MOST_READING: usize = 8;
/// Threads whose reads hang: from so many processes somebody would have had to be started to jam them. Each has 64 KB at
/// most.
const MOST_LATE: usize = 64;

/// Whose file it is.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Owner {
    pub(in crate::protocol) client: ClientId,
    /// Nobody's, where this process itself made the connection.
    pub(in crate::protocol) process: Option<Pid>,
}

impl Owner {
    /// Who speaks as `client`.
    pub fn of(client: &Client, display: &DisplayHandle) -> Self {
        let process = guard::process_of(display, client).and_then(|process| Pid::from_raw(process.cast_signed()));
        Owner { client: client.id(), process: process.filter(|process| *process != rustix::process::getpid()) }
    }

    fn is_of_the_process_of(&self, other: &Owner) -> bool {
        self.client == other.client || self.process.is_some() && self.process == other.process
    }
}

/// A keymap that somebody waits for: whose, and the number that it was handed over with.
pub(super) type Wanted = (KeyboardId, u64);

/// Whether a file may be read.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Turn {
    Now,
    Later,
    Never,
}

#[derive(Debug)]
struct Reader {
    number: u64,
    owner: Owner,
    until: Instant,
    /// None: it is late.
    wanted: Option<Wanted>,
}

/// Everybody who reads.
#[derive(Debug, Default)]
pub(super) struct Readers {
    list: Vec<Reader>,
    last: u64,
}

impl Readers {
    /// Whether a file of `owner` may be read.
    pub fn turn(&self, owner: &Owner) -> Turn {
        let of_process = || self.list.iter().filter(|reader| reader.owner.is_of_the_process_of(owner));
        let late = self.list.iter().filter(|reader| reader.wanted.is_none()).count();
        if late >= MOST_LATE || of_process().any(|reader| reader.wanted.is_none()) {
            return Turn::Never;
        }
        let is_being_read = self.list.iter().any(|reader| reader.owner.client == owner.client);
        let is_full = self.list.len() - late >= MOST_READING || of_process().count() >= MOST_OF_PROCESS;
        if is_being_read || is_full { Turn::Later } else { Turn::Now }
    }

    /// One begins, and is late after `until`; the number of it.
    pub fn begin(&mut self, owner: Owner, wanted: Wanted, until: Instant) -> u64 {
        self.last += 1;
        self.list.push(Reader { number: self.last, owner, until, wanted: Some(wanted) });
        self.last
    }

    /// One has ended. What it read is wanted by, if anybody still does.
    pub fn end(&mut self, number: u64) -> Option<Wanted> {
        let place = self.list.iter().position(|reader| reader.number == number)?;
        self.list.swap_remove(place).wanted
    }

    /// Those who do not get what they wanted in time.
    pub fn expire(&mut self, now: Instant) -> Vec<(Owner, Wanted)> {
        let late = self.list.iter_mut().filter(|reader| reader.until <= now);
        late.filter_map(|reader| reader.wanted.take().map(|wanted| (reader.owner.clone(), wanted))).collect()
    }

    /// Whether nobody reads.
    #[cfg(test)]
    pub fn is_empty(&self) -> bool {
        self.list.is_empty()
    }

    /// When the next of them is late.
    pub fn next_expiry(&self) -> Option<Instant> {
        self.list.iter().filter(|reader| reader.wanted.is_some()).map(|reader| reader.until).min()
    }
}

/// `count` clients, none of which is anybody's process.
#[cfg(test)]
pub(super) fn owners(count: usize) -> (smithay::reexports::wayland_server::Display<()>, Vec<Owner>) {
    let display = smithay::reexports::wayland_server::Display::<()>::new().unwrap();
    let connect = |_| {
        let (_theirs, ours) = std::os::unix::net::UnixStream::pair().unwrap();
        let client = display.handle().insert_client(ours, std::sync::Arc::new(())).unwrap().id();
        Owner { client, process: None }
    };
    let owners = (0..count).map(connect).collect();
    (display, owners)
}

#[cfg(test)]
mod tests {
    use super::*;

    const WANTED: Wanted = (KeyboardId::Virtual(1), 1);

    #[test]
    fn who_hangs_is_refused_with_all_of_his_process_until_he_does_not_and_others_are_read() {
        let (_display, mut owners) = owners(3);
        let process = Pid::from_raw(4_711);
        owners.iter_mut().take(2).for_each(|owner| owner.process = process);
        let [bad, same, good] = &owners[..] else { panic!("three") };
        let (mut readers, start) = (Readers::default(), Instant::now());
        let hangs = readers.begin(bad.clone(), WANTED, start + TIME_LIMIT);
        assert_eq!([bad, same, good].map(|owner| readers.turn(owner)), [Turn::Later, Turn::Now, Turn::Now]);
        assert_eq!(readers.next_expiry(), Some(start + TIME_LIMIT));
        assert_eq!(readers.expire(start + TIME_LIMIT / 2), []);
        assert_eq!(readers.expire(start + TIME_LIMIT), [(bad.clone(), WANTED)]);
        assert_eq!((readers.next_expiry(), readers.expire(start + TIME_LIMIT * 2)), (None, vec![]));
        assert_eq!([bad, same, good].map(|owner| readers.turn(owner)), [Turn::Never, Turn::Never, Turn::Now]);
        assert_eq!(readers.end(hangs), None, "nobody waits any more");
        assert_eq!(readers.turn(bad), Turn::Now);
    }

    #[test]
    fn a_process_has_few_readers_and_late_ones_take_nobodys_place() {
        let (_display, mut owners) = owners(MOST_LATE + 1);
        let (mut readers, start) = (Readers::default(), Instant::now());
        let process = Pid::from_raw(4_711);
        owners.iter_mut().take(3).for_each(|owner| owner.process = process);
        for owner in &owners[..MOST_OF_PROCESS] {
            readers.begin(owner.clone(), WANTED, start + TIME_LIMIT);
        }
        assert_eq!(readers.turn(&owners[2]), Turn::Later);
        for owner in &owners[3..3 + MOST_READING - MOST_OF_PROCESS] {
            assert_eq!(readers.turn(owner), Turn::Now);
            readers.begin(owner.clone(), WANTED, start + TIME_LIMIT);
        }
        assert_eq!(readers.turn(&owners[20]), Turn::Later);
        assert_eq!(readers.expire(start + TIME_LIMIT).len(), MOST_READING);
        assert_eq!(readers.turn(&owners[20]), Turn::Now);
        // Threads do not become more without end.
        for owner in &owners[1 + MOST_READING..] {
            readers.begin(owner.clone(), WANTED, start + TIME_LIMIT);
        }
        readers.expire(start + TIME_LIMIT);
        let (_other, another) = super::owners(1);
        assert_eq!(readers.turn(&another[0]), Turn::Never);
    }
}

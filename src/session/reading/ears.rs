//! Which clients have said something that was not read yet.
//!
//! libwayland reads all clients together or none. While it reads none, since one of them floods, this knows when another
//! one speaks: an epoll of our own on duplicates of the clients' sockets, in which those that flood are muted.

use std::collections::BTreeMap;
use std::fmt;
use std::io;
use std::os::fd::{AsFd, BorrowedFd, OwnedFd};
use std::os::unix::net::UnixStream;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use rustix::event::epoll::{self, CreateFlags, EventData, EventFlags};
use rustix::time::Timespec;

/// Clients asked for in one go who speaks. With more of them speaking at once, the rest is asked for the next time.
const AT_ONCE: usize = 64;

/// A set of clients' sockets.
pub struct Ears {
    epoll: OwnedFd,
    clients: Mutex<Clients>,
}

#[derive(Default)]
struct Clients {
    sockets: BTreeMap<u64, OwnedFd>,
    next: u64,
    muted: Vec<u64>,
}

/// A client's place in the set; it leaves with this.
pub struct Ear {
    ears: Arc<Ears>,
    id: u64,
}

impl Ears {
    /// Of nobody yet.
    ///
    /// # Errors
    /// When the process has no descriptors left.
    pub(super) fn new() -> io::Result<Self> {
        Ok(Ears { epoll: epoll::create(CreateFlags::CLOEXEC)?, clients: Mutex::default() })
    }

    /// Takes a client's socket in.
    ///
    /// # Errors
    /// When the process has no descriptors left.
    pub fn add(self: &Arc<Self>, stream: &UnixStream) -> io::Result<Ear> {
        let socket: OwnedFd = stream.as_fd().try_clone_to_owned()?;
        let mut clients = self.clients();
        let id = clients.next;
        epoll::add(&self.epoll, &socket, EventData::new_u64(id), EventFlags::IN)?;
        clients.next += 1;
        clients.sockets.insert(id, socket);
        Ok(Ear { ears: Arc::clone(self), id })
    }

    /// Those who have said something, without those who are muted.
    pub(super) fn speaking(&self) -> Vec<u64> {
        let mut events = Vec::with_capacity(AT_ONCE);
        // What cannot be asked for is not muted, and so is heard.
        let _ = epoll::wait(&self.epoll, rustix::buffer::spare_capacity(&mut events), Some(&Timespec::default()));
        events.iter().map(|event| event.data.u64()).collect()
    }

    /// What these say is no news any more, until [`unmute`](Self::unmute). That they hang up still is.
    pub(super) fn mute(&self, ids: impl IntoIterator<Item = u64>) {
        let mut clients = self.clients();
        for id in ids {
            if self.listen_for(&clients, id, EventFlags::empty()) {
                clients.muted.push(id);
            }
        }
    }

    /// Hears everybody again.
    pub(super) fn unmute(&self) {
        let mut clients = self.clients();
        for id in std::mem::take(&mut clients.muted) {
            self.listen_for(&clients, id, EventFlags::IN);
        }
    }

    fn listen_for(&self, clients: &Clients, id: u64, what: EventFlags) -> bool {
        let socket = clients.sockets.get(&id);
        socket.is_some_and(|socket| epoll::modify(&self.epoll, socket, EventData::new_u64(id), what).is_ok())
    }

    fn clients(&self) -> MutexGuard<'_, Clients> {
        self.clients.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// Readable while somebody speaks who is not muted.
impl AsFd for Ears {
    fn as_fd(&self) -> BorrowedFd<'_> {
        self.epoll.as_fd()
    }
}

impl fmt::Debug for Ears {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Ears").field("clients", &self.clients().sockets.len()).finish_non_exhaustive()
    }
}

impl Ear {
    /// The client is gone: its socket is let go of.
    pub fn close(&self) {
        if let Some(socket) = self.ears.clients().sockets.remove(&self.id) {
            // Closing alone would not do: an epoll keeps a socket that has duplicates.
            let _ = epoll::delete(&self.ears.epoll, &socket);
        }
    }
}

impl Drop for Ear {
    fn drop(&mut self) {
        self.close();
    }
}

impl fmt::Debug for Ear {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_tuple("Ear").field(&self.id).finish()
    }
}

#[cfg(test)]
mod tests {
    use std::io::Write as _;

    use super::*;

    fn pair(ears: &Arc<Ears>) -> (UnixStream, Ear, UnixStream) {
        let (theirs, ours) = UnixStream::pair().unwrap();
        let ear = ears.add(&ours).unwrap();
        (theirs, ear, ours)
    }

    #[test]
    fn one_who_is_muted_hides_nobody_else_and_is_heard_again_later() {
        let ears = Arc::new(Ears::new().unwrap());
        let (mut flooder, flooding, _a) = pair(&ears);
        let (mut victim, other, _b) = pair(&ears);
        flooder.write_all(b"much").unwrap();
        assert_eq!(ears.speaking(), [flooding.id]);
        ears.mute([flooding.id]);
        flooder.write_all(b"more").unwrap();
        assert!(ears.speaking().is_empty(), "muted");
        victim.write_all(b"little").unwrap();
        assert_eq!(ears.speaking(), [other.id]);
        ears.unmute();
        assert_eq!(ears.speaking().len(), 2);
    }

    #[test]
    fn one_who_hangs_up_is_noticed_though_muted_and_forgotten_when_closed() {
        let ears = Arc::new(Ears::new().unwrap());
        let (flooder, flooding, _ours) = pair(&ears);
        ears.mute([flooding.id]);
        drop(flooder);
        assert_eq!(ears.speaking(), [flooding.id]);
        flooding.close();
        assert!(ears.speaking().is_empty());
        ears.unmute();
    }
}

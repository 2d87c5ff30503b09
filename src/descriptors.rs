//! How many file descriptors are left, and which connections are accepted while they last.
//!
//! Each client takes a descriptor, and so does each of its buffers. A process without free descriptors cannot even
//! refuse a connection: it stays in the listening socket and keeps waking the loop. So when nine tenths are in use no
//! new connection is accepted, and one descriptor is kept free: with it, connections are accepted and closed when all
//! others are used.

use std::fs::File;
use std::io;
use std::os::fd::{AsRawFd, OwnedFd, RawFd};
use std::os::unix::net::{UnixListener, UnixStream};
use std::sync::{Mutex, PoisonError};

use rustix::io::Errno;
use rustix::process::{Resource, getrlimit};

/// Of ten descriptors, so many may be in use before new connections are refused.
const TENTHS_IN_USE: u64 = 9;
/// Connections that are refused in one call.
const AT_ONCE: usize = 64;
/// Connections that the public socket accepts in one turn of the loop, at some 20 µs each. Without the limit, a client
/// that connects again and again as fast as it is accepted would block the loop.
const IN_A_TURN: usize = 32;

/// The limit of this process (`RLIMIT_NOFILE`, soft).
pub fn descriptor_limit() -> u32 {
    getrlimit(Resource::Nofile).current.map_or(u32::MAX, |most| u32::try_from(most).unwrap_or(u32::MAX))
}

/// Whether `descriptor`, the lowest that was free, leaves too few for new connections.
fn is_among_the_last(descriptor: RawFd) -> bool {
    let limit = getrlimit(Resource::Nofile).current.unwrap_or(u64::MAX);
    u64::from(descriptor.unsigned_abs()) >= limit.saturating_mul(TENTHS_IN_USE) / 10
}

/// Whether too few descriptors are left to begin anything new.
pub fn are_scarce() -> bool {
    // The kernel gives out the lowest that is free.
    spare().is_none_or(|probe| is_among_the_last(probe.as_raw_fd()))
}

/// Whether the next call of `accept` may succeed.
fn is_transient(error: &io::Error) -> bool {
    let scarce = [Errno::MFILE, Errno::NFILE, Errno::NOMEM, Errno::NOBUFS].map(Errno::raw_os_error);
    error.kind() == io::ErrorKind::WouldBlock || error.raw_os_error().is_some_and(|error| scarce.contains(&error))
}

/// Descriptors that are reserved for the session's own devices: displays and input devices, which are all opened again
/// after a switch of consoles. A device takes two, one of libseat and one of ours; a laptop with a dock has some 30
/// devices.
const RESERVED: usize = 64;

/// Open files that serve only to keep their descriptors.
static RESERVE: Mutex<Vec<OwnedFd>> = Mutex::new(Vec::new());

/// Fills the reserve for [`with_reserve`], as far as there are descriptors. It is empty before the first call.
pub fn reserve() {
    let mut reserve = RESERVE.lock().unwrap_or_else(PoisonError::into_inner);
    let missing = RESERVED.saturating_sub(reserve.len());
    reserve.extend(std::iter::from_fn(spare).take(missing));
}

/// Opens a device that the session cannot do without, with the descriptors of the reserve.
///
/// The reserve is freed before the first try, because libseat allows no second: its client for seatd closes the
/// connection when it has no descriptor for the answer, and its client for logind does not report this reason.
pub fn with_reserve<T>(open: impl FnOnce() -> T) -> T {
    RESERVE.lock().unwrap_or_else(PoisonError::into_inner).clear();
    let opened = open();
    reserve();
    opened
}

fn spare() -> Option<OwnedFd> {
    File::open("/dev/null").map(OwnedFd::from).ok()
}

/// Accepts connections. Keeps one descriptor free, to refuse connections with when there is no other.
#[derive(Debug)]
pub struct Acceptor {
    spare: Option<OwnedFd>,
    /// The log says already that no connection is accepted.
    is_shut: bool,
}

impl Acceptor {
    /// Opens the spare descriptor.
    pub fn new() -> Self {
        Acceptor { spare: spare(), is_shut: false }
    }

    /// The next connection that `accept` returns and that is let in. Refused connections are closed on the way.
    pub fn accept_next(&mut self, mut accept: impl FnMut() -> io::Result<Option<UnixStream>>) -> Option<UnixStream> {
        for _ in 0..AT_ONCE {
            match accept() {
                Ok(None) => return None,
                Ok(Some(stream)) if !is_among_the_last(stream.as_raw_fd()) => {
                    self.is_shut = false;
                    return Some(stream);
                }
                Ok(Some(stream)) => {
                    drop(stream);
                    self.log_refusal(None);
                }
                Err(error) if error.kind() == io::ErrorKind::WouldBlock => return None,
                Err(error) => {
                    self.log_refusal(Some(&error));
                    self.spare.take()?;
                    // With the spare descriptor the connection is accepted and closed.
                    let _ = accept();
                    self.spare = spare();
                }
            }
        }
        None
    }

    /// Passes waiting connections to `welcome`, `IN_A_TURN` at most. The rest waits for the next turn, so that a
    /// client which keeps connecting cannot block the loop.
    pub fn accept_all(
        &mut self,
        mut accept: impl FnMut() -> io::Result<Option<UnixStream>>,
        accepted: impl FnMut(UnixStream),
    ) {
        std::iter::from_fn(|| self.accept_next(&mut accept)).take(IN_A_TURN).for_each(accepted);
    }

    /// The next connection at a socket that a client listens on.
    ///
    /// # Errors
    /// When the socket can never accept again. A lack of descriptors is no error here.
    pub fn accept_next_from(&mut self, listener: &UnixListener) -> io::Result<Option<UnixStream>> {
        let mut broken = None;
        let next = self.accept_next(|| match listener.accept() {
            Ok((stream, _)) => Ok(Some(stream)),
            Err(error) if is_transient(&error) => Err(error),
            Err(error) => {
                broken = Some(error);
                Ok(None)
            }
        });
        broken.map_or(Ok(next), Err)
    }

    /// Logs, once, that connections are refused.
    fn log_refusal(&mut self, error: Option<&io::Error>) {
        if !std::mem::replace(&mut self.is_shut, true) {
            let error = error.map(tracing::field::display);
            tracing::warn!(error, "new connections are refused: nine of ten descriptors are in use");
        }
    }
}

impl Default for Acceptor {
    fn default() -> Self {
        Self::new()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    use rustix::process::{Rlimit, setrlimit};

    fn limit(current: u64) -> Rlimit {
        let before = getrlimit(Resource::Nofile);
        setrlimit(Resource::Nofile, Rlimit { current: Some(current), ..before }).unwrap();
        before
    }

    #[test]
    fn connections_accepted_in_a_turn_are_limited() {
        let mut comes = || UnixStream::pair().map(|(stream, _)| Some(stream));
        let mut inside = Vec::new();
        Acceptor::new().accept_all(&mut comes, |stream| {
            inside.push(stream);
            assert!(inside.len() <= IN_A_TURN, "too many are accepted in a turn");
        });
        assert_eq!(inside.len(), IN_A_TURN);
    }

    /// One test for all cases, because the limit that it changes applies to the whole process.
    #[test]
    fn connections_are_refused_while_descriptors_are_scarce() {
        let directory = tempfile::tempdir().unwrap();
        let path = directory.path().join("socket");
        let listener = UnixListener::bind(&path).unwrap();
        listener.set_nonblocking(true).unwrap();
        let accept = || match listener.accept() {
            Err(error) if error.kind() == io::ErrorKind::WouldBlock => Ok(None),
            accepted => accepted.map(|(stream, _)| Some(stream)),
        };
        let mut acceptor = Acceptor::new();
        let mut waiting: Vec<_> = (0..100).map(|_| UnixStream::connect(&path).unwrap()).collect();
        let inside: Vec<_> = (0..50).map(|_| acceptor.accept_next(accept).expect("there is room")).collect();
        let highest = inside.iter().map(AsRawFd::as_raw_fd).max().unwrap() as u64;
        assert!(!are_scarce());
        // Nine tenths are in use: new connections are refused.
        let before = limit(highest + 5);
        assert!(are_scarce());
        assert!(acceptor.accept_next(accept).is_none() && accept().unwrap().is_none(), "a connection still waits");
        // All descriptors are in use.
        waiting.extend((0..3).map(|_| UnixStream::connect(&path).unwrap_or_else(|_| panic!("the limit is too low"))));
        limit(highest + 1);
        assert!(acceptor.accept_next(accept).is_none());
        setrlimit(Resource::Nofile, before).unwrap();
        assert!(acceptor.accept_next(accept).is_none(), "a refused connection still waits");
        waiting.push(UnixStream::connect(&path).unwrap());
        assert!(acceptor.accept_next(accept).is_some());
        // The same at a client's socket, which is kept nevertheless.
        waiting.extend((0..3).map(|_| UnixStream::connect(&path).unwrap()));
        let before = limit(highest + 1);
        assert!(acceptor.accept_next_from(&listener).is_ok_and(|next| next.is_none()));
        setrlimit(Resource::Nofile, before).unwrap();
        waiting.push(UnixStream::connect(&path).unwrap());
        assert!(acceptor.accept_next_from(&listener).is_ok_and(|next| next.is_some()));
        let (none, _other) = UnixStream::pair().unwrap();
        assert!(
            acceptor.accept_next_from(&UnixListener::from(OwnedFd::from(none))).is_err(),
            "the socket does not listen"
        );
        // The session's devices can be opened when no other descriptor is left.
        reserve();
        let highest = spare().unwrap().as_raw_fd() as u64;
        let before = limit(highest + 1);
        let _all: Vec<_> = std::iter::from_fn(spare).collect();
        // libseat does not say that there was no descriptor, and a device takes two.
        let open = || File::open("/dev/null").map_err(|_| io::Error::from(Errno::BADMSG));
        assert!(open().is_err());
        let device = || open().and_then(|device| Ok((device.try_clone()?, device)));
        let opened = [with_reserve(device), with_reserve(device)];
        setrlimit(Resource::Nofile, before).unwrap();
        assert!(opened.iter().all(Result::is_ok), "{opened:?}");
    }
}

//! A client that floods: it sends requests as fast as the compositor reads them, and ignores the answers. The bench
//! measures its effect on other clients.
//!
//! It stands for a client on another core, so it takes the lowest priority. The bench is about the compositor's work
//! for it, not about the CPU time that it takes away where cores are few. On a single core the other clients need a
//! real-time class as well (`chrt`), since the fair scheduler gives even an idle process a tick of 4 ms now and then.

use std::os::fd::AsFd as _;

use rustix::event::{PollFd, PollFlags, poll};
use wayland_client::backend::WaylandError;

use super::error::ClientError;
use super::options::{ClientOptions, FloodKind};
use super::session::ProbeSession;
use crate::process::{ThreadClass, set_scheduling_class};
use crate::report::RunReport;
use upbeat_timing::time::{Clock as _, MonotonicClock};

/// Maps a window, prints `ready` on stdout, floods until stdin closes. `frames` of its report is the number of its
/// commits.
pub(super) fn run_flooder(options: &ClientOptions, flood: FloodKind) -> Result<RunReport, ClientError> {
    let mut session = ProbeSession::open(options)?;
    session.map()?;
    set_scheduling_class(ThreadClass::Idle);
    println!("ready");
    let started = MonotonicClock.now();
    let mut commits = 0;
    while !session.stdin_closed {
        for _ in 0..flood.batch() {
            session.client.flood(flood);
        }
        commits += flood.batch();
        send(&mut session)?;
        // Events must be read, because the compositor disconnects a client that never reads. That is another case.
        session.read_events(None)?;
    }
    let seconds = (MonotonicClock.now() - started).as_seconds_f64();
    Ok(RunReport { load: "flood".into(), kind: format!("{flood:?}"), frames: commits, seconds, ..RunReport::default() })
}

/// Flushes all requests, and waits while the socket is full.
fn send(session: &mut ProbeSession<'_>) -> Result<(), ClientError> {
    loop {
        match session.connection.flush() {
            Ok(()) => return Ok(()),
            Err(WaylandError::Io(error)) if error.kind() == std::io::ErrorKind::WouldBlock => {
                poll(&mut [PollFd::from_borrowed_fd(session.connection.as_fd(), PollFlags::OUT)], None)?;
            }
            Err(error) => return Err(error.into()),
        }
    }
}

//! A client that floods: requests as fast as the compositor takes them, whatever it is told. What it costs the others is
//! the measurement.
//!
//! It stands for a client on another core, so it makes itself the least important process there is: what is measured is
//! what the compositor does for it, not the CPU time that it takes away where cores are few. On a single core that takes
//! the others in a real-time class besides (`chrt`), since the fair one gives even an idle process a tick of 4 ms now and
//! then.

use std::os::fd::AsFd as _;

use rustix::event::{PollFd, PollFlags, poll};
use wayland_client::backend::WaylandError;

use super::error::ClientError;
use super::options::{ClientOptions, Flood};
use super::session::Session;
use crate::process::{Class, take_class};
use crate::report::RunReport;
use upbeat_timing::time::{Clock as _, MonotonicClock};

/// Maps a window, says `ready` on stdout, floods until stdin closes. Its report has its commits as `frames`.
pub(super) fn run_flooder(options: &ClientOptions, flood: Flood) -> Result<RunReport, ClientError> {
    let mut session = Session::open(options)?;
    session.map()?;
    take_class(Class::Idle);
    println!("ready");
    let started = MonotonicClock.now();
    let mut commits = 0;
    while !session.stdin_closed {
        for _ in 0..flood.batch() {
            session.client.flood(flood);
        }
        commits += flood.batch();
        send(&mut session)?;
        // Answers are read: a client that does not is another case, and loses its connection.
        session.read_events(None)?;
    }
    let seconds = (MonotonicClock.now() - started).as_seconds_f64();
    Ok(RunReport { load: "flood".into(), kind: format!("{flood:?}"), frames: commits, seconds, ..RunReport::default() })
}

/// Sends everything that was requested, waiting for the socket where it is full.
fn send(session: &mut Session<'_>) -> Result<(), ClientError> {
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

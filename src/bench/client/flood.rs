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
use crate::bench::report::RunReport;
use crate::time::{Clock as _, MonotonicClock};

/// Maps a window, says `ready` on stdout, floods until stdin closes. Its report has its commits as `frames`.
pub(super) fn run_flooder(options: &ClientOptions, flood: Flood) -> Result<RunReport, ClientError> {
    let mut session = Session::open(options)?;
    session.map()?;
    run_when_nobody_else_does();
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

/// Leaves the class that it was started in, for the one of those who run when nobody else wants to.
#[expect(unsafe_code, reason = "no safe wrapper sets a scheduling class")]
fn run_when_nobody_else_does() {
    let parameters = libc::sched_param { sched_priority: 0 };
    // SAFETY: `parameters` outlives the call, which only reads it; 0 is the calling thread. Failing would make the
    // measurement stricter, not wrong.
    let _ = unsafe { libc::sched_setscheduler(0, libc::SCHED_IDLE, &raw const parameters) };
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

//! Waiting for Wayland events with a deadline, for the bench clients.

use std::io;
use std::os::fd::AsFd as _;

use rustix::event::{PollFd, PollFlags, Timespec, poll};
use wayland_client::backend::WaylandError;
use wayland_client::{DispatchError, EventQueue};

use upbeat_timing::time::{Clock as _, Instant, MonotonicClock, NANOS_PER_SECOND, Span};

/// Flushes requests, then waits until events were dispatched or the time is `until`.
///
/// # Errors
/// If the connection breaks, or `poll` fails.
pub(super) fn wait<State, Error>(
    queue: &mut EventQueue<State>,
    state: &mut State,
    until: Option<Instant>,
) -> Result<(), Error>
where
    Error: From<DispatchError> + From<WaylandError> + From<io::Error>,
{
    if queue.dispatch_pending(state)? > 0 {
        return Ok(());
    }
    queue.flush()?;
    let Some(guard) = queue.prepare_read() else { return Ok(()) };
    let left = until.map(|until| (until - MonotonicClock.now()).max(Span::ZERO));
    let timeout = left.map(|left| Timespec {
        tv_sec: left.as_nanos() / NANOS_PER_SECOND,
        tv_nsec: left.as_nanos() % NANOS_PER_SECOND,
    });
    let connection = guard.connection_fd();
    let mut descriptors = [PollFd::from_borrowed_fd(connection.as_fd(), PollFlags::IN)];
    match poll(&mut descriptors, timeout.as_ref()) {
        Ok(0) | Err(rustix::io::Errno::INTR) => return Ok(()),
        Ok(_) => {}
        Err(error) => return Err(io::Error::from(error).into()),
    }
    guard.read()?;
    queue.dispatch_pending(state)?;
    Ok(())
}

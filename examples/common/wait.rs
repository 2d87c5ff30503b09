//! Waiting for Wayland events with a deadline.

use std::io;
use std::os::fd::AsFd as _;

use rustix::event::{PollFd, PollFlags, Timespec, poll};
use upbeat_timing::time::{Clock as _, Instant, MonotonicClock, NANOS_PER_SECOND, Span};
use wayland_client::EventQueue;

/// Flushes requests, then waits until events were dispatched or the time is `until`.
pub fn wait<State>(queue: &mut EventQueue<State>, state: &mut State, until: Option<Instant>) -> anyhow::Result<()> {
    if queue.dispatch_pending(state)? > 0 {
        return Ok(());
    }
    queue.flush()?;
    let Some(guard) = queue.prepare_read() else { return Ok(()) };
    let left = until.map(|until| (until - MonotonicClock.now()).max(Span::ZERO).as_nanos());
    let left = left.map(|nanos| Timespec { tv_sec: nanos / NANOS_PER_SECOND, tv_nsec: nanos % NANOS_PER_SECOND });
    let connection = guard.connection_fd();
    let mut descriptors = [PollFd::from_borrowed_fd(connection.as_fd(), PollFlags::IN)];
    match poll(&mut descriptors, left.as_ref()) {
        Ok(0) | Err(rustix::io::Errno::INTR) => return Ok(()),
        Ok(_) => {}
        Err(error) => return Err(io::Error::from(error).into()),
    }
    guard.read()?;
    queue.dispatch_pending(state)?;
    Ok(())
}

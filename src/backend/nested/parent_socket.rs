//! The socket of the parent's connection behind one pollable descriptor. Nothing here blocks.

use std::cell::{Cell, RefCell};
use std::io::ErrorKind;
use std::os::fd::OwnedFd;

use rustix::event::epoll;
use wayland_client::Connection;
use wayland_client::backend::WaylandError;

use crate::backend::timer::Timer;
use upbeat_timing::time::{Clock, Instant, MonotonicClock};

/// The connection with its timer and epoll set, shared by all windows.
pub(super) struct ParentSocket {
    connection: Connection,
    epoll: OwnedFd,
    /// The socket is full: the rest is sent when it is writable.
    full: Cell<bool>,
    timer: RefCell<Timer>,
    /// The time for which the timer is set.
    armed: Cell<Option<Instant>>,
}

impl ParentSocket {
    /// Watches `connection` with an epoll set of its own.
    pub(super) fn new(connection: Connection) -> rustix::io::Result<Self> {
        let epoll = epoll::create(epoll::CreateFlags::CLOEXEC)?;
        epoll::add(&epoll, connection.backend().poll_fd(), epoll::EventData::new_u64(0), epoll::EventFlags::IN)?;
        let timer = Timer::new()?;
        epoll::add(&epoll, &timer, epoll::EventData::new_u64(0), epoll::EventFlags::IN)?;
        Ok(ParentSocket {
            connection,
            epoll,
            full: Cell::new(false),
            timer: RefCell::new(timer),
            armed: Cell::new(None),
        })
    }

    pub(super) const fn connection(&self) -> &Connection {
        &self.connection
    }

    /// Readable when the connection or the timer needs attention.
    pub(super) const fn descriptor(&self) -> &OwnedFd {
        &self.epoll
    }

    /// Sends pending requests as far as the socket takes them. A lost connection is noticed by the next read.
    pub(super) fn flush(&self) {
        let full =
            matches!(self.connection.flush(), Err(WaylandError::Io(error)) if error.kind() == ErrorKind::WouldBlock);
        if self.full.replace(full) == full {
            return;
        }
        let wanted = if full { epoll::EventFlags::IN | epoll::EventFlags::OUT } else { epoll::EventFlags::IN };
        let backend = self.connection.backend();
        if let Err(error) = epoll::modify(&self.epoll, backend.poll_fd(), epoll::EventData::new_u64(0), wanted) {
            tracing::error!(%error, "the parent's socket cannot be polled");
        }
    }

    /// Sets the timer for `deadline` at the latest. An earlier setting stays, and may find nothing to do, so that
    /// the timer is not set anew with every frame.
    pub(super) fn wake_by(&self, deadline: Instant) {
        if self.armed.get().is_none_or(|armed| armed > deadline) {
            self.wake_at(Some(deadline));
        }
    }

    /// Sets the timer for `deadline`, or stops it.
    pub(super) fn wake_at(&self, deadline: Option<Instant>) {
        self.armed.set(deadline);
        if let Err(error) = self.timer.borrow_mut().arm(deadline, MonotonicClock.now()) {
            tracing::error!(%error, "the timer for hidden windows cannot be set");
        }
    }

    /// Whether the timer has expired by `now`.
    pub(super) fn has_expired(&self, now: Instant) -> bool {
        self.armed.get().is_some_and(|armed| armed <= now)
    }
}

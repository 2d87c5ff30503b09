//! The connection to the parent: its windows, and one pollable descriptor for all of them.

use std::cell::RefCell;
use std::io::ErrorKind;
use std::os::fd::{AsFd, BorrowedFd};
use std::rc::Rc;

use wayland_client::backend::WaylandError;
use wayland_client::globals::registry_queue_init;
use wayland_client::{Connection, DispatchError, EventQueue};

use super::NestedError;
use super::event::{ParentEvent, WindowId};
use super::output::NestedOutput;
use super::parent::ParentState;
use super::parent_socket::ParentSocket;
use super::window::ParentToplevel;
use upbeat_timing::time::{Clock, MonotonicClock};

/// A connection to another compositor.
///
/// The descriptor ([`AsFd`]) is readable when [`dispatch`](Self::dispatch) has work to do, and never while the parent
/// sends nothing and no frame waits. A duplicate of it can be a level-triggered `calloop` source.
pub struct NestedBackend {
    queue: EventQueue<ParentState>,
    parent: ParentState,
    socket: Rc<ParentSocket>,
    last_window: u32,
}

impl NestedBackend {
    /// Connects to the compositor that `WAYLAND_DISPLAY` (or `WAYLAND_SOCKET`) names. Blocks for its answers, so it
    /// is for the start of a session.
    pub fn connect() -> Result<Self, NestedError> {
        let connection = Connection::connect_to_env().map_err(|source| {
            let variable = std::env::var_os("WAYLAND_DISPLAY").map_or("not set".to_owned(), |name| format!("{name:?}"));
            NestedError::Connect { variable, source }
        })?;
        let (globals, mut queue) = registry_queue_init::<ParentState>(&connection).map_err(NestedError::Registry)?;
        let mut parent = ParentState::bind(&globals, &queue.handle())?;
        // Wait for the events of the clock, the outputs and the seat.
        queue.roundtrip(&mut parent).map_err(|error| lost(&connection, &error.into()))?;
        if parent.clock.is_none() {
            tracing::warn!(
                "the parent does not report when frames are shown: refreshes are guessed from its callbacks"
            );
        }
        let socket = Rc::new(ParentSocket::new(connection)?);
        Ok(NestedBackend { queue, parent, socket, last_window: 0 })
    }

    /// Opens a window of `size` logical pixels and waits until the parent has configured it.
    pub fn open(&mut self, name: &str, size: (i32, i32)) -> Result<NestedOutput, NestedError> {
        self.last_window += 1;
        let id = WindowId(self.last_window);
        let handle = self.queue.handle();
        let objects = self.parent.make_window(id, &format!("Upbeat – {name}"), &handle);
        let refresh = self.parent.refresh();
        let window = ParentToplevel::new(id, objects, self.socket.clone(), handle, size, refresh)?;
        window.surface().commit();
        let window = Rc::new(RefCell::new(window));
        self.parent.windows.push(window.clone());
        while !window.borrow().is_configured() {
            let dispatched = self.queue.blocking_dispatch(&mut self.parent);
            dispatched.map_err(|error| lost(self.socket.connection(), &error.into()))?;
        }
        Ok(NestedOutput::new(name.to_owned(), window))
    }

    /// Reads the parent's events, and handles answers that are overdue. Never blocks. On an error the parent is
    /// gone, and no event follows. [Flush](Self::flush) when its events have been handled.
    pub fn dispatch(&mut self) -> Result<(), NestedError> {
        let read = self.read();
        let now = MonotonicClock.now();
        if self.socket.has_expired(now) {
            let next = self.parent.windows.iter().filter_map(|window| window.borrow_mut().expire(now)).min();
            self.socket.wake_at(next);
        }
        self.collect();
        read.map_err(|error| lost(self.socket.connection(), &error))
    }

    /// Sends pending requests as far as the socket takes them; the rest follows when it is writable.
    pub fn flush(&self) {
        self.socket.flush();
    }

    fn read(&mut self) -> Result<(), ParentError> {
        self.queue.dispatch_pending(&mut self.parent)?;
        if let Some(guard) = self.queue.prepare_read() {
            match guard.read() {
                Ok(_) => {}
                Err(WaylandError::Io(error)) if error.kind() == ErrorKind::WouldBlock => {}
                Err(error) => return Err(error.into()),
            }
        }
        self.queue.dispatch_pending(&mut self.parent)?;
        Ok(())
    }

    /// Appends the windows' events to the seat's, and removes closed windows.
    fn collect(&mut self) {
        let ParentState { windows, events, .. } = &mut self.parent;
        for window in windows.iter() {
            while let Some(event) = window.borrow_mut().poll_parent_event() {
                events.push_back(event);
            }
        }
        windows.retain(|window| !window.borrow().is_closed());
    }

    /// The next event that concerns more than one output's frames.
    pub fn poll_event(&mut self) -> Option<ParentEvent> {
        self.parent.events.pop_front()
    }
}

impl AsFd for NestedBackend {
    fn as_fd(&self) -> BorrowedFd<'_> {
        self.socket.descriptor().as_fd()
    }
}

/// Why a connection has ended.
#[derive(Debug, thiserror::Error)]
enum ParentError {
    #[error(transparent)]
    Wayland(#[from] WaylandError),
    #[error(transparent)]
    Dispatch(#[from] DispatchError),
}

/// The error of a connection that has ended. A protocol error is preferred, since it says more than that the socket is
/// closed.
fn lost(connection: &Connection, error: &ParentError) -> NestedError {
    match connection.protocol_error() {
        Some(error) => NestedError::Refused(error.to_string()),
        None => NestedError::Gone(error.to_string()),
    }
}

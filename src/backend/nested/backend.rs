//! The connection to the parent: its windows, and one pollable descriptor for all of them.

use std::cell::RefCell;
use std::io::ErrorKind;
use std::os::fd::{AsFd, BorrowedFd, OwnedFd};
use std::rc::Rc;

use rustix::event::{PollFd, PollFlags, Timespec, poll};
use wayland_client::backend::WaylandError;
use wayland_client::globals::registry_queue_init;
use wayland_client::{Connection, DispatchError, EventQueue};
use wayland_protocols::wp::linux_dmabuf::zv1::client::zwp_linux_buffer_params_v1::Flags;
use wayland_protocols::wp::linux_dmabuf::zv1::client::zwp_linux_dmabuf_v1::ZwpLinuxDmabufV1;

use super::NestedError;
use super::device_allocator::{DeviceTrial, SharedAllocator, parameters};
use super::event::{ParentEvent, WindowId};
use super::output::NestedOutput;
use super::parent::ParentState;
use super::parent_socket::ParentSocket;
use super::window::ParentToplevel;
use crate::backend::DeviceRenderer;
use crate::backend::plane::DeviceMemory;
use upbeat_timing::time::{Clock, MonotonicClock, Span};

/// How long the start waits for the parent's answer to a test. It may import the buffer first, between two frames.
const ANSWERED_WITHIN: Span = Span::from_seconds(3);

/// A connection to another compositor.
///
/// The descriptor ([`AsFd`]) is readable when [`dispatch`](Self::dispatch) has work to do, and never while the parent
/// sends nothing and no frame waits. A duplicate of it can be a level-triggered `calloop` source.
pub struct NestedBackend {
    queue: EventQueue<ParentState>,
    parent: ParentState,
    socket: Rc<ParentSocket>,
    last_window: u32,
    /// Allocates the buffers of windows in the memory of the parent's device.
    device: Option<SharedAllocator>,
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
        Ok(NestedBackend { queue, parent, socket, last_window: 0, device: None })
    }

    /// Whether the parent reads buffers in the memory of a device.
    pub fn reads_device_memory(&self) -> bool {
        self.parent.formats.known().is_some()
    }

    /// The number of that device (`st_rdev`), if the parent names it.
    pub fn device(&self) -> Option<u64> {
        self.parent.formats.known().and_then(|(device, _)| device)
    }

    /// Gives the windows that are opened from now on buffers in the memory of device `number`, which `file` opens.
    /// Blocks for the parent's and the renderer's answers. Returns the layout of the buffers, for messages; the error is
    /// a sentence.
    pub fn use_device(
        &mut self,
        number: u64,
        file: OwnedFd,
        renderer: &mut dyn DeviceRenderer,
    ) -> Result<String, String> {
        let (_, formats) = self.parent.formats.known().ok_or("the parent lists no formats")?;
        let (Some(dmabuf), sync) = self.parent.device_objects() else { return Err("the parent takes none".to_owned()) };
        let trial = DeviceTrial::new(file, number, &formats, renderer)?;
        let takes = |memory: &DeviceMemory| self.takes(&dmabuf, memory);
        let allocator = trial.choose(renderer, takes, dmabuf.clone(), sync)?;
        let waits = if allocator.sync().is_some() { "explicit" } else { "implicit" };
        let layout = format!("{}, {waits} synchronisation", allocator.layout());
        self.device = Some(Rc::new(allocator));
        Ok(layout)
    }

    /// Whether the parent takes this buffer. Fails if the parent is gone or does not answer.
    fn takes(&mut self, dmabuf: &ZwpLinuxDmabufV1, memory: &DeviceMemory) -> Result<bool, String> {
        let parameters = parameters(dmabuf, memory, &self.queue.handle());
        let (width, height) = (memory.width.cast_signed(), memory.height.cast_signed());
        self.parent.tested = None;
        parameters.create(width, height, memory.format, Flags::empty());
        let end = MonotonicClock.now() + ANSWERED_WITHIN;
        while self.parent.tested.is_none() {
            let left = end - MonotonicClock.now();
            if left <= Span::ZERO {
                return Err("the parent does not say whether it takes our buffers".to_owned());
            }
            self.socket.flush();
            let timeout = Timespec::try_from(left.to_duration()).ok();
            let mut socket = [PollFd::new(self.socket.descriptor(), PollFlags::IN)];
            // After a signal the time that is left is polled.
            let _ = poll(&mut socket, timeout.as_ref());
            self.read().map_err(|error| lost(self.socket.connection(), &error).to_string())?;
        }
        parameters.destroy();
        Ok(self.parent.tested == Some(true))
    }

    /// Opens a window of `size` logical pixels and waits until the parent has configured it.
    pub fn open(&mut self, name: &str, size: (i32, i32)) -> Result<NestedOutput, NestedError> {
        self.last_window += 1;
        let id = WindowId(self.last_window);
        let handle = self.queue.handle();
        let objects = self.parent.make_window(id, &format!("Upbeat – {name}"), &handle);
        let shape = (size, self.parent.refresh());
        let window = ParentToplevel::new(id, objects, self.socket.clone(), handle, shape, self.device.clone())
            .map_err(NestedError::Memory)?;
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

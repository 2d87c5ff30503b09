//! The seat: who may open display and input devices, and when. Through libseat, which asks logind or seatd or, for
//! root, nobody.
//!
//! Leaving the seat is a handshake, so that no commit of ours meets the next session's:
//!
//! ```text
//!   libseat ── Disabled ──► nothing more is committed, input closed ── acknowledge ──► the other session
//!   libseat ── Enabled ───► devices again, every output drawn anew
//! ```

use std::cell::RefCell;
use std::collections::{HashMap, VecDeque};
use std::io;
use std::os::fd::{AsFd, AsRawFd, OwnedFd, RawFd};
use std::path::Path;
use std::rc::Rc;
use std::time::{Duration, Instant};

use crate::descriptors;

/// How long the seat may take to become ours at the start.
const PATIENCE: Duration = Duration::from_secs(5);
/// How long one wait for it lasts, in milliseconds.
const STEP_MS: i32 = 100;

/// The devices of this seat are ours from now on, or no longer.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum SeatEvent {
    /// They may be used.
    Enabled,
    /// They are wanted by another session: stop, then [`acknowledge`](Seat::acknowledge).
    Disabled,
}

/// There is no seat to be had.
#[derive(Debug, thiserror::Error)]
pub enum SeatError {
    /// Nobody gives us one.
    #[error(
        "no seat: {0}. A session on the displays of this machine is started from a virtual terminal or by a display \
         manager, with logind or seatd running (see LIBSEAT_BACKEND)"
    )]
    None(io::Error),
    /// It does not become ours.
    #[error("the seat {0} did not become active within {PATIENCE:?}: is another session in the foreground?")]
    Inactive(String),
}

/// A seat that was opened; closed when dropped, which gives the console back.
pub struct Seat {
    seat: libseat::Seat,
    name: String,
    events: Rc<RefCell<VecDeque<SeatEvent>>>,
    /// By the descriptor that was handed out.
    devices: HashMap<RawFd, libseat::Device>,
}

impl std::fmt::Debug for Seat {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Seat").field("name", &self.name).finish_non_exhaustive()
    }
}

impl Seat {
    /// Takes the seat of the terminal that we were started on, and waits until it is ours.
    pub fn open() -> Result<Self, SeatError> {
        let events = Rc::new(RefCell::new(VecDeque::new()));
        let queue = events.clone();
        let seat = libseat::Seat::open(move |_, event| {
            queue.borrow_mut().push_back(match event {
                libseat::SeatEvent::Enable => SeatEvent::Enabled,
                libseat::SeatEvent::Disable => SeatEvent::Disabled,
            });
        });
        let mut seat = seat.map_err(|error| SeatError::None(io_error(error)))?;
        let name = seat.name().to_owned();
        let mut seat = Seat { seat, name, events, devices: HashMap::new() };
        let start = Instant::now();
        while seat.poll_event() != Some(SeatEvent::Enabled) {
            if start.elapsed() > PATIENCE {
                return Err(SeatError::Inactive(seat.name));
            }
            seat.seat.dispatch(STEP_MS).map_err(|error| SeatError::None(io_error(error)))?;
        }
        descriptors::reserve();
        Ok(seat)
    }

    /// Such as `seat0`.
    pub fn name(&self) -> &str {
        &self.name
    }

    /// Readable when [`dispatch`](Self::dispatch) wants to be called.
    pub fn descriptor(&mut self) -> io::Result<OwnedFd> {
        self.seat.get_fd().map_err(io_error)?.try_clone_to_owned()
    }

    /// Hears what there is to hear; see [`poll_event`](Self::poll_event).
    pub fn dispatch(&mut self) -> io::Result<()> {
        self.seat.dispatch(0).map(|_| ()).map_err(io_error)
    }

    /// What was heard, in order.
    pub fn poll_event(&mut self) -> Option<SeatEvent> {
        self.events.borrow_mut().pop_front()
    }

    /// Nothing of ours is under way on any device: the other session may have them.
    pub fn acknowledge(&mut self) -> io::Result<()> {
        self.seat.disable().map_err(io_error)
    }

    /// Opens a display or input device. Give it back with [`close`](Self::close).
    pub fn open_device(&mut self, path: &Path) -> io::Result<OwnedFd> {
        if path.to_str().is_none() {
            return Err(io::ErrorKind::InvalidFilename.into());
        }
        let (device, descriptor) = descriptors::with_reserve(|| {
            let device = self.seat.open_device(&path).map_err(io_error)?;
            // libseat closes its own; ours is for the caller.
            let descriptor = device.as_fd().try_clone_to_owned();
            io::Result::Ok((device, descriptor))
        })?;
        match descriptor {
            Ok(descriptor) => {
                self.devices.insert(descriptor.as_raw_fd(), device);
                Ok(descriptor)
            }
            Err(error) => {
                self.give_back(device);
                Err(error)
            }
        }
    }

    /// Gives a device back.
    pub fn close(&mut self, descriptor: OwnedFd) {
        self.forget(descriptor.as_raw_fd());
    }

    /// The same for a descriptor that somebody else closes, or has closed.
    pub fn forget(&mut self, descriptor: RawFd) {
        if let Some(device) = self.devices.remove(&descriptor) {
            self.give_back(device);
        }
    }

    fn give_back(&mut self, device: libseat::Device) {
        if let Err(error) = self.seat.close_device(device) {
            tracing::debug!(error = %io_error(error), "a device could not be given back to the seat");
        }
        // Its descriptors make up for those that clients took meanwhile.
        descriptors::reserve();
    }

    /// Asks for another virtual terminal. Nothing may come of it.
    pub fn switch_terminal(&mut self, number: u32) -> io::Result<()> {
        let number = i32::try_from(number).map_err(|_| io::Error::from(io::ErrorKind::InvalidInput))?;
        self.seat.switch_session(number).map_err(io_error)
    }
}

fn io_error(error: impl Into<io::Error>) -> io::Error {
    error.into()
}

//! The seat: permission to open display and input devices. It uses libseat, which asks logind or seatd, or opens the
//! devices itself if we are root.
//!
//! Leaving the seat is a handshake, so that no commit of ours collides with a commit of the next session:
//!
//! ```text
//!   libseat ── Disabled ──► stop commits, close input ── acknowledge ──► the other session
//!   libseat ── Enabled ───► open devices again, draw every output anew
//! ```

use std::cell::RefCell;
use std::collections::{HashMap, VecDeque};
use std::io;
use std::os::fd::{AsFd, AsRawFd, OwnedFd, RawFd};
use std::path::Path;
use std::rc::Rc;
use std::time::{Duration, Instant};

use crate::descriptors;

/// How long the start may wait until the seat is enabled.
const PATIENCE: Duration = Duration::from_secs(5);
/// The timeout of one dispatch during this wait, in milliseconds.
const STEP_MS: i32 = 100;

/// The seat was enabled or disabled.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum SeatEvent {
    /// The devices may be used.
    Enabled,
    /// Another session takes the devices: stop, then [`acknowledge`](Seat::acknowledge).
    Disabled,
}

/// Why the seat could not be opened.
#[derive(Debug, thiserror::Error)]
pub enum SeatError {
    /// libseat opened no seat.
    #[error(
        "no seat: {0}. A session on the displays of this machine is started from a virtual terminal or by a display \
         manager, with logind or seatd running (see LIBSEAT_BACKEND)"
    )]
    None(io::Error),
    /// The seat was opened but not enabled in time.
    #[error("the seat {0} did not become active within {PATIENCE:?}: is another session in the foreground?")]
    Inactive(String),
}

/// An open seat. Dropping it closes it, which gives the console back.
pub struct Seat {
    seat: libseat::Seat,
    name: String,
    events: Rc<RefCell<VecDeque<SeatEvent>>>,
    /// Keyed by the descriptor that [`Seat::open_device`] returned.
    devices: HashMap<RawFd, libseat::Device>,
}

impl std::fmt::Debug for Seat {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Seat").field("name", &self.name).finish_non_exhaustive()
    }
}

impl Seat {
    /// Opens the seat of the terminal that we were started on, and waits until it is enabled.
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

    pub fn name(&self) -> &str {
        &self.name
    }

    /// Readable when [`dispatch`](Self::dispatch) has work to do.
    pub fn descriptor(&mut self) -> io::Result<OwnedFd> {
        self.seat.get_fd().map_err(io_error)?.try_clone_to_owned()
    }

    /// Reads pending events; see [`poll_event`](Self::poll_event).
    pub fn dispatch(&mut self) -> io::Result<()> {
        self.seat.dispatch(0).map(|_| ()).map_err(io_error)
    }

    /// The next event, in order.
    pub fn poll_event(&mut self) -> Option<SeatEvent> {
        self.events.borrow_mut().pop_front()
    }

    /// Hands the devices over to the other session. No commit of ours may be in flight on any of them.
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
            // libseat closes its own descriptor, so the caller gets a duplicate.
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

    /// Like [`close`](Self::close), for a descriptor that other code closes or has closed.
    pub fn forget(&mut self, descriptor: RawFd) {
        if let Some(device) = self.devices.remove(&descriptor) {
            self.give_back(device);
        }
    }

    fn give_back(&mut self, device: libseat::Device) {
        if let Err(error) = self.seat.close_device(device) {
            tracing::debug!(error = %io_error(error), "a device could not be given back to the seat");
        }
        // The freed descriptors refill the reserve, of which clients may have taken a part meanwhile.
        descriptors::reserve();
    }

    /// Asks for another virtual terminal. The switch may be refused without an error.
    pub fn switch_terminal(&mut self, number: u32) -> io::Result<()> {
        let number = i32::try_from(number).map_err(|_| io::Error::from(io::ErrorKind::InvalidInput))?;
        self.seat.switch_session(number).map_err(io_error)
    }
}

fn io_error(error: impl Into<io::Error>) -> io::Error {
    error.into()
}

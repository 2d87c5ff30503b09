//! Events that the kernel received after this turn had read its input. Right before a frame is submitted they are read
//! as well, so that planes have the newest position.

use std::cell::RefCell;
use std::rc::Rc;

use crate::state::State;

/// Input devices whose events can be read at any time.
pub trait ReadableDevices {
    /// Handles all events that have arrived, without waiting. Returns whether there were any.
    fn read(&mut self, state: &mut State) -> bool;
}

/// Input devices that the seat shares with the event loop.
pub type SharedDevices = Rc<RefCell<dyn ReadableDevices>>;

/// The devices of the seat that can be read between two turns of the event loop.
#[derive(Default)]
pub(super) struct SeatDevices {
    devices: Option<SharedDevices>,
    /// Events were read in this turn, after its other work had begun.
    has_late_events: bool,
}

impl std::fmt::Debug for SeatDevices {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("SeatDevices").field("has_late_events", &self.has_late_events).finish_non_exhaustive()
    }
}

/// Sets the devices that are read before a frame is submitted. Without this call only the event loop reads input.
pub fn set_devices(state: &mut State, devices: SharedDevices) {
    state.input.devices.devices = Some(devices);
}

/// Handles the events that have arrived since this turn read its input.
pub(super) fn read(state: &mut State) {
    let Some(devices) = state.input.devices.devices.clone() else { return };
    // The devices are being read already if an event has led here.
    let Ok(mut devices) = devices.try_borrow_mut() else { return };
    if devices.read(state) {
        state.input.devices.has_late_events = true;
    }
}

/// Whether events were read in this turn after its other work had begun. Only another turn handles all their effects, so
/// the caller has to start it at once.
pub fn take_late_events(state: &mut State) -> bool {
    std::mem::take(&mut state.input.devices.has_late_events)
}

//! Real input devices, through libinput: keyboards, mice, touchpads, touchscreens, graphics tablets and switches become
//! [`InputEvent`]s in the turn of the loop in which they arrive. Nothing is polled.
//!
//! Times are the device's own (`CLOCK_MONOTONIC`, when the kernel saw the event).

mod gesture;
mod settings;
mod tablet;
mod translate;

use std::cell::RefCell;
use std::os::fd::{AsFd, OwnedFd};
use std::path::Path;
use std::rc::Rc;

use input::event::switch::Switch;
use input::event::{DeviceEvent, Event, EventTrait};
use input::{Device, DeviceCapability, Libinput, LibinputInterface};

use super::{HostSession as _, InputEvent, KeyboardId, ReadableDevices};
use crate::backend::seat::Seat;
use crate::state::State;
use upbeat_timing::time::Clock;

/// The input devices are not available.
#[derive(Debug, thiserror::Error)]
pub enum DeviceError {
    /// libinput does not accept the seat.
    #[error("no input devices on {0}: is udev running?")]
    Seat(String),
    /// The event source cannot be created.
    #[error("cannot wait for input events: {0}")]
    Io(#[from] std::io::Error),
}

/// Opens devices through the seat.
struct SeatDeviceOpener(Rc<RefCell<Seat>>);

impl LibinputInterface for SeatDeviceOpener {
    fn open_restricted(&mut self, path: &Path, _flags: i32) -> Result<OwnedFd, i32> {
        let opened = self.0.borrow_mut().open_device(path);
        opened.map_err(|error| error.raw_os_error().unwrap_or(libc::ENODEV))
    }

    fn close_restricted(&mut self, descriptor: OwnedFd) {
        self.0.borrow_mut().close(descriptor);
    }
}

/// The input devices of a seat.
pub struct LibinputDevices {
    context: Libinput,
}

impl std::fmt::Debug for LibinputDevices {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("LibinputDevices").finish_non_exhaustive()
    }
}

impl LibinputDevices {
    /// Uses all devices of the seat, present and future.
    pub fn new(seat: &Rc<RefCell<Seat>>) -> Result<Self, DeviceError> {
        let mut context = Libinput::new_with_udev(SeatDeviceOpener(seat.clone()));
        let name = seat.borrow().name().to_owned();
        context.udev_assign_seat(&name).map_err(|()| DeviceError::Seat(name))?;
        Ok(LibinputDevices { context })
    }

    /// Becomes readable when [`dispatch`](Self::dispatch) has to be called.
    pub fn descriptor(&self) -> std::io::Result<OwnedFd> {
        self.context.as_fd().try_clone_to_owned()
    }

    /// Handles all events that have arrived. Returns whether there were any.
    pub fn dispatch(&mut self, state: &mut State) -> bool {
        if let Err(error) = self.context.dispatch() {
            tracing::error!(%error, "cannot read input devices");
        }
        let mut has_events = false;
        for event in &mut self.context {
            has_events = true;
            if let Event::Device(event) = &event {
                changed(state, event);
            }
            translate::translate(state, &event);
        }
        has_events
    }

    /// Closes all devices, because another session gets them. Pressed keys and buttons count as released.
    pub fn suspend(&mut self, state: &mut State) {
        self.context.suspend();
        self.dispatch(state);
        super::keyboard::remove(state, KeyboardId::Session);
    }

    /// Opens the devices again.
    pub fn resume(&mut self, state: &mut State) {
        if self.context.resume().is_err() {
            tracing::error!("cannot reopen the input devices");
        }
        self.dispatch(state);
    }
}

impl ReadableDevices for LibinputDevices {
    fn read(&mut self, state: &mut State) -> bool {
        self.dispatch(state)
    }
}

fn changed(state: &mut State, event: &DeviceEvent) {
    let mut device = event.device();
    match event {
        DeviceEvent::Added(_) => {
            tracing::info!(device = device.name(), "input device");
            settings::apply(&mut device, state.config());
            plugged(state, &device, true);
        }
        DeviceEvent::Removed(_) => {
            tracing::info!(device = device.name(), "input device gone");
            plugged(state, &device, false);
        }
        _ => {}
    }
}

/// Notes a touchscreen or a tablet-mode switch, and announces a graphics tablet to clients; or the removal.
fn plugged(state: &mut State, device: &Device, there: bool) {
    let is_touchscreen = device.has_capability(DeviceCapability::Touch);
    let has_switch = device.has_capability(DeviceCapability::Switch)
        && device.switch_has_switch(Switch::TabletMode).unwrap_or_default();
    match there {
        true => state.input.hardware.add(is_touchscreen, has_switch),
        false => state.input.hardware.remove(is_touchscreen, has_switch),
    }
    if device.has_capability(DeviceCapability::TabletTool) {
        let time = state.clock.now();
        super::handle(state, InputEvent::Tablet { time, tablet: tablet::describe(device), there });
    }
}

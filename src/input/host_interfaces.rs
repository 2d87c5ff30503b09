//! The interfaces from the seat to the session and to protocols.

use std::ffi::OsString;

use smithay::reexports::wayland_server::protocol::wl_surface::WlSurface;

use crate::bindings::ScreenshotOf;
use crate::config::Config;
use upbeat_timing::time::Instant;

/// The session that the seat belongs to: shortcuts act on it, and devices are set up by its configuration. It is a
/// trait because `session` depends on `input`, so `input` may not depend on `session`.
pub trait HostSession {
    fn run_terminal(&mut self);

    /// Starts a program with its arguments; the program ends with the session.
    fn run_program(&mut self, command: &[OsString]);

    /// Takes a screenshot and stores it.
    fn take_screenshot(&mut self, of: ScreenshotOf);

    fn end_session(&mut self);

    /// Switches to another virtual terminal (VT).
    fn switch_terminal(&mut self, number: u32);

    /// Keeps outputs as they are when the device is turned, or lets them turn again.
    fn toggle_rotation_lock(&mut self);

    /// Whether an output turns with the device, or is locked.
    fn is_rotation_lock_useful(&self) -> bool;

    /// The configuration in force.
    fn config(&self) -> &Config;
}

/// The `wl_seat` device that a high-resolution timestamp is for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum TimestampedDevice {
    /// Key events.
    Keyboard,
    /// Motion, buttons and wheels of the pointer.
    Pointer,
    /// Touch points.
    Touch,
}

/// The clients that asked for exact input times (`zwp_input_timestamps_v1`). It is a trait because `protocol` depends
/// on `input`, so `input` may not depend on `protocol`.
pub trait InputTimes {
    /// Sends the time `at` of the event that the client of `surface` gets next.
    fn send_time(&self, of: TimestampedDevice, surface: Option<&WlSurface>, at: Instant);
}

/// The clients that use graphics tablets. It is a trait of its own because another protocol implements it.
pub trait TabletClients {
    /// Whether the client of `surface` has bound a tablet seat.
    fn has_tablet_seat(&self, surface: &WlSurface) -> bool;
}

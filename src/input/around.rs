//! What the seat asks of those around it.

use std::ffi::OsString;

use smithay::reexports::wayland_server::protocol::wl_surface::WlSurface;

use crate::bindings::ScreenshotOf;
use crate::config::Config;
use upbeat_timing::time::Instant;

/// The session that the seat is a part of: shortcuts act on it, and devices are set as its configuration says. It is a trait
/// since `session` knows `input`, and `input` may not know `session`.
pub trait HostSession {
    /// Starts the terminal.
    fn run_terminal(&mut self);

    /// Starts a program with its arguments; it ends with the session.
    fn run_program(&mut self, command: &[OsString]);

    /// Takes a picture and keeps it.
    fn take_screenshot(&mut self, of: ScreenshotOf);

    /// Ends the session.
    fn end_session(&mut self);

    /// Shows another virtual terminal.
    fn switch_terminal(&mut self, number: u32);

    /// The configuration in force.
    fn config(&self) -> &Config;
}

/// Of what a time is told in nanoseconds.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Timed {
    /// Keys.
    Keyboard,
    /// Motion, buttons and wheels of the pointer.
    Pointer,
    /// Fingers.
    Touch,
}

/// The clients that want to know when events happened, more exactly than these carry it. It is a trait since `protocol` knows
/// `input`, and `input` may not know `protocol`.
pub trait InputTimes {
    /// The client of `surface` is about to be told what happened at `at`.
    fn tell_time(&self, of: Timed, surface: Option<&WlSurface>, at: Instant);
}

/// The clients that a tool's events go to. It is a trait for the same reason, and its own since another protocol implements it.
pub trait TabletClients {
    /// Whether the client of `surface` knows tablets.
    fn knows_tablets(&self, surface: &WlSurface) -> bool;
}

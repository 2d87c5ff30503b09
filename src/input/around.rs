//! What the seat asks of those around it.

use smithay::reexports::wayland_server::protocol::wl_surface::WlSurface;

/// The session that shortcuts speak to.
pub trait ShortcutTarget {
    /// Starts the terminal.
    fn run_terminal(&mut self);

    /// Ends the session.
    fn end_session(&mut self);

    /// Shows another virtual terminal.
    fn switch_terminal(&mut self, number: u32);
}

/// The clients that a tool's events go to.
pub trait TabletClients {
    /// Whether the client of `surface` knows tablets.
    fn knows_tablets(&self, surface: &WlSurface) -> bool;
}

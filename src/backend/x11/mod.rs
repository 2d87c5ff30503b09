//! Windows on an X11 server: one for each output, for where there is no Wayland compositor to be nested in.
//!
//! X has no presentation times that a plain window could have without the Present extension, and a server may be a
//! picture in memory (Xvfb) or far away. So refreshes are *software vsync*, and the log says so: a grid of our own at the
//! rate of the primary monitor, on which a frame counts as light at the first tick after it was sent.
//!
//! ```text
//!   grid      │              │              │
//!   submit       ▲ the damage is sent     ▲
//!   light                    ●              ●  Presented{time: the tick, sequence: its number}
//! ```
//!
//! | part | what it is |
//! |---|---|
//! | `grid` | the ticks: no I/O |
//! | `refresh` | how often the screen refreshes, by RandR |
//! | `window` | one window: its size, its two buffers, the frame that waits for its tick |
//! | `transport` | how its pictures get to the server: shared memory (MIT-SHM), else the connection |
//! | `input` | keys, buttons, wheel and pointer; auto-repeat is left out |
//! | `touch` | fingers (XInput 2.2) |
//! | [`backend`], [`output`] | the connection and its descriptor; a handle per output |
//!
//! Where pictures go through the connection, a server that does not read makes us wait for it: that is not the fast path.

pub mod backend;
mod clockwork;
mod grid;
mod input;
pub mod output;
mod refresh;
mod touch;
mod transport;
mod window;

pub use backend::X11Backend;
pub use output::X11Output;

/// An X server that cannot be had, or is had no more.
#[derive(Debug, thiserror::Error)]
pub enum X11Error {
    /// There is nobody to connect to.
    #[error("no X server to be nested in: {0}")]
    Connect(#[from] x11rb::errors::ConnectError),
    /// The screen has no pixels of 24 bits in 32.
    #[error("the screen of the X server has no pixels of 24 bits in 32 that we could draw")]
    Pixels,
    /// The server has ended, or has closed the connection.
    #[error("the X server is gone: {0}")]
    Gone(#[from] x11rb::errors::ConnectionError),
    /// The server answered with an error.
    #[error("the X server refused a request: {0}")]
    Refused(#[from] x11rb::errors::ReplyError),
    /// The server has no names left for windows.
    #[error("the X server has no room for a window: {0}")]
    Full(#[from] x11rb::errors::ReplyOrIdError),
    /// The system has no descriptors left.
    #[error("the X server cannot be waited for: {0}")]
    System(#[from] rustix::io::Errno),
}

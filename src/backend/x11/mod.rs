//! X11 backend: a window on an X server for each output, for machines without a Wayland compositor to be nested in.
//!
//! Without the Present extension a plain window gets no presentation times from X, and a server may be a picture in
//! memory (Xvfb) or far away. So refreshes are *software vsync*, which is logged: a grid of our own at the rate of the
//! primary monitor. A frame counts as light at the first tick after it was sent.
//!
//! ```text
//!   grid      │              │              │
//!   submit       ▲ the damage is sent     ▲
//!   light                    ●              ●  Presented{time: the tick, sequence: its number}
//! ```
//!
//! | part | contents |
//! |---|---|
//! | `grid` | the ticks: no I/O |
//! | `refresh` | the screen's refresh rate, from RandR |
//! | `window` | one window: its size, its two buffers, the frame that waits for its tick |
//! | `transport` | sends frames to the server: through shared memory (MIT-SHM), else through the connection |
//! | `input` | keys, buttons, wheel and pointer; key repeat is dropped |
//! | `touch` | touch events (XInput 2.2) |
//! | [`backend`], [`output`] | the connection and its descriptor; a handle per output |
//!
//! Where frames go through the connection, a server that does not read blocks us: that is not the fast path.

pub mod backend;
mod grid;
mod input;
pub mod output;
mod refresh;
mod tick_timer;
mod touch;
mod transport;
mod window;

pub use backend::X11Backend;
pub use output::X11Output;

/// The X server cannot be used, or not any more.
#[derive(Debug, thiserror::Error)]
pub enum X11Error {
    /// The connection to the server failed.
    #[error("no X server to be nested in: {0}")]
    Connect(#[from] x11rb::errors::ConnectError),
    /// The screen does not have 24-bit pixels stored in 32 bits.
    #[error("the screen of the X server does not have 24-bit pixels stored in 32 bits")]
    Pixels,
    /// The server has ended, or has closed the connection.
    #[error("the X server is gone: {0}")]
    Gone(#[from] x11rb::errors::ConnectionError),
    /// The server answered with an error.
    #[error("the X server refused a request: {0}")]
    Refused(#[from] x11rb::errors::ReplyError),
    /// The server has no resource ids left for windows.
    #[error("the X server has no resource ids left for a window: {0}")]
    Full(#[from] x11rb::errors::ReplyOrIdError),
    /// The system has no descriptors left.
    #[error("the connection to the X server cannot be polled: {0}")]
    System(#[from] rustix::io::Errno),
}

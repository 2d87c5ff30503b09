//! Windows in another Wayland compositor, the *parent*: one `xdg_toplevel` for each output.
//!
//! What makes it more than a window with a picture is time. The parent reports when each frame was shown
//! (`wp_presentation`); those reports, on our clock, are the vblanks of the output, so that clients in here are paced by
//! the light of the screen that they are on in the end:
//! ```text
//!   parent    ── latch ────── light(k) ───────────────── latch ──── light(k+1) ──►
//!                 ▲              │ wp_presentation_feedback ▲           │
//!                 │commit        ▼                          │commit     ▼
//!   this      ────┘           Presented{time, sequence}  ───┘        Presented
//!             latch ─ compose ─►◄── submit_lead ───────────►  (learned: see `lead`)
//! ```
//! A parent without reports leaves its frame callbacks to guess from: *software vsync*, and the log says so.
//!
//! | part | what it is |
//! |---|---|
//! | `frames`, `lead`, `stale`, `clock` | what becomes of a frame, how early the parent wants it, what a buffer lacks, whose time it is: no I/O |
//! | `window`, `pool` | one window: its objects, its size, its buffers |
//! | `parent`, `dispatch`, `input` | what the parent has and says |
//! | [`backend`], [`output`], `wire` | the glue: one descriptor to wait for, a handle per output |
//!
//! Nothing here blocks after the start: requests that the parent does not read are sent later, and there is at most one
//! frame of them per window. Nothing polls: the one timer runs while a frame waits for an answer.

pub mod backend;
mod clock;
mod dispatch;
mod event;
mod frames;
mod input;
mod lead;
pub mod output;
mod parent;
mod pool;
mod stale;
mod window;
mod wire;

pub use backend::NestedBackend;
pub use event::{ParentEvent, WindowId};
pub use output::NestedOutput;

/// A parent that cannot be had, or is had no more.
#[derive(Debug, thiserror::Error)]
pub enum NestedError {
    /// There is nobody to connect to.
    #[error("no Wayland compositor to be nested in (WAYLAND_DISPLAY is {variable}): {source}")]
    Connect {
        /// What the variable says.
        variable: String,
        /// Why not.
        source: wayland_client::ConnectError,
    },
    /// The parent does not say what it has.
    #[error("the parent compositor does not say what it offers: {0}")]
    Registry(wayland_client::globals::GlobalError),
    /// The parent lacks something that there is no way around.
    #[error("the parent compositor has no {interface} of version {least} or later")]
    Missing {
        /// What it lacks.
        interface: &'static str,
        /// The oldest version that would do.
        least: u32,
    },
    /// The parent has ended, or has closed the connection.
    #[error("the parent compositor is gone: {0}")]
    Gone(String),
    /// The parent says that we broke a rule.
    #[error("the parent compositor closed the connection over an error: {0}")]
    Refused(String),
    /// The system has no memory or no descriptors left.
    #[error("a window in the parent compositor cannot be made: {0}")]
    System(#[from] rustix::io::Errno),
}

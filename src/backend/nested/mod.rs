//! Nested backend: windows in another Wayland compositor, the *parent*; one `xdg_toplevel` for each output.
//!
//! Unlike an ordinary window it has vblanks: the parent reports when each frame was shown (`wp_presentation`). These
//! times, converted to our clock, are the vblanks of the output. So its clients are paced by the light of the real
//! screen:
//! ```text
//!   parent    ── latch ────── light(k) ───────────────── latch ──── light(k+1) ──►
//!                 ▲              │ wp_presentation_feedback ▲           │
//!                 │commit        ▼                          │commit     ▼
//!   this      ────┘           Presented{time, sequence}  ───┘        Presented
//!             latch ─ compose ─►◄── submit_lead ───────────►  (learned: see `submit_lead`)
//! ```
//! Without such reports, refreshes are guessed from the parent's frame callbacks (*software vsync*), which is logged.
//!
//! | part | contents |
//! |---|---|
//! | `frame_states`, `submit_lead` | states of frames, the learned submit lead: no I/O |
//! | `stale_region`, `clock` | stale regions of buffers, clock conversion: no I/O |
//! | `window` | one window: its objects, its size, its frames |
//! | `window_buffers`, `pool` | its buffers in shared memory, into which frames are copied |
//! | `device_pool`, `device_allocator`, `parent_device`, `buffer_timeline` | its buffers on the parent's device, into which a GPU draws |
//! | `parent`, `parent_formats`, `dispatch`, `device_events`, `input` | the parent's globals and events |
//! | [`backend`], [`output`], `parent_socket` | one pollable descriptor, a handle per output |
//!
//! Nothing here waits after the start, but for the allocation of buffers on a device, after a frame that has used the
//! last one up and when a window changes its size. Requests that the parent does not read are sent later, and they are at most one
//! frame per window. Nothing polls: the one timer runs only while a frame waits for an answer.

pub mod backend;
mod buffer_timeline;
mod clock;
mod device_allocator;
mod device_events;
mod device_pool;
mod dispatch;
mod event;
mod frame_states;
mod input;
pub mod output;
mod parent;
mod parent_device;
mod parent_formats;
mod parent_socket;
mod pool;
mod stale_region;
mod submit_lead;
mod window;
mod window_buffers;

pub use backend::NestedBackend;
pub use event::{ParentEvent, WindowId};
pub use output::NestedOutput;

/// The parent cannot be used, or not any more.
#[derive(Debug, thiserror::Error)]
pub enum NestedError {
    /// The connection to the parent failed.
    #[error("no Wayland compositor to be nested in (WAYLAND_DISPLAY is {variable}): {source}")]
    Connect {
        /// The value of `WAYLAND_DISPLAY`.
        variable: String,
        source: wayland_client::ConnectError,
    },
    /// The parent's globals could not be listed.
    #[error("the globals of the parent compositor cannot be listed: {0}")]
    Registry(wayland_client::globals::GlobalError),
    /// The parent lacks a required global.
    #[error("the parent compositor has no {interface} of version {least} or later")]
    Missing {
        /// The name of the missing interface.
        interface: &'static str,
        /// The oldest version that we can use.
        least: u32,
    },
    /// The parent has ended, or has closed the connection.
    #[error("the parent compositor is gone: {0}")]
    Gone(String),
    /// The parent ended the connection with a protocol error.
    #[error("the parent compositor closed the connection over an error: {0}")]
    Refused(String),
    /// There is no memory for a window's buffers.
    #[error("a window in the parent compositor has no buffers: {0}")]
    Memory(String),
    /// The system has no memory or no descriptors left.
    #[error("a window in the parent compositor cannot be created: {0}")]
    System(#[from] rustix::io::Errno),
}

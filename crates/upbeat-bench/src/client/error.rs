//! Errors of the probe.

use wayland_client::DispatchError;
use wayland_client::backend::WaylandError;

use upbeat_timing::time::Span;

/// Longest time from mapping a window to its first shown frames.
pub(super) const MAPPING_LIMIT: Span = Span::from_seconds(20);
/// Frames shown before a window counts as mapped.
pub(super) const MAPPED_FRAMES: usize = 10;
#[derive(Debug, thiserror::Error)]
pub enum ClientError {
    /// No compositor could be reached.
    #[error("no compositor answers (is WAYLAND_DISPLAY set?): {0}")]
    Connect(wayland_client::ConnectError),
    /// The compositor ended the connection at once.
    #[error("the compositor does not list its globals: {0}")]
    Registry(wayland_client::globals::GlobalError),
    /// A protocol that the measurement needs is missing.
    #[error("the compositor lacks {interface} (version {least} or later)")]
    Missing {
        interface: &'static str,
        /// The lowest version that would do.
        least: u32,
    },
    /// Presentation times on a clock that cannot be read.
    #[error("the compositor stamps frames with clock {id}, which the probe cannot read")]
    Clock {
        /// The clock's number in `clock_gettime(2)`.
        id: u32,
    },
    /// No memory for the pixels.
    #[error("no shared memory for the window's buffers: {0}")]
    SharedMemory(std::io::Error),
    /// The device that stands for a GPU lacks dumb buffers or timelines.
    #[error("{}: {source}", device.display())]
    Device { device: std::path::PathBuf, source: std::io::Error },
    /// The connection broke, or the probe made a protocol error.
    #[error("the connection to the compositor broke: {0}")]
    Dispatch(#[from] DispatchError),
    /// The connection broke while writing or reading.
    #[error("the connection to the compositor broke: {0}")]
    Connection(#[from] WaylandError),
    /// Waiting for events failed.
    #[error("waiting for events failed: {0}")]
    Poll(#[from] rustix::io::Errno),
    /// The journal cannot be written.
    #[error("{path}: {source}")]
    Journal { path: std::path::PathBuf, source: std::io::Error },
    /// Too few of the first frames were shown.
    #[error(
        "only {presented} of the first {MAPPED_FRAMES} frames were shown within {MAPPING_LIMIT} (is the window covered?)"
    )]
    NotShown { presented: usize },
    /// The compositor asked the window to close.
    #[error("the compositor closed the probe's window")]
    Closed,
    /// The pointer cannot be brought onto the window.
    #[error("the virtual pointer moved over the whole output and never entered the probe's window")]
    NotFound,
    /// Another window could not be started or did not report `ready`.
    #[error("window {number} behind the measured one: {problem}")]
    Other {
        /// The window's number, from one.
        number: u32,
        problem: String,
    },
}

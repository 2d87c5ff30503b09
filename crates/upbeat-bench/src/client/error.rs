//! Why a run gave no figures.

use wayland_client::DispatchError;
use wayland_client::backend::WaylandError;

use upbeat_timing::time::Span;

/// How long a window may take until its first frames are shown.
pub(super) const MAPPING_LIMIT: Span = Span::from_seconds(20);
/// Frames shown before a window counts as mapped.
pub(super) const MAPPED_FRAMES: usize = 10;
/// Why a run gave no figures.
#[derive(Debug, thiserror::Error)]
pub enum ClientError {
    /// No compositor.
    #[error("no compositor answers (is WAYLAND_DISPLAY set?): {0}")]
    Connect(wayland_client::ConnectError),
    /// The compositor ended the connection at once.
    #[error("the compositor does not list its globals: {0}")]
    Registry(wayland_client::globals::GlobalError),
    /// A protocol that the measurement cannot do without.
    #[error("the compositor lacks {interface} (version {least} or later)")]
    Missing {
        /// The interface.
        interface: &'static str,
        /// The least version that would do.
        least: u32,
    },
    /// Presentation times on a clock that cannot be read.
    #[error("the compositor stamps frames with clock {id}, which the probe cannot read")]
    Clock {
        /// Its number in `clock_gettime(2)`.
        id: u32,
    },
    /// No memory for the pixels.
    #[error("no shared memory for the window's buffers: {0}")]
    SharedMemory(std::io::Error),
    /// The device that stands for a GPU lacks what that takes.
    #[error("{}: {source}", device.display())]
    Device {
        /// Its node.
        device: std::path::PathBuf,
        /// What is missing.
        source: std::io::Error,
    },
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
    Journal {
        /// Where.
        path: std::path::PathBuf,
        /// Why.
        source: std::io::Error,
    },
    /// No frame became light.
    #[error(
        "only {presented} of the first {MAPPED_FRAMES} frames were shown within {MAPPING_LIMIT} (is the window covered?)"
    )]
    NotShown {
        /// Frames that were shown.
        presented: usize,
    },
    /// The compositor asked the window to close.
    #[error("the compositor closed the probe's window")]
    Closed,
    /// The pointer cannot be brought onto the window.
    #[error("the virtual pointer moved over the whole output and never met the probe's window")]
    NotFound,
    /// Another window could not be started or did not say that it is ready.
    #[error("window {number} behind the measured one: {problem}")]
    Other {
        /// Its number, from one.
        number: u32,
        /// What happened.
        problem: String,
    },
}

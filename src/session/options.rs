//! The options that a session is started with.

use std::ffi::OsString;
use std::fmt;
use std::os::fd::OwnedFd;
use std::path::PathBuf;

use crate::backend::PixelRect;
use crate::config::OutputMode;

/// The backend: where the pixels of a session go.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash, clap::ValueEnum)]
pub enum BackendKind {
    /// Windows where there is a Wayland compositor or an X server already; this machine's displays after a login on
    /// a text console; otherwise virtual displays.
    #[default]
    Auto,
    /// Displays of this machine, through DRM/KMS.
    Drm,
    /// Windows in another compositor, or on an X server.
    Nested,
    /// Virtual displays with the timing of real displays, which can be recorded.
    Headless,
}

/// The renderer of a session.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash, clap::ValueEnum)]
pub enum RendererKind {
    /// OpenGL ES where a device draws in hardware, else Pixman.
    #[default]
    Auto,
    /// Draws on the CPU, through pixman.
    Pixman,
    /// OpenGL ES, with a GPU where there is one.
    Gles,
    /// Like `Auto`, for tests: also accepts an OpenGL ES driver that draws on the CPU.
    #[value(hide = true)]
    AutoInPlace,
    /// Like `Gles`, for tests: an OpenGL ES driver that draws on the CPU also draws into the displays' own buffers.
    #[value(hide = true)]
    GlesInPlace,
}

impl fmt::Display for BackendKind {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(match self {
            BackendKind::Auto => "auto",
            BackendKind::Drm => "drm",
            BackendKind::Nested => "nested",
            BackendKind::Headless => "headless",
        })
    }
}

impl fmt::Display for RendererKind {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(match self {
            RendererKind::Auto => "auto",
            RendererKind::AutoInPlace => "auto-in-place",
            RendererKind::Pixman => "pixman",
            RendererKind::Gles => "gles",
            RendererKind::GlesInPlace => "gles-in-place",
        })
    }
}

/// The options of a session, as the command line gives them.
#[derive(Debug, Default)]
pub struct SessionOptions {
    /// Where the pixels go.
    pub backend: BackendKind,
    /// The outputs of a headless or nested session. If empty, the configuration names them; otherwise there is one
    /// output of the default size.
    pub outputs: Vec<OutputMode>,
    /// The number of overlay planes of each virtual output, which show clients' buffers in shared memory.
    pub overlay_planes: u32,
    /// The renderer to use.
    pub renderer: RendererKind,
    /// Path of a DRM device whose memory and timelines clients may use although the CPU draws.
    pub lend_device: Option<PathBuf>,
    /// Path of the configuration file that the command line names.
    pub config: Option<PathBuf>,
    /// Path of the frame log, with one line for each frame.
    pub frame_log: Option<PathBuf>,
    /// Folder for one picture of each refresh (headless only).
    pub record: Option<PathBuf>,
    /// Path of the file that records all refreshes (headless only).
    pub record_stream: Option<PathBuf>,
    /// The part of each output that is recorded, in pixels; `None` for all of it.
    pub record_only: Option<PixelRect>,
    /// Name of the Wayland socket; `None` for the first free `wayland-N`.
    pub socket: Option<String>,
    /// Descriptor that gets the socket's name and a newline once clients can connect.
    pub ready: Option<OwnedFd>,
    /// The command to run in the session, with its arguments; the session ends with it. If empty, the session stays up.
    pub command: Vec<OsString>,
}

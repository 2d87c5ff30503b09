//! What to run.

use std::ffi::OsString;
use std::fmt;
use std::os::fd::OwnedFd;
use std::path::PathBuf;

use crate::backend::PixelRect;
use crate::config::OutputMode;

/// Where the pixels go.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash, clap::ValueEnum)]
pub enum BackendKind {
    /// Windows where there is a Wayland compositor or an X server already, this machine's displays after a login on a text
    /// console, else virtual displays.
    #[default]
    Auto,
    /// Displays of this machine, through DRM/KMS.
    Drm,
    /// Windows in another compositor, or on an X server.
    Nested,
    /// Virtual displays that keep honest time and can be recorded.
    Headless,
}

/// Who draws.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash, clap::ValueEnum)]
pub enum RendererKind {
    /// OpenGL ES where a device draws in hardware, else Pixman.
    #[default]
    Auto,
    /// The CPU, through pixman.
    Pixman,
    /// OpenGL ES, with a GPU where there is one.
    Gles,
    /// As auto, for tests: a driver that draws with the CPU will do.
    #[value(hide = true)]
    AutoInPlace,
    /// The same for tests: a driver that draws with the CPU draws into the displays' own buffers, too.
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

/// Everything that a session is started with.
#[derive(Debug, Default)]
pub struct SessionOptions {
    /// Where the pixels go.
    pub backend: BackendKind,
    /// The outputs of a headless or nested session; empty means what the configuration says, or one of the default
    /// size.
    pub outputs: Vec<OutputMode>,
    /// Who draws.
    pub renderer: RendererKind,
    /// A display device whose memory and timelines programs may use though the CPU draws.
    pub lend_device: Option<PathBuf>,
    /// The configuration file named on the command line.
    pub config: Option<PathBuf>,
    /// Where to write one line per frame.
    pub frame_log: Option<PathBuf>,
    /// Where to write a picture per refresh (headless).
    pub record: Option<PathBuf>,
    /// Where to write all refreshes in one file (headless).
    pub record_stream: Option<PathBuf>,
    /// What of each output is recorded, if not all.
    pub record_only: Option<PixelRect>,
    /// The name of the Wayland socket; otherwise the first free `wayland-N`.
    pub socket: Option<String>,
    /// Where to write the socket's name and a newline once clients can connect.
    pub ready: Option<OwnedFd>,
    /// What to run in the session, with its arguments; the session ends with it. Empty: the session stays up.
    pub command: Vec<OsString>,
}

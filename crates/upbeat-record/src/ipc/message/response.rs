//! What can be answered.

use std::path::PathBuf;

use serde::{Deserialize, Serialize};

use super::layer::Layer;
use super::layouts::Layouts;
use super::output::Output;
use super::program::{ClientUse, EndedClient};
use super::statistics::{Miss, OutputStats, WindowStats};
use super::window::Window;
use super::workspace::Workspace;
use upbeat_timing::id::WindowId;

/// What can be answered.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(tag = "kind", rename_all = "kebab-case")]
pub enum Response {
    /// It was done.
    Done,
    /// To [`Request::Version`](super::Request::Version).
    Version {
        /// Such as `0.1.0`.
        version: String,
        /// The name of the Wayland socket.
        wayland_display: String,
        /// The command line's word for the backend.
        backend: String,
        /// The command line's word for the renderer in use.
        renderer: String,
        /// What X programs find us by (`DISPLAY`), or why they do not.
        #[serde(default)]
        x11: String,
    },
    /// To [`Request::Outputs`](super::Request::Outputs) and [`Request::AddOutput`](super::Request::AddOutput).
    Outputs {
        /// All of them, or the new one.
        outputs: Vec<Output>,
    },
    /// To [`Request::Windows`](super::Request::Windows).
    Windows {
        /// The topmost first.
        windows: Vec<Window>,
    },
    /// To [`Request::Clients`](super::Request::Clients).
    Clients {
        /// Who came first first.
        clients: Vec<ClientUse>,
        /// Panics that were caught since the session began; each ended the client that met it.
        #[serde(default)]
        bugs: u32,
        /// Those who were ended of late, the last one first.
        #[serde(default)]
        ended: Vec<EndedClient>,
    },
    /// To [`Request::Workspaces`](super::Request::Workspaces).
    Workspaces {
        /// By output and number.
        workspaces: Vec<Workspace>,
    },
    /// To [`Request::Layers`](super::Request::Layers).
    Layers {
        /// All of them.
        layers: Vec<Layer>,
    },
    /// To [`Request::Keyboard`](super::Request::Keyboard).
    Keyboard {
        /// Its layouts.
        keyboard: Layouts,
    },
    /// To [`Request::PickWindow`](super::Request::PickWindow).
    Picked {
        /// The window that was clicked; none where there was none, or the user went back.
        window: Option<WindowId>,
    },
    /// To [`Request::Stats`](super::Request::Stats).
    Stats {
        /// Per output.
        outputs: Vec<OutputStats>,
        /// Per window.
        windows: Vec<WindowStats>,
    },
    /// To [`Request::WhyLate`](super::Request::WhyLate).
    WhyLate {
        /// The oldest first.
        misses: Vec<Miss>,
    },
    /// To [`Request::Record`](super::Request::Record) when it ended one.
    Recorded {
        /// Lines that were written.
        lines: u64,
        /// Records that the disk could not keep up with.
        left_out: u64,
    },
    /// To [`Request::Screenshot`](super::Request::Screenshot).
    Screenshot {
        /// The output.
        output: String,
        /// The file.
        path: PathBuf,
        /// Width in pixels.
        width: u32,
        /// Height in pixels.
        height: u32,
    },
}

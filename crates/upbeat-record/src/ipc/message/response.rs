//! The responses of the private socket.

use std::path::PathBuf;

use serde::{Deserialize, Serialize};

use super::client_use::{ClientUse, EndedClient};
use super::layer::LayerInfo;
use super::layouts::KeyboardLayouts;
use super::output::{DisabledOutput, OutputInfo};
use super::statistics::{Miss, OutputStats, WindowStats};
use super::window::WindowInfo;
use super::workspace::WorkspaceInfo;
use upbeat_timing::id::WindowId;

/// The response to a request that succeeded.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(tag = "kind", rename_all = "kebab-case")]
pub enum Response {
    /// The request was carried out; there is no further data.
    Done,
    /// The answer to [`Request::Version`](super::Request::Version).
    Version {
        /// Version of the compositor, such as `0.1.0`.
        version: String,
        /// Name of the Wayland socket.
        wayland_display: String,
        /// Name of the backend, as on the command line.
        backend: String,
        /// Name of the renderer in use, as on the command line.
        renderer: String,
        /// The value of `DISPLAY` for X programs, or the reason why there is none.
        #[serde(default)]
        x11: String,
    },
    /// The answer to [`Request::Outputs`](super::Request::Outputs) and
    /// [`Request::AddOutput`](super::Request::AddOutput).
    Outputs {
        /// All outputs, or the new output.
        outputs: Vec<OutputInfo>,
        /// Outputs that were taken out of the layout, such as by `wlr-randr --off`. Left out if there are none.
        #[serde(default, skip_serializing_if = "Vec::is_empty")]
        disabled: Vec<DisabledOutput>,
    },
    /// The answer to [`Request::Windows`](super::Request::Windows).
    Windows {
        /// All windows, the topmost first.
        windows: Vec<WindowInfo>,
    },
    /// The answer to [`Request::Clients`](super::Request::Clients).
    Clients {
        /// All clients, in the order in which they connected.
        clients: Vec<ClientUse>,
        /// Number of panics caught since the session began. Each disconnected the client whose request caused it.
        #[serde(default)]
        bugs: u32,
        /// Clients that were disconnected recently, the latest first.
        #[serde(default)]
        ended: Vec<EndedClient>,
    },
    /// The answer to [`Request::Workspaces`](super::Request::Workspaces).
    Workspaces {
        /// The workspaces, sorted by output and number.
        workspaces: Vec<WorkspaceInfo>,
    },
    /// The answer to [`Request::Layers`](super::Request::Layers).
    Layers {
        /// All layer surfaces of the session.
        layers: Vec<LayerInfo>,
    },
    /// The answer to [`Request::Keyboard`](super::Request::Keyboard).
    Keyboard {
        /// The layouts and the active layout.
        keyboard: KeyboardLayouts,
    },
    /// The answer to [`Request::PickWindow`](super::Request::PickWindow).
    Picked {
        /// The window that the user clicked; `None` if there was none, or the user cancelled.
        window: Option<WindowId>,
    },
    /// The answer to [`Request::Stats`](super::Request::Stats).
    Stats {
        /// Statistics of each output.
        outputs: Vec<OutputStats>,
        /// Statistics of each window.
        windows: Vec<WindowStats>,
    },
    /// The answer to [`Request::WhyLate`](super::Request::WhyLate).
    WhyLate {
        /// Late frames, the oldest first.
        misses: Vec<Miss>,
    },
    /// The answer to [`Request::Record`](super::Request::Record), if it ended a log.
    Recorded {
        /// Number of lines written.
        lines: u64,
        /// Number of records left out because the disk was too slow.
        left_out: u64,
    },
    /// The answer to [`Request::Screenshot`](super::Request::Screenshot).
    Screenshot {
        /// Name of the output.
        output: String,
        /// Path of the PNG file.
        path: PathBuf,
        /// Width in pixels.
        width: u32,
        /// Height in pixels.
        height: u32,
    },
}

//! The requests of the private socket.

use std::path::PathBuf;

use serde::{Deserialize, Serialize};

use super::OutputOrWindow;
use super::input::InputEvent;
use super::layouts::LayoutWish;
use super::mode::OutputMode;
use super::output::VirtualMonitor;
use super::workspace::WorkspaceOrder;
use upbeat_timing::id::WindowId;
use upbeat_timing::pacing::PacingWish;

/// A request to the session.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(tag = "kind", rename_all = "kebab-case")]
pub enum Request {
    /// Get the version of the compositor, its backend and its sockets.
    Version,
    /// List all outputs with their timing.
    Outputs,
    /// List all windows, the topmost first.
    Windows,
    /// List all connected clients with their resources.
    Clients,
    /// List all workspaces that are visible or have windows.
    Workspaces,
    /// Switch to a workspace, or move a window there.
    Workspace(WorkspaceOrder),
    /// Get the frame statistics of all outputs and windows.
    Stats,
    /// Explain why frames were late.
    WhyLate {
        /// Only late frames of this output or window; `None` for all.
        target: Option<OutputOrWindow>,
        /// Largest number of late frames; the newest are listed.
        limit: usize,
    },
    /// Take a screenshot of an output.
    Screenshot {
        /// Name of the output; `None` for the focused output.
        output: Option<String>,
        /// Absolute path of the PNG file to write.
        path: PathBuf,
    },
    /// Start a frame log, or end the frame log that is being written.
    Record {
        /// Absolute path of the log, which is truncated; `None` ends the current log.
        path: Option<PathBuf>,
    },
    /// Subscribe to all events: first the complete state, then each change ([`event`](super::event)).
    Events,
    /// List all layer surfaces.
    Layers,
    /// List the layouts of the keyboard.
    Keyboard,
    /// Switch to another layout of the keyboard.
    SetLayout {
        /// The layout to switch to.
        layout: LayoutWish,
    },
    /// Run the action of a keyboard shortcut.
    Act {
        /// The action as in `[keys]` of the configuration, such as `maximise` or `workspace 3`.
        action: String,
    },
    /// Focus a window, and show it.
    Focus {
        /// Number of the window.
        window: WindowId,
    },
    /// Ask a window to close.
    Close {
        /// Number of the window.
        window: WindowId,
    },
    /// Let the user click a window, and return its number.
    PickWindow,
    /// Change the pacing of an output or a window.
    SetPacing {
        /// The output or window.
        target: OutputOrWindow,
        /// The pacing to use from now on.
        pacing: PacingWish,
    },
    /// Plug in a virtual output.
    AddOutput {
        /// Mode of the new output.
        mode: OutputMode,
        /// Name of its connector, such as `DP-1`. Default: the next free `HEADLESS-` name.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        connector: Option<String>,
        /// The monitor that it seems to be, for rules and for its windows. Default: none.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        monitor: Option<VirtualMonitor>,
    },
    /// Unplug a virtual output.
    RemoveOutput {
        /// Name of the output.
        output: String,
    },
    /// Change the mode of an output.
    SetMode {
        /// Name of the output.
        output: String,
        /// The mode to switch to.
        mode: OutputMode,
    },
    /// Change the scale of an output.
    SetScale {
        /// Name of the output.
        output: String,
        /// Physical pixels per logical pixel, 0.5 to 8.
        scale: f64,
    },
    /// Move an output to another position in the logical space.
    SetPosition {
        /// Name of the output.
        output: String,
        /// Left edge in logical pixels.
        x: i32,
        /// Top edge in logical pixels.
        y: i32,
    },
    /// Rotate or reflect an output.
    SetTransform {
        /// Name of the output.
        output: String,
        /// The transform, as in `wl_output.transform`: `normal`, `90`, `180`, `270`, `flipped`, `flipped-90`,
        /// `flipped-180` or `flipped-270`.
        transform: String,
    },
    /// Switch variable refresh rate on an output on or off.
    SetVrr {
        /// Name of the output.
        output: String,
        /// Whether the rate is to be variable.
        on: bool,
        /// Lowest rate in hertz; 48 if left out.
        #[serde(default)]
        slowest: Option<f64>,
    },
    /// Switch an output on or off.
    SetPower {
        /// Name of the output.
        output: String,
        /// Whether to switch it on.
        on: bool,
    },
    /// Inject input events, which take the same path as events of a real device.
    Input {
        /// The events, which happen at once and in this order.
        events: Vec<InputEvent>,
    },
    /// Reload the configuration files.
    Reload,
    /// End the session in order.
    Quit,
}

//! What can be asked for.

use std::path::PathBuf;

use serde::{Deserialize, Serialize};

use super::Target;
use super::input::InputEvent;
use super::layouts::LayoutWish;
use super::mode::OutputMode;
use super::workspace::WorkspaceOrder;
use upbeat_timing::id::WindowId;
use upbeat_timing::pacing::PacingWish;

/// What can be asked for.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(tag = "kind", rename_all = "kebab-case")]
pub enum Request {
    /// Who answers.
    Version,
    /// All outputs.
    Outputs,
    /// All windows, the topmost first.
    Windows,
    /// Everybody who is connected.
    Clients,
    /// Workspaces that are seen or have windows.
    Workspaces,
    /// Show a workspace, or put a window there.
    Workspace(WorkspaceOrder),
    /// Statistics of frames.
    Stats,
    /// Why frames were late.
    WhyLate {
        /// Of this output or window only.
        target: Option<Target>,
        /// At most so many, the newest.
        limit: usize,
    },
    /// Write a picture of what an output shows.
    Screenshot {
        /// Its name; the focused one otherwise.
        output: Option<String>,
        /// An absolute path; a PNG file is written there.
        path: PathBuf,
    },
    /// Begin a frame log, or end the one that is being written.
    Record {
        /// An absolute path, which is emptied; `None` ends it.
        path: Option<PathBuf>,
    },
    /// Everything that happens from now on: first how all is ([`event`](super::event)).
    Events,
    /// What is pinned to outputs.
    Layers,
    /// The layouts of the keyboard.
    Keyboard,
    /// Use another layout of the keyboard.
    SetLayout {
        /// Which.
        layout: LayoutWish,
    },
    /// Do what a shortcut does.
    Act {
        /// As in `[keys]` of the configuration, such as `maximise` or `workspace 3`.
        action: String,
    },
    /// Give a window the focus, and show it.
    Focus {
        /// Which.
        window: WindowId,
    },
    /// Ask a window to close.
    Close {
        /// Which.
        window: WindowId,
    },
    /// Let the user click a window, and say which.
    PickWindow,
    /// Pace differently from now on.
    SetPacing {
        /// What.
        target: Target,
        /// How.
        pacing: PacingWish,
    },
    /// Plug in a virtual output.
    AddOutput {
        /// Its mode.
        mode: OutputMode,
    },
    /// Unplug a virtual output.
    RemoveOutput {
        /// Its name.
        output: String,
    },
    /// Change the mode of an output.
    SetMode {
        /// Its name.
        output: String,
        /// The mode.
        mode: OutputMode,
    },
    /// Show an output at another scale.
    SetScale {
        /// Its name.
        output: String,
        /// Physical pixels per logical pixel, 0.5 to 8.
        scale: f64,
    },
    /// Put an output elsewhere in the logical space.
    SetPosition {
        /// Its name.
        output: String,
        /// Left edge.
        x: i32,
        /// Top edge.
        y: i32,
    },
    /// Show an output turned.
    SetTransform {
        /// Its name.
        output: String,
        /// As `wl_output.transform` has it: `normal`, `90`, `180`, `270`, `flipped`, `flipped-90`, `flipped-180`, `flipped-270`.
        transform: String,
    },
    /// Let the rate of an output vary with its frames, or not.
    SetVrr {
        /// Its name.
        output: String,
        /// Whether it varies.
        on: bool,
        /// The lowest rate, in hertz; 48 if left out.
        #[serde(default)]
        slowest: Option<f64>,
    },
    /// Switch an output on or off.
    SetPower {
        /// Its name.
        output: String,
        /// On.
        on: bool,
    },
    /// Act as an input device, on the same path as a real one.
    Input {
        /// What happens, in this order and at once.
        events: Vec<InputEvent>,
    },
    /// Read the configuration again.
    Reload,
    /// End the session.
    Quit,
}

//! What is said over the private socket: one JSON object per line, a request and then its answer.
//!
//! ```text
//! → {"version":1,"request":{"kind":"set-pacing","target":{"output":"HEADLESS-1"},"pacing":"vsync"}}
//! ← {"version":1,"ok":{"kind":"done"}}
//! → {"version":1,"request":{"kind":"screenshot","output":"DP-9","path":"/tmp/a.png"}}
//! ← {"version":1,"error":"there is no output called DP-9; there is HEADLESS-1"}
//! ```
//!
//! Spans are in nanoseconds, as in the frame log. Readers ignore fields that they do not know. The version changes when
//! a field changes its meaning or goes away.

use std::path::PathBuf;

use serde::{Deserialize, Serialize};

use super::clients::{ClientUse, EndedClient};
use super::input::InputEvent;
use super::workspaces::{Workspace, WorkspaceOrder};
use crate::config::OutputMode;
use crate::time::Span;
use crate::timing::id::{ClientId, WindowId};
use crate::timing::pacing::{Class, Pacing, PacingWish};
use crate::timing::record::{Blame, Misses, Summary};

/// The version of this language.
pub const VERSION: u32 = 1;

/// A line from a client.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Question {
    /// [`VERSION`].
    pub version: u32,
    /// What is asked for.
    pub request: Request,
}

/// A line from the compositor.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Answer {
    /// [`VERSION`].
    pub version: u32,
    /// The answer, or what is wrong.
    #[serde(flatten)]
    pub result: Outcome,
}

/// Whether it worked.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Outcome {
    /// It did.
    Ok(Response),
    /// It did not; a sentence for people.
    Error(String),
}

/// What can be asked for.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(tag = "kind", rename_all = "kebab-case")]
#[non_exhaustive]
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

/// An output or a window.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Target {
    /// An output by its name.
    Output(String),
    /// A window by its number.
    Window(WindowId),
}

/// What can be answered.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(tag = "kind", rename_all = "kebab-case")]
#[non_exhaustive]
pub enum Response {
    /// It was done.
    Done,
    /// To [`Request::Version`].
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
    /// To [`Request::Outputs`] and [`Request::AddOutput`].
    Outputs {
        /// All of them, or the new one.
        outputs: Vec<Output>,
    },
    /// To [`Request::Windows`].
    Windows {
        /// The topmost first.
        windows: Vec<Window>,
    },
    /// To [`Request::Clients`].
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
    /// To [`Request::Workspaces`].
    Workspaces {
        /// By output and number.
        workspaces: Vec<Workspace>,
    },
    /// To [`Request::Stats`].
    Stats {
        /// Per output.
        outputs: Vec<OutputStats>,
        /// Per window.
        windows: Vec<WindowStats>,
    },
    /// To [`Request::WhyLate`].
    WhyLate {
        /// The oldest first.
        misses: Vec<Miss>,
    },
    /// To [`Request::Record`] when it ended one.
    Recorded {
        /// Lines that were written.
        lines: u64,
        /// Records that the disk could not keep up with.
        left_out: u64,
    },
    /// To [`Request::Screenshot`].
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

/// A rectangle in logical pixels.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Rect {
    /// Left edge.
    pub x: i32,
    /// Top edge.
    pub y: i32,
    /// Width.
    pub width: i32,
    /// Height.
    pub height: i32,
}

/// An output.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Output {
    /// Such as `HEADLESS-1`.
    pub name: String,
    /// Its mode.
    pub mode: OutputMode,
    /// Its place in the logical space.
    pub geometry: Rect,
    /// Physical pixels per logical pixel.
    pub scale: f64,
    /// Whether it is on.
    pub on: bool,
    /// How it was asked to be paced.
    pub wish: PacingWish,
    /// How it is paced.
    pub pacing: Pacing,
    /// The refresh interval, measured.
    pub interval: Span,
    /// The largest error that the vsync model admits.
    pub vsync_error: Option<Span>,
    /// How long before scan-out a frame must be handed over.
    pub submit_lead: Span,
    /// What composing is budgeted with.
    pub compose_budget: Span,
    /// Who composes, and why, for people.
    pub drawn_by: String,
}

/// A window.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Window {
    /// Its number.
    pub window: WindowId,
    /// Whose it is.
    pub client: ClientId,
    /// The process, if known.
    pub pid: Option<u32>,
    /// What the application calls itself.
    pub app_id: String,
    /// What the window is called.
    pub title: String,
    /// Which of its program's windows it is, as the program says.
    #[serde(default)]
    pub tag: Option<String>,
    /// What its program says that it shows: a photo, a video, a game.
    #[serde(default)]
    pub content: Option<String>,
    /// Its place in the logical space.
    pub geometry: Rect,
    /// Whether it has the keyboard.
    pub focused: bool,
    /// Whether anything of it can be seen.
    pub visible: bool,
    /// The output that paces it.
    pub output: Option<String>,
    /// How it uses its frame callbacks.
    pub class: Class,
    /// By how much its answer comes later when it is asked later by one: what its class was told from.
    pub slope: Option<f64>,
    /// How it was asked to be paced.
    pub wish: PacingWish,
    /// How it is paced.
    pub pacing: Pacing,
    /// Why so, as a sentence.
    pub reason: String,
    /// Whether it may be called back early, as a sentence; none where no rule asks for that.
    #[serde(default)]
    pub early_callbacks: Option<String>,
    /// What it is given for a frame.
    pub budget: Option<Span>,
    /// What its frames took, wall clock.
    pub cost: Option<Summary>,
    /// What its frames took, CPU.
    pub cpu: Option<Summary>,
    /// Whole periods it is given beyond the first.
    pub slack_periods: u8,
}

/// How often, lately and ever.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Frequency {
    /// Over the last ten seconds.
    pub per_second: f64,
    /// Since it appeared.
    pub total: u64,
}

/// Frames, drops and hitches.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct CadenceStats {
    /// Frames that reached light.
    pub frames: Frequency,
    /// Refreshes without the new content that was wanted.
    pub drops: Frequency,
    /// Gaps over 1.26 periods.
    pub hitches: Frequency,
    /// Who was to blame for late frames.
    pub misses: Misses,
}

/// Statistics of an output.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct OutputStats {
    /// Its name.
    pub output: String,
    /// Frames, drops and hitches.
    #[serde(flatten)]
    pub cadence: CadenceStats,
    /// What composing takes.
    pub compose: Option<Summary>,
    /// How late the latch is.
    pub wake: Option<Summary>,
    /// From the latch to light.
    pub latch_to_light: Option<Summary>,
}

/// Statistics of a window.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct WindowStats {
    /// Its number.
    pub window: WindowId,
    /// What the application calls itself.
    pub app_id: String,
    /// Frames, drops and hitches.
    #[serde(flatten)]
    pub cadence: CadenceStats,
    /// From input to light.
    pub input_to_light: Option<Summary>,
    /// From callback to light.
    pub callback_to_light: Option<Summary>,
    /// From commit to light.
    pub commit_to_light: Option<Summary>,
}

/// A missed frame.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Miss {
    /// Of what.
    pub target: Target,
    /// Which refresh it was meant for.
    pub refresh: u64,
    /// How long ago that was.
    pub ago: Span,
    /// Who could have prevented it.
    pub blame: Blame,
    /// Why, with its evidence.
    pub sentence: String,
}

impl Question {
    /// A question in this version of the language.
    pub const fn new(request: Request) -> Self {
        Question { version: VERSION, request }
    }
}

impl Answer {
    /// An answer in this version of the language.
    pub fn new(result: Result<Response, String>) -> Self {
        let result = match result {
            Ok(response) => Outcome::Ok(response),
            Err(sentence) => Outcome::Error(sentence),
        };
        Answer { version: VERSION, result }
    }
}

#[cfg(test)]
mod tests;

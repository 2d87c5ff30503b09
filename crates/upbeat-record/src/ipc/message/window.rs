//! Windows as they are talked about.

use serde::{Deserialize, Serialize};

use super::Rect;
use super::workspace::Number;
use upbeat_timing::id::{ClientId, WindowId};
use upbeat_timing::pacing::{Class, Pacing, PacingWish};
use upbeat_timing::record::Summary;
use upbeat_timing::time::Span;

/// A window.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
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
    /// Whether its client wants it to be looked at, since it had the keyboard last.
    #[serde(default)]
    pub urgent: bool,
    /// Whether anything of it can be seen.
    pub visible: bool,
    /// The output that paces it.
    pub output: Option<String>,
    /// The workspace that it is on.
    #[serde(default)]
    pub workspace: Option<Number>,
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

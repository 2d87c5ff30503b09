//! Windows as the private socket describes them.

use serde::{Deserialize, Serialize};

use super::workspace::WorkspaceNumber;
use super::{LogicalRect, WindowLayout};
use upbeat_timing::id::{ClientId, WindowId};
use upbeat_timing::pacing::{ClientClass, Pacing, PacingWish};
use upbeat_timing::record::DistributionSummary;
use upbeat_timing::time::Span;

/// A window with its state, its pacing and its costs.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct WindowInfo {
    /// Number of the window; not reused in a session.
    pub window: WindowId,
    /// Number of the client that owns it.
    pub client: ClientId,
    /// Process id of the client, if known.
    pub pid: Option<u32>,
    /// The application id that the client has set (`xdg_toplevel.set_app_id`); may be empty.
    pub app_id: String,
    /// The window's title; may be empty.
    pub title: String,
    /// The tag by which the client tells its windows apart (`xdg_toplevel_tag_v1`).
    #[serde(default)]
    pub tag: Option<String>,
    /// The content type that the client has set: `photo`, `video` or `game`.
    #[serde(default)]
    pub content: Option<String>,
    /// Position and size in global logical coordinates.
    pub geometry: LogicalRect,
    /// Whether it has the keyboard focus.
    pub focused: bool,
    /// Whether its client has asked for attention since the window last had the focus.
    #[serde(default)]
    pub urgent: bool,
    /// Whether it is minimised: hidden until the user or a client asks for it.
    #[serde(default)]
    pub minimised: bool,
    /// Whether any part of it is visible.
    pub visible: bool,
    /// Name of the output that paces it; while none does, of the output of its workspace.
    pub output: Option<String>,
    /// Number of the workspace that it is on.
    #[serde(default)]
    pub workspace: Option<WorkspaceNumber>,
    /// How it lies on its workspace: floating or in a column, for example.
    #[serde(default)]
    pub layout: WindowLayout,
    /// Name of that workspace; `None` for 1 to 9.
    #[serde(default)]
    pub workspace_name: Option<String>,
    /// How the client uses frame callbacks, as measured.
    pub class: ClientClass,
    /// How much later the client commits for each unit of time that its callback is sent later. `class` is derived
    /// from this.
    pub slope: Option<f64>,
    /// The pacing that was asked for.
    pub wish: PacingWish,
    /// The pacing in use.
    pub pacing: Pacing,
    /// The reason for this pacing, as a sentence.
    pub reason: String,
    /// Whether it may get early frame callbacks, as a sentence; `None` if no rule asks for this.
    #[serde(default)]
    pub early_callbacks: Option<String>,
    /// Time that the client is given for a frame.
    pub budget: Option<Span>,
    /// Wall-clock time that its frames took.
    pub cost: Option<DistributionSummary>,
    /// CPU time that its frames took.
    pub cpu: Option<DistributionSummary>,
    /// Number of refresh periods that it is given beyond the first.
    pub slack_periods: u8,
}

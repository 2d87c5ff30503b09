//! Outputs as they are talked about.

use serde::{Deserialize, Serialize};

use super::Rect;
use super::mode::OutputMode;
use upbeat_timing::beam::ScanDirection;
use upbeat_timing::pacing::{Pacing, PacingWish};
use upbeat_timing::time::Span;

/// How a mode is scanned: lines at equal distances from the refresh on, then blanking.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Scan {
    /// How many lines are seen.
    pub lines: i32,
    /// From one to the next.
    pub line_time: Span,
    /// Where the lines follow each other to.
    pub direction: ScanDirection,
}

/// An output.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Output {
    /// Such as `HEADLESS-1`.
    pub name: String,
    /// Its mode.
    pub mode: OutputMode,
    /// Its place in the logical space.
    pub geometry: Rect,
    /// Physical pixels per logical pixel.
    pub scale: f64,
    /// Nobody said so: it is guessed from its size and resolution.
    #[serde(default)]
    pub scale_is_guessed: bool,
    /// The monitor's maker, model and serial number, by which rules know it, too; left out where it says nothing.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub monitor: Option<String>,
    /// How it is turned onto the panel, as `wl_output.transform` has it: such as `normal`, `90` or `flipped-180`.
    #[serde(default)]
    pub transform: String,
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
    /// How it is scanned; `None`: nobody knows.
    #[serde(default)]
    pub scan: Option<Scan>,
    /// Who composes, and why, for people.
    pub drawn_by: String,
}

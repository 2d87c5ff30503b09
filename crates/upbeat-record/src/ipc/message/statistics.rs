//! How steadily frames come, how long they take, and why some were late.

use serde::{Deserialize, Serialize};

use super::Target;
use upbeat_timing::id::WindowId;
use upbeat_timing::record::{Blame, Misses, Summary};
use upbeat_timing::time::Span;

/// How often, lately and ever.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Frequency {
    /// Over the last ten seconds.
    pub per_second: f64,
    /// Since it appeared.
    pub total: u64,
}

/// Frames, drops and hitches.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
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
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
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
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
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
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
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

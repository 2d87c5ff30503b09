//! Frame statistics as the private socket reports them: rates, latencies, and the reasons of late frames.

use serde::{Deserialize, Serialize};

use super::OutputOrWindow;
use upbeat_timing::id::WindowId;
use upbeat_timing::record::{Blame, BlameCounts, DistributionSummary};
use upbeat_timing::time::Span;

/// How often something happens: its recent rate and its total number.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Frequency {
    /// Number per second, over the last ten seconds.
    pub per_second: f64,
    /// Number since the output or window appeared.
    pub total: u64,
}

/// Counts of frames, drops, hitches and misses.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct CadenceStats {
    /// Frames that reached light (were shown).
    pub frames: Frequency,
    /// Drops: refreshes without the new content that was due.
    pub drops: Frequency,
    /// Hitches: gaps of more than 1.26 refresh periods.
    pub hitches: Frequency,
    /// Late frames, counted by blame.
    pub misses: BlameCounts,
}

/// Frame statistics of an output.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct OutputStats {
    /// Name of the output.
    pub output: String,
    /// Counts of frames, drops, hitches and misses.
    #[serde(flatten)]
    pub cadence: CadenceStats,
    /// Time to compose a frame.
    pub compose: Option<DistributionSummary>,
    /// Delay of the latch after its planned time.
    pub wake: Option<DistributionSummary>,
    /// Time from the latch to light.
    pub latch_to_light: Option<DistributionSummary>,
}

/// Frame statistics of a window.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct WindowStats {
    /// Number of the window.
    pub window: WindowId,
    /// The application id that the client has set; may be empty.
    pub app_id: String,
    /// Counts of frames, drops, hitches and misses.
    #[serde(flatten)]
    pub cadence: CadenceStats,
    /// Latency from an input event to light.
    pub input_to_light: Option<DistributionSummary>,
    /// Latency from the frame callback to light.
    pub callback_to_light: Option<DistributionSummary>,
    /// Latency from the commit to light.
    pub commit_to_light: Option<DistributionSummary>,
}

/// A frame that missed its refresh.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Miss {
    /// The output or window.
    pub target: OutputOrWindow,
    /// Number of the refresh that was missed.
    pub refresh: u64,
    /// Time since that refresh.
    pub ago: Span,
    /// Which side caused the miss, and could have prevented it.
    pub blame: Blame,
    /// The reason with its evidence, as a sentence.
    pub sentence: String,
}

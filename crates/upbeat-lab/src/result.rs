//! The results of a simulation, in the shape of `upbeat simulate --json`.

use serde::Serialize;

use super::animation::FrameMiss;
use super::distribution::{Histogram, Summary};

/// All results of one call of the simulator.
#[derive(Clone, Debug, Default, Serialize)]
pub struct SimulationReport {
    /// One entry per load.
    pub loads: Vec<LoadInfo>,
    /// One entry per load and policy.
    pub runs: Vec<RunResult>,
    /// The published figures that were reproduced.
    pub figures: Vec<PaperFigure>,
}

/// Origin and limits of a load: read this before the results of its runs.
#[derive(Clone, Debug, Default, Serialize)]
pub struct LoadInfo {
    /// The same name as in the runs.
    pub name: String,
    pub frames: usize,
    /// Whether recording waits for rendering.
    pub recorder: &'static str,
    /// Origin of the frames, and which of their stages were measured; empty for generated loads.
    pub from: String,
    /// Reasons to doubt the results of its runs.
    pub warnings: Vec<String>,
    /// Advice in a few sentences; empty if no run draws ahead.
    pub answer: String,
}

/// How a figure relates to the parameters of its load.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum FigureKind {
    /// It is a parameter of the load, so the result must equal it.
    Taken,
    /// The load was fitted to this figure, or to figures that imply it. It shows that such a load exists, nothing more.
    Fitted,
    /// It follows from the model by construction.
    Derived,
    /// Nothing was fitted to it.
    Predicted,
}

/// A published figure beside ours.
#[derive(Clone, Debug, Serialize)]
pub struct PaperFigure {
    /// Its source and its meaning.
    pub id: String,
    /// The paper's number; `None` where it has none.
    pub published: Option<f64>,
    /// The number from the simulation.
    pub measured: f64,
    pub kind: FigureKind,
    pub unit: &'static str,
    /// The number from an independent model, if there is one.
    pub expected: Option<f64>,
    /// Largest accepted difference to `expected`, in `unit`.
    #[serde(skip)]
    pub tolerance: f64,
    /// Explanation of a difference.
    pub note: &'static str,
}

/// Figures of a load under a policy; means over the seeds.
#[derive(Clone, Debug, Default, Serialize)]
pub struct RunResult {
    pub load: String,
    pub policy: String,
    /// Number of pixel buffers.
    pub buffers: u8,
    pub refresh_hz: f64,
    /// Refreshes in which content was due and nothing new was shown, per second.
    pub drops_per_s: f64,
    /// Half the width of the 95 % interval of `drops_per_s` over the seeds; zero for one seed.
    pub drops_per_s_interval: f64,
    pub drops: f64,
    /// Drops per refresh, in percent.
    pub drop_percent: f64,
    /// Share of drops avoided, from 0 to 1, against triple-buffered vsync on the same load.
    pub drop_reduction: f64,
    /// Half the width of the 95 % interval of `drop_reduction` over the seeds.
    pub drop_reduction_interval: f64,
    /// For one seed or a log: the 95 % interval of `drop_reduction` if the frames are a sample of a longer run; `None`
    /// where the baseline dropped nothing.
    pub drop_reduction_bounds: Option<[f64; 2]>,
    /// Gaps of more than 1.26 intervals, per second.
    pub hitches_per_s: f64,
    /// Shown frames per second.
    pub fps: f64,
    /// The longest gap between two frames.
    pub longest_freeze_ms: f64,
    /// Frame start (or its D-Timestamp) to light for animations, input to light for interaction.
    pub latency_ms: LatencySummary,
    /// From a frame's start (when its content is chosen) to its light, on average, in milliseconds.
    pub age_ms: f64,
    /// Shares of the shown frames: direct, stuffed, after a drop.
    pub classes: [f64; 3],
    /// Mean distance of the shown content from its content time; `None` where frames have no target.
    pub content_error_ms: Option<f64>,
    /// Share of frames that were not shown at the time for which they were drawn.
    pub wrong_time: Option<f64>,
    /// Share of frames whose prediction was too short (interaction).
    pub missed: Option<f64>,
    /// Renders that were not shown, per frame shown.
    pub wasted_renders: f64,
    /// Pixel buffers in use at the peak, in megabytes at 2560 × 1440.
    pub buffer_megabytes: f64,
    /// From an interrupting event to the light of its first frame, when the queue is superseded (animation).
    pub interrupt_ms: Option<f64>,
    /// The same when queued frames cannot be cancelled.
    pub interrupt_unflushable_ms: Option<f64>,
    /// Latencies of the first seed in milliseconds, for histograms.
    #[serde(skip)]
    pub latencies: Histogram,
    /// The misses of the first seed (animations only), for advice.
    #[serde(skip)]
    pub misses: Vec<FrameMiss>,
}

/// Mean and quantiles in milliseconds.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize)]
pub struct LatencySummary {
    pub mean: f64,
    pub p50: f64,
    pub p95: f64,
    pub p99: f64,
    pub max: f64,
}

impl From<Summary> for LatencySummary {
    fn from(summary: Summary) -> Self {
        let Summary { mean, p50, p95, p99, max, .. } = summary;
        LatencySummary { mean, p50, p95, p99, max }
    }
}

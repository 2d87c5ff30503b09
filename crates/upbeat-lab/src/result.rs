//! The results of a simulation, in the shape of `upbeat simulate --json`.

use serde::Serialize;

use super::animation::Miss;
use super::distribution::{Distribution, Summary};

/// Everything that one call of the simulator found.
#[derive(Clone, Debug, Default, Serialize)]
pub struct Report {
    /// What was run: one entry per load.
    pub loads: Vec<LoadInfo>,
    /// One entry per load and policy.
    pub runs: Vec<RunResult>,
    /// The published figures that were reproduced.
    pub figures: Vec<Figure>,
}

/// What has to be known of a load before its runs are believed.
#[derive(Clone, Debug, Default, Serialize)]
pub struct LoadInfo {
    /// As in the runs.
    pub name: String,
    /// Its frames.
    pub frames: usize,
    /// Whether recording waits for rendering.
    pub recorder: &'static str,
    /// Where they come from, and which of their stages were measured; empty for made-up ones.
    pub from: String,
    /// What to be careful of.
    pub warnings: Vec<String>,
    /// What would help, in a few sentences; empty where nothing that was run draws ahead.
    pub answer: String,
}

/// Whether a figure was put in or came out.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum FigureKind {
    /// It is a parameter of the load: what comes out is what was put in.
    Taken,
    /// The load was fitted to this figure, or to others that it follows from: it shows that such a load exists, nothing more.
    Fitted,
    /// It follows from the model by construction.
    Derived,
    /// Nothing was fitted to it.
    Predicted,
}

/// A published figure beside ours.
#[derive(Clone, Debug, Serialize)]
pub struct Figure {
    /// Where it is from, and what it is.
    pub id: String,
    /// What the paper says; `None` where it has no number.
    pub published: Option<f64>,
    /// What came out here.
    pub measured: f64,
    /// How to read it.
    pub kind: FigureKind,
    /// Its unit.
    pub unit: &'static str,
    /// What an independent model said, where there is one.
    pub expected: Option<f64>,
    /// How far from that ours may be, in its unit.
    #[serde(skip)]
    pub tolerance: f64,
    /// What has to be said about a difference.
    pub note: &'static str,
}

/// A load under a policy; means over the seeds.
#[derive(Clone, Debug, Default, Serialize)]
pub struct RunResult {
    /// Name of the load.
    pub load: String,
    /// Name of the policy.
    pub policy: String,
    /// Pixel buffers.
    pub buffers: u8,
    /// Refresh rate of the display.
    pub refresh_hz: f64,
    /// Refreshes in which content was due and nothing new was shown, per second.
    pub drops_per_s: f64,
    /// Half the width of the 95 % interval of that over the seeds; zero for one seed.
    pub drops_per_s_interval: f64,
    /// How many there were.
    pub drops: f64,
    /// The same per refresh.
    pub drop_percent: f64,
    /// From 0 to 1, against triple-buffered vsync on the same load.
    pub drop_reduction: f64,
    /// Half the width of its 95 % interval over the seeds.
    pub drop_reduction_interval: f64,
    /// For one seed or a log: its 95 % interval if the frames are taken for a sample of more; `None` where the baseline
    /// dropped nothing.
    pub drop_reduction_bounds: Option<[f64; 2]>,
    /// Gaps of more than 1.26 intervals, per second.
    pub hitches_per_s: f64,
    /// Frames shown per second.
    pub fps: f64,
    /// The longest gap between two frames.
    pub longest_freeze_ms: f64,
    /// Frame start (or its D-Timestamp) to light for animations, input to light for interaction.
    pub latency_ms: Latency,
    /// From the choice of a frame's content (its start) to its light, on average, in milliseconds.
    pub age_ms: f64,
    /// Of the frames shown: direct, stuffed, after a drop.
    pub classes: [f64; 3],
    /// Mean distance of the shown content from its time; `None` where frames have no target.
    pub content_error_ms: Option<f64>,
    /// Share of frames shown at another time than they were drawn for.
    pub wrong_time: Option<f64>,
    /// Share of frames whose prediction was too short (interaction).
    pub missed: Option<f64>,
    /// Renders that were not shown, per frame shown.
    pub wasted_renders: f64,
    /// Pixel buffers in use at the peak, in megabytes at 2560 × 1440.
    pub buffer_megabytes: f64,
    /// From an interrupting event to the light of its first frame, when the queue is superseded (animation).
    pub interrupt_ms: Option<f64>,
    /// The same when queued frames cannot be taken back.
    pub interrupt_unflushable_ms: Option<f64>,
    /// Latencies of the first seed in milliseconds, for histograms.
    #[serde(skip)]
    pub latencies: Distribution,
    /// The misses of the first seed (motion), for advice.
    #[serde(skip)]
    pub misses: Vec<Miss>,
}

/// Milliseconds.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize)]
pub struct Latency {
    /// Arithmetic mean.
    pub mean: f64,
    /// Median.
    pub p50: f64,
    /// 95th percentile.
    pub p95: f64,
    /// 99th percentile.
    pub p99: f64,
    /// Largest.
    pub max: f64,
}

impl From<Summary> for Latency {
    fn from(summary: Summary) -> Self {
        let Summary { mean, p50, p95, p99, max, .. } = summary;
        Latency { mean, p50, p95, p99, max }
    }
}

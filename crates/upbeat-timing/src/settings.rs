//! Settings of the timing core: values without behaviour. [`defaults`](super::defaults) has the default values; each
//! effect is described where the value is used.

use crate::time::Span;

/// The share of frames that may be late, in parts per million.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct MissBudget(u32);

impl MissBudget {
    /// No frame may be late, as far as past costs can predict.
    pub const NONE: MissBudget = MissBudget(0);
    /// A share in thousandths; more than a thousand counts as all.
    pub const fn per_mille(thousandths: u32) -> Self {
        MissBudget::ppm(thousandths.saturating_mul(1_000))
    }

    /// A share in millionths; more than a million counts as all.
    pub const fn ppm(millionths: u32) -> Self {
        MissBudget(if millionths > 1_000_000 { 1_000_000 } else { millionths })
    }

    /// The share in millionths.
    pub const fn as_ppm(self) -> u32 {
        self.0
    }

    /// The share as a fraction of one.
    pub fn as_fraction(self) -> f64 {
        f64::from(self.0) / 1e6
    }

    /// The quantile that leaves this share above it.
    pub fn quantile(self) -> f64 {
        1.0 - self.as_fraction()
    }
}

/// The estimators that can be chosen by name, in a configuration or for a simulation.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum EstimatorKind {
    /// Mean of the last 32 costs (Presto).
    Mean32,
    /// Exponentially weighted mean plus as many standard deviations as the budget asks for.
    Ewma,
    /// Largest of the last 32 with an asymmetric margin.
    Maximum,
    /// Quantile of the last 128 costs.
    Window,
    /// Quantile of the last 128 costs plus a tail margin.
    WindowTail,
    /// Online quantile regression of costs.
    Regression,
}

impl EstimatorKind {
    /// All of them, in the order of reports.
    pub const ALL: [EstimatorKind; 6] = [
        EstimatorKind::Mean32,
        EstimatorKind::Ewma,
        EstimatorKind::Maximum,
        EstimatorKind::Window,
        EstimatorKind::WindowTail,
        EstimatorKind::Regression,
    ];

    /// The name used in configurations and reports.
    pub const fn name(self) -> &'static str {
        match self {
            EstimatorKind::Mean32 => "mean-32",
            EstimatorKind::Ewma => "ewma",
            EstimatorKind::Maximum => "maximum",
            EstimatorKind::Window => "window",
            EstimatorKind::WindowTail => "window-tail",
            EstimatorKind::Regression => "regression",
        }
    }
}

/// The quantiles of two-shot rendering (simulation: q.99 for the insurance, q.50 for the second shot, gives the mean
/// latency of a reckless trigger at the miss rate of a careful one, for 1.1 to 1.7 renders a shown frame).
///
/// ```text
///                 insurance                  second shot
/// ────┬───────────────┬───────────────────────────┬──────────────── ready_by
///     └ start at      └ finished: shown if the    └ start at ready_by − lower quantile,
///       ready_by −      second shot is late         if newer input has come
///       high quantile
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct TwoShot {
    /// The share of insurance frames that may be late.
    pub insurance: MissBudget,
    /// The share of second shots that may be late; their price is wasted work, not a drop.
    pub second: MissBudget,
}

/// Limits beyond which a prediction is refused.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct PredictionLimits {
    /// The furthest ahead of the last sample; a request beyond it gets the position at the limit.
    pub horizon: Span,
    /// The largest expected error in pixels; beyond it the horizon is shortened until the error is small enough.
    pub error: f64,
    /// The fewest samples of a gesture.
    pub samples: u32,
    /// The largest allowed ratio of the prediction's mean square error to the mean square error of holding the last
    /// position.
    pub worth: f64,
}

/// How far ahead frames may be drawn.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct AheadSettings {
    /// Pixel buffers, including the buffer on screen; at least 2.
    pub slots: u8,
    /// The most refreshes between the start of a frame and its latch. D-VSync's figure 10 has 5 buffers and a lead
    /// of 3. Where only buffers limit, use [`AheadSettings::UNLIMITED_LEAD`].
    pub lead: u8,
    /// How many more frames than buffers may be recorded: commands are kilobytes, whereas pixels are megabytes.
    pub run_ahead: u8,
    /// Refreshes by which the first frame of an animation is delayed, so that the queue fills first. Only for
    /// motion that does not respond to input.
    pub start_delay: u8,
    /// How many finished stale frames stay after a supersede, in case the fresh frame is late.
    pub insurance: u8,
}

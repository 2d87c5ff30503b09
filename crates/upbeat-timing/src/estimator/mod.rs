//! Estimators: predict the cost of the next piece of work from the costs of earlier work.
//!
//! All estimators have one trait. They are asked for a [`MissBudget`], the share of frames that may take longer than
//! the answer, instead of a fixed quantile: a 97 % quantile is 1.9 missed refreshes a second at 60 Hz.

mod ewma;
mod mean;
mod regression;
mod select;
mod sliding_max;
mod tail_margin;
mod two_shot;
mod window;

pub use ewma::EwmaSigma;
pub use mean::MeanOfLast;
pub use regression::QuantileRegression;
pub use select::{SelectedEstimator, UnknownEstimator};
pub use sliding_max::SlidingMaximum;
pub use tail_margin::TailMargin;
pub use window::WindowQuantile;

use super::defaults::{FREE_RUNNING_MISS, INTERACTIVE_MISS};
pub use super::settings::{EstimatorKind, MissBudget, TwoShot};
use crate::time::Span;

impl MissBudget {
    /// One frame in a thousand: for a window without interaction.
    pub const FREE_RUNNING: MissBudget = FREE_RUNNING_MISS;
    /// One frame in a hundred: while a button or a finger is down.
    pub const INTERACTIVE: MissBudget = INTERACTIVE_MISS;
}

/// Predicts the cost of the next piece of work. The methods never allocate.
pub trait Estimator {
    /// Learns that a piece of work took `cost`, counted from when it was *scheduled* to start, so that waking late
    /// counts as work. Negative costs count as zero.
    fn observe(&mut self, cost: Span);

    /// The span that at most `miss` of the coming pieces of work should exceed; `None` before anything was observed.
    fn budget(&self, miss: MissBudget) -> Option<Span>;

    /// The span that about half of the coming pieces of work should exceed; `None` before anything was observed.
    fn typical(&self) -> Option<Span> {
        self.budget(MissBudget::per_mille(500))
    }

    /// The number of observations that the answers use.
    fn samples(&self) -> usize;
}

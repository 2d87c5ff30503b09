//! The ways of answering input that are compared.

use upbeat_timing::estimator::{EstimatorKind, MissBudget, TwoShot};
use upbeat_timing::time::Span;

/// A way of answering input.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum InteractionPolicy {
    /// Events at the pulse plus an offset (Android: 7.5 ms), the frame taken over by the next pulse, composed for the
    /// one after. A late frame either goes alone, or delays all that follow.
    Legacy {
        /// From the pulse to the delivery of events.
        offset: Span,
        /// Whether a late frame delays all that follow.
        propagate: bool,
    },
    /// Just in time.
    JustInTime(JustInTime),
}

/// The parts of just-in-time.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct JustInTime {
    /// What predicts the cost; `None` knows it (the bound).
    pub estimator: Option<EstimatorKind>,
    /// What it is asked for.
    pub miss: MissBudget,
    /// Whether the trigger moves back to the last event that fits.
    pub snap: bool,
    /// Whether small changes go to the buffer on screen, ahead of the beam (PAR).
    pub in_place: bool,
    /// Whether a frame of insurance is followed by a fresher one.
    pub two_shot: Option<TwoShot>,
    /// Whether the panel's refresh is variable: a late frame costs its lateness, not a refresh.
    pub variable: bool,
}

impl JustInTime {
    /// The paper's: snap, no PAR.
    pub const fn new(estimator: EstimatorKind, miss: MissBudget) -> Self {
        JustInTime { estimator: Some(estimator), miss, snap: true, in_place: false, two_shot: None, variable: false }
    }

    /// The bound: the cost is known.
    pub const fn oracle() -> Self {
        JustInTime { estimator: None, ..Self::new(EstimatorKind::Mean32, MissBudget::NONE) }
    }

    /// With PAR.
    pub const fn in_place(self) -> Self {
        JustInTime { in_place: true, ..self }
    }
}

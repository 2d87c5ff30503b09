//! Interaction policies: ways of pacing frames that answer to input.

use upbeat_timing::estimator::{EstimatorKind, MissBudget, TwoShot};
use upbeat_timing::time::Span;

/// A way of answering input.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum InteractionPolicy {
    /// Events are delivered at the vsync pulse plus an offset (Android: 7.5 ms). The next pulse latches the frame,
    /// which is composed for the pulse after it. A late frame is late alone, or delays all later frames.
    Legacy {
        /// From the pulse to the delivery of events.
        offset: Span,
        /// Whether a late frame delays all later frames.
        propagate: bool,
    },
    JustInTime(JustInTimePolicy),
}

/// Settings of just-in-time pacing.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct JustInTimePolicy {
    /// Estimator of the cost; `None` knows the cost exactly (the bound).
    pub estimator: Option<EstimatorKind>,
    /// Miss budget of the estimator.
    pub miss: MissBudget,
    /// Whether the trigger moves back to the last event that fits.
    pub snap: bool,
    /// Whether small changes go to the buffer on screen, ahead of the beam (PAR).
    pub in_place: bool,
    /// Whether a fresher second frame follows a first frame as insurance.
    pub two_shot: Option<TwoShot>,
    /// Whether the panel's refresh is variable: a late frame costs its lateness, not a refresh.
    pub variable: bool,
}

impl JustInTimePolicy {
    /// The paper's policy: snap, no PAR.
    pub const fn new(estimator: EstimatorKind, miss: MissBudget) -> Self {
        JustInTimePolicy {
            estimator: Some(estimator),
            miss,
            snap: true,
            in_place: false,
            two_shot: None,
            variable: false,
        }
    }

    /// The bound: the cost is known.
    pub const fn oracle() -> Self {
        JustInTimePolicy { estimator: None, ..Self::new(EstimatorKind::Mean32, MissBudget::NONE) }
    }

    /// The same policy with PAR.
    pub const fn in_place(self) -> Self {
        JustInTimePolicy { in_place: true, ..self }
    }
}

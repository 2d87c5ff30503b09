//! The choice of an estimator at run time.

use std::fmt;
use std::str::FromStr;

use super::{
    Estimator, EstimatorKind, EwmaSigma, MeanOfLast, MissBudget, QuantileRegression, SlidingMaximum, TailMargin,
    WindowQuantile,
};
use crate::time::Span;

impl fmt::Display for EstimatorKind {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}

/// The name is not the name of an estimator.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("no estimator is called `{0}`; there are mean-32, ewma, maximum, window, window-tail and regression")]
pub struct UnknownEstimator(String);

impl FromStr for EstimatorKind {
    type Err = UnknownEstimator;

    fn from_str(name: &str) -> Result<Self, Self::Err> {
        EstimatorKind::ALL.into_iter().find(|kind| kind.name() == name).ok_or_else(|| UnknownEstimator(name.to_owned()))
    }
}

/// An estimator chosen at run time, without an allocation.
#[derive(Clone, Debug)]
pub struct SelectedEstimator(Selected);

#[derive(Clone, Debug)]
// A window is 2 kB; boxing it would allocate, and there is one per surface.
enum Selected {
    Mean32(MeanOfLast<32>),
    Ewma(EwmaSigma),
    Maximum(SlidingMaximum<32>),
    Window(WindowQuantile<128>),
    WindowTail(TailMargin<WindowQuantile<128>>),
    Regression(QuantileRegression),
}

macro_rules! each {
    ($selected:expr, $inner:ident => $result:expr) => {
        match $selected {
            Selected::Mean32($inner) => $result,
            Selected::Ewma($inner) => $result,
            Selected::Maximum($inner) => $result,
            Selected::Window($inner) => $result,
            Selected::WindowTail($inner) => $result,
            Selected::Regression($inner) => $result,
        }
    };
}

impl SelectedEstimator {
    /// An empty estimator of this kind; `nominal` is the budget that it will usually be asked for.
    pub fn new(kind: EstimatorKind, nominal: MissBudget) -> Self {
        SelectedEstimator(match kind {
            EstimatorKind::Mean32 => Selected::Mean32(MeanOfLast::new()),
            EstimatorKind::Ewma => Selected::Ewma(EwmaSigma::new()),
            EstimatorKind::Maximum => Selected::Maximum(SlidingMaximum::new()),
            EstimatorKind::Window => Selected::Window(WindowQuantile::new()),
            EstimatorKind::WindowTail => Selected::WindowTail(TailMargin::new(WindowQuantile::new(), nominal)),
            EstimatorKind::Regression => Selected::Regression(QuantileRegression::new()),
        })
    }
}

impl Estimator for SelectedEstimator {
    fn observe(&mut self, cost: Span) {
        each!(&mut self.0, inner => inner.observe(cost));
    }

    fn budget(&self, miss: MissBudget) -> Option<Span> {
        each!(&self.0, inner => inner.budget(miss))
    }

    fn typical(&self) -> Option<Span> {
        each!(&self.0, inner => inner.typical())
    }

    fn samples(&self) -> usize {
        each!(&self.0, inner => inner.samples())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn names_and_kinds_are_inverse() {
        for kind in EstimatorKind::ALL {
            assert_eq!(kind.name().parse(), Ok(kind));
        }
        assert!("median".parse::<EstimatorKind>().is_err());
    }

    proptest! {
        #[test]
        fn a_stricter_budget_never_gets_less_time(costs in prop::collection::vec(0_i64..50_000_000, 1..300)) {
            for kind in EstimatorKind::ALL {
                let mut estimator = SelectedEstimator::new(kind, MissBudget::FREE_RUNNING);
                prop_assert_eq!(estimator.budget(MissBudget::NONE), None);
                for cost in &costs {
                    estimator.observe(Span::from_nanos(*cost));
                    let strict = estimator.budget(MissBudget::FREE_RUNNING);
                    prop_assert!(strict >= Some(Span::ZERO), "{kind}");
                    prop_assert!(strict >= estimator.typical() || kind == EstimatorKind::Mean32, "{kind}");
                }
            }
        }

        #[test]
        fn a_constant_cost_is_learned_exactly(cost in 1_000_i64..50_000_000) {
            for kind in EstimatorKind::ALL {
                let mut estimator = SelectedEstimator::new(kind, MissBudget::FREE_RUNNING);
                for _ in 0..200 {
                    estimator.observe(Span::from_nanos(cost));
                }
                let error = (estimator.budget(MissBudget::FREE_RUNNING).unwrap() - Span::from_nanos(cost)).abs();
                prop_assert!(error <= Span::from_nanos(1_000), "{kind}: off by {error}");
            }
        }
    }
}

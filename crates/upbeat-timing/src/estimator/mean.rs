//! Mean of the last costs, as in Presto.

use super::{Estimator, MissBudget};
use crate::time::Span;

/// The mean of the last `N` costs plus a constant margin (Presto 4.1: `N` = 32, about half a second, no margin).
///
/// The answer does not depend on the miss budget, because a mean does not know its tail. It is the baseline that the
/// paper published. About half of all costs exceed it; only the slack of snapping to the last input event (120 Hz
/// touch) hides that.
#[derive(Clone, Debug)]
pub struct MeanOfLast<const N: usize> {
    costs: [Span; N],
    sum: Span,
    len: usize,
    next: usize,
    margin: Span,
}

impl<const N: usize> MeanOfLast<N> {
    /// The mean without a margin, as in the paper.
    pub const fn new() -> Self {
        Self::with_margin(Span::ZERO)
    }

    /// The mean plus a constant `margin`.
    pub const fn with_margin(margin: Span) -> Self {
        MeanOfLast { costs: [Span::ZERO; N], sum: Span::ZERO, len: 0, next: 0, margin }
    }

    fn mean(&self) -> Option<Span> {
        (self.len > 0).then(|| self.sum / self.len as i64)
    }
}

impl<const N: usize> Default for MeanOfLast<N> {
    fn default() -> Self {
        Self::new()
    }
}

impl<const N: usize> Estimator for MeanOfLast<N> {
    fn observe(&mut self, cost: Span) {
        let cost = cost.max(Span::ZERO);
        if self.len == N {
            self.sum -= self.costs[self.next];
        } else {
            self.len += 1;
        }
        self.sum += cost;
        self.costs[self.next] = cost;
        self.next = (self.next + 1) % N;
    }

    fn budget(&self, _miss: MissBudget) -> Option<Span> {
        Some(self.mean()? + self.margin)
    }

    fn typical(&self) -> Option<Span> {
        self.mean()
    }

    fn samples(&self) -> usize {
        self.len
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_the_last_costs_count() {
        let mut mean = MeanOfLast::<4>::with_margin(Span::from_micros(10));
        assert_eq!(mean.budget(MissBudget::NONE), None);
        for cost in [900, 1, 2, 3, 4, -5] {
            mean.observe(Span::from_micros(cost));
        }
        assert_eq!(mean.typical(), Some(Span::from_nanos(2_250)));
        assert_eq!(mean.budget(MissBudget::NONE), Some(Span::from_nanos(12_250)));
        assert_eq!(mean.budget(MissBudget::INTERACTIVE), mean.budget(MissBudget::NONE));
    }
}

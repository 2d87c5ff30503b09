//! A margin over any estimator that jumps up with a miss and decays slowly.

use super::{Estimator, MissBudget};
use crate::defaults::{FREE_RUNNING_MISS, TAIL_DECAY, TAIL_JUMP};
use crate::time::Span;

/// The margin never exceeds this many typical costs: a client that was stopped for a second must not be started a
/// second early.
const MOST_TYPICAL_COSTS: i64 = 2;

/// Adds a margin, learned from misses, to the answer of `E`.
///
/// ```text
/// cost        ▂▂▂▂▂▂▂▂█▂▂▂▂▂▂▂▂▂▂▂▂▂▂▂▂
/// E's answer  ▃▃▃▃▃▃▃▃▃▃▃▃▃▃▃▃▃▃▃▃▃▃▃▃▃
/// + margin    ▃▃▃▃▃▃▃▃▃▆▆▆▅▅▅▅▅▄▄▄▄▄▄▃▃
/// ```
///
/// A window of `N` costs cannot answer budgets below `1/N`, and any estimator is late in noticing a change. Misses are
/// counted against `nominal`, the usual budget. A larger budget (an interactive moment) gets a smaller margin, in
/// proportion to the logarithms of the two shares.
#[derive(Clone, Debug)]
pub struct TailMargin<E> {
    inner: E,
    nominal: MissBudget,
    margin: Span,
}

impl<E: Estimator> TailMargin<E> {
    /// Wraps `inner`, whose misses are counted against `nominal`.
    pub const fn new(inner: E, nominal: MissBudget) -> Self {
        TailMargin { inner, nominal, margin: Span::ZERO }
    }
}

impl<E: Estimator + Default> Default for TailMargin<E> {
    fn default() -> Self {
        Self::new(E::default(), FREE_RUNNING_MISS)
    }
}

impl<E: Estimator> Estimator for TailMargin<E> {
    fn observe(&mut self, cost: Span) {
        if let Some(answer) = self.inner.budget(self.nominal) {
            let excess = cost - (answer + self.margin);
            if excess > Span::ZERO {
                let most = self.inner.typical().unwrap_or(answer) * MOST_TYPICAL_COSTS;
                self.margin = (self.margin + excess.scale(TAIL_JUMP.0, TAIL_JUMP.1)).min(most);
            } else {
                // Rounded up, so that the margin reaches zero.
                self.margin = (self.margin - self.margin / TAIL_DECAY - Span::from_nanos(1)).max(Span::ZERO);
            }
        }
        self.inner.observe(cost);
    }

    fn budget(&self, miss: MissBudget) -> Option<Span> {
        let answer = self.inner.budget(miss)?;
        if miss <= self.nominal {
            return Some(answer + self.margin);
        }
        let share = miss.as_fraction().ln() / self.nominal.as_fraction().max(1e-6).ln();
        Some(answer + self.margin.scale((share * 1_024.0) as i64, 1_024))
    }

    fn typical(&self) -> Option<Span> {
        self.inner.typical()
    }

    fn samples(&self) -> usize {
        self.inner.samples()
    }
}

#[cfg(test)]
mod tests {
    use super::super::{MeanOfLast, WindowQuantile};
    use super::*;

    #[test]
    fn a_miss_raises_the_margin_at_once_and_it_decays_to_nothing() {
        let mut tail = TailMargin::new(MeanOfLast::<32>::new(), MissBudget::FREE_RUNNING);
        for _ in 0..32 {
            tail.observe(Span::from_millis(4));
        }
        assert_eq!(tail.margin, Span::ZERO);
        tail.observe(Span::from_millis(8));
        assert_eq!(tail.margin, Span::from_millis(2));
        for _ in 0..177 {
            tail.observe(Span::from_millis(4));
        }
        assert!((0.95..1.05).contains(&tail.margin.as_millis_f64()), "half-life: {}", tail.margin);
        for _ in 0..6_000 {
            tail.observe(Span::from_millis(4));
        }
        assert_eq!(tail.margin, Span::ZERO);
    }

    #[test]
    fn a_stall_does_not_become_the_rule() {
        let mut tail = TailMargin::<WindowQuantile<128>>::default();
        for _ in 0..64 {
            tail.observe(Span::from_millis(2));
        }
        tail.observe(Span::from_seconds(3));
        assert!(tail.margin <= Span::from_millis(4));
    }

    #[test]
    fn a_larger_budget_gets_a_smaller_margin() {
        let mut tail = TailMargin::new(MeanOfLast::<8>::new(), MissBudget::FREE_RUNNING);
        for cost in [4, 4, 4, 4, 10] {
            tail.observe(Span::from_millis(cost));
        }
        let answers = [1, 10, 100, 1_000].map(|share| tail.budget(MissBudget::per_mille(share)).unwrap());
        assert!(answers.windows(2).all(|pair| pair[0] > pair[1]), "{answers:?}");
        assert_eq!(Some(answers[3]), tail.typical());
    }
}

//! Maximum of the last costs with a margin that is asymmetric in time.

use super::{Estimator, MissBudget};
use crate::time::Span;

/// The fraction of the margin that a frame without a new maximum takes away: 1/64, so that half of it is gone after 44
/// frames.
const MARGIN_DECAY: i64 = 64;

/// The largest of the last `N` costs, plus a margin that rises at once and falls slowly.
///
/// When a cost exceeds the prediction, the margin becomes the excess; each frame that stays below takes 1/64 of it
/// away. So an outlier is remembered beyond the window, as mutter's long-term maximum does, but without a step when it
/// leaves. The miss budget is ignored: the answer is always the recent maximum.
#[derive(Clone, Debug)]
pub struct SlidingMaximum<const N: usize> {
    costs: [Span; N],
    largest: Span,
    margin: Span,
    len: usize,
    next: usize,
}

impl<const N: usize> SlidingMaximum<N> {
    /// An estimator without any observations.
    pub const fn new() -> Self {
        SlidingMaximum { costs: [Span::ZERO; N], largest: Span::ZERO, margin: Span::ZERO, len: 0, next: 0 }
    }
}

impl<const N: usize> Default for SlidingMaximum<N> {
    fn default() -> Self {
        Self::new()
    }
}

impl<const N: usize> Estimator for SlidingMaximum<N> {
    fn observe(&mut self, cost: Span) {
        let cost = cost.max(Span::ZERO);
        let foretold = self.largest + self.margin;
        self.margin =
            if self.len > 0 && cost > foretold { cost - foretold } else { self.margin - self.margin / MARGIN_DECAY };
        self.costs[self.next] = cost;
        self.next = (self.next + 1) % N;
        self.len = (self.len + 1).min(N);
        self.largest = self.costs[..self.len].iter().copied().max().unwrap_or(Span::ZERO);
    }

    fn budget(&self, _miss: MissBudget) -> Option<Span> {
        (self.len > 0).then_some(self.largest + self.margin)
    }

    fn typical(&self) -> Option<Span> {
        (self.len > 0).then(|| self.costs[..self.len].iter().copied().sum::<Span>() / self.len as i64)
    }

    fn samples(&self) -> usize {
        self.len
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_surprise_is_remembered_longer_than_the_window_and_forgotten_slowly() {
        let mut maximum = SlidingMaximum::<8>::new();
        let mut feed = |micros: i64, times: usize| {
            for _ in 0..times {
                maximum.observe(Span::from_micros(micros));
            }
            maximum.budget(MissBudget::NONE).unwrap().as_millis_f64()
        };
        assert_eq!(feed(2_000, 20), 2.0);
        assert_eq!(feed(6_000, 1), 10.0, "the largest and the excess over what was foretold");
        let after_the_window = feed(2_000, 8);
        assert!((5.4..5.6).contains(&after_the_window), "{after_the_window}");
        let much_later = feed(2_000, 600);
        assert!((2.0..2.01).contains(&much_later), "{much_later}");
    }
}

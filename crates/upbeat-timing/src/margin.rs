//! A safety margin that jumps up when it was too small and decays slowly.
//!
//! A quantile of a short window cannot predict rare costs, and the window's largest value is no estimate either: a
//! single hiccup at a program's start would cost latency for as long as the window remembers it. So the window answers
//! with a quantile that it can know ([`known_quantile`]). The margin on top rises by each miss at once, and falls by a
//! small share of itself with every frame in time.

use super::defaults::{LARGEST_JUMP, LARGEST_MARGIN_SHARE, MARGIN_DECAY, RAREST_KNOWN};
use super::estimator::MissBudget;
use crate::time::Span;

/// The miss budget that a window can answer; the margin covers the rest.
pub fn known_quantile(miss: MissBudget) -> MissBudget {
    miss.max(RAREST_KNOWN)
}

/// A margin on top of an estimate, never below its floor.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Margin {
    now: Span,
    floor: Span,
}

impl Margin {
    /// A margin that starts at its floor.
    pub const fn new(floor: Span) -> Self {
        Margin { now: floor, floor }
    }

    /// The time to add to the estimate.
    pub const fn get(self) -> Span {
        self.now
    }

    /// Learns how far a frame exceeded estimate plus margin (`overshoot` > 0), or that it was in time (≤ 0).
    pub fn observe(&mut self, overshoot: Span, interval: Span) {
        if overshoot > Span::ZERO {
            self.now = (self.now + overshoot.min(LARGEST_JUMP)).min((interval / LARGEST_MARGIN_SHARE).max(self.floor));
        } else {
            self.now -= (self.now - self.floor) / MARGIN_DECAY;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::defaults::CLIENT_FLOOR;

    const FLOOR: Span = CLIENT_FLOOR;

    #[test]
    fn it_jumps_and_then_decays_to_its_floor() {
        let interval = Span::from_millis(16);
        let mut margin = Margin::new(FLOOR);
        margin.observe(Span::from_millis(1), interval);
        assert_eq!(margin.get(), FLOOR + Span::from_millis(1));
        margin.observe(Span::from_seconds(1), interval);
        assert_eq!(margin.get(), FLOOR + Span::from_millis(2));
        (0..9).for_each(|_| margin.observe(Span::from_seconds(1), interval));
        assert_eq!(margin.get(), Span::from_millis(4));
        (0..2_000).for_each(|_| margin.observe(Span::ZERO, interval));
        assert!(margin.get() < FLOOR + Span::from_micros(1));
    }
}

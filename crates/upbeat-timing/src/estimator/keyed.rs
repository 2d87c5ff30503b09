//! One estimator per range of recent load.

use super::{Estimator, MissBudget};
use crate::time::Span;

/// The weight of a refresh in the recent load: about half a second at 60 Hz.
const LOAD_WEIGHT: f64 = 1.0 / 32.0;
/// The load has to leave its range by this much before the range changes, so that a load on the border does not flicker.
const HYSTERESIS: f64 = 0.05;
/// A range with fewer samples than this borrows the answer of the range that has the most.
const ENOUGH_SAMPLES: usize = 8;

/// Keeps a history for each of `K` ranges of recent load, because the same work costs more on an idle machine.
///
/// Starting late leaves the processor idle, an idle processor lowers its clock, and then the work takes longer than
/// the history of busier times foretold. The load is the share of each refresh interval that was spent working,
/// averaged over about half a second; [`KeyedByLoad::refreshed`] tells it.
#[derive(Clone, Debug)]
pub struct KeyedByLoad<E, const K: usize> {
    ranges: [E; K],
    load: f64,
    current: usize,
}

impl<E: Estimator, const K: usize> KeyedByLoad<E, K> {
    /// The same empty estimator for every range. The load is taken to be none until told.
    pub fn new(empty: E) -> Self
    where
        E: Clone,
    {
        const { assert!(K > 0, "at least one range") };
        KeyedByLoad { ranges: std::array::from_fn(|_| empty.clone()), load: 0.0, current: 0 }
    }

    /// A refresh interval has passed in which `busy` was spent working. An empty interval tells nothing.
    pub fn refreshed(&mut self, busy: Span, interval: Span) {
        if interval <= Span::ZERO {
            return;
        }
        let share = (busy.as_nanos() as f64 / interval.as_nanos() as f64).clamp(0.0, 1.0);
        self.load += LOAD_WEIGHT * (share - self.load);
        let width = 1.0 / K as f64;
        let (low, high) = (self.current as f64 * width, (self.current + 1) as f64 * width);
        if self.load < low - HYSTERESIS || self.load > high + HYSTERESIS {
            self.current = ((self.load / width) as usize).min(K - 1);
        }
    }

    /// The recent load, from 0 to 1.
    pub const fn load(&self) -> f64 {
        self.load
    }

    fn answering(&self) -> &E {
        let current = &self.ranges[self.current];
        if current.samples() >= ENOUGH_SAMPLES {
            return current;
        }
        self.ranges.iter().max_by_key(|range| range.samples()).unwrap_or(current)
    }
}

impl<E: Estimator, const K: usize> Estimator for KeyedByLoad<E, K> {
    fn observe(&mut self, cost: Span) {
        self.ranges[self.current].observe(cost);
    }

    fn budget(&self, miss: MissBudget) -> Option<Span> {
        self.answering().budget(miss)
    }

    fn typical(&self) -> Option<Span> {
        self.answering().typical()
    }

    fn samples(&self) -> usize {
        self.answering().samples()
    }
}

#[cfg(test)]
mod tests {
    use super::super::WindowQuantile;
    use super::*;

    const PERIOD: Span = Span::from_micros(16_667);

    #[test]
    fn the_history_of_busy_times_does_not_answer_for_idle_ones() {
        let mut keyed = KeyedByLoad::<WindowQuantile<64>, 4>::new(WindowQuantile::new());
        let mut run = |busy: Span, cost: Span, frames: usize| {
            for _ in 0..frames {
                keyed.refreshed(busy, PERIOD);
                keyed.observe(cost);
            }
            keyed.budget(MissBudget::per_mille(100)).unwrap()
        };
        // Idle: low clock, 4 ms. Busy: high clock, 2 ms.
        assert_eq!(run(Span::from_millis(2), Span::from_millis(4), 100), Span::from_millis(4));
        assert_eq!(run(Span::from_millis(15), Span::from_millis(2), 400), Span::from_millis(2));
        // Back to idle: the slow clock is remembered at once, though the last 400 frames were fast.
        assert_eq!(run(Span::from_millis(1), Span::from_millis(4), 120), Span::from_millis(4));
    }

    #[test]
    fn a_range_without_history_borrows() {
        let mut keyed = KeyedByLoad::<WindowQuantile<64>, 4>::new(WindowQuantile::new());
        assert_eq!(keyed.typical(), None);
        for _ in 0..20 {
            keyed.observe(Span::from_millis(3));
        }
        for _ in 0..200 {
            keyed.refreshed(PERIOD, PERIOD);
        }
        assert!(keyed.load() > 0.9);
        assert_eq!(keyed.typical(), Some(Span::from_millis(3)));
    }
}

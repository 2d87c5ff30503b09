//! Two-shot rendering: a frame as insurance, then a fresher frame if it still fits.

use super::{Estimator, TwoShot};
use crate::defaults::TWO_SHOT;
use crate::time::{Instant, Span};

impl Default for TwoShot {
    fn default() -> Self {
        TWO_SHOT
    }
}

impl TwoShot {
    /// When to start the insurance frame, for content that must be ready by `ready_by`; `None` before any cost is
    /// known (start at once).
    pub fn first_start(&self, costs: &impl Estimator, ready_by: Instant) -> Option<Instant> {
        Some(ready_by - costs.budget(self.insurance)?)
    }

    /// When to start the second shot after the insurance frame was finished at `now`.
    ///
    /// `None` if it does not fit any more, or if its input would be less than `worth` newer than the input of the
    /// first, which was sampled at `sampled`.
    pub fn second_start(
        &self,
        costs: &impl Estimator,
        now: Instant,
        ready_by: Instant,
        sampled: Instant,
        worth: Span,
    ) -> Option<Instant> {
        let start = ready_by - costs.budget(self.second)?;
        (start >= now && start - sampled >= worth).then_some(start)
    }
}

#[cfg(test)]
mod tests {
    use super::super::WindowQuantile;
    use super::*;

    const fn at(micros: i64) -> Instant {
        Instant::from_nanos(1_000 * micros as u64)
    }

    fn costs() -> WindowQuantile<128> {
        let mut costs = WindowQuantile::new();
        for index in 0..128 {
            costs.observe(Span::from_micros(if index % 50 == 0 { 9_000 } else { 3_000 }));
        }
        costs
    }

    #[test]
    fn the_second_shot_starts_later_with_the_typical_cost() {
        let shots = TwoShot::default();
        let first = shots.first_start(&costs(), at(16_000));
        assert_eq!(first, Some(at(7_000)));
        let second = shots.second_start(&costs(), at(10_000), at(16_000), at(7_000), Span::from_millis(1));
        assert_eq!(second, Some(at(13_000)));
    }

    #[test]
    fn no_second_shot_that_is_late_already_or_gains_nothing() {
        let shots = TwoShot::default();
        let late = shots.second_start(&costs(), at(13_500), at(16_000), at(7_000), Span::from_millis(1));
        assert_eq!(late, None);
        let useless = shots.second_start(&costs(), at(10_000), at(16_000), at(12_500), Span::from_millis(1));
        assert_eq!(useless, None);
    }

    #[test]
    fn nothing_known_nothing_planned() {
        assert_eq!(TwoShot::default().first_start(&WindowQuantile::<8>::new(), at(1)), None);
    }
}

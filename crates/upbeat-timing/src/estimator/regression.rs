//! Online quantile regression: learns the quantile of the next cost as a function of recent costs.

use super::{Estimator, MissBudget};
use crate::time::Span;

/// The shares of late frames that have a line; budgets in between are interpolated over their logarithm.
const RUNGS: [f64; 6] = [0.5, 0.1, 0.03, 0.01, 0.003, 0.001];
/// The first step of learning, in units of the recent mean deviation; falls with the number of samples.
const FIRST_STEP: f64 = 1.0;
/// The step never falls below this, so that the line keeps following the load.
const LAST_STEP: f64 = 0.06;
/// The weight of a cost in `recent`: a change of level shows after about two frames.
const FAST_WEIGHT: f64 = 0.5;
/// The weight of a cost in `usual` and `spread`: about a second.
const SLOW_WEIGHT: f64 = 1.0 / 64.0;

/// Predicts each quantile as `offset + slope × (recent − usual)`, trained by gradient descent on the pinball loss.
///
/// For autocorrelated loads, where heavy frames follow heavy frames: the answer rises and falls with them, whereas the
/// quantile of a window keeps the worst for the whole window. Lines for six shares are trained on every cost; a budget
/// outside of these shares gets the nearest.
#[derive(Clone, Debug)]
pub struct QuantileRegression {
    lines: [QuantileLine; RUNGS.len()],
    /// Average of the last few costs, in nanoseconds.
    recent: f64,
    /// Average over about a second.
    usual: f64,
    /// Mean absolute deviation from `usual`: the unit of the steps.
    spread: f64,
    samples: usize,
}

#[derive(Clone, Copy, Debug, Default)]
struct QuantileLine {
    offset: f64,
    slope: f64,
}

impl QuantileRegression {
    /// An estimator without any observations.
    pub const fn new() -> Self {
        const LEVEL: QuantileLine = QuantileLine { offset: 0.0, slope: 0.0 };
        QuantileRegression { lines: [LEVEL; RUNGS.len()], recent: 0.0, usual: 0.0, spread: 0.0, samples: 0 }
    }

    /// How far recent costs lie from the usual, in units of the spread, clamped so that a step stays bounded.
    fn feature(&self) -> f64 {
        if self.spread > 0.0 { ((self.recent - self.usual) / self.spread).clamp(-4.0, 4.0) } else { 0.0 }
    }

    fn predict(&self, line: usize) -> f64 {
        let line = self.lines[line];
        self.usual + self.spread * (line.offset + line.slope * self.feature())
    }
}

impl Default for QuantileRegression {
    fn default() -> Self {
        Self::new()
    }
}

impl Estimator for QuantileRegression {
    fn observe(&mut self, cost: Span) {
        let cost = cost.max(Span::ZERO).as_nanos() as f64;
        if self.samples == 0 {
            (self.recent, self.usual) = (cost, cost);
        }
        self.samples += 1;
        let step = (FIRST_STEP / (self.samples as f64).sqrt()).max(LAST_STEP);
        let feature = self.feature();
        for (index, share) in RUNGS.into_iter().enumerate() {
            let late = cost > self.predict(index);
            // The gradient of the pinball loss: a rare large step up against many small steps down. For
            // rarer misses one step has to cover more of the spread: hence the growth with the logarithm.
            let scale = step * (1.0 - share.ln());
            let gradient = scale * if late { 1.0 - share } else { -share };
            self.lines[index].offset += gradient;
            self.lines[index].slope += 0.25 * gradient * feature;
        }
        let slow = SLOW_WEIGHT.max(1.0 / self.samples as f64);
        self.spread += slow * ((cost - self.usual).abs() - self.spread);
        self.usual += slow * (cost - self.usual);
        self.recent += FAST_WEIGHT * (cost - self.recent);
    }

    fn budget(&self, miss: MissBudget) -> Option<Span> {
        if self.samples == 0 {
            return None;
        }
        let share = miss.as_fraction();
        let last = RUNGS.len() - 1;
        let below = RUNGS.iter().position(|rung| *rung <= share).unwrap_or(last);
        let above = below.saturating_sub(1);
        let predicted = if below == above || share <= RUNGS[last] {
            self.predict(below)
        } else {
            // A budget that is exactly a rung needs no logarithms.
            let way = if share == RUNGS[below] {
                1.0
            } else {
                (RUNGS[above] / share).ln() / (RUNGS[above] / RUNGS[below]).ln()
            };
            self.predict(above) + way * (self.predict(below) - self.predict(above))
        };
        // Lines are trained separately and may cross; a stricter budget never gets less than the median.
        Some(Span::from_nanos(predicted.max(self.predict(0)).max(0.0) as i64))
    }

    fn samples(&self) -> usize {
        self.samples
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A repeatable sequence of numbers in `[0, 1)`.
    fn noise(seed: &mut u64) -> f64 {
        *seed = seed.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        (*seed >> 11) as f64 / (1_u64 << 53) as f64
    }

    fn miss_share(miss: MissBudget, frames: usize, mut next: impl FnMut(&mut u64) -> f64) -> f64 {
        let (mut regression, mut seed, mut late) = (QuantileRegression::new(), 7, 0);
        for frame in 0..frames {
            let cost = Span::from_millis_f64(next(&mut seed));
            if frame >= frames / 4 && regression.budget(miss).is_some_and(|budget| cost > budget) {
                late += 1;
            }
            regression.observe(cost);
        }
        late as f64 / (frames - frames / 4) as f64
    }

    #[test]
    fn the_share_of_late_frames_is_near_the_budget() {
        for (share, low, high) in [(500, 0.45, 0.55), (100, 0.08, 0.12), (50, 0.03, 0.07), (10, 0.004, 0.016)] {
            let late = miss_share(MissBudget::per_mille(share), 40_000, |seed| {
                let (a, b) = (noise(seed), noise(seed));
                4.0 + 2.0 * a + if b < 0.05 { 6.0 * a } else { 0.0 }
            });
            assert!((low..high).contains(&late), "asked for {share} ‰, got {late}");
        }
    }

    #[test]
    fn it_foretells_less_in_a_calm_phase_than_in_a_heavy_one() {
        let (mut regression, mut seed) = (QuantileRegression::new(), 3);
        let mut last = [Span::ZERO; 2];
        for frame in 0..6_000 {
            let heavy = frame / 20 % 2;
            regression.observe(Span::from_millis_f64(5.0 + 5.0 * heavy as f64 + 0.5 * noise(&mut seed)));
            if frame % 20 == 15 {
                // One frame in twenty changes the phase unpredictably: use a budget that allows it.
                last[heavy] = regression.budget(MissBudget::per_mille(100)).unwrap();
            }
        }
        assert!(last[0] + Span::from_millis(3) < last[1], "{last:?}");
    }
}

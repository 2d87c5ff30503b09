//! Exponentially weighted mean plus a number of standard deviations.

use super::{Estimator, MissBudget};
use crate::time::Span;

/// The weight of a new cost: 1/32 remembers about as much as Presto's 32 frames.
const DEFAULT_WEIGHT: f64 = 1.0 / 32.0;

/// Exponentially weighted mean and variance; the answer is mean + k σ.
///
/// `k` follows from the miss budget as if costs were normally distributed. Real costs have a longer tail, so that small
/// budgets are exceeded; wrap it in a [`super::TailMargin`] where that matters. It takes constant time and 32 bytes, so
/// that many surfaces can have one.
#[derive(Clone, Debug)]
pub struct EwmaSigma {
    weight: f64,
    mean: f64,
    variance: f64,
    samples: usize,
}

impl EwmaSigma {
    /// An empty estimator; the miss budget determines how many standard deviations it adds.
    pub const fn new() -> Self {
        EwmaSigma { weight: DEFAULT_WEIGHT, mean: 0.0, variance: 0.0, samples: 0 }
    }
}

impl Default for EwmaSigma {
    fn default() -> Self {
        Self::new()
    }
}

impl Estimator for EwmaSigma {
    fn observe(&mut self, cost: Span) {
        let cost = cost.max(Span::ZERO).as_nanos() as f64;
        self.samples += 1;
        // The first samples, fewer than the weight presumes, are weighed equally: a plain mean.
        let weight = self.weight.max(1.0 / self.samples as f64);
        let deviation = cost - self.mean;
        self.mean += weight * deviation;
        self.variance = (1.0 - weight) * (self.variance + weight * deviation * deviation);
    }

    fn budget(&self, miss: MissBudget) -> Option<Span> {
        if self.samples == 0 {
            return None;
        }
        let factor = normal_quantile_above(miss.as_fraction());
        Some(Span::from_nanos((self.mean + factor * self.variance.sqrt()).max(0.0) as i64))
    }

    fn typical(&self) -> Option<Span> {
        (self.samples > 0).then_some(Span::from_nanos(self.mean as i64))
    }

    fn samples(&self) -> usize {
        self.samples
    }
}

/// How many standard deviations above the mean leave the share `above` of a normal distribution above them.
///
/// Abramowitz and Stegun 26.2.23, absolute error below 4.5e-4; smaller shares than one in a million count as one in a
/// million.
fn normal_quantile_above(above: f64) -> f64 {
    let above = above.clamp(1e-6, 1.0 - 1e-6);
    let (tail, sign) = if above <= 0.5 { (above, 1.0) } else { (1.0 - above, -1.0) };
    let t = (-2.0 * tail.ln()).sqrt();
    let numerator = 2.515_517 + t * (0.802_853 + t * 0.010_328);
    let denominator = 1.0 + t * (1.432_788 + t * (0.189_269 + t * 0.001_308));
    sign * (t - numerator / denominator)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_factor_is_the_normal_quantile() {
        for (above, factor) in [(0.5, 0.0), (0.158_655, 1.0), (0.022_750, 2.0), (0.001_350, 3.0), (0.977_250, -2.0)] {
            assert!((normal_quantile_above(above) - factor).abs() < 1e-3, "{above}");
        }
    }

    #[test]
    fn it_follows_a_change_of_level_and_of_spread() {
        // Of a normal distribution 2.3 % lie above 2 σ.
        let two_sigma = MissBudget::per_mille(23);
        let mut ewma = EwmaSigma::new();
        assert_eq!(ewma.typical(), None);
        for i in 0..400_i64 {
            ewma.observe(Span::from_micros(2_000 + 100 * (i % 2)));
        }
        let calm = ewma.budget(two_sigma).unwrap().as_millis_f64();
        assert!((2.14..2.16).contains(&calm), "mean 2.05 + 2 σ of .05, got {calm}");
        for i in 0..400_i64 {
            ewma.observe(Span::from_micros(6_000 + 1_000 * (i % 2)));
        }
        let wild = ewma.budget(two_sigma).unwrap().as_millis_f64();
        assert!((7.4..7.6).contains(&wild), "mean 6.5 + 2 σ of .5, got {wild}");
    }

    #[test]
    fn a_smaller_budget_asks_for_more_time() {
        let mut ewma = EwmaSigma::new();
        for i in 0..100_i64 {
            ewma.observe(Span::from_micros(1_000 + 37 * (i % 11)));
        }
        let budgets = [500, 100, 10, 1].map(|share| ewma.budget(MissBudget::per_mille(share)).unwrap());
        assert!(budgets.windows(2).all(|pair| pair[0] < pair[1]), "{budgets:?}");
    }
}

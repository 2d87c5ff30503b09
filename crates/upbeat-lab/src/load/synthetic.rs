//! Generates loads by seed: a lognormal body with a Pareto tail of key frames.
//!
//! D-VSync 3.2: 78.3 % of frames finish within a period, about 5 % fail even with triple buffering; the costs follow a
//! power law. Costs are in refresh intervals, so that a load means the same at every rate.

use super::{FrameCost, Load};
use crate::random::Random;
use upbeat_timing::time::Span;

/// Recording's share of a body frame's cost; the rest is rendering.
const BODY_RECORD_SHARE: f64 = 0.45;
/// Range of recording's share of a key frame's cost: loading an image is CPU, blurring it is GPU.
const KEY_RECORD_SHARE: (f64, f64) = (0.1, 0.9);
/// Largest cost of a frame in intervals (half a second at 60 Hz).
const MOST_INTERVALS: f64 = 30.0;

/// Distribution of key frames over time.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum KeyFrameArrangement {
    /// Each frame is a key frame with the same probability, independent of earlier frames.
    Independent,
    /// Key frames keep a distance of at least this many frames.
    Scattered(usize),
    /// Bursts: within one, a frame is a key frame with probability `inside`; a burst goes on with probability `stay`.
    Clustered {
        /// Probability of a key frame inside of a burst.
        inside: f64,
        /// Probability that the burst includes the next frame.
        stay: f64,
    },
}

/// A distribution of frame costs, in refresh intervals.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct CostMix {
    pub name: &'static str,
    /// Share of frames whose cost is at most one interval.
    pub within_interval: f64,
    /// Standard deviation of the logarithm of the body's cost.
    pub sigma: f64,
    /// Share of key frames.
    pub key_share: f64,
    /// Least cost of a key frame.
    pub key_least: f64,
    /// Tail index of the key frames; smaller is heavier.
    pub key_alpha: f64,
    /// Greatest cost of a key frame.
    pub key_most: f64,
    pub arrangement: KeyFrameArrangement,
    /// Autocorrelation of the body's costs from frame to frame, 0 to 1.
    pub correlation: f64,
}

/// A: the workload law of D-VSync's figure 1, about 5 % of refreshes missed by triple buffering. Tail fitted to that
/// and to the reductions with 4 and 5 buffers.
pub const A: CostMix = CostMix {
    name: "A",
    within_interval: 0.783,
    sigma: 0.45,
    key_share: 0.06,
    key_least: 1.4,
    key_alpha: 3.2,
    key_most: MOST_INTERVALS,
    arrangement: KeyFrameArrangement::Independent,
    correlation: 0.0,
};

/// B: Pixel 5, 2.04 drops/s at 60 Hz.
pub const B: CostMix = CostMix { name: "B", key_share: 0.032, key_alpha: 2.8, ..A };

/// C: scattered key frames of at most three intervals (D-VSync 6.1, Walmart).
pub const C: CostMix = CostMix {
    name: "C scattered",
    key_share: 0.052,
    key_least: 1.5,
    key_alpha: 1.0,
    key_most: 3.0,
    arrangement: KeyFrameArrangement::Scattered(8),
    ..A
};

/// D: heavy key frames in bursts (D-VSync 6.1, QQMusic).
pub const D: CostMix = CostMix {
    name: "D clustered",
    key_share: 0.09,
    key_least: 1.4,
    key_alpha: 1.6,
    arrangement: KeyFrameArrangement::Clustered { inside: 0.9, stay: 0.95 },
    ..A
};

/// E: the tail of A in bursts.
pub const E: CostMix =
    CostMix { name: "E clustered A", arrangement: KeyFrameArrangement::Clustered { inside: 0.6, stay: 0.85 }, ..A };

/// F: high load, 60 % within an interval.
pub const F: CostMix = CostMix { name: "F high load", within_interval: 0.6, ..A };

pub const MIXES: [CostMix; 6] = [A, B, C, D, E, F];

impl CostMix {
    /// Application `index` of the mixed applications of D-VSync's figure 11: tail, share and clustering drawn by seed.
    pub fn application(index: u64) -> CostMix {
        let mut random = Random::new(0xA9_95 + index);
        let arrangement = if random.chance(0.4) {
            KeyFrameArrangement::Clustered { inside: random.between(0.3, 0.6), stay: random.between(0.5, 0.85) }
        } else {
            KeyFrameArrangement::Independent
        };
        CostMix {
            name: "application",
            within_interval: random.between(0.72, 0.85),
            sigma: random.between(0.35, 0.5),
            key_share: random.between(0.02, 0.06),
            key_alpha: random.between(2.2, 4.0),
            arrangement,
            ..A
        }
    }

    /// Generates `count` frames for a display of `interval`.
    pub fn generate(&self, interval: Span, count: usize, seed: u64) -> Load {
        let mut random = Random::new(seed);
        let mut keys = KeyFrames { mix: *self, in_burst: false, since_key: usize::MAX };
        let median = self.body_median();
        let unit = interval.as_nanos() as f64;
        let span = |intervals: f64| Span::from_nanos((intervals * unit) as i64);
        let mut body = random.normal();
        let frames = (0..count).map(|_| {
            body = self.correlation * body + (1.0 - self.correlation * self.correlation).sqrt() * random.normal();
            let (cost, share) = if keys.next(&mut random) {
                let cost = random.pareto(self.key_least, self.key_alpha).min(self.key_most);
                (cost, random.between(KEY_RECORD_SHARE.0, KEY_RECORD_SHARE.1))
            } else {
                ((median * (self.sigma * body).exp()).min(MOST_INTERVALS), BODY_RECORD_SHARE)
            };
            FrameCost { record: span(cost * share), render: span(cost * (1.0 - share)) }
        });
        Load { name: self.name.to_owned(), interval, animation: 0, frames: frames.collect() }
    }

    /// The median of the body with which the wanted share of all frames costs at most one interval.
    fn body_median(&self) -> f64 {
        let body_within = (self.within_interval / (1.0 - self.key_share)).min(0.999);
        (-self.sigma * normal_quantile(body_within)).exp()
    }
}

/// Chooses the key frames.
struct KeyFrames {
    mix: CostMix,
    in_burst: bool,
    since_key: usize,
}

impl KeyFrames {
    fn next(&mut self, random: &mut Random) -> bool {
        let share = self.mix.key_share;
        let probability = match self.mix.arrangement {
            KeyFrameArrangement::Independent => share,
            KeyFrameArrangement::Scattered(distance) => {
                // The mean distance is 1/share: the fixed part plus a geometric part.
                let rest = (1.0 / share - distance as f64).max(1.0);
                if self.since_key < distance { 0.0 } else { 1.0 / rest }
            }
            KeyFrameArrangement::Clustered { inside, stay } => {
                // Share of frames in bursts; the part `inside` of them are key frames.
                let burst_share = (share / inside).min(0.9);
                let enter = burst_share / (1.0 - burst_share) * (1.0 - stay);
                self.in_burst = random.chance(if self.in_burst { stay } else { enter });
                if self.in_burst { inside } else { 0.0 }
            }
        };
        let key = random.chance(probability);
        self.since_key = if key { 0 } else { self.since_key.saturating_add(1) };
        key
    }
}

/// The quantile of the standard normal distribution, by bisection on its distribution function: computed once per load.
fn normal_quantile(share: f64) -> f64 {
    let (mut low, mut high) = (-6.0_f64, 6.0_f64);
    for _ in 0..60 {
        let middle = (low + high) / 2.0;
        if normal_cdf(middle) < share { low = middle } else { high = middle }
    }
    (low + high) / 2.0
}

/// Abramowitz and Stegun 26.2.17, absolute error below 7.5e-8.
fn normal_cdf(x: f64) -> f64 {
    let t = 1.0 / (1.0 + 0.231_641_9 * x.abs());
    let series =
        t * (0.319_381_530 + t * (-0.356_563_782 + t * (1.781_477_937 + t * (-1.821_255_978 + t * 1.330_274_429))));
    let upper = (-x * x / 2.0).exp() / (2.0 * std::f64::consts::PI).sqrt() * series;
    if x >= 0.0 { 1.0 - upper } else { upper }
}

#[cfg(test)]
mod tests {
    use super::*;

    const INTERVAL: Span = Span::from_micros(16_667);

    #[test]
    fn every_mix_keeps_its_share_within_an_interval() {
        for mix in MIXES {
            let load = mix.generate(INTERVAL, 60_000, 5);
            let within = 1.0 - load.share_above(1.0);
            assert!((within - mix.within_interval).abs() < 0.015, "{}: {within}", mix.name);
        }
    }

    #[test]
    fn a_is_the_load_of_the_reference_model() {
        let load = A.generate(INTERVAL, 100_000, 1);
        for (periods, expected, tolerance) in [(2.0, 0.025, 0.002), (3.0, 0.0052, 0.0007), (5.0, 0.0009, 0.0003)] {
            let share = load.share_above(periods);
            assert!((share - expected).abs() < tolerance, "above {periods}: {share}");
        }
        assert!((load.mean_periods() - 0.80).abs() < 0.01, "{}", load.mean_periods());
    }

    #[test]
    fn clustered_keys_come_together_and_scattered_ones_apart() {
        let gaps = |mix: CostMix| {
            let load = CostMix { sigma: 0.01, ..mix }.generate(INTERVAL, 50_000, 2);
            let keys: Vec<usize> =
                (0..load.frames.len()).filter(|index| load.frames[*index].total() > INTERVAL.scale(13, 10)).collect();
            let near = keys.windows(2).filter(|pair| pair[1] - pair[0] <= 3).count();
            near as f64 / keys.len() as f64
        };
        assert_eq!(gaps(C), 0.0);
        assert!(gaps(E) > 0.6 && gaps(A) < 0.3, "{} {}", gaps(E), gaps(A));
    }
}

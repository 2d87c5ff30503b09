//! Distributions of values, in constant memory.

/// Bins in a power of two: a quantile is off by a thousandth at most, and exact where the values of a bin are equal.
const BINS: usize = 512;
/// Number of exponents of an `f32`.
const POWERS: usize = 256;
/// Low bits of an `f32`'s mantissa that do not select a bin.
const IGNORED: u32 = 23 - BINS.ilog2();

/// A histogram of non-negative values, such as latencies in milliseconds.
#[derive(Clone, Debug, Default)]
pub struct Histogram {
    /// By power of two; allocated at the first value in it.
    pages: Vec<Option<Box<[HistogramBin; BINS]>>>,
    count: u64,
    sum: f64,
    max: f64,
}

#[derive(Clone, Copy, Debug, Default)]
struct HistogramBin {
    count: u64,
    sum: f64,
}

/// Mean and quantiles of a set of spans, in milliseconds.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Summary {
    pub count: usize,
    pub mean: f64,
    pub p50: f64,
    pub p95: f64,
    pub p99: f64,
    pub max: f64,
}

impl Histogram {
    /// Adds a value; a negative value counts as zero.
    pub fn add(&mut self, value: f64) {
        let value = value.max(0.0);
        let bits = (value as f32).to_bits();
        let (page, bin) = ((bits >> 23) as usize % POWERS, (bits >> IGNORED) as usize % BINS);
        if self.pages.len() <= page {
            self.pages.resize(page + 1, None);
        }
        let bin = &mut self.pages[page].get_or_insert_with(|| Box::new([HistogramBin::default(); BINS]))[bin];
        bin.count += 1;
        bin.sum += value;
        self.count += 1;
        self.sum += value;
        self.max = self.max.max(value);
    }

    pub const fn count(&self) -> u64 {
        self.count
    }

    /// The arithmetic mean; zero without values.
    pub fn mean(&self) -> f64 {
        self.sum / self.count.max(1) as f64
    }

    /// The mean and the number of values of each bin, the smallest first.
    pub fn iter(&self) -> impl Iterator<Item = (f64, u64)> {
        let bins = self.pages.iter().flatten().flat_map(|page| page.iter()).filter(|bin| bin.count > 0);
        bins.map(|bin| (bin.sum / bin.count as f64, bin.count))
    }

    pub fn summary(&self) -> Summary {
        let [p50, p95, p99] = [0.5, 0.95, 0.99].map(|share| self.quantile(share));
        Summary { count: self.count as usize, mean: self.mean(), p50, p95, p99, max: self.max }
    }

    fn quantile(&self, share: f64) -> f64 {
        let mut left = (self.count.saturating_sub(1) as f64 * share).round() as u64;
        for (value, count) in self.iter() {
            if left < count {
                return value;
            }
            left -= count;
        }
        0.0
    }
}

/// A mean of non-negative values without their distribution.
#[derive(Clone, Copy, Debug, Default)]
pub struct RunningMean {
    count: u64,
    sum: f64,
}

impl RunningMean {
    /// Adds a value; a negative value counts as zero.
    pub fn add(&mut self, value: f64) {
        self.count += 1;
        self.sum += value.max(0.0);
    }

    pub const fn count(&self) -> u64 {
        self.count
    }

    /// The arithmetic mean; zero without values.
    pub fn mean(&self) -> f64 {
        self.sum / self.count.max(1) as f64
    }
}

impl FromIterator<f64> for Histogram {
    fn from_iter<T: IntoIterator<Item = f64>>(values: T) -> Self {
        let mut distribution = Histogram::default();
        values.into_iter().for_each(|value| distribution.add(value));
        distribution
    }
}

impl Summary {
    /// Summary of `values`; reorders them.
    pub fn of(values: &mut [f32]) -> Summary {
        if values.is_empty() {
            return Summary::default();
        }
        values.sort_unstable_by(f32::total_cmp);
        let at = |share: f64| f64::from(values[((values.len() - 1) as f64 * share).round() as usize]);
        Summary {
            count: values.len(),
            mean: values.iter().map(|value| f64::from(*value)).sum::<f64>() / values.len() as f64,
            p50: at(0.5),
            p95: at(0.95),
            p99: at(0.99),
            max: at(1.0),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn equal_values_have_exact_quantiles() {
        let grid: Histogram = (0..1_000).map(|index| f64::from(index % 4) * 16.666_667).collect();
        let summary = grid.summary();
        assert!((summary.p50 - 33.333_334).abs() < 1e-9 && summary.max == 50.000_001, "{summary:?}");
        assert_eq!(Histogram::default().summary(), Summary::default());
        assert_eq!([-1.0].into_iter().collect::<Histogram>().summary().max, 0.0);
    }

    proptest! {
        #[test]
        fn quantiles_are_those_of_the_sorted_values(mut values in prop::collection::vec(0.0_f32..1e4, 1..400)) {
            let summary = values.iter().map(|value| f64::from(*value)).collect::<Histogram>().summary();
            let sorted = Summary::of(&mut values);
            for (ours, theirs) in [(summary.p50, sorted.p50), (summary.p99, sorted.p99), (summary.mean, sorted.mean)] {
                prop_assert!((ours - theirs).abs() <= theirs / BINS as f64 + 1e-9, "{} {}", ours, theirs);
            }
            prop_assert_eq!(summary.max, sorted.max);
        }
    }
}

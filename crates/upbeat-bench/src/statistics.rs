//! Quantiles of measurements. Never an average alone: a mean hides the frames that people see.

use serde::{Deserialize, Serialize};

use upbeat_timing::time::Span;

/// Median, 99th percentile and maximum, in milliseconds.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct Quantiles {
    pub p50: f64,
    pub p99: f64,
    pub max: f64,
}

impl Quantiles {
    /// Quantiles by the nearest-rank method (each figure is one of the samples); `None` without samples.
    pub fn of(spans: impl IntoIterator<Item = Span>) -> Option<Self> {
        let mut spans: Vec<Span> = spans.into_iter().collect();
        spans.sort_unstable();
        let last = *spans.last()?;
        // Nearest rank: at least this share of all samples is not larger than the result.
        let rank = |percent: usize| spans[(percent * spans.len()).div_ceil(100).max(1) - 1].as_millis_f64();
        Some(Quantiles { p50: rank(50), p99: rank(99), max: last.as_millis_f64() })
    }
}

/// `p50/p99/max` with one digit, for tables; a dash for `None`.
pub fn format_quantiles(quantiles: Option<Quantiles>) -> String {
    quantiles.map_or_else(|| "-".to_owned(), |of| format!("{:.1}/{:.1}/{:.1}", of.p50, of.p99, of.max))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn quantiles_are_samples_by_nearest_rank() {
        let of = |range: std::ops::RangeInclusive<i64>| Quantiles::of(range.map(Span::from_millis));
        assert_eq!(of(1..=100), Some(Quantiles { p50: 50.0, p99: 99.0, max: 100.0 }));
        assert_eq!(of(1..=1000), Some(Quantiles { p50: 500.0, p99: 990.0, max: 1000.0 }));
        assert_eq!(of(7..=7), Some(Quantiles { p50: 7.0, p99: 7.0, max: 7.0 }));
        assert_eq!(Quantiles::of([]), None);
    }

    #[test]
    fn the_order_of_samples_does_not_matter() {
        let spans = [3, 1, 2].map(Span::from_millis);
        assert_eq!(Quantiles::of(spans), Some(Quantiles { p50: 2.0, p99: 3.0, max: 3.0 }));
    }
}

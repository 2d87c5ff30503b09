//! Quantile of the last costs, kept sorted.

use super::{Estimator, MissBudget};
use crate::time::Span;

/// The exact quantile of the last `N` costs.
///
/// It keeps two arrays of fixed size: the costs in the order of arrival, and the same costs sorted. An observation
/// moves only the numbers between the oldest and the new cost; an answer is a single look-up.
///
/// For a miss budget below `1/N`, which `N` samples cannot answer, it is the largest cost seen.
#[derive(Clone, Debug)]
pub struct WindowQuantile<const N: usize> {
    arrival: [Span; N],
    sorted: [Span; N],
    len: usize,
    next: usize,
}

impl<const N: usize> WindowQuantile<N> {
    /// An estimator without any observations.
    pub const fn new() -> Self {
        WindowQuantile { arrival: [Span::ZERO; N], sorted: [Span::ZERO; N], len: 0, next: 0 }
    }

    /// The number of remembered costs that exceed `limit`.
    pub fn exceeding(&self, limit: Span) -> usize {
        // Usually no cost exceeds it, and the largest is known.
        if self.largest().is_none_or(|largest| largest <= limit) {
            return 0;
        }
        self.len - self.sorted[..self.len].partition_point(|cost| *cost <= limit)
    }

    /// The largest cost in the window.
    pub fn largest(&self) -> Option<Span> {
        self.sorted[..self.len].last().copied()
    }

    /// By how much a remembered cost exceeds `limit` on average; costs below it count as zero.
    pub fn mean_excess(&self, limit: Span) -> Span {
        let from = self.sorted[..self.len].partition_point(|cost| *cost <= limit);
        let sum = self.sorted[from..self.len].iter().fold(Span::ZERO, |sum, cost| sum + (*cost - limit));
        sum / self.len.max(1) as i64
    }

    /// The least remembered cost that the costs exceed by at most `allowed` on average.
    pub fn least_with_excess(&self, allowed: Span) -> Option<Span> {
        let (mut limit, allowed) = (self.largest()?, allowed * self.len as i64);
        let mut excess = Span::ZERO;
        for (place, cost) in self.sorted[..self.len].iter().enumerate().rev() {
            excess += (limit - *cost) * (self.len - 1 - place) as i64;
            if excess > allowed {
                break;
            }
            limit = *cost;
        }
        Some(limit)
    }

    /// Replaces a remembered cost by `cost`: only the costs between the two move.
    fn replace_sorted(&mut self, old: Span, cost: Span) {
        let from = self.sorted[..self.len].partition_point(|other| *other < old);
        let at = self.sorted[..self.len].partition_point(|other| *other < cost);
        if at > from {
            self.sorted.copy_within(from + 1..at, from);
            self.sorted[at - 1] = cost;
        } else {
            self.sorted.copy_within(at..from, at + 1);
            self.sorted[at] = cost;
        }
    }

    fn insert_sorted(&mut self, cost: Span) {
        let at = self.sorted[..self.len].partition_point(|other| *other < cost);
        self.sorted.copy_within(at..self.len, at + 1);
        self.sorted[at] = cost;
        self.len += 1;
    }
}

impl<const N: usize> Default for WindowQuantile<N> {
    fn default() -> Self {
        Self::new()
    }
}

impl<const N: usize> Estimator for WindowQuantile<N> {
    fn observe(&mut self, cost: Span) {
        let cost = cost.max(Span::ZERO);
        if self.len == N {
            self.replace_sorted(self.arrival[self.next], cost);
        } else {
            self.insert_sorted(cost);
        }
        self.arrival[self.next] = cost;
        self.next = (self.next + 1) % N;
    }

    fn budget(&self, miss: MissBudget) -> Option<Span> {
        let last = self.len.checked_sub(1)?;
        let above = (self.len as u64 * u64::from(miss.as_ppm()) / 1_000_000) as usize;
        Some(self.sorted[last.saturating_sub(above)])
    }

    fn samples(&self) -> usize {
        self.len
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn it_answers_with_the_quantile_of_the_window_only() {
        let mut window = WindowQuantile::<100>::new();
        assert_eq!(window.typical(), None);
        for cost in (1..=300).rev() {
            window.observe(Span::from_micros(cost));
        }
        assert_eq!(window.samples(), 100);
        assert_eq!(window.budget(MissBudget::NONE), Some(Span::from_micros(100)));
        assert_eq!(window.budget(MissBudget::per_mille(10)), Some(Span::from_micros(99)));
        assert_eq!(window.typical(), Some(Span::from_micros(50)));
        assert_eq!(window.exceeding(Span::from_micros(90)), 10);
    }

    #[test]
    fn it_knows_by_how_much_costs_exceed_a_limit_on_average() {
        let mut window = WindowQuantile::<10>::new();
        assert_eq!((window.mean_excess(Span::ZERO), window.least_with_excess(Span::ZERO)), (Span::ZERO, None));
        [2, 9, 2, 2, 6, 2, 2, 2, 2, 2].map(Span::from_millis).into_iter().for_each(|cost| window.observe(cost));
        let excess = [2, 5, 6, 9].map(|limit| window.mean_excess(Span::from_millis(limit)).as_millis_f64());
        assert_eq!(excess, [1.1, 0.5, 0.3, 0.0]);
        let least = [1_100, 1_099, 300, 299, 0].map(|allowed| window.least_with_excess(Span::from_micros(allowed)));
        assert_eq!(least, [2, 6, 6, 9, 9].map(|cost| Some(Span::from_millis(cost))));
    }

    #[test]
    fn equal_costs_leave_the_window_one_by_one() {
        let mut window = WindowQuantile::<3>::new();
        for cost in [5, 5, 5, 1, 1] {
            window.observe(Span::from_micros(cost));
        }
        assert_eq!(window.exceeding(Span::from_micros(1)), 1);
        assert_eq!(window.largest(), Some(Span::from_micros(5)));
    }
}

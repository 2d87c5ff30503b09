//! Rate limit for comparing scenes on behalf of waiting capture requests.
//!
//! A waiting request compares all layers of its subject in each turn. For one recorder this costs little. A client may
//! have many waiting requests, each for a window of thousands of surfaces: these are compared as often as the limit
//! allows, and the client with the fewest recent comparisons goes first.

use ahash::HashMap;
use smithay::reexports::wayland_server::backend::ClientId;

use upbeat_timing::time::{Instant, Span};

/// Layers compared for all clients within a refresh of 60 Hz: one to two milliseconds.
const MOST: i64 = 1_024;
const REFRESH: Span = Span::from_nanos(16_666_667);
/// Cost of a comparison without layers, in layers.
const LOOK: i64 = 4;

/// Layers compared recently; the number decays with time.
#[derive(Clone, Copy, Debug, Default)]
struct DecayingCount {
    layers: i64,
    at: Instant,
}

impl DecayingCount {
    fn at(self, now: Instant) -> i64 {
        let forgotten = (now - self.at).as_nanos().saturating_mul(MOST) / REFRESH.as_nanos();
        self.layers.saturating_sub(forgotten).max(0)
    }

    fn add(&mut self, layers: i64, now: Instant) {
        *self = DecayingCount { layers: self.at(now).saturating_add(layers), at: now };
    }
}

/// Comparisons for all clients.
#[derive(Debug, Default)]
pub(super) struct CompareBudget {
    all: DecayingCount,
    /// Layers compared since the start.
    pub(in crate::output) total: u64,
    of: HashMap<ClientId, DecayingCount>,
}

impl CompareBudget {
    /// When the next comparison may run; `None`: now. One comparison may exceed the limit: the next then waits longer.
    pub fn next_allowed(&self, now: Instant) -> Option<Instant> {
        let over = self.all.at(now) - MOST;
        (over > 0).then(|| now + Span::from_nanos(over.saturating_mul(REFRESH.as_nanos()) / MOST + 1))
    }

    /// Layers compared recently for `client`.
    pub fn recent_layers(&self, client: &ClientId, now: Instant) -> i64 {
        self.of.get(client).map_or(0, |lately| lately.at(now))
    }

    /// Counts a comparison of `layers` for `client`.
    pub fn charge(&mut self, client: Option<ClientId>, layers: usize, now: Instant) {
        let layers = i64::try_from(layers).unwrap_or(i64::MAX).saturating_add(LOOK);
        self.all.add(layers, now);
        self.total = self.total.saturating_add(layers.unsigned_abs());
        self.of.retain(|_, lately| lately.at(now) > 0);
        if let Some(client) = client {
            self.of.entry(client).or_default().add(layers, now);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn comparisons_are_limited_by_time_however_often_they_are_requested() {
        let (mut budget, mut now, mut looked) = (CompareBudget::default(), Instant::from_nanos(1), 0);
        let end = now + Span::from_seconds(1);
        while now < end {
            while budget.next_allowed(now).is_none() {
                budget.charge(None, 400, now);
                looked += 400;
            }
            now = budget.next_allowed(now).unwrap();
        }
        assert!((50_000..70_000).contains(&looked), "{looked}");
    }

    #[test]
    fn a_recorder_of_a_window_is_never_kept_waiting() {
        let (mut budget, mut now) = (CompareBudget::default(), Instant::from_nanos(1));
        for _ in 0..1_000 {
            // Four turns a refresh, forty surfaces.
            assert_eq!(budget.next_allowed(now), None);
            budget.charge(None, 40, now);
            now += Span::from_millis(4);
        }
    }
}

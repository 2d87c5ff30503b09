//! Software vsync: a grid of refreshes for a display that reports none.

use upbeat_timing::time::{Instant, Span};

/// Ticks at equal intervals.
#[derive(Clone, Copy, Debug)]
pub(super) struct SoftwareVsyncGrid {
    anchor: Instant,
    interval: Span,
}

impl SoftwareVsyncGrid {
    /// A grid with a tick at `anchor`.
    pub(super) const fn new(anchor: Instant, interval: Span) -> Self {
        SoftwareVsyncGrid { anchor, interval }
    }

    /// The last tick at or before `now`, and its number.
    pub(super) fn last(&self, now: Instant) -> (Instant, u64) {
        let number = now.since(self.anchor).as_nanos().max(0) / self.interval.as_nanos().max(1);
        (self.anchor + self.interval * number, number.unsigned_abs())
    }

    /// The first tick after `now`, and its number.
    pub(super) fn next(&self, now: Instant) -> (Instant, u64) {
        let (tick, number) = self.last(now);
        (tick + self.interval, number + 1)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_frame_is_light_at_the_first_tick_after_it_was_sent() {
        let at = |millis| Instant::from_nanos(5_000_000_000) + Span::from_millis(millis);
        let grid = SoftwareVsyncGrid::new(at(0), Span::from_millis(10));
        assert_eq!(grid.next(at(0)), (at(10), 1));
        assert_eq!(grid.next(at(9)), (at(10), 1));
        assert_eq!(grid.next(at(10)), (at(20), 2));
        assert_eq!(grid.last(at(19)), (at(10), 1));
        assert_eq!(grid.last(at(-5)), (at(0), 0), "before the beginning");
    }
}

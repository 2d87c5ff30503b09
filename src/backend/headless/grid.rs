//! The refresh times of the virtual panel: a fixed grid, or a range of intervals.
//!
//! A fixed rate is a range whose ends are equal, so one formula serves both. Every refresh is computed from the base in
//! whole nanoseconds and never by accumulation, so there is no drift.
//!
//! ```text
//! fixed     base        +1          +2          +3
//!            │───────────│───────────│───────────│           sequence = base.sequence + k, time = base + k · interval
//! variable  base   shortest          longest
//!            │────────┊▒▒▒▒▒▒▒▒▒▒▒▒▒▒▒│                      a frame due within ▒ scans out at once;
//!            │                        │────────┊▒▒▒▒▒▒▒▒│    none by then: the panel repeats the old one
//! ```

use upbeat_timing::time::{Instant, Span};

pub use upbeat_record::recording::RecordedRefresh;

/// The coming refreshes, as far as they do not depend on frames.
#[derive(Clone, Copy, Debug)]
pub struct RefreshGrid {
    base: RecordedRefresh,
    shortest: Span,
    longest: Span,
}

impl RefreshGrid {
    /// A grid whose refresh number `base.sequence` starts at `base.time`. Intervals under a nanosecond count as one
    /// nanosecond, and `longest` is at least `shortest`.
    pub fn new(base: RecordedRefresh, shortest: Span, longest: Span) -> Self {
        let shortest = shortest.max(Span::from_nanos(1));
        RefreshGrid { base, shortest, longest: longest.max(shortest) }
    }

    /// The shortest interval between two refreshes; at a fixed rate every interval.
    pub fn shortest(&self) -> Span {
        self.shortest
    }

    /// The last refresh at or before `now`, provided no frame changed the cadence since the base; `None` before it.
    pub fn last_at(&self, now: Instant) -> Option<RecordedRefresh> {
        let elapsed = now.since(self.base.time);
        (!elapsed.is_negative()).then(|| self.repeated(elapsed.as_nanos() / self.longest.as_nanos()))
    }

    /// The first refresh after the base that starts at or after `due`.
    pub fn first_from(&self, due: Instant) -> RecordedRefresh {
        let elapsed = due.since(self.base.time).as_nanos().max(0);
        // The panel repeats its picture `repeats` times before the interval that contains `due`.
        let repeats = (elapsed.max(1) - 1) / self.longest.as_nanos();
        let earliest = self.repeated(repeats).time + self.shortest;
        RecordedRefresh { time: earliest.max(due), sequence: self.base.sequence + repeats as u64 + 1 }
    }

    /// The first refresh after `now` if no frame comes before it.
    pub fn next_repeat(&self, now: Instant) -> RecordedRefresh {
        let elapsed = now.since(self.base.time).as_nanos().max(0);
        self.repeated(elapsed / self.longest.as_nanos() + 1)
    }

    /// When refresh number `sequence` starts if no frame comes before it. Refreshes before the base get the base's
    /// time.
    pub fn time_of(&self, sequence: u64) -> Instant {
        let ahead = i64::try_from(sequence.saturating_sub(self.base.sequence)).unwrap_or(i64::MAX);
        self.base.time + self.longest * ahead
    }

    /// Makes `refresh` the new base: it has happened, with or without a new frame.
    pub fn rebase(&mut self, refresh: RecordedRefresh) {
        self.base = refresh;
    }

    fn repeated(&self, count: i64) -> RecordedRefresh {
        RecordedRefresh { time: self.base.time + self.longest * count, sequence: self.base.sequence + count as u64 }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    const START: Instant = Instant::from_nanos(1_000_000_000);

    fn at(nanos: i64) -> Instant {
        START + Span::from_nanos(nanos)
    }

    fn grid(shortest: i64, longest: i64) -> RefreshGrid {
        RefreshGrid::new(
            RecordedRefresh { time: START, sequence: 5 },
            Span::from_nanos(shortest),
            Span::from_nanos(longest),
        )
    }

    #[test]
    fn a_late_frame_scans_out_at_once_within_the_range() {
        let grid = grid(10, 25);
        let expect = |due, time, sequence| {
            assert_eq!(grid.first_from(at(due)), RecordedRefresh { time: at(time), sequence }, "due {due}");
        };
        expect(-3, 10, 6);
        expect(10, 10, 6);
        expect(11, 11, 6);
        expect(25, 25, 6); // the last moment before the panel repeats its picture
        expect(26, 35, 7); // repeated at 25: the next one can start at 35 at the earliest
        expect(36, 36, 7);
        expect(51, 60, 8);
    }

    #[test]
    fn a_rebase_moves_the_range() {
        let mut grid = grid(10, 25);
        grid.rebase(RecordedRefresh { time: at(13), sequence: 6 });
        assert_eq!(grid.first_from(at(14)), RecordedRefresh { time: at(23), sequence: 7 });
        assert_eq!(grid.last_at(at(12)), None);
        assert_eq!(grid.last_at(at(38)), Some(RecordedRefresh { time: at(38), sequence: 7 }));
    }

    proptest! {
        #[test]
        fn a_fixed_grid_is_exact_forever(interval in 1i64..50_000_000, due in 0i64..1_000_000_000_000_000) {
            let grid = grid(interval, interval);
            let refresh = grid.first_from(at(due));
            let n = (refresh.sequence - 5) as i64;
            prop_assert_eq!(refresh.time, at(n * interval));
            prop_assert!(refresh.time >= at(due) && n >= 1);
            prop_assert!(n == 1 || at((n - 1) * interval) < at(due), "an earlier refresh would have done");
            prop_assert_eq!(grid.last_at(refresh.time), Some(refresh));
        }
    }
}

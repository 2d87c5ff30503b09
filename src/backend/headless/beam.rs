//! Where the panel reads at a time.
//!
//! ```text
//!  vblank                                                     vblank
//!    │ row 0 │ row 1 │ row 2 │ …      │ last row │  blanking    │ row 0 …
//!    └────────────── active ─────────────────────┘
//! ```

use super::blanking;
use crate::backend::Mode;
use crate::time::{Instant, Span};

/// The scan of one mode: rows from the top, evenly over the active part of the shortest interval (a panel with
/// variable refresh waits in the blanking, it does not scan more slowly).
#[derive(Clone, Copy, Debug)]
pub struct Beam {
    active: Span,
    rows: i32,
}

impl Beam {
    /// The scan of `mode` when its shortest refresh interval is `shortest`.
    pub fn new(mode: Mode, shortest: Span) -> Self {
        let mode = Mode { refresh: shortest.as_millihertz(), ..mode };
        let active = (shortest - blanking::vertical_blanking(mode)).max(Span::from_nanos(1));
        Beam { active, rows: mode.height.max(1) }
    }

    /// When row `row` is read in the refresh that starts at `vblank`.
    pub fn row_time(&self, vblank: Instant, row: i32) -> Instant {
        vblank + self.active.scale(i64::from(row), i64::from(self.rows))
    }

    /// How many rows were read before `now` in the refresh that started at `vblank`: 0 to all. A row that is read at
    /// `now` itself sees what is written at `now`.
    pub fn rows_read(&self, vblank: Instant, now: Instant) -> i32 {
        let elapsed = now.since(vblank);
        if elapsed >= self.active {
            return self.rows;
        }
        let row = elapsed.max(Span::ZERO).scale(i64::from(self.rows), self.active.as_nanos()).as_nanos() as i32;
        // Rounded down; the row after it may have been read already, and rounding never errs by more than one row.
        let first_unread = (row..).find(|&row| row >= self.rows || self.row_time(vblank, row) >= now);
        first_unread.unwrap_or(self.rows).min(self.rows)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn it_reads_rows_in_the_active_part_only() {
        // 1125 lines at 60 Hz, 1080 of them visible: 14.815 µs a line.
        let mode = Mode { width: 1920, height: 1080, refresh: 60_000 };
        let beam = Beam::new(mode, mode.interval());
        let vblank = Instant::from_nanos(7_000_000);
        assert_eq!(beam.row_time(vblank, 540).since(vblank).as_nanos() / 1_000, 8_000);
        assert_eq!(beam.row_time(vblank, 1080).since(vblank).as_nanos() / 1_000, 16_000);
        assert_eq!(beam.rows_read(vblank, vblank), 0);
        assert_eq!(beam.rows_read(vblank, vblank + Span::from_nanos(1)), 1);
        assert_eq!(beam.rows_read(vblank, vblank + Span::from_micros(16_001)), 1080);
    }

    proptest! {
        #[test]
        fn rows_read_is_the_count_of_rows_whose_time_has_passed(
            height in 1i32..3_000, refresh in 1_000u32..1_000_000, elapsed in -10i64..1_100_000_000,
        ) {
            let mode = Mode { width: 1, height, refresh };
            let beam = Beam::new(mode, mode.interval());
            let vblank = Instant::from_nanos(1_000_000_000);
            let now = vblank + Span::from_nanos(elapsed);
            let counted = (0..height).filter(|&row| beam.row_time(vblank, row) < now).count();
            prop_assert_eq!(beam.rows_read(vblank, now), counted as i32);
        }
    }
}

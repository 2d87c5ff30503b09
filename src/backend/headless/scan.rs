//! The scan of the virtual panel: rows from the top, evenly over the active part of the shortest interval.
//!
//! ```text
//!  vblank                                                     vblank
//!    │ row 0 │ row 1 │ row 2 │ …      │ last row │  blanking    │ row 0 …
//!    └────────────── active ─────────────────────┘
//! ```

use super::blanking;
use crate::backend::{Beam, ScanDirection, VideoMode};
use upbeat_timing::time::Span;

/// The scan of `mode` when its shortest refresh interval is `shortest`.
pub fn scan(mode: VideoMode, shortest: Span) -> Beam {
    let mode = VideoMode { refresh: shortest.as_millihertz(), ..mode };
    let active = (shortest - blanking::vertical_blanking(mode)).max(Span::from_nanos(1));
    Beam { width: mode.width, height: mode.height, direction: ScanDirection::Down, active }
}

#[cfg(test)]
mod tests {
    use super::*;
    use upbeat_timing::time::Instant;

    #[test]
    fn rows_are_scanned_in_the_active_part_only() {
        // 1125 lines at 60 Hz, 1080 of them visible: 14.815 µs a line.
        let mode = VideoMode { width: 1920, height: 1080, refresh: 60_000 };
        let beam = scan(mode, mode.interval());
        let vblank = Instant::from_nanos(7_000_000);
        assert_eq!(beam.line_start(vblank, 540).since(vblank).as_nanos() / 1_000, 8_000);
        assert_eq!(beam.line_start(vblank, 1080).since(vblank).as_nanos() / 1_000, 16_000);
        assert_eq!(beam.lines_read(vblank, vblank), 0);
        assert_eq!(beam.lines_read(vblank, vblank + Span::from_nanos(1)), 1);
        assert_eq!(beam.lines_read(vblank, vblank + Span::from_micros(16_001)), 1080);
    }
}

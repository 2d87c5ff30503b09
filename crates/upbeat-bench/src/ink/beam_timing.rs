//! The front buffer, and the time at which the beam reads each of its lines.

use upbeat_client::protocol::late_latch::upbeat_front_buffer_v1::UpbeatFrontBufferV1;
use upbeat_timing::estimator::{Estimator as _, MissBudget, WindowQuantile};
use upbeat_timing::time::{Instant, Span};

/// When the beam reads each line.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct BeamTiming {
    anchor: Instant,
    interval: Span,
    line: Span,
}

impl BeamTiming {
    /// The first time at or after `from` at which the beam reads `line`.
    pub(super) fn next_read(&self, line: i64, from: Instant) -> Instant {
        let first = self.anchor + self.line * line;
        let interval = self.interval.as_nanos().max(1);
        let ahead = (from - first).as_nanos();
        let refreshes = ahead.div_euclid(interval) + i64::from(ahead.rem_euclid(interval) > 0);
        first + self.interval * refreshes
    }
}

/// State of the buffer on screen.
#[derive(Debug)]
pub(super) struct FrontBufferState {
    pub(super) object: UpbeatFrontBufferV1,
    pub(super) is_active: bool,
    pub(super) scan: Option<BeamTiming>,
    /// Index in the sheet's buffers.
    pub(super) buffer: usize,
    /// When the beam reads the last written frame.
    pub(super) done: Instant,
    /// Times of frames, including their wake-ups. A few seconds of them, so that an interruption is forgotten.
    pub(super) costs: WindowQuantile<256>,
    /// When to begin the next frame, and when the beam reads it.
    pub(super) planned: Option<(Instant, Instant)>,
    pub(super) written: u32,
}

/// How many frames may take longer than planned: the beam shows them one refresh later.
const MAY_BE_LATE: MissBudget = MissBudget::per_mille(5);

impl FrontBufferState {
    /// How long the next frame takes, including its wake-up.
    pub(super) fn planned_cost(&self) -> Span {
        self.costs.budget(MAY_BE_LATE).unwrap_or(Span::ZERO)
    }

    /// Sets the scan-out timing: the beam reads line n at `anchor + n * line`, and again after each `interval`
    /// (nanoseconds).
    pub(super) fn set_timing(&mut self, anchor: (u32, u32, u32), interval: u32, line: u32) {
        let seconds = u64::from(anchor.0) << 32 | u64::from(anchor.1);
        let nanos = seconds * 1_000_000_000 + u64::from(anchor.2);
        let span = |nanos: u32| Span::from_nanos(i64::from(nanos));
        self.scan = Some(BeamTiming { anchor: Instant::from_nanos(nanos), interval: span(interval), line: span(line) });
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_line_is_read_once_a_refresh() {
        let at = |micros: i64| Instant::ZERO + Span::from_micros(1_000_000 + micros);
        let scan = BeamTiming { anchor: at(0), interval: Span::from_micros(16_000), line: Span::from_micros(20) };
        assert_eq!(scan.next_read(100, at(-5)), at(2_000));
        assert_eq!(scan.next_read(100, at(2_000)), at(2_000));
        assert_eq!(scan.next_read(100, at(2_001)), at(18_000));
        assert_eq!(scan.next_read(0, at(-16_001)), at(-16_000));
    }
}

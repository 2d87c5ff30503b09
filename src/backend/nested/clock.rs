//! Converts the parent's times to our clock.

use rustix::time::{ClockId, clock_gettime};

use upbeat_timing::time::{Clock, Instant, MonotonicClock, NANOS_PER_SECOND, Span};

/// An input event older than this, or in the future, was stamped with another clock than ours.
const OLDEST_INPUT: Span = Span::from_seconds(2);

/// The clock of the parent's presentation times (`wp_presentation.clock_id`).
#[derive(Clone, Copy, Debug)]
pub(super) struct ParentClock(ClockId);

impl ParentClock {
    /// The clock with this number of `clock_gettime(2)`; `None` if it cannot be read here.
    pub(super) fn from_raw(id: u32) -> Option<Self> {
        let known = [
            ClockId::Monotonic,
            ClockId::Realtime,
            ClockId::MonotonicRaw,
            ClockId::Boottime,
            ClockId::MonotonicCoarse,
            ClockId::RealtimeCoarse,
        ];
        known.into_iter().find(|clock| *clock as u32 == id).map(ParentClock)
    }

    /// Converts `time` of this clock to `CLOCK_MONOTONIC`. The offset is measured each time, because clocks may
    /// drift apart or be set.
    pub(super) fn to_monotonic(self, time: Instant) -> Instant {
        if self.0 as u32 == ClockId::Monotonic as u32 {
            return time;
        }
        let before = MonotonicClock.now();
        let theirs = clock_gettime(self.0);
        let after = MonotonicClock.now();
        let theirs = Instant::from_nanos(theirs.tv_sec as u64 * NANOS_PER_SECOND as u64 + theirs.tv_nsec as u64);
        let ours = before + (after - before) / 2;
        time + (ours - theirs)
    }
}

/// The time of an input event. Its stamp has milliseconds in 32 bits. The protocol leaves the base open, but every
/// compositor uses `CLOCK_MONOTONIC`. An implausible stamp counts as "now".
///
/// ```text
///   stamp (ms)   … 4294967290 ── wraps ── 3        now: the last moment before it with that stamp
/// ```
pub(super) fn input_time(stamp: u32, now: Instant) -> Instant {
    let age = now.as_wayland_millis().wrapping_sub(stamp);
    // The start of the stamp's millisecond.
    let start = Instant::from_nanos(now.as_nanos() - now.as_nanos() % 1_000_000) - Span::from_millis(i64::from(age));
    if now - start > OLDEST_INPUT { now } else { start }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn stamp_means_the_latest_possible_time() {
        let wrap = Instant::from_nanos((u64::from(u32::MAX) + 1) * 1_000_000);
        let now = wrap + Span::from_micros(2_500);
        assert_eq!(input_time(2, now), wrap + Span::from_millis(2));
        assert_eq!(input_time(u32::MAX - 9, now), wrap - Span::from_millis(10), "across the wrap");
    }

    #[test]
    fn a_stamp_of_another_clock_counts_as_now() {
        let now = Instant::from_nanos(77_000_000_000_000);
        for stamp in [now.as_wayland_millis() + 1, 5, now.as_wayland_millis() - 60_000] {
            assert_eq!(input_time(stamp, now), now);
        }
    }

    #[test]
    fn other_clocks_are_converted_and_unknown_ones_refused() {
        let real = ParentClock::from_raw(ClockId::Realtime as u32).unwrap();
        let theirs = clock_gettime(ClockId::Realtime);
        let theirs = Instant::from_nanos(theirs.tv_sec as u64 * 1_000_000_000 + theirs.tv_nsec as u64);
        // Check only direction and magnitude: decades, against the time since boot.
        assert!(theirs - real.to_monotonic(theirs) > Span::from_seconds(365 * 24 * 3600));
        let ours = ParentClock::from_raw(ClockId::Monotonic as u32).unwrap();
        assert_eq!(ours.to_monotonic(Instant::from_nanos(5)), Instant::from_nanos(5));
        assert!(ParentClock::from_raw(4711).is_none());
    }
}

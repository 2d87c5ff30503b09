//! Backoff: when to try again after the device refused a frame. Pure.
//!
//! A monitor that cannot be switched on (too little bandwidth, a bad cable) refuses every frame. To compose a frame for
//! each refresh would only keep the machine busy, and each commit takes locks that other outputs wait for.

use upbeat_timing::time::{Instant, Span};

/// The wait begins with this many refusals in a row. Fewer may have causes that the next frame removes: a cursor, a
/// client's buffer on a plane.
const PASSING: u32 = 3;
const SHORTEST: Span = Span::from_millis(50);
/// The longest wait, because a user may just be plugging in a cable.
const LONGEST: Span = Span::from_seconds(1);

/// Counts refusals in a row.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct RetryBackoff {
    refusals: u32,
    until: Option<Instant>,
}

impl RetryBackoff {
    pub fn record_refusal(&mut self, now: Instant) {
        self.refusals = self.refusals.saturating_add(1);
        if let Some(more) = self.refusals.checked_sub(PASSING) {
            // After ten doublings the wait is above the longest.
            self.until = Some(now + (SHORTEST * (1 << more.min(10))).min(LONGEST));
        }
    }

    /// The device accepted a frame, or the next request differs: start again.
    pub fn reset(&mut self) {
        *self = RetryBackoff::default();
    }

    /// Whether a frame may be tried now.
    pub fn allows_retry(&self, now: impl FnOnce() -> Instant) -> bool {
        self.until.is_none_or(|until| now() >= until)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn at(millis: i64) -> Instant {
        Instant::from_nanos(1_000_000_000) + Span::from_millis(millis)
    }

    #[test]
    fn a_frame_or_two_that_are_refused_delay_nothing() {
        let mut backoff = RetryBackoff::default();
        (1..PASSING).for_each(|_| backoff.record_refusal(at(0)));
        assert!(backoff.allows_retry(|| at(0)));
        backoff.reset();
        backoff.record_refusal(at(0));
        assert!(backoff.allows_retry(|| at(0)), "one was shown between them");
    }

    #[test]
    fn a_device_that_goes_on_refusing_is_asked_less_and_less_often_but_once_a_second() {
        let mut backoff = RetryBackoff::default();
        let mut now = 0;
        let mut waits = Vec::new();
        for _ in 0..10 {
            backoff.record_refusal(at(now));
            let wait = (0..).find(|wait| backoff.allows_retry(|| at(now + wait))).unwrap();
            waits.push(wait);
            now += wait;
        }
        assert_eq!(waits, [0, 0, 50, 100, 200, 400, 800, 1_000, 1_000, 1_000]);
        backoff.reset();
        assert!(backoff.allows_retry(|| at(0)));
    }
}

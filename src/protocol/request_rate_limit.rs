//! Rate limit for requests that cost all clients time: a few at once, and further ones as seldom as a user would do
//! them.

use upbeat_timing::time::{Instant, Span};

/// Burst: so many are allowed at once after a pause, because a program that arranges outputs tries a few arrangements.
const AT_ONCE: u32 = 8;
/// Interval of further ones. A modeset takes an output up to some tenths of a second.
const BETWEEN: Span = Span::from_seconds(1);

/// A leaky bucket.
///
/// ```text
///   asked   ▌▌▌▌▌▌▌▌▌▌▌▌▌▌▌▌▌▌▌▌▌▌▌▌▌▌▌▌▌▌▌▌
///   done    ▌▌▌▌▌▌▌▌        ▌        ▌          eight at once, then one a second
/// ```
#[derive(Debug, Default)]
pub(super) struct RequestRateLimit {
    /// When the bucket is empty again.
    until: Option<Instant>,
}

impl RequestRateLimit {
    /// Takes one from the budget at `now`.
    ///
    /// # Errors
    /// The time to wait, if the budget is used up.
    pub fn take(&mut self, now: Instant) -> Result<(), Span> {
        let until = self.until.filter(|until| *until > now).unwrap_or(now) + BETWEEN;
        let earliest = until - BETWEEN * i64::from(AT_ONCE);
        if earliest > now {
            return Err(earliest - now);
        }
        self.until = Some(until);
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn burst_of_eight_then_one_a_second() {
        let mut seldom = RequestRateLimit::default();
        let start = Instant::from_nanos(1_000_000_000_000);
        let mut done = Vec::new();
        for step in 0..100 {
            let after = Span::from_millis(50) * step;
            if seldom.take(start + after).is_ok() {
                done.push(after.as_millis_f64());
            }
        }
        assert_eq!(done, [0.0, 50.0, 100.0, 150.0, 200.0, 250.0, 300.0, 350.0, 1_000.0, 2_000.0, 3_000.0, 4_000.0]);
    }

    #[test]
    fn request_is_allowed_after_the_returned_wait() {
        let mut seldom = RequestRateLimit::default();
        let mut now = Instant::from_nanos(1_000_000_000_000);
        for _ in 0..20 {
            if let Err(wait) = seldom.take(now) {
                now += wait;
                assert_eq!(seldom.take(now), Ok(()));
            }
        }
    }
}

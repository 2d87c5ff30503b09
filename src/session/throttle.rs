//! Keeps clients that flood from having the compositor's thread to themselves.
//!
//! While somebody sends as fast as he can the clients' descriptor is always readable, and a thread that always has
//! something to read competes with every client for the cores. So reading may use half of the time: beyond a burst it
//! pauses, the flooder's socket fills, and he has to wait.
//!
//! ```text
//!  reading   ▆▆▆▆▆▆  ▆▆▆   ▆▆▆   ▆▆▆
//!  paused          ──   ───   ───        each as long as what was read too much, at most LONGEST_PAUSE
//! ```
//!
//! A program that starts says a few milliseconds' worth at once, and hardly notices.

use crate::time::{Instant, Span};

/// Reading without a pause: a quarter of a refresh at 60 Hz. On a busy machine the time includes waiting for a core, and
/// clients that only draw must never meet a pause: it would cost a wake-up.
const BURST: Span = Span::from_millis(4);
/// The longest pause: what everybody's commit may be late by for it, while somebody floods.
const LONGEST_PAUSE: Span = Span::from_micros(400);

/// How much was read lately. Pure.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Throttle {
    /// Time spent reading, less what was waited since.
    spent: Span,
    /// When that was.
    at: Instant,
}

impl Throttle {
    /// Clients were read from `start` to `end`: until when to read no more.
    pub fn read(&mut self, start: Instant, end: Instant) -> Option<Instant> {
        let waited = (start - self.at).max(Span::ZERO);
        self.spent = (self.spent - waited).max(Span::ZERO) + (end - start).max(Span::ZERO);
        self.at = end;
        let over = self.spent - BURST;
        (over > Span::ZERO).then(|| end + over.min(LONGEST_PAUSE))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const fn at(micros: u64) -> Instant {
        Instant::from_nanos(1_000_000_000 + 1_000 * micros)
    }

    #[test]
    fn who_reads_all_the_time_gets_half_of_it() {
        let mut throttle = Throttle::default();
        let (mut now, mut reading) = (0, 0);
        while now < 1_000_000 {
            let pause = throttle.read(at(now), at(now + 300));
            reading += 300;
            now = pause.map_or(now + 300, |until| ((until - at(0)).as_nanos() / 1_000) as u64);
        }
        assert!((490_000..=515_000).contains(&reading), "{reading}");
    }

    #[test]
    fn a_busy_refresh_and_a_program_that_starts_are_not_held_up() {
        let mut throttle = Throttle::default();
        for refresh in 0..600 {
            let start = refresh * 16_667;
            assert_eq!(throttle.read(at(start), at(start + 900)), None);
        }
        // 5 ms at once: the pauses add up to as much.
        let mut now = 20_000_000;
        for _ in 0..50 {
            let pause = throttle.read(at(now), at(now + 100));
            now = pause.map_or(now + 100, |until| ((until - at(0)).as_nanos() / 1_000) as u64);
        }
        assert!(now <= 20_000_000 + 10_000, "{now}");
    }
}

//! Keeps clients that flood from having the compositor's thread to themselves.
//!
//! While somebody sends as fast as he can there is always something to read, and a thread that always has something to
//! read competes with every client for the cores. So reading may use an eighth of the time: beyond a burst the flooder is
//! not listened to for a while, his socket fills, and he has to wait.
//!
//! ```text
//!  reading   ▆▆▆▆▆▆          ▆▆▆                 ▆▆▆
//!  paused          ──────────   ─────────────────        PAUSE_PER_READ times what was read too much
//! ```
//!
//! A program that starts says a few milliseconds' worth at once, and hardly notices.

use crate::time::{Instant, Span};

/// Reading without a pause: a quarter of a refresh at 60 Hz. On a busy machine the time includes waiting for a core, and
/// clients that only draw must never meet a pause: it would cost a wake-up.
const BURST: Span = Span::from_millis(4);
/// Pause for each moment of reading beyond that. Who does not flood is read all the same.
const PAUSE_PER_READ: i64 = 7;
/// The longest pause: what a program may be late by that says more at once than is read in one go.
const LONGEST_PAUSE: Span = Span::from_millis(4);

/// How much was read lately. Pure.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Throttle {
    /// Time spent reading, less what was waited since.
    spent: Span,
    /// When that was.
    at: Instant,
}

impl Throttle {
    /// Clients were read from `start` to `end`: until when to leave those who flood alone.
    pub fn read(&mut self, start: Instant, end: Instant) -> Option<Instant> {
        let waited = (start - self.at).max(Span::ZERO);
        self.spent = (self.spent - waited / PAUSE_PER_READ).max(Span::ZERO) + (end - start).max(Span::ZERO);
        self.at = end;
        let over = self.spent - BURST;
        (over > Span::ZERO).then(|| end + (over * PAUSE_PER_READ).min(LONGEST_PAUSE))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const fn at(micros: u64) -> Instant {
        Instant::from_nanos(1_000_000_000 + 1_000 * micros)
    }

    #[test]
    fn who_reads_all_the_time_gets_an_eighth_of_it() {
        let mut throttle = Throttle::default();
        let (mut now, mut reading) = (0, 0);
        while now < 1_000_000 {
            let pause = throttle.read(at(now), at(now + 300));
            reading += 300;
            now = pause.map_or(now + 300, |until| ((until - at(0)).as_nanos() / 1_000) as u64);
        }
        assert!((125_000..=135_000).contains(&reading), "{reading}");
    }

    #[test]
    fn a_busy_refresh_and_a_program_that_starts_are_not_held_up() {
        let mut throttle = Throttle::default();
        for refresh in 0..600 {
            let start = refresh * 16_667;
            assert_eq!(throttle.read(at(start), at(start + 900)), None);
        }
        // 5 ms at once: the pauses are for what goes beyond the burst.
        let mut now = 20_000_000;
        for _ in 0..50 {
            let pause = throttle.read(at(now), at(now + 100));
            now = pause.map_or(now + 100, |until| ((until - at(0)).as_nanos() / 1_000) as u64);
        }
        assert!(now <= 20_000_000 + 5_000 + 7 * 1_000 + 700, "{now}");
    }
}

//! Keeps clients that flood from having the compositor's thread to themselves.
//!
//! While somebody sends as fast as he can there is always something to read, and a thread that always has something to
//! read competes with every client for the cores. So reading one client may use an eighth of the time: beyond a burst he
//! is not listened to for a while, his socket fills, and he has to wait.
//!
//! ```text
//!  reading   ▆▆▆▆▆▆          ▆▆                ▆▆
//!  paused          ──────────  ────────────────      PAUSE_PER_READ times what was read too much
//!            burst              on probation: none of it is free
//! ```
//!
//! A program that starts says a few milliseconds' worth at once, and hardly notices.

use upbeat_timing::time::{Instant, Span};

/// Reading without a pause: a quarter of a refresh at 60 Hz. On a busy machine the time includes waiting for a core, and
/// clients that only draw must never meet a pause: it would cost a wake-up.
const BURST: Span = Span::from_millis(4);
/// Pause for each moment of reading beyond that. Who does not flood is read all the same.
const PAUSE_PER_READ: i64 = 7;
/// The longest pause: what a program may be late by that says more at once than anybody may.
const LONGEST_PAUSE: Span = Span::from_millis(20);
/// What takes longer than that at once (a few expensive requests: what was read is met to its end) is paused for all the same, so
/// that it is never much of the time; but for no longer than this.
const MOST_PAUSE: Span = Span::from_seconds(5);
/// One who flooded has no burst until he has said nothing for so long.
const PARDON: Span = Span::from_seconds(1);

/// How much was read lately. Pure.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Throttle {
    /// Time spent reading, less what was waited since.
    spent: Span,
    /// When that was.
    at: Instant,
    on_probation: bool,
}

impl Throttle {
    /// All that there is was read from `start` to `end`. Whether that is so much that somebody may be flooding.
    pub fn is_flooded(&mut self, start: Instant, end: Instant) -> bool {
        self.spend(start, end);
        self.spent > BURST
    }

    /// A client was read from `start` to `end`: until when to leave him alone.
    pub fn read(&mut self, start: Instant, end: Instant) -> Option<Instant> {
        self.on_probation &= start - self.at < PARDON;
        self.spend(start, end);
        if !self.on_probation {
            if self.spent <= BURST {
                return None;
            }
            // The burst was free.
            (self.on_probation, self.spent) = (true, self.spent - BURST);
        }
        let long = ((end - start - LONGEST_PAUSE).max(Span::ZERO) * PAUSE_PER_READ).min(MOST_PAUSE);
        Some(end + (self.spent * PAUSE_PER_READ).min(LONGEST_PAUSE) + long)
    }

    /// Whether he has flooded.
    pub const fn is_on_probation(&self) -> bool {
        self.on_probation
    }

    /// Whether what was read is forgotten at `now`.
    pub fn is_forgotten(&self, now: Instant) -> bool {
        now - self.at >= PARDON
    }

    fn spend(&mut self, start: Instant, end: Instant) {
        let waited = (start - self.at).max(Span::ZERO);
        self.spent = (self.spent - waited / PAUSE_PER_READ).max(Span::ZERO) + (end - start).max(Span::ZERO);
        self.at = end;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const fn at(micros: u64) -> Instant {
        Instant::from_nanos(1_000_000_000 + 1_000 * micros)
    }

    const fn micros(time: Instant) -> u64 {
        (time.as_nanos() - 1_000_000_000) / 1_000
    }

    #[test]
    fn who_is_to_be_read_all_the_time_gets_an_eighth_of_it() {
        let mut throttle = Throttle::default();
        let (mut now, mut reading) = (0, 0);
        while now < 1_000_000 {
            let pause = throttle.read(at(now), at(now + 300));
            reading += 300;
            now = pause.map_or(now + 300, micros);
        }
        assert!((125_000..=135_000).contains(&reading), "{reading}");
    }

    #[test]
    fn a_busy_refresh_and_a_program_that_starts_are_not_held_up() {
        let (mut all, mut throttle) = (Throttle::default(), Throttle::default());
        for refresh in 0..600 {
            let start = refresh * 16_667;
            assert!(!all.is_flooded(at(start), at(start + 900)));
            assert_eq!(throttle.read(at(start), at(start + 900)), None);
        }
        // 5 ms at once: the pauses are for what goes beyond the burst.
        let mut now = 20_000_000;
        for _ in 0..50 {
            now = throttle.read(at(now), at(now + 100)).map_or(now + 100, micros);
        }
        assert!(now <= 20_000_000 + 5_000 + 7 * 1_500, "{now}");
    }

    #[test]
    fn one_who_flooded_has_no_burst_until_he_is_pardoned() {
        let mut throttle = Throttle::default();
        assert!(throttle.read(at(0), at(4_100)).is_some());
        assert!(throttle.read(at(500_000), at(500_100)).is_some(), "half a second later");
        assert!(!throttle.is_forgotten(at(1_500_000)));
        assert!(throttle.is_forgotten(at(1_500_200)));
        assert_eq!(throttle.read(at(1_600_000), at(1_603_900)), None);
    }

    #[test]
    fn who_takes_long_at_once_has_no_more_of_the_time_for_it() {
        let mut throttle = Throttle::default();
        let (mut now, mut reading) = (0, 0);
        while now < 20_000_000 {
            let pause = throttle.read(at(now), at(now + 400_000));
            reading += 400_000;
            now = pause.map_or(now + 400_000, micros);
        }
        assert!(reading <= 20_000_000 / 6, "{reading}");
    }
}

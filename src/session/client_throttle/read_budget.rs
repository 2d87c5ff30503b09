//! Limits how much of the compositor's main thread a flooding client may use.
//!
//! If a client sends as fast as it can, there is always something to read, and a main thread that never sleeps competes
//! with every client for the cores. So reading one client may take an eighth of the time. Beyond a burst, the client is
//! not read for a while: its socket fills, and it has to wait.
//!
//! ```text
//!  reading   ▆▆▆▆▆▆          ▆▆                ▆▆
//!  paused          ──────────  ────────────────      PAUSE_PER_READ times the time beyond the burst
//!            burst              on probation: no burst
//! ```
//!
//! A starting program sends a few milliseconds' worth at once, and is hardly delayed.

use upbeat_timing::time::{Instant, Span};

/// Reading time without a pause: a quarter of a refresh at 60 Hz. On a busy machine this time includes waiting for a
/// core. A client that only draws must never be paused, because a pause costs a wake-up.
const BURST: Span = Span::from_millis(4);
/// Pause for each unit of reading time beyond the burst. Clients that do not flood are read meanwhile.
const PAUSE_PER_READ: i64 = 7;
/// Longest pause after a short read: a program that sends too much at once is delayed by no more than this.
const LONGEST_PAUSE: Span = Span::from_millis(20);
/// A read that takes longer than [`LONGEST_PAUSE`] extends the pause, so that such reads never take much of the time.
/// It can take that long because a few expensive requests that were read are all processed. This is the limit of the
/// extension.
const MOST_PAUSE: Span = Span::from_seconds(5);
/// A client that flooded has no burst until it has sent nothing for this long.
const PARDON: Span = Span::from_seconds(1);

/// Reading time spent recently. Pure.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct ReadBudget {
    /// Time spent reading, less the share earned back since.
    spent: Span,
    /// End of the last read.
    last_read_end: Instant,
    on_probation: bool,
}

impl ReadBudget {
    /// Accounts for a read of all clients from `start` to `end`. Returns whether it took so long that some client
    /// may be flooding.
    pub fn charge_all(&mut self, start: Instant, end: Instant) -> bool {
        self.spend(start, end);
        self.spent > BURST
    }

    /// Accounts for a read of one client from `start` to `end`. Returns the end of its pause, if it is to be paused.
    pub fn charge_client(&mut self, start: Instant, end: Instant) -> Option<Instant> {
        self.on_probation &= start - self.last_read_end < PARDON;
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

    /// Whether the client has flooded recently.
    pub const fn is_on_probation(&self) -> bool {
        self.on_probation
    }

    /// Whether the last read is so long ago at `now` that it no longer counts.
    pub fn is_expired(&self, now: Instant) -> bool {
        now - self.last_read_end >= PARDON
    }

    fn spend(&mut self, start: Instant, end: Instant) {
        let waited = (start - self.last_read_end).max(Span::ZERO);
        self.spent = (self.spent - waited / PAUSE_PER_READ).max(Span::ZERO) + (end - start).max(Span::ZERO);
        self.last_read_end = end;
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
    fn flooding_client_gets_an_eighth_of_the_time() {
        let mut throttle = ReadBudget::default();
        let (mut now, mut reading) = (0, 0);
        while now < 1_000_000 {
            let pause = throttle.charge_client(at(now), at(now + 300));
            reading += 300;
            now = pause.map_or(now + 300, micros);
        }
        assert!((125_000..=135_000).contains(&reading), "{reading}");
    }

    #[test]
    fn busy_refresh_and_starting_program_are_not_paused() {
        let (mut all, mut throttle) = (ReadBudget::default(), ReadBudget::default());
        for refresh in 0..600 {
            let start = refresh * 16_667;
            assert!(!all.charge_all(at(start), at(start + 900)));
            assert_eq!(throttle.charge_client(at(start), at(start + 900)), None);
        }
        // 5 ms at once: the client is only paused for the time beyond the burst.
        let mut now = 20_000_000;
        for _ in 0..50 {
            now = throttle.charge_client(at(now), at(now + 100)).map_or(now + 100, micros);
        }
        assert!(now <= 20_000_000 + 5_000 + 7 * 1_500, "{now}");
    }

    #[test]
    fn client_that_flooded_has_no_burst_until_it_was_quiet_for_a_second() {
        let mut throttle = ReadBudget::default();
        assert!(throttle.charge_client(at(0), at(4_100)).is_some());
        assert!(throttle.charge_client(at(500_000), at(500_100)).is_some(), "half a second later");
        assert!(!throttle.is_expired(at(1_500_000)));
        assert!(throttle.is_expired(at(1_500_200)));
        assert_eq!(throttle.charge_client(at(1_600_000), at(1_603_900)), None);
    }

    #[test]
    fn long_reads_get_no_larger_share_of_the_time() {
        let mut throttle = ReadBudget::default();
        let (mut now, mut reading) = (0, 0);
        while now < 20_000_000 {
            let pause = throttle.charge_client(at(now), at(now + 400_000));
            reading += 400_000;
            now = pause.map_or(now + 400_000, micros);
        }
        assert!(reading <= 20_000_000 / 6, "{reading}");
    }
}

//! Decides when xwayland-satellite is started: at a connection, but after ever longer delays if it keeps ending at
//! once.
//!
//! ```text
//!   Listening ── an X program connects ► Running ── ends after a while ─────────────► Listening
//!       ▲                                  └────── ends at once, or does not start ─► Resting 1 s, 2 s, 4 s … 60 s ┐
//!       └──────────────────────────────────────────────────────────────────────────────────────────────────────────┘
//! ```
//!
//! An X program that connects during a rest waits. Pure: the time is passed in.

use upbeat_timing::time::{Instant, Span};

/// A satellite that has run for this long has worked.
const WORKED: Span = Span::from_seconds(10);
/// Delay after the first failure; it doubles with each further failure in a row.
const FIRST_REST: Span = Span::from_seconds(1);
/// Longest delay: the cause may have been repaired.
const LONGEST_REST: Span = Span::from_seconds(60);

#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
enum Phase {
    #[default]
    Listening,
    Running {
        since: Instant,
    },
    Resting {
        until: Instant,
    },
}

/// State of the satellite process.
#[derive(Clone, Copy, Debug, Default)]
pub struct Life {
    phase: Phase,
    /// Failures in a row.
    failures: u32,
}

impl Life {
    /// Whether the sockets are to be watched for connections.
    pub fn listens(&self) -> bool {
        self.phase == Phase::Listening
    }

    /// Notes that an X program has connected. Returns whether the satellite is to be started.
    pub fn connected(&mut self, now: Instant) -> bool {
        let starts = self.listens();
        if starts {
            self.phase = Phase::Running { since: now };
        }
        starts
    }

    /// Notes that the satellite has ended, or could not be started. Returns the delay before the next start; `None`
    /// if it had worked.
    pub fn ended(&mut self, now: Instant) -> Option<Span> {
        let Phase::Running { since } = self.phase else { return None };
        if now - since >= WORKED {
            *self = Life::default();
            return None;
        }
        let rest = (0..self.failures).fold(FIRST_REST, |rest, _| (rest * 2).min(LONGEST_REST));
        self.failures = self.failures.saturating_add(1);
        self.phase = Phase::Resting { until: now + rest };
        Some(rest)
    }

    /// Ends the rest if it is over at `now`. Returns whether the sockets are to be watched again.
    pub fn look(&mut self, now: Instant) -> bool {
        let is_over = matches!(self.phase, Phase::Resting { until } if until <= now);
        if is_over {
            self.phase = Phase::Listening;
        }
        is_over
    }

    /// When to call [`look`](Self::look) next.
    pub fn wake(&self) -> Option<Instant> {
        match self.phase {
            Phase::Resting { until } => Some(until),
            Phase::Listening | Phase::Running { .. } => None,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const START: Instant = Instant::from_nanos(1_000_000_000);

    #[test]
    fn one_that_has_worked_is_started_again_with_the_next_connection() {
        let mut life = Life::default();
        assert!(life.connected(START));
        assert!(!life.connected(START) && !life.listens(), "one is enough");
        assert_eq!(life.ended(START + WORKED), None);
        assert!(life.listens() && life.wake().is_none());
        assert!(life.connected(START + WORKED));
    }

    #[test]
    fn one_that_ends_at_once_rests_twice_as_long_each_time_and_never_for_good() {
        let (mut life, mut now, mut rests) = (Life::default(), START, Vec::new());
        for _ in 0..40 {
            assert!(life.connected(now));
            let rest = life.ended(now).unwrap();
            assert!(!life.connected(now) && !life.look(now + rest - Span::from_nanos(1)));
            now += rest;
            assert_eq!(life.wake(), Some(now));
            assert!(life.look(now) && life.listens() && life.wake().is_none());
            rests.push(rest.as_seconds_f64());
        }
        assert_eq!(rests[..8], [1.0, 2.0, 4.0, 8.0, 16.0, 32.0, 60.0, 60.0]);
        assert!(life.connected(now));
        assert_eq!(life.ended(now + WORKED), None);
        assert!(life.connected(now + WORKED));
        assert_eq!(life.ended(now + WORKED), Some(FIRST_REST), "the delay starts again after a run that worked");
    }
}

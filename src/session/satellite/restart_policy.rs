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
enum SatellitePhase {
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
pub struct RestartPolicy {
    phase: SatellitePhase,
    /// Failures in a row.
    failures: u32,
}

impl RestartPolicy {
    /// Whether the sockets are to be watched for connections.
    pub fn listens(&self) -> bool {
        self.phase == SatellitePhase::Listening
    }

    /// Notes that an X program has connected. Returns whether the satellite is to be started.
    pub fn note_connection(&mut self, now: Instant) -> bool {
        let starts = self.listens();
        if starts {
            self.phase = SatellitePhase::Running { since: now };
        }
        starts
    }

    /// Notes that the satellite has ended, or could not be started. Returns the delay before the next start; `None`
    /// if it had worked.
    pub fn note_end(&mut self, now: Instant) -> Option<Span> {
        let SatellitePhase::Running { since } = self.phase else { return None };
        if now - since >= WORKED {
            *self = RestartPolicy::default();
            return None;
        }
        let rest = (0..self.failures).fold(FIRST_REST, |rest, _| (rest * 2).min(LONGEST_REST));
        self.failures = self.failures.saturating_add(1);
        self.phase = SatellitePhase::Resting { until: now + rest };
        Some(rest)
    }

    /// Ends the rest if it is over at `now`. Returns whether the sockets are to be watched again.
    pub fn resume_if_rested(&mut self, now: Instant) -> bool {
        let is_over = matches!(self.phase, SatellitePhase::Resting { until } if until <= now);
        if is_over {
            self.phase = SatellitePhase::Listening;
        }
        is_over
    }

    /// When to call [`resume_if_rested`](Self::resume_if_rested) next.
    pub fn wake(&self) -> Option<Instant> {
        match self.phase {
            SatellitePhase::Resting { until } => Some(until),
            SatellitePhase::Listening | SatellitePhase::Running { .. } => None,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const START: Instant = Instant::from_nanos(1_000_000_000);

    #[test]
    fn satellite_that_worked_is_started_again_at_the_next_connection() {
        let mut policy = RestartPolicy::default();
        assert!(policy.note_connection(START));
        assert!(!policy.note_connection(START) && !policy.listens(), "one is enough");
        assert_eq!(policy.note_end(START + WORKED), None);
        assert!(policy.listens() && policy.wake().is_none());
        assert!(policy.note_connection(START + WORKED));
    }

    #[test]
    fn satellite_that_ends_at_once_rests_twice_as_long_each_time() {
        let (mut policy, mut now, mut rests) = (RestartPolicy::default(), START, Vec::new());
        for _ in 0..40 {
            assert!(policy.note_connection(now));
            let rest = policy.note_end(now).unwrap();
            assert!(!policy.note_connection(now) && !policy.resume_if_rested(now + rest - Span::from_nanos(1)));
            now += rest;
            assert_eq!(policy.wake(), Some(now));
            assert!(policy.resume_if_rested(now) && policy.listens() && policy.wake().is_none());
            rests.push(rest.as_seconds_f64());
        }
        assert_eq!(rests[..8], [1.0, 2.0, 4.0, 8.0, 16.0, 32.0, 60.0, 60.0]);
        assert!(policy.note_connection(now));
        assert_eq!(policy.note_end(now + WORKED), None);
        assert!(policy.note_connection(now + WORKED));
        assert_eq!(policy.note_end(now + WORKED), Some(FIRST_REST), "the delay starts again after a run that worked");
    }
}

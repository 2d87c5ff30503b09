//! Interference by the machine while a frame was missed: late timers, CPU contention, stolen time.

use std::fmt;

use serde::{Deserialize, Serialize};

use super::miss::Readable;
use crate::time::{Instant, Span};

/// Times for which the compositor's thread was kept from running, in the period before a miss was noticed, as the
/// kernel counted them.
///
/// ```text
///   baseline                        due     woken                    noticed
///      ├───────────────────────────── over ─────────────────────────────┤
///                                    ├ timer ┤
///                 ├ waited ┤          ├waited┤             (sum: time in a run queue)
///           ├─ stolen ─┤                                   (sum over all CPUs: time the host gave to others)
/// ```
///
/// It is evidence, not a verdict: part of `waited` may have delayed another frame of the same period.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Interference {
    /// The length of the period.
    pub over: Span,
    /// The longest delay of a wake-up after the time that its timer was set for.
    pub timer: Span,
    /// Time in which the thread was runnable but waited in a run queue; `None` where the kernel does not count it.
    pub waited: Option<Span>,
    /// CPU time that the host took from this machine (steal), a multiple of the kernel's tick; `None` where the
    /// kernel does not count it.
    pub stolen: Option<Span>,
}

/// Counts of the kernel since the thread or the machine started.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct KernelTimes {
    /// Time in run queues, as for [`Interference::waited`].
    pub waited: Option<Span>,
    /// Stolen CPU time, as for [`Interference::stolen`].
    pub stolen: Option<Span>,
}

/// Turns the kernel's counts into the interference since the last restart.
#[derive(Clone, Copy, Debug, Default)]
pub struct InterferenceMeter {
    since: Instant,
    before: KernelTimes,
    latest_wake: Span,
}

impl InterferenceMeter {
    /// Starts a new period at `now`, with these counts of the kernel.
    pub fn restart(&mut self, now: Instant, times: KernelTimes) {
        *self = InterferenceMeter { since: now, before: times, latest_wake: Span::ZERO };
    }

    /// A wake-up was late by this much.
    pub fn note_wake_delay(&mut self, late: Span) {
        self.latest_wake = self.latest_wake.max(late);
    }

    /// The start of the present period.
    pub fn since(&self) -> Instant {
        self.since
    }

    /// The interference until `now`, when the counts are `times`. A count that ran backwards is ignored (steal does
    /// so after a machine moved to another host).
    pub fn until(&self, now: Instant, times: KernelTimes) -> Interference {
        let grown = |after: Option<Span>, before: Option<Span>| {
            after.zip(before).map(|(after, before)| after - before).filter(|grown| *grown >= Span::ZERO)
        };
        Interference {
            over: now - self.since,
            timer: self.latest_wake,
            waited: grown(times.waited, self.before.waited),
            stolen: grown(times.stolen, self.before.stolen),
        }
    }
}

impl fmt::Display for Interference {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(
            f,
            "in the {} before this was seen a timer was up to {} late",
            Readable(self.over),
            Readable(self.timer)
        )?;
        if let Some(waited) = self.waited {
            write!(f, ", the compositor waited {} for a CPU", Readable(waited))?;
        }
        match self.stolen {
            Some(stolen) => write!(f, ", the host took {}", Readable(stolen)),
            None => Ok(()),
        }
    }
}

#[cfg(test)]
mod tests {
    use expect_test::expect;

    use super::*;

    fn counts(waited: i64, stolen: Option<i64>) -> KernelTimes {
        KernelTimes { waited: Some(Span::from_micros(waited)), stolen: stolen.map(Span::from_millis) }
    }

    #[test]
    fn what_was_counted_since_the_baseline_is_the_evidence() {
        let mut meter = InterferenceMeter::default();
        let start = Instant::ZERO + Span::from_seconds(5);
        meter.note_wake_delay(Span::from_seconds(1));
        meter.restart(start, counts(900, Some(40)));
        meter.note_wake_delay(Span::from_micros(2_300));
        meter.note_wake_delay(Span::from_micros(80));
        let evidence = meter.until(start + Span::from_millis(180), counts(3_000, Some(60)));
        expect!["in the 180.0 ms before this was seen a timer was up to 2.3 ms late, the compositor waited 2.1 ms for a CPU, the host took 20.0 ms"]
            .assert_eq(&evidence.to_string());
    }

    #[test]
    fn a_kernel_that_counts_nothing_or_backwards_is_not_believed() {
        let mut meter = InterferenceMeter::default();
        meter.restart(Instant::ZERO, counts(900, Some(40)));
        let backwards = meter.until(Instant::ZERO + Span::from_millis(9), counts(800, None));
        assert_eq!((backwards.waited, backwards.stolen), (None, None));
        expect!["in the 9.0 ms before this was seen a timer was up to 0 µs late"].assert_eq(&backwards.to_string());
    }
}

//! What the machine did to the compositor while a frame was missed.

use std::fmt;

use serde::{Deserialize, Serialize};

use super::miss::Readable;
use crate::time::{Instant, Span};

/// What kept the compositor's thread from running in a while before a miss was noticed, as the kernel counted it.
///
/// ```text
///   baseline                        due     woken                    noticed
///      ├───────────────────────────── over ─────────────────────────────┤
///                                    ├ timer ┤
///                 ├ waited ┤          ├waited┤             (sum: time in a run queue)
///           ├─ stolen ─┤                                   (sum over all CPUs: time the host gave to others)
/// ```
///
/// It is evidence, not a verdict: a share of `waited` may have hurt another frame of the same while.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Interference {
    /// How long the while was.
    pub over: Span,
    /// The most that a wake-up came late after the time that the timer was set for.
    pub timer: Span,
    /// Ready to run, but in a run queue; `None` where the kernel does not count it.
    pub waited: Option<Span>,
    /// Taken from this machine by its host, a multiple of the kernel's tick; `None` where the kernel does not say.
    pub stolen: Option<Span>,
}

/// What the kernel has counted since the thread or the machine started.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct KernelTimes {
    /// See [`Interference::waited`].
    pub waited: Option<Span>,
    /// See [`Interference::stolen`].
    pub stolen: Option<Span>,
}

/// Turns counts into what happened since the last time that anybody looked.
#[derive(Clone, Copy, Debug, Default)]
pub struct InterferenceMeter {
    since: Instant,
    before: KernelTimes,
    latest_wake: Span,
}

impl InterferenceMeter {
    /// From `now` on, when the kernel's counts are these.
    pub fn restart(&mut self, now: Instant, times: KernelTimes) {
        *self = InterferenceMeter { since: now, before: times, latest_wake: Span::ZERO };
    }

    /// A wake-up came this late.
    pub fn woke(&mut self, late: Span) {
        self.latest_wake = self.latest_wake.max(late);
    }

    /// Since when it counts.
    pub fn since(&self) -> Instant {
        self.since
    }

    /// What happened until `now`, when the counts are `times`. A count that ran backwards (steal does, after a machine
    /// moved to another host) says nothing.
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
        meter.woke(Span::from_seconds(1));
        meter.restart(start, counts(900, Some(40)));
        meter.woke(Span::from_micros(2_300));
        meter.woke(Span::from_micros(80));
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

//! Which output goes next: one thread composes for all outputs, earliest deadline first.
//!
//! A *dark* output, with no refresh seen since it was switched on or changed its mode, has no deadline. Its first frame
//! is composed whole, and the cost of that is not known yet. So it runs in gaps that the lit outputs leave:
//!
//! ```text
//!   lit     callback ── latch ▓▓         callback ── latch ▓▓
//!   dark         │ due ┈┈┈┈┈┈┈┈ ▓▓▓▓▓▓▓ composed            as soon as nothing lit is due for half an interval
//! ```

use super::id::OutputId;
use crate::time::{Instant, Span};

/// A dark output waits for at most this many intervals of a lit output.
const MOST_HELD_BACK: i64 = 2;

/// The next action of one output.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct OutputDeadline {
    /// The output that has the action.
    pub output: OutputId,
    /// When the action is, or was, due.
    pub at: Instant,
    /// The time between two of its refreshes.
    pub interval: Span,
    /// None of the output's refreshes was seen yet.
    pub is_dark: bool,
}

/// Chooses the output that acts next.
#[derive(Clone, Copy, Debug, Default)]
pub struct OutputOrder {
    /// Since when a dark output waits for lit outputs, and until when.
    held_back: Option<(Instant, Instant)>,
}

/// The earliest actions of all lit and of all dark outputs.
#[derive(Clone, Copy, Debug, Default)]
struct EarliestDeadlines {
    lit: Option<OutputDeadline>,
    dark: Option<OutputDeadline>,
    /// The longest interval of the lit outputs that have an action within half of their interval.
    lit_soon: Option<Span>,
}

impl EarliestDeadlines {
    fn of(pending: impl IntoIterator<Item = OutputDeadline>, now: Instant) -> Self {
        let mut all = EarliestDeadlines::default();
        for next in pending {
            let kind = if next.is_dark { &mut all.dark } else { &mut all.lit };
            if kind.is_none_or(|known| next.at < known.at) {
                *kind = Some(next);
            }
            if !next.is_dark && next.at < now + next.interval / 2 {
                all.lit_soon = all.lit_soon.max(Some(next.interval));
            }
        }
        all
    }
}

impl OutputOrder {
    /// The output that has to act now, if any. Call it until it returns `None`.
    pub fn next(&mut self, pending: impl IntoIterator<Item = OutputDeadline>, now: Instant) -> Option<OutputId> {
        let EarliestDeadlines { lit, dark, lit_soon } = EarliestDeadlines::of(pending, now);
        if let Some(lit) = lit.filter(|lit| lit.at <= now) {
            return Some(lit.output);
        }
        let Some(dark) = dark.filter(|dark| dark.at <= now) else {
            self.held_back = None;
            return None;
        };
        if let Some(interval) = lit_soon {
            let (_, until) = *self.held_back.get_or_insert((now, now + interval * MOST_HELD_BACK));
            if now < until {
                return None;
            }
        }
        Some(dark.output)
    }

    /// When to call [`next`](Self::next) again; `None` while no output has an action.
    pub fn next_wake(&self, pending: impl IntoIterator<Item = OutputDeadline>, now: Instant) -> Option<Instant> {
        let EarliestDeadlines { lit, dark, .. } = EarliestDeadlines::of(pending, now);
        let dark = dark.map(|dark| self.held_back.map_or(dark.at, |(_, until)| dark.at.max(until)));
        lit.map(|lit| lit.at).into_iter().chain(dark).min()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const LIT: OutputId = OutputId(1);
    const OTHER: OutputId = OutputId(2);
    const DARK: OutputId = OutputId(3);
    const INTERVAL: Span = Span::from_millis(16);

    fn at(millis: u64) -> Instant {
        Instant::from_nanos(millis * 1_000_000)
    }

    fn pending(output: OutputId, millis: u64) -> OutputDeadline {
        OutputDeadline { output, at: at(millis), interval: INTERVAL, is_dark: output == DARK }
    }

    #[test]
    fn earliest_deadline_goes_first() {
        let all = [pending(LIT, 105), pending(OTHER, 103)];
        assert_eq!(OutputOrder::default().next(all, at(106)), Some(OTHER));
        assert_eq!(OutputOrder::default().next(all, at(104)), Some(OTHER));
        assert_eq!(OutputOrder::default().next(all, at(102)), None);
        assert_eq!(OutputOrder::default().next_wake(all, at(102)), Some(at(103)));
    }

    #[test]
    fn a_dark_output_goes_where_the_others_leave_room() {
        let mut order = OutputOrder::default();
        assert_eq!(order.next([pending(LIT, 104), pending(DARK, 100)], at(100)), None, "a callback is due in 4 ms");
        assert_eq!(order.next_wake([pending(LIT, 104), pending(DARK, 100)], at(100)), Some(at(104)));
        assert_eq!(order.next([pending(LIT, 104), pending(DARK, 100)], at(104)), Some(LIT));
        assert_eq!(order.next([pending(LIT, 112), pending(DARK, 100)], at(105)), None, "and a latch in 7");
        assert_eq!(order.next([pending(LIT, 120), pending(DARK, 100)], at(112)), Some(DARK), "nothing for 8 ms");
        assert_eq!(order.next([pending(LIT, 120)], at(113)), None);
    }

    #[test]
    fn where_they_leave_none_it_waits_two_intervals() {
        let mut order = OutputOrder::default();
        let mut now = 100;
        while order.next([pending(LIT, now + 2), pending(DARK, 100)], at(now)).is_none() {
            let wake = order.next_wake([pending(LIT, now + 20), pending(DARK, 100)], at(now));
            assert_eq!(wake, Some(at(132).min(at(now + 20))), "it is not forgotten");
            now += 1;
        }
        assert_eq!(now, 132);
    }

    #[test]
    fn dark_outputs_do_not_wait_for_each_other() {
        let second = OutputDeadline { output: OTHER, is_dark: true, ..pending(DARK, 99) };
        assert_eq!(OutputOrder::default().next([pending(DARK, 100), second], at(100)), Some(OTHER));
    }
}

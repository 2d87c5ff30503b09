//! Whether what a view shows changes by itself in most refreshes. Then what is rendered ahead is rendered in vain: by the time it
//! is seen it is another.

use crate::time::{Instant, Span};

/// What a refresh counts for beside all before it: sixteen of them are remembered, about a quarter of a second.
const WEIGHT: f64 = 1.0 / 16.0;
/// From this share of refreshes on they are most. Film at half of a display's rate is none of it.
const MOST: f64 = 0.6;
/// Down to this share they stay so, lest it changes back and forth.
const STILL_MOST: f64 = 0.4;

/// What became of the pixels that are seen, from one refresh to the next.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Change {
    /// Nothing but that they may be elsewhere.
    None,
    /// They were rendered for another place in the document, which says nothing of whether they would have changed.
    Replaced,
    /// Most of them are others.
    Most,
}

/// How often what is seen changes.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Changing {
    /// Of the latest refreshes, those with a change.
    share: f64,
    last: Option<Instant>,
    is_most: bool,
}

impl Changing {
    /// What the frame shown at `present` changed. Refreshes without a frame changed nothing.
    pub fn note(&mut self, present: Instant, interval: Span, change: Change) {
        let Some(last) = self.last.replace(present) else { return };
        let passed = (present - last).as_seconds_f64() / interval.as_seconds_f64().max(f64::MIN_POSITIVE);
        if passed < 0.5 {
            // The same refresh, chosen anew.
            self.last = Some(last);
            return;
        }
        let counts = |changed: f64| changed * WEIGHT;
        match change {
            Change::Replaced => {}
            Change::None => self.share *= (1.0 - WEIGHT).powf(passed),
            Change::Most => self.share = self.share * (1.0 - WEIGHT).powf(passed) + counts(1.0),
        }
        self.is_most = self.share > if self.is_most { STILL_MOST } else { MOST };
    }

    /// Whether it does so in most refreshes.
    pub const fn is_most(&self) -> bool {
        self.is_most
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const REFRESH: Span = Span::from_micros(16_667);

    /// Each refresh in turn, for so many.
    fn played(changing: &mut Changing, from: i64, count: i64, change: impl Fn(i64) -> Change) {
        (from..from + count).for_each(|at| changing.note(Instant::ZERO + REFRESH * at, REFRESH, change(at)));
    }

    #[test]
    fn what_changes_in_each_refresh_is_found_within_a_quarter_of_a_second_and_its_end_as_well() {
        let mut changing = Changing::default();
        played(&mut changing, 0, 12, |_| Change::Most);
        assert!(!changing.is_most(), "{changing:?}");
        played(&mut changing, 12, 8, |_| Change::Most);
        assert!(changing.is_most(), "{changing:?}");
        played(&mut changing, 20, 6, |_| Change::None);
        assert!(changing.is_most(), "{changing:?}");
        played(&mut changing, 26, 10, |_| Change::None);
        assert!(!changing.is_most(), "{changing:?}");
    }

    #[test]
    fn film_at_half_of_the_rate_and_a_caret_are_not_most() {
        let mut changing = Changing::default();
        played(&mut changing, 0, 600, |at| if at % 2 == 0 { Change::Most } else { Change::None });
        assert!(!changing.is_most(), "{changing:?}");
        // Nothing is latched between the blinks.
        let mut changing = Changing::default();
        (0..100).for_each(|at| changing.note(Instant::ZERO + REFRESH * 30 * at, REFRESH, Change::Most));
        assert!(!changing.is_most(), "{changing:?}");
    }

    #[test]
    fn what_is_rendered_for_another_place_says_nothing() {
        let mut changing = Changing::default();
        played(&mut changing, 0, 100, |_| Change::Replaced);
        assert!(!changing.is_most(), "{changing:?}");
        played(&mut changing, 100, 40, |_| Change::Most);
        played(&mut changing, 140, 40, |_| Change::Replaced);
        assert!(changing.is_most(), "{changing:?}");
    }
}

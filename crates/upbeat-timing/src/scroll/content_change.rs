//! Detects whether a view's content changes by itself in most refreshes. Then rendering ahead is useless, because the
//! content is outdated before it is seen.

use crate::time::{Instant, Span};

/// The weight of one refresh: sixteen refreshes are remembered, about a quarter of a second.
const WEIGHT: f64 = 1.0 / 16.0;
/// From this share of changed refreshes on, most change. A film at half of a display's rate stays below.
const MOST: f64 = 0.6;
/// The state ends only below this share, so that it does not flip back and forth.
const STILL_MOST: f64 = 0.4;

/// How the visible pixels changed from one refresh to the next.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum PixelChange {
    /// No change, apart from moving.
    None,
    /// They were rendered for another place in the document, so it is unknown whether they would have changed.
    Replaced,
    /// Most of them changed.
    Most,
}

/// How often the visible content changes.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct ContentChange {
    /// The weighted share of recent refreshes with a change.
    share: f64,
    last: Option<Instant>,
    is_most: bool,
}

impl ContentChange {
    /// Adds the change in the frame shown at `present`. Refreshes without a frame count as unchanged.
    pub fn note(&mut self, present: Instant, interval: Span, change: PixelChange) {
        let Some(last) = self.last.replace(present) else { return };
        let passed = (present - last).as_seconds_f64() / interval.as_seconds_f64().max(f64::MIN_POSITIVE);
        if passed < 0.5 {
            // The same refresh, latched again.
            self.last = Some(last);
            return;
        }
        let counts = |changed: f64| changed * WEIGHT;
        match change {
            PixelChange::Replaced => {}
            PixelChange::None => self.share *= (1.0 - WEIGHT).powf(passed),
            PixelChange::Most => self.share = self.share * (1.0 - WEIGHT).powf(passed) + counts(1.0),
        }
        self.is_most = self.share > if self.is_most { STILL_MOST } else { MOST };
    }

    /// Whether the content changes in most refreshes.
    pub const fn changes_mostly(&self) -> bool {
        self.is_most
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const REFRESH: Span = Span::from_micros(16_667);

    /// Adds `count` refreshes in turn.
    fn played(changing: &mut ContentChange, from: i64, count: i64, change: impl Fn(i64) -> PixelChange) {
        (from..from + count).for_each(|at| changing.note(Instant::ZERO + REFRESH * at, REFRESH, change(at)));
    }

    #[test]
    fn what_changes_in_each_refresh_is_found_within_a_quarter_of_a_second_and_its_end_as_well() {
        let mut changing = ContentChange::default();
        played(&mut changing, 0, 12, |_| PixelChange::Most);
        assert!(!changing.changes_mostly(), "{changing:?}");
        played(&mut changing, 12, 8, |_| PixelChange::Most);
        assert!(changing.changes_mostly(), "{changing:?}");
        played(&mut changing, 20, 6, |_| PixelChange::None);
        assert!(changing.changes_mostly(), "{changing:?}");
        played(&mut changing, 26, 10, |_| PixelChange::None);
        assert!(!changing.changes_mostly(), "{changing:?}");
    }

    #[test]
    fn film_at_half_of_the_rate_and_a_caret_are_not_most() {
        let mut changing = ContentChange::default();
        played(&mut changing, 0, 600, |at| if at % 2 == 0 { PixelChange::Most } else { PixelChange::None });
        assert!(!changing.changes_mostly(), "{changing:?}");
        // There is no latch between the blinks.
        let mut changing = ContentChange::default();
        (0..100).for_each(|at| changing.note(Instant::ZERO + REFRESH * 30 * at, REFRESH, PixelChange::Most));
        assert!(!changing.changes_mostly(), "{changing:?}");
    }

    #[test]
    fn what_is_rendered_for_another_place_says_nothing() {
        let mut changing = ContentChange::default();
        played(&mut changing, 0, 100, |_| PixelChange::Replaced);
        assert!(!changing.changes_mostly(), "{changing:?}");
        played(&mut changing, 100, 40, |_| PixelChange::Most);
        played(&mut changing, 140, 40, |_| PixelChange::Replaced);
        assert!(changing.changes_mostly(), "{changing:?}");
    }
}

//! How soon a lost context is replaced. Pure.
//!
//! ```text
//!   lost ─► at once ─► lost ─► a refresh later ─► lost ─► two ─► four … ─► from a quarter of a second on the screen
//!                                                                         is dark meanwhile ─► … ─► once a second
//! ```
//!
//! A GPU that is reset once costs a frame. One that is lost again and again must neither keep the session busy with it
//! nor leave a picture on the screen that seems to be alive: what is pressed there is done, and nobody sees what.

use upbeat_timing::time::Span;

/// A context that drew so many frames was sound: should it be lost, too, it is replaced as the first one was. Half a
/// minute at 60 Hz, so that a GPU that is reset again and again is soon left alone.
const SOUND: u64 = 2_000;
/// Waits do not get longer: somebody may stand there and repair it.
const LONGEST: Span = Span::from_seconds(1);
/// The screen stands still for as long before people look for what they did wrong.
const UNNOTICED: Span = Span::from_millis(250);

/// Contexts that were lost one soon after another.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct Retry {
    losses: u32,
    /// Frames drawn since the last loss.
    drawn: u64,
}

impl Retry {
    /// A frame was drawn.
    pub fn drew(&mut self) {
        self.drawn += 1;
    }

    /// Whether a context before this one was lost not long ago.
    pub const fn is_second(&self) -> bool {
        self.losses > 0 && self.drawn < SOUND
    }

    /// The context is lost. How long to wait until the next one is made, on displays of which the fastest refreshes once
    /// in `refresh`.
    pub fn lost(&mut self, refresh: Span) -> Span {
        let before = if self.is_second() { self.losses } else { 0 };
        *self = Retry { losses: before.saturating_add(1), drawn: 0 };
        if before == 0 {
            return Span::ZERO;
        }
        // Doubled so often that any refresh has become a second.
        let doubled = refresh.max(Span::from_millis(1)) * (1 << (before - 1).min(10));
        doubled.min(LONGEST)
    }

    /// Whether a wait is so long that the screen is not to stand still meanwhile.
    pub fn is_noticed(wait: Span) -> bool {
        wait >= UNNOTICED
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    const REFRESH: Span = Span::from_micros(16_667);

    #[test]
    fn the_first_loss_waits_for_nothing_and_each_further_one_twice_as_long_up_to_a_second() {
        let mut retry = Retry::default();
        let waits: Vec<i64> = (0..9).map(|_| retry.lost(REFRESH).as_nanos() / 1_000_000).collect();
        assert_eq!(waits, [0, 16, 33, 66, 133, 266, 533, 1_000, 1_000]);
        let noticed = [16, 133, 266, 1_000].map(|millis| Retry::is_noticed(Span::from_millis(millis)));
        assert_eq!(noticed, [false, false, true, true]);
    }

    #[test]
    fn a_context_that_was_sound_is_replaced_as_the_first_one() {
        let mut retry = Retry::default();
        for _ in 0..20 {
            retry.lost(REFRESH);
        }
        (0..SOUND - 1).for_each(|_| retry.drew());
        assert!(retry.is_second());
        retry.drew();
        assert!(!retry.is_second());
        assert_eq!(retry.lost(REFRESH), Span::ZERO);
        assert_eq!(retry.lost(REFRESH), REFRESH);
    }

    #[test]
    fn a_few_frames_between_two_losses_are_no_proof() {
        let mut retry = Retry::default();
        retry.lost(REFRESH);
        for expected in [1, 2, 4, 8] {
            (0..100).for_each(|_| retry.drew());
            assert_eq!(retry.lost(REFRESH), REFRESH * expected);
        }
    }

    proptest! {
        /// Whatever the display and however long it goes on: no two tries within one refresh but the first, and never
        /// more than a second without one.
        #[test]
        fn tries_keep_to_the_pace_of_the_display(refresh in 1..200i64, losses in 1..200u32, drawn in 0..100u64) {
            let (refresh, mut retry) = (Span::from_millis(refresh), Retry::default());
            prop_assert_eq!(retry.lost(refresh), Span::ZERO);
            let mut before = Span::ZERO;
            for _ in 0..losses {
                (0..drawn).for_each(|_| retry.drew());
                let wait = retry.lost(refresh);
                prop_assert!(wait >= refresh && wait >= before && wait <= LONGEST);
                before = wait;
            }
        }
    }
}

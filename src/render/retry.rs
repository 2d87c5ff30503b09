//! Back-off for replacing a lost context. Pure.
//!
//! ```text
//!   lost ─► at once ─► lost ─► a refresh later ─► lost ─► two ─► four … ─► from a quarter of a second on the screen
//!                                                                         is dark meanwhile ─► … ─► once a second
//! ```
//!
//! A single GPU reset costs one frame. Repeated losses must not keep the session busy with new contexts. The last
//! picture must not stay on screen either, because it would seem to work: keys would have an effect that is not seen.

use upbeat_timing::time::Span;

/// A context that drew this many frames was sound, so its loss counts as a first one. Half a minute at 60 Hz, so that a
/// GPU that is reset repeatedly soon gets long waits.
const SOUND: u64 = 2_000;
/// Longest wait. It is short, because the user may be repairing the machine at that moment.
const LONGEST: Span = Span::from_seconds(1);
/// A frozen screen is unlikely to confuse the user for this long.
const UNNOTICED: Span = Span::from_millis(250);

/// Contexts lost in quick succession.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct Retry {
    losses: u32,
    /// Frames drawn since the last loss.
    drawn: u64,
}

impl Retry {
    pub fn frame_drawn(&mut self) {
        self.drawn += 1;
    }

    /// Whether the previous context was lost recently, too.
    pub const fn is_second(&self) -> bool {
        self.losses > 0 && self.drawn < SOUND
    }

    /// The context is lost. Returns the wait before the next is created; `refresh`: refresh interval of the fastest
    /// display.
    pub fn lost(&mut self, refresh: Span) -> Span {
        let before = if self.is_second() { self.losses } else { 0 };
        *self = Retry { losses: before.saturating_add(1), drawn: 0 };
        if before == 0 {
            return Span::ZERO;
        }
        // Ten doublings reach a second from any refresh interval.
        let doubled = refresh.max(Span::from_millis(1)) * (1 << (before - 1).min(10));
        doubled.min(LONGEST)
    }

    /// Whether the wait is so long that the screen must be dark meanwhile.
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
        (0..SOUND - 1).for_each(|_| retry.frame_drawn());
        assert!(retry.is_second());
        retry.frame_drawn();
        assert!(!retry.is_second());
        assert_eq!(retry.lost(REFRESH), Span::ZERO);
        assert_eq!(retry.lost(REFRESH), REFRESH);
    }

    #[test]
    fn a_few_frames_between_two_losses_are_no_proof() {
        let mut retry = Retry::default();
        retry.lost(REFRESH);
        for expected in [1, 2, 4, 8] {
            (0..100).for_each(|_| retry.frame_drawn());
            assert_eq!(retry.lost(REFRESH), REFRESH * expected);
        }
    }

    proptest! {
        /// Only the first two tries may fall into one refresh, and there is at least one try per second.
        #[test]
        fn tries_keep_to_the_pace_of_the_display(refresh in 1..200i64, losses in 1..200u32, drawn in 0..100u64) {
            let (refresh, mut retry) = (Span::from_millis(refresh), Retry::default());
            prop_assert_eq!(retry.lost(refresh), Span::ZERO);
            let mut before = Span::ZERO;
            for _ in 0..losses {
                (0..drawn).for_each(|_| retry.frame_drawn());
                let wait = retry.lost(refresh);
                prop_assert!(wait >= refresh && wait >= before && wait <= LONGEST);
                before = wait;
            }
        }
    }
}

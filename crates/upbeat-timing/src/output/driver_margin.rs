//! What a driver wants before its own deadline, beyond what it says.
//!
//! Nobody can ask a driver, so it starts with a guess and goes down while all is well. A margin at which a frame was late
//! is not tried again for long: each such try costs a frame.
//!
//! ```text
//!   margin  ▇▇▆▆▅▅▄▄▃▃│▆▅▅▅▄▄▄▄▄▄▄▄▄▄▄▄▄▄▄▄▄▄
//!                     └ late: up by a step, and from now on it stays above ▃
//! ```

use crate::time::Span;

/// How much one unexplained miss adds.
const STEP: Span = Span::from_micros(250);
/// A driver that wants more takes a refresh longer, not a margin.
const LIMIT: Span = Span::from_millis(3);
/// Frames in time after which one part in sixteen is given back.
const PATIENCE: u32 = 120;
/// A guess that turned out well comes down no further than this: a thread of the kernel has to wake up.
const LEAST_GUESSED: Span = Span::from_micros(150);
/// Frames in time after which a margin that was once too small may be tried again: ten minutes at 60 Hz. The machine was
/// perhaps busy then.
const FORGIVEN_AFTER: u32 = 36_000;

/// A margin that grows with each frame that was in time by our count and missed all the same.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct DriverMargin {
    now: Span,
    /// What it started with.
    guess: Span,
    /// The last margin that was too small.
    too_small: Option<Span>,
    quiet: u32,
}

impl DriverMargin {
    /// A margin that starts with `guess`; zero where the display's lead is exact.
    pub const fn guessed(guess: Span) -> Self {
        DriverMargin { now: guess, guess, too_small: None, quiet: 0 }
    }

    /// What to add to the display's lead.
    pub const fn get(self) -> Span {
        self.now
    }

    /// A frame was shown: late although it was in time, or not.
    pub fn learn(&mut self, unexplained_miss: bool) {
        if unexplained_miss {
            self.too_small = Some(self.now);
            self.now = (self.now + STEP).min(LIMIT);
            self.quiet = 0;
            return;
        }
        self.quiet = self.quiet.saturating_add(1);
        if self.quiet >= FORGIVEN_AFTER {
            self.too_small = None;
        }
        if self.quiet.is_multiple_of(PATIENCE) {
            let least = self.guess.min(LEAST_GUESSED).max(self.too_small.map_or(Span::ZERO, |small| small + STEP / 4));
            self.now = (self.now - self.now / 16).max(least.min(self.now));
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const GUESS: Span = Span::from_micros(500);

    fn frames_in_time(margin: &mut DriverMargin, frames: u32) {
        (0..frames).for_each(|_| margin.learn(false));
    }

    #[test]
    fn a_guess_comes_down_while_all_is_well() {
        let mut margin = DriverMargin::guessed(GUESS);
        frames_in_time(&mut margin, PATIENCE - 1);
        assert_eq!(margin.get(), GUESS);
        frames_in_time(&mut margin, 40 * PATIENCE);
        assert_eq!(margin.get(), LEAST_GUESSED);
    }

    #[test]
    fn what_was_too_small_is_not_tried_again_for_long() {
        let mut margin = DriverMargin::guessed(GUESS);
        frames_in_time(&mut margin, 10 * PATIENCE);
        let too_small = margin.get();
        margin.learn(true);
        assert_eq!(margin.get(), too_small + STEP);
        frames_in_time(&mut margin, FORGIVEN_AFTER - 1);
        assert_eq!(margin.get(), too_small + STEP / 4);
        frames_in_time(&mut margin, FORGIVEN_AFTER);
        assert_eq!(margin.get(), LEAST_GUESSED);
    }

    #[test]
    fn an_exact_lead_has_a_margin_only_after_a_miss() {
        let mut margin = DriverMargin::default();
        frames_in_time(&mut margin, 3 * PATIENCE);
        assert_eq!(margin.get(), Span::ZERO);
        (0..100).for_each(|_| margin.learn(true));
        assert_eq!(margin.get(), LIMIT);
    }
}

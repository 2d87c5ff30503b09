//! Learns how long before its stated deadline a driver really needs a frame.
//!
//! Drivers do not tell, so the margin starts with a guess and shrinks while frames are in time. A margin at which a
//! frame was late is not tried again for a long time, because each try costs a frame.
//!
//! ```text
//!   margin  ▇▇▆▆▅▅▄▄▃▃│▆▅▅▅▄▄▄▄▄▄▄▄▄▄▄▄▄▄▄▄▄▄
//!                     └ late: up by a step, and from now on it stays above ▃
//! ```

use crate::time::Span;

/// An unexplained miss adds this much.
const STEP: Span = Span::from_micros(250);
/// A driver that needs more than this takes a refresh longer, which a margin cannot solve.
const LIMIT: Span = Span::from_millis(3);
/// After this many frames in time the margin shrinks by one sixteenth.
const PATIENCE: u32 = 120;
/// A guessed margin shrinks to this at the least: a kernel thread has to wake up.
const LEAST_GUESSED: Span = Span::from_micros(150);
/// After this many frames in time (ten minutes at 60 Hz) a margin that was once too small may be tried again, because
/// the machine may have been busy then.
const FORGIVEN_AFTER: u32 = 36_000;

/// A margin that grows with each frame that was submitted in time but shown late.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct DriverMargin {
    now: Span,
    guess: Span,
    /// The last margin that was too small.
    too_small: Option<Span>,
    frames_in_time: u32,
}

impl DriverMargin {
    /// A margin that starts with `guess`; zero where the display's lead is exact.
    pub const fn guessed(guess: Span) -> Self {
        DriverMargin { now: guess, guess, too_small: None, frames_in_time: 0 }
    }

    /// The margin to add to the display's lead.
    pub const fn get(self) -> Span {
        self.now
    }

    /// A frame was shown. `unexplained_miss`: late, although it was submitted in time.
    pub fn learn(&mut self, unexplained_miss: bool) {
        if unexplained_miss {
            self.too_small = Some(self.now);
            self.now = (self.now + STEP).min(LIMIT);
            self.frames_in_time = 0;
            return;
        }
        self.frames_in_time = self.frames_in_time.saturating_add(1);
        if self.frames_in_time >= FORGIVEN_AFTER {
            self.too_small = None;
        }
        if self.frames_in_time.is_multiple_of(PATIENCE) {
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
    fn too_small_margin_is_not_tried_again_for_long() {
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

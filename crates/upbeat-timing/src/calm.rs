//! Whether all that happens has been foreseen for a while.
//!
//! Unforeseen is what nobody could know of before: input, content that somebody commits when it pleases them, a change of
//! the shell; not our own motion, nor frames that were drawn ahead for their refreshes. Two things ask: rendering ahead
//! starts after a few such latches, since what it renders would only be thrown away; content of which all is there is
//! latched early after seconds of it.

use super::defaults::{CALM_AFTER, CALM_LATCHES};
use crate::time::Instant;

/// What has happened lately on one output.
#[derive(Clone, Copy, Debug, Default)]
pub struct Calm {
    /// Latches in a row that nothing but our own motion asked for.
    latches: u32,
    /// Something else has asked for the next one.
    disturbed: bool,
    /// Motion starts somewhere that waits for its first frames.
    starts: bool,
    /// When something unforeseen was seen last.
    stirred: Option<Instant>,
}

impl Calm {
    /// Something unforeseen happened.
    pub const fn disturb(&mut self) {
        (self.disturbed, self.latches) = (true, 0);
    }

    /// Something unforeseen has just happened, or is going on.
    pub const fn stir(&mut self, now: Instant) {
        self.stirred = Some(now);
    }

    /// Motion starts with the next latch that waits until its first frames are rendered.
    pub const fn start(&mut self) {
        self.starts = true;
    }

    /// Whether such motion starts.
    pub const fn starts(&self) -> bool {
        self.starts
    }

    /// A latch chose its content. Where motion starts of which nobody is in the way, no calm is waited for.
    pub fn latched(&mut self, starts: bool) {
        let calm = if std::mem::take(&mut self.disturbed) { 0 } else { self.latches.saturating_add(1) };
        self.latches = if starts { calm.max(CALM_LATCHES) } else { calm };
        self.starts = false;
    }

    /// Whether something has asked for the next latch that nobody foresaw.
    pub const fn is_disturbed(&self) -> bool {
        self.disturbed
    }

    /// Whether frames may be rendered ahead.
    pub const fn is_for_rendering(&self) -> bool {
        self.latches >= CALM_LATCHES && !self.disturbed
    }

    /// Whether it has been calm for so long that content may be latched as soon as all of it is there. The first time it is
    /// asked the count begins.
    pub fn is_lasting(&mut self, now: Instant) -> bool {
        now - *self.stirred.get_or_insert(now) >= CALM_AFTER
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::time::Span;

    #[test]
    fn frames_are_rendered_ahead_after_a_few_latches_that_were_foreseen() {
        let mut calm = Calm::default();
        calm.disturb();
        calm.latched(false);
        assert!(!calm.is_for_rendering(), "this latch was asked for");
        (0..CALM_LATCHES).for_each(|_| calm.latched(false));
        assert!(calm.is_for_rendering());
        calm.disturb();
        assert!(!calm.is_for_rendering());
        calm.latched(true);
        assert!(calm.is_for_rendering(), "motion that waits for its first frames waits for nothing else");
    }

    #[test]
    fn calm_lasts_from_what_stirred_it_last() {
        let (mut calm, start) = (Calm::default(), Instant::from_nanos(1_000_000_000));
        assert!(!calm.is_lasting(start));
        assert!(calm.is_lasting(start + CALM_AFTER));
        calm.stir(start + CALM_AFTER);
        assert!(!calm.is_lasting(start + CALM_AFTER + CALM_AFTER - Span::from_nanos(1)));
    }

    #[test]
    fn calm_lasts_after_some_seconds_and_not_after_one() {
        let (mut calm, start) = (Calm::default(), Instant::from_nanos(1_000_000_000));
        calm.stir(start);
        assert!(!calm.is_lasting(start + Span::from_seconds(2)), "the next input may be answered a refresh later");
        assert!(calm.is_lasting(start + Span::from_seconds(5)), "a late compositor would cost a frame");
    }

    #[test]
    fn frames_are_rendered_ahead_within_the_first_quarter_of_a_short_animation() {
        let mut calm = Calm::default();
        calm.disturb();
        let latches = (0..).take_while(|_| {
            calm.latched(false);
            !calm.is_for_rendering()
        });
        // 200 ms at 60 Hz.
        assert!((1..=3).contains(&latches.count()));
    }
}

//! Predicts whether an output stays idle: whether all recent changes were foreseen.
//!
//! Input, an unplanned commit of a client and a change of the shell are unforeseen. Our own animations, and frames that
//! were drawn ahead for their refreshes, are foreseen. Two features depend on this. Rendering ahead starts after a few
//! foreseen latches, since an unforeseen change would only discard its frames. Complete content is latched early after
//! seconds without an unforeseen event.

use super::defaults::{CALM_AFTER, CALM_LATCHES};
use crate::time::Instant;

/// Recent foreseen and unforeseen activity on one output.
#[derive(Clone, Copy, Debug, Default)]
pub struct Calm {
    /// Latches in a row whose only cause was our own animation.
    latches: u32,
    /// The next latch has an unforeseen cause.
    disturbed: bool,
    /// The next latch starts an animation that waits until its first frames are rendered.
    starts: bool,
    /// When the last unforeseen event happened.
    stirred: Option<Instant>,
}

impl Calm {
    /// The next latch has an unforeseen cause.
    pub const fn disturb(&mut self) {
        (self.disturbed, self.latches) = (true, 0);
    }

    /// An unforeseen event happened at `now`, or is still going on.
    pub const fn stir(&mut self, now: Instant) {
        self.stirred = Some(now);
    }

    /// An animation that waits until its first frames are rendered starts with the next latch.
    pub const fn start(&mut self) {
        self.starts = true;
    }

    /// Whether the next latch starts an animation that waits until its first frames are rendered.
    pub const fn starts(&self) -> bool {
        self.starts
    }

    /// A latch chose its content. `starts`: it starts an animation that no client interferes with, so that
    /// rendering ahead may begin at once.
    pub fn latched(&mut self, starts: bool) {
        let calm = if std::mem::take(&mut self.disturbed) { 0 } else { self.latches.saturating_add(1) };
        self.latches = if starts { calm.max(CALM_LATCHES) } else { calm };
        self.starts = false;
    }

    /// Whether the next latch has an unforeseen cause.
    pub const fn is_disturbed(&self) -> bool {
        self.disturbed
    }

    /// Whether frames may be rendered ahead.
    pub const fn is_for_rendering(&self) -> bool {
        self.latches >= CALM_LATCHES && !self.disturbed
    }

    /// Whether no unforeseen event happened for [`CALM_AFTER`], so that content may be latched as soon as it is
    /// complete. The first call starts the count.
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

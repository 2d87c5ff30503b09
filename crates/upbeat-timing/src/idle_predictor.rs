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
pub struct IdlePredictor {
    /// Latches in a row whose only cause was our own animation.
    foreseen_latches: u32,
    /// The next latch has an unforeseen cause.
    unforeseen: bool,
    /// The next latch starts an animation that waits until its first frames are rendered.
    animation_starts: bool,
    /// When the last unforeseen event happened.
    last_activity: Option<Instant>,
}

impl IdlePredictor {
    /// The next latch has an unforeseen cause.
    pub const fn mark_unforeseen(&mut self) {
        (self.unforeseen, self.foreseen_latches) = (true, 0);
    }

    /// An unforeseen event happened at `now`, or is still going on.
    pub const fn note_activity(&mut self, now: Instant) {
        self.last_activity = Some(now);
    }

    /// An animation that waits until its first frames are rendered starts with the next latch.
    pub const fn mark_animation_start(&mut self) {
        self.animation_starts = true;
    }

    /// Whether the next latch starts an animation that waits until its first frames are rendered.
    pub const fn is_animation_starting(&self) -> bool {
        self.animation_starts
    }

    /// A latch chose its content. `starts`: it starts an animation that no client interferes with, so that
    /// rendering ahead may begin at once.
    pub fn latched(&mut self, starts: bool) {
        let calm = if std::mem::take(&mut self.unforeseen) { 0 } else { self.foreseen_latches.saturating_add(1) };
        self.foreseen_latches = if starts { calm.max(CALM_LATCHES) } else { calm };
        self.animation_starts = false;
    }

    /// Whether the next latch has an unforeseen cause.
    pub const fn is_unforeseen(&self) -> bool {
        self.unforeseen
    }

    /// Whether frames may be rendered ahead.
    pub const fn allows_rendering_ahead(&self) -> bool {
        self.foreseen_latches >= CALM_LATCHES && !self.unforeseen
    }

    /// Whether no unforeseen event happened for [`CALM_AFTER`], so that content may be latched as soon as it is
    /// complete. The first call starts the count.
    pub fn allows_early_latch(&mut self, now: Instant) -> bool {
        now - *self.last_activity.get_or_insert(now) >= CALM_AFTER
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::time::Span;

    #[test]
    fn frames_are_rendered_ahead_after_a_few_latches_that_were_foreseen() {
        let mut predictor = IdlePredictor::default();
        predictor.mark_unforeseen();
        predictor.latched(false);
        assert!(!predictor.allows_rendering_ahead(), "this latch was asked for");
        (0..CALM_LATCHES).for_each(|_| predictor.latched(false));
        assert!(predictor.allows_rendering_ahead());
        predictor.mark_unforeseen();
        assert!(!predictor.allows_rendering_ahead());
        predictor.latched(true);
        assert!(predictor.allows_rendering_ahead(), "motion that waits for its first frames waits for nothing else");
    }

    #[test]
    fn idle_time_counts_from_the_last_activity() {
        let (mut predictor, start) = (IdlePredictor::default(), Instant::from_nanos(1_000_000_000));
        assert!(!predictor.allows_early_latch(start));
        assert!(predictor.allows_early_latch(start + CALM_AFTER));
        predictor.note_activity(start + CALM_AFTER);
        assert!(!predictor.allows_early_latch(start + CALM_AFTER + CALM_AFTER - Span::from_nanos(1)));
    }

    #[test]
    fn calm_lasts_after_some_seconds_and_not_after_one() {
        let (mut predictor, start) = (IdlePredictor::default(), Instant::from_nanos(1_000_000_000));
        predictor.note_activity(start);
        assert!(
            !predictor.allows_early_latch(start + Span::from_seconds(2)),
            "the next input may be answered a refresh later"
        );
        assert!(predictor.allows_early_latch(start + Span::from_seconds(5)), "a late compositor would cost a frame");
    }

    #[test]
    fn frames_are_rendered_ahead_within_the_first_quarter_of_a_short_animation() {
        let mut predictor = IdlePredictor::default();
        predictor.mark_unforeseen();
        let latches = (0..).take_while(|_| {
            predictor.latched(false);
            !predictor.allows_rendering_ahead()
        });
        // 200 ms at 60 Hz.
        assert!((1..=3).contains(&latches.count()));
    }
}

//! The user's interaction with a client: focus, held buttons, and the rhythm of input events.

use super::Pacer;
use crate::defaults::LINGER;
use crate::time::{Instant, Span};

/// Input events further apart than this have no rhythm.
const RHYTHM_GAP: Span = Span::from_millis(40);

/// The user's interaction with a client.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct UserInteraction {
    focused: bool,
    held: bool,
    /// The last button, touch, key press or scroll.
    interrupted: Option<Instant>,
    /// The last input of any kind.
    input: Option<Instant>,
    /// The average distance between input events, while they come in a rhythm.
    input_interval: Option<Span>,
}

impl Pacer {
    /// Sets whether the client's window has the focus.
    pub fn set_focused(&mut self, focused: bool) {
        self.attention.focused = focused;
    }

    /// Sets whether the user holds a button or a finger down on the window. Counts as an interrupting event.
    pub fn set_held(&mut self, held: bool, now: Instant) {
        self.attention.held = held;
        self.interrupt(now);
    }

    /// Whether the client's window has the focus.
    pub const fn is_focused(&self) -> bool {
        self.attention.focused
    }

    /// Whether the user holds a button or a finger down on the window.
    pub const fn is_held(&self) -> bool {
        self.attention.held
    }

    /// An interrupting input event was delivered: button, touch, key press, scroll.
    pub fn interrupt(&mut self, now: Instant) {
        self.attention.interrupted = Some(now);
        self.input(now);
    }

    /// Any input event was delivered, including motion.
    pub fn input(&mut self, now: Instant) {
        if let Some(gap) = self.attention.input.map(|last| now - last).filter(|gap| *gap > Span::ZERO) {
            self.attention.input_interval = (gap < RHYTHM_GAP).then(|| match self.attention.input_interval {
                Some(interval) => interval + (gap - interval) / 8,
                None => gap,
            });
        }
        self.attention.input = Some(now);
    }

    /// Whether the user interacts with the window: an interrupting event a moment ago, or a held button.
    pub fn is_interactive(&self, now: Instant) -> bool {
        self.attention.held || self.attention.interrupted.is_some_and(|at| now - at < LINGER)
    }

    /// When the interaction ends without further events; `None` if it has ended, or while the user holds a button
    /// or a finger down.
    pub fn interactive_until(&self, now: Instant) -> Option<Instant> {
        self.attention.interrupted.map(|at| at + LINGER).filter(|until| *until > now && !self.attention.held)
    }

    /// Moves a just-in-time start to the input event that was just delivered, if no further event is expected
    /// before the start. Presto 3.1: the last event that still fits.
    pub fn snap_to_input(&mut self, now: Instant, interval: Span) {
        // Input that is slower than the display cannot be predicted.
        let snaps = self.is_interactive(now) && self.attention.input_interval.is_some_and(|rhythm| rhythm <= interval);
        let next_event =
            self.attention.input.zip(self.attention.input_interval).map(|(last, interval)| last + interval);
        let (Some(planned), Some(next_event)) = (&mut self.planned, next_event) else { return };
        if planned.packed && self.attention.input == Some(now) && next_event > planned.start && snaps {
            planned.start = planned.start.min(now);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::pacer::{PacerMissBudgets, PlannedCallback};
    use crate::pacing::PacingWish;
    use crate::target::RefreshIndex;

    const CLICK: Instant = Instant::from_nanos(1_000_000_000);

    fn ms(millis: i64) -> Span {
        Span::from_millis(millis)
    }

    #[test]
    fn window_counts_as_touched_between_two_strokes_and_not_while_its_user_reads() {
        let mut pacer = Pacer::new(PacingWish::Auto, PacerMissBudgets::default());
        assert!(!pacer.is_interactive(CLICK));
        pacer.interrupt(CLICK);
        // Two strokes of a slow typist are 300 ms apart.
        assert!(pacer.is_interactive(CLICK + ms(300)));
        assert!(!pacer.is_interactive(CLICK + ms(600)));
        let until = pacer.interactive_until(CLICK + ms(300)).unwrap();
        assert!(pacer.is_interactive(until - Span::from_nanos(1)) && !pacer.is_interactive(until));
    }

    /// Whether a callback that is planned for the end of a refresh is sent with this mouse event.
    fn is_snapped_to(pacer: &mut Pacer, now: Instant) -> bool {
        let start = now + ms(6);
        pacer.planned = Some(PlannedCallback { target: RefreshIndex(1), start, packed: true });
        pacer.input(now);
        pacer.snap_to_input(now, ms(16));
        pacer.planned.unwrap().start == now
    }

    #[test]
    fn callback_is_snapped_to_the_third_event_of_a_mouse_also_after_it_rested() {
        let mut pacer = Pacer::new(PacingWish::Auto, PacerMissBudgets::default());
        pacer.set_held(true, CLICK);
        for begin in [CLICK + ms(100), CLICK + ms(300), CLICK + ms(400)] {
            let snapped = [0, 8, 16].map(|millis| is_snapped_to(&mut pacer, begin + ms(millis)));
            assert_eq!(snapped, [false, true, true]);
        }
    }

    #[test]
    fn callback_is_not_snapped_to_events_that_come_slower_than_refreshes() {
        let mut pacer = Pacer::new(PacingWish::Auto, PacerMissBudgets::default());
        pacer.set_held(true, CLICK);
        assert!((1..9).all(|event| !is_snapped_to(&mut pacer, CLICK + ms(30 * event))));
    }
}

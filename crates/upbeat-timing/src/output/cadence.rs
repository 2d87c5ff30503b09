//! Where refreshes have no grid, frames that wait say when they are: each is bound to its moment, and the panel keeps the
//! rate that they were drawn for until the last of them is shown. A frame of another rate begins behind them, or fits in
//! between: whatever else changes is shown at once where the panel is free again by the next of those moments, and with that
//! frame where it is not. So no change of rate, no other window and no cursor moves a frame that waits.
//!
//! ```text
//!   bound        A           B           C       D    E         144 Hz begins behind C, when that is on screen
//!   changes         x                  y
//!   panel        A  x        B           C       D    E         x fits before B; y would hold C up, and comes with it
//!   bound        A                             B                further apart than the panel can wait
//!   panel        A              A              B                the picture before is shown again, evenly
//! ```
//!
//! Source: D-VSync 5.3 (what was drawn for a rate is consumed before the panel changes to another).

use super::{OutputMachine, rhythm};
use crate::record::Need;
use crate::target::RefreshIndex;
use crate::time::{Instant, Span};

impl<T> OutputMachine<T> {
    /// Whether something waits that is bound to no moment, nor to what somebody draws.
    pub(super) fn is_wanted_now(&self) -> bool {
        self.need.is_some_and(|need| need != Need::Cursor || !self.holds_cursor())
            || self.due.is_some_and(|due| due.at == Instant::ZERO)
    }

    /// Somebody draws, or is about to. The cursor alone would leave the panel busy when that is there: it goes along with it.
    pub fn set_drawn_for(&mut self, drawn_for: bool) {
        self.drawn_for = drawn_for;
    }

    fn holds_cursor(&self) -> bool {
        self.drawn_for && self.vsync.is_variable()
    }

    /// When the cursor is shown at last that waits for what somebody draws: before the panel would repeat its picture.
    pub(super) fn cursor_at(&self) -> Option<Instant> {
        let range = self.vsync.range().filter(|_| self.holds_cursor() && self.need == Some(Need::Cursor))?;
        Some(self.vsync.last() + rhythm::undisturbed(range))
    }

    /// The moment that the next latch is for, if nothing is wanted before one that is known.
    pub(super) fn known_moment(&self) -> Option<Instant> {
        self.bound.into_iter().chain(self.cursor_at()).min()
    }

    /// A picture that could be shown at `time` leaves the panel free for the next that is bound, or is shown with it.
    pub(super) fn beside_bound(&self, time: Instant) -> Instant {
        let Some(range @ (shortest, _)) = self.vsync.range() else { return time };
        let free = time.max(self.shown_by_itself(time, range) + shortest);
        let holds_up = |bound: &Instant| time < *bound && free + shortest > *bound;
        self.bound.filter(holds_up).unwrap_or(time)
    }

    /// The last refresh before `time`, if nothing comes until then: the panel makes one after its longest interval.
    fn shown_by_itself(&self, time: Instant, (_, longest): (Span, Span)) -> Instant {
        let last = self.vsync.last();
        last + longest * ((time - last).as_nanos().max(0) / longest.as_nanos().max(1))
    }

    /// When the last picture is shown again if nothing else is: half-way to the next, where that is too far away for the
    /// panel to wait.
    pub(super) fn again(&self, now: Instant) -> Option<Instant> {
        let range @ (shortest, longest) = self.vsync.range()?;
        let Some(bound) = self.bound else { return self.rhythm.again() };
        // Where nothing came the panel has done so by itself, and is busy with that for its shortest interval.
        let light = self.shown_by_itself(now, range);
        let soonest = now + self.submit_lead() + self.compose_typical();
        // It may be about to do so once more: then half-way from there.
        for light in [light, light + longest] {
            let shown = rhythm::before(bound, light, range)?.max(soonest).max(light + shortest);
            if shown < light + longest {
                return (shown + shortest <= bound).then_some(shown);
            }
        }
        None
    }

    /// The next latch, where nothing is wanted before a moment that is known: what is bound to it, or the last picture once
    /// more. What is composed sooner than it might be is shown sooner, and what is composed later misses nothing: so what it
    /// usually takes.
    pub(super) fn next_timed_latch(&self, now: Instant) -> Option<(RefreshIndex, Instant)> {
        if !self.vsync.is_variable() || self.is_wanted_now() {
            return None;
        }
        let at = self.again(now).or(self.known_moment())? - (self.submit_lead() + self.compose_typical());
        Some((self.next_index(now), at.max(now)))
    }
}

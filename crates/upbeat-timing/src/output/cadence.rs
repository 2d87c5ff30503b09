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

use super::rhythm::{self, Rhythm};
use super::{Frame, OutputMachine};
use crate::record::Need;
use crate::target::RefreshIndex;
use crate::time::{Instant, Span};
use crate::vsync::Rate;

/// When a panel of variable rate is to refresh. Where the rate is fixed, none of it is looked at.
#[derive(Clone, Debug, Default)]
pub(super) struct Cadence {
    /// The first moment that an update which waits is bound to.
    pub bound: Option<Instant>,
    /// When pictures come, and whether the last one is to be shown again.
    rhythm: Rhythm,
    /// The latch at hand shows the last picture again.
    shows_again: bool,
    /// The refresh in which the last picture is shown again.
    repeating: Option<RefreshIndex>,
    /// The next refresh is not before this moment, since one was spent.
    pub not_before: Instant,
}

impl Cadence {
    /// An update waits for the moment `at`.
    pub fn bind(&mut self, at: Instant) {
        self.bound = Some(self.bound.map_or(at, |known| known.min(at)));
    }

    /// The latch for `index` is being made. Returns whether it shows the last picture again, if nothing else is wanted.
    pub fn latch(&mut self, index: RefreshIndex) -> bool {
        // An update that still waits is bound again.
        self.bound = None;
        self.repeating = std::mem::take(&mut self.shows_again).then_some(index);
        self.rhythm.stop();
        self.repeating.is_some()
    }
}

impl<T> OutputMachine<T> {
    /// The next refresh is when what is chosen now can be shown, not when it could have been: after a rest that is now. It
    /// comes after what is on its way.
    pub fn expect(&mut self, now: Instant) {
        self.expect_from(now, Instant::ZERO);
    }

    /// The same for a latch that is made `now`: one for which nothing but bound updates waits is for the first of those, or
    /// shows the picture before it again.
    pub fn expect_latch(&mut self, now: Instant) {
        let again = self.again(now).filter(|_| !self.is_wanted_now());
        self.cadence.shows_again = again.is_some();
        let bound = self.known_moment().filter(|_| !self.is_wanted_now());
        self.expect_from(now, again.or(bound).unwrap_or(Instant::ZERO));
    }

    fn expect_from(&mut self, now: Instant, stamp: Instant) {
        // A grid is where it is, whatever is chosen.
        let Rate::Variable(_) = self.vsync.rate() else { return };
        let soonest = now + self.compose_typical() + self.submit_lead();
        let light = |frame: &Frame<T>| frame.flight().submit_by + self.submit_lead() + self.vsync.interval();
        let under_way = self.frames.in_flight().chain(self.frames.composing());
        let behind = under_way.map(light).max().unwrap_or(Instant::ZERO);
        let index = self.next_index(now);
        self.vsync.expect(index, soonest.max(stamp).max(behind).max(self.cadence.not_before));
        self.vsync.expect(index, self.beside_bound(self.vsync.present(index)));
    }

    /// Refresh `index` is spent: the next one comes as long after it as if it had been shown.
    pub(super) fn keep_behind_spent(&mut self, index: RefreshIndex) {
        if let Rate::Variable(_) = self.vsync.rate() {
            self.cadence.not_before = self.vsync.present(index) + self.vsync.interval();
        }
    }

    /// A picture is on screen since `present`. `flight`: the refresh that it was for and when it was submitted, if it is ours.
    pub(super) fn note_light(&mut self, present: Instant, flight: Option<(RefreshIndex, Instant)>) {
        let Some(range) = self.vsync.range() else { return };
        let Cadence { rhythm, repeating, .. } = &mut self.cadence;
        match repeating.take().filter(|repeating| flight.is_some_and(|(target, _)| target == *repeating)) {
            Some(_) => rhythm.repeated(present),
            None => rhythm.picture(present, flight.map_or(present, |(_, submitted)| submitted), range),
        }
    }

    /// Whether something waits that is bound to no moment, nor to what somebody draws.
    pub(super) fn is_wanted_now(&self) -> bool {
        self.need.is_some_and(|need| need != Need::Cursor || !self.holds_cursor())
            || self.due.is_some_and(|due| due.at == Instant::ZERO)
    }

    /// Somebody draws, or is about to. The cursor alone would leave the panel busy when that is there: it goes along with it.
    pub fn set_drawn_for(&mut self, drawn_for: bool) {
        self.drawn_for = drawn_for;
    }

    /// When the cursor is shown at last that waits for what somebody draws: before the panel would repeat its picture.
    pub(super) fn cursor_at(&self) -> Option<Instant> {
        let range = self.vsync.range().filter(|_| self.holds_cursor() && self.need == Some(Need::Cursor))?;
        Some(self.vsync.last() + rhythm::undisturbed(range))
    }

    /// The moment that the next latch is for, if nothing is wanted before one that is known; `None` with a fixed rate.
    pub(super) fn known_moment(&self) -> Option<Instant> {
        self.vsync.range()?;
        self.cadence.bound.into_iter().chain(self.cursor_at()).min()
    }

    /// A picture that could be shown at `time` leaves the panel free for the next that is bound, or is shown with it.
    pub(super) fn beside_bound(&self, time: Instant) -> Instant {
        let Some(range @ (shortest, _)) = self.vsync.range() else { return time };
        let free = time.max(self.shown_by_itself(time, range) + shortest);
        let holds_up = |bound: &Instant| time < *bound && free + shortest > *bound;
        self.cadence.bound.filter(holds_up).unwrap_or(time)
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
        let Some(bound) = self.cadence.bound else { return self.cadence.rhythm.again() };
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
        if self.is_wanted_now() {
            return None;
        }
        let at = self.again(now).or(self.known_moment())? - (self.submit_lead() + self.compose_typical());
        Some((self.next_index(now), at.max(now)))
    }
}

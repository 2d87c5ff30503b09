//! Which refresh comes next: a function of time and of what was submitted.
//!
//! Refreshes have numbers, and time counts them, not latches. What is chosen at `now` is for the first refresh that lies
//! ahead, can still be reached, and lies behind all that is taken already: frames in flight, being drawn, or withdrawn and
//! perhaps shown all the same; the refresh on screen; and the *spent* one, whose latch came to nothing but had effects that
//! can be had once only (a fifo barrier was cleared, a client was called back, feedback was sent).
//!
//! A latch that was made at once, before its moment, and came to nothing without any effect gives its number back. The
//! output is *empty until refresh k* then: what comes later may still be shown at k, and is latched when that is due.
//!
//! ```text
//!   phase unknown    need ─► latched at once for k: nothing    need ─► latched for k at latch_at(k)    need ─► k+1
//!                                 └ empty until k ────────────────────────┘ nothing: k is spent
//! ```
//!
//! So whatever anybody commits, an output latches twice for a refresh at most, and its numbers stay within an interval or
//! two of the clock.

use super::{OutputMachine, PUBLISHED, UNPUBLISHED};
use crate::target::RefreshIndex;
use crate::time::{Instant, Span};

/// A plan for a refresh further ahead than so many intervals, beyond what is taken already, is a fault of ours.
const FURTHEST: i64 = 2;

/// What was done for refreshes, apart from frames.
#[derive(Clone, Copy, Debug)]
pub(super) struct Numbers {
    /// The last refresh whose latch had effects, whatever became of its frame.
    pub spent: RefreshIndex,
    /// The last refresh that showed a frame.
    pub shown: RefreshIndex,
    /// The refresh for which a latch at once came to nothing, without any effect.
    pub empty: Option<RefreshIndex>,
}

impl<T> OutputMachine<T> {
    /// The last refresh that is taken: nothing is latched for it or an earlier one any more.
    pub fn latched(&self) -> RefreshIndex {
        let Numbers { spent, shown, .. } = self.numbers;
        self.frames.last_taken().unwrap_or_default().max(spent).max(shown)
    }

    /// The first refresh from `index` on that content chosen at `now` can be shown in, where it could be too late for it.
    pub(super) fn first_in_time(&self, mut index: RefreshIndex, now: Instant) -> RefreshIndex {
        let free = self.free_at(now);
        while self.last_chance(index) < free {
            index = index.next();
        }
        index
    }

    /// When the display takes another frame: while as many as may be are on their way, with the light of the first of
    /// them. Where composing takes nearly an interval or more, that is too late for the refresh after.
    fn free_at(&self, now: Instant) -> Instant {
        let composing = self.frames.composing();
        let under_way = self.frames.in_flight().count() + usize::from(composing.is_some());
        let Some(nth) = under_way.checked_sub(self.most_in_flight()) else { return now };
        let flight = self.frames.in_flight().nth(nth);
        let flight = flight.map(|frame| frame.target.plus(u64::from(frame.flight().is_late())));
        flight.or(composing.map(|frame| frame.target)).map_or(now, |index| self.vsync.present(index).max(now))
    }

    /// How many frames may be in flight now: more than one only where the next one's latch comes before the light of the
    /// one before. Elsewhere it waits for that light, lest one late frame make all that follow late, each held up by the
    /// one before.
    pub(super) fn most_in_flight(&self) -> usize {
        if self.submit_lead() + self.compose_budget() > self.vsync.interval() { self.depth } else { 1 }
    }

    /// Whether the display takes no frame now.
    pub(super) fn is_full(&self) -> bool {
        self.frames.composing().is_some() || self.frames.in_flight().count() >= self.most_in_flight()
    }

    /// The latch for `index` at `now` came to nothing. `effective`: it had effects that can be had once only. Returns whether
    /// the refresh is spent.
    pub fn empty(&mut self, index: RefreshIndex, now: Instant, effective: bool) -> bool {
        let is_before_its_moment = now < self.latch_at(index);
        let is_spent = effective || !is_before_its_moment || self.numbers.empty == Some(index);
        if is_spent {
            self.spend(index);
        } else {
            self.numbers.empty = Some(index);
        }
        is_spent
    }

    /// Nothing else is latched for `index`.
    pub(super) fn spend(&mut self, index: RefreshIndex) {
        self.numbers.spent = self.numbers.spent.max(index);
        self.keep_behind_spent(index);
    }

    /// Whether content for `index` may be chosen at once: it is the next refresh by the clock, and was not looked for in
    /// vain.
    pub(super) fn may_latch_at_once(&self, index: RefreshIndex, now: Instant) -> bool {
        let mut first = self.vsync.at_or_after(now);
        while self.last_chance(first) < now {
            first = first.next();
        }
        index <= first && self.numbers.empty != Some(index)
    }

    /// Whether a plan for refresh `index` cannot be: it lies further ahead than two intervals behind what the display is
    /// busy with and what composing takes, and nobody asked for that refresh.
    pub fn is_beyond_reach(&self, index: RefreshIndex, now: Instant) -> bool {
        let (interval, present) = (self.vsync.interval(), self.vsync.present(index));
        // As nearly all are, whatever the display is busy with.
        if present <= now + interval * FURTHEST {
            return false;
        }
        let count = |frames: usize| i64::try_from(frames).unwrap_or(i64::MAX);
        let busy = count(self.frames.in_flight().count() + usize::from(self.frames.composing().is_some()));
        // What the display is busy with costs as much as what comes after it.
        let each = interval + self.submit_lead() + self.compose.most(interval);
        let others = count(self.frames.iter().count()) - busy;
        let furthest = now + interval * (FURTHEST + others) + each * (busy + 1);
        let asked_for = self.due.map(|due| due.index).max(self.promised);
        asked_for.is_none_or(|last| index > last) && present > furthest
    }

    /// The display starts its refreshes anew, `interval` apart if it is another one: its mode, or it is switched on. When,
    /// its first timestamp will tell. To be followed by a need: the latch that it brings finds out what waits for which of them.
    pub fn restart(&mut self, interval: Option<Span>, now: Instant) {
        match interval {
            Some(interval) => self.vsync.set_interval(interval, now),
            None => self.vsync.forget_phase(now),
        }
        // Which refresh a stamp means, the first latch will say anew.
        (self.due, self.cadence.bound) = (None, None);
        self.set_by_clock(now);
    }

    /// Sets the numbers by the clock again, after a plan that [cannot be](Self::is_beyond_reach). What was published for
    /// refreshes does not hold any more.
    pub fn renumber(&mut self, now: Instant) {
        self.set_by_clock(now);
        (self.due, self.cadence.bound, self.promised) = (None, None, None);
    }

    fn set_by_clock(&mut self, now: Instant) {
        let last = RefreshIndex(self.vsync.at_or_after(now).0.saturating_sub(1));
        let Numbers { spent, shown, empty } = &mut self.numbers;
        (*spent, *shown, *empty) = ((*spent).min(last), (*shown).min(last), None);
        self.cadence.not_before = self.cadence.not_before.min(now);
        self.forget_published();
    }

    /// Refreshes are not when they were thought to be: deadlines that were published for them say nothing.
    pub(super) const fn forget_published(&mut self) {
        self.published = [UNPUBLISHED; PUBLISHED];
    }
}

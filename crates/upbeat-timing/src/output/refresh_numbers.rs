//! Numbers refreshes: which refresh comes next is a function of time and of submitted frames.
//!
//! Refreshes are counted by time, not by latches. Content chosen at `now` is for the first refresh that lies ahead, can
//! still be reached, and comes after all taken refreshes. Taken are the refreshes of frames that are in flight, being
//! drawn, or withdrawn but perhaps still shown; the refresh on screen; and the *spent* refresh, whose latch showed
//! nothing but had effects that cannot be repeated (it cleared a fifo barrier, called a client back, sent feedback).
//!
//! A latch that was made at once, before its regular moment, and found nothing to show and had no effects returns its
//! number. The output is then *empty until refresh k*: later content may still be shown at k, and is latched at the
//! regular moment.
//!
//! ```text
//!   phase unknown    need ─► latched at once for k: nothing    need ─► latched for k at latch_at(k)    need ─► k+1
//!                                 └ empty until k ────────────────────────┘ nothing: k is spent
//! ```
//!
//! So whatever clients commit, an output latches at most twice for a refresh, and its numbers stay within an interval
//! or two of the clock.

use super::{OutputMachine, PUBLISHED, UNPUBLISHED};
use crate::target::RefreshIndex;
use crate::time::{Instant, Span};

/// A plan for a refresh further ahead than this many intervals, besides taken refreshes, is a bug.
const FURTHEST: i64 = 2;

/// Refreshes that are taken for other reasons than queued frames.
#[derive(Clone, Copy, Debug)]
pub(super) struct RefreshNumbers {
    /// The last refresh whose latch had effects, even if its frame was not shown.
    pub spent: RefreshIndex,
    /// The last refresh that showed a frame.
    pub shown: RefreshIndex,
    /// The refresh of a latch at once that showed nothing and had no effects.
    pub empty: Option<RefreshIndex>,
}

impl<T> OutputMachine<T> {
    /// The last taken refresh: there are no more latches for it or earlier refreshes.
    pub fn latched(&self) -> RefreshIndex {
        let RefreshNumbers { spent, shown, .. } = self.refresh_numbers;
        self.frames.last_taken_refresh().unwrap_or_default().max(spent).max(shown)
    }

    /// The first refresh from `index` on that content chosen at `now` can reach in time.
    pub(super) fn first_in_time(&self, mut index: RefreshIndex, now: Instant) -> RefreshIndex {
        let free = self.free_at(now);
        while self.last_useful_latch(index) < free {
            index = index.next();
        }
        index
    }

    /// When the display takes another frame: now, or at the light of the first frame in flight if the limit is
    /// reached. Where composing takes nearly an interval or more, that is too late for the following refresh.
    fn free_at(&self, now: Instant) -> Instant {
        let composing = self.frames.composing();
        let under_way = self.frames.in_flight().count() + usize::from(composing.is_some());
        let Some(nth) = under_way.checked_sub(self.most_in_flight()) else { return now };
        let flight = self.frames.in_flight().nth(nth);
        let flight = flight.map(|frame| frame.target.plus(u64::from(frame.flight().is_late())));
        flight.or(composing.map(|frame| frame.target)).map_or(now, |index| self.vsync.present(index).max(now))
    }

    /// How many frames may be in flight now. More than one only if the next latch comes before the light of the
    /// previous frame; otherwise the latch waits for that light, so that one late frame does not delay all
    /// following frames.
    pub(super) fn most_in_flight(&self) -> usize {
        if self.submit_lead() + self.compose_budget() > self.vsync.interval() { self.depth } else { 1 }
    }

    /// Whether the display takes no more frames now.
    pub(super) fn is_full(&self) -> bool {
        self.frames.composing().is_some() || self.frames.in_flight().count() >= self.most_in_flight()
    }

    /// The latch for `index` at `now` found nothing to show. `effective`: it had effects that cannot be repeated.
    /// Returns whether the refresh is spent.
    pub fn latched_nothing(&mut self, index: RefreshIndex, now: Instant, effective: bool) -> bool {
        let is_before_its_moment = now < self.latch_at(index);
        let is_spent = effective || !is_before_its_moment || self.refresh_numbers.empty == Some(index);
        if is_spent {
            self.mark_spent(index);
        } else {
            self.refresh_numbers.empty = Some(index);
        }
        is_spent
    }

    /// Marks `index` as spent: there are no more latches for it.
    pub(super) fn mark_spent(&mut self, index: RefreshIndex) {
        self.refresh_numbers.spent = self.refresh_numbers.spent.max(index);
        self.delay_after_spent(index);
    }

    /// Whether content for `index` may be latched at once: it is the next refresh by the clock, and no earlier
    /// latch for it was empty.
    pub(super) fn may_latch_at_once(&self, index: RefreshIndex, now: Instant) -> bool {
        let mut first = self.vsync.at_or_after(now);
        while self.last_useful_latch(first) < now {
            first = first.next();
        }
        index <= first && self.refresh_numbers.empty != Some(index)
    }

    /// Whether a plan for refresh `index` is impossible: it lies more than two intervals beyond the work of the
    /// display and of composing, and no update or promise asked for that refresh.
    pub fn is_plan_impossible(&self, index: RefreshIndex, now: Instant) -> bool {
        let (interval, present) = (self.vsync.interval(), self.vsync.present(index));
        // The common case, without counting frames.
        if present <= now + interval * FURTHEST {
            return false;
        }
        let count = |frames: usize| i64::try_from(frames).unwrap_or(i64::MAX);
        let busy = count(self.frames.in_flight().count() + usize::from(self.frames.composing().is_some()));
        // Each busy frame delays the following frames by as much as it costs.
        let each = interval + self.submit_lead() + self.compose.largest_budget(interval);
        let others = count(self.frames.iter().count()) - busy;
        let furthest = now + interval * (FURTHEST + others) + each * (busy + 1);
        let asked_for = self.due.map(|due| due.index).max(self.promised);
        asked_for.is_none_or(|last| index > last) && present > furthest
    }

    /// The display restarts its refreshes, because it was switched on or changed its mode (`interval`). The first
    /// timestamp will give the phase. The caller has to report a need next, so that a latch finds out which updates
    /// wait for which refresh.
    pub fn restart(&mut self, interval: Option<Span>, now: Instant) {
        match interval {
            Some(interval) => self.vsync.set_interval(interval, now),
            None => self.vsync.forget_phase(now),
        }
        // The first latch computes the refreshes of time stamps anew.
        (self.due, self.panel_schedule.bound, self.panel_schedule.row_refresh) = (None, None, None);
        self.set_by_clock(now);
    }

    /// Sets the refresh numbers by the clock again, after an [impossible plan](Self::is_plan_impossible). Published
    /// deadlines are void.
    pub fn renumber(&mut self, now: Instant) {
        self.set_by_clock(now);
        (self.due, self.panel_schedule.bound, self.promised) = (None, None, None);
        self.panel_schedule.row_refresh = None;
    }

    fn set_by_clock(&mut self, now: Instant) {
        let last = RefreshIndex(self.vsync.at_or_after(now).0.saturating_sub(1));
        let RefreshNumbers { spent, shown, empty } = &mut self.refresh_numbers;
        (*spent, *shown, *empty) = ((*spent).min(last), (*shown).min(last), None);
        self.panel_schedule.not_before = self.panel_schedule.not_before.min(now);
        self.forget_published();
    }

    /// Forgets published deadlines, because their refreshes are at other times than expected.
    pub(super) const fn forget_published(&mut self) {
        self.published = [UNPUBLISHED; PUBLISHED];
    }
}

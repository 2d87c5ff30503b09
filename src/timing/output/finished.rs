//! Frames that are finished ahead of their refreshes: which of them is shown, and when it is submitted.
//!
//! One that is being drawn ahead is waited for: what is composed anew would be drawn after it, and be later still.

use super::OutputMachine;
use crate::time::{Instant, Span};
use crate::timing::target::RefreshIndex;

/// With so many finished frames waiting there is time for the next one after a submission.
const WAITING_ENOUGH: usize = 2;

/// A frame that was finished ahead of its refresh.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Finished {
    /// The refresh that it was made for.
    pub index: RefreshIndex,
    /// What it shows is not what is wanted any more: it is shown only where a fresh frame cannot be had in time.
    pub stale: bool,
    /// The display has it already, and shows it whatever happens unless it is withdrawn. Its submission is the moment from
    /// which it is not.
    pub held: bool,
}

impl OutputMachine {
    /// The next frame that is finished and waits for its refresh; `None` when there is none.
    pub fn set_finished(&mut self, finished: Option<Finished>) {
        self.finished = finished;
    }

    /// The refresh for which a frame is being drawn ahead that will be wanted; `None` when there is none.
    pub fn set_expected(&mut self, expected: Option<RefreshIndex>) {
        self.expected = expected;
    }

    /// The first refresh that a finished frame, submitted at `now`, can still reach.
    pub fn next_reachable(&self, now: Instant) -> RefreshIndex {
        let mut index = self.vsync.at_or_after(now).max(self.latched.next());
        while self.submit_by(index) < now {
            index = index.next();
        }
        index
    }

    /// Whether the finished frame for `index` is the one to show, decided at `now`: a stale one is where composing anew
    /// would come too late.
    pub fn shows_finished(&self, index: RefreshIndex, now: Instant) -> bool {
        self.finished
            .is_some_and(|finished| finished.index == index && (!finished.stale || self.is_hopeless(index, now)))
    }

    /// Whether composing usually takes longer than there is from one refresh to the deadline of the next.
    pub fn composes_slowly(&self) -> bool {
        self.compose.typical() + self.submit_lead() > self.vsync.interval()
    }

    /// Whether what is composed anew from `now` on, or from its latch on, is most likely late for `index`.
    pub fn is_hopeless(&self, index: RefreshIndex, now: Instant) -> bool {
        self.latch_at(index).max(now) + self.compose.typical() > self.submit_by(index)
    }

    /// Whether a finished frame can wait until content for its refresh would be chosen anew: a press until then is still
    /// answered in this refresh. At its miss budget the next frame is then rendered from one such moment to the next; where
    /// that takes longer, it would hold up the submission.
    fn submits_late(&self) -> bool {
        self.compose.tail() <= self.vsync.interval()
    }

    /// Whether one more frame may be rendered ahead at `now`, with `waiting` of at most `most` there, before the next of
    /// them is submitted: not if that might become late by it, unless there is nothing to be late for.
    ///
    /// What the display holds does not become late by it. But what is pressed while this thread renders waits for that, and
    /// may be too late for a fresh frame: so the last one is rendered where there is time for it between two latches. With
    /// more missing they are made back to back: they are to hide the frame that takes long.
    pub fn may_render_ahead(&self, now: Instant, waiting: usize, most: usize) -> bool {
        let Some((_, when)) = self.submits_finished(now).filter(|_| self.submits_late()) else { return true };
        let fits = now + self.compose.tail() <= when;
        match self.finished {
            Some(Finished { held: true, .. }) => fits || waiting + 1 < most,
            _ => fits && waiting < WAITING_ENOUGH,
        }
    }

    /// When the finished frame is submitted. Not before the refresh before its own has begun, when it would be shown one
    /// refresh early. As soon as that has begun where composing takes long; where it is quick, when a fresh frame would be
    /// latched: until then somebody may press, and is answered as soon as if nothing had waited.
    ///
    /// ```text
    ///   present(k-1)              latch_at(k)  submit_by(k)  present(k)
    ///       │ ▲ composing is slow      │ ▲ it is quick  │          │
    /// ```
    pub(super) fn submits_finished(&self, now: Instant) -> Option<(RefreshIndex, Instant)> {
        let Finished { index, held, .. } = self.finished?;
        if !held && (index < self.next_reachable(now) || !self.shows_finished(index, now)) {
            return None;
        }
        let begun = self.vsync.present(RefreshIndex(index.0.saturating_sub(1)));
        let when = if self.submits_late() { begun.max(self.latch_at(index)) } else { begun };
        Some((index, when.max(now)))
    }

    /// Rendering a frame ahead and submitting it took so long: another one, composed for the next refresh, would too.
    pub fn rendered_ahead(&mut self, cost: Span) {
        self.compose.observe(cost, self.vsync.interval());
    }
}

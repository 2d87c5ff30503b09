//! Frames that are finished ahead of their refreshes: which of them is shown, and when it is submitted.
//!
//! One that is being drawn ahead is waited for: what is composed anew would be drawn after it, and be later still.

use super::OutputMachine;
use crate::frames::{AheadSettings, Flight, Frame, May, Stage, Step};
use crate::id::FrameId;
use crate::record::Need;
use crate::target::{RefreshIndex, Target};
use crate::time::{Instant, Span};

/// What drawing takes is forgotten by one part in so many with each frame that took less.
const FORGETS: i64 = 4;
/// One that took longer than so many usual ones counts as so many: it says little about the next. One that took as long
/// as that counts at once: a frame that is too late is drawn for nothing.
const LONGEST: i64 = 2;
/// With so many finished frames waiting there is time for the next one after a submission.
const WAITING_ENOUGH: usize = 2;

/// A frame that was finished ahead of its refresh.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Finished {
    /// Its number.
    pub id: FrameId,
    /// The refresh that it was made for.
    pub index: RefreshIndex,
    /// What it shows is not what is wanted any more: it is shown only where a fresh frame cannot be had in time.
    pub stale: bool,
    /// The display has it already, and shows it whatever happens unless it is withdrawn. Its submission is the moment from
    /// which it is not.
    pub held: bool,
}

/// What whoever drives the machine can do now.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Work {
    /// How many frames may wait beside the one in flight; 0 for none.
    pub ahead: u8,
    /// Frames are drawn on another thread: this many more may be recorded meanwhile.
    pub run_ahead: Option<u8>,
    /// Nobody who has a better claim to this thread wants it.
    pub free: bool,
    /// What waits is shown whatever happens, instead of giving way.
    pub insists: bool,
}

impl<T> OutputMachine<T> {
    /// The next frame that is finished and waits for its refresh; `None` when there is none.
    pub fn finished(&self) -> Option<Finished> {
        let held = self.frames.next_held().map(|frame| (frame, true));
        let (frame, held) = held.or_else(|| Some((self.frames.next_finished()?, false)))?;
        Some(Finished { id: frame.id, index: frame.target, stale: frame.is_stale(), held })
    }

    /// The refresh for which a frame is being drawn ahead that will be wanted; `None` when there is none.
    pub fn expected(&self) -> Option<RefreshIndex> {
        let drawing = self.frames.at(Stage::Drawing).find(|frame| frame.is_ahead() && !frame.is_unwanted());
        drawing.filter(|frame| !frame.is_stale()).map(|frame| frame.target)
    }

    /// Whatever was made ahead is wrong. One frame stays in case a fresh one is late.
    pub fn supersede(&mut self) {
        self.calm.disturb();
        if !self.insists {
            self.withdraws = true;
            self.frames.supersede();
        }
    }

    /// What was made ahead and no display has will not be shown: fresh content takes over its refreshes, or they will not
    /// come.
    pub fn drop_ahead(&mut self) {
        self.frames.abandon_all(Frame::is_ahead);
    }

    /// Withdraws all that the display holds: it was made for refreshes that are none.
    pub fn withdraw_held(&mut self) {
        self.frames.withdraw(0);
    }

    /// The next thing to do with frames, the most urgent first.
    pub fn poll_frame(&mut self, work: Work, now: Instant) -> Option<Step<T>> {
        if std::mem::take(&mut self.withdraws) {
            self.withdraw_unwanted(now);
        }
        self.drop_late(now);
        if work.run_ahead.is_some() {
            self.drop_recorded_late(now);
        }
        let free = work.free && self.is_free_to_render(work, now);
        let record = free && self.next_record(work, now).is_some();
        self.frames.poll(May { hold: self.most_held(), draw: free, record })
    }

    /// Whether a frame may be rendered ahead, as far as this output can tell: nothing but our own motion is wanted.
    pub fn is_free_to_render(&self, work: Work, now: Instant) -> bool {
        work.ahead > 0
            && self.powered
            && self.calm.is_for_rendering()
            && self.need == Some(Need::Animation)
            && self.vsync.is_trusted(now)
            && (work.run_ahead.is_some() || self.may_render_ahead(now, self.frames.ready(), work.ahead.into()))
    }

    /// The finished frame that the latch for `index` at `now` shows instead of choosing anew. If there is none, what waits was
    /// made for refreshes that fresh content takes over, and goes.
    pub fn take_finished(&mut self, index: RefreshIndex, now: Instant) -> Option<Finished> {
        self.drop_late(now);
        let finished = self.finished().filter(|finished| finished.held || self.shows_finished(index, now));
        if finished.is_none() {
            self.drop_ahead();
        }
        finished
    }

    /// What a latch chose and is being drawn will not be shown. Its refresh is spent.
    pub fn drop_composing(&mut self) {
        if let Some((id, index)) = self.frames.composing().map(|frame| (frame.id, frame.target)) {
            self.frames.abandon(id);
            self.spend(index);
        }
    }

    /// The refresh that has no frame yet and can still have one, if there is room for another frame.
    fn next_record(&self, work: Work, now: Instant) -> Option<RefreshIndex> {
        let next = self.last_framed().next();
        if self.frames.depth() > 0 {
            // What is recorded waits for a buffer: so would the next.
            return self.frames.next_to_draw().is_none().then_some(next);
        }
        // Nothing waits: the next refresh is latched as ever, if it is too late to render for it.
        if self.is_in_time(next, now) {
            return Some(next);
        }
        // Whoever draws elsewhere has to be given time for it, but nothing is shown meanwhile.
        let mut first = next.next();
        while self.draw_time > Span::ZERO && !self.is_in_time(first, now) {
            first = first.next();
            if first.since(next) > u64::from(work.ahead) {
                return None;
            }
        }
        self.is_busy().then_some(first)
    }

    /// The next frame ahead is for this target; told when [`Step::Record`] asks for it.
    pub fn record_target(&mut self, work: Work, now: Instant) -> Option<Target> {
        let index = self.next_record(work, now)?;
        if self.frames.depth() == 0 {
            let slots = AheadSettings::buffers(work.ahead.saturating_add(1));
            self.frames.set_settings(slots.with_run_ahead(work.run_ahead.unwrap_or(0)));
            self.frames.begin(index);
            self.insists = work.insists;
        }
        Some(self.target(index))
    }

    /// Content was chosen ahead for `index`.
    pub fn record(&mut self, index: RefreshIndex, content: T) -> FrameId {
        let id = self.frames.record(index, content);
        self.frames.recorded(id);
        id
    }

    /// The last refresh for which there is a frame.
    pub fn last_framed(&self) -> RefreshIndex {
        let empty = self.numbers.empty.unwrap_or_default();
        self.frames.last_framed().unwrap_or_default().max(self.latched()).max(empty)
    }

    /// Whether a frame for `index` that is begun now is drawn in time, as far as the last ones tell.
    fn is_in_time(&self, index: RefreshIndex, now: Instant) -> bool {
        self.submit_by(index) - self.compose_typical().max(self.draw_time) >= now
    }

    /// Drawing a frame on another thread took so long.
    pub fn drawn_elsewhere(&mut self, took: Span) {
        let usual = if self.draw_time > Span::ZERO { self.draw_time } else { took };
        self.draw_time = took.min(usual * LONGEST).max(usual - (usual - took) / FORGETS);
    }

    /// The display has frame `id` from now on, and shows it at its refresh; giving it took from `begun` to `now`.
    pub fn held(&mut self, id: FrameId, begun: Instant, now: Instant) {
        self.frames.hold(id, now);
        self.learn_ahead(id, now - begun);
    }

    /// The finished frame `id`, which no display had, was submitted for its refresh.
    pub fn submitted_ahead(&mut self, id: FrameId, begun: Instant, now: Instant) {
        self.learn_ahead(id, now - begun);
        let Some(index) = self.frames.get(id).map(|frame| frame.target) else { return };
        self.frames.fly(id, index, Flight { submitted: now, submit_by: self.submit_by(index), unfinished: None });
    }

    /// Another frame, composed for the next refresh, would take as long.
    fn learn_ahead(&mut self, id: FrameId, submitting: Span) {
        if let Some(cost) = self.frames.get(id).map(|frame| frame.cost) {
            self.rendered_ahead(cost + submitting);
        }
    }

    /// Frame `id`, which the display holds, is in flight from now on. Its refresh: a frame that the display could not be kept
    /// from showing late is for the next one that there is.
    pub fn promote(&mut self, id: FrameId) -> Option<RefreshIndex> {
        let frame = self.frames.get(id)?;
        let (index, submitted) = (frame.target.max(self.numbers.shown.next()), frame.flight().submitted);
        self.frames.fly(id, index, Flight { submitted, submit_by: self.submit_by(index), unfinished: None });
        Some(index)
    }

    /// Withdraws what the display holds and nobody wants any more, as far as that is not on its way. Kept are the one that
    /// flips next where a fresh one would be too late, and one behind it where every fresh one would.
    fn withdraw_unwanted(&mut self, now: Instant) {
        let next = self.frames.next_held().filter(|_| !self.is_busy());
        let is_needed = next.is_some_and(|next| self.is_hopeless(next.target, now));
        self.frames.withdraw(usize::from(is_needed) + usize::from(self.composes_slowly()));
    }

    /// Frames whose refreshes have passed are not shown late: a newer one is right.
    fn drop_late(&mut self, now: Instant) {
        let reachable = self.next_reachable(now);
        while let Some(late) = self.frames.next_finished().filter(|frame| frame.target < reachable) {
            let (id, cost) = (late.id, late.cost);
            self.frames.abandon(id);
            self.rendered_ahead(cost);
            // What the dropped frame changed, no other says that it did.
            if let Some(next) = self.frames.next_finished().map(|frame| frame.id)
                && let Some(next) = self.frames.get_mut(next)
            {
                next.follows_gap = true;
            }
        }
    }

    /// Recorded frames that would be drawn too late are not drawn, where nothing comes before them: a later one is right.
    fn drop_recorded_late(&mut self, now: Instant) {
        while self.frames.depth() == self.frames.recorded_ahead() {
            let first = self.frames.at(Stage::Recorded).next().filter(|first| !self.is_in_time(first.target, now));
            let Some(id) = first.map(|first| first.id) else { return };
            self.frames.abandon(id);
        }
    }

    /// The first refresh that a finished frame, submitted at `now`, can still reach.
    pub fn next_reachable(&self, now: Instant) -> RefreshIndex {
        let mut index = self.vsync.at_or_after(now).max(self.latched().next());
        while self.submit_by(index) < now {
            index = index.next();
        }
        index
    }

    /// Whether the finished frame for `index` is the one to show, decided at `now`: a stale one is where composing anew
    /// would come too late.
    pub fn shows_finished(&self, index: RefreshIndex, now: Instant) -> bool {
        self.finished()
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
        match self.finished() {
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
        let Finished { index, held, .. } = self.finished()?;
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

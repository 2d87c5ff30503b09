//! Frames that are finished ahead of their refreshes: which of them is shown, and when it is submitted.
//!
//! A latch waits for a frame that is being drawn ahead: a newly composed frame would be drawn after it, and be later
//! still.

use super::OutputMachine;
use crate::frames::{AheadSettings, FlightTimes, FrameOperation, FrameStage, QueuePermissions, QueuedFrame};
use crate::id::FrameId;
use crate::record::RepaintReason;
use crate::target::{RefreshIndex, Target};
use crate::time::{Instant, Span};

/// The draw time decays by this fraction of the difference with each faster frame (1/4).
const FORGETS: i64 = 4;
/// A frame slower than this many usual draw times counts as this many: it says little about the next frame. Slower
/// frames up to that count at once, since a frame that is too late is drawn in vain.
const LONGEST: i64 = 2;
/// With this many finished frames waiting, the next one can be rendered after a submission.
const WAITING_ENOUGH: usize = 2;

/// A frame that was finished ahead of its refresh.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct FinishedFrame {
    /// The number of the frame.
    pub id: FrameId,
    /// The refresh that the frame was made for.
    pub index: RefreshIndex,
    /// The content is outdated: it is shown only if a fresh frame would be too late.
    pub stale: bool,
    /// The display holds it already, and shows it unless it is withdrawn. "Submitting" it then means: it cannot be
    /// withdrawn any more.
    pub held: bool,
}

/// The limits for drawing and recording ahead, as the caller allows them now.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct AheadLimits {
    /// How many frames may wait besides the frame in flight; 0 for none.
    pub ahead: u8,
    /// Frames are drawn on another thread: this many more may be recorded meanwhile.
    pub run_ahead: Option<u8>,
    /// This thread has no more urgent work.
    pub free: bool,
    /// Waiting frames are always shown, and never superseded.
    pub never_supersedes: bool,
}

impl<T> OutputMachine<T> {
    /// The next finished frame that waits for its refresh, if any.
    pub fn finished(&self) -> Option<FinishedFrame> {
        let held = self.frames.next_held().map(|frame| (frame, true));
        let (frame, held) = held.or_else(|| Some((self.frames.next_finished()?, false)))?;
        Some(FinishedFrame { id: frame.id, index: frame.target, stale: frame.is_stale(), held })
    }

    /// The refresh for which a frame is being drawn ahead, unless it is outdated or discarded.
    pub fn expected(&self) -> Option<RefreshIndex> {
        let drawing = self.frames.at(FrameStage::Drawing).find(|frame| frame.is_ahead() && !frame.is_discarded());
        drawing.filter(|frame| !frame.is_stale()).map(|frame| frame.target)
    }

    /// Makes the frames ahead outdated. One stale frame stays in case a fresh frame is late.
    pub fn supersede(&mut self) {
        self.idle_predictor.mark_unforeseen();
        if !self.never_supersedes {
            self.withdraw_scheduled = true;
            self.frames.supersede();
        }
    }

    /// Discards the frames ahead, unless the display holds them, because fresh content takes their refreshes or the
    /// refreshes will not happen.
    pub fn drop_ahead(&mut self) {
        self.frames.discard_where(QueuedFrame::is_ahead);
    }

    /// Withdraws all frames that the display holds, because their refreshes do not exist any more.
    pub fn withdraw_held(&mut self) {
        self.frames.withdraw(0);
    }

    /// The next frame operation, the most urgent first.
    pub fn poll_frame(&mut self, work: AheadLimits, now: Instant) -> Option<FrameOperation<T>> {
        if std::mem::take(&mut self.withdraw_scheduled) {
            self.withdraw_unwanted(now);
        }
        self.drop_late(now);
        if work.run_ahead.is_some() {
            self.drop_recorded_late(now);
        }
        let free = work.free && self.is_free_to_render(work, now);
        let record = free && self.next_record(work, now).is_some();
        self.frames.poll(QueuePermissions { hold: self.most_held(), draw: free, record })
    }

    /// Whether this output allows rendering ahead: only our own animation or a fling needs frames.
    pub fn is_free_to_render(&self, work: AheadLimits, now: Instant) -> bool {
        work.ahead > 0
            && self.powered
            && self.idle_predictor.allows_rendering_ahead()
            && self.repaint_reason.is_some_and(RepaintReason::is_foreseen)
            && self.vsync.is_trusted(now)
            && (work.run_ahead.is_some() || self.may_render_ahead(now, self.frames.ready(), work.ahead.into()))
    }

    /// The finished frame that the latch for `index` at `now` shows instead of composing anew. If there is none,
    /// fresh content takes the refreshes of the frames ahead, so these are discarded.
    pub fn take_finished(&mut self, index: RefreshIndex, now: Instant) -> Option<FinishedFrame> {
        self.drop_late(now);
        let finished = self.finished().filter(|finished| finished.held || self.shows_finished(index, now));
        if finished.is_none() {
            self.drop_ahead();
        }
        finished
    }

    /// Discards the latched frame that is being drawn. Its refresh is spent.
    pub fn drop_composing(&mut self) {
        if let Some((id, index)) = self.frames.composing().map(|frame| (frame.id, frame.target)) {
            self.frames.discard(id);
            self.mark_spent(index);
        }
    }

    /// The refresh that has no frame yet and can still get one, if there is room for another frame.
    fn next_record(&self, work: AheadLimits, now: Instant) -> Option<RefreshIndex> {
        let next = self.last_refresh_with_frame().next();
        if self.frames.depth() > 0 {
            // A recorded frame that waits for a buffer makes the next one wait as well.
            return self.frames.next_to_draw().is_none().then_some(next);
        }
        // No frame waits: if it is too late to render ahead for the next refresh, that is latched as usual.
        if self.is_in_time(next, now) {
            return Some(next);
        }
        // A renderer on another thread needs more time, but the output must not be without frames meanwhile.
        let mut first = next.next();
        while self.draw_time > Span::ZERO && !self.is_in_time(first, now) {
            first = first.next();
            if first.since(next) > u64::from(work.ahead) {
                return None;
            }
        }
        self.is_busy().then_some(first)
    }

    /// The target of the next frame ahead, for [`FrameOperation::Record`].
    pub fn record_target(&mut self, work: AheadLimits, now: Instant) -> Option<Target> {
        let index = self.next_record(work, now)?;
        if self.frames.depth() == 0 {
            let slots = AheadSettings::buffers(work.ahead.saturating_add(1));
            self.frames.set_settings(slots.with_run_ahead(work.run_ahead.unwrap_or(0)));
            self.frames.begin(index);
            self.never_supersedes = work.never_supersedes;
        }
        Some(self.target(index))
    }

    /// Content was chosen ahead for `index`.
    pub fn record(&mut self, index: RefreshIndex, content: T) -> FrameId {
        let id = self.frames.record(index, content);
        self.frames.mark_recorded(id);
        id
    }

    /// The last refresh that has a frame.
    pub fn last_refresh_with_frame(&self) -> RefreshIndex {
        let empty = self.refresh_numbers.empty.unwrap_or_default();
        self.frames.last_refresh_with_frame().unwrap_or_default().max(self.latched()).max(empty)
    }

    /// Whether a frame for `index` that is begun now will probably be drawn in time.
    fn is_in_time(&self, index: RefreshIndex, now: Instant) -> bool {
        self.submit_by(index) - self.compose_typical().max(self.draw_time) >= now
    }

    /// Another thread took this long to draw a frame.
    pub fn observe_draw_time(&mut self, took: Span) {
        let usual = if self.draw_time > Span::ZERO { self.draw_time } else { took };
        self.draw_time = took.min(usual * LONGEST).max(usual - (usual - took) / FORGETS);
    }

    /// The display holds frame `id` from now on, and shows it at its refresh; the hand-over took from `begun` to `now`.
    pub fn held(&mut self, id: FrameId, begun: Instant, now: Instant) {
        self.frames.mark_held(id, now);
        self.learn_ahead(id, now - begun);
    }

    /// The finished frame `id`, which the display did not hold, was submitted for its refresh.
    pub fn submitted_ahead(&mut self, id: FrameId, begun: Instant, now: Instant) {
        self.learn_ahead(id, now - begun);
        let Some(index) = self.frames.get(id).map(|frame| frame.target) else { return };
        self.frames.mark_in_flight(
            id,
            index,
            FlightTimes { submitted: now, submit_by: self.submit_by(index), unfinished: None },
        );
    }

    /// Learns the cost of a frame ahead: another frame, composed for the next refresh, would take as long.
    fn learn_ahead(&mut self, id: FrameId, submitting: Span) {
        if let Some(cost) = self.frames.get(id).map(|frame| frame.cost) {
            self.observe_ahead_cost(cost + submitting);
        }
    }

    /// Frame `id`, which the display holds, is in flight from now on. Returns its refresh: if the display shows it
    /// late, the next refresh that is still to come.
    pub fn promote(&mut self, id: FrameId) -> Option<RefreshIndex> {
        let frame = self.frames.get(id)?;
        let (index, submitted) = (frame.target.max(self.refresh_numbers.shown.next()), frame.flight().submitted);
        self.frames.mark_in_flight(
            id,
            index,
            FlightTimes { submitted, submit_by: self.submit_by(index), unfinished: None },
        );
        Some(index)
    }

    /// Withdraws outdated frames that the display holds, unless they are on their way. The frame that flips next is
    /// kept if a fresh frame would be too late; one more is kept if every fresh frame would be.
    fn withdraw_unwanted(&mut self, now: Instant) {
        let next = self.frames.next_held().filter(|_| !self.is_busy());
        let is_needed = next.is_some_and(|next| self.is_fresh_frame_late(next.target, now));
        self.frames.withdraw(usize::from(is_needed) + usize::from(self.composes_slowly()));
    }

    /// Discards finished frames whose refreshes have passed, because a newer frame is right.
    fn drop_late(&mut self, now: Instant) {
        if self.frames.next_finished().is_none() {
            return;
        }
        let reachable = self.next_reachable(now);
        while let Some(late) = self.frames.next_finished().filter(|frame| frame.target < reachable) {
            let (id, cost) = (late.id, late.cost);
            self.frames.discard(id);
            self.observe_ahead_cost(cost);
            // The damage of the dropped frame is in no other frame.
            if let Some(next) = self.frames.next_finished().map(|frame| frame.id)
                && let Some(next) = self.frames.get_mut(next)
            {
                next.has_incomplete_damage = true;
            }
        }
    }

    /// Discards recorded frames that would be drawn too late, unless another frame comes before them: a later frame
    /// is right.
    fn drop_recorded_late(&mut self, now: Instant) {
        while self.frames.depth() == self.frames.recorded_ahead() {
            let first = self.frames.at(FrameStage::Recorded).next().filter(|first| !self.is_in_time(first.target, now));
            let Some(id) = first.map(|first| first.id) else { return };
            self.frames.discard(id);
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

    /// Whether the finished frame for `index` is shown, decided at `now`. A stale frame is shown only if composing
    /// anew would be too late.
    pub fn shows_finished(&self, index: RefreshIndex, now: Instant) -> bool {
        self.finished().is_some_and(|finished| {
            finished.index == index && (!finished.stale || self.is_fresh_frame_late(index, now))
        })
    }

    /// Whether composing usually takes longer than the time from a refresh to the deadline of the next.
    pub fn composes_slowly(&self) -> bool {
        self.compose.typical() + self.submit_lead() > self.vsync.interval()
    }

    /// Whether a frame composed from `now` on, or from its latch on, is most likely late for `index`.
    pub fn is_fresh_frame_late(&self, index: RefreshIndex, now: Instant) -> bool {
        self.latch_at(index).max(now) + self.compose.typical() > self.submit_by(index)
    }

    /// Whether a finished frame can wait until the latch for its refresh, so that a press until then still gets a
    /// response in this refresh. The next frame is then rendered between two latches; if that takes longer than an
    /// interval at the miss budget, it would delay the submission.
    fn submits_late(&self) -> bool {
        self.compose.tail() <= self.vsync.interval()
    }

    /// Whether one more frame may be rendered ahead at `now`, with `waiting` of at most `most` frames there, before
    /// the next of them is submitted. Not if the submission might become late, unless there is none to delay.
    ///
    /// Frames that the display holds cannot be delayed. But input that arrives while this thread renders has to
    /// wait, and may be too late for a fresh frame. So the last missing frame is rendered only if there is time for
    /// it between two latches. With more frames missing they are made back to back, because they are to hide a long
    /// frame.
    pub fn may_render_ahead(&self, now: Instant, waiting: usize, most: usize) -> bool {
        let Some((_, when)) = self.finished_submission(now).filter(|_| self.submits_late()) else { return true };
        let fits = now + self.compose.tail() <= when;
        match self.finished() {
            Some(FinishedFrame { held: true, .. }) => fits || waiting + 1 < most,
            _ => fits && waiting < WAITING_ENOUGH,
        }
    }

    /// When the finished frame is submitted. Not before the refresh before its own has begun, otherwise it would be
    /// shown one refresh early. Where composing is slow, as soon as that refresh has begun. Where it is quick, at
    /// the latch of a fresh frame, so that a press until then gets a response as early as without waiting frames.
    ///
    /// ```text
    ///   present(k-1)              latch_at(k)  submit_by(k)  present(k)
    ///       │ ▲ composing is slow      │ ▲ it is quick  │          │
    /// ```
    pub(super) fn finished_submission(&self, now: Instant) -> Option<(RefreshIndex, Instant)> {
        let FinishedFrame { index, held, .. } = self.finished()?;
        if !held && (index < self.next_reachable(now) || !self.shows_finished(index, now)) {
            return None;
        }
        let begun = self.vsync.present(RefreshIndex(index.0.saturating_sub(1)));
        let when = if self.submits_late() { begun.max(self.latch_at(index)) } else { begun };
        Some((index, when.max(now)))
    }

    /// Learns how long rendering and submitting a frame ahead took: composing another frame for the next refresh
    /// would take as long.
    pub fn observe_ahead_cost(&mut self, cost: Span) {
        self.compose.observe(cost, self.vsync.interval());
    }
}

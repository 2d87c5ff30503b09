//! What becomes of one window's frames, as a state machine: commits, callbacks, feedback and time go in, events come
//! out. It does no I/O and reads no clock.
//!
//! ```text
//!   submit ─┬──────────────────────────────────► committed ── the parent calls back ─► taken ── light ──► Presented
//!           │ one is committed and not taken, or    ▲ │                                  │
//!           │ the last one was discarded            │ └───────────── discarded ──────────┴──────────────► Lost
//!           └────────────► held ─ calls back, light ┘
//! ```
//! A frame that is committed before the parent has *taken* the one before it replaces it, and that one is never seen. So
//! the next frame is held until then; and where the parent takes a frame a refresh or more before its light, two are on
//! their way at once.
//!
//! A window that cannot be seen gets no callback, and what was committed in it no light. After [`HIDDEN_AFTER`] the
//! window counts as *hidden* until the parent calls back or says otherwise; whoever owns the output switches it off.
//! Without presentation feedback, with a parent that offers it and never gives it, or with one that calls back and says of
//! every frame that it was not shown, the callback itself is what light is known by, until the parent reports one.

use std::collections::VecDeque;

use crate::backend::{DisplayEvent, FrameId, LossReason, SubmitError};
use upbeat_timing::time::{Instant, Span};

/// A frame of which nothing was heard for so long is on no screen. Compositors call windows that nobody sees back once
/// a second, or never.
pub(super) const HIDDEN_AFTER: Span = Span::from_millis(800);

/// A frame that the parent has taken and not reported for so long will not be reported: several refreshes of any screen.
pub(super) const REPORTED_WITHIN: Span = Span::from_millis(250);

/// So many frames in a row that a parent calls back after and discards, having never reported one, are on screen all
/// the same: it does not know any better.
const BELIEVED_DISCARDS: u32 = 8;

/// What is to be done with a frame.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Go {
    /// Commit it now.
    Commit,
    /// Keep it until the parent calls back.
    Hold,
}

/// Frames that may be on their way at once, whether held or committed.
pub(super) const DEPTH: usize = 2;

/// A frame on its way.
#[derive(Clone, Copy, Debug)]
struct Frame {
    id: FrameId,
    /// When it was committed; of a frame that is held, when it was submitted.
    since: Instant,
    /// By when something must be heard of it.
    due: Instant,
    stage: Stage,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Stage {
    /// The parent does not know of it.
    Held,
    /// The parent may still show another one instead.
    Committed,
    /// The parent has called back after it.
    Taken,
}

/// The frames of one window.
#[derive(Debug)]
pub(super) struct Frames {
    /// The oldest first.
    under_way: VecDeque<Frame>,
    /// Whether the parent reports light.
    has_feedback: bool,
    /// It has done so.
    has_reported: bool,
    /// Frames in a row that it has discarded.
    discarded: u32,
    /// The frame whose callback was asked for and has not come.
    awaits: Option<FrameId>,
    /// The last frame was discarded: nothing is committed before the parent calls back.
    out_of_sight: bool,
    /// The parent says that nobody sees the window.
    suspended: bool,
    /// The parent has not answered for a while.
    silent: bool,
    was_hidden: bool,
    events: VecDeque<DisplayEvent>,
}

impl Frames {
    /// No frame yet. `has_feedback`: whether the parent reports light.
    pub(super) fn new(has_feedback: bool) -> Self {
        Frames {
            under_way: VecDeque::with_capacity(DEPTH),
            has_feedback,
            has_reported: false,
            discarded: 0,
            awaits: None,
            out_of_sight: false,
            suspended: false,
            silent: false,
            was_hidden: false,
            events: VecDeque::new(),
        }
    }

    /// Whether a frame would be taken.
    pub(super) fn test(&self) -> Result<(), SubmitError> {
        if self.under_way.len() < DEPTH { Ok(()) } else { Err(SubmitError::Busy) }
    }

    /// A frame is handed over. It was [tested](Self::test).
    pub(super) fn submit(&mut self, id: FrameId, now: Instant) -> Go {
        self.under_way.push_back(Frame { id, since: now, due: now + HIDDEN_AFTER, stage: Stage::Held });
        if self.release(now).is_some() { Go::Commit } else { Go::Hold }
    }

    /// Lets go of the frame that is held, if it is time. It counts as committed from then on.
    pub(super) fn release(&mut self, now: Instant) -> Option<FrameId> {
        let untaken = self.under_way.iter().any(|frame| frame.stage == Stage::Committed);
        if untaken || (self.out_of_sight && self.awaits.is_some()) {
            return None;
        }
        let frame = self.under_way.iter_mut().find(|frame| frame.stage == Stage::Held)?;
        (frame.since, frame.due, frame.stage) = (now, now + HIDDEN_AFTER, Stage::Committed);
        let id = frame.id;
        self.awaits = Some(id);
        self.out_of_sight = false;
        Some(id)
    }

    /// The parent calls back after `id`.
    pub(super) fn called_back(&mut self, id: FrameId, now: Instant) {
        if self.awaits == Some(id) {
            self.awaits = None;
            self.out_of_sight = false;
            self.silent = false;
        }
        if let Some(frame) = self.under_way.iter_mut().find(|frame| frame.id == id) {
            (frame.stage, frame.due) = (Stage::Taken, now + REPORTED_WITHIN);
            if !self.has_feedback {
                self.shown(id, now, None);
            }
        }
    }

    /// The parent reports that it has shown `id`. Returns when it was committed, if it was on its way.
    pub(super) fn presented(&mut self, id: FrameId, time: Instant, sequence: Option<u64>) -> Option<Instant> {
        (self.has_feedback, self.has_reported, self.discarded) = (true, true, 0);
        self.shown(id, time, sequence)
    }

    fn shown(&mut self, id: FrameId, time: Instant, sequence: Option<u64>) -> Option<Instant> {
        let position = self.committed(id)?;
        // Of what came before it nothing will be heard any more.
        for before in self.under_way.drain(..position) {
            self.events.push_back(DisplayEvent::Lost { frame: before.id, reason: LossReason::Superseded });
        }
        let frame = self.under_way.pop_front()?;
        self.silent = false;
        self.events.push_back(DisplayEvent::Presented { frame: id, time, sequence });
        Some(frame.since)
    }

    /// The parent will never show `id`.
    pub(super) fn discarded(&mut self, id: FrameId) {
        if !self.has_feedback {
            return;
        }
        // Nobody calls back for what nobody sees: then there is a next frame only when something else happens.
        self.discarded += u32::from(!self.has_reported);
        self.has_feedback = self.discarded < BELIEVED_DISCARDS;
        let Some(position) = self.committed(id) else { return };
        let is_last = self.under_way.iter().skip(position + 1).all(|frame| frame.stage == Stage::Held);
        self.out_of_sight |= is_last;
        self.under_way.remove(position);
        let reason = if is_last { LossReason::Device } else { LossReason::Superseded };
        self.events.push_back(DisplayEvent::Lost { frame: id, reason });
    }

    fn committed(&self, id: FrameId) -> Option<usize> {
        self.under_way.iter().position(|frame| frame.id == id && frame.stage != Stage::Held)
    }

    /// Withdraws a frame that is held and numbered `from` or later. Returns the newest frame that stays, if any.
    pub(super) fn supersede(&mut self, from: FrameId) -> Option<FrameId> {
        self.lose_those(LossReason::Superseded, |frame| frame.stage == Stage::Held && frame.id >= from);
        self.under_way.back().map(|frame| frame.id)
    }

    /// Whatever is on its way is lost.
    pub(super) fn lose(&mut self, reason: LossReason) {
        self.lose_those(reason, |_| true);
    }

    /// A frame that is held is lost: its buffer is of no use any more. Those that were committed may still be shown.
    pub(super) fn lose_held(&mut self, reason: LossReason) {
        self.lose_those(reason, |frame| frame.stage == Stage::Held);
    }

    fn lose_those(&mut self, reason: LossReason, lost: impl Fn(&Frame) -> bool) {
        let events = &mut self.events;
        self.under_way.retain(|frame| {
            if lost(frame) {
                events.push_back(DisplayEvent::Lost { frame: frame.id, reason });
            }
            !lost(frame)
        });
    }

    /// Whether `id` is on its way still.
    pub(super) fn has(&self, id: FrameId) -> bool {
        self.under_way.iter().any(|frame| frame.id == id)
    }

    /// The parent says whether anybody can see the window.
    pub(super) fn suspend(&mut self, suspended: bool) {
        self.suspended = suspended;
    }

    /// When nothing having been heard means something.
    pub(super) fn deadline(&self) -> Option<Instant> {
        self.under_way.iter().map(|frame| frame.due).min()
    }

    /// It is `now`: what was due has not come.
    pub(super) fn expire(&mut self, now: Instant) {
        if self.deadline().is_none_or(|deadline| deadline > now) {
            return;
        }
        if self.awaits.is_some() {
            self.silent = true;
            self.lose(LossReason::Gone);
        } else {
            // It calls back, and says nothing of the frames.
            self.has_feedback &= self.has_reported;
            self.lose(LossReason::Device);
        }
    }

    /// Whether the parent reports light, as far as is known.
    pub(super) const fn has_feedback(&self) -> bool {
        self.has_feedback
    }

    /// Whether the window has become hidden or visible since this was last asked.
    pub(super) fn take_visibility(&mut self) -> Option<bool> {
        let hidden = self.is_hidden();
        (std::mem::replace(&mut self.was_hidden, hidden) != hidden).then_some(!hidden)
    }

    /// Whether nobody can see the window, as far as is known.
    pub(super) const fn is_hidden(&self) -> bool {
        self.suspended || self.silent
    }

    /// What happened, in order.
    pub(super) fn poll(&mut self) -> Option<DisplayEvent> {
        self.events.pop_front()
    }

    /// Something else happened, after all that.
    pub(super) fn report(&mut self, event: DisplayEvent) {
        if self.events.back() != Some(&event) {
            self.events.push_back(event);
        }
    }
}

#[cfg(test)]
mod tests;

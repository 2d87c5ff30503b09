//! The frames of one window as a state machine: commits, callbacks, feedback and time go in, events come out. It does
//! no I/O and reads no clock.
//!
//! ```text
//!   submit ─┬──────────────────────────────────► committed ── frame callback ───────► taken ── light ──► Presented
//!           │ one is committed and not taken, or    ▲ │                                  │
//!           │ the last one was discarded            │ └───────────── discarded ──────────┴──────────────► Lost
//!           └────────────► held ─ callback, light ──┘
//! ```
//! A frame that is committed before the parent has *taken* the frame before it replaces that frame, which is then never
//! seen. So the next frame is held until then. Where the parent takes a frame a refresh or more before its light, two
//! frames are in flight at once.
//!
//! A hidden window gets no frame callback, and its frames no light. The window counts as *hidden* while the parent has
//! set `suspended`, and from [`HIDDEN_AFTER`] without an answer until the next frame callback or shown frame. While it
//! is hidden, the output's owner switches the output off.
//!
//! Some parents have no presentation feedback, never send it, or send callbacks but discard every frame. The frame
//! callback then counts as light, until the parent reports a presented frame.

use std::collections::VecDeque;

use crate::backend::{DisplayEvent, FrameId, LossReason, SubmitError};
use upbeat_timing::time::{Instant, Span};

/// A frame without any answer for this long is on no screen. Compositors send callbacks for hidden windows once a
/// second, or never.
pub(super) const HIDDEN_AFTER: Span = Span::from_millis(800);

/// A frame that the parent has taken but not reported for this long will not be reported: it is several refreshes of
/// any screen.
pub(super) const REPORTED_WITHIN: Span = Span::from_millis(250);

/// After this many frames in a row that a parent discarded in spite of a callback, without ever reporting one, they
/// count as shown: the parent's feedback is broken.
const BELIEVED_DISCARDS: u32 = 8;

/// The action for a submitted frame.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum CommitDecision {
    Commit,
    /// Keep it until the parent's frame callback.
    Hold,
}

/// The largest number of frames in flight, held or committed.
pub(super) const DEPTH: usize = 2;

/// A frame that was submitted and not reported.
#[derive(Clone, Copy, Debug)]
struct NestedFrame {
    id: FrameId,
    /// When it was committed; for a held frame, when it was submitted.
    since: Instant,
    /// The time by which the parent has to answer.
    due: Instant,
    stage: NestedFrameStage,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum NestedFrameStage {
    /// The frame is not committed yet.
    Held,
    /// A later commit would still replace it.
    Committed,
    /// The parent has sent its frame callback.
    Taken,
}

/// The frames of one window.
#[derive(Debug)]
pub(super) struct NestedFrames {
    /// In flight, the oldest first.
    in_flight: VecDeque<NestedFrame>,
    /// Whether the parent reports light.
    has_feedback: bool,
    /// Whether it has ever reported light.
    has_reported: bool,
    /// Frames in a row that the parent has discarded.
    discarded: u32,
    /// The frame whose callback is outstanding.
    callback_frame: Option<FrameId>,
    /// The last frame was discarded: no frame is committed before the next callback.
    last_discarded: bool,
    /// The parent has set the state `suspended`.
    suspended: bool,
    /// The parent has not answered for a while.
    silent: bool,
    was_hidden: bool,
    events: VecDeque<DisplayEvent>,
}

impl NestedFrames {
    /// `has_feedback`: whether the parent reports light.
    pub(super) fn new(has_feedback: bool) -> Self {
        NestedFrames {
            in_flight: VecDeque::with_capacity(DEPTH),
            has_feedback,
            has_reported: false,
            discarded: 0,
            callback_frame: None,
            last_discarded: false,
            suspended: false,
            silent: false,
            was_hidden: false,
            events: VecDeque::new(),
        }
    }

    /// Whether another frame would be accepted.
    pub(super) fn test(&self) -> Result<(), SubmitError> {
        if self.in_flight.len() < DEPTH { Ok(()) } else { Err(SubmitError::Busy) }
    }

    /// Takes a frame that was [tested](Self::test).
    pub(super) fn submit(&mut self, id: FrameId, now: Instant) -> CommitDecision {
        self.in_flight.push_back(NestedFrame {
            id,
            since: now,
            due: now + HIDDEN_AFTER,
            stage: NestedFrameStage::Held,
        });
        if self.release(now).is_some() { CommitDecision::Commit } else { CommitDecision::Hold }
    }

    /// Returns the held frame if it may be committed now; it counts as committed from then on.
    pub(super) fn release(&mut self, now: Instant) -> Option<FrameId> {
        let untaken = self.in_flight.iter().any(|frame| frame.stage == NestedFrameStage::Committed);
        if untaken || (self.last_discarded && self.callback_frame.is_some()) {
            return None;
        }
        let frame = self.in_flight.iter_mut().find(|frame| frame.stage == NestedFrameStage::Held)?;
        (frame.since, frame.due, frame.stage) = (now, now + HIDDEN_AFTER, NestedFrameStage::Committed);
        let id = frame.id;
        self.callback_frame = Some(id);
        self.last_discarded = false;
        Some(id)
    }

    /// The parent has sent the frame callback of `id`.
    pub(super) fn called_back(&mut self, id: FrameId, now: Instant) {
        if self.callback_frame == Some(id) {
            self.callback_frame = None;
            self.last_discarded = false;
            self.silent = false;
        }
        if let Some(frame) = self.in_flight.iter_mut().find(|frame| frame.id == id) {
            (frame.stage, frame.due) = (NestedFrameStage::Taken, now + REPORTED_WITHIN);
            if !self.has_feedback {
                self.shown(id, now, None);
            }
        }
    }

    /// The parent reports that it has shown `id`. Returns when the frame was committed, if it was in flight.
    pub(super) fn presented(&mut self, id: FrameId, time: Instant, sequence: Option<u64>) -> Option<Instant> {
        (self.has_feedback, self.has_reported, self.discarded) = (true, true, 0);
        self.shown(id, time, sequence)
    }

    fn shown(&mut self, id: FrameId, time: Instant, sequence: Option<u64>) -> Option<Instant> {
        let position = self.committed(id)?;
        // The frames before it will not be reported any more.
        for before in self.in_flight.drain(..position) {
            self.events.push_back(DisplayEvent::Lost { frame: before.id, reason: LossReason::Superseded });
        }
        let frame = self.in_flight.pop_front()?;
        self.silent = false;
        self.events.push_back(DisplayEvent::Presented { frame: id, time, sequence });
        Some(frame.since)
    }

    /// The parent has discarded `id`.
    pub(super) fn discarded(&mut self, id: FrameId) {
        if !self.has_feedback {
            return;
        }
        // A discarded frame may get no callback, because the window is hidden: the next frame then waits for
        // other events.
        self.discarded += u32::from(!self.has_reported);
        self.has_feedback = self.discarded < BELIEVED_DISCARDS;
        let Some(position) = self.committed(id) else { return };
        let is_last = self.in_flight.iter().skip(position + 1).all(|frame| frame.stage == NestedFrameStage::Held);
        self.last_discarded |= is_last;
        self.in_flight.remove(position);
        let reason = if is_last { LossReason::Device } else { LossReason::Superseded };
        self.events.push_back(DisplayEvent::Lost { frame: id, reason });
    }

    fn committed(&self, id: FrameId) -> Option<usize> {
        self.in_flight.iter().position(|frame| frame.id == id && frame.stage != NestedFrameStage::Held)
    }

    /// Withdraws the held frames numbered `from` or later. Returns the newest frame that stays, if any.
    pub(super) fn supersede(&mut self, from: FrameId) -> Option<FrameId> {
        self.lose_those(LossReason::Superseded, |frame| frame.stage == NestedFrameStage::Held && frame.id >= from);
        self.in_flight.back().map(|frame| frame.id)
    }

    /// Reports all frames in flight as lost.
    pub(super) fn lose(&mut self, reason: LossReason) {
        self.lose_those(reason, |_| true);
    }

    /// Reports the held frames as lost, since their buffers are useless now. Committed frames may still be shown.
    pub(super) fn lose_held(&mut self, reason: LossReason) {
        self.lose_those(reason, |frame| frame.stage == NestedFrameStage::Held);
    }

    fn lose_those(&mut self, reason: LossReason, lost: impl Fn(&NestedFrame) -> bool) {
        let events = &mut self.events;
        self.in_flight.retain(|frame| {
            if lost(frame) {
                events.push_back(DisplayEvent::Lost { frame: frame.id, reason });
            }
            !lost(frame)
        });
    }

    /// Whether `id` is still in flight.
    pub(super) fn has(&self, id: FrameId) -> bool {
        self.in_flight.iter().any(|frame| frame.id == id)
    }

    /// The parent has set or cleared the state `suspended`.
    pub(super) fn suspend(&mut self, suspended: bool) {
        self.suspended = suspended;
    }

    /// When an answer is overdue.
    pub(super) fn deadline(&self) -> Option<Instant> {
        self.in_flight.iter().map(|frame| frame.due).min()
    }

    /// Handles answers that are overdue at `now`.
    pub(super) fn expire(&mut self, now: Instant) {
        if self.deadline().is_none_or(|deadline| deadline > now) {
            return;
        }
        if self.callback_frame.is_some() {
            self.silent = true;
            self.lose(LossReason::Gone);
        } else {
            // The parent sends callbacks, but no feedback.
            self.has_feedback &= self.has_reported;
            self.lose(LossReason::Device);
        }
    }

    /// Whether the parent reports light, as far as is known.
    pub(super) const fn has_feedback(&self) -> bool {
        self.has_feedback
    }

    /// The visibility, if it has changed since the last call.
    pub(super) fn take_visibility(&mut self) -> Option<bool> {
        let hidden = self.is_hidden();
        (std::mem::replace(&mut self.was_hidden, hidden) != hidden).then_some(!hidden)
    }

    /// Whether the window is hidden, as far as is known.
    pub(super) const fn is_hidden(&self) -> bool {
        self.suspended || self.silent
    }

    /// The next event, in order.
    pub(super) fn poll(&mut self) -> Option<DisplayEvent> {
        self.events.pop_front()
    }

    /// Appends an event, unless the last one is equal.
    pub(super) fn report(&mut self, event: DisplayEvent) {
        if self.events.back() != Some(&event) {
            self.events.push_back(event);
        }
    }
}

#[cfg(test)]
mod tests;

//! What becomes of one window's frames, as a state machine: commits, callbacks, feedback and time go in, events come
//! out. It does no I/O and reads no clock.
//!
//! ```text
//!              submit                       light reported
//!    idle ───────────────► committed ──────────────────────► idle        (Presented)
//!     │                       │ discarded by the parent
//!     │                       └────────────────────────────► idle, out of sight until the parent calls back  (Lost)
//!     │ submit while out of sight
//!     └──────► held ── the parent calls back ──► committed
//! ```
//! A window that cannot be seen gets no callback, and what was committed in it no light. After [`HIDDEN_AFTER`] the
//! window counts as *hidden* until the parent calls back or says otherwise; whoever owns the output switches it off.
//! Without presentation feedback the callback itself is what light is known by.

use std::collections::VecDeque;

use crate::backend::{DisplayEvent, FrameId, LossReason, SubmitError};
use crate::time::{Instant, Span};

/// A frame of which nothing was heard for so long is on no screen. Compositors call windows that nobody sees back once
/// a second, or never.
pub(super) const HIDDEN_AFTER: Span = Span::from_millis(800);

/// What is to be done with a frame.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Go {
    /// Commit it now.
    Commit,
    /// Keep it until the parent calls back.
    Hold,
}

#[derive(Clone, Copy, Debug)]
enum Stage {
    Idle,
    Held { frame: FrameId, since: Instant },
    Committed { frame: FrameId, at: Instant },
}

/// The frames of one window.
#[derive(Debug)]
pub(super) struct Frames {
    stage: Stage,
    /// Whether the parent reports light.
    has_feedback: bool,
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
            stage: Stage::Idle,
            has_feedback,
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
        match self.stage {
            Stage::Idle => Ok(()),
            Stage::Held { .. } | Stage::Committed { .. } => Err(SubmitError::Busy),
        }
    }

    /// A frame is handed over. It was [tested](Self::test).
    pub(super) fn submit(&mut self, frame: FrameId, now: Instant) -> Go {
        if self.out_of_sight && self.awaits.is_some() {
            self.stage = Stage::Held { frame, since: now };
            return Go::Hold;
        }
        self.committed(frame, now);
        Go::Commit
    }

    fn committed(&mut self, frame: FrameId, now: Instant) {
        self.stage = Stage::Committed { frame, at: now };
        self.awaits = Some(frame);
        self.out_of_sight = false;
    }

    /// The parent calls back after `frame`. Returns the frame to be committed now, if one was held.
    pub(super) fn called_back(&mut self, frame: FrameId, now: Instant) -> Option<FrameId> {
        if self.awaits != Some(frame) {
            return None;
        }
        self.awaits = None;
        self.out_of_sight = false;
        self.silent = false;
        match self.stage {
            Stage::Held { frame, .. } => {
                self.committed(frame, now);
                return Some(frame);
            }
            Stage::Committed { frame: shown, .. } if !self.has_feedback && shown == frame => {
                self.stage = Stage::Idle;
                self.events.push_back(DisplayEvent::Presented { frame, time: now, sequence: None });
            }
            Stage::Committed { .. } | Stage::Idle => {}
        }
        None
    }

    /// The parent has shown `frame`. Returns when it was committed, if it was the one in flight.
    pub(super) fn presented(&mut self, frame: FrameId, time: Instant, sequence: Option<u64>) -> Option<Instant> {
        let committed = self.in_flight(frame)?;
        self.stage = Stage::Idle;
        self.silent = false;
        self.events.push_back(DisplayEvent::Presented { frame, time, sequence });
        Some(committed)
    }

    /// The parent will never show `frame`.
    pub(super) fn discarded(&mut self, frame: FrameId) {
        if self.in_flight(frame).is_some() {
            self.out_of_sight = true;
            self.lose(LossReason::Device);
        }
    }

    fn in_flight(&self, frame: FrameId) -> Option<Instant> {
        match self.stage {
            Stage::Committed { frame: current, at } if current == frame => Some(at),
            _ => None,
        }
    }

    /// Withdraws a frame that is held and numbered `from` or later. Returns the frame that stays, if any.
    pub(super) fn supersede(&mut self, from: FrameId) -> Option<FrameId> {
        match self.stage {
            Stage::Held { frame, .. } if frame >= from => {
                self.lose(LossReason::Superseded);
                None
            }
            Stage::Held { frame, .. } | Stage::Committed { frame, .. } => Some(frame),
            Stage::Idle => None,
        }
    }

    /// Whatever waits is lost.
    pub(super) fn lose(&mut self, reason: LossReason) {
        if let Stage::Held { frame, .. } | Stage::Committed { frame, .. } =
            std::mem::replace(&mut self.stage, Stage::Idle)
        {
            self.events.push_back(DisplayEvent::Lost { frame, reason });
        }
    }

    /// A frame that is held is lost: its buffer is of no use any more. One that was committed may still be shown.
    pub(super) fn lose_held(&mut self, reason: LossReason) {
        if matches!(self.stage, Stage::Held { .. }) {
            self.lose(reason);
        }
    }

    /// The parent says whether anybody can see the window.
    pub(super) fn suspend(&mut self, suspended: bool) {
        self.suspended = suspended;
    }

    /// When nothing having been heard means something.
    pub(super) fn deadline(&self) -> Option<Instant> {
        match self.stage {
            Stage::Idle => None,
            Stage::Held { since, .. } | Stage::Committed { at: since, .. } => Some(since + HIDDEN_AFTER),
        }
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
            // It calls back, and says nothing of the frame.
            self.lose(LossReason::Device);
        }
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
mod tests {
    use super::*;

    const fn at(millis: u64) -> Instant {
        Instant::from_nanos(millis * 1_000_000)
    }

    fn events(frames: &mut Frames) -> Vec<DisplayEvent> {
        std::iter::from_fn(|| frames.poll()).collect()
    }

    #[test]
    fn a_frame_is_shown_when_the_parent_says_so_and_its_callback_does_not_matter() {
        let mut frames = Frames::new(true);
        assert_eq!(frames.submit(FrameId(1), at(0)), Go::Commit);
        assert_eq!(frames.test(), Err(SubmitError::Busy));
        assert_eq!(frames.called_back(FrameId(1), at(3)), None);
        assert_eq!(events(&mut frames), []);
        assert_eq!(frames.presented(FrameId(1), at(16), Some(9)), Some(at(0)));
        assert_eq!(
            events(&mut frames),
            [DisplayEvent::Presented { frame: FrameId(1), time: at(16), sequence: Some(9) }]
        );
        assert_eq!((frames.test(), frames.deadline()), (Ok(()), None));
    }

    #[test]
    fn without_feedback_the_callback_is_what_light_is_known_by() {
        let mut frames = Frames::new(false);
        frames.submit(FrameId(1), at(0));
        frames.called_back(FrameId(1), at(16));
        assert_eq!(events(&mut frames), [DisplayEvent::Presented { frame: FrameId(1), time: at(16), sequence: None }]);
    }

    #[test]
    fn after_a_discarded_frame_the_next_one_waits_until_the_parent_calls_back() {
        let mut frames = Frames::new(true);
        frames.submit(FrameId(1), at(0));
        frames.discarded(FrameId(1));
        assert_eq!(events(&mut frames), [DisplayEvent::Lost { frame: FrameId(1), reason: LossReason::Device }]);
        assert_eq!(frames.submit(FrameId(2), at(5)), Go::Hold);
        assert_eq!(frames.called_back(FrameId(1), at(20)), Some(FrameId(2)));
        frames.presented(FrameId(2), at(33), None);
        assert_eq!(events(&mut frames).len(), 1);
    }

    #[test]
    fn a_parent_that_says_nothing_makes_the_window_hidden_until_it_calls_back() {
        let mut frames = Frames::new(true);
        frames.submit(FrameId(1), at(0));
        frames.expire(at(700));
        assert_eq!((events(&mut frames).len(), frames.take_visibility()), (0, None));
        frames.expire(at(800));
        assert_eq!(events(&mut frames), [DisplayEvent::Lost { frame: FrameId(1), reason: LossReason::Gone }]);
        assert_eq!((frames.take_visibility(), frames.take_visibility()), (Some(false), None));
        assert_eq!(frames.deadline(), None, "nothing wakes up while it is hidden");
        frames.called_back(FrameId(1), at(60_000));
        assert_eq!(frames.take_visibility(), Some(true));
        assert_eq!(frames.submit(FrameId(2), at(60_001)), Go::Commit);
    }

    #[test]
    fn a_parent_that_calls_back_but_never_reports_a_frame_does_not_hang_the_output() {
        let mut frames = Frames::new(true);
        frames.submit(FrameId(1), at(0));
        frames.called_back(FrameId(1), at(10));
        frames.expire(at(800));
        assert_eq!(events(&mut frames), [DisplayEvent::Lost { frame: FrameId(1), reason: LossReason::Device }]);
        assert!(!frames.is_hidden());
    }

    #[test]
    fn only_what_is_held_can_be_taken_back() {
        let mut frames = Frames::new(true);
        frames.submit(FrameId(1), at(0));
        assert_eq!(frames.supersede(FrameId(0)), Some(FrameId(1)));
        frames.discarded(FrameId(1));
        frames.submit(FrameId(2), at(1));
        assert_eq!(frames.supersede(FrameId(3)), Some(FrameId(2)));
        assert_eq!(frames.supersede(FrameId(2)), None);
        assert_eq!(
            events(&mut frames).last(),
            Some(&DisplayEvent::Lost { frame: FrameId(2), reason: LossReason::Superseded })
        );
    }
}

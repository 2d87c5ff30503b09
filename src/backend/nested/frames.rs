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
//! Without presentation feedback, or with a parent that offers it and never gives it, the callback itself is what light
//! is known by.

use std::collections::VecDeque;

use crate::backend::{DisplayEvent, FrameId, LossReason, SubmitError};
use crate::time::{Instant, Span};

/// A frame of which nothing was heard for so long is on no screen. Compositors call windows that nobody sees back once
/// a second, or never.
pub(super) const HIDDEN_AFTER: Span = Span::from_millis(800);

/// A frame that the parent has taken and not reported for so long will not be reported: several refreshes of any screen.
pub(super) const REPORTED_WITHIN: Span = Span::from_millis(250);

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
        (self.has_feedback, self.has_reported) = (true, true);
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
mod tests {
    use proptest::prelude::*;

    use super::*;

    const fn at(millis: u64) -> Instant {
        Instant::from_nanos(millis * 1_000_000)
    }

    fn events(frames: &mut Frames) -> Vec<DisplayEvent> {
        std::iter::from_fn(|| frames.poll()).collect()
    }

    fn lost(frame: u64, reason: LossReason) -> DisplayEvent {
        DisplayEvent::Lost { frame: FrameId(frame), reason }
    }

    fn shown(frame: u64, millis: u64) -> DisplayEvent {
        DisplayEvent::Presented { frame: FrameId(frame), time: at(millis), sequence: Some(millis) }
    }

    #[test]
    fn a_frame_is_shown_when_the_parent_says_so_and_its_callback_does_not_matter() {
        let mut frames = Frames::new(true);
        assert_eq!(frames.submit(FrameId(1), at(0)), Go::Commit);
        assert_eq!(frames.presented(FrameId(1), at(16), Some(16)), Some(at(0)));
        assert_eq!(frames.submit(FrameId(2), at(20)), Go::Commit, "the parent calls back later");
        frames.called_back(FrameId(1), at(21));
        assert_eq!(frames.presented(FrameId(2), at(33), Some(33)), Some(at(20)));
        assert_eq!(events(&mut frames), [shown(1, 16), shown(2, 33)]);
        assert_eq!((frames.test(), frames.deadline()), (Ok(()), None));
    }

    #[test]
    fn a_second_frame_follows_as_soon_as_the_parent_has_taken_the_first() {
        let mut frames = Frames::new(true);
        frames.submit(FrameId(1), at(0));
        assert_eq!(frames.submit(FrameId(2), at(10)), Go::Hold, "it would take the place of the first");
        assert_eq!(frames.test(), Err(SubmitError::Busy));
        frames.called_back(FrameId(1), at(12));
        assert_eq!(frames.release(at(12)), Some(FrameId(2)));
        assert_eq!(frames.presented(FrameId(1), at(24), Some(24)), Some(at(0)));
        assert_eq!(frames.presented(FrameId(2), at(40), Some(40)), Some(at(12)));
        assert_eq!(events(&mut frames), [shown(1, 24), shown(2, 40)]);
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
        assert_eq!(events(&mut frames), [lost(1, LossReason::Device)]);
        assert_eq!(frames.submit(FrameId(2), at(5)), Go::Hold);
        assert_eq!(frames.release(at(6)), None);
        frames.called_back(FrameId(1), at(20));
        assert_eq!(frames.release(at(20)), Some(FrameId(2)));
        frames.presented(FrameId(2), at(33), Some(33));
        assert_eq!(events(&mut frames), [shown(2, 33)]);
    }

    #[test]
    fn a_parent_that_says_nothing_makes_the_window_hidden_until_it_calls_back() {
        let mut frames = Frames::new(true);
        frames.submit(FrameId(1), at(0));
        frames.expire(at(700));
        assert_eq!((events(&mut frames).len(), frames.take_visibility()), (0, None));
        frames.expire(at(800));
        assert_eq!(events(&mut frames), [lost(1, LossReason::Gone)]);
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
        frames.expire(at(259));
        assert_eq!(events(&mut frames), []);
        frames.expire(at(260));
        assert_eq!(events(&mut frames), [lost(1, LossReason::Device)]);
        assert!(!frames.is_hidden() && !frames.has_feedback());
        frames.submit(FrameId(2), at(300));
        frames.called_back(FrameId(2), at(316));
        assert_eq!(events(&mut frames), [DisplayEvent::Presented { frame: FrameId(2), time: at(316), sequence: None }]);
        frames.presented(FrameId(2), at(316), None);
        assert!(frames.has_feedback(), "it reports after all");
    }

    #[test]
    fn only_what_is_held_can_be_taken_back() {
        let mut frames = Frames::new(true);
        frames.submit(FrameId(1), at(0));
        frames.submit(FrameId(2), at(1));
        assert_eq!(frames.supersede(FrameId(3)), Some(FrameId(2)));
        assert_eq!(frames.supersede(FrameId(0)), Some(FrameId(1)));
        assert_eq!(events(&mut frames), [lost(2, LossReason::Superseded)]);
    }

    /// Something that happens to a window.
    #[derive(Clone, Copy, Debug)]
    enum Happening {
        Submit,
        CalledBack(u64),
        Presented(u64),
        Discarded(u64),
        Expire,
        PowerOff,
        Resize,
    }

    fn happening() -> impl Strategy<Value = Happening> {
        prop_oneof![
            3 => Just(Happening::Submit),
            3 => (0..40u64).prop_map(Happening::CalledBack),
            3 => (0..40u64).prop_map(Happening::Presented),
            1 => (0..40u64).prop_map(Happening::Discarded),
            1 => Just(Happening::Expire),
            1 => Just(Happening::PowerOff),
            1 => Just(Happening::Resize),
        ]
    }

    proptest! {
        #[test]
        fn whatever_a_parent_says_each_frame_ends_exactly_once(
            happenings in prop::collection::vec(happening(), 0..200)
        ) {
            let mut frames = Frames::new(true);
            let (mut last, mut ended) = (0, Vec::new());
            for (step, happening) in (0..).zip(happenings) {
                let now = at(step * 300);
                match happening {
                    Happening::Submit if frames.test().is_ok() => {
                        last += 1;
                        frames.submit(FrameId(last), now);
                    }
                    Happening::Submit => {}
                    Happening::CalledBack(frame) => frames.called_back(FrameId(frame), now),
                    Happening::Presented(frame) => {
                        frames.presented(FrameId(frame), now, None);
                    }
                    Happening::Discarded(frame) => frames.discarded(FrameId(frame)),
                    Happening::Expire => frames.expire(now),
                    Happening::PowerOff => frames.lose(LossReason::Gone),
                    Happening::Resize => frames.lose_held(LossReason::ModeChange),
                }
                frames.release(now);
                ended.extend(events(&mut frames).into_iter().map(|event| match event {
                    DisplayEvent::Presented { frame, .. } | DisplayEvent::Lost { frame, .. } => frame.0,
                    other => panic!("{other:?}"),
                }));
            }
            frames.lose(LossReason::Gone);
            ended.extend(events(&mut frames).into_iter().map(|event| match event {
                DisplayEvent::Lost { frame, .. } => frame.0,
                other => panic!("{other:?}"),
            }));
            let mut sorted = ended.clone();
            sorted.sort_unstable();
            prop_assert_eq!(sorted, (1..=last).collect::<Vec<_>>());
        }
    }
}

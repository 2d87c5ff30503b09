//! The main thread's copy of a presenter's state: power, outstanding frames, and the content on screen. Pure; updated
//! by the commands that are sent and by the messages that come back.
//!
//! Each frame is reported once. When an output is switched off or changes its mode, its outstanding frames count as
//! lost at once, and later messages about them are ignored.

use std::collections::VecDeque;

use crate::backend::FrameId;

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum PresenterPower {
    On,
    /// Off, or the device belongs to another session.
    Off,
    Gone,
}

#[derive(Debug)]
struct OutstandingFrame<T> {
    frame: FrameId,
    committed: bool,
    withdrawn: bool,
    shows: T,
}

/// The assumed state of one output's presenter.
#[derive(Debug)]
pub(super) struct PresenterMirror<T> {
    pub power: PresenterPower,
    /// A frame was shown since the output was switched on.
    pub is_lit: bool,
    /// Submitted frames without a report, the oldest first.
    outstanding: VecDeque<OutstandingFrame<T>>,
    /// The content on screen.
    shown: Option<T>,
}

impl<T> Default for PresenterMirror<T> {
    fn default() -> Self {
        PresenterMirror { power: PresenterPower::On, is_lit: false, outstanding: VecDeque::new(), shown: None }
    }
}

impl<T> PresenterMirror<T> {
    /// Whether a submitted frame has no report yet.
    pub fn is_busy(&self) -> bool {
        !self.outstanding.is_empty()
    }

    /// How many frames wait behind the first.
    pub fn waiting(&self) -> usize {
        self.outstanding.len().saturating_sub(1)
    }

    /// Records a submitted frame.
    pub fn record_submit(&mut self, frame: FrameId, shows: T) {
        self.outstanding.push_back(OutstandingFrame { frame, committed: false, withdrawn: false, shows });
    }

    /// The frame cannot be withdrawn any more.
    pub fn committed(&mut self, frame: FrameId) {
        self.outstanding.iter_mut().filter(|given| given.frame == frame).for_each(|given| given.committed = true);
    }

    /// Records that all frames from `from` on are to be withdrawn. Returns the newest frame that is sure to stay.
    pub fn withdraw(&mut self, from: FrameId) -> Option<FrameId> {
        for given in self.outstanding.iter_mut().filter(|given| given.frame >= from && !given.committed) {
            given.withdrawn = true;
        }
        self.outstanding.iter().rev().find(|given| !given.withdrawn).map(|given| given.frame)
    }

    /// A frame was shown. Returns whether this is its first report, and the content that was shown before.
    pub fn presented(&mut self, frame: FrameId) -> (bool, Option<T>) {
        let Some(given) = self.take(frame) else { return (false, None) };
        self.is_lit = true;
        (true, self.shown.replace(given.shows))
    }

    /// A frame will not be shown. Returns its content if this is its first report.
    pub fn lost(&mut self, frame: FrameId) -> Option<T> {
        self.take(frame).map(|given| given.shows)
    }

    /// Removes and returns all outstanding frames, which will not be shown.
    pub fn lose_all(&mut self) -> impl Iterator<Item = (FrameId, T)> {
        std::mem::take(&mut self.outstanding).into_iter().map(|given| (given.frame, given.shows))
    }

    /// The output shows nothing. Returns its last content.
    pub fn clear_shown(&mut self) -> Option<T> {
        self.is_lit = false;
        self.shown.take()
    }

    pub fn shown(&self) -> Option<&T> {
        self.shown.as_ref()
    }

    pub fn shown_mut(&mut self) -> Option<&mut T> {
        self.shown.as_mut()
    }

    fn take(&mut self, frame: FrameId) -> Option<OutstandingFrame<T>> {
        let index = self.outstanding.iter().position(|given| given.frame == frame)?;
        self.outstanding.remove(index)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn given(frames: &[u64]) -> PresenterMirror<u64> {
        let mut mirror = PresenterMirror::default();
        frames.iter().for_each(|frame| mirror.record_submit(FrameId(*frame), *frame));
        mirror
    }

    #[test]
    fn committed_frames_stay_and_waiting_frames_are_withdrawn() {
        let mut mirror = given(&[1, 2, 3]);
        mirror.committed(FrameId(1));
        assert_eq!(mirror.withdraw(FrameId(0)), Some(FrameId(1)));
        assert_eq!((mirror.is_busy(), mirror.waiting()), (true, 2), "their losses are not reported yet");
        assert_eq!(mirror.lost(FrameId(2)), Some(2));
        assert_eq!(mirror.lost(FrameId(3)), Some(3));
        assert_eq!(mirror.presented(FrameId(1)), (true, None));
        assert!(!mirror.is_busy());
    }

    #[test]
    fn frame_older_than_the_withdrawn_frames_stays() {
        let mut mirror = given(&[1, 2, 3]);
        assert_eq!(mirror.withdraw(FrameId(3)), Some(FrameId(2)));
        assert_eq!(given(&[1]).withdraw(FrameId(1)), None, "it may be in flight already");
    }

    #[test]
    fn frame_withdrawn_too_late_is_presented() {
        let mut mirror = given(&[1]);
        mirror.withdraw(FrameId(1));
        assert_eq!(mirror.presented(FrameId(1)), (true, None));
        assert_eq!(mirror.shown(), Some(&1));
    }

    #[test]
    fn each_frame_is_reported_once() {
        let mut mirror = given(&[1, 2]);
        assert_eq!(mirror.lose_all().map(|(frame, _)| frame.0).collect::<Vec<_>>(), [1, 2]);
        assert_eq!(mirror.presented(FrameId(1)), (false, None), "it counts as lost");
        assert_eq!(mirror.lost(FrameId(2)), None);
        assert_eq!(mirror.shown(), None);
    }

    #[test]
    fn shown_content_is_that_of_the_last_presented_frame() {
        let mut mirror = given(&[1, 2]);
        assert!(!mirror.is_lit);
        mirror.presented(FrameId(1));
        assert_eq!(mirror.presented(FrameId(2)), (true, Some(1)));
        assert!(mirror.is_lit);
        assert_eq!(mirror.clear_shown(), Some(2));
        assert!(mirror.shown().is_none() && !mirror.is_lit);
    }
}

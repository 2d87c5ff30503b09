//! The main thread's copy of a presenter's state: power, outstanding frames, and the content on screen. Pure; updated
//! by the commands that are sent and by the news that come back.
//!
//! Each frame is reported once. When an output is switched off or changes its mode, its outstanding frames count as
//! lost at once, and later news about them are ignored.

use std::collections::VecDeque;

use crate::backend::FrameId;

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Power {
    On,
    /// Off, or the device belongs to another session.
    Off,
    Gone,
}

#[derive(Debug)]
struct Given<T> {
    frame: FrameId,
    committed: bool,
    withdrawn: bool,
    shows: T,
}

/// The assumed state of one output's presenter.
#[derive(Debug)]
pub(super) struct Mirror<T> {
    pub power: Power,
    /// A frame was shown since the output was switched on.
    pub is_lit: bool,
    /// Submitted frames without a report, the oldest first.
    given: VecDeque<Given<T>>,
    /// The content on screen.
    shown: Option<T>,
}

impl<T> Default for Mirror<T> {
    fn default() -> Self {
        Mirror { power: Power::On, is_lit: false, given: VecDeque::new(), shown: None }
    }
}

impl<T> Mirror<T> {
    /// Whether a submitted frame has no report yet.
    pub fn is_busy(&self) -> bool {
        !self.given.is_empty()
    }

    /// How many frames wait behind the first.
    pub fn waiting(&self) -> usize {
        self.given.len().saturating_sub(1)
    }

    /// Records a submitted frame.
    pub fn give(&mut self, frame: FrameId, shows: T) {
        self.given.push_back(Given { frame, committed: false, withdrawn: false, shows });
    }

    /// The frame cannot be withdrawn any more.
    pub fn committed(&mut self, frame: FrameId) {
        self.given.iter_mut().filter(|given| given.frame == frame).for_each(|given| given.committed = true);
    }

    /// Records that all frames from `from` on are to be withdrawn. Returns the newest frame that is sure to stay.
    pub fn withdraw(&mut self, from: FrameId) -> Option<FrameId> {
        for given in self.given.iter_mut().filter(|given| given.frame >= from && !given.committed) {
            given.withdrawn = true;
        }
        self.given.iter().rev().find(|given| !given.withdrawn).map(|given| given.frame)
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
        std::mem::take(&mut self.given).into_iter().map(|given| (given.frame, given.shows))
    }

    /// The output shows nothing. Returns its last content.
    pub fn darken(&mut self) -> Option<T> {
        self.is_lit = false;
        self.shown.take()
    }

    pub fn shown(&self) -> Option<&T> {
        self.shown.as_ref()
    }

    pub fn shown_mut(&mut self) -> Option<&mut T> {
        self.shown.as_mut()
    }

    fn take(&mut self, frame: FrameId) -> Option<Given<T>> {
        let index = self.given.iter().position(|given| given.frame == frame)?;
        self.given.remove(index)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn given(frames: &[u64]) -> Mirror<u64> {
        let mut mirror = Mirror::default();
        frames.iter().for_each(|frame| mirror.give(FrameId(*frame), *frame));
        mirror
    }

    #[test]
    fn what_is_on_its_way_stays_and_the_rest_is_asked_back() {
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
    fn a_frame_that_is_older_than_what_is_asked_back_stays() {
        let mut mirror = given(&[1, 2, 3]);
        assert_eq!(mirror.withdraw(FrameId(3)), Some(FrameId(2)));
        assert_eq!(given(&[1]).withdraw(FrameId(1)), None, "it may be in flight already");
    }

    #[test]
    fn a_frame_that_was_asked_back_too_late_is_shown_all_the_same() {
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
    fn what_is_on_screen_is_what_was_presented_last() {
        let mut mirror = given(&[1, 2]);
        assert!(!mirror.is_lit);
        mirror.presented(FrameId(1));
        assert_eq!(mirror.presented(FrameId(2)), (true, Some(1)));
        assert!(mirror.is_lit);
        assert_eq!(mirror.darken(), Some(2));
        assert!(mirror.shown().is_none() && !mirror.is_lit);
    }
}

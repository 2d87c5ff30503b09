//! The queue of finished frames that wait for their refreshes, and the time at which each is committed. Pure.
//!
//! The kernel takes one flip at a time. So a frame stays here until the frame before it is on screen, and then until it
//! is nearly too late, or until the frame is final. Meanwhile it can be withdrawn, and its cursor can be moved. A frame
//! that is committed while the machine is busy composing has to wait for the kernel worker that carries it out.
//!
//! ```text
//!   refresh      k              k+1             k+2
//!   in flight    ├─ k+1 ────────┤├─ k+2 ────────┤
//!   commits          ▲ k+1          ▲ k+2                 each `lead + early` before its refresh, or when it is final
//!   waiting       k+2, k+3       k+3
//! ```

use std::collections::VecDeque;

use crate::backend::FrameId;
use upbeat_timing::time::{Instant, Span};

#[derive(Debug)]
pub(super) struct WaitingFlip<T> {
    pub frame: FrameId,
    /// The expected start of its refresh.
    pub present: Instant,
    /// From this time on no other frame takes its place.
    pub final_at: Instant,
    pub content: T,
}

/// The values that determine when a frame is committed.
#[derive(Clone, Copy, Debug)]
pub(super) struct CommitTiming {
    pub interval: Span,
    /// How long before a refresh the driver needs its frame.
    pub lead: Span,
    /// Additional slack, because the committing thread or the kernel worker may be scheduled late.
    pub early: Span,
}

impl CommitTiming {
    fn commit_at<T>(&self, frame: &WaitingFlip<T>) -> Instant {
        let latest = frame.present - (self.lead + self.early);
        // Not so early that it would be shown one refresh before its own.
        latest.min(frame.final_at).max(frame.present - self.interval * 3 / 4)
    }

    /// Whether a frame for `present` would be shown too early if it were committed now.
    pub fn is_early(&self, present: Instant, now: Instant) -> bool {
        now < present - self.interval * 3 / 2
    }
}

/// Frames in the order of their refreshes.
#[derive(Debug)]
pub(super) struct FlipQueue<T> {
    waiting: VecDeque<WaitingFlip<T>>,
}

impl<T> Default for FlipQueue<T> {
    fn default() -> Self {
        FlipQueue { waiting: VecDeque::new() }
    }
}

impl<T> FlipQueue<T> {
    pub fn len(&self) -> usize {
        self.waiting.len()
    }

    pub fn is_empty(&self) -> bool {
        self.waiting.is_empty()
    }

    pub fn next(&self) -> Option<&WaitingFlip<T>> {
        self.waiting.front()
    }

    /// Takes the next frame if its refresh was `max_wait` ago or more: the fence that it waits for will not signal.
    pub fn take_overdue(&mut self, max_wait: Span, now: Instant) -> Option<WaitingFlip<T>> {
        let is_overdue = self.next().is_some_and(|next| now >= next.present + max_wait);
        if is_overdue { self.waiting.pop_front() } else { None }
    }

    pub fn contents_mut(&mut self) -> impl Iterator<Item = &mut T> {
        self.waiting.iter_mut().map(|waiting| &mut waiting.content)
    }

    /// Adds a frame at the back.
    pub fn push(&mut self, frame: WaitingFlip<T>) {
        self.waiting.push_back(frame);
    }

    /// The commit time of the next frame; in the past if the frame is late.
    pub fn next_commit(&self, timing: &CommitTiming) -> Option<Instant> {
        self.waiting.front().map(|waiting| timing.commit_at(waiting))
    }

    /// Whether the next frame misses its refresh.
    pub fn is_late(&self, timing: &CommitTiming, now: Instant) -> bool {
        self.waiting.front().is_some_and(|waiting| now > waiting.present - timing.lead)
    }

    /// Takes the next frame if it misses its refresh and another frame waits behind it, which may be in time.
    pub fn take_late(&mut self, timing: &CommitTiming, now: Instant) -> Option<WaitingFlip<T>> {
        if self.is_late(timing, now) && self.len() > 1 { self.waiting.pop_front() } else { None }
    }

    /// Takes the next frame if its commit time has come.
    pub fn take_due(&mut self, timing: &CommitTiming, now: Instant) -> Option<WaitingFlip<T>> {
        let due = self.next_commit(timing).is_some_and(|at| at <= now);
        if due { self.waiting.pop_front() } else { None }
    }

    /// Takes all frames from `from` on, in order.
    pub fn withdraw(&mut self, from: FrameId) -> VecDeque<WaitingFlip<T>> {
        let stay = self.waiting.iter().take_while(|waiting| waiting.frame < from).count();
        self.waiting.split_off(stay)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const TIMING: CommitTiming =
        CommitTiming { interval: Span::from_millis(10), lead: Span::from_millis(1), early: Span::from_millis(2) };

    fn at(millis: i64) -> Instant {
        Instant::from_nanos(1_000_000_000) + Span::from_millis(millis)
    }

    fn queue(presents: &[i64]) -> FlipQueue<()> {
        let mut queue = FlipQueue::default();
        for (frame, present) in presents.iter().enumerate() {
            let (frame, present) = (FrameId(frame as u64), at(*present));
            queue.push(WaitingFlip { frame, present, final_at: present, content: () });
        }
        queue
    }

    #[test]
    fn final_frame_is_committed_at_once() {
        let mut queue = FlipQueue::default();
        for (frame, final_at) in [(1, 15), (2, 3)] {
            queue.push(WaitingFlip { frame: FrameId(frame), present: at(20), final_at: at(final_at), content: () });
        }
        assert_eq!(queue.next_commit(&TIMING), Some(at(15)));
        assert_eq!(queue.take_due(&TIMING, at(15)).unwrap().frame, FrameId(1));
        assert_eq!(queue.next_commit(&TIMING), Some(at(20) - TIMING.interval * 3 / 4), "it would be shown too early");
    }

    #[test]
    fn each_frame_is_committed_just_before_its_own_refresh() {
        let mut queue = queue(&[20, 30]);
        assert_eq!(queue.next_commit(&TIMING), Some(at(17)));
        assert!(queue.take_due(&TIMING, at(16)).is_none());
        assert_eq!(queue.take_due(&TIMING, at(17)).unwrap().present, at(20));
        assert!(queue.take_due(&TIMING, at(17)).is_none(), "the next one is for the refresh after");
        assert_eq!(queue.next_commit(&TIMING), Some(at(27)));
    }

    #[test]
    fn a_late_frame_is_committed_at_once_if_there_is_no_newer_one() {
        let mut queue = queue(&[20]);
        assert!(queue.take_late(&TIMING, at(25)).is_none());
        assert!(queue.take_due(&TIMING, at(25)).is_some());
    }

    #[test]
    fn late_frame_is_dropped_for_the_frame_behind_it() {
        let mut queue = queue(&[20, 30, 40]);
        assert!(queue.take_late(&TIMING, at(19)).is_none(), "it still makes it");
        assert_eq!(queue.take_late(&TIMING, at(20)).unwrap().present, at(20));
        assert!(queue.take_late(&TIMING, at(20)).is_none());
        assert!(queue.take_due(&TIMING, at(20)).is_none(), "the next one waits for its own refresh");
    }

    #[test]
    fn a_long_lead_does_not_show_a_frame_a_refresh_too_soon() {
        let timing = CommitTiming { lead: Span::from_millis(9), early: Span::from_millis(4), ..TIMING };
        let next = queue(&[20]).next_commit(&timing).unwrap();
        assert!(next > at(10), "{next:?} is in the refresh before its own");
    }

    #[test]
    fn unfinished_frame_stays_until_its_longest_wait_ends() {
        let (mut queue, max_wait) = (queue(&[20, 30]), Span::from_millis(100));
        for millis in [10, 20, 119] {
            assert!(queue.take_overdue(max_wait, at(millis)).is_none());
            assert_eq!(queue.len(), 2, "looking at it does not take it away");
        }
        assert_eq!(queue.take_overdue(max_wait, at(120)).unwrap().frame, FrameId(0));
        assert!(queue.take_overdue(max_wait, at(120)).is_none(), "the next one has its own time");
    }

    #[test]
    fn withdrawing_takes_the_newer_ones_and_keeps_the_order_of_the_rest() {
        let mut queue = queue(&[10, 20, 30, 40]);
        let gone: Vec<u64> = queue.withdraw(FrameId(2)).iter().map(|waiting| waiting.frame.0).collect();
        assert_eq!(gone, [2, 3]);
        assert_eq!((queue.len(), queue.next().unwrap().frame), (2, FrameId(0)));
        assert!(queue.withdraw(FrameId(7)).is_empty());
    }

    #[test]
    fn a_frame_for_the_next_refresh_does_not_wait_and_one_for_a_later_does() {
        assert!(!TIMING.is_early(at(20), at(11)));
        assert!(TIMING.is_early(at(30), at(11)));
    }
}

//! The content-update queue of one surface: which updates wait, for which conditions, and which the next latch may
//! take.
//!
//! Pure bookkeeping in front of Smithay's queue, which only knows "blocked" or "not". An update waits for up to four
//! reasons, and every later update waits behind it:
//!
//! ```text
//!   fence         the buffer is not finished                   until it is
//!   fifo          wait_barrier, and a barrier stands           until a latch showed the update that set it
//!   time stamp    commit-timing                                until the refresh at or after it
//!   target        drawn for a refresh further ahead            until that refresh
//! ```
//!
//! A latch takes every ready and due update in order, but none past a barrier that this latch sets. A barrier clears
//! right after the latch, so the update behind it goes with the next one.
//!
//! Each frame that is bound to a target has a refresh of its own, so more than one due frame means that a frame was
//! late. Late frames *drawn ahead* are still shown, each in a refresh, because targets sent from then on allow for it.
//! A frame later than [`MOST_LATE`](late_frame::MOST_LATE) is skipped for the next due frame. For other frames the
//! [late-frame policy](upbeat_timing::late_frame) decides whether one is skipped.
//!
//! A *cancelled* frame stays in the queue without its content and waits for nothing.

use std::collections::VecDeque;

use upbeat_timing::late_frame::{self, LateChoice, LateFramePolicy};
use upbeat_timing::surface_targets::SurfaceTargetId;
use upbeat_timing::target::RefreshIndex;
use upbeat_timing::time::{Instant, Span};

/// A time stamp that lies this little after a refresh still means that refresh, since 60 Hz is not 59.94 Hz.
pub(crate) const STAMP_TOLERANCE: Span = Span::from_micros(500);

/// The conditions that an update waits for.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct UpdateConditions {
    /// Fences that have not signalled.
    pub fences: u32,
    /// `wp_fifo.wait_barrier`.
    pub wait_barrier: bool,
    /// `wp_fifo.set_barrier`: this update does not wait for it, but later updates may.
    pub set_barrier: bool,
    /// `wp_commit_timer.set_timestamp`.
    pub not_before: Option<Instant>,
    /// The refresh that it was drawn for.
    pub target: Option<RefreshIndex>,
    /// The target that it is bound to, with the time of that refresh.
    pub frame: Option<(SurfaceTargetId, Instant)>,
    /// The interval between refreshes that it was drawn for.
    pub interval: Span,
    /// Drawn ahead: if it is late, it is shown in a refresh of its own instead of replacing another frame.
    pub ahead: bool,
    /// The refresh that it was drawn for already has another frame.
    pub is_duplicate: bool,
    /// It cannot be cancelled, because it does more than show content.
    pub uncancellable: bool,
    /// Its content was cancelled.
    pub cancelled: bool,
}

/// An update that waits. `T` opens it.
#[derive(Debug)]
struct QueuedUpdate<T> {
    conditions: UpdateConditions,
    gate: T,
}

/// The waiting updates of one surface, oldest first.
#[derive(Debug)]
pub struct UpdateQueue<T> {
    waiting: VecDeque<QueuedUpdate<T>>,
    /// An applied update has set a barrier that no latch has cleared yet.
    barrier: bool,
    late: LateFramePolicy,
    /// Frames bound to targets that the current latch may still take.
    allowed: Option<(RefreshIndex, usize)>,
}

impl<T> Default for UpdateQueue<T> {
    fn default() -> Self {
        UpdateQueue { waiting: VecDeque::new(), barrier: false, late: LateFramePolicy::default(), allowed: None }
    }
}

impl<T> UpdateQueue<T> {
    pub fn len(&self) -> usize {
        self.waiting.len()
    }

    pub fn is_empty(&self) -> bool {
        self.waiting.is_empty()
    }

    /// Whether an update with these conditions may be applied at once. If so, it counts as applied.
    pub fn try_apply(&mut self, conditions: UpdateConditions) -> bool {
        let free = self.waiting.is_empty()
            && conditions.fences == 0
            && conditions.not_before.is_none()
            && conditions.target.is_none()
            && !(conditions.wait_barrier && self.barrier);
        if free {
            self.barrier |= conditions.set_barrier;
        }
        free
    }

    /// Whether an applied update has set a barrier that no latch has cleared yet.
    pub const fn has_barrier(&self) -> bool {
        self.barrier
    }

    pub fn push(&mut self, conditions: UpdateConditions, gate: T) {
        self.waiting.push_back(QueuedUpdate { conditions, gate });
    }

    /// A fence of the update for which `which` holds has signalled. Returns whether there is such an update.
    pub fn fence_signalled(&mut self, which: impl Fn(&T) -> bool) -> bool {
        let Some(update) = self.waiting.iter_mut().find(|update| which(&update.gate)) else { return false };
        update.conditions.fences = update.conditions.fences.saturating_sub(1);
        true
    }

    /// The target that the update for which `which` holds is bound to.
    pub fn frame_of(&self, which: impl Fn(&T) -> bool) -> Option<SurfaceTargetId> {
        let update = self.waiting.iter().find(|update| which(&update.gate))?;
        update.conditions.frame.map(|(id, _)| id)
    }

    /// How many waiting updates still have their content.
    pub fn frames(&self) -> usize {
        self.waiting.iter().filter(|update| !update.conditions.cancelled).count()
    }

    /// Cancels the frames that are bound to `first` or a later target, and returns their targets. A frame that cannot
    /// be cancelled also keeps all frames before it.
    pub fn cancel_from(&mut self, first: SurfaceTargetId) -> Vec<SurfaceTargetId> {
        let named = |conditions: &UpdateConditions| conditions.frame.is_some_and(|(id, _)| id >= first);
        let kept = self.waiting.iter().rposition(|update| update.conditions.uncancellable && named(&update.conditions));
        let mut cancelled = Vec::new();
        for update in self.waiting.iter_mut().skip(kept.map_or(0, |index| index + 1)) {
            if let Some((id, _)) = update.conditions.frame.filter(|_| named(&update.conditions)) {
                cancelled.push(id);
                update.conditions = UpdateConditions { cancelled: true, ..UpdateConditions::default() };
            }
        }
        cancelled
    }

    /// Unbinds frames from refreshes that will not come: from now on they wait for the time instead.
    pub fn unbind_refreshes(&mut self) {
        for update in &mut self.waiting {
            let was_bound = update.conditions.target.take().is_some();
            if let Some((_, present)) = update.conditions.frame.filter(|_| was_bound) {
                update.conditions.not_before = Some(present);
            }
        }
    }

    /// The next update that the latch for `index`, shown at `present`, takes.
    pub fn take(&mut self, index: RefreshIndex, present: Instant) -> Option<T> {
        let front = self.waiting.front()?.conditions;
        if !is_due(&front, index, present) || (front.wait_barrier && self.barrier) {
            return None;
        }
        if front.frame.is_some() {
            let (_, allowed) = self.allowed.filter(|(latch, _)| *latch == index).unwrap_or_else(|| {
                if front.ahead {
                    return (index, self.late_frames_to_skip(index, present) + 1);
                }
                let (frames, insured) = self.frames_due(index, present);
                let choice = self.late.choose(frames - insured);
                (index, insured + if choice == LateChoice::SkipOldest { 2 } else { 1 })
            });
            self.allowed = Some((index, allowed.checked_sub(1)?));
        }
        self.barrier |= front.set_barrier;
        self.waiting.pop_front().map(|update| update.gate)
    }

    /// The next update, if it waits only for the refresh `next`: once the latch for the refresh before is over, it may
    /// be applied as well.
    pub fn take_next(&mut self, next: RefreshIndex) -> Option<T> {
        let front = self.waiting.front()?.conditions;
        let only_target = UpdateConditions { target: front.target, ..UpdateConditions::default() };
        if front != only_target || front.target.is_none_or(|target| target > next) {
            return None;
        }
        self.waiting.pop_front().map(|update| update.gate)
    }

    /// How many bound frames the latch for `index` could take, and how many of them can be skipped without loss: first
    /// frames of a refresh that has a second, and second frames that are late while there is a newer frame.
    fn frames_due(&self, index: RefreshIndex, present: Instant) -> (usize, usize) {
        let due = self.waiting.iter().take_while(|update| is_due(&update.conditions, index, present));
        let frames = due.map(|update| &update.conditions).filter(|conditions| conditions.frame.is_some());
        let is_no_loss = |frame: &UpdateConditions, next: &UpdateConditions| {
            frame.is_duplicate || (next.is_duplicate && frame.target.is_some() && next.target == frame.target)
        };
        let pairs = frames.clone().zip(frames.clone().skip(1));
        (frames.count(), pairs.filter(|(frame, next)| is_no_loss(frame, next)).count())
    }

    /// How many frames drawn ahead the latch for `index` skips.
    fn late_frames_to_skip(&self, index: RefreshIndex, present: Instant) -> usize {
        let due = self.waiting.iter().take_while(|update| is_due(&update.conditions, index, present));
        let frames = due.map(|update| update.conditions).filter(|conditions| conditions.frame.is_some());
        let (frames, late) = (frames.clone().count(), frames.take_while(|frame| is_too_late(frame, present)).count());
        late.min(frames.saturating_sub(1))
    }

    /// Takes the oldest update if its buffer is finished, whatever else it waits for: the surface is hidden.
    pub fn take_finished(&mut self) -> Option<T> {
        self.barrier = false;
        if self.waiting.front()?.conditions.fences > 0 {
            return None;
        }
        self.waiting.pop_front().map(|update| update.gate)
    }

    /// Takes all updates.
    pub fn drain(&mut self) -> impl Iterator<Item = T> + '_ {
        self.barrier = false;
        self.waiting.drain(..).map(|update| update.gate)
    }

    /// The latch is over: clears barriers set by the updates that it took. Returns whether there was one.
    pub fn latched(&mut self) -> bool {
        self.allowed = None;
        std::mem::take(&mut self.barrier)
    }

    /// The earliest refresh that may take the oldest update; `None` while it waits for fences. `after`: the last
    /// latched refresh; `at_or_after` finds the refresh for a point in time. The second value is its time stamp, for
    /// outputs whose refreshes have no grid; [`Instant::ZERO`] without a time stamp.
    pub fn due(
        &self,
        after: RefreshIndex,
        at_or_after: impl Fn(Instant) -> RefreshIndex,
    ) -> Option<(RefreshIndex, Instant)> {
        let front = self.waiting.front()?.conditions;
        if front.fences > 0 {
            return None;
        }
        let stamped = front.not_before.map(|stamp| at_or_after(stamp - STAMP_TOLERANCE));
        let index = after.next().max(stamped.unwrap_or_default()).max(front.target.unwrap_or_default());
        Some((index, front.not_before.unwrap_or(Instant::ZERO)))
    }
}

/// Whether a bound frame shown at `present` would be too late while a newer frame is due. Compares times, since a
/// revoked target has no refresh any more.
fn is_too_late(conditions: &UpdateConditions, present: Instant) -> bool {
    let interval = conditions.interval.as_nanos().max(1);
    let late = conditions.frame.map_or(Span::ZERO, |(_, due)| present - due).as_nanos().max(0);
    conditions.interval > Span::ZERO && late_frame::is_dropped_for_next(((late + interval / 2) / interval) as u64)
}

fn is_due(conditions: &UpdateConditions, index: RefreshIndex, present: Instant) -> bool {
    conditions.fences == 0
        && conditions.not_before.is_none_or(|stamp| stamp <= present + STAMP_TOLERANCE)
        && conditions.target.is_none_or(|target| target <= index)
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    const PERIOD: Span = Span::from_millis(10);

    fn present(index: u64) -> Instant {
        Instant::ZERO + PERIOD * index as i64
    }

    fn latch(queue: &mut UpdateQueue<u32>, index: u64) -> Vec<u32> {
        let taken = std::iter::from_fn(|| queue.take(RefreshIndex(index), present(index))).collect();
        queue.latched();
        taken
    }

    fn fifo() -> UpdateConditions {
        UpdateConditions { set_barrier: true, wait_barrier: true, ..UpdateConditions::default() }
    }

    #[test]
    fn an_update_without_a_reason_does_not_wait() {
        let mut queue = UpdateQueue::<u32>::default();
        assert!(queue.try_apply(UpdateConditions::default()));
        queue.push(UpdateConditions { fences: 1, ..UpdateConditions::default() }, 1);
        assert!(!queue.try_apply(UpdateConditions::default()));
    }

    #[test]
    fn a_barrier_lets_one_update_through_per_latch() {
        let mut queue = UpdateQueue::default();
        assert!(queue.try_apply(fifo()));
        for update in 1..=3 {
            assert!(!queue.try_apply(fifo()));
            queue.push(fifo(), update);
        }
        assert_eq!(latch(&mut queue, 1), [0u32; 0]);
        assert_eq!(latch(&mut queue, 2), [1]);
        assert_eq!(latch(&mut queue, 3), [2]);
        assert_eq!(latch(&mut queue, 4), [3]);
        assert!(queue.try_apply(fifo()));
    }

    #[test]
    fn a_stamp_is_shown_at_the_refresh_at_or_after_it() {
        let mut queue = UpdateQueue::default();
        let stamped = |at: Instant| UpdateConditions { not_before: Some(at), ..UpdateConditions::default() };
        queue.push(stamped(present(5) - Span::from_micros(300)), 1);
        queue.push(stamped(present(6) + Span::from_micros(300)), 2);
        queue.push(stamped(present(7) + Span::from_millis(3)), 3);
        let nearest = |at: Instant| RefreshIndex((at.as_nanos()).div_ceil(10_000_000));
        assert_eq!(queue.due(RefreshIndex(2), nearest).map(|(index, _)| index), Some(RefreshIndex(5)));
        assert_eq!(latch(&mut queue, 4), [0u32; 0]);
        assert_eq!(latch(&mut queue, 5), [1]);
        assert_eq!(latch(&mut queue, 6), [2]);
        assert_eq!(latch(&mut queue, 7), [0u32; 0]);
        assert_eq!(latch(&mut queue, 8), [3]);
    }

    #[test]
    fn second_frame_for_a_refresh_replaces_the_first_unless_it_is_late() {
        let push = |queue: &mut UpdateQueue<u32>, number: u64, target: u64, second: bool| {
            let frame = Some((SurfaceTargetId(number), Instant::ZERO));
            let target = Some(RefreshIndex(target));
            queue.push(
                UpdateConditions { frame, target, is_duplicate: second, ..UpdateConditions::default() },
                number as u32,
            );
        };
        let taken = |queue: &mut UpdateQueue<u32>, index: u64| {
            let taken: Vec<u32> = std::iter::from_fn(|| queue.take(RefreshIndex(index), Instant::ZERO)).collect();
            queue.latched();
            taken
        };
        let mut queue = UpdateQueue::default();
        for refresh in 1..4 {
            push(&mut queue, 2 * refresh, refresh, false);
            push(&mut queue, 2 * refresh + 1, refresh, true);
            assert_eq!(taken(&mut queue, refresh), [2 * refresh as u32, 2 * refresh as u32 + 1]);
        }
        for refresh in 4..8 {
            push(&mut queue, 3 * refresh, refresh, false);
            assert_eq!(taken(&mut queue, refresh).last(), Some(&(3 * refresh as u32)));
            // It comes after its refresh is over.
            push(&mut queue, 3 * refresh + 1, refresh, true);
        }
    }

    #[test]
    fn late_frames_drawn_ahead_are_shown_and_other_late_frames_are_skipped_but_never_two_in_a_row() {
        let shown = |ahead| {
            let mut queue = UpdateQueue::default();
            for number in 1..=5 {
                let frame = Some((SurfaceTargetId(number), present(number)));
                queue.push(UpdateConditions { frame, ahead, ..UpdateConditions::default() }, number as u32);
            }
            (10..14).map(|index| latch(&mut queue, index)).collect::<Vec<_>>()
        };
        assert_eq!(shown(true), [vec![1], vec![2], vec![3], vec![4]]);
        assert_eq!(shown(false), [vec![1, 2], vec![3], vec![4, 5], vec![]]);
    }

    #[test]
    fn frame_drawn_ahead_is_skipped_when_late_by_more_than_one_refresh_and_a_newer_frame_is_due() {
        let mut queue = UpdateQueue::default();
        for number in 1..=6 {
            let (frame, target) = (Some((SurfaceTargetId(number), present(number))), Some(RefreshIndex(number)));
            queue.push(
                UpdateConditions { frame, target, interval: PERIOD, ahead: true, ..UpdateConditions::default() },
                number as u32,
            );
        }
        // One refresh without a frame makes each later frame late by one, and no more frames are lost.
        assert_eq!([2, 3].map(|index| latch(&mut queue, index)), [vec![1], vec![2]]);
        // After two more missed refreshes the newest frame but one is shown next.
        assert_eq!(latch(&mut queue, 6), [3, 4, 5]);
        assert_eq!(latch(&mut queue, 9), [6], "better late than never");
    }

    #[test]
    fn update_that_waits_only_for_the_next_refresh_may_be_applied_before_its_latch() {
        let for_five = UpdateConditions { target: Some(RefreshIndex(5)), ..UpdateConditions::default() };
        let next = |conditions, next| {
            let mut queue = UpdateQueue::default();
            queue.push(conditions, 1);
            queue.take_next(RefreshIndex(next))
        };
        assert_eq!([4, 5, 6].map(|index| next(for_five, index)), [None, Some(1), Some(1)]);
        for more in [
            UpdateConditions { fences: 1, ..for_five },
            UpdateConditions { wait_barrier: true, ..for_five },
            UpdateConditions { set_barrier: true, ..for_five },
            UpdateConditions { not_before: Some(present(5)), ..for_five },
            UpdateConditions { frame: Some((SurfaceTargetId(1), present(5))), ..for_five },
            UpdateConditions { target: None, ..for_five },
        ] {
            assert_eq!(next(more, 5), None, "{more:?}");
        }
    }

    #[test]
    fn unfinished_update_holds_later_updates() {
        let mut queue = UpdateQueue::default();
        queue.push(UpdateConditions { fences: 1, ..UpdateConditions::default() }, 1);
        queue.push(UpdateConditions::default(), 2);
        assert_eq!(latch(&mut queue, 1), [0u32; 0]);
        assert_eq!(queue.due(RefreshIndex(1), |_| RefreshIndex(0)), None);
        assert!(queue.fence_signalled(|gate| *gate == 1));
        assert_eq!(latch(&mut queue, 2), [1, 2]);
    }

    proptest! {
        /// Every update is taken exactly once and in order, whatever it waits for.
        #[test]
        fn updates_are_never_lost_or_reordered(
            updates in prop::collection::vec(
                (any::<bool>(), any::<bool>(), prop::option::of(0u64..40), prop::option::of(0u64..40)), 1..30),
        ) {
            let mut queue = UpdateQueue::default();
            let mut taken = Vec::new();
            for (number, (set, wait, stamp, target)) in updates.iter().enumerate() {
                let conditions = UpdateConditions {
                    fences: 0,
                    set_barrier: *set,
                    wait_barrier: *wait,
                    not_before: stamp.map(present),
                    target: target.map(RefreshIndex),
                    ..UpdateConditions::default()
                };
                if queue.try_apply(conditions) {
                    taken.push(number as u32);
                } else {
                    queue.push(conditions, number as u32);
                }
            }
            for index in 1..100 {
                taken.extend(latch(&mut queue, index));
            }
            prop_assert_eq!(taken, (0..updates.len() as u32).collect::<Vec<_>>());
        }
    }
}

//! A second target for a refresh for which a frame already waits: the waiting frame is the insurance, and the second
//! frame shows newer input if it is in time.
//!
//! ```text
//!   a = k sent      a bound          b = k sent         b bound   latch(k): b, or a where b is late
//!      ├───────────────┤ ─ ─ ─ waits ─ ─ ┼─────────────────┤          │
//!      └ high-quantile cost              └ typical cost ──────────────┘
//! ```
//!
//! The client's pacer decides when the second frame starts, and whether it is worth its cost.

use super::{IssuedTarget, LiveTarget, SurfaceTargets, TargetStage};
use crate::pacing::Pacing;
use crate::target::RefreshIndex;
use crate::time::Instant;

impl SurfaceTargets {
    /// The refresh that a second frame may be drawn for: one frame waits for it, and no other frame is under way.
    pub fn waits_for_second(&self) -> Option<RefreshIndex> {
        self.insurance().map(|first| first.target.refresh)
    }

    /// Answers one request with a second target for that refresh.
    pub fn answer_second(&mut self, now: Instant) -> Option<IssuedTarget> {
        let first = *self.insurance()?;
        let issued = IssuedTarget { id: self.last_id.next(), sent: now, is_second: true, ..first.target };
        self.live.push(LiveTarget { target: issued, stage: TargetStage::Sent }).ok()?;
        self.requests -= 1;
        self.last_id = issued.id;
        Some(issued)
    }

    fn insurance(&self) -> Option<&LiveTarget> {
        let is_asked_for = self.requests > 0 && self.wishes.second_shot;
        if !is_asked_for || self.effective.pacing != Pacing::JustInTime || self.effective.is_hidden() {
            return None;
        }
        let mut under_way = self.live.iter().filter(|frame| frame.stage != TargetStage::Latched);
        let (first, more) = (under_way.next()?, under_way.next());
        let waits = first.stage == TargetStage::Bound && !first.target.is_second && !first.target.timed;
        (waits && more.is_none()).then_some(first)
    }
}

#[cfg(test)]
mod tests {
    use super::super::{FramePacingRequest, SurfaceTargetId};
    use super::*;
    use crate::time::Span;
    use crate::virtualizer::VsyncGrid;

    const INTERVAL: Span = Span::from_millis(10);

    fn at(millis: i64) -> Instant {
        Instant::from_nanos(1_000_000_000) + Span::from_millis(millis)
    }

    fn grid(refresh: u64) -> VsyncGrid {
        VsyncGrid { refresh: RefreshIndex(refresh), present: at(10 * refresh as i64), interval: INTERVAL }
    }

    /// A surface whose frame for refresh 1 is committed.
    fn insured(second_shot: bool) -> (SurfaceTargets, SurfaceTargetId) {
        let mut ahead = SurfaceTargets::default();
        ahead.set_wishes(FramePacingRequest { second_shot, ..FramePacingRequest::default() });
        ahead.request();
        let first = ahead.answer(grid(1), RefreshIndex(1), at(1)).unwrap();
        ahead.bind(first.id, at(3));
        ahead.request();
        (ahead, first.id)
    }

    #[test]
    fn a_second_target_names_the_same_refresh_once_and_only_where_it_is_wished_for() {
        assert_eq!(insured(false).0.waits_for_second(), None);
        let (mut ahead, first) = insured(true);
        assert_eq!(ahead.waits_for_second(), Some(RefreshIndex(1)));
        let second = ahead.answer_second(at(5)).unwrap();
        assert_eq!((second.id, second.refresh, second.present), (first.next(), RefreshIndex(1), at(10)));
        assert_eq!(ahead.promised(), Some(RefreshIndex(1)));
        ahead.request();
        assert_eq!((ahead.waits_for_second(), ahead.waits_for_callback()), (None, false), "it is being drawn");
        ahead.bind(second.id, at(8));
        assert_eq!((ahead.waits_for_second(), ahead.waits_for_callback()), (None, false), "both wait for the latch");
        [first, second.id].into_iter().for_each(|id| ahead.latched(id));
        assert!(ahead.waits_for_callback());
    }

    #[test]
    fn a_second_frame_that_is_late_holds_up_no_other() {
        let (mut ahead, first) = insured(true);
        let second = ahead.answer_second(at(5)).unwrap();
        ahead.latched(first);
        ahead.bind(second.id, at(11));
        ahead.request();
        assert!(ahead.waits_for_callback(), "the next refresh has a frame of its own");
        assert_eq!(ahead.waits_for_second(), None);
        let next = ahead.answer(grid(2), RefreshIndex(2), at(12)).unwrap();
        assert_eq!((next.refresh, next.present), (RefreshIndex(2), at(20)));
    }
}

//! Derives the reason why a frame was late from its recorded times.

use super::{ClientFrameRecord, FrameOutcome, FrameRecord, LostReason, MissReason};
use crate::time::{Instant, Span};

/// A smaller delay of a wake-up, a callback or composing explains nothing: it is below the resolution of timers and
/// clocks.
pub const NEGLIGIBLE: Span = Span::from_micros(50);

impl FrameRecord {
    /// Why the frame was not shown at its target; `None` if it was, or still may be.
    ///
    /// The reason of a late submission is the larger of two delays: of the wake-up after `latch_at`, or of
    /// composing beyond its budget.
    ///
    /// ```text
    ///   latch_at    latched                          composed  submitted
    ///      ├─ woke late ┤├────── compose_cost ───────────┤          │
    ///      ├── compose_budget ──┤ submit_by                         │
    ///                           ├──────────── too late ─────────────┤
    /// ```
    pub fn diagnose(&self) -> Option<MissReason> {
        match self.outcome {
            FrameOutcome::Pending | FrameOutcome::Empty => None,
            FrameOutcome::Lost(LostReason::Superseded) => Some(MissReason::PolicyDrop),
            FrameOutcome::Lost(reason) => Some(MissReason::DisplayLost { reason }),
            FrameOutcome::Presented => {
                let refreshes = self.refreshes_late().filter(|late| *late > 0)?;
                Some(self.diagnose_late(refreshes))
            }
        }
    }

    fn diagnose_late(&self, refreshes: u64) -> MissReason {
        let submitted = self.submitted.unwrap_or(self.submit_by);
        let complete = self.rendered.map_or(submitted, |rendered| rendered.max(submitted));
        if let Some(frame) = self.busy_with {
            return MissReason::FlipPending { frame };
        }
        if complete <= self.submit_by {
            return MissReason::DisplayFault { refreshes, early_by: self.submit_by - complete };
        }
        let woke_late = self.latched - self.latch_at;
        let composed_over = self.compose_cost - self.compose_budget;
        if woke_late.max(composed_over) < NEGLIGIBLE {
            return match submitted <= self.submit_by {
                true => MissReason::RenderLate { by: complete - self.submit_by },
                false => MissReason::SubmitLate { by: submitted - self.submit_by },
            };
        }
        if woke_late >= composed_over {
            MissReason::WokeLate { by: woke_late }
        } else if submitted <= self.submit_by {
            MissReason::RenderLate { by: complete - self.submit_by }
        } else {
            MissReason::ComposeLate { took: self.compose_cost, budget: self.compose_budget }
        }
    }
}

impl ClientFrameRecord {
    /// Why the client's frame was not shown at its target; `None` if it was, or still may be.
    ///
    /// `frame` is the output's frame for that target, if any. Without it `ready_by` stands for the latch, and
    /// `overslept` is how late the compositor woke, if that is the reason.
    pub fn diagnose(&self, frame: Option<&FrameRecord>, overslept: Option<Span>, now: Instant) -> Option<MissReason> {
        let late = match self.refreshes_late() {
            Some(refreshes) => refreshes > 0,
            None => now >= self.present && self.presented.is_none(),
        };
        if !late {
            return None;
        }
        let latch = frame.map_or(self.ready_by, |frame| frame.latched);
        let Some(committed) = self.committed else {
            return self.diagnose_unanswered(now);
        };
        let ready = self.ready.unwrap_or(committed).max(committed);
        if ready > latch {
            return Some(self.diagnose_not_ready(committed, ready, latch));
        }
        let taken = frame.filter(|frame| self.frame == Some(frame.frame));
        match (taken, overslept.filter(|_| frame.is_none())) {
            // It was part of the output's frame, so it shares the fate of that frame.
            (Some(taken), _) => Some(taken.miss.or_else(|| taken.diagnose()).unwrap_or(self.not_composed(ready))),
            (None, Some(by)) => Some(MissReason::WokeLate { by }),
            (None, None) if self.depth > 1 => Some(MissReason::Queued { ahead: self.depth - 1 }),
            (None, None) => Some(self.not_composed(ready)),
        }
    }

    fn diagnose_unanswered(&self, now: Instant) -> Option<MissReason> {
        let sent = self.callback_sent?;
        Some(MissReason::StillDrawing { waited: now - sent, budget: self.budget })
    }

    fn diagnose_not_ready(&self, committed: Instant, ready: Instant, latch: Instant) -> MissReason {
        if committed <= latch {
            return MissReason::FenceLate { by: ready - latch };
        }
        let late_by = ready - latch;
        let asked = self.callback_sent.zip(self.callback_scheduled);
        let asked_late = asked.map_or(Span::ZERO, |(sent, scheduled)| sent - scheduled);
        let took = |from: Option<Instant>| from.map_or(Span::ZERO, |from| ready - from);
        if asked_late >= late_by && asked_late >= NEGLIGIBLE {
            return MissReason::CallbackLate { by: asked_late, took: took(self.callback_sent) };
        }
        let took = self.cost_wall.unwrap_or_else(|| took(self.callback_scheduled.or(self.callback_sent)));
        MissReason::ClientLate { took, budget: self.budget, cpu: self.cost_cpu, late_by }
    }

    fn not_composed(&self, ready: Instant) -> MissReason {
        MissReason::NotComposed { early_by: self.ready_by - ready }
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn at(micros: u64) -> Instant {
        Instant::from_nanos(micros * 1_000)
    }

    fn us(micros: i64) -> Span {
        Span::from_micros(micros)
    }

    /// Refresh 6 at 100 ms: latch at 97, submit by 99, compose budget 1.5 ms.
    fn frame() -> FrameRecord {
        FrameRecord {
            frame: 40,
            present: at(100_000),
            interval: us(16_667),
            latch_at: at(97_000),
            latched: at(97_010),
            composed: Some(at(98_000)),
            submitted: Some(at(98_010)),
            submit_by: at(99_000),
            presented: Some(at(100_000)),
            compose_budget: us(1_500),
            compose_cost: us(990),
            outcome: FrameOutcome::Presented,
            ..Default::default()
        }
    }

    fn late_frame() -> FrameRecord {
        FrameRecord { presented: Some(at(116_667)), ..frame() }
    }

    fn client() -> ClientFrameRecord {
        ClientFrameRecord {
            present: at(100_000),
            ready_by: at(97_000),
            interval: us(16_667),
            callback_scheduled: Some(at(90_000)),
            callback_sent: Some(at(90_020)),
            committed: Some(at(95_000)),
            ready: Some(at(95_000)),
            latched: Some(at(97_010)),
            frame: Some(40),
            presented: Some(at(116_667)),
            budget: us(6_200),
            depth: 1,
            ..Default::default()
        }
    }

    #[test]
    fn a_frame_on_time_has_no_reason() {
        assert_eq!(frame().diagnose(), None);
        assert_eq!(FrameRecord { outcome: FrameOutcome::Pending, ..late_frame() }.diagnose(), None);
    }

    #[test]
    fn the_larger_of_waking_and_composing_late_is_the_reason() {
        let late = FrameRecord { submitted: Some(at(99_900)), ..late_frame() };
        let woke = FrameRecord { latched: at(98_500), compose_cost: us(1_600), ..late };
        assert_eq!(woke.diagnose(), Some(MissReason::WokeLate { by: us(1_500) }));
        let composed = FrameRecord { latched: at(97_200), compose_cost: us(2_600), ..late };
        assert_eq!(composed.diagnose(), Some(MissReason::ComposeLate { took: us(2_600), budget: us(1_500) }));
        assert_eq!(late.diagnose(), Some(MissReason::SubmitLate { by: us(900) }));
        let busy = FrameRecord { busy_with: Some(39), ..late };
        assert_eq!(busy.diagnose(), Some(MissReason::FlipPending { frame: 39 }));
    }

    #[test]
    fn a_display_that_had_the_frame_in_time_is_told_so() {
        let fault = MissReason::DisplayFault { refreshes: 1, early_by: us(990) };
        assert_eq!(late_frame().diagnose(), Some(fault));
    }

    #[test]
    fn a_gpu_that_finishes_after_submit_by_is_not_the_displays_fault() {
        let late = FrameRecord { rendered: Some(at(99_400)), compose_cost: us(2_390), ..late_frame() };
        assert_eq!(late.diagnose(), Some(MissReason::RenderLate { by: us(400) }));
    }

    #[test]
    fn superseding_is_policy_and_losing_is_the_display() {
        let lost = |reason| FrameRecord { outcome: FrameOutcome::Lost(reason), presented: None, ..frame() }.diagnose();
        assert_eq!(lost(LostReason::Superseded), Some(MissReason::PolicyDrop));
        assert_eq!(lost(LostReason::Device), Some(MissReason::DisplayLost { reason: LostReason::Device }));
    }

    #[test]
    fn a_client_over_its_budget_is_told_with_its_cpu_time() {
        let record = ClientFrameRecord {
            committed: Some(at(99_100)),
            ready: None,
            cost_wall: Some(us(9_100)),
            cost_cpu: Some(us(8_900)),
            frame: Some(41),
            ..client()
        };
        let expected =
            MissReason::ClientLate { took: us(9_100), budget: us(6_200), cpu: Some(us(8_900)), late_by: us(2_090) };
        assert_eq!(record.diagnose(Some(&frame()), None, at(117_000)), Some(expected));
    }

    #[test]
    fn a_callback_sent_late_is_the_compositors_doing() {
        let record =
            ClientFrameRecord { callback_sent: Some(at(93_000)), committed: Some(at(99_000)), ready: None, ..client() };
        let expected = MissReason::CallbackLate { by: us(3_000), took: us(6_000) };
        assert_eq!(record.diagnose(Some(&frame()), None, at(117_000)), Some(expected));
    }

    #[test]
    fn a_client_in_a_late_frame_inherits_its_reason() {
        let composed = FrameRecord { submitted: Some(at(99_900)), compose_cost: us(2_600), ..late_frame() };
        assert_eq!(client().diagnose(Some(&composed), None, at(117_000)), composed.diagnose());
    }

    #[test]
    fn a_fence_a_queue_and_a_lazy_output_are_told_apart() {
        let now = at(117_000);
        let fence = ClientFrameRecord { ready: Some(at(98_010)), frame: Some(41), ..client() };
        assert_eq!(fence.diagnose(Some(&frame()), None, now), Some(MissReason::FenceLate { by: us(1_000) }));
        let queued = ClientFrameRecord { depth: 3, frame: Some(42), ..client() };
        assert_eq!(queued.diagnose(Some(&frame()), None, now), Some(MissReason::Queued { ahead: 2 }));
        let overslept = MissReason::WokeLate { by: us(900) };
        assert_eq!(queued.diagnose(None, Some(us(900)), now), Some(overslept), "no frame was made");
        let lazy = client().diagnose(None, None, now);
        assert_eq!(lazy, Some(MissReason::NotComposed { early_by: us(2_000) }));
    }

    #[test]
    fn silence_is_a_reason_only_after_the_refresh() {
        let silent = ClientFrameRecord { committed: None, ready: None, presented: None, frame: None, ..client() };
        assert_eq!(silent.diagnose(None, None, at(99_999)), None);
        let waited = MissReason::StillDrawing { waited: us(26_980), budget: us(6_200) };
        assert_eq!(silent.diagnose(None, None, at(117_000)), Some(waited));
    }

    prop_compose! {
        fn any_frame()(
            latched in 90_000_u64..110_000,
            cost in 0_i64..20_000,
            hand_over in 0_u64..3_000,
            rendered in proptest::option::of(90_000_u64..130_000),
            presented in 90_000_u64..200_000,
            busy_with in proptest::option::of(0_u64..3),
        ) -> FrameRecord {
            FrameRecord {
                latched: at(latched),
                composed: Some(at(latched + cost as u64)),
                rendered: rendered.map(at),
                submitted: Some(at(latched + cost as u64 + hand_over)),
                compose_cost: us(cost),
                presented: Some(at(presented)),
                busy_with,
                ..frame()
            }
        }
    }

    proptest! {
        #[test]
        fn no_output_frame_is_late_silently(frame in any_frame()) {
            let late = frame.refreshes_late().is_some_and(|refreshes| refreshes > 0);
            prop_assert_eq!(frame.diagnose().is_some(), late);
        }

        #[test]
        fn no_client_frame_is_late_silently(
            frame in proptest::option::of(any_frame()),
            committed in 90_000_u64..120_000,
            fence in 0_u64..5_000,
            taken_by in 39_u64..42,
            depth in 0_u8..4,
            presented in proptest::option::of(90_000_u64..200_000),
        ) {
            let record = ClientFrameRecord {
                committed: Some(at(committed)),
                ready: Some(at(committed + fence)),
                presented: presented.map(at),
                frame: Some(taken_by),
                depth,
                ..client()
            };
            let now = at(200_000);
            let late = record.refreshes_late().is_none_or(|refreshes| refreshes > 0);
            prop_assert_eq!(record.diagnose(frame.as_ref(), None, now).is_some(), late);
        }
    }
}

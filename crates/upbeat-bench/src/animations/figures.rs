//! Figures of the compositor's own animations, counted from the frame log. Pure.

use serde::{Deserialize, Serialize};

use crate::statistics::Quantiles;
use upbeat_timing::pacing::Pacing;
use upbeat_timing::record::{FrameOutcome, FrameRecord, RepaintReason};
use upbeat_timing::time::Span;

/// The figures of one run.
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
pub struct AnimationRun {
    pub renderer: String,
    /// Most frames that were rendered ahead; 0: none.
    pub frames_ahead: u8,
    /// Frames of animations that were shown.
    pub frames: usize,
    /// Number of `frames` that were rendered ahead.
    pub rendered_ahead: usize,
    /// Refreshes in which something moved and nothing new was shown.
    pub drops: u64,
    /// `drops` divided by `frames`.
    pub drops_per_frame: f64,
    /// Share of drops avoided, from 0 to 1, against the first run.
    pub drop_reduction: f64,
    /// The longest time between two frames while something moved.
    pub longest_freeze_ms: f64,
    /// Time to render a frame.
    pub compose_ms: Option<Quantiles>,
    /// CPU time of the compositor, including all its threads and the renderer's, for each shown frame of an animation.
    pub compositor_cpu_ms_per_frame: f64,
    /// CPU time of the client for each shown frame of an animation.
    pub client_cpu_ms_per_frame: f64,
}

impl AnimationRun {
    /// Counts the frames of a log, which is in the order of creation.
    pub(super) fn count(records: &[FrameRecord]) -> AnimationRun {
        let mut run = AnimationRun::default();
        let (mut costs, mut freeze) = (Vec::new(), Span::ZERO);
        // The previous shown frame. An empty frame resets it, because the time without changes after it is no drop.
        let mut before: Option<FrameRecord> = None;
        for record in records {
            match record.outcome {
                FrameOutcome::Empty => before = None,
                FrameOutcome::Presented => {
                    if record.need == RepaintReason::Animation {
                        run.frames += 1;
                        run.rendered_ahead += usize::from(record.pacing == Pacing::Ahead);
                        costs.push(record.compose_cost);
                        let last = before.as_ref();
                        run.drops += last.and_then(|last| drops(last, record)).unwrap_or(0);
                        let gap = last.and_then(|last| Some(record.presented? - last.presented?));
                        freeze = freeze.max(gap.unwrap_or_default());
                    }
                    before = Some(*record);
                }
                FrameOutcome::Pending | FrameOutcome::Lost(_) => {}
            }
        }
        run.drops_per_frame = run.drops as f64 / run.frames.max(1) as f64;
        run.longest_freeze_ms = freeze.as_millis_f64();
        run.compose_ms = Quantiles::of(costs);
        run
    }
}

fn drops(before: &FrameRecord, record: &FrameRecord) -> Option<u64> {
    Some(record.sequence?.saturating_sub(before.sequence?).saturating_sub(1))
}

#[cfg(test)]
mod tests {
    use super::*;
    use upbeat_timing::time::Instant;

    fn record(sequence: u64, need: RepaintReason, outcome: FrameOutcome) -> FrameRecord {
        let is_shown = outcome == FrameOutcome::Presented;
        FrameRecord {
            need,
            outcome,
            sequence: is_shown.then_some(sequence),
            presented: is_shown.then_some(Instant::from_nanos(sequence * 10_000_000)),
            ..FrameRecord::default()
        }
    }

    #[test]
    fn refreshes_without_a_frame_are_drops_while_something_moves_and_rest_is_none() {
        let (shell, animation, shown) = (RepaintReason::Shell, RepaintReason::Animation, FrameOutcome::Presented);
        let run = AnimationRun::count(&[
            record(10, shell, shown),
            record(11, animation, shown),
            record(14, animation, shown),
            // The scene rests, then an animation starts again.
            record(90, shell, shown),
            record(92, animation, shown),
            record(0, shell, FrameOutcome::Empty),
            record(200, animation, shown),
        ]);
        assert_eq!((run.frames, run.drops, run.longest_freeze_ms), (4, 3, 30.0));
    }
}

//! Figures of a run: how soon frames answer to presses. Pure.

use serde::{Deserialize, Serialize};

use super::device::PressKind;
use crate::statistics::Quantiles;
use upbeat_timing::time::{Instant, Span};

/// A frame that was shown.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct AnsweringFrame {
    /// Start of the scan-out that showed it.
    pub(super) at: Instant,
    /// Number of presses that it answers to.
    pub(super) answers: usize,
}

/// The figures of one run.
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
pub struct InterruptRun {
    /// `just-in-time`, `superseded`, `flushed`, `queued`.
    pub policy: String,
    pub press: PressKind,
    /// Most frames in flight.
    pub ahead: u32,
    /// Time to draw a frame.
    pub cost_ms: f64,
    /// Time to draw the first frame after a press.
    pub answer_cost_ms: f64,
    /// Number of presses with an answer.
    pub presses: usize,
    /// Frames in flight when a press arrived: the median.
    pub under_way: usize,
    /// From the press to the light of the first frame that answers to it.
    pub input_to_light_ms: Option<Quantiles>,
    /// Difference of the median to the first run, which is just in time.
    pub p50_more_ms: f64,
    /// Difference of the maximum to the first run.
    pub max_more_ms: f64,
    /// Frames shown between a press and its answer, for each press.
    pub stale_per_press: f64,
    /// Refreshes between a press and its answer that showed nothing new, for each press.
    pub drops_per_press: f64,
    /// CPU time of the compositor for each shown frame.
    pub compositor_cpu_ms_per_frame: Option<f64>,
    /// CPU time of the client for each shown frame.
    pub client_cpu_ms_per_frame: Option<f64>,
}

impl InterruptRun {
    /// Finds the answer to every press but the first `uncounted`, on a display with this interval. `shown` must be in
    /// the order of time.
    pub(super) fn count(
        presses: &[Instant],
        uncounted: usize,
        shown: &[AnsweringFrame],
        interval: Span,
    ) -> InterruptRun {
        let (mut lights, mut stale, mut drops) = (Vec::new(), 0, 0);
        for (index, press) in presses.iter().enumerate().skip(uncounted) {
            let Some(answer) = shown.iter().position(|frame| frame.answers > index) else { break };
            let before = shown.partition_point(|frame| frame.at <= *press);
            lights.push(shown[answer].at - *press);
            stale += answer.saturating_sub(before);
            let seen = &shown[before.saturating_sub(1)..=answer];
            drops += seen.windows(2).map(|pair| refreshes(pair[1].at - pair[0].at, interval) - 1).sum::<i64>();
        }
        let each = |count: f64| count / lights.len().max(1) as f64;
        InterruptRun {
            presses: lights.len(),
            stale_per_press: each(stale as f64),
            drops_per_press: each(drops as f64),
            input_to_light_ms: Quantiles::of(lights),
            ..InterruptRun::default()
        }
    }
}

/// Number of refreshes in a gap, rounded, at least one.
fn refreshes(gap: Span, interval: Span) -> i64 {
    let interval = interval.as_nanos().max(1);
    ((gap.as_nanos() + interval / 2) / interval).max(1)
}

#[cfg(test)]
mod tests {
    use super::*;

    const INTERVAL: Span = Span::from_millis(10);

    fn at(millis: u64) -> Instant {
        Instant::from_nanos(millis * 1_000_000)
    }

    fn shown(frames: &[(u64, usize)]) -> Vec<AnsweringFrame> {
        frames.iter().map(|&(millis, answers)| AnsweringFrame { at: at(millis), answers }).collect()
    }

    #[test]
    fn the_answer_is_the_first_frame_drawn_after_the_press() {
        let run = InterruptRun::count(
            &[at(12), at(55)],
            0,
            &shown(&[(10, 0), (20, 0), (30, 1), (40, 1), (50, 1), (70, 2)]),
            INTERVAL,
        );
        assert_eq!(run.presses, 2);
        assert_eq!(run.input_to_light_ms.map(|of| (of.p50, of.max)), Some((15.0, 18.0)));
        assert_eq!((run.stale_per_press, run.drops_per_press), (0.5, 0.5));
    }

    #[test]
    fn a_press_that_was_not_answered_is_not_counted() {
        let run = InterruptRun::count(&[at(12), at(55)], 0, &shown(&[(10, 0), (20, 1)]), INTERVAL);
        assert_eq!((run.presses, run.drops_per_press), (1, 0.0));
        let second = InterruptRun::count(&[at(2), at(12)], 1, &shown(&[(5, 1), (25, 2)]), INTERVAL);
        assert_eq!(second.input_to_light_ms.map(|of| of.max), Some(13.0));
        assert!(InterruptRun::count(&[at(12)], 0, &[], INTERVAL).input_to_light_ms.is_none());
    }
}

//! The game's two stages: record, then render. Pure.
//!
//! ```text
//!  permission ─► [record] ─► recorded ─► [render, needs a buffer] ─► commit
//! ```

use std::collections::VecDeque;

use upbeat_lab::load::FrameCost;
use upbeat_timing::time::{Instant, Span};

/// A target or a callback: allows the game to begin a frame.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct FramePermission {
    /// The target's id; `None` where callbacks pace the game.
    pub(super) target: Option<u64>,
    /// Content time of the frame.
    pub(super) content_time: Instant,
    /// When the event arrived.
    pub(super) arrived: Instant,
}

/// A frame in the pipeline.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct PipelineFrame {
    pub(super) number: u32,
    pub(super) permission: FramePermission,
    /// When recording began.
    pub(super) started: Instant,
    cost: FrameCost,
    /// When its current stage ends.
    until: Instant,
}

/// The stages and the recorded frames between them.
#[derive(Debug, Default)]
pub(super) struct GamePipeline {
    recording: Option<PipelineFrame>,
    recorded: VecDeque<PipelineFrame>,
    rendering: Option<PipelineFrame>,
    record_free: Instant,
    render_free: Instant,
    frames: u32,
}

impl GamePipeline {
    pub(super) fn is_recorder_free(&self) -> bool {
        self.recording.is_none()
    }

    /// Whether a recorded frame waits for the renderer.
    pub(super) fn has_recorded(&self) -> bool {
        !self.recorded.is_empty()
    }

    pub(super) fn is_empty(&self) -> bool {
        self.recording.is_none() && self.recorded.is_empty() && self.rendering.is_none()
    }

    /// Number of frames in all stages.
    pub(super) fn len(&self) -> usize {
        self.recorded.len() + usize::from(self.recording.is_some()) + usize::from(self.rendering.is_some())
    }

    /// Number of frames for the target `first` or a later target.
    pub(super) fn drawn_for(&self, first: u64) -> usize {
        let frames = self.recording.iter().chain(&self.recorded).chain(&self.rendering);
        frames.filter(|frame| frame.permission.target.is_some_and(|target| target >= first)).count()
    }

    /// Begins a frame. A free stage begins at the arrival of the permission, so that a late wake-up of the process
    /// costs nothing.
    pub(super) fn begin(&mut self, permission: FramePermission, cost: FrameCost) {
        let started = permission.arrived.max(self.record_free);
        self.frames += 1;
        let until = started + cost.record;
        self.recording = Some(PipelineFrame { number: self.frames, permission, started, cost, until });
    }

    /// Advances all frames to `now`. `buffer_free` is the time at which a buffer became free; `None` without a free
    /// buffer. Returns a finished frame; the caller repeats the call until it returns `None`.
    pub(super) fn advance(&mut self, now: Instant, buffer_free: Option<Instant>) -> Option<PipelineFrame> {
        if let Some(frame) = self.recording.take_if(|frame| frame.until <= now) {
            self.record_free = frame.until;
            self.recorded.push_back(frame);
        }
        if let Some(frame) = self.rendering.take_if(|frame| frame.until <= now) {
            self.render_free = frame.until;
            return Some(frame);
        }
        if self.rendering.is_none()
            && let Some(buffer_free) = buffer_free
            && let Some(mut frame) = self.recorded.pop_front()
        {
            let start = frame.until.max(self.render_free).max(buffer_free);
            frame.until = start + frame.cost.render;
            self.rendering = Some(frame);
            return self.advance(now, Some(buffer_free));
        }
        None
    }

    /// When the next stage ends.
    pub(super) fn next_end(&self) -> Option<Instant> {
        self.recording.iter().chain(&self.rendering).map(|frame| frame.until).min()
    }

    /// Least time of all frames, for a time limit.
    pub(super) fn total(costs: &[FrameCost]) -> Span {
        costs.iter().map(|cost| cost.record.max(cost.render)).sum()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn at(millis: u64) -> Instant {
        Instant::from_nanos(millis * 1_000_000)
    }

    fn permission(given: u64) -> FramePermission {
        FramePermission { target: None, content_time: at(0), arrived: at(given) }
    }

    const COST: FrameCost = FrameCost { record: Span::from_millis(4), render: Span::from_millis(6) };

    #[test]
    fn the_stages_overlap_and_waking_late_costs_nothing() {
        let mut pipeline = GamePipeline::default();
        pipeline.begin(permission(0), COST);
        assert_eq!(pipeline.next_end(), Some(at(4)));
        // A late call: both stages have advanced meanwhile.
        assert_eq!(pipeline.advance(at(9), Some(at(0))), None);
        pipeline.begin(permission(0), COST);
        assert_eq!(pipeline.next_end(), Some(at(8)));
        let first = pipeline.advance(at(10), Some(at(0))).unwrap();
        assert_eq!((first.number, first.started), (1, at(0)));
        assert_eq!(pipeline.advance(at(15), Some(at(0))), None);
        let second = pipeline.advance(at(16), Some(at(0))).unwrap();
        assert_eq!((second.number, second.started), (2, at(4)));
        assert!(pipeline.is_empty());
    }

    #[test]
    fn a_recorded_frame_waits_for_a_buffer() {
        let mut pipeline = GamePipeline::default();
        pipeline.begin(permission(0), COST);
        assert_eq!(pipeline.advance(at(20), None), None);
        assert!(pipeline.has_recorded() && pipeline.next_end().is_none());
        assert_eq!(pipeline.advance(at(20), Some(at(20))), None);
        assert_eq!(pipeline.next_end(), Some(at(26)));
    }
}

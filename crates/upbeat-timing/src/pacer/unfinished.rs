//! Frames that were committed before a GPU had drawn them: their cost is known when their fences signal.
//!
//! ```text
//!   callback ── CPU ──► commit ── GPU ──► finished
//!      │◄───────────── cost ────────────────►│
//! ```
//!
//! A frame may consist of several updates: of a window and its subsurfaces. It is finished when all of them are, in any
//! order.
//!
//! Both stages lie between callback and latch. In a row of frames they overlap: while the GPU draws one frame, the CPU
//! works on the next. So if each stage fits into a refresh, but not both together, a client still makes all of its
//! frames with a second period of slack.

use super::{AnswerCost, OpenCallback, Pacer};
use crate::id::UpdateId;
use crate::output::OutputMachine;
use crate::target::RefreshIndex;
use crate::time::{Instant, Span};

/// Frames of a client that a GPU may draw at a time: waiting frames, and one more. Forgotten frames teach nothing.
const MOST: usize = 4;
/// Surfaces of one frame that are waited for: a window, a video in it, and overlays. The cost of further surfaces is
/// not measured.
const MOST_PARTS: usize = 4;

/// The updates of one frame, of different surfaces, that a GPU draws.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct UnfinishedParts {
    updates: [Option<UpdateId>; MOST_PARTS],
    /// When the last finished update was done.
    finished: Option<Instant>,
}

impl UnfinishedParts {
    /// Adds an update. It replaces an earlier update of the same surface.
    pub fn add(&mut self, update: UpdateId) {
        let same = self.updates.iter().position(|known| known.is_some_and(|known| known.surface == update.surface));
        if let Some(slot) = same.or_else(|| self.updates.iter().position(Option::is_none)) {
            self.updates[slot] = Some(update);
        }
    }

    /// `update` was done at `at`. Returns whether it is a part of this frame.
    pub fn finish(&mut self, update: UpdateId, at: Instant) -> bool {
        let Some(part) = self.updates.iter_mut().find(|part| **part == Some(update)) else { return false };
        *part = None;
        self.finished = self.finished.max(Some(at));
        true
    }

    /// Whether all updates are done.
    pub fn are_done(&self) -> bool {
        self.updates.iter().all(Option::is_none)
    }
}

/// A frame that was committed and is not finished.
#[derive(Clone, Copy, Debug)]
pub(super) struct UnfinishedFrame {
    pub parts: UnfinishedParts,
    /// The callback that the frame answers.
    pub drawing: OpenCallback,
    pub committed: Instant,
    /// The cost up to the commit.
    pub cost: AnswerCost,
}

impl UnfinishedFrame {
    /// The callback, and the cost of both stages, once all parts are done. `deadline`: when they had to be done.
    pub fn finished(self, deadline: impl Fn(OpenCallback) -> Instant) -> (OpenCallback, AnswerCost) {
        // A fence that had signalled before it was checked counts as finished at the commit.
        let at = self.parts.finished.map_or(self.committed, |at| at.max(self.committed));
        let gpu = at - self.committed;
        let AnswerCost { wall, .. } = self.cost;
        (self.drawing, AnswerCost { wall: wall + gpu, gpu, overshoot: at - deadline(self.drawing), ..self.cost })
    }
}

/// A client's unfinished frames; the oldest is forgotten first.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct UnfinishedFrames {
    frames: [Option<UnfinishedFrame>; MOST],
    next: usize,
}

impl UnfinishedFrames {
    pub fn push(&mut self, frame: UnfinishedFrame) {
        self.frames[self.next] = Some(frame);
        self.next = (self.next + 1) % MOST;
    }

    /// `update` was done at `at`. Removes and returns the frame if this was its last part.
    pub fn take(&mut self, update: UpdateId, at: Instant) -> Option<UnfinishedFrame> {
        let is_in = |frame: &mut UnfinishedFrame| frame.parts.finish(update, at);
        let slot = self.frames.iter_mut().find_map(|slot| slot.as_mut().is_some_and(is_in).then_some(slot))?;
        slot.take_if(|frame| frame.parts.are_done())
    }

    pub fn iter(&self) -> impl Iterator<Item = &UnfinishedFrame> {
        self.frames.iter().flatten()
    }

    pub fn clear(&mut self) {
        *self = UnfinishedFrames::default();
    }
}

impl Pacer {
    /// New content arrived that does not complete the answer, because the client still draws its other surfaces.
    /// A GPU draws `unfinished`.
    pub fn committed_part(&mut self, unfinished: UpdateId) {
        self.parts.add(unfinished);
    }

    /// A GPU has finished drawing `update` at `at`. Returns the target and cost of the frame if it answered a
    /// callback and this was its last part.
    pub fn finished<T>(
        &mut self,
        update: UpdateId,
        at: Instant,
        output: &OutputMachine<T>,
    ) -> Option<(RefreshIndex, Span)> {
        if self.parts.finish(update, at) {
            return None;
        }
        let frame = self.unfinished.take(update, at)?;
        Some(self.learn_finished(frame, output))
    }

    pub(super) fn learn_finished<T>(
        &mut self,
        frame: UnfinishedFrame,
        output: &OutputMachine<T>,
    ) -> (RefreshIndex, Span) {
        let (drawing, cost) = frame.finished(|drawing| self.deadline(drawing.target, output));
        self.learn(drawing, cost, output.vsync());
        self.choose_panel_cost(output.vsync(), output.vsync().interval() - output.compose_typical());
        (drawing.target, cost.wall)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::id::SurfaceId;

    #[test]
    fn frame_is_finished_with_its_last_part_and_replaced_updates_are_not_waited_for() {
        let update = |surface, number| UpdateId { surface: SurfaceId(surface), number };
        let at = Instant::from_nanos;
        let mut parts = UnfinishedParts::default();
        [update(1, 1), update(2, 1), update(1, 2)].into_iter().for_each(|part| parts.add(part));
        assert!(!parts.finish(update(1, 1), at(9)), "it was replaced");
        assert!(parts.finish(update(2, 1), at(5)) && !parts.are_done());
        assert!(parts.finish(update(1, 2), at(3)) && parts.are_done());
        assert_eq!(parts.finished, Some(at(5)));
        (1..9).for_each(|surface| parts.add(update(surface, 7)));
        assert_eq!(parts.updates.iter().flatten().count(), MOST_PARTS);
    }
}

//! Frames that were committed before a device had drawn them: what they cost is known when their fences signal.
//!
//! ```text
//!   callback ── CPU ──► commit ── GPU ──► finished
//!      │◄───────────── cost ────────────────►│
//! ```
//!
//! Both stages lie between callback and latch. In a row of frames they overlap: while a device draws one, the CPU is at the
//! next, so that a client whose stages together do not fit into a refresh, but each for itself, makes all of its frames
//! with a second period of slack.

use super::{Cost, OpenCallback};
use crate::time::Instant;
use crate::timing::id::UpdateId;

/// Frames of a client that a device may be drawing at a time: as many as wait, and one. Those that are forgotten teach nothing.
const MOST: usize = 4;

/// A frame that was committed and is not finished.
#[derive(Clone, Copy, Debug)]
pub(super) struct Unfinished {
    pub update: UpdateId,
    /// The callback that it answers.
    pub drawing: OpenCallback,
    pub committed: Instant,
    /// What is known of its cost by then.
    pub cost: Cost,
}

impl Unfinished {
    /// The callback, and the cost of both stages, where it was finished at `at`. `deadline`: when it had to be.
    pub fn finished(self, at: Instant, deadline: impl Fn(OpenCallback) -> Instant) -> (OpenCallback, Cost) {
        // What was finished before it was asked about says that it was there at the commit.
        let at = at.max(self.committed);
        let gpu = at - self.committed;
        let Cost { wall, .. } = self.cost;
        (self.drawing, Cost { wall: wall + gpu, gpu, overshoot: at - deadline(self.drawing), ..self.cost })
    }
}

/// A client's frames of this kind, the oldest first to be forgotten.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct UnfinishedFrames {
    frames: [Option<Unfinished>; MOST],
    next: usize,
}

impl UnfinishedFrames {
    pub fn push(&mut self, frame: Unfinished) {
        self.frames[self.next] = Some(frame);
        self.next = (self.next + 1) % MOST;
    }

    /// Takes out the frame of `update`.
    pub fn take(&mut self, update: UpdateId) -> Option<Unfinished> {
        self.frames.iter_mut().find(|frame| frame.is_some_and(|frame| frame.update == update))?.take()
    }

    pub fn iter(&self) -> impl Iterator<Item = &Unfinished> {
        self.frames.iter().flatten()
    }

    pub fn clear(&mut self) {
        *self = UnfinishedFrames::default();
    }
}

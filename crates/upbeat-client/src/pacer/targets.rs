//! Targets on a compositor that sends them. Pure.
//!
//! ```text
//!   ask ──► owed ──(target)──► sent ──take──► drawing ──bind──► committed ──(presented, discarded)──► over
//!             ▲                  │               │
//!             └───(revoked)──────┘               │  may still be bound
//!             └───(revoked: one comes in its place)
//! ```

use std::collections::VecDeque;

use super::{FrameTarget, NotHeld, Outcome, TargetId};

/// How many frames may be drawn at once before the oldest is taken for given up: more than any pipeline is deep.
const MOST_DRAWING: usize = 64;

/// A target that a frame is being drawn for.
#[derive(Clone, Copy, Debug)]
struct BegunFrame {
    target: FrameTarget,
    /// If it is revoked, another comes in its place: not if it was revoked already, nor if a later one was bound.
    is_live: bool,
    /// Its frame is not known to be given up.
    is_begun: bool,
}

/// The targets of a surface.
#[derive(Debug, Default)]
pub(super) struct Targets {
    /// Targets that will come.
    owed: usize,
    sent: VecDeque<FrameTarget>,
    drawing: VecDeque<BegunFrame>,
    committed: VecDeque<FrameTarget>,
}

impl Targets {
    /// Another frame is wanted. Returns whether a target has to be asked for.
    pub(super) fn request(&mut self) -> bool {
        let asks = self.owed == 0 && self.sent.is_empty();
        self.owed += usize::from(asks);
        asks
    }

    /// A target came.
    pub(super) fn target(&mut self, target: FrameTarget) {
        // One that nobody knew to be owed: its predecessor was revoked while the commit bound to it was on its way.
        self.owed = self.owed.saturating_sub(1);
        self.sent.push_back(target);
    }

    /// The next target to draw for, while fewer frames than `limit` are being drawn. The compositor cannot know of those
    /// that are drawn for revoked targets: if each began another, more and more would be under way.
    pub(super) fn take(&mut self, limit: usize) -> Option<FrameTarget> {
        if self.drawing.iter().filter(|frame| frame.is_begun).count() >= limit {
            return None;
        }
        let target = self.sent.pop_front()?;
        if self.drawing.len() == MOST_DRAWING {
            self.drawing.pop_front();
        }
        self.drawing.push_back(BegunFrame { target, is_live: true, is_begun: true });
        Some(target)
    }

    /// The next commit is the frame for this target.
    pub(super) fn bind(&mut self, id: TargetId) -> Result<(), NotHeld> {
        let at = self.drawing.iter().position(|frame| frame.target.id == id).ok_or(NotHeld(id))?;
        self.committed.extend(self.drawing.remove(at).map(|frame| frame.target));
        for skipped in self.drawing.iter_mut().filter(|frame| frame.target.id < id) {
            (skipped.is_live, skipped.is_begun) = (false, false);
        }
        Ok(())
    }

    /// Frames for targets from `first` on are given up.
    pub(super) fn give_up(&mut self, first: TargetId) {
        self.drawing.iter_mut().filter(|frame| frame.target.id >= first).for_each(|frame| frame.is_begun = false);
    }

    /// Targets from `first` on do not hold any more. One comes in the place of each that was not bound.
    pub(super) fn revoked(&mut self, first: TargetId) {
        let before = self.sent.len();
        self.sent.retain(|target| target.id < first);
        self.owed += before - self.sent.len();
        for frame in self.drawing.iter_mut().filter(|frame| frame.target.id >= first) {
            self.owed += usize::from(std::mem::replace(&mut frame.is_live, false));
        }
    }

    /// The frame is over. `None`: there is no such frame.
    pub(super) fn ended(&mut self, id: TargetId, outcome: Outcome) -> Option<(FrameTarget, Outcome)> {
        let at = self.committed.iter().position(|target| target.id == id)?;
        self.committed.remove(at).map(|target| (target, outcome))
    }

    /// Whether nothing is left that something has to happen to.
    #[cfg(test)]
    pub(super) fn is_idle(&self) -> bool {
        self.owed == 0 && self.sent.is_empty() && self.drawing.is_empty() && self.committed.is_empty()
    }
}

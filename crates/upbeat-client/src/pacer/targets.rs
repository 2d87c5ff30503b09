//! The targets of a surface on a compositor that sends them. Pure.
//!
//! ```text
//!   request ──► owed ──(target)──► sent ──take──► drawing ──bind──► committed ──(presented, discarded)──► over
//!                 ▲                  │               │
//!                 └───(revoked)──────┘               │  may still be bound
//!                 └───(revoked: a new target replaces it)
//! ```

use std::collections::VecDeque;

use super::{FrameTarget, NotHeld, TargetId, TargetOutcome};

/// If more frames are being drawn, the oldest counts as given up: no pipeline is this deep.
const MOST_DRAWING: usize = 64;

/// A target that a frame is being drawn for.
#[derive(Clone, Copy, Debug)]
struct DrawingFrame {
    target: FrameTarget,
    /// Whether a revocation would replace this target: not if it was revoked already, or a later target was bound.
    is_replaceable: bool,
    /// Whether its frame counts as being drawn: it is not known to be given up.
    is_begun: bool,
}

/// The targets of a surface.
#[derive(Debug, Default)]
pub(super) struct SentTargets {
    /// Number of targets that the compositor will send without another request.
    owed: usize,
    sent: VecDeque<FrameTarget>,
    drawing: VecDeque<DrawingFrame>,
    committed: VecDeque<FrameTarget>,
}

impl SentTargets {
    /// Asks for another frame. Returns whether a request has to be sent.
    pub(super) fn request(&mut self) -> bool {
        let asks = self.owed == 0 && self.sent.is_empty();
        self.owed += usize::from(asks);
        asks
    }

    /// Notes that the compositor has sent a target.
    pub(super) fn add_target(&mut self, target: FrameTarget) {
        // Saturating: a target may come that was not counted, if its predecessor was revoked while the commit
        // bound to it was in flight.
        self.owed = self.owed.saturating_sub(1);
        self.sent.push_back(target);
    }

    /// The next target to draw for, while fewer than `limit` frames are being drawn. The limit also counts frames
    /// for revoked targets, which the compositor does not know of: without this, each revocation would start
    /// another frame.
    pub(super) fn take_target(&mut self, limit: usize) -> Option<FrameTarget> {
        if self.drawing.iter().filter(|frame| frame.is_begun).count() >= limit {
            return None;
        }
        let target = self.sent.pop_front()?;
        if self.drawing.len() == MOST_DRAWING {
            self.drawing.pop_front();
        }
        self.drawing.push_back(DrawingFrame { target, is_replaceable: true, is_begun: true });
        Some(target)
    }

    /// Declares the next commit to be the frame for this target.
    pub(super) fn bind(&mut self, id: TargetId) -> Result<(), NotHeld> {
        let at = self.drawing.iter().position(|frame| frame.target.id == id).ok_or(NotHeld(id))?;
        self.committed.extend(self.drawing.remove(at).map(|frame| frame.target));
        for skipped in self.drawing.iter_mut().filter(|frame| frame.target.id < id) {
            (skipped.is_replaceable, skipped.is_begun) = (false, false);
        }
        Ok(())
    }

    /// Gives up the frames for targets from `first` on.
    pub(super) fn give_up(&mut self, first: TargetId) {
        self.drawing.iter_mut().filter(|frame| frame.target.id >= first).for_each(|frame| frame.is_begun = false);
    }

    /// Revokes targets from `first` on. A new target replaces each that was not bound.
    pub(super) fn revoked(&mut self, first: TargetId) {
        let before = self.sent.len();
        self.sent.retain(|target| target.id < first);
        self.owed += before - self.sent.len();
        for frame in self.drawing.iter_mut().filter(|frame| frame.target.id >= first) {
            self.owed += usize::from(std::mem::replace(&mut frame.is_replaceable, false));
        }
    }

    /// Notes that a frame was shown or discarded. `None`: there is no such frame.
    pub(super) fn ended(&mut self, id: TargetId, outcome: TargetOutcome) -> Option<(FrameTarget, TargetOutcome)> {
        let at = self.committed.iter().position(|target| target.id == id)?;
        self.committed.remove(at).map(|target| (target, outcome))
    }

    /// Whether no target is owed or in use.
    #[cfg(test)]
    pub(super) fn is_idle(&self) -> bool {
        self.owed == 0 && self.sent.is_empty() && self.drawing.is_empty() && self.committed.is_empty()
    }
}

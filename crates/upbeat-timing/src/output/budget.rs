//! How much of a refresh a frame gets, and the last moments at which a latch is still useful.
//!
//! ```text
//!                    latch_at(k)                            submit_by(k)
//!   composed             │▓▓▓▓▓▓▓▓▓▓▓▓▓▓▓▓▓▓▓▓▓▓▓▓▓▓▓▓▓▓▓▓▓▓▓▓▓▓▓▓▓▓│
//!   planes alone, and no client draws                    │▓▓▓▓▓▓│
//! ```
//!
//! The deadline published to clients is always the first, even if the latch is planned later.

use super::OutputMachine;
use crate::target::RefreshIndex;
use crate::time::{Instant, Span};

impl<T> OutputMachine<T> {
    /// The cost of composing at the output's miss budget, from the scheduled latch to the return of submit.
    pub fn compose_budget(&self) -> Span {
        self.compose.budget(self.vsync.interval())
    }

    /// The typical cost of composing.
    pub fn compose_typical(&self) -> Span {
        self.compose.typical().min(self.compose_budget())
    }

    /// Sets whether the frame that is composed now contains an animation, because the cost of such frames is
    /// learned separately.
    pub const fn set_motion(&mut self, now: bool) {
        self.compose.set_motion(now);
    }

    /// The last useful moment of a latch for `index`: the typical cost of composing before the deadline, without
    /// the margin.
    pub fn last_latch(&self, index: RefreshIndex) -> Instant {
        (self.submit_by(index) - self.compose_typical()).max(self.latch_at(index))
    }

    /// Like [`last_latch`](Self::last_latch), for the frame that is needed now, which may only move planes. Without
    /// the margin, since that covers late wake-ups.
    pub fn last_useful_latch(&self, index: RefreshIndex) -> Instant {
        if !self.only_moves_planes() {
            return self.last_latch(index);
        }
        (self.submit_by(index) - self.compose.planes_typical()).max(self.planned_latch(index))
    }

    /// When the frame that is needed now is latched for `index`.
    pub(super) fn planned_latch(&self, index: RefreshIndex) -> Instant {
        let latch_at = self.latch_at(index);
        if !self.only_moves_planes() {
            return latch_at;
        }
        (self.submit_by(index) - self.compose.planes_budget(self.vsync.interval())).max(latch_at)
    }

    /// Whether the needed frame only moves planes and is latched later for that reason.
    fn only_moves_planes(&self) -> bool {
        let waits_for_less = self.repaint_reason.is_some() && self.due.is_none() && !self.composes;
        waits_for_less && self.latches_planes_late()
    }
}

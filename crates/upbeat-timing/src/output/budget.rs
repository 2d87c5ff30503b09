//! How much of a refresh a frame is given, and so the last moments at which it can be begun.
//!
//! ```text
//!                    latch_at(k)                            submit_by(k)
//!   composed             │▓▓▓▓▓▓▓▓▓▓▓▓▓▓▓▓▓▓▓▓▓▓▓▓▓▓▓▓▓▓▓▓▓▓▓▓▓▓▓▓▓▓│
//!   planes alone, and nobody draws                       │▓▓▓▓▓▓│
//! ```
//!
//! Clients are promised the first of these, whatever is planned.

use super::OutputMachine;
use crate::target::RefreshIndex;
use crate::time::{Instant, Span};

impl<T> OutputMachine<T> {
    /// What composing costs at the output's miss budget, from the scheduled latch to the return of submit.
    pub fn compose_budget(&self) -> Span {
        self.compose.budget(self.vsync.interval())
    }

    /// What composing usually costs.
    pub fn compose_typical(&self) -> Span {
        self.compose.typical().min(self.compose_budget())
    }

    /// Whether the frame that is composed now shows something that moves by itself: such frames cost something else.
    pub const fn set_motion(&mut self, now: bool) {
        self.compose.moves(now);
    }

    /// The last moment at which a latch for `index` is worth trying: composing as usual, without the margin.
    pub fn last_latch(&self, index: RefreshIndex) -> Instant {
        (self.submit_by(index) - self.compose_typical()).max(self.latch_at(index))
    }

    /// The same for what waits now, which may be less than a composed frame: without the margin, too, which is for whoever
    /// wakes late.
    pub fn last_chance(&self, index: RefreshIndex) -> Instant {
        if !self.only_moves_planes() {
            return self.last_latch(index);
        }
        (self.submit_by(index) - self.compose.planes_typical()).max(self.planned_latch(index))
    }

    /// When what waits now is latched for `index`.
    pub(super) fn planned_latch(&self, index: RefreshIndex) -> Instant {
        let latch_at = self.latch_at(index);
        if !self.only_moves_planes() {
            return latch_at;
        }
        (self.submit_by(index) - self.compose.planes_budget(self.vsync.interval())).max(latch_at)
    }

    /// Whether what waits moves planes and nothing else, and is latched later for it.
    fn only_moves_planes(&self) -> bool {
        let waits_for_less = self.need.is_some() && self.due.is_none() && !self.composes;
        waits_for_less && self.latches_planes_late()
    }
}

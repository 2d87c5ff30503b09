//! Every decision of an output that depends on whether its rate is fixed or variable, a function for each. State that only a
//! variable rate needs is in `cadence`.
//!
//! ```text
//!                      fixed                                     variable
//!   latch_at           at the miss budget of composing,          as long as composing usually takes:
//!                      not before what was published             there is no deadline to miss
//!   next_index         the first that can be reached in time     the next: it waits for a late frame
//!   submitted frame    for a refresh that shows nothing yet      for its target
//!   cursor alone       shortly before the deadline,              with the frame that a client draws
//!                      unless a client draws
//!   frames held        as many as the display takes              one
//!   in place           ahead of the beam                         not: the next scan-out begins with a frame
//! ```

use super::OutputMachine;
use crate::beam::Beam;
use crate::target::RefreshIndex;
use crate::time::Instant;
use crate::vsync::Rate;

impl<T> OutputMachine<T> {
    /// When content for `index` is chosen, by the latest estimate but not before what was published.
    pub fn latch_at(&self, index: RefreshIndex) -> Instant {
        match self.vsync.rate() {
            Rate::Fixed => self.keep_published(index, self.submit_by(index) - self.compose_budget()),
            Rate::Variable(_) => self.submit_by(index) - self.compose_typical(),
        }
    }

    /// The first refresh that content chosen at `now` can still reach.
    pub fn next_index(&self, now: Instant) -> RefreshIndex {
        let next = self.vsync.at_or_after(now).max(self.latched().next());
        match self.vsync.rate() {
            Rate::Fixed => self.first_in_time(next, now),
            // A late frame scans out when it is ready: there is no refresh that it could miss.
            Rate::Variable(_) => next,
        }
    }

    /// Whether there is a grid, and its phase is not known well enough to wait for a deadline.
    pub(super) fn has_unknown_grid(&self, now: Instant) -> bool {
        match self.vsync.rate() {
            Rate::Fixed => !self.vsync.is_trusted(now),
            Rate::Variable(_) => false,
        }
    }

    /// The refresh that a frame is in flight for which was chosen for `target`, and by when it was to be submitted: `chosen`, as
    /// it was known then.
    pub(super) fn flies_for(&self, target: RefreshIndex, chosen: Instant) -> (RefreshIndex, Instant) {
        match self.vsync.rate() {
            // Something else may have been shown meanwhile, late, in the refresh that this was for.
            Rate::Fixed => (target.max(self.numbers.shown.next()), self.submit_by(target)),
            // The refresh that is expected by now is the one after this.
            Rate::Variable(_) => (target, chosen),
        }
    }

    /// Whether a frame that only moves planes is latched later than one that is composed.
    pub(super) fn latches_planes_late(&self) -> bool {
        match self.vsync.rate() {
            // While a client draws it is not: the client may commit after that later latch was planned, and would be held up.
            Rate::Fixed => !self.drawn_for,
            Rate::Variable(_) => false,
        }
    }

    /// Whether a cursor that moves waits for the frame that a client draws.
    pub(super) fn holds_cursor(&self) -> bool {
        match self.vsync.rate() {
            Rate::Fixed => false,
            // Shown alone, it would leave the panel busy when that frame is there.
            Rate::Variable(_) => self.drawn_for,
        }
    }

    /// How many frames the display may have at once.
    pub(super) fn most_held(&self) -> usize {
        match self.vsync.rate() {
            Rate::Fixed => self.pending,
            Rate::Variable(_) => 1,
        }
    }

    /// How the mode is scanned, where a beam can be met: the moment of the next scan-out is known before its frame is.
    pub(super) fn beam(&self) -> Option<Beam> {
        match self.vsync.rate() {
            Rate::Fixed => self.scan(),
            Rate::Variable(_) => None,
        }
    }
}

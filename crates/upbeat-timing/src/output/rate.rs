//! Every decision of an output that depends on whether its rate is fixed or variable, one function each. State that
//! only a variable rate needs is in `panel_schedule`.
//!
//! ```text
//!                      fixed                                     variable
//!   latch_at           by the miss budget of composing,          by the typical cost of composing:
//!                      not before the published deadline         there is no deadline to miss
//!   next_index         the first that can be reached in time     the next: it waits for a late frame
//!   submitted frame    for a refresh that shows nothing yet      for its target
//!   cursor alone       shortly before the deadline,              with the frame that a client draws or is expected
//!                      unless a client draws                     to commit, unless there is room before it
//!   frames held        as many as the display takes              one
//!   in place           ahead of the beam                         the refresh begins in time for the row (`row_refresh`)
//! ```

use super::OutputMachine;
use crate::beam::Beam;
use crate::target::RefreshIndex;
use crate::time::Instant;
use crate::vsync::RefreshMode;

impl<T> OutputMachine<T> {
    /// When content for `index` is chosen: by the latest estimate, but not before the published deadline.
    pub fn latch_at(&self, index: RefreshIndex) -> Instant {
        match self.vsync.rate() {
            RefreshMode::Fixed => self.keep_published(index, self.submit_by(index) - self.compose_budget()),
            RefreshMode::Variable(_) => self.submit_by(index) - self.compose_typical(),
        }
    }

    /// The first refresh that content chosen at `now` can still reach.
    pub fn next_index(&self, now: Instant) -> RefreshIndex {
        let next = self.vsync.at_or_after(now).max(self.latched().next());
        match self.vsync.rate() {
            RefreshMode::Fixed => self.first_in_time(next, now),
            // A late frame scans out when it is ready: it cannot miss a refresh.
            RefreshMode::Variable(_) => next,
        }
    }

    /// Whether there is a grid, but its phase is not known well enough to wait for a deadline.
    pub(super) fn has_unknown_grid(&self, now: Instant) -> bool {
        match self.vsync.rate() {
            RefreshMode::Fixed => !self.vsync.is_trusted(now),
            RefreshMode::Variable(_) => false,
        }
    }

    /// The refresh and the submission deadline of a frame that was chosen for `target` and is submitted now.
    /// `chosen`: its deadline as known when it was chosen.
    pub(super) fn flight_target(&self, target: RefreshIndex, chosen: Instant) -> (RefreshIndex, Instant) {
        match self.vsync.rate() {
            // A late frame may have taken this frame's refresh meanwhile.
            RefreshMode::Fixed => (target.max(self.refresh_numbers.shown.next()), self.submit_by(target)),
            // The model already expects the following refresh.
            RefreshMode::Variable(_) => (target, chosen),
        }
    }

    /// Whether a frame that only moves planes is latched later than a composed frame.
    pub(super) fn latches_planes_late(&self) -> bool {
        match self.vsync.rate() {
            // Not while a client draws: it may commit after that later latch was planned, and would be delayed.
            RefreshMode::Fixed => !self.client_draws,
            RefreshMode::Variable(_) => false,
        }
    }

    /// Whether a moving cursor waits for another frame.
    pub(super) fn holds_cursor(&self, now: Instant) -> bool {
        match self.vsync.rate() {
            RefreshMode::Fixed => false,
            // Shown alone, it would leave the panel busy when the client's frame arrives.
            RefreshMode::Variable(_) => self.cursor_deadline(now).is_some(),
        }
    }

    /// How many frames the display may have at once.
    pub(super) fn most_held(&self) -> usize {
        match self.vsync.rate() {
            RefreshMode::Fixed => self.pending,
            RefreshMode::Variable(_) => 1,
        }
    }

    /// How the mode is scanned, if the beam can be predicted: the time of the next scan-out must not depend on a frame.
    pub(super) fn beam(&self) -> Option<Beam> {
        match self.vsync.rate() {
            RefreshMode::Fixed => self.scan(),
            RefreshMode::Variable(_) => None,
        }
    }
}

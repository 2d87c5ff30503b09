//! Callbacks for frames that are written in place. The deadline is the moment at which the beam reaches the client's
//! first row, not the latch of the refresh (`upbeat-lab/interaction` does the same).
//!
//! ```text
//!   present(k)            call back          row_deadline(k)     beam
//!       │                    ├─── budget ────────┤─ write ─┤ margin │
//!       └ ready_by(k) lies before: a whole picture would have to be there by then
//! ```

use super::Pacer;
use crate::output::OutputMachine;
use crate::pacing::Pacing;
use crate::target::RefreshIndex;
use crate::time::Instant;

impl Pacer {
    /// Whether the client's rules allow that its frames are written in place; at first they do not.
    pub const fn allow_in_place(&mut self, allowed: bool) {
        self.in_place = allowed;
    }

    /// Whether the client's frames may be written in place. Pacing at the refresh, which serves comparison, excludes
    /// it.
    pub fn may_be_in_place(&self) -> bool {
        self.in_place && !matches!(self.wish.fixed(), Some(Pacing::Vsync | Pacing::VsyncLate))
    }

    /// Says that the next frame is expected to be written in place, from line `line` of the output on; `None`:
    /// shown as a whole picture.
    pub const fn set_in_place_row(&mut self, line: Option<i32>) {
        self.row = line;
    }

    /// The first line of the expected write in place, if any.
    pub const fn in_place_row(&self) -> Option<i32> {
        if self.in_place { self.row } else { None }
    }

    /// The line that determines the deadline. With a second period of slack it is ignored.
    fn near_row(&self) -> Option<i32> {
        self.in_place_row().filter(|_| !self.second_period)
    }

    /// The deadline for the client's frame for `target`.
    pub fn deadline<T>(&self, target: RefreshIndex, output: &OutputMachine<T>) -> Instant {
        self.row_deadline(target, output).unwrap_or_else(|| output.latch_at(target))
    }

    /// The deadline if the frame is written in place.
    pub(super) fn row_deadline<T>(&self, target: RefreshIndex, output: &OutputMachine<T>) -> Option<Instant> {
        output.row_deadline(target, self.near_row()?)
    }

    /// The first refresh that a frame committed at `now` can reach; `otherwise` if it is not written in place.
    pub(super) fn reaches<T>(&self, now: Instant, output: &OutputMachine<T>, otherwise: RefreshIndex) -> RefreshIndex {
        self.near_row().and_then(|line| output.next_row(line, now)).unwrap_or(otherwise)
    }
}

//! A client whose frames are written in place is called back for a row, not for a refresh: it is planned back from the
//! moment at which the beam comes to what it draws (`upbeat-lab/interaction` does the same).
//!
//! ```text
//!   present(k)            call back          row_deadline(k)     beam
//!       │                    ├─── budget ────────┤─ write ─┤ margin │
//!       └ ready_by(k) lies before: a whole picture would have to be there by then
//! ```

use super::Pacer;
use crate::output::OutputMachine;
use crate::target::RefreshIndex;
use crate::time::Instant;

impl Pacer {
    /// Its next frame is expected to be written in place, from line `line` of the output on; `None`: with a whole picture.
    pub const fn set_row(&mut self, line: Option<i32>) {
        self.row = line;
    }

    /// The first line of what it is expected to have written in place.
    pub const fn row(&self) -> Option<i32> {
        self.row
    }

    /// The line that counts: one that is called back two periods ahead has no use for it.
    fn near_row(&self) -> Option<i32> {
        self.row.filter(|_| !self.second_period)
    }

    /// When its frame for `target` has to be there.
    pub fn deadline<T>(&self, target: RefreshIndex, output: &OutputMachine<T>) -> Instant {
        self.row_deadline(target, output).unwrap_or_else(|| output.latch_at(target))
    }

    /// The same where it is written in place.
    pub(super) fn row_deadline<T>(&self, target: RefreshIndex, output: &OutputMachine<T>) -> Option<Instant> {
        output.row_deadline(target, self.near_row()?)
    }

    /// The first refresh that a frame of it can reach that is there at `now`; `otherwise` where it is not written in place.
    pub(super) fn reaches<T>(&self, now: Instant, output: &OutputMachine<T>, otherwise: RefreshIndex) -> RefreshIndex {
        self.near_row().and_then(|line| output.next_row(line, now)).unwrap_or(otherwise)
    }
}

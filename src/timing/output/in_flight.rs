//! Frames that were submitted and are not on screen yet; what a GPU still draws of them.
//!
//! ```text
//!   latch ─► composed, submitted ─ ─ ─ ─ ─ ─ ─ ─ ─ ─ ─► presented
//!      │         the GPU draws ────────► rendered │
//!      └──────────── the frame's cost ──────────┘
//! ```

use super::OutputMachine;
use crate::time::Instant;
use crate::timing::target::RefreshIndex;

/// A frame that was submitted.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct InFlight {
    pub index: RefreshIndex,
    /// When it was complete: submitted, and drawn.
    pub submitted: Instant,
    pub submit_by: Instant,
    /// When its latch was scheduled, if its cost is known only when it is drawn.
    pub unfinished: Option<Instant>,
}

impl OutputMachine {
    /// The oldest frame in flight was drawn at `done`, as its fence says. To be told before it is
    /// [`presented`](Self::presented): a GPU that was late is not the driver's fault.
    pub fn rendered(&mut self, done: Instant) {
        let Some(flight) = self.in_flight.get(0).copied() else { return };
        let complete = flight.submitted.max(done);
        if let Some(scheduled) = flight.unfinished {
            self.compose.observe(complete - scheduled, self.vsync.interval());
        }
        self.in_flight.update(|_| true, |flight| (flight.submitted, flight.unfinished) = (complete, None));
    }
}

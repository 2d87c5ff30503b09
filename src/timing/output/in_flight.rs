//! Frames that were submitted and are not on screen yet: what a GPU still draws of them, and what becomes of them.
//!
//! ```text
//!   latch ─► composed, submitted ─ ─ ─ ─ ─ ─ ─ ─ ─ ─ ─► presented
//!      │         the GPU draws ────────► rendered │
//!      └──────────── the frame's cost ──────────┘
//! ```

use super::OutputMachine;
use crate::time::{Instant, Span};
use crate::timing::target::RefreshIndex;
use crate::timing::vsync::{Observation, VsyncModel};

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

/// What became of a presented frame, for the record.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Outcome {
    /// The refresh that it was made for; `None` if nothing of ours was in flight.
    pub target: Option<RefreshIndex>,
    /// The refresh that showed it.
    pub shown: RefreshIndex,
    /// When. Where the driver's own timestamp is not believed, by the model's grid, but not after it was heard of.
    pub present: Instant,
    /// What the vsync model made of the timestamp.
    pub observation: Observation,
    /// It is the first whose moment is known since the display started its refreshes anew.
    pub found_phase: bool,
    /// How many refreshes too late it was.
    pub late: u64,
    /// How far after `submit_by` it was submitted; negative: that long before.
    pub submit_overshoot: Span,
}

impl InFlight {
    /// How many refreshes passed it by before the one at `light`, where nobody knew when refreshes are: it was in hand in
    /// time for whatever came later than a lead after it was complete, and was not to be shown before its target.
    ///
    /// ```text
    ///   guessed grid  │             target│
    ///   complete            ├── lead ──┤
    ///   real grid        │             :  │    ●      the first that it could reach, and not one late
    /// ```
    pub fn refreshes_waited(self, light: Instant, lead: Span, guess: &VsyncModel) -> u64 {
        let could = guess.present(self.index).max(self.submitted + lead);
        let waited = (light - could).as_nanos() - 1;
        waited.div_euclid(guess.interval().as_nanos()).max(0).unsigned_abs()
    }
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

    /// The scan-out of the oldest frame in flight started.
    pub fn presented(&mut self, time: Instant, sequence_step: Option<u64>, now: Instant) -> Outcome {
        let flight = self.in_flight.pop();
        self.seen(flight, time, sequence_step, now)
    }

    /// The scan-out of a frame started that is none of those in flight.
    pub fn strayed(&mut self, time: Instant, sequence_step: Option<u64>, now: Instant) -> Outcome {
        self.seen(None, time, sequence_step, now)
    }

    fn seen(&mut self, flight: Option<InFlight>, time: Instant, sequence_step: Option<u64>, now: Instant) -> Outcome {
        let found_phase = flight.is_some_and(|flight| {
            let late = flight.refreshes_waited(time, self.submit_lead(), &self.vsync);
            self.vsync.find_phase(RefreshIndex(flight.index.0 + late), time, now)
        });
        let observation = self.vsync.observe(time, sequence_step.filter(|_| !found_phase), now);
        let (shown, present) = match observation {
            Observation::Accepted { index, .. } | Observation::Moved { index } => (index, time),
            Observation::Refused { index, .. } => self.guess_light(index, flight, now),
        };
        let late = flight.map_or(0, |flight| shown.since(flight.index));
        let submit_overshoot = flight.map_or(Span::ZERO, |flight| flight.submitted - flight.submit_by);
        if flight.is_some() && matches!(observation, Observation::Accepted { .. }) {
            self.driver.learn(late > 0 && submit_overshoot <= Span::ZERO);
        }
        Outcome {
            target: flight.map(|flight| flight.index),
            shown,
            present,
            observation,
            found_phase,
            late,
            submit_overshoot,
        }
    }

    /// The likeliest refresh for a frame that was shown at a time that nobody knows, and its time: the one `nearest` to now,
    /// but not before it was submitted. It is on screen by now, wherever the guessed grid has its refreshes: the next light
    /// that is known may come before the next of these.
    fn guess_light(&self, nearest: RefreshIndex, flight: Option<InFlight>, now: Instant) -> (RefreshIndex, Instant) {
        let index = flight.map_or(nearest, |flight| nearest.max(self.vsync.at_or_after(flight.submitted)));
        (index, self.vsync.present(index).min(now))
    }

    /// A frame in flight will never be shown: the `nth`, counted from the oldest.
    pub fn lost(&mut self, nth: usize) {
        let mut position = 0;
        self.in_flight.retain(|_| {
            position += 1;
            position != nth + 1
        });
    }
}

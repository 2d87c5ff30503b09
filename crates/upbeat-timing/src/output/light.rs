//! Frames that were submitted and are not on screen yet: what a GPU still draws of them, and what becomes of them.
//!
//! ```text
//!   latch ─► composed, submitted ─ ─ ─ ─ ─ ─ ─ ─ ─ ─ ─► presented
//!      │         the GPU draws ────────► rendered │
//!      └──────────── the frame's cost ──────────┘
//! ```

use super::OutputMachine;
use crate::frames::{Frame, Stage};
use crate::id::FrameId;
use crate::target::RefreshIndex;
use crate::time::{Instant, Span};
use crate::vsync::{Observation, VsyncModel};

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

/// How many refreshes passed a frame by before the one at `light`, where nobody knew when refreshes are: it was in hand in
/// time for whatever came later than a lead after it was complete, and was not to be shown before its target.
///
/// ```text
///   guessed grid  │             target│
///   complete            ├── lead ──┤
///   real grid        │             :  │    ●      the first that it could reach, and not one late
/// ```
fn refreshes_waited<T>(frame: &Frame<T>, light: Instant, lead: Span, guess: &VsyncModel) -> u64 {
    let could = guess.present(frame.target).max(frame.flight().submitted + lead);
    let waited = (light - could).as_nanos() - 1;
    waited.div_euclid(guess.interval().as_nanos()).max(0).unsigned_abs()
}

impl<T> OutputMachine<T> {
    /// Frame `id`, which is in flight, was drawn at `done`, as its fence says. To be told before it is
    /// [`presented`](Self::presented): a GPU that was late is not the driver's fault.
    pub fn rendered(&mut self, id: FrameId, done: Instant) {
        let Some(scheduled) = self.frames.complete(id, done) else { return };
        let complete = self.frames.get(id).map_or(done, |frame| frame.flight().submitted);
        self.compose.observe(complete - scheduled, self.vsync.interval());
    }

    /// The scan-out of frame `id` started: what that was, and the frame. One that was not in flight, or is none of ours,
    /// says nothing about the driver.
    pub fn presented(
        &mut self,
        id: FrameId,
        time: Instant,
        sequence_step: Option<u64>,
        now: Instant,
    ) -> (Outcome, Option<Frame<T>>) {
        let frame = self.frames.take(id);
        let flight = frame.as_ref().filter(|frame| frame.stage() == Stage::InFlight);
        // What lies off a grid that nobody knew well enough any more is where the grid is.
        self.vsync.doubt(time, now);
        let found_phase = flight.is_some_and(|flight| {
            let late = refreshes_waited(flight, time, self.submit_lead(), &self.vsync);
            self.vsync.find_phase(RefreshIndex(flight.target.0 + late), time, now)
        });
        if let Some(flight) = flight {
            self.vsync.number_next(flight.target);
        }
        let observation = self.vsync.observe(time, sequence_step.filter(|_| !found_phase), now);
        let (shown, present) = match observation {
            Observation::Accepted { index, .. } | Observation::Moved { index } => (index, time),
            Observation::Refused { index, .. } => self.guess_light(index, flight, now),
        };
        self.note_light(present, flight.map(|flight| (flight.target, flight.flight().submitted)));
        let late = flight.map_or(0, |flight| shown.since(flight.target));
        let overshoot = |flight: &Frame<T>| flight.flight().submitted - flight.flight().submit_by;
        let submit_overshoot = flight.map_or(Span::ZERO, overshoot);
        if let (Some(flight), Observation::Accepted { .. }, false) = (flight, observation, found_phase) {
            self.driver.learn(late > 0 && !flight.flight().is_late());
        }
        if found_phase || matches!(observation, Observation::Moved { .. }) {
            self.forget_published();
        }
        self.numbers.shown = self.numbers.shown.max(shown);
        // A refresh that the clock has not reached cannot be spent.
        self.numbers.spent = self.numbers.spent.min(shown.max(self.vsync.at_or_after(now)).next());
        // Whatever is behind a late frame cannot be shown with it.
        self.frames.push_back_to(shown.next());
        let target = flight.map(|flight| flight.target);
        let outcome = Outcome { target, shown, present, observation, found_phase, late, submit_overshoot };
        (outcome, frame)
    }

    /// The likeliest refresh for a frame that was shown at a time that nobody knows, and its time: the one `nearest` to now,
    /// but not before it was submitted. It is on screen by now, wherever the guessed grid has its refreshes: the next light
    /// that is known may come before the next of these.
    fn guess_light(&self, nearest: RefreshIndex, flight: Option<&Frame<T>>, now: Instant) -> (RefreshIndex, Instant) {
        let index = flight.map_or(nearest, |flight| nearest.max(self.vsync.at_or_after(flight.flight().submitted)));
        (index, self.vsync.present(index).min(now))
    }
}

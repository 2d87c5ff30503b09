//! Frames that were submitted and are not on screen yet: completion by the GPU, and presentation.
//!
//! ```text
//!   latch ─► composed, submitted ─ ─ ─ ─ ─ ─ ─ ─ ─ ─ ─► presented
//!      │         the GPU draws ────────► rendered │
//!      └──────────── the frame's cost ──────────┘
//! ```

use super::OutputMachine;
use crate::frames::{FrameStage, QueuedFrame};
use crate::id::FrameId;
use crate::target::RefreshIndex;
use crate::time::{Instant, Span};
use crate::vsync::{TimestampObservation, VsyncModel};

/// How a frame was presented, for the frame record.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct PresentOutcome {
    /// The refresh that the frame was made for; `None` if none of our frames was in flight.
    pub target: Option<RefreshIndex>,
    /// The refresh that showed the frame.
    pub shown: RefreshIndex,
    /// When it was shown. If the driver's timestamp was refused, this is by the model's grid, but not in the future.
    pub present: Instant,
    /// How the vsync model used the timestamp.
    pub observation: TimestampObservation,
    /// This is the first known time of a refresh since the display restarted its refreshes.
    pub found_phase: bool,
    /// How many refreshes too late the frame was shown.
    pub late: u64,
    /// How far after `submit_by` the frame was submitted; negative if before.
    pub submit_overshoot: Span,
}

/// How many refreshes a frame missed before it was shown at `light`, while the phase was unknown. It could have been
/// shown by any refresh that was at least `lead` after its completion and not before its target.
///
/// ```text
///   guessed grid  │             target│
///   complete            ├── lead ──┤
///   real grid        │             :  │    ●      the first refresh that it could reach, so it is not late
/// ```
fn refreshes_waited<T>(frame: &QueuedFrame<T>, light: Instant, lead: Span, guess: &VsyncModel) -> u64 {
    let could = guess.present(frame.target).max(frame.flight().submitted + lead);
    let waited = (light - could).as_nanos() - 1;
    waited.div_euclid(guess.interval().as_nanos()).max(0).unsigned_abs()
}

impl<T> OutputMachine<T> {
    /// A GPU finished frame `id`, which is in flight, at `done`, as its fence says. Call this before
    /// [`presented`](Self::presented), so that a late GPU is not blamed on the driver.
    pub fn mark_rendered(&mut self, id: FrameId, done: Instant) {
        let Some(scheduled) = self.frames.mark_complete(id, done) else { return };
        let complete = self.frames.get(id).map_or(done, |frame| frame.flight().submitted);
        self.compose.observe(complete - scheduled, self.vsync.interval());
    }

    /// The scan-out of frame `id` started. Returns the outcome and the frame. A frame that was not in flight, or is
    /// not ours, teaches nothing about the driver.
    pub fn presented(
        &mut self,
        id: FrameId,
        time: Instant,
        sequence_step: Option<u64>,
        now: Instant,
    ) -> (PresentOutcome, Option<QueuedFrame<T>>) {
        let frame = self.frames.take(id);
        let flight = frame.as_ref().filter(|frame| frame.stage() == FrameStage::InFlight);
        // A timestamp off a grid whose phase had drifted defines the new phase.
        self.vsync.check_drift(time, now);
        let found_phase = flight.is_some_and(|flight| {
            let late = refreshes_waited(flight, time, self.submit_lead(), &self.vsync);
            self.vsync.learn_phase(RefreshIndex(flight.target.0 + late), time, now)
        });
        if let Some(flight) = flight {
            self.vsync.set_next_index(flight.target);
        }
        let observation = self.vsync.observe(time, sequence_step.filter(|_| !found_phase), now);
        let (shown, present) = match observation {
            TimestampObservation::Accepted { index, .. } | TimestampObservation::Moved { index } => (index, time),
            TimestampObservation::Refused { index, .. } => self.guess_light(index, flight, now),
        };
        self.note_light(present, flight.map(|flight| (flight.target, flight.flight().submitted)));
        let late = flight.map_or(0, |flight| shown.since(flight.target));
        let overshoot = |flight: &QueuedFrame<T>| flight.flight().submitted - flight.flight().submit_by;
        let submit_overshoot = flight.map_or(Span::ZERO, overshoot);
        if let (Some(flight), TimestampObservation::Accepted { .. }, false) = (flight, observation, found_phase) {
            self.driver.learn(late > 0 && !flight.flight().is_late());
        }
        if found_phase || matches!(observation, TimestampObservation::Moved { .. }) {
            self.forget_published();
        }
        self.refresh_numbers.shown = self.refresh_numbers.shown.max(shown);
        // A refresh that the clock has not reached cannot be spent.
        self.refresh_numbers.spent = self.refresh_numbers.spent.min(shown.max(self.vsync.at_or_after(now)).next());
        // Later frames in flight cannot share a refresh with a late frame.
        self.frames.postpone_to(shown.next());
        let target = flight.map(|flight| flight.target);
        let outcome = PresentOutcome { target, shown, present, observation, found_phase, late, submit_overshoot };
        (outcome, frame)
    }

    /// The likeliest refresh and time of a frame whose real time is unknown: the refresh `nearest` to now, but not
    /// before the submission. The time is not in the future, since the frame is on screen, wherever the guessed
    /// grid has its refreshes; the next known light may come before the next guessed refresh.
    fn guess_light(
        &self,
        nearest: RefreshIndex,
        flight: Option<&QueuedFrame<T>>,
        now: Instant,
    ) -> (RefreshIndex, Instant) {
        let index = flight.map_or(nearest, |flight| nearest.max(self.vsync.at_or_after(flight.flight().submitted)));
        (index, self.vsync.present(index).min(now))
    }
}

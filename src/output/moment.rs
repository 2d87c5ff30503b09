//! When and why content was chosen, and the record that begins with it.

use super::OutputState;
use crate::time::Instant;
use crate::timing::record::{FrameRecord, Need};
use crate::timing::target::{RefreshIndex, Target};

/// When and why a scene was chosen.
pub(super) struct Moment {
    pub target: Target,
    pub scheduled: Instant,
    pub latched: Instant,
    pub need: Need,
}

impl OutputState {
    pub(super) fn open_record(&self, moment: &Moment) -> FrameRecord {
        let machine = self.conductor.output();
        FrameRecord {
            output: self.id,
            target: moment.target.id,
            present: moment.target.present,
            interval: moment.target.interval,
            need: moment.need,
            pacing: self.pacing(),
            latch_at: moment.scheduled,
            latched: moment.latched,
            submit_by: machine.submit_by(moment.target.id),
            due_sequence: self.due_sequence(moment.target.id),
            compose_budget: machine.compose_budget(),
            ..FrameRecord::default()
        }
    }

    /// The display's own number for a refresh of the model's grid.
    pub(crate) fn due_sequence(&self, index: RefreshIndex) -> Option<u64> {
        let last = self.last_shown?;
        Some(self.last_sequence? + index.since(last))
    }

    pub(crate) fn pacing(&self) -> crate::timing::pacing::Pacing {
        use crate::timing::output::LatchPolicy;
        use crate::timing::pacing::Pacing;
        match self.conductor.output().policy() {
            LatchPolicy::AtRefresh => Pacing::Vsync,
            LatchPolicy::Late => self.wish.and_then(|wish| wish.fixed()).unwrap_or(Pacing::JustInTime),
        }
    }
}

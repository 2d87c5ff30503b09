//! Two-shot rendering of a client that asks for it: it draws twice for a refresh if there is time. The waiting frame is
//! the insurance, and the second frame shows newer input ([`TwoShot`](crate::estimator::TwoShot)).
//!
//! ```text
//!   called back ──► committed ─ ─ ─ ─ called back again ──► committed   latch_at(k)
//!        └ budget: high-quantile cost ────────┼─────────────────────────────┤
//!                                             └ typical cost ───────────────┘
//! ```
//!
//! Half of the second frames are late by design. So they affect neither the margin of first frames nor the target of
//! the next.

use super::{FIRST_FRAMES, OpenCallback, Pacer, PlannedCallback};
use crate::defaults::{SECOND_SHOT_WORTH, TWO_SHOT};
use crate::estimator::Estimator;
use crate::output::OutputMachine;
use crate::target::RefreshIndex;
use crate::time::Instant;

/// The state of a second frame.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct SecondShot {
    /// The refresh that a first frame waits for, and when that frame was begun.
    insured: Option<(RefreshIndex, Instant)>,
    planned: Option<PlannedCallback>,
}

impl SecondShot {
    /// The planned callback is sent. Returns whether it is for a second frame.
    pub const fn begin(&mut self) -> bool {
        self.insured = None;
        self.planned.take().is_some()
    }

    /// A callback was answered in time.
    pub fn answered(&mut self, drawing: OpenCallback) {
        self.insured = (!drawing.is_second).then_some((drawing.target, drawing.sent));
    }

    /// Cancels a second frame.
    pub fn cancel(&mut self) {
        *self = SecondShot::default();
    }
}

impl Pacer {
    /// Whether a second frame for `refresh` may be requested: a frame waits for it, and the client has no open
    /// callback.
    pub fn is_insured(&self, refresh: RefreshIndex) -> bool {
        let is_free = self.due.is_none() && self.drawing.is_none();
        is_free && self.second_shot.insured.is_some_and(|(insured, _)| insured == refresh)
    }

    /// The client asks for a second frame for the refresh that it has committed for. If there is time, a callback
    /// is planned; returns whether it is. Called once for each first frame.
    pub fn request_second_shot<T>(&mut self, now: Instant, output: &OutputMachine<T>) -> bool {
        let Some((target, sampled)) = self.second_shot.insured.take() else { return false };
        let is_usual = self.wall.samples() >= FIRST_FRAMES && !self.second_period && self.in_place_row().is_none();
        if !is_usual || !output.vsync().rate().has_periods() || output.latched() >= target {
            return false;
        }
        let ready_by = output.latch_at(target);
        let start = TWO_SHOT.second_start(&self.wall, now, ready_by, sampled, SECOND_SHOT_WORTH);
        self.second_shot.planned = start.map(|start| PlannedCallback { target, start, packed: false });
        if start.is_some() {
            self.callback_due(now);
        }
        start.is_some()
    }

    /// The planned second frame, unless its refresh was latched meanwhile or its latch moment has come.
    pub(super) fn plan_second<T>(&mut self, now: Instant, output: &OutputMachine<T>) -> Option<PlannedCallback> {
        let planned = self.second_shot.planned?;
        let is_over = output.latched() >= planned.target || now >= output.latch_at(planned.target);
        if is_over {
            self.second_shot.cancel();
        }
        self.second_shot.planned
    }
}

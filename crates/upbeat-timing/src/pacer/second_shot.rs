//! A client that wishes for it draws twice for a refresh where that fits: what waits is the insurance, and the second frame has
//! seen newer input ([`TwoShot`](crate::estimator::TwoShot)).
//!
//! ```text
//!   called back ──► committed ─ ─ ─ ─ called back again ──► committed   latch_at(k)
//!        └ budget: what it surely takes ──────┼─────────────────────────────┤
//!                                             └ what it usually takes ──────┘
//! ```
//!
//! Half of the second frames are late by design: that says nothing of the margin that its first frames need, nor of which
//! refresh the next one is for.

use super::{FIRST_FRAMES, OpenCallback, Pacer, Planned};
use crate::defaults::{SECOND_SHOT_WORTH, TWO_SHOT};
use crate::estimator::Estimator;
use crate::output::OutputMachine;
use crate::target::RefreshIndex;
use crate::time::Instant;

/// What of a second frame is under way.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct SecondShot {
    /// A frame waits for this refresh, and was begun then.
    insured: Option<(RefreshIndex, Instant)>,
    planned: Option<Planned>,
}

impl SecondShot {
    /// The callback that was planned is sent. Whether it is for a second frame.
    pub const fn begin(&mut self) -> bool {
        self.insured = None;
        self.planned.take().is_some()
    }

    /// A callback was answered in time.
    pub fn answered(&mut self, drawing: OpenCallback) {
        self.insured = (!drawing.is_second).then_some((drawing.target, drawing.sent));
    }

    /// No second frame for what is there.
    pub fn forget(&mut self) {
        *self = SecondShot::default();
    }
}

impl Pacer {
    /// Whether it is worth asking for a second frame for `refresh`: one waits for it, and the client is not called back.
    pub fn is_insured(&self, refresh: RefreshIndex) -> bool {
        let is_free = self.due.is_none() && self.drawing.is_none();
        is_free && self.second_shot.insured.is_some_and(|(insured, _)| insured == refresh)
    }

    /// The client wishes for a second frame for the refresh that it has committed for: it is called back for it if that fits.
    /// Returns whether it is. Asked once for each.
    pub fn shoot_again<T>(&mut self, now: Instant, output: &OutputMachine<T>) -> bool {
        let Some((target, sampled)) = self.second_shot.insured.take() else { return false };
        let is_usual = self.wall.samples() >= FIRST_FRAMES && !self.second_period && self.row.is_none();
        if !is_usual || !output.vsync().rate().has_periods() || output.latched() >= target {
            return false;
        }
        let ready_by = output.latch_at(target);
        let start = TWO_SHOT.second_start(&self.wall, now, ready_by, sampled, SECOND_SHOT_WORTH);
        self.second_shot.planned = start.map(|start| Planned { target, start, packed: false });
        if start.is_some() {
            self.callback_due(now);
        }
        start.is_some()
    }

    /// The second frame that is planned, unless its refresh was latched meanwhile, or will be before it is there.
    pub(super) fn plan_second<T>(&mut self, now: Instant, output: &OutputMachine<T>) -> Option<Planned> {
        let planned = self.second_shot.planned?;
        let is_over = output.latched() >= planned.target || now >= output.latch_at(planned.target);
        if is_over {
            self.second_shot.forget();
        }
        self.second_shot.planned
    }
}

//! When a client is called back whose frames are shown when they are ready, on a panel of variable rate, and what else of a
//! pacer depends on whether the rate is fixed or variable.
//!
//! There is no refresh to miss: a frame that takes long is shown late by no more than it took. But the panel shows nothing
//! before its shortest interval is over, and one that is finished sooner waits, and grows old. So a client is called back as
//! late as what its frames *surely* take allows, not as early as what they may take.
//!
//! ```text
//!   light(k)                      soonest light(k+1)
//!      │      call back              │
//!      │         ├─ surely ─┤compose │
//!      │         ├─ this one takes longer ──┤compose│ light(k+1)
//! ```
//!
//! Where what frames take lies so far apart that some would be in the panel's way at either end of its range, nobody who does
//! not touch the client would thank for such a wait: it is called back right after its latch, and makes the more frames.

use super::{FIRST_FRAMES, Guard, OpenCallback, Pacer, Planned};
use crate::defaults::CLIENT_FLOOR;
use crate::estimator::{Estimator, MissBudget};
use crate::output::OutputMachine;
use crate::target::RefreshIndex;
use crate::time::{Instant, Span};
use crate::vsync::{Rate, VsyncModel};

/// The share of frames that may take less than what they surely take: they wait for the panel.
const MAY_WAIT: MissBudget = MissBudget::per_mille(990);
/// The share that counts as taking no longer than usual.
const USUAL: MissBudget = MissBudget::per_mille(50);

/// A frame that takes longer than so many periods (numerator, denominator), and leaves the CPU alone, waits for something.
const WAITS_PERIODS: (i64, i64) = (3, 2);

/// The refresh that a callback is for which would be for `target`, where the `next` one can be reached.
pub(super) fn furthest(target: RefreshIndex, next: RefreshIndex, vsync: &VsyncModel) -> RefreshIndex {
    match vsync.rate() {
        Rate::Fixed => target,
        // Without a grid there is no refresh further ahead that a frame could be for.
        Rate::Variable(_) => target.min(next.next()),
    }
}

/// Whether a frame that took so long may have waited for a refresh.
pub(super) fn outlasts_a_period(took: Span, vsync: &VsyncModel) -> bool {
    match vsync.rate() {
        Rate::Fixed => took > vsync.interval() * WAITS_PERIODS.0 / WAITS_PERIODS.1,
        Rate::Variable(_) => false,
    }
}

impl Pacer {
    /// What the client is given for a frame that packing may move; `None` while too little is known, or where its callback is
    /// not moved.
    pub(super) fn packed_budget(&self, now: Instant, vsync: &VsyncModel) -> Option<Span> {
        match vsync.rate() {
            Rate::Fixed => self.budget(now),
            Rate::Variable(panel) => self.surely(now, panel.range),
        }
    }

    /// The client answered a callback: whether it makes as many frames as it could.
    pub(super) fn watch_answer(&mut self, now: Instant, drawing: OpenCallback, vsync: &VsyncModel) {
        match vsync.rate() {
            Rate::Fixed if drawing.is_second => {}
            Rate::Fixed => self.guard.answered(now, vsync.interval(), self.is_interactive(now)),
            // There are no refreshes that it could miss, nor any that it did.
            Rate::Variable(_) => self.guard = Guard::default(),
        }
    }

    /// What the client's frames take at least, on a panel of this range of intervals, and what wakes it up; `None` while too
    /// little is known, or where it is to be called back at once.
    pub(super) fn surely(&self, now: Instant, (shortest, longest): (Span, Span)) -> Option<Span> {
        if self.wall.samples() < FIRST_FRAMES {
            return None;
        }
        let (least, most) = (self.wall.budget(MAY_WAIT)?, self.wall.budget(USUAL)?);
        let fits = most.min(longest) - least <= longest - shortest;
        (fits || self.is_interactive(now)).then_some(least + CLIENT_FLOOR)
    }

    /// Just in time for the moment at which the panel can show its next picture.
    pub(super) fn plan_for_panel<T>(&self, now: Instant, output: &OutputMachine<T>, range: (Span, Span)) -> Planned {
        let target = self.reachable(now, output);
        match self.surely(now, range) {
            Some(surely) => Planned { target, start: (output.latch_at(target) - surely).max(now), packed: true },
            None => Planned { target, start: (output.latch_at(target) - range.0).max(now), packed: false },
        }
    }
}

//! When a client is called back whose frames are shown when they are ready, on a panel of variable rate.
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

use super::{FIRST_FRAMES, Pacer, Planned};
use crate::defaults::CLIENT_FLOOR;
use crate::estimator::{Estimator, MissBudget};
use crate::output::OutputMachine;
use crate::time::{Instant, Span};

/// The share of frames that may take less than what they surely take: they wait for the panel.
const MAY_WAIT: MissBudget = MissBudget::per_mille(990);
/// The share that counts as taking no longer than usual.
const USUAL: MissBudget = MissBudget::per_mille(50);

impl Pacer {
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

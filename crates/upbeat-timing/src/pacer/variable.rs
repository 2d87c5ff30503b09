//! Callbacks on a panel with variable refresh, and everything else in a pacer that depends on whether the rate is fixed
//! or variable.
//!
//! There is no refresh to miss: a long frame is shown late by no more than its own delay. But the panel shows nothing
//! before its shortest interval is over, so a frame that is finished earlier waits and ages. So a client is called back
//! as late as the *least* cost of its frames allows, not as early as the largest cost requires.
//!
//! ```text
//!   light(k)                      soonest light(k+1)
//!      │      call back              │
//!      │         ├─ least ──┤compose │
//!      │         ├─ this one takes longer ──┤compose│ light(k+1)
//! ```
//!
//! Each such wait delays the frames that take longer than the least cost, so that a client with varying costs makes fewer
//! frames than it could. During interaction that is the price of its latency. Otherwise a client is called back earlier:
//! as late as costs it no more than half a percent of its frames. If its costs vary so much that some frames would collide
//! with the panel at either end of its range, it is called back right after the latch.

use super::{CallbackPacingReason, FIRST_FRAMES, FrameCountGuard, OpenCallback, Pacer, PlannedCallback};
use crate::defaults::CLIENT_FLOOR;
use crate::estimator::{Estimator, MissBudget};
use crate::output::OutputMachine;
use crate::pacing::PacingWish;
use crate::target::RefreshIndex;
use crate::time::{Instant, Span};
use crate::vsync::{RefreshMode, VsyncModel};

/// The quantile for the least cost: 1 % of frames take less, and wait for the panel.
const MAY_WAIT: MissBudget = MissBudget::per_mille(990);
/// The quantile for the largest usual cost: 5 % of frames take longer.
const USUAL: MissBudget = MissBudget::per_mille(50);

/// A client may lose this fraction of its frames by waiting (1/200): less than anyone sees, and less than noise.
const LOST_PARTS: i64 = 200;
/// A client is said to be called back sooner from this fraction of the shortest interval on (1/8).
const SOONER_PARTS: i64 = 8;

/// A frame that takes longer than this many periods (numerator, denominator) with an idle CPU waits for some event.
const WAITS_PERIODS: (i64, i64) = (3, 2);

/// The refresh that a callback for `target` is really for, if `next` is the next reachable refresh.
pub(super) fn furthest(target: RefreshIndex, next: RefreshIndex, vsync: &VsyncModel) -> RefreshIndex {
    match vsync.rate() {
        RefreshMode::Fixed => target,
        // With variable refresh a frame cannot be for a refresh further ahead.
        RefreshMode::Variable(_) => target.min(next.next()),
    }
}

/// Whether a frame that took this long may have waited for a refresh.
pub(super) fn outlasts_a_period(took: Span, vsync: &VsyncModel) -> bool {
    match vsync.rate() {
        RefreshMode::Fixed => took > vsync.interval() * WAITS_PERIODS.0 / WAITS_PERIODS.1,
        RefreshMode::Variable(_) => false,
    }
}

impl Pacer {
    /// The client's budget for a frame that packing may move; `None` while too few frames are known, or if its
    /// callback must not be moved.
    pub(super) fn packed_budget(&self, now: Instant, vsync: &VsyncModel) -> Option<Span> {
        match vsync.rate() {
            RefreshMode::Fixed => self.budget(now),
            RefreshMode::Variable(panel) => self.least_cost(now, panel.range),
        }
    }

    /// The client answered a callback, and its content can reach the refresh `next`: counts it for the guard.
    pub(super) fn update_guard(
        &mut self,
        now: Instant,
        drawing: OpenCallback,
        (next, vsync): (RefreshIndex, &VsyncModel),
    ) {
        match vsync.rate() {
            RefreshMode::Fixed if drawing.is_second => {}
            // Its costs may soon show that it needs a second period.
            RefreshMode::Fixed if self.reason == CallbackPacingReason::New => self.guard.forget_refresh(),
            RefreshMode::Fixed => {
                // With two periods of slack, content waits for its target.
                let shown = next.max(drawing.target);
                self.guard.answered(now, shown, vsync.interval(), self.is_interactive(now));
            }
            // With variable refresh there are no refreshes to miss.
            RefreshMode::Variable(_) => self.guard = FrameCountGuard::default(),
        }
    }

    /// Chooses for which cost callbacks are sent on a panel with variable refresh, after a frame was learned. A frame that
    /// takes longer than `within` after the latch before cannot be shown at the shortest interval in any case.
    pub(super) fn choose_panel_cost(&mut self, vsync: &VsyncModel, within: Span) {
        self.panel_cost = vsync.range().and_then(|(shortest, _)| {
            let certain = self.wall.mean_excess(within);
            let allowed = certain + (shortest + certain) / LOST_PARTS;
            // Costs have a margin for the client's wake-up, which a frame of usual cost does not need.
            self.wall.least_with_excess(allowed)
        });
    }

    /// Whether the client is called back sooner than its least cost requires, so that it makes more frames.
    pub(super) fn makes_more_frames(&self, now: Instant, vsync: &VsyncModel) -> bool {
        let Some((shortest, _)) = vsync.range().filter(|_| !self.is_interactive(now)) else { return false };
        let sooner = self.panel_cost.zip(self.wall.budget(MAY_WAIT)).map(|(cost, least)| cost.min(shortest) - least);
        sooner.is_some_and(|sooner| sooner > shortest / SOONER_PARTS)
    }

    /// The least cost of the client's frames, with a margin for its wake-up, on a panel of this range of intervals.
    /// `None` while too few frames are known, or if the client is to be called back at once.
    pub(super) fn least_cost(&self, now: Instant, (shortest, longest): (Span, Span)) -> Option<Span> {
        if self.wall.samples() < FIRST_FRAMES {
            return None;
        }
        let (least, most) = (self.wall.budget(MAY_WAIT)?, self.wall.budget(USUAL)?);
        let fits = most.min(longest) - least <= longest - shortest;
        if self.is_interactive(now) || self.wish == PacingWish::JustInTime {
            return Some(least + CLIENT_FLOOR).filter(|_| fits || self.is_interactive(now));
        }
        self.panel_cost.filter(|_| fits).map(|cost| cost.max(least) + CLIENT_FLOOR)
    }

    /// The row that the client's next frame is written into, and the client's budget, if the refresh should begin before
    /// the frame is finished: the beam's way to the row is longer than the usual frame waits for its budget to pass.
    pub(crate) fn row_budget<T>(&self, now: Instant, output: &OutputMachine<T>) -> Option<(i32, Span)> {
        // After a missed row the next frame is a whole picture, which has no deadline to miss.
        let line = self.in_place_row().filter(|_| self.missed_row.is_none())?;
        let way = output.way_to_row(line)?;
        let (budget, typical) = (self.budget(now)?, self.wall.typical()?);
        (budget - typical + output.write_budget() < way).then_some((line, budget))
    }

    /// The first line of the write that the planned callback leads to, and when that content is ready, if a refresh has to
    /// begin for it.
    pub(crate) fn row_to_refresh<T>(&self, now: Instant, output: &OutputMachine<T>) -> Option<(i32, Instant)> {
        let start = self.planned?.start.max(now);
        // A client that left its last callback without content may have nothing to write now either.
        let (line, budget) = self.row_budget(now, output).filter(|_| self.drawing.is_none())?;
        let is_begun = self.row_under_way(line, start, output).is_some();
        (!is_begun).then_some((line, start + budget))
    }

    /// The refresh under way in which the beam reaches row `line` after a usual frame of the client that starts at
    /// `start`, and the deadline for that row. `None` if the client's last frame was for this refresh.
    fn row_under_way<T>(
        &self,
        line: i32,
        start: Instant,
        output: &OutputMachine<T>,
    ) -> Option<(RefreshIndex, Instant)> {
        let under_way = output.row_under_way(line, start + self.wall.typical()?)?;
        Some(under_way).filter(|(index, _)| self.last_target.is_none_or(|last| *index > last))
    }

    /// A callback just in time for the moment at which the panel can show its next picture.
    pub(super) fn plan_for_panel<T>(
        &self,
        now: Instant,
        output: &OutputMachine<T>,
        range: (Span, Span),
    ) -> PlannedCallback {
        let target = self.reachable(now, output);
        if let Some((line, budget)) = self.row_budget(now, output) {
            let under_way = self.row_under_way(line, now, output);
            let soonest = || Some((target, output.soonest_row_deadline(line)?));
            if let Some((target, deadline)) = under_way.or_else(soonest) {
                return PlannedCallback { target, start: (deadline - budget).max(now), packed: false };
            }
        }
        let surely = self.least_cost(now, range);
        let start = output.latch_at(target) - surely.unwrap_or(range.0);
        PlannedCallback { target, start: start.max(now), packed: surely.is_some() }
    }

    /// Delays `planned` so that a client is called back at most once per shortest interval. With a fixed rate each
    /// callback is for a later refresh. Here a commit without content moves no refresh, so only the last callback
    /// bounds the next.
    pub(super) fn keep_distance(&self, planned: PlannedCallback, vsync: &VsyncModel) -> PlannedCallback {
        let Some((last, (shortest, _))) = self.last_start.zip(vsync.range()) else { return planned };
        if planned.start >= last + shortest {
            return planned;
        }
        // Packing would move the start back.
        PlannedCallback { start: last + shortest, packed: false, ..planned }
    }
}

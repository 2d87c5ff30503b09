//! For which refresh a client is called back, when, and with how many periods of slack.

use super::{FIRST_FRAMES, Guarded, HICCUPS, Pacer, Planned, Reason, SLACK_EVIDENCE, SLACK_RETURN_DIVISOR};
use crate::time::{Instant, Span};
use crate::timing::defaults::AFTER_REFRESH;
use crate::timing::estimator::Estimator;
use crate::timing::output::OutputMachine;
use crate::timing::pacing::{Class, PacingWish};
use crate::timing::target::RefreshIndex;

/// Buffers that a client needs for a second period, if it draws when it is called back.
const BUFFERS_TO_DRAW: usize = 3;
/// The same for one that answers at once and draws its next frame after that, and so is always a buffer ahead.
const BUFFERS_TO_GATE: usize = 5;

impl Pacer {
    /// Chooses the way of pacing for this moment, and says why.
    pub(super) fn choose<T>(&mut self, now: Instant, output: &OutputMachine<T>) {
        let was_ahead = std::mem::take(&mut self.second_period);
        self.reason = self.reason_by_kind().unwrap_or_else(|| self.reason_by_cost(now, output, was_ahead));
        self.second_period = matches!(self.reason, Reason::FreeRunning | Reason::Early);
    }

    /// Why it is paced as it is whatever its frames cost; `None` if that depends on what they do.
    pub(super) fn reason_by_kind(&self) -> Option<Reason> {
        if !matches!(self.wish, PacingWish::Auto | PacingWish::Ahead) {
            return Some(Reason::Configured);
        }
        match (self.guard.at_refresh(), self.class()) {
            (Some(Guarded::Trial), _) => Some(Reason::Tried),
            (Some(Guarded::Faster), _) => Some(Reason::Faster),
            (None, Class::OwnClock) => Some(Reason::OwnClock),
            (None, Class::Queued) => Some(Reason::Queued),
            (None, _) => None,
        }
    }

    fn reason_by_cost<T>(&self, now: Instant, output: &OutputMachine<T>, was_ahead: bool) -> Reason {
        let samples = self.wall.samples();
        if samples < FIRST_FRAMES {
            return Reason::New;
        }
        // Frames that wait hide one that takes long, before any has.
        if self.is_early() && self.has_spare_buffers() && !self.is_interactive(now) {
            return Reason::Early;
        }
        // What a client has that is started right after one latch and must be ready for the next.
        let available = output.vsync().interval() - self.margin.get();
        let expected = samples as u64 * u64::from(self.budgets.free_running.as_ppm()) / 1_000_000;
        let mut allowed = (expected as u32).max(HICCUPS);
        if was_ahead {
            allowed /= SLACK_RETURN_DIVISOR;
        }
        let too_long = self.wall.exceeding(available) as u32;
        if too_long <= allowed {
            return Reason::Fits;
        }
        if self.is_interactive(now) {
            return Reason::Interactive;
        }
        if samples < SLACK_EVIDENCE && !was_ahead {
            return Reason::New;
        }
        if self.has_spare_buffers() { Reason::FreeRunning } else { Reason::FewBuffers }
    }

    /// Whether a second period cannot leave it without a buffer to draw into. One is on the screen and one waits; where a
    /// light is late, one more. Mesa's software rasteriser, which has four, crashes when it finds none free.
    fn has_spare_buffers(&self) -> bool {
        self.buffers >= if self.class() == Class::Gated { BUFFERS_TO_GATE } else { BUFFERS_TO_DRAW }
    }

    fn reachable<T>(&self, now: Instant, output: &OutputMachine<T>) -> RefreshIndex {
        let next = output.next_index(now);
        self.last_target.map_or(next, |last| next.max(last.next()))
    }

    pub(super) fn plan_at_refresh<T>(&self, now: Instant, output: &OutputMachine<T>) -> Planned {
        let target = self.reachable(now, output);
        let refresh = output.vsync().present(RefreshIndex(target.0.saturating_sub(1)));
        Planned { target, start: (refresh + AFTER_REFRESH).max(now), packed: false }
    }

    /// Two periods before its refresh: at once, but never more often than the display refreshes.
    pub(super) fn plan_two_ahead<T>(&self, now: Instant, offset: Span, output: &OutputMachine<T>) -> Planned {
        let target = self.reachable(now, output);
        let earliest = output.vsync().present(RefreshIndex(target.0.saturating_sub(2)));
        Planned { target, start: (earliest + offset).max(now), packed: false }
    }

    pub(super) fn plan_just_in_time<T>(&self, now: Instant, output: &OutputMachine<T>) -> Planned {
        if self.second_period {
            // The commit before this one still waits for its refresh; this one is drawn for the next after that.
            return self.plan_two_ahead(now, AFTER_REFRESH, output);
        }
        let mut target = self.reachable(now, output);
        let interval = output.vsync().interval();
        let right_after_latch = (output.latch_at(target) - interval).max(now);
        let (Some(budget), Some(typical)) = (self.budget(now), self.wall.typical()) else {
            return Planned { target, start: right_after_latch, packed: false };
        };
        if budget >= interval {
            return Planned { target, start: right_after_latch, packed: false };
        }
        if output.latch_at(target) - budget < now && output.last_latch(target) < now + typical {
            target = target.next();
        }
        Planned { target, start: (output.latch_at(target) - budget).max(now), packed: true }
    }
}

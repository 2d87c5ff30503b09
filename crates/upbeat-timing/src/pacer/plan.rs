//! Plans a client's callback: for which refresh, when, and with how many periods of slack.

use super::variable::furthest;
use super::{
    AtRefreshReason, CallbackPacingReason, FIRST_FRAMES, HICCUPS, Pacer, PlannedCallback, SLACK_EVIDENCE,
    SLACK_RETURN_DIVISOR,
};
use crate::defaults::{AFTER_REFRESH, CLIENT_FLOOR};
use crate::estimator::Estimator;
use crate::output::OutputMachine;
use crate::pacing::{ClientClass, PacingWish};
use crate::target::RefreshIndex;
use crate::time::{Instant, Span};
use crate::vsync::RefreshMode;

/// Buffers for a second period of a client that draws after its callback: one is shown, one is drawn into.
const BUFFERS_TO_DRAW: usize = 2;
/// Buffers for a second period of a gated client, which draws its next frame after its answer and so is always a buffer
/// ahead.
const BUFFERS_TO_GATE: usize = 5;

impl Pacer {
    /// Chooses the pacing for this moment, with its reason.
    pub(super) fn choose_pacing<T>(&mut self, now: Instant, output: &OutputMachine<T>) {
        let had_second_period = std::mem::take(&mut self.second_period);
        self.reason = self.reason_by_kind().unwrap_or_else(|| self.reason_by_cost(now, output, had_second_period));
        let gets_second_period = matches!(
            self.reason,
            CallbackPacingReason::FreeRunning
                | CallbackPacingReason::Early
                | CallbackPacingReason::Tried
                | CallbackPacingReason::Faster
        );
        self.second_period = gets_second_period && output.vsync().rate().has_periods();
    }

    /// The reason for a pacing that does not depend on the frames' costs; `None` if the costs decide.
    pub(super) fn reason_by_kind(&self) -> Option<CallbackPacingReason> {
        if !matches!(self.wish, PacingWish::Auto | PacingWish::Ahead) {
            return Some(CallbackPacingReason::Configured);
        }
        match (self.guard.at_refresh(), self.class()) {
            (Some(AtRefreshReason::Trial), _) => Some(CallbackPacingReason::Tried),
            (Some(AtRefreshReason::Faster), _) => Some(CallbackPacingReason::Faster),
            (None, ClientClass::OwnClock) => Some(CallbackPacingReason::OwnClock),
            (None, ClientClass::Queued) => Some(CallbackPacingReason::Queued),
            (None, _) => None,
        }
    }

    /// Whether the client commits at its own times, independent of callbacks, so that its frames are never late.
    /// Not if a trial has shown that it makes more frames when its callbacks come sooner.
    pub fn commits_on_own_clock(&self) -> bool {
        self.class() == ClientClass::OwnClock && self.guard.at_refresh() != Some(AtRefreshReason::Faster)
    }

    fn reason_by_cost<T>(
        &self,
        now: Instant,
        output: &OutputMachine<T>,
        had_second_period: bool,
    ) -> CallbackPacingReason {
        let samples = self.wall.samples();
        if samples < FIRST_FRAMES {
            return CallbackPacingReason::New;
        }
        if self.makes_more_frames(now, output.vsync()) {
            return CallbackPacingReason::Varying;
        }
        // Waiting frames hide a long frame, before the first long frame occurs.
        if self.is_early() && self.has_spare_buffers() && !self.is_interactive(now) {
            return CallbackPacingReason::Early;
        }
        // The time for a client that starts right after one latch and must be ready for the next.
        let available = output.vsync().interval() - self.margin.get();
        let expected = samples as u64 * u64::from(self.budgets.free_running.as_ppm()) / 1_000_000;
        let mut allowed = (expected as u32).max(HICCUPS);
        if had_second_period {
            allowed /= SLACK_RETURN_DIVISOR;
        }
        let too_long = self.wall.exceeding(available) as u32;
        if too_long <= allowed {
            return CallbackPacingReason::Fits;
        }
        // A client whose frames never fit would always be late: its content would not be newer, only rarer.
        let fits_mostly = self.wall.typical().is_none_or(|typical| typical <= available);
        if self.is_interactive(now) && fits_mostly {
            return CallbackPacingReason::Interactive;
        }
        if samples < SLACK_EVIDENCE && !had_second_period {
            return CallbackPacingReason::New;
        }
        if self.has_spare_buffers() { CallbackPacingReason::FreeRunning } else { CallbackPacingReason::FewBuffers }
    }

    /// Whether a second period always leaves the client a buffer to draw into. A gated client has two waiting
    /// buffers, one on screen, and one more after a late light. Mesa's software rasteriser, which has four, crashes
    /// when none is free.
    fn has_spare_buffers(&self) -> bool {
        self.buffers >= if self.class() == ClientClass::Gated { BUFFERS_TO_GATE } else { BUFFERS_TO_DRAW }
    }

    pub(super) fn reachable<T>(&self, now: Instant, output: &OutputMachine<T>) -> RefreshIndex {
        let next = self.reaches(now, output, output.next_index(now));
        let target = self.last_target.map_or(next, |last| next.max(last.next()));
        furthest(target, next, output.vsync())
    }

    pub(super) fn plan_at_refresh<T>(&self, now: Instant, output: &OutputMachine<T>) -> PlannedCallback {
        let target = self.reachable(now, output);
        let refresh = output.vsync().present(RefreshIndex(target.0.saturating_sub(1)));
        PlannedCallback { target, start: (refresh + AFTER_REFRESH).max(now), packed: false }
    }

    /// A callback two periods before its refresh: at once, but never more often than the display refreshes.
    pub(super) fn plan_two_ahead<T>(&self, now: Instant, offset: Span, output: &OutputMachine<T>) -> PlannedCallback {
        let target = self.reachable(now, output);
        let earliest = output.vsync().present(RefreshIndex(target.0.saturating_sub(2)));
        PlannedCallback { target, start: (earliest + offset).max(now), packed: false }
    }

    /// A callback within the two periods before its refresh, as late as the miss budget allows: latency against drops.
    fn plan_within_two<T>(&self, now: Instant, output: &OutputMachine<T>) -> PlannedCallback {
        // The previous commit may still wait for its refresh; this frame is for the following refresh.
        let earliest = self.plan_two_ahead(now, AFTER_REFRESH, output);
        let Some(needed) = self.wall.budget(self.budgets.free_running) else { return earliest };
        // Without the learned margin, which would rise with every miss that the budget allows.
        let latest = output.latch_at(earliest.target) - needed - CLIENT_FLOOR;
        PlannedCallback { start: earliest.start.max(latest), ..earliest }
    }

    pub(super) fn plan_just_in_time<T>(&self, now: Instant, output: &OutputMachine<T>) -> PlannedCallback {
        if let RefreshMode::Variable(panel) = output.vsync().rate() {
            return self.plan_for_panel(now, output, panel.range);
        }
        if self.second_period {
            return self.plan_within_two(now, output);
        }
        let mut target = self.reachable(now, output);
        let interval = output.vsync().interval();
        let row = self.row_deadline(target, output);
        if let Some(planned) = self.plan_after_missed_row(target, now, output) {
            return planned;
        }
        let right_after_latch = (self.deadline(target, output) - interval).max(now);
        let (Some(budget), Some(typical)) = (self.budget(now), self.wall.typical()) else {
            return PlannedCallback { target, start: right_after_latch, packed: false };
        };
        if budget >= interval {
            return PlannedCallback { target, start: right_after_latch, packed: false };
        }
        let last = row.unwrap_or_else(|| output.last_latch(target));
        if self.deadline(target, output) - budget < now && last < now + typical {
            target = target.next();
        }
        // A row has a deadline of its own, so it cannot be packed with other clients.
        PlannedCallback { target, start: (self.deadline(target, output) - budget).max(now), packed: row.is_none() }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::class::FrameEvidence;
    use crate::pacer::PacerMissBudgets;

    /// A client that burns its CPU time (milliseconds) between callback and commit, and after the commit.
    fn client(inside: f64, outside: f64) -> Pacer {
        let mut pacer = Pacer::new(PacingWish::Auto, PacerMissBudgets::default());
        for frame in 0..40 {
            pacer.classifier.observe(FrameEvidence {
                callback_offset: Span::from_millis(frame % 4),
                answer: Span::from_millis_f64(inside + 0.1),
                cpu_inside: Some(Span::from_millis_f64(inside)),
                cpu_outside: Some(Span::from_millis_f64(outside)),
                waited: false,
            });
        }
        pacer
    }

    /// The fewest buffers with which the client gets a second period.
    fn fewest_buffers(mut pacer: Pacer) -> usize {
        (1..100).find(|count| (pacer.note_buffers(*count), pacer.has_spare_buffers()).1).unwrap()
    }

    #[test]
    fn client_that_draws_ahead_keeps_a_free_buffer_of_mesas_four_and_one_that_draws_when_called_needs_two() {
        let (gated, draws) = (client(0.1, 3.0), client(3.0, 0.0));
        assert_eq!((gated.class(), draws.class()), (ClientClass::Gated, ClientClass::Draws));
        assert!(fewest_buffers(gated) > 4, "Mesa's software rasteriser crashes where none of its four is free");
        assert_eq!(fewest_buffers(draws), 2, "one is shown, into the other it draws");
    }
}

//! The Pacer machine: when one client is called back on one output.
//!
//! There is one pacer per (client, output) with all the client's surfaces there: surfaces that are paced separately
//! would start together and measure each other.
//!
//! ```text
//!            ┌────────── callback due ◄─────────── latched (or, with two periods of slack, committed)
//!            ▼                                            ▲
//!   planned(target k, start) ── start ─► Callback ─► drawing ── commit ─► applied, waits for the latch
//! ```
//!
//! *Just in time* starts at `ready_by(k) − budget`, where the budget is the client's cost at its miss budget. Where no
//! budget fits into a period, the earliest legal moment is right after the latch. A client that the user does not
//! interact with then gets as much of a second period of slack as its miss budget requires (latency against drops is a
//! curve). An interactive client gets none: its drops are the price of its latency.

mod callback_time_proof;
mod costs;
mod early_callbacks;
mod guard;
mod in_place;
mod interaction;
mod plan;
mod second_shot;
mod types;
mod unfinished;
mod variable;

pub use callback_time_proof::EarlyCallbackVerdict;
use costs::{LazyCosts, OwnWaits};
pub use early_callbacks::EarlyCallbackRule;
use early_callbacks::EarlyCallbacks;
use guard::{AtRefreshReason, FrameCountGuard};
use interaction::UserInteraction;
pub use types::{
    CallbackAnswer, CallbackPacingReason, CommittedContent, OpenCallback, PacerMissBudgets, PlannedCallback,
};

use super::class::{ClientClassifier, FrameEvidence};
use super::defaults::{CLIENT_FLOOR, COST_WINDOW, CPU_WINDOW};
use super::estimator::{Estimator, MissBudget};
use super::margin::{Margin, known_quantile};
use super::output::OutputMachine;
use super::pacing::{ClientClass, Pacing, PacingWish};
use super::packing::PackingUnit;
use super::target::RefreshIndex;
use super::vsync::VsyncModel;
use crate::time::{Instant, Span};
use second_shot::SecondShot;
use unfinished::{UnfinishedFrame, UnfinishedFrames, UnfinishedParts};
use variable::outlasts_a_period;

/// Frames before a client is started later than right after the latch.
const FIRST_FRAMES: usize = 6;
/// Frames observed before the second period of slack is given or withdrawn.
const SLACK_EVIDENCE: usize = 24;
/// Up to this many remembered frames that do not fit are hiccups, not a property of the client.
const HICCUPS: u32 = 2;
/// The second period is withdrawn at the miss budget divided by this: hysteresis.
const SLACK_RETURN_DIVISOR: u32 = 2;
/// A frame that takes longer than this many periods is a pause of the client, not a cost.
const PAUSE_PERIODS: i64 = 12;
/// So is a frame that takes longer than this many periods with an idle CPU: the client had nothing to draw.
const IDLE_PERIODS: i64 = 3;
/// Least time added to the CPU time of a client that waited for other clients, as a fraction of an interval: waking up
/// and sending a commit have a cost.
const CONTENTION_ALLOWANCE: i64 = 64;
/// A client that has not answered for this many intervals has nothing to draw…
const EXPECTED_INTERVALS: i64 = 4;
/// …unless its budget is longer: then it has this many budgets to answer.
const EXPECTED_BUDGETS: i64 = 2;
/// A client leaves the CPU idle if it uses less than this fraction of the time.
const PAUSE_CPU_DIVISOR: i64 = 4;

/// The measured cost of one answer.
#[derive(Clone, Copy, Debug)]
struct AnswerCost {
    /// From the scheduled callback until the frame was finished.
    wall: Span,
    /// CPU time of the client meanwhile.
    cpu: Option<Span>,
    /// The part of `wall` in which a GPU drew the frame, after the commit.
    gpu: Span,
    /// The part of `wall` in which other clients may have had the processors.
    held_up: Span,
    /// How far beyond the deadline the frame was finished.
    overshoot: Span,
}

/// Decides when one client is called back on one output.
#[derive(Clone, Debug)]
pub struct Pacer {
    wish: PacingWish,
    budgets: PacerMissBudgets,
    wall: LazyCosts<COST_WINDOW>,
    cpu: LazyCosts<CPU_WINDOW>,
    own_waits: OwnWaits,
    /// The cost that callbacks are sent for on a panel with variable refresh.
    panel_cost: Option<Span>,
    margin: Margin,
    classifier: ClientClassifier,
    cpu_at_commit: Option<Span>,
    /// A callback may be sent from this moment on.
    due: Option<Instant>,
    drawing: Option<OpenCallback>,
    /// The committed parts of the current answer that a GPU still draws.
    parts: UnfinishedParts,
    /// Committed frames that a GPU still draws.
    unfinished: UnfinishedFrames,
    planned: Option<PlannedCallback>,
    given_budget: Span,
    /// The refresh that the last callback was for.
    last_target: Option<RefreshIndex>,
    /// When the last callback was planned to be sent.
    last_start: Option<Instant>,
    attention: UserInteraction,
    /// When the client answered last.
    answered: Option<Instant>,
    /// Two periods of slack are in use.
    second_period: bool,
    /// The most buffers that the client used at once.
    buffers: usize,
    /// Whether it may be called back early.
    early: EarlyCallbacks,
    /// Finds out whether the client makes fewer frames than it could.
    guard: FrameCountGuard,
    reason: CallbackPacingReason,
    /// The first line of the region where the client's next frame is expected to be written in place.
    row: Option<i32>,
    /// Whether rules allow that its frames are written in place.
    in_place: bool,
    /// The last frame missed its row; from the callback until it was committed.
    missed_row: Option<Span>,
    second_shot: SecondShot,
}

impl Pacer {
    /// A pacer without any observations of its client.
    pub fn new(wish: PacingWish, budgets: PacerMissBudgets) -> Self {
        Pacer {
            wish,
            budgets,
            wall: LazyCosts::default(),
            cpu: LazyCosts::default(),
            own_waits: OwnWaits::default(),
            panel_cost: None,
            margin: Margin::new(CLIENT_FLOOR),
            classifier: ClientClassifier::default(),
            cpu_at_commit: None,
            due: None,
            drawing: None,
            parts: UnfinishedParts::default(),
            unfinished: UnfinishedFrames::default(),
            planned: None,
            given_budget: Span::ZERO,
            last_target: None,
            last_start: None,
            attention: UserInteraction::default(),
            answered: None,
            second_period: false,
            buffers: 0,
            early: EarlyCallbacks::default(),
            guard: FrameCountGuard::default(),
            reason: CallbackPacingReason::New,
            row: None,
            in_place: false,
            missed_row: None,
            second_shot: SecondShot::default(),
        }
    }

    /// The class that the client's behaviour shows.
    pub fn class(&self) -> ClientClass {
        self.classifier.class()
    }

    /// How the measured cost changes with the callback's moment.
    pub fn slope(&self) -> Option<f64> {
        self.classifier.slope()
    }

    /// The pacing that was requested.
    pub const fn wished(&self) -> PacingWish {
        self.wish
    }

    /// The pacing in force and why.
    pub fn effective(&self) -> (Pacing, CallbackPacingReason) {
        // A client that never requests callbacks has no plan that could have set `self.reason`.
        let reason = self.reason_by_kind().unwrap_or(self.reason);
        let chosen = match reason {
            CallbackPacingReason::OwnClock => Pacing::VsyncLate,
            CallbackPacingReason::Tried | CallbackPacingReason::Faster => Pacing::Vsync,
            _ => Pacing::JustInTime,
        };
        (self.wish.fixed().unwrap_or(chosen), reason)
    }

    /// Periods of slack in use: 1 or 2.
    pub const fn slack_periods(&self) -> u32 {
        1 + self.second_period as u32
    }

    /// Median, miss-budget quantile and largest of the remembered costs.
    pub fn cost(&self, now: Instant) -> Option<(Span, Span, Span)> {
        Some((self.wall.typical()?, self.wall.budget(self.miss_budget(now))?, self.wall.largest()?))
    }

    /// Changes the pacing at run time.
    pub fn set_pacing(&mut self, wish: PacingWish, budgets: PacerMissBudgets) {
        if (wish, budgets) == (self.wish, self.budgets) {
            return;
        }
        self.wish = wish;
        self.budgets = budgets;
        self.planned = None;
    }

    /// The client was seen to have this many buffers in use at once.
    pub fn note_buffers(&mut self, count: usize) {
        self.buffers = self.buffers.max(count);
    }

    /// Whether a callback is due and not sent yet.
    pub const fn is_waiting(&self) -> bool {
        self.due.is_some()
    }

    /// The callback that was sent and not answered, if any.
    pub const fn drawing(&self) -> Option<OpenCallback> {
        self.drawing
    }

    /// Whether the client probably draws now: it was called back, and its next commit may be the answer. A client
    /// that was called back long ago has nothing to draw.
    pub fn is_drawing(&self, now: Instant) -> bool {
        self.drawing.is_some_and(|drawing| now < drawing.expected_until)
    }

    /// The refreshes of committed frames that a GPU probably still draws.
    pub fn unfinished(&self, now: Instant) -> impl Iterator<Item = RefreshIndex> {
        let expected = self.unfinished.iter().filter(move |frame| now < frame.drawing.expected_until);
        expected.map(|frame| frame.drawing.target)
    }

    /// Whether the client answered after `from`.
    pub fn answered_since(&self, from: Instant) -> bool {
        self.answered.is_some_and(|answered| answered > from)
    }

    /// Forgets targets of callbacks because the refreshes were renumbered.
    pub fn forget_targets(&mut self) {
        (self.planned, self.last_target, self.drawing) = (None, None, None);
        self.guard.forget_refresh();
        self.second_shot.cancel();
        self.parts = UnfinishedParts::default();
        self.unfinished.clear();
    }

    /// The planned callback, if any.
    pub const fn planned(&self) -> Option<PlannedCallback> {
        self.planned
    }

    /// A callback may be sent from `now` on: the client's update was latched, or it requested a callback without
    /// content.
    pub fn callback_due(&mut self, now: Instant) {
        if self.due.is_none() {
            self.due = Some(now);
        }
    }

    /// Whether a callback that is requested while the previous commit still waits is due at once: with two periods
    /// of slack.
    pub fn has_second_period(&self) -> bool {
        self.second_period
    }

    /// The client's callbacks are not needed any more: its surfaces are gone or hidden.
    pub fn cancel_callbacks(&mut self) {
        (self.due, self.planned, self.drawing) = (None, None, None);
        self.second_shot.cancel();
        self.parts = UnfinishedParts::default();
        self.unfinished.clear();
    }

    /// Plans the callback that is due, if any.
    pub fn plan<T>(&mut self, now: Instant, output: &OutputMachine<T>) -> Option<PlannedCallback> {
        self.due?;
        if let Some(again) = self.plan_second(now, output) {
            self.planned = Some(again);
            return self.planned;
        }
        self.choose_pacing(now, output);
        let planned = match self.effective().0 {
            Pacing::Vsync => self.plan_two_ahead(now, Span::ZERO, output),
            Pacing::VsyncLate => self.plan_at_refresh(now, output),
            // Frames ahead get targets (`surface_targets`); a callback that such a client still asks for is just in time.
            Pacing::JustInTime | Pacing::Ahead => self.plan_just_in_time(now, output),
        };
        self.planned = Some(self.keep_distance(planned, output.vsync()));
        self.planned
    }

    /// Moves the start of the planned callback, for packing.
    pub fn set_start(&mut self, start: Instant) {
        if let Some(planned) = &mut self.planned {
            planned.start = start;
        }
    }

    /// The CPU time of a usual frame; zero while it is unknown.
    pub fn typical_cpu(&self) -> Span {
        self.cpu.typical().unwrap_or(Span::ZERO)
    }

    /// The packing input, if packing may move the client's start.
    pub fn unit(&self, now: Instant, vsync: &VsyncModel) -> Option<PackingUnit> {
        let wall = self.packed_budget(now, vsync)?;
        let cpu = self.cpu.budget(MissBudget::per_mille(50)).unwrap_or(wall).min(wall);
        Some(PackingUnit { wall, cpu, focused: self.is_focused() })
    }

    /// The planned callback is being sent. `cpu`: the client's CPU time so far, if known; the last parameter is the
    /// refresh before the target, and the interval between the two.
    pub fn called_back(
        &mut self,
        now: Instant,
        cpu: Option<Span>,
        (refresh, interval): (Instant, Span),
    ) -> Option<PlannedCallback> {
        let planned = self.planned.take()?;
        self.due = None;
        self.last_target = Some(planned.target);
        self.last_start = Some(planned.start);
        self.parts = UnfinishedParts::default();
        self.given_budget = self.budget(now).unwrap_or(Span::ZERO);
        let overlaps = self.is_drawing(now);
        let is_second = self.second_shot.begin();
        self.drawing = Some(OpenCallback {
            overlaps,
            is_second,
            target: planned.target,
            scheduled: planned.start,
            sent: now,
            expected_until: now + (interval * EXPECTED_INTERVALS).max(self.given_budget * EXPECTED_BUDGETS),
            cpu,
            cpu_outside: cpu.zip(self.cpu_at_commit).map(|(now, then)| now - then),
            offset: planned.start - refresh,
        });
        Some(planned)
    }

    /// New content arrived that completes the answer.
    pub fn committed<T>(&mut self, content: CommittedContent, output: &OutputMachine<T>) -> Option<CallbackAnswer> {
        let CommittedContent { at: now, reaches, cpu, queued, held_up, unfinished } = content;
        let mut parts = std::mem::take(&mut self.parts);
        unfinished.into_iter().for_each(|update| parts.add(update));
        let Some(drawing) = self.drawing.take() else {
            self.classifier.observe_unsolicited(queued);
            self.cpu_at_commit = cpu;
            return None;
        };
        let wall = (now - drawing.scheduled).max(Span::ZERO);
        let spent = cpu.zip(drawing.cpu).map(|(now, then)| (now - then).max(Span::ZERO));
        let idle = spent.is_none_or(|cpu| cpu < wall / PAUSE_CPU_DIVISOR);
        // With variable refresh, a frame that takes the longest interval is normal.
        let slowest = output.vsync().longest_interval();
        let pause = wall > slowest * PAUSE_PERIODS || (idle && wall > slowest * IDLE_PERIODS);
        if !pause && !drawing.overlaps {
            // A frame is late when it misses its deadline, not when it takes longer than estimated.
            let overshoot = now - self.deadline(drawing.target, output);
            let cost = AnswerCost { wall, cpu: spent, gpu: Span::ZERO, held_up, overshoot };
            let frame = UnfinishedFrame { parts, drawing, committed: now, cost };
            if parts.are_done() {
                self.learn_finished(frame, output);
            } else {
                self.unfinished.push(frame);
            }
        }
        self.cpu_at_commit = cpu;
        self.answered = Some(now);
        let next = self.reaches(now, output, reaches);
        self.update_guard(now, drawing, (next, output.vsync()));
        let may_hold = self.second_period && !queued && !drawing.overlaps && output.vsync().rate().has_periods();
        let hold = (may_hold && drawing.target > next).then_some(drawing.target);
        // A late frame takes the next refresh; the following frame is drawn for the refresh after that.
        let is_late = next > drawing.target;
        self.last_target = self.last_target.max(Some(next).filter(|_| is_late && !drawing.is_second));
        if !pause && !drawing.overlaps && !drawing.is_second {
            // On a variable rate the row may be in a later refresh than expected, and in time.
            let is_seen = self.in_place_row().and_then(|line| output.row_under_way(line, now)).is_some();
            self.note_row_answer(is_late && !is_seen, wall);
        }
        let is_done = parts.are_done();
        if is_done && !is_late && !pause && !drawing.overlaps {
            self.second_shot.answered(drawing);
        }
        Some(CallbackAnswer { drawing, wall, cpu: spent, budget: self.given_budget, pause, hold, is_done })
    }

    fn learn(&mut self, drawing: OpenCallback, cost: AnswerCost, vsync: &VsyncModel) {
        let interval = vsync.interval();
        let AnswerCost { wall, cpu, gpu, held_up, overshoot } = cost;
        if self.wall.samples() >= FIRST_FRAMES && !drawing.is_second {
            self.margin.observe(overshoot, interval);
        }
        let least = cpu.map_or(wall, |cpu| cpu + gpu + interval / CONTENTION_ALLOWANCE).min(wall);
        let alone = (wall - held_up).max(least);
        let late = if drawing.is_second { Span::ZERO } else { overshoot };
        self.wall.observe(self.own_waits.own_cost(wall, alone, late));
        self.cpu.observe(cpu.unwrap_or(wall).min(wall - gpu));
        self.classifier.observe(FrameEvidence {
            callback_offset: drawing.offset,
            answer: wall - gpu,
            cpu_inside: cpu,
            cpu_outside: drawing.cpu_outside,
            waited: outlasts_a_period(wall - gpu, vsync)
                && cpu.is_some_and(|cpu| cpu < (wall - gpu) / PAUSE_CPU_DIVISOR),
        });
    }

    fn miss_budget(&self, now: Instant) -> MissBudget {
        if self.is_interactive(now) { self.budgets.interactive } else { self.budgets.free_running }
    }

    /// The client's cost at its miss budget; `None` while too few frames are known.
    pub fn budget(&self, now: Instant) -> Option<Span> {
        if self.wall.samples() < FIRST_FRAMES {
            return None;
        }
        Some(self.wall.budget(known_quantile(self.miss_budget(now)))? + self.margin.get())
    }
}

//! The Pacer machine: when one client is called back on one output.
//!
//! One per (client, output) with all its surfaces there: surfaces paced alone would start together and measure each
//! other.
//!
//! ```text
//!            ┌────────── callback due ◄─────────── latched (or, with two periods of slack, committed)
//!            ▼                                            ▲
//!   planned(target k, start) ── start ─► Callback ─► drawing ── commit ─► applied, waits for the latch
//! ```
//!
//! *Just in time* starts at `ready_by(k) − budget`, where the budget is what the client needs at its miss budget. Where
//! no budget fits into a period, the earliest legal moment is right after the latch; a client that nobody is touching
//! then gets a second period of slack, one that is being touched does not: its drops are the price of its latency.

use super::class::{Classifier, Evidence};
use super::estimator::{Estimator, MissBudget, WindowQuantile};
use super::margin::{CLIENT_FLOOR, Margin, known_quantile};
use super::output::OutputMachine;
use super::pacing::{Class, Pacing, PacingWish};
use super::packing::Unit;
use super::target::RefreshIndex;
use crate::time::{Instant, Span};

/// Frames that a client's cost is remembered for: about four seconds at 60 Hz.
const COST_WINDOW: usize = 256;
/// Frames for the cost of now, which the slow change of a load shows in first.
const CPU_WINDOW: usize = 64;
/// Frames before a client is started later than right after the latch.
const FIRST_FRAMES: usize = 6;
/// How long after the last interrupting event a window still counts as touched.
const LINGER: Span = Span::from_millis(400);
/// Frames before the second period of slack is given or taken back on the evidence of misses.
const SLACK_EVIDENCE: usize = 24;
/// So many frames that do not fit, of those remembered, are hiccups and no property of the client.
const HICCUPS: u32 = 2;
/// The share of the miss budget at which the second period is taken back: hysteresis.
const SLACK_RETURN_DIVISOR: u32 = 2;
/// Input events further apart than this are no rhythm.
const RHYTHM_GAP: Span = Span::from_millis(40);
/// A callback at the refresh waits for the flip event of that refresh and for what it sets off: the same wake-up serves
/// both, and the client does not compete with it.
const AFTER_REFRESH: Span = Span::from_micros(300);
/// A frame that takes longer than so many periods is a pause of the client, not a cost.
const PAUSE_PERIODS: i64 = 12;
/// So is one that takes this many periods and leaves the CPU alone meanwhile: it had nothing to draw.
const IDLE_PERIODS: i64 = 3;
/// What a client is given beyond its CPU time where others were drawing too, as a share of an interval: waking up and
/// sending a commit cost something.
const CONTENTION_ALLOWANCE: i64 = 64;
/// Leaving the CPU alone: using less than this share of the time.
const PAUSE_CPU_DIVISOR: i64 = 4;

/// Why a client is paced as it is.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub enum Reason {
    /// Too few frames are known.
    #[default]
    New,
    /// Asked for by the configuration or a message.
    Configured,
    /// Its cost at the miss budget fits into a period.
    Fits,
    /// It is being touched and does not fit: started right after the latch.
    Interactive,
    /// It is not being touched and does not fit: a second period of slack.
    FreeRunning,
    /// It runs on its own clock.
    OwnClock,
    /// It queues its commits.
    Queued,
    /// It does not fit, and cannot use a second period: too few buffers.
    FewBuffers,
}

impl Reason {
    /// A few words for reports.
    pub const fn words(self) -> &'static str {
        match self {
            Reason::New => "too few frames seen",
            Reason::Configured => "configured",
            Reason::Fits => "its cost fits into a refresh",
            Reason::Interactive => "touched, and its cost does not fit: called back right after the latch",
            Reason::FreeRunning => "not touched, and its cost does not fit: two periods of slack",
            Reason::OwnClock => "it runs on its own clock",
            Reason::Queued => "it queues its commits",
            Reason::FewBuffers => "its cost does not fit, and it has too few buffers for a second period",
        }
    }
}

/// The shares of frames that may be late.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct MissBudgets {
    /// While nobody is touching the window.
    pub free_running: MissBudget,
    /// While somebody is.
    pub interactive: MissBudget,
}

impl Default for MissBudgets {
    fn default() -> Self {
        MissBudgets { free_running: MissBudget::FREE_RUNNING, interactive: MissBudget::INTERACTIVE }
    }
}

/// The callback that is planned.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Planned {
    /// The refresh that the client is to draw for.
    pub target: RefreshIndex,
    /// When to call back.
    pub start: Instant,
    /// Whether the start may be moved by packing: only just-in-time starts are.
    pub packed: bool,
}

/// A callback that was sent and not answered yet.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Drawing {
    /// The refresh that it draws for.
    pub target: RefreshIndex,
    /// When the callback was to be sent.
    pub scheduled: Instant,
    /// When it was sent.
    pub sent: Instant,
    /// CPU time of the client then.
    cpu: Option<Span>,
    cpu_outside: Option<Span>,
    offset: Span,
}

/// What an answer cost.
#[derive(Clone, Copy, Debug)]
struct Cost {
    wall: Span,
    cpu: Option<Span>,
    /// Other clients were drawing meanwhile.
    contended: bool,
    /// How far beyond the deadline it came.
    overshoot: Span,
}

/// A commit that answered a callback.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Answer {
    /// The callback.
    pub drawing: Drawing,
    /// From the scheduled callback to the commit.
    pub wall: Span,
    /// CPU time of the client meanwhile.
    pub cpu: Option<Span>,
    /// The budget that it had been given.
    pub budget: Span,
    /// The client had nothing to draw for a while: this took long, and says nothing about what its frames take.
    pub pause: bool,
    /// Show it at this refresh, not before: the one that it was drawn for, which a later latch will reach.
    pub hold: Option<RefreshIndex>,
}

/// When one client is called back on one output.
#[derive(Clone, Debug)]
pub struct Pacer {
    wish: PacingWish,
    budgets: MissBudgets,
    wall: WindowQuantile<COST_WINDOW>,
    cpu: WindowQuantile<CPU_WINDOW>,
    margin: Margin,
    classifier: Classifier,
    cpu_at_commit: Option<Span>,
    /// A callback may be sent from this moment on.
    due: Option<Instant>,
    drawing: Option<Drawing>,
    planned: Option<Planned>,
    given_budget: Span,
    /// The refresh of the last callback.
    last_target: Option<RefreshIndex>,
    focused: bool,
    held: bool,
    interrupted: Option<Instant>,
    input: Option<Instant>,
    input_interval: Option<Span>,
    /// When it answered last.
    answered: Option<Instant>,
    /// Two periods of slack are in use.
    second_period: bool,
    /// It was seen to use three buffers, so that a second period cannot starve it.
    three_buffers: bool,
    reason: Reason,
}

impl Pacer {
    /// A pacer that knows nothing of its client.
    pub fn new(wish: PacingWish, budgets: MissBudgets) -> Self {
        Pacer {
            wish,
            budgets,
            wall: WindowQuantile::new(),
            cpu: WindowQuantile::new(),
            margin: Margin::new(CLIENT_FLOOR),
            classifier: Classifier::default(),
            cpu_at_commit: None,
            due: None,
            drawing: None,
            planned: None,
            given_budget: Span::ZERO,
            last_target: None,
            focused: false,
            held: false,
            interrupted: None,
            input: None,
            input_interval: None,
            answered: None,
            second_period: false,
            three_buffers: false,
            reason: Reason::New,
        }
    }

    /// What the client was seen to be.
    pub fn class(&self) -> Class {
        self.classifier.class()
    }

    /// How the measured cost changes with the callback's moment.
    pub fn slope(&self) -> Option<f64> {
        self.classifier.slope()
    }

    /// The pacing that was asked for.
    pub const fn wished(&self) -> PacingWish {
        self.wish
    }

    /// The pacing in force and why.
    pub fn effective(&self) -> (Pacing, Reason) {
        // A client that never asks for callbacks is never planned for.
        let reason = match (self.wish, self.class()) {
            (PacingWish::Auto | PacingWish::Ahead, Class::OwnClock) => Reason::OwnClock,
            (PacingWish::Auto | PacingWish::Ahead, Class::Queued) => Reason::Queued,
            (PacingWish::Auto | PacingWish::Ahead, _) => self.reason,
            _ => Reason::Configured,
        };
        let chosen = if reason == Reason::OwnClock { Pacing::VsyncLate } else { Pacing::JustInTime };
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
    pub fn set_pacing(&mut self, wish: PacingWish, budgets: MissBudgets) {
        if (wish, budgets) == (self.wish, self.budgets) {
            return;
        }
        self.wish = wish;
        self.budgets = budgets;
        self.planned = None;
    }

    /// Whether the client's window has the focus.
    pub fn set_focused(&mut self, focused: bool) {
        self.focused = focused;
    }

    /// Whether a button or a finger is down on it.
    pub fn set_held(&mut self, held: bool, now: Instant) {
        self.held = held;
        self.interrupt(now);
    }

    /// Whether the client's window has the focus.
    pub const fn is_focused(&self) -> bool {
        self.focused
    }

    /// Whether a button or a finger is down on it.
    pub const fn is_held(&self) -> bool {
        self.held
    }

    /// An input event that interrupts was delivered: button, touch, key press, scroll.
    pub fn interrupt(&mut self, now: Instant) {
        self.interrupted = Some(now);
        self.input(now);
    }

    /// Any input event was delivered, motion too.
    pub fn input(&mut self, now: Instant) {
        if let Some(gap) = self.input.map(|last| now - last).filter(|gap| *gap > Span::ZERO) {
            self.input_interval = (gap < RHYTHM_GAP).then(|| match self.input_interval {
                Some(interval) => interval + (gap - interval) / 8,
                None => gap,
            });
        }
        self.input = Some(now);
    }

    /// The client was seen to have this many buffers in use at once.
    pub fn buffers(&mut self, count: usize) {
        self.three_buffers |= count >= 3;
    }

    /// Whether the user is at it.
    pub fn is_interactive(&self, now: Instant) -> bool {
        self.held || self.interrupted.is_some_and(|at| now - at < LINGER)
    }

    /// Until when the user counts as being at it, if nothing else happens; `None` if that is over, or while something is
    /// held down.
    pub fn interactive_until(&self, now: Instant) -> Option<Instant> {
        self.interrupted.map(|at| at + LINGER).filter(|until| *until > now && !self.held)
    }

    /// Whether a callback is waiting to be sent.
    pub const fn is_waiting(&self) -> bool {
        self.due.is_some()
    }

    /// The callback sent and not answered.
    pub const fn drawing(&self) -> Option<Drawing> {
        self.drawing
    }

    /// Whether it was drawing at any time since `from`.
    pub fn drew_since(&self, from: Instant) -> bool {
        self.drawing.is_some() || self.answered.is_some_and(|answered| answered > from)
    }

    /// The callback planned.
    pub const fn planned(&self) -> Option<Planned> {
        self.planned
    }

    /// A callback may be sent from `now` on: its update was latched, or it asked for nothing but a callback.
    pub fn callback_due(&mut self, now: Instant) {
        if self.due.is_none() {
            self.due = Some(now);
        }
    }

    /// A new callback was asked for while the commit before it still waits: due at once with two periods of slack.
    /// Returns whether it is.
    pub fn runs_ahead(&self) -> bool {
        self.second_period
    }

    /// No callback is wanted any more: the surfaces are gone or hidden.
    pub fn withdraw(&mut self) {
        self.due = None;
        self.planned = None;
        self.drawing = None;
    }

    /// Plans the callback that is due, if any.
    pub fn plan(&mut self, now: Instant, output: &OutputMachine) -> Option<Planned> {
        self.due?;
        self.choose(now, output);
        let planned = match self.effective().0 {
            Pacing::Vsync => self.plan_two_ahead(now, Span::ZERO, output),
            Pacing::VsyncLate => self.plan_at_refresh(now, output),
            Pacing::JustInTime | Pacing::Ahead => self.plan_just_in_time(now, output),
        };
        self.planned = Some(planned);
        Some(planned)
    }

    /// Packing moved the start.
    pub fn set_start(&mut self, start: Instant) {
        if let Some(planned) = &mut self.planned {
            planned.start = start;
        }
    }

    /// What packing has to know, for a start that it may move.
    pub fn unit(&self, now: Instant) -> Option<Unit> {
        let wall = self.budget(now)?;
        let cpu = self.cpu.budget(MissBudget::per_mille(50)).unwrap_or(wall).min(wall);
        Some(Unit { wall, cpu, focused: self.focused })
    }

    /// Snaps a just-in-time start to the input event that was just delivered, if no other is expected before it.
    /// Presto 3.1: the last event that still fits.
    pub fn snap_to_input(&mut self, now: Instant, interval: Span) {
        // Slower than the display, the next event is anybody's guess.
        let snaps = self.is_interactive(now) && self.input_interval.is_some_and(|rhythm| rhythm <= interval);
        let next_event = self.input.zip(self.input_interval).map(|(last, interval)| last + interval);
        let (Some(planned), Some(next_event)) = (&mut self.planned, next_event) else { return };
        if planned.packed && self.input == Some(now) && next_event > planned.start && snaps {
            planned.start = planned.start.min(now);
        }
    }

    /// The callback is being sent. `cpu`: the client's CPU time so far, if known; `refresh`: the refresh before the
    /// target.
    pub fn called_back(&mut self, now: Instant, cpu: Option<Span>, refresh: Instant) -> Option<Planned> {
        let planned = self.planned.take()?;
        self.due = None;
        self.last_target = Some(planned.target);
        self.given_budget = self.budget(now).unwrap_or(Span::ZERO);
        self.drawing = Some(Drawing {
            target: planned.target,
            scheduled: planned.start,
            sent: now,
            cpu,
            cpu_outside: cpu.zip(self.cpu_at_commit).map(|(now, then)| now - then),
            offset: planned.start - refresh,
        });
        Some(planned)
    }

    /// New content arrived (for a commit that waits for a fence: when it is ready). `queued`: it carries a fifo
    /// barrier or a time stamp. `contended`: other clients were drawing meanwhile.
    pub fn committed(
        &mut self,
        now: Instant,
        cpu: Option<Span>,
        queued: bool,
        contended: bool,
        output: &OutputMachine,
    ) -> Option<Answer> {
        let Some(drawing) = self.drawing.take() else {
            self.classifier.observe_unasked(queued);
            self.cpu_at_commit = cpu;
            return None;
        };
        let wall = (now - drawing.scheduled).max(Span::ZERO);
        let spent = cpu.zip(drawing.cpu).map(|(now, then)| (now - then).max(Span::ZERO));
        let interval = output.vsync().interval();
        let idle = spent.is_none_or(|cpu| cpu < wall / PAUSE_CPU_DIVISOR);
        let pause = wall > interval * PAUSE_PERIODS || (idle && wall > interval * IDLE_PERIODS);
        if !pause {
            // Late is what misses the deadline, not what takes longer than thought.
            let overshoot = now - output.latch_at(drawing.target);
            self.learn(drawing, Cost { wall, cpu: spent, contended, overshoot }, interval);
        }
        self.cpu_at_commit = cpu;
        self.answered = Some(now);
        let next = output.next_index(now);
        let hold = (self.second_period && !queued && drawing.target > next).then_some(drawing.target);
        // A late frame takes the next refresh; the one after it is drawn for the refresh after that.
        self.last_target = self.last_target.max(Some(next).filter(|next| *next > drawing.target));
        Some(Answer { drawing, wall, cpu: spent, budget: self.given_budget, pause, hold })
    }

    fn learn(&mut self, drawing: Drawing, cost: Cost, interval: Span) {
        let Cost { wall, cpu, contended, overshoot } = cost;
        if self.wall.samples() >= FIRST_FRAMES {
            self.margin.observe(overshoot, interval);
        }
        // Waiting for other clients is no cost of this one: packing sees to it that it does not have to.
        let alone = cpu.filter(|_| contended).map_or(wall, |cpu| cpu + interval / CONTENTION_ALLOWANCE).min(wall);
        self.wall.observe(alone);
        self.cpu.observe(cpu.unwrap_or(wall).min(wall));
        self.classifier.observe(Evidence {
            callback_offset: drawing.offset,
            answer: wall,
            cpu_inside: cpu,
            cpu_outside: drawing.cpu_outside,
        });
    }

    fn miss_budget(&self, now: Instant) -> MissBudget {
        if self.is_interactive(now) { self.budgets.interactive } else { self.budgets.free_running }
    }

    /// What the client needs at its miss budget; `None` while too little is known.
    pub fn budget(&self, now: Instant) -> Option<Span> {
        if self.wall.samples() < FIRST_FRAMES {
            return None;
        }
        Some(self.wall.budget(known_quantile(self.miss_budget(now)))? + self.margin.get())
    }

    /// Chooses the way of pacing for this moment, and says why.
    fn choose(&mut self, now: Instant, output: &OutputMachine) {
        let was_ahead = std::mem::take(&mut self.second_period);
        self.reason = match (self.wish, self.class()) {
            (PacingWish::Auto | PacingWish::Ahead, Class::OwnClock) => Reason::OwnClock,
            (PacingWish::Auto | PacingWish::Ahead, Class::Queued) => Reason::Queued,
            (PacingWish::Auto | PacingWish::Ahead, _) => self.reason_by_cost(now, output, was_ahead),
            _ => Reason::Configured,
        };
        self.second_period = self.reason == Reason::FreeRunning;
    }

    fn reason_by_cost(&self, now: Instant, output: &OutputMachine, was_ahead: bool) -> Reason {
        let samples = self.wall.samples();
        if samples < FIRST_FRAMES {
            return Reason::New;
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
        if self.three_buffers { Reason::FreeRunning } else { Reason::FewBuffers }
    }

    fn reachable(&self, now: Instant, output: &OutputMachine) -> RefreshIndex {
        let next = output.next_index(now);
        self.last_target.map_or(next, |last| next.max(last.next()))
    }

    fn plan_at_refresh(&self, now: Instant, output: &OutputMachine) -> Planned {
        let target = self.reachable(now, output);
        let refresh = output.vsync().present(RefreshIndex(target.0.saturating_sub(1)));
        Planned { target, start: (refresh + AFTER_REFRESH).max(now), packed: false }
    }

    /// Two periods before its refresh: at once, but never more often than the display refreshes.
    fn plan_two_ahead(&self, now: Instant, offset: Span, output: &OutputMachine) -> Planned {
        let target = self.reachable(now, output);
        let earliest = output.vsync().present(RefreshIndex(target.0.saturating_sub(2)));
        Planned { target, start: (earliest + offset).max(now), packed: false }
    }

    fn plan_just_in_time(&self, now: Instant, output: &OutputMachine) -> Planned {
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

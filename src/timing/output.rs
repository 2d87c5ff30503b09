//! The Output machine: when one output latches, composes and submits.
//!
//! ```text
//!           need ─► planned(k) ── latch_at(k) ─► Latch ─► composed ─► submitted ─► in flight ─► presented
//!             ▲                                     │ nothing changed                               │
//!             └─────────────────────────────────────┴───────────── more to show ◄──────────────────┘
//! ```
//!
//! It keeps one number per refresh that matters: the last one that something was latched for. A refresh is latched at
//! most once, and a frame waits for the one in flight; where a display takes a refresh or more from submit to light,
//! for the one before that.

mod compose_cost;
mod driver_margin;
mod early;
mod finished;
mod in_flight;

use super::fixed_queue::FixedQueue;
use super::target::{RefreshIndex, Target};
use super::vsync::VsyncModel;
use crate::time::{Instant, Span};
use compose_cost::ComposeCost;
use driver_margin::DriverMargin;
pub use finished::Finished;
use in_flight::InFlight;
pub use in_flight::Outcome;

/// Targets whose deadlines are out at the same time: those of frames ahead, and the one being latched.
const PUBLISHED: usize = 2 * super::ahead::MOST_AHEAD as usize;
/// Frames on their way to the screen at once, at most.
pub const MOST_IN_FLIGHT: usize = 2;

/// When an output composes.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum LatchPolicy {
    /// At once when idle, else at the refresh: two periods of slack, as wlroots has it.
    AtRefresh,
    /// As late as the cost of composing allows.
    #[default]
    Late,
}

/// What a latch came to.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Composed {
    /// Nothing had changed after all: nothing was submitted.
    Nothing,
    /// A frame was submitted whose cost says nothing about the next: planes only, or the first use of a buffer.
    Odd,
    /// A frame was submitted.
    Usual,
    /// The same, and a GPU still draws it: [`OutputMachine::rendered`] tells when it is complete.
    Unfinished,
}

/// When one output latches, composes and submits.
#[derive(Clone, Debug)]
pub struct OutputMachine {
    vsync: VsyncModel,
    lead: Span,
    driver: DriverMargin,
    compose: ComposeCost,
    policy: LatchPolicy,
    powered: bool,
    needed: bool,
    /// Updates wait for this refresh or a later one.
    due: Option<RefreshIndex>,
    /// The first refresh that somebody was promised who has not committed for it.
    promised: Option<RefreshIndex>,
    /// The last refresh whose latch passed unused, and how late whoever drives us woke for it.
    skipped: Option<(RefreshIndex, Span)>,
    /// What is being drawn elsewhere, for this refresh.
    composing: Option<RefreshIndex>,
    in_flight: FixedQueue<InFlight, MOST_IN_FLIGHT>,
    /// How many frames may be in flight.
    depth: usize,
    /// The next of the frames that are finished already.
    finished: Option<Finished>,
    /// The one that is being drawn ahead.
    expected: Option<RefreshIndex>,
    /// Nothing is latched for this refresh or an earlier one again.
    latched: RefreshIndex,
    /// Published deadlines, which a later estimate may not undercut, by the low bits of their refresh.
    published: [(RefreshIndex, Instant); PUBLISHED],
}

impl OutputMachine {
    /// A machine for a display with this vsync and this submit lead.
    pub fn new(vsync: VsyncModel, lead: Span, now: Instant) -> Self {
        let latched = RefreshIndex(vsync.at_or_after(now).0.saturating_sub(1));
        OutputMachine {
            vsync,
            lead,
            driver: DriverMargin::default(),
            compose: ComposeCost::new(),
            policy: LatchPolicy::default(),
            powered: true,
            needed: false,
            due: None,
            promised: None,
            skipped: None,
            composing: None,
            in_flight: FixedQueue::new(),
            depth: 1,
            finished: None,
            expected: None,
            latched,
            published: [(RefreshIndex(u64::MAX), Instant::ZERO); PUBLISHED],
        }
    }

    /// The display's clock.
    pub const fn vsync(&self) -> &VsyncModel {
        &self.vsync
    }

    /// The display's clock, to tell it what happened outside of frames: a mode, a suspend, a vblank that was read.
    pub fn vsync_mut(&mut self) -> &mut VsyncModel {
        &mut self.vsync
    }

    /// How long before `present` a frame must have been submitted: the display's lead and what was learned on top.
    pub fn submit_lead(&self) -> Span {
        self.lead + self.driver.get()
    }

    /// The display's lead alone.
    pub const fn display_lead(&self) -> Span {
        self.lead
    }

    /// The display's lead changed, with its mode or because it was learned. `guess`: what the driver may want on top of
    /// it, until more is known; zero where the lead is exact.
    pub fn set_lead(&mut self, lead: Span, guess: Span) {
        self.lead = lead;
        self.driver = DriverMargin::guessed(guess);
    }

    /// How many submitted frames the display lets wait at once.
    pub fn set_depth(&mut self, frames: u32) {
        self.depth = (frames as usize).clamp(1, MOST_IN_FLIGHT);
    }

    /// How many frames may be in flight now: more than one only where the next one's latch comes before the light of the
    /// one before. Elsewhere it waits for that light, lest one late frame make all that follow late, each held up by the
    /// one before.
    fn most_in_flight(&self) -> usize {
        if self.submit_lead() + self.compose_budget() > self.vsync.interval() { self.depth } else { 1 }
    }

    /// Chooses when to compose.
    pub fn set_policy(&mut self, policy: LatchPolicy) {
        self.policy = policy;
    }

    /// When it composes.
    pub const fn policy(&self) -> LatchPolicy {
        self.policy
    }

    /// Switched on or off. Off, it plans nothing; a frame in flight is forgotten.
    pub fn set_powered(&mut self, powered: bool) {
        self.powered = powered;
        if !powered {
            self.in_flight.clear();
            self.composing = None;
            self.needed = false;
            self.due = None;
        }
    }

    /// Whether a frame is on its way to the screen.
    pub const fn is_busy(&self) -> bool {
        !self.in_flight.is_empty()
    }

    /// Whether something waits to be shown.
    pub const fn is_needed(&self) -> bool {
        self.needed || self.due.is_some()
    }

    /// Something visible changed.
    pub fn need(&mut self) {
        self.needed = true;
    }

    /// Something is to be shown at `index`, not before.
    pub fn need_at(&mut self, index: RefreshIndex) {
        self.due = Some(self.due.map_or(index, |due| due.min(index)));
    }

    /// What composing costs at the output's miss budget, from the scheduled latch to the return of submit.
    pub fn compose_budget(&self) -> Span {
        self.compose.budget(self.vsync.interval())
    }

    /// What composing usually costs.
    pub fn compose_typical(&self) -> Span {
        self.compose.typical().min(self.compose_budget())
    }

    /// By when a frame for `index` must be submitted.
    pub fn submit_by(&self, index: RefreshIndex) -> Instant {
        self.vsync.present(index) - self.submit_lead()
    }

    /// When content for `index` is chosen, by the latest estimate but not before what was published.
    pub fn latch_at(&self, index: RefreshIndex) -> Instant {
        let estimate = self.submit_by(index) - self.compose_budget();
        match self.published[Self::published_slot(index)] {
            (published, ready_by) if published == index => estimate.max(ready_by),
            _ => estimate,
        }
    }

    /// The last moment at which a latch for `index` is worth trying: composing as usual, without the margin.
    pub fn last_latch(&self, index: RefreshIndex) -> Instant {
        (self.submit_by(index) - self.compose_typical()).max(self.latch_at(index))
    }

    /// The last refresh that something was latched for.
    pub const fn latched(&self) -> RefreshIndex {
        self.latched
    }

    /// The first refresh that content chosen at `now` can still reach.
    pub fn next_index(&self, now: Instant) -> RefreshIndex {
        let mut index = self.vsync.at_or_after(now).max(self.latched.next());
        if self.vsync.is_variable() {
            // A late frame scans out when it is ready: there is no refresh that it could miss.
            return index;
        }
        let free = self.free_at(now);
        while self.last_latch(index) < free {
            index = index.next();
        }
        index
    }

    /// When the display takes another frame: while as many as may be are on their way, with the light of the first of
    /// them. Where composing takes nearly an interval or more, that is too late for the refresh after.
    fn free_at(&self, now: Instant) -> Instant {
        let under_way = self.in_flight.len() + usize::from(self.composing.is_some());
        let Some(nth) = under_way.checked_sub(self.most_in_flight()) else { return now };
        let late = |flight: &InFlight| u64::from(flight.submitted > flight.submit_by);
        let flight = self.in_flight.get(nth).map(|flight| flight.index.plus(late(flight)));
        flight.or(self.composing).map_or(now, |index| self.vsync.present(index).max(now))
    }

    /// The target for `index`, as it is published from now on.
    pub fn publish(&mut self, index: RefreshIndex) -> Target {
        let ready_by = self.latch_at(index);
        let slot = Self::published_slot(index);
        if self.published[slot].0 != index {
            self.published[slot] = (index, ready_by);
        }
        self.target(index)
    }

    const fn published_slot(index: RefreshIndex) -> usize {
        index.0 as usize % PUBLISHED
    }

    /// The target for `index` by the latest estimate.
    pub fn target(&self, index: RefreshIndex) -> Target {
        Target {
            id: index,
            present: self.vsync.present(index),
            ready_by: self.latch_at(index),
            interval: self.vsync.interval(),
        }
    }

    /// The next latch: for which refresh and when. `None` while there is nothing to show, the display takes no more
    /// frames or the output is off.
    pub fn next_latch(&self, now: Instant) -> Option<(RefreshIndex, Instant)> {
        let is_full = self.composing.is_some() || self.in_flight.len() >= self.most_in_flight();
        if !self.powered || is_full || !self.is_needed() {
            return None;
        }
        if let Some(submit) = self.submits_finished(now) {
            return Some(submit);
        }
        if self.expected.is_some() {
            return None;
        }
        let mut index = self.next_index(now);
        if let (false, Some(due)) = (self.needed, self.due) {
            index = index.max(due);
        }
        let untrusted = !self.vsync.is_variable() && !self.vsync.is_trusted(now);
        // What was drawn for this refresh must not be shown at the one before it.
        let is_awaited = self.due == Some(index);
        let at_once = self.needed && !is_awaited && (self.policy == LatchPolicy::AtRefresh || untrusted);
        let when = if at_once { now } else { self.latch_at(index).max(now) };
        Some((index, when))
    }

    /// Content was chosen for `index`; until [`composed`](Self::composed) nothing else happens on this output.
    pub fn latch(&mut self, index: RefreshIndex) {
        self.latched = self.latched.max(index);
        self.needed = false;
        if self.due.is_some_and(|due| due <= index) {
            self.due = None;
        }
    }

    /// What was chosen for `index` is drawn elsewhere and takes a while: nothing is latched until it is
    /// [`composed`](Self::composed).
    pub const fn composing(&mut self, index: RefreshIndex) {
        self.composing = Some(index);
    }

    /// Whether the frame that is composed now shows something that moves by itself: such frames cost something else.
    pub const fn moves(&mut self, now: bool) {
        self.compose.moves(now);
    }

    /// Composing and submitting took from the scheduled latch until `done`.
    pub fn composed(&mut self, index: RefreshIndex, scheduled: Instant, done: Instant, composed: Composed) {
        if self.composing == Some(index) {
            self.composing = None;
        }
        if composed == Composed::Usual {
            self.compose.observe(done - scheduled, self.vsync.interval());
        }
        if composed != Composed::Nothing {
            let unfinished = (composed == Composed::Unfinished).then_some(scheduled);
            let flight = InFlight { index, submitted: done, submit_by: self.submit_by(index), unfinished };
            // There is room: nothing is latched while there is none.
            let _ = self.in_flight.push(flight);
        }
    }
}

#[cfg(test)]
mod tests;

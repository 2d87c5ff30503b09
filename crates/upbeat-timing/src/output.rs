//! The Output machine: when one output latches, composes and submits.
//!
//! ```text
//!           need ─► planned(k) ── latch_at(k) ─► latch ─► chosen ─► drawn, submitted ─► in flight ─► presented
//!             ▲                                    │ nothing changed                                    │
//!             └────────────────────────────────────┴──────────────── more to show ◄─────────────────────┘
//! ```
//!
//! It has every frame of the output in one place ([`FrameQueue`]) and numbers refreshes by the clock (`numbers`). A frame
//! waits for the one in flight; where a display takes a refresh or more from submit to light, for the one before that.

mod ahead;
mod budget;
mod cadence;
mod compose_cost;
mod driver_margin;
mod in_hand;
mod in_place;
mod light;
mod numbers;
mod rate;
mod rhythm;

use super::calm::Calm;
use super::frames::{AheadSettings, Flight, Frame, FrameQueue, Trigger};
use super::id::FrameId;
use super::record::Need;
use super::target::{RefreshIndex, Target};
use super::vsync::VsyncModel;
use crate::time::{Instant, Span};
pub use ahead::{Finished, Work};
use cadence::Cadence;
use compose_cost::ComposeCost;
use driver_margin::DriverMargin;
use in_place::InPlace;
pub use light::Outcome;
use numbers::Numbers;

/// Targets whose deadlines are out at the same time: those of frames ahead, and the one being latched.
const PUBLISHED: usize = 2 * super::ahead::MOST_AHEAD as usize;
/// A place for a deadline that holds none.
const UNPUBLISHED: (RefreshIndex, Instant) = (RefreshIndex(u64::MAX), Instant::ZERO);
/// Frames on their way to the screen at once, at most.
const MOST_IN_FLIGHT: usize = 2;

/// When an output composes.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum LatchPolicy {
    /// At once when idle, else at the refresh: two periods of slack, as wlroots has it.
    AtRefresh,
    /// As late as the cost of composing allows.
    #[default]
    Late,
}

/// What the cost of a frame says of the next one's.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Composed {
    /// Nothing: the first use of a buffer, or a rectangle on screen.
    Odd,
    /// It moved planes and composed nothing: it says what another such frame costs.
    Planes,
    /// It costs as much.
    Usual,
    /// The same, but a GPU still draws it: [`OutputMachine::rendered`] tells when it is complete.
    Unfinished,
}

/// A refresh for which something waits.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct Due {
    pub index: RefreshIndex,
    /// Where refreshes have no grid: not before this moment.
    pub at: Instant,
}

/// When one output latches, composes and submits.
#[derive(Clone, Debug)]
pub struct OutputMachine<T = ()> {
    vsync: VsyncModel,
    lead: Span,
    driver: DriverMargin,
    compose: ComposeCost,
    policy: LatchPolicy,
    powered: bool,
    /// Something is to be shown as soon as possible, for this reason.
    need: Option<Need>,
    /// What is to be shown is more than planes that move.
    composes: bool,
    /// The frame at hand is for a view that is scrolled, and whether the last such frame moved planes alone.
    scrolls: bool,
    scrolled_planes: bool,
    /// Updates wait for this refresh or a later one.
    due: Option<Due>,
    /// The first refresh that somebody was promised who has not committed for it.
    promised: Option<RefreshIndex>,
    /// What is known of the refreshes to come where the rate is variable.
    cadence: Cadence,
    /// A client draws for it, or is about to.
    drawn_for: bool,
    /// The last refresh whose latch passed unused, and how late whoever drives us woke for it.
    skipped: Option<(RefreshIndex, Span)>,
    frames: FrameQueue<T>,
    numbers: Numbers,
    calm: Calm,
    /// How many frames may be in flight.
    depth: usize,
    /// How many frames the display may have at once, the one in flight among them.
    pending: usize,
    /// The cursor is on a plane of its own.
    cursor_plane: bool,
    /// What drawing a frame takes on another thread; zero where it is drawn on this one.
    draw_time: Span,
    /// What waits is shown whatever happens.
    insists: bool,
    /// What the display holds is wrong, and is to be withdrawn before anything is latched.
    withdraws: bool,
    /// Published deadlines, which a later estimate may not undercut, by the low bits of their refresh.
    published: [(RefreshIndex, Instant); PUBLISHED],
    in_place: InPlace,
}

impl<T> OutputMachine<T> {
    /// A machine for a display with this vsync and this submit lead.
    pub fn new(vsync: VsyncModel, lead: Span, now: Instant) -> Self {
        let last = RefreshIndex(vsync.at_or_after(now).0.saturating_sub(1));
        let mut frames = FrameQueue::new(AheadSettings::buffers(2), Trigger::Ahead);
        // Motion is wanted whenever it is asked for.
        frames.begin(last);
        OutputMachine {
            vsync,
            lead,
            driver: DriverMargin::default(),
            compose: ComposeCost::new(),
            policy: LatchPolicy::default(),
            powered: true,
            need: None,
            composes: false,
            scrolls: false,
            scrolled_planes: false,
            due: None,
            promised: None,
            cadence: Cadence::default(),
            drawn_for: false,
            skipped: None,
            frames,
            numbers: Numbers { spent: last, shown: RefreshIndex(0), empty: None },
            calm: Calm::default(),
            depth: 1,
            pending: 1,
            cursor_plane: false,
            draw_time: Span::ZERO,
            insists: false,
            withdraws: false,
            published: [UNPUBLISHED; PUBLISHED],
            in_place: InPlace::default(),
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

    /// How many frames the display may have at once, and whether it shows the cursor on a plane of its own.
    pub const fn set_planes(&mut self, pending: u32, cursor_plane: bool) {
        (self.pending, self.cursor_plane) = (pending as usize, cursor_plane);
    }

    /// Chooses when to compose.
    pub fn set_policy(&mut self, policy: LatchPolicy) {
        self.policy = policy;
    }

    /// When it composes.
    pub const fn policy(&self) -> LatchPolicy {
        self.policy
    }

    /// Switched on or off. Off, it plans nothing; what is on its way the display gives back.
    pub fn set_powered(&mut self, powered: bool) {
        self.powered = powered;
        if !powered {
            (self.need, self.due, self.cadence.bound, self.withdraws) = (None, None, None, false);
        }
    }

    /// Every frame.
    pub const fn frames(&self) -> &FrameQueue<T> {
        &self.frames
    }

    /// Every frame, to tell what became of it.
    pub const fn frames_mut(&mut self) -> &mut FrameQueue<T> {
        &mut self.frames
    }

    /// Whether a frame is on its way to the screen.
    pub fn is_busy(&self) -> bool {
        self.frames.in_flight().next().is_some()
    }

    /// Whether something waits to be shown.
    pub const fn is_needed(&self) -> bool {
        self.need.is_some() || self.due.is_some()
    }

    /// Why something is to be shown as soon as possible, if it is.
    pub const fn needs(&self) -> Option<Need> {
        self.need
    }

    /// Something visible changed, for this reason. What was made ahead without it is wrong, unless it is our own motion.
    pub fn need(&mut self, need: Need) {
        if self.need.is_none_or(|known| known == Need::Animation) {
            self.need = Some(need);
        }
        let goes_along = match need {
            Need::Animation => true,
            // It is put where it is when the frame is submitted.
            Need::Cursor => self.cursor_plane,
            _ => false,
        };
        if !goes_along {
            self.supersede();
        }
        self.composes |= match need {
            Need::Cursor => !self.cursor_plane,
            Need::Scroll => !self.scrolled_planes,
            _ => true,
        };
    }

    /// What was taken by something else is wanted yet, for this reason; nothing is wrong that was made ahead.
    pub const fn need_still(&mut self, need: Need) {
        self.need = Some(need);
        self.composes = true;
    }

    /// What was latched did not come to be shown: the next refresh has another try.
    pub fn need_again(&mut self) {
        self.need.get_or_insert(Need::Content);
        self.composes = true;
    }

    /// Something is to be shown at `index`, not before.
    pub fn need_at(&mut self, index: RefreshIndex) {
        self.need_from(index, Instant::ZERO);
    }

    /// The same; where refreshes have no grid, at the moment `at`, if there is one.
    pub fn need_from(&mut self, index: RefreshIndex, at: Instant) {
        if at > Instant::ZERO {
            self.cadence.bind(at);
        }
        let due = Due { index, at };
        self.due = Some(self.due.map_or(due, |known| known.min(due)));
    }

    /// By when a frame for `index` must be submitted.
    pub fn submit_by(&self, index: RefreshIndex) -> Instant {
        self.vsync.present(index) - self.submit_lead()
    }

    /// `estimate`, but not before what was published for `index`.
    fn keep_published(&self, index: RefreshIndex, estimate: Instant) -> Instant {
        match self.published[Self::published_slot(index)] {
            (published, ready_by) if published == index => estimate.max(ready_by),
            _ => estimate,
        }
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
        if !self.powered || self.is_full() {
            return None;
        }
        if !self.is_needed() {
            return self.next_timed_latch(now);
        }
        if let Some(submit) = self.submits_finished(now) {
            return Some(submit);
        }
        if self.expected().is_some() {
            return None;
        }
        let mut index = self.next_index(now);
        let due = self.due.filter(|_| self.need.is_none());
        index = due.map_or(index, |due| index.max(due.index));
        let untrusted = self.has_unknown_grid(now);
        // What was drawn for this refresh must not be shown at the one before it.
        let is_awaited = self.due.is_some_and(|due| due.index == index);
        let at_once = self.need.is_some() && !is_awaited && (self.policy == LatchPolicy::AtRefresh || untrusted);
        if at_once && self.may_latch_at_once(index, now) {
            return Some((index, now));
        }
        let timed = self.next_timed_latch(now);
        timed.or_else(|| Some((index, self.planned_latch(index).max(now))))
    }

    /// Content is being chosen for `index`, for this reason. To be followed by [`choose`](Self::choose) or
    /// [`empty`](Self::empty).
    pub fn latch(&mut self, index: RefreshIndex) -> Need {
        if self.due.is_some_and(|due| due.index <= index) {
            self.due = None;
        }
        let usual = if self.cadence.latch(index) { Need::Output } else { Need::Content };
        self.composes = false;
        let need = self.need.take().unwrap_or(usual);
        self.scrolls = need == Need::Scroll;
        need
    }

    /// A latch chose `content` for `index`. To be followed by [`submitted`](Self::submitted) or [`fail`](Self::fail).
    pub fn choose(&mut self, index: RefreshIndex, content: T) -> FrameId {
        let submit_by = self.submit_by(index);
        self.frames.choose(index, submit_by, content)
    }

    /// What a latch chose was submitted: choosing, composing and that took from the `scheduled` latch until `done`.
    pub fn submitted(&mut self, id: FrameId, scheduled: Instant, done: Instant, composed: Composed) {
        match composed {
            Composed::Usual => self.compose.observe(done - scheduled, self.vsync.interval()),
            Composed::Planes => self.compose.observe_planes(done - scheduled, self.vsync.interval()),
            Composed::Odd | Composed::Unfinished => {}
        }
        if std::mem::take(&mut self.scrolls) {
            self.scrolled_planes = composed == Composed::Planes;
        }
        let Some((target, chosen)) = self.frames.get(id).map(|frame| (frame.target, *frame.flight())) else { return };
        let unfinished = (composed == Composed::Unfinished).then_some(scheduled);
        let (index, submit_by) = self.flies_for(target, chosen.submit_by);
        self.frames.fly(id, index, Flight { submitted: done, submit_by, unfinished });
    }

    /// What a latch chose could not be drawn, or was refused. Its refresh is spent: the next one has another try.
    pub fn fail(&mut self, id: FrameId) -> Option<Frame<T>> {
        let frame = self.frames.take(id)?;
        // One that was made ahead leaves its refresh to what comes in its place.
        if !frame.is_ahead() {
            self.spend(frame.target);
        }
        Some(frame)
    }
}

#[cfg(test)]
mod tests;

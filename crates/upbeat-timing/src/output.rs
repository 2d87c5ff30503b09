//! The Output machine: when one output latches, composes and submits.
//!
//! ```text
//!           need ─► planned(k) ── latch_at(k) ─► latch ─► chosen ─► drawn, submitted ─► in flight ─► presented
//!             ▲                                    │ nothing changed                                    │
//!             └────────────────────────────────────┴──────────────── more to show ◄─────────────────────┘
//! ```
//!
//! It keeps every frame of the output in one place ([`FrameQueue`]) and numbers refreshes by the clock
//! (`refresh_numbers`). A frame waits for the frame in flight. Where a display takes a refresh or more from submit to light, it waits for the
//! frame before that.

mod ahead;
mod budget;
mod compose_cost;
mod content_rhythm;
mod driver_margin;
mod early_latch;
mod in_place;
mod low_framerate;
mod panel_schedule;
mod presentation;
mod rate;
mod refresh_numbers;
mod row_refresh;

use super::frames::{AheadSettings, FlightTimes, FrameQueue, FrameTrigger, QueuedFrame};
use super::id::FrameId;
use super::idle_predictor::IdlePredictor;
use super::record::RepaintReason;
use super::target::{RefreshIndex, Target};
use super::vsync::VsyncModel;
use crate::time::{Instant, Span};
pub use ahead::{AheadLimits, FinishedFrame};
use compose_cost::ComposeCost;
use content_rhythm::ContentRhythms;
use driver_margin::DriverMargin;
use in_place::InPlaceTiming;
use panel_schedule::PanelSchedule;
pub use presentation::PresentOutcome;
use refresh_numbers::RefreshNumbers;

/// Targets whose deadlines may be published at the same time: frames ahead, and the frame that is being latched.
const PUBLISHED: usize = 2 * super::surface_targets::MOST_AHEAD as usize;
/// An empty entry of the published deadlines.
const UNPUBLISHED: (RefreshIndex, Instant) = (RefreshIndex(u64::MAX), Instant::ZERO);
/// The most frames in flight at once.
const MOST_IN_FLIGHT: usize = 2;

/// When an output latches and composes.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum LatchPolicy {
    /// At once when idle, otherwise at the refresh: two periods of slack, as in wlroots.
    AtRefresh,
    /// As late as the cost of composing allows.
    #[default]
    Late,
}

/// How far the cost of a frame predicts the cost of the next frame.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ComposeCostKind {
    /// Not at all: the first use of a buffer, or a rectangle written in place.
    Odd,
    /// The frame moved planes and composed nothing: its cost predicts other such frames.
    Planes,
    /// An ordinary composed frame: the next costs about as much.
    Usual,
    /// Like `Usual`, but a GPU still draws the frame: [`OutputMachine::mark_rendered`] reports when it is complete.
    Unfinished,
}

/// A refresh that an update waits for.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct DueRefresh {
    pub index: RefreshIndex,
    /// With variable refresh: not before this moment.
    pub at: Instant,
}

/// Decides when one output latches, composes and submits.
#[derive(Clone, Debug)]
pub struct OutputMachine<T = ()> {
    vsync: VsyncModel,
    lead: Span,
    driver: DriverMargin,
    compose: ComposeCost,
    policy: LatchPolicy,
    powered: bool,
    /// The reason to show a frame as soon as possible.
    repaint_reason: Option<RepaintReason>,
    /// Nothing but the cursor needs that frame.
    needs_only_cursor: bool,
    /// The next frame needs composing, not only moved planes.
    composes: bool,
    /// The next frame is for a scrolled view.
    scrolls: bool,
    /// The last frame for a scrolled view only moved planes.
    scrolled_planes: bool,
    /// Updates wait for this refresh or a later one.
    due: Option<DueRefresh>,
    /// The first refresh that was promised to a client that has not committed for it yet.
    promised: Option<RefreshIndex>,
    /// The times that waiting frames are bound to, where the rate is variable.
    panel_schedule: PanelSchedule,
    /// When surfaces are expected to commit, where the rate is variable.
    content_rhythms: ContentRhythms,
    /// A client draws for this output, or is about to.
    client_draws: bool,
    /// A client without a rhythm draws, or is about to: its frame may come at any moment.
    unsteady_client_draws: bool,
    /// The last refresh whose latch passed unused, and how late the caller woke for it.
    unused_latch: Option<(RefreshIndex, Span)>,
    frames: FrameQueue<T>,
    refresh_numbers: RefreshNumbers,
    idle_predictor: IdlePredictor,
    /// The most frames that may be in flight.
    depth: usize,
    /// The most frames that the display may have at once, including the frame in flight.
    pending: usize,
    /// The display shows the cursor on its own plane.
    cursor_plane: bool,
    /// The time that another thread takes to draw a frame; zero where this thread draws.
    draw_time: Span,
    /// Frames ahead are shown even if they become outdated: they are never superseded.
    never_supersedes: bool,
    /// The frames that the display holds are outdated and must be withdrawn before the next latch.
    withdraw_scheduled: bool,
    /// Published deadlines, indexed by the low bits of the refresh. A later estimate may not be earlier than these.
    published: [(RefreshIndex, Instant); PUBLISHED],
    in_place: InPlaceTiming,
}

impl<T> OutputMachine<T> {
    /// A machine for a display with this vsync model and this submit lead.
    pub fn new(vsync: VsyncModel, lead: Span, now: Instant) -> Self {
        let last = RefreshIndex(vsync.at_or_after(now).0.saturating_sub(1));
        let mut frames = FrameQueue::new(AheadSettings::buffers(2), FrameTrigger::Ahead);
        // The queue always accepts frames ahead; the caller decides when there is motion.
        frames.begin(last);
        OutputMachine {
            vsync,
            lead,
            driver: DriverMargin::default(),
            compose: ComposeCost::new(),
            policy: LatchPolicy::default(),
            powered: true,
            repaint_reason: None,
            needs_only_cursor: false,
            composes: false,
            scrolls: false,
            scrolled_planes: false,
            due: None,
            promised: None,
            panel_schedule: PanelSchedule::default(),
            content_rhythms: ContentRhythms::default(),
            client_draws: false,
            unsteady_client_draws: false,
            unused_latch: None,
            frames,
            refresh_numbers: RefreshNumbers { spent: last, shown: RefreshIndex(0), empty: None },
            idle_predictor: IdlePredictor::default(),
            depth: 1,
            pending: 1,
            cursor_plane: false,
            draw_time: Span::ZERO,
            never_supersedes: false,
            withdraw_scheduled: false,
            published: [UNPUBLISHED; PUBLISHED],
            in_place: InPlaceTiming::default(),
        }
    }

    /// The display's vsync model, read only.
    pub const fn vsync(&self) -> &VsyncModel {
        &self.vsync
    }

    /// The display's vsync model, to report events other than frames: a new mode, a suspend, a vblank read from the
    /// device.
    pub fn vsync_mut(&mut self) -> &mut VsyncModel {
        &mut self.vsync
    }

    /// How long before `present` a frame must have been submitted: the display's lead plus the learned driver margin.
    pub fn submit_lead(&self) -> Span {
        self.lead + self.driver.get()
    }

    /// The display's lead without the learned driver margin.
    pub const fn display_lead(&self) -> Span {
        self.lead
    }

    /// The display's lead changed, with its mode or because it was learned. `guess`: the initial driver margin on
    /// top, until the real margin is learned; zero where the lead is exact.
    pub fn set_lead(&mut self, lead: Span, guess: Span) {
        self.lead = lead;
        self.driver = DriverMargin::guessed(guess);
    }

    /// Sets how many submitted frames the display queues at once.
    pub fn set_depth(&mut self, frames: u32) {
        self.depth = (frames as usize).clamp(1, MOST_IN_FLIGHT);
    }

    /// Sets how many frames the display may have at once, and whether it shows the cursor on its own plane.
    pub const fn set_planes(&mut self, pending: u32, cursor_plane: bool) {
        (self.pending, self.cursor_plane) = (pending as usize, cursor_plane);
    }

    /// Sets when the output latches and composes.
    pub fn set_policy(&mut self, policy: LatchPolicy) {
        self.policy = policy;
    }

    /// When the output latches and composes.
    pub const fn policy(&self) -> LatchPolicy {
        self.policy
    }

    /// The output was switched on or off. Without power it plans nothing, and the display returns the frames that
    /// it has.
    pub fn set_powered(&mut self, powered: bool) {
        self.powered = powered;
        if !powered {
            (self.repaint_reason, self.due, self.withdraw_scheduled) = (None, None, false);
            (self.panel_schedule.bound, self.panel_schedule.row_refresh) = (None, None);
        }
    }

    /// The output's frames, read only.
    pub const fn frames(&self) -> &FrameQueue<T> {
        &self.frames
    }

    /// The output's frames, to report their progress.
    pub const fn frames_mut(&mut self) -> &mut FrameQueue<T> {
        &mut self.frames
    }

    /// Whether a frame is in flight.
    pub fn is_busy(&self) -> bool {
        self.frames.in_flight().next().is_some()
    }

    /// Whether a frame is needed, now or at a later refresh.
    pub const fn is_repaint_scheduled(&self) -> bool {
        self.repaint_reason.is_some() || self.due.is_some()
    }

    /// The reason to show a frame as soon as possible, if any.
    pub const fn repaint_reason(&self) -> Option<RepaintReason> {
        self.repaint_reason
    }

    /// A visible change happened, for this reason. It makes frames ahead outdated, unless they foresee it.
    pub fn schedule_repaint(&mut self, need: RepaintReason) {
        let is_cursor = need == RepaintReason::Cursor;
        self.needs_only_cursor = is_cursor && (self.repaint_reason.is_none() || self.needs_only_cursor);
        if self.repaint_reason.is_none_or(RepaintReason::is_foreseen) {
            self.repaint_reason = Some(need);
        }
        let goes_along = match need {
            RepaintReason::Animation | RepaintReason::Fling => true,
            // A cursor plane is positioned when the frame is submitted.
            RepaintReason::Cursor => self.cursor_plane,
            _ => false,
        };
        if !goes_along {
            self.supersede();
        }
        self.composes |= match need {
            RepaintReason::Cursor => !self.cursor_plane,
            RepaintReason::Scroll => !self.scrolled_planes,
            _ => true,
        };
    }

    /// The need was consumed by another frame but remains, for this reason. Frames ahead stay valid.
    pub const fn keep_repaint_scheduled(&mut self, need: RepaintReason) {
        self.repaint_reason = Some(need);
        (self.composes, self.needs_only_cursor) = (true, false);
    }

    /// A latched frame was not shown: the next refresh tries again.
    pub fn retry_repaint(&mut self) {
        self.repaint_reason.get_or_insert(RepaintReason::Content);
        (self.composes, self.needs_only_cursor) = (true, false);
    }

    /// A frame is needed at `index`, not before.
    pub fn schedule_repaint_at(&mut self, index: RefreshIndex) {
        self.schedule_repaint_from(index, Instant::ZERO);
    }

    /// Like [`schedule_repaint_at`](Self::schedule_repaint_at); with variable refresh, `at` (if not
    /// zero) says when the frame is to be shown.
    pub fn schedule_repaint_from(&mut self, index: RefreshIndex, at: Instant) {
        if at > Instant::ZERO {
            self.panel_schedule.bind(at);
        }
        let due = DueRefresh { index, at };
        self.due = Some(self.due.map_or(due, |known| known.min(due)));
    }

    /// The deadline for submitting a frame for `index`.
    pub fn submit_by(&self, index: RefreshIndex) -> Instant {
        self.vsync.present(index) - self.submit_lead()
    }

    /// `estimate`, but not earlier than the deadline that was published for `index`.
    fn keep_published(&self, index: RefreshIndex, estimate: Instant) -> Instant {
        match self.published[Self::published_slot(index)] {
            (published, ready_by) if published == index => estimate.max(ready_by),
            _ => estimate,
        }
    }

    /// The target for `index`. Its deadline is published and cannot become earlier afterwards.
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

    /// The next latch: for which refresh and when. `None` while no frame is needed, the display takes no more
    /// frames or the output is off.
    pub fn next_latch(&self, now: Instant) -> Option<(RefreshIndex, Instant)> {
        if !self.powered || self.is_full() {
            return None;
        }
        if !self.is_repaint_scheduled() {
            return self.next_timed_latch(now);
        }
        if let Some(submit) = self.finished_submission(now) {
            return Some(submit);
        }
        if self.expected().is_some() {
            return None;
        }
        let mut index = self.next_index(now);
        let due = self.due.filter(|_| self.repaint_reason.is_none());
        index = due.map_or(index, |due| index.max(due.index));
        let untrusted = self.has_unknown_grid(now);
        // A frame drawn for this refresh must not be shown a refresh early.
        let is_awaited = self.due.is_some_and(|due| due.index == index);
        let at_once =
            self.repaint_reason.is_some() && !is_awaited && (self.policy == LatchPolicy::AtRefresh || untrusted);
        if at_once && self.may_latch_at_once(index, now) {
            return Some((index, now));
        }
        let timed = self.next_timed_latch(now);
        timed.or_else(|| Some((index, self.planned_latch(index).max(self.content_complete_at(now)))))
    }

    /// Starts choosing content for `index`; returns the reason. Call [`choose`](Self::choose) or
    /// [`latched_nothing`](Self::latched_nothing) next.
    pub fn latch(&mut self, index: RefreshIndex) -> RepaintReason {
        let only_cursor = self.repaint_reason.is_some() && self.needs_only_cursor && self.due.is_none();
        if self.due.is_some_and(|due| due.index <= index) {
            self.due = None;
        }
        self.panel_schedule.keep_row_refresh(self.vsync.present(index) + self.vsync.interval());
        self.content_rhythms.latch();
        let shows_again = self.panel_schedule.latch(index, only_cursor);
        let usual = if shows_again { RepaintReason::Output } else { RepaintReason::Content };
        self.composes = false;
        // A cursor that is back at its place would show nothing, and the refresh would not begin.
        let needed = self.repaint_reason.take().filter(|need| !(shows_again && *need == RepaintReason::Cursor));
        let need = needed.unwrap_or(usual);
        self.scrolls = need == RepaintReason::Scroll;
        need
    }

    /// A latch chose `content` for `index`. Call [`submitted`](Self::submitted) or [`fail`](Self::fail) next.
    pub fn choose(&mut self, index: RefreshIndex, content: T) -> FrameId {
        let submit_by = self.submit_by(index);
        self.frames.choose(index, submit_by, content)
    }

    /// A latched frame was submitted: choosing, composing and submitting took from the `scheduled` latch until `done`.
    pub fn submitted(&mut self, id: FrameId, scheduled: Instant, done: Instant, composed: ComposeCostKind) {
        match composed {
            ComposeCostKind::Usual => self.compose.observe(done - scheduled, self.vsync.interval()),
            ComposeCostKind::Planes => self.compose.observe_planes(done - scheduled, self.vsync.interval()),
            ComposeCostKind::Odd | ComposeCostKind::Unfinished => {}
        }
        if std::mem::take(&mut self.scrolls) {
            self.scrolled_planes = composed == ComposeCostKind::Planes;
        }
        let Some((target, chosen)) = self.frames.get(id).map(|frame| (frame.target, *frame.flight())) else { return };
        let unfinished = (composed == ComposeCostKind::Unfinished).then_some(scheduled);
        let (index, submit_by) = self.flight_target(target, chosen.submit_by);
        self.frames.mark_in_flight(id, index, FlightTimes { submitted: done, submit_by, unfinished });
    }

    /// A latched frame could not be drawn, or the display refused it. Its refresh is spent: the next refresh tries
    /// again.
    pub fn fail(&mut self, id: FrameId) -> Option<QueuedFrame<T>> {
        let frame = self.frames.take(id)?;
        // A frame made ahead leaves its refresh to its replacement.
        if !frame.is_ahead() {
            self.mark_spent(frame.target);
        }
        Some(frame)
    }
}

#[cfg(test)]
mod tests;

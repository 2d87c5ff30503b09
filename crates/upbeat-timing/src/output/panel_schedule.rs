//! The schedule of a panel with variable refresh. Waiting frames are bound to moments, and the panel keeps the rate
//! that they were drawn for until the last of them is shown.
//!
//! A frame of another rate begins after these frames or fits in between. Any other change is shown at once if the panel
//! is free again by the next bound moment, otherwise together with that frame. So no change of rate, no other window
//! and no cursor delays a bound frame. A repetition does, by less than the panel's own would.
//!
//! ```text
//!   bound        A           B           C       D    E         144 Hz begins behind C, when that is on screen
//!   changes         x                  y
//!   panel        A  x        B           C       D    E         x fits before B; y would hold C up, and comes with it
//!   bound        A                             B                further apart than the panel can wait
//!   panel        A              A              B                the picture before is shown again, evenly
//! ```
//!
//! Source: D-VSync 5.3 (frames drawn for a rate are consumed before the panel changes to another rate).

use super::low_framerate::{self, LowFramerateCompensation};
use super::{OutputMachine, QueuedFrame, content_rhythm};
use crate::id::PacerId;
use crate::id::SurfaceId;
use crate::target::RefreshIndex;
use crate::time::{Instant, Span};
use crate::vsync::RefreshMode;

/// When a panel with variable refresh is to refresh. Not used with a fixed rate.
#[derive(Clone, Debug, Default)]
pub(super) struct PanelSchedule {
    /// The earliest moment that a waiting update is bound to.
    pub bound: Option<Instant>,
    /// When pictures come, and when the last picture is shown again.
    rhythm: LowFramerateCompensation,
    /// When the next refresh begins so that the beam meets a rectangle that is written in place.
    pub row_refresh: Option<Instant>,
    /// The next latch shows the last picture again.
    shows_again: bool,
    /// The refresh in which the last picture is shown again.
    repeating: Option<RefreshIndex>,
    /// The refresh that shows nothing new but the cursor.
    moving_cursor: Option<RefreshIndex>,
    /// The cursor was shown alone since the last picture, so that the repetition planned with the picture does not count.
    has_moved_cursor: bool,
    /// The next refresh is not before this moment, because a refresh was spent.
    pub not_before: Instant,
}

impl PanelSchedule {
    /// An update waits for the moment `at`.
    pub fn bind(&mut self, at: Instant) {
        self.bound = Some(self.bound.map_or(at, |known| known.min(at)));
    }

    /// A refresh is latched after which the panel is free from `next_free` on: it is the row's, unless another fits in
    /// before the row.
    pub fn keep_row_refresh(&mut self, next_free: Instant) {
        self.row_refresh = self.row_refresh.filter(|begin| *begin >= next_free);
    }

    /// Starts the latch for `index`. Returns whether it shows the last picture again, unless there is another need.
    /// `only_cursor`: nothing but the cursor needs it.
    pub fn latch(&mut self, index: RefreshIndex, only_cursor: bool) -> bool {
        // An update that still waits will be bound again.
        let bound = self.bound.take();
        self.moving_cursor = (only_cursor && bound.is_none()).then_some(index);
        self.repeating = std::mem::take(&mut self.shows_again).then_some(index);
        self.rhythm.cancel_repetition();
        self.repeating.is_some()
    }
}

impl<T> OutputMachine<T> {
    /// Sets the expected time of the next refresh to the earliest at which content chosen now can be shown (after a
    /// pause not in the past), and after the frames under way.
    pub fn expect(&mut self, now: Instant) {
        self.expect_from(now, Instant::ZERO);
    }

    /// Like [`expect`](Self::expect), for a latch at `now`. If only bound updates wait, the refresh is for the
    /// first of them, or shows the previous picture again.
    pub fn expect_latch(&mut self, now: Instant) {
        let again = self.next_bare_refresh(now).filter(|_| !self.is_needed_at_once(now));
        let bound = self.next_known_moment(now).filter(|_| !self.is_needed_at_once(now));
        let again = again.filter(|again| bound.is_none_or(|bound| *again <= bound));
        self.panel_schedule.shows_again = again.is_some();
        self.expect_from(now, again.or(bound).unwrap_or(Instant::ZERO));
    }

    fn expect_from(&mut self, now: Instant, stamp: Instant) {
        // A fixed grid does not depend on latches.
        let RefreshMode::Variable(_) = self.vsync.rate() else { return };
        let cost = if self.panel_schedule.shows_again { self.bare_refresh_cost() } else { self.compose_typical() };
        let soonest = now + cost + self.submit_lead();
        let light = |frame: &QueuedFrame<T>| frame.flight().submit_by + self.submit_lead() + self.vsync.interval();
        let under_way = self.frames.in_flight().chain(self.frames.composing());
        let behind = under_way.map(light).max().unwrap_or(Instant::ZERO);
        let index = self.next_index(now);
        self.vsync.expect(index, soonest.max(stamp).max(behind).max(self.panel_schedule.not_before));
        // A repetition was planned beside the bound frame, and must not be taken for it.
        if !self.panel_schedule.shows_again {
            self.vsync.expect(index, self.fit_beside_bound(self.vsync.present(index)));
        }
    }

    /// Refresh `index` is spent: the next refresh keeps the same distance as if it had been shown.
    pub(super) fn delay_after_spent(&mut self, index: RefreshIndex) {
        if let RefreshMode::Variable(_) = self.vsync.rate() {
            self.panel_schedule.not_before = self.vsync.present(index) + self.vsync.interval();
        }
    }

    /// A picture is on screen since `present`. `flight`: the target and the submission of our frame, if it is ours.
    pub(super) fn note_light(&mut self, present: Instant, flight: Option<(RefreshIndex, Instant)>) {
        let Some(range) = self.vsync.range() else { return };
        let soonest = flight.map_or(present, |(_, submitted)| present.min(submitted + self.submit_lead()));
        let PanelSchedule { rhythm, repeating, moving_cursor, has_moved_cursor, .. } = &mut self.panel_schedule;
        let is_of = |index: Option<RefreshIndex>| index.is_some() && flight.map(|(target, _)| target) == index;
        if is_of(repeating.take()) {
            rhythm.note_repetition(present);
        } else if is_of(moving_cursor.take()) {
            *has_moved_cursor = true;
        } else {
            *has_moved_cursor = false;
            rhythm.note_picture(present, soonest, range);
        }
    }

    /// New content of a surface was applied. Has no effect with a fixed rate.
    pub fn note_content(&mut self, client: PacerId, surface: SurfaceId, now: Instant) {
        if self.vsync.range().is_some() {
            self.content_rhythms.commit(client, surface, now);
        }
    }

    /// Whether content of the client is expected at a known moment, because its surfaces commit in a rhythm.
    pub(crate) fn has_rhythm(&self, client: PacerId, now: Instant) -> bool {
        let range = self.vsync.range();
        range.is_some_and(|(shortest, _)| self.content_rhythms.has(client, now, content_rhythm::slack(shortest)))
    }

    /// When the next content is expected to be on screen; `None` if no surface has a rhythm.
    fn next_content(&self, now: Instant) -> Option<Instant> {
        let (shortest, _) = self.vsync.range()?;
        let committed = self.content_rhythms.next(now, content_rhythm::slack(shortest))?;
        Some(committed.max(now) + self.compose_typical() + self.submit_lead())
    }

    /// The earliest latch of content that was committed: `now`, or when another surface of the same client is expected
    /// to have committed its part of the same frame.
    pub(super) fn content_complete_at(&self, now: Instant) -> Instant {
        let range = self.vsync.range();
        range.and_then(|(shortest, _)| self.content_rhythms.complete_at(now, shortest)).unwrap_or(now).max(now)
    }

    /// Whether a frame is needed that is neither bound to a moment nor waits for a client's frame.
    pub(super) fn is_needed_at_once(&self, now: Instant) -> bool {
        (self.repaint_reason.is_some() && !(self.needs_only_cursor && self.holds_cursor(now)))
            || self.due.is_some_and(|due| due.at == Instant::ZERO)
    }

    /// Sets whether a client draws, or is about to, and whether one of these has no rhythm, so that its frame may come
    /// at any moment. Shown alone, the cursor would leave the panel busy when the client's frame arrives, so it waits
    /// for that frame.
    pub fn set_client_draws(&mut self, draws: bool, without_rhythm: bool) {
        (self.client_draws, self.unsteady_client_draws) = (draws, without_rhythm);
    }

    /// When a moved cursor is shown without a client's frame; `None` if it need not wait.
    ///
    /// It waits for a frame that a client draws, until before the panel would repeat its picture. Beside content with a
    /// rhythm it is shown where that leaves the panel free for the next content, now or after another repetition.
    pub(super) fn cursor_deadline(&self, now: Instant) -> Option<Instant> {
        let range @ (shortest, _) = self.vsync.range()?;
        let before_repeating = self.vsync.last() + low_framerate::longest_sure_wait(range);
        let Some(content) = self.next_content(now) else { return self.client_draws.then_some(before_repeating) };
        let soonest = (now + self.compose_typical() + self.submit_lead()).max(self.vsync.last() + shortest);
        let from = if self.unsteady_client_draws { soonest.max(before_repeating) } else { soonest };
        let slack = content_rhythm::slack(shortest);
        let at = low_framerate::gap_before(content, from, (shortest + slack, range.1)).unwrap_or(content + slack);
        (at > soonest).then_some(at)
    }

    /// The moment of the next latch if no frame is needed before a known moment; `None` with a fixed rate.
    pub(super) fn next_known_moment(&self, now: Instant) -> Option<Instant> {
        self.vsync.range()?;
        let is_cursor = self.repaint_reason.is_some() && self.needs_only_cursor;
        let cursor = self.cursor_deadline(now).filter(|_| is_cursor);
        self.panel_schedule.bound.into_iter().chain(cursor).min()
    }

    /// When a picture is shown that could be shown at `time`: then, if the panel is free again for the next bound
    /// frame, otherwise together with that frame.
    pub(super) fn fit_beside_bound(&self, time: Instant) -> Instant {
        let Some(range @ (shortest, _)) = self.vsync.range() else { return time };
        let free = time.max(self.last_self_refresh(time, range) + shortest);
        let holds_up = |bound: &Instant| time < *bound && free + shortest > *bound;
        self.panel_schedule.bound.filter(holds_up).unwrap_or(time)
    }

    /// The last refresh before `time` if no frame arrives until then: the panel refreshes by itself after its
    /// longest interval.
    pub(super) fn last_self_refresh(&self, time: Instant, (_, longest): (Span, Span)) -> Instant {
        let last = self.vsync.last();
        last + longest * ((time - last).as_nanos().max(0) / longest.as_nanos().max(1))
    }

    /// When the last picture is shown again unless another frame comes: half-way to the next bound frame, if the
    /// panel cannot wait for that, but not before the shortest interval. After the cursor was shown alone: half-way to
    /// the next content of a known rhythm.
    pub(super) fn next_repetition(&self, now: Instant) -> Option<Instant> {
        let range @ (shortest, longest) = self.vsync.range()?;
        let PanelSchedule { bound, rhythm, has_moved_cursor, .. } = &self.panel_schedule;
        let Some(bound) = bound.or_else(|| self.next_content(now).filter(|_| *has_moved_cursor)) else {
            return rhythm.next_repetition();
        };
        // Without a new picture the panel has refreshed by itself, and is busy with that for its shortest interval.
        let light = self.last_self_refresh(now, range);
        let soonest = now + self.submit_lead() + self.compose_typical();
        // The panel may be about to refresh by itself once more: then half-way from there.
        for light in [light, light + longest] {
            let shown = low_framerate::repetition_before(bound, light, range)?.max(soonest).max(light + shortest);
            if shown < light + longest {
                // A repetition that the panel begins by itself would delay the bound frame more.
                let repeats_itself = light + longest < bound;
                return (shown + shortest <= bound || repeats_itself).then_some(shown);
            }
        }
        None
    }

    /// When the picture on screen is shown again, to keep the rate or for a row that is written in place.
    fn next_bare_refresh(&self, now: Instant) -> Option<Instant> {
        self.next_repetition(now).into_iter().chain(self.next_row_refresh()).min()
    }

    /// The usual cost of a frame that shows the picture on screen again: it draws nothing if the cursor has a plane.
    fn bare_refresh_cost(&self) -> Span {
        if self.cursor_plane { self.compose.planes_typical() } else { self.compose_typical() }
    }

    /// The next latch, if no frame is needed before a known moment: for a bound frame, or to repeat the last
    /// picture. It uses the typical cost of composing: a frame composed earlier is shown earlier, and with variable
    /// refresh a later frame misses no deadline.
    pub(super) fn next_timed_latch(&self, now: Instant) -> Option<(RefreshIndex, Instant)> {
        if self.is_needed_at_once(now) {
            return None;
        }
        let composed = self.next_repetition(now).into_iter().chain(self.next_known_moment(now)).min();
        let composed = composed.map(|at| at - (self.submit_lead() + self.compose_typical()));
        let row = self.next_row_refresh().map(|at| at - (self.submit_lead() + self.bare_refresh_cost()));
        let at = composed.into_iter().chain(row).min()?;
        Some((self.next_index(now), at.max(now)))
    }
}

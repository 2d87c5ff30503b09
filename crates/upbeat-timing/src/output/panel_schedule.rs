//! The schedule of a panel with variable refresh. Waiting frames are bound to moments, and the panel keeps the rate
//! that they were drawn for until the last of them is shown.
//!
//! A frame of another rate begins after these frames or fits in between. Any other change is shown at once if the panel
//! is free again by the next bound moment, otherwise together with that frame. So no change of rate, no other window
//! and no cursor delays a bound frame.
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
use super::{OutputMachine, QueuedFrame};
use crate::record::RepaintReason;
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
    /// The next latch shows the last picture again.
    shows_again: bool,
    /// The refresh in which the last picture is shown again.
    repeating: Option<RefreshIndex>,
    /// The next refresh is not before this moment, because a refresh was spent.
    pub not_before: Instant,
}

impl PanelSchedule {
    /// An update waits for the moment `at`.
    pub fn bind(&mut self, at: Instant) {
        self.bound = Some(self.bound.map_or(at, |known| known.min(at)));
    }

    /// Starts the latch for `index`. Returns whether it shows the last picture again, unless there is another need.
    pub fn latch(&mut self, index: RefreshIndex) -> bool {
        // An update that still waits will be bound again.
        self.bound = None;
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
        let again = self.next_repetition(now).filter(|_| !self.is_needed_at_once());
        self.panel_schedule.shows_again = again.is_some();
        let bound = self.next_known_moment().filter(|_| !self.is_needed_at_once());
        self.expect_from(now, again.or(bound).unwrap_or(Instant::ZERO));
    }

    fn expect_from(&mut self, now: Instant, stamp: Instant) {
        // A fixed grid does not depend on latches.
        let RefreshMode::Variable(_) = self.vsync.rate() else { return };
        let soonest = now + self.compose_typical() + self.submit_lead();
        let light = |frame: &QueuedFrame<T>| frame.flight().submit_by + self.submit_lead() + self.vsync.interval();
        let under_way = self.frames.in_flight().chain(self.frames.composing());
        let behind = under_way.map(light).max().unwrap_or(Instant::ZERO);
        let index = self.next_index(now);
        self.vsync.expect(index, soonest.max(stamp).max(behind).max(self.panel_schedule.not_before));
        self.vsync.expect(index, self.fit_beside_bound(self.vsync.present(index)));
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
        let PanelSchedule { rhythm, repeating, .. } = &mut self.panel_schedule;
        match repeating.take().filter(|repeating| flight.is_some_and(|(target, _)| target == *repeating)) {
            Some(_) => rhythm.note_repetition(present),
            None => rhythm.note_picture(present, flight.map_or(present, |(_, submitted)| submitted), range),
        }
    }

    /// Whether a frame is needed that is neither bound to a moment nor waits for a client's frame.
    pub(super) fn is_needed_at_once(&self) -> bool {
        self.repaint_reason.is_some_and(|need| need != RepaintReason::Cursor || !self.holds_cursor())
            || self.due.is_some_and(|due| due.at == Instant::ZERO)
    }

    /// Sets whether a client draws, or is about to. Shown alone, the cursor would leave the panel busy when the
    /// client's frame arrives, so it waits for that frame.
    pub fn set_client_draws(&mut self, drawn_for: bool) {
        self.client_draws = drawn_for;
    }

    /// The latest moment for a cursor that waits for a client's frame: before the panel would repeat its picture.
    pub(super) fn cursor_deadline(&self) -> Option<Instant> {
        let range =
            self.vsync.range().filter(|_| self.holds_cursor() && self.repaint_reason == Some(RepaintReason::Cursor))?;
        Some(self.vsync.last() + low_framerate::longest_sure_wait(range))
    }

    /// The moment of the next latch if no frame is needed before a known moment; `None` with a fixed rate.
    pub(super) fn next_known_moment(&self) -> Option<Instant> {
        self.vsync.range()?;
        self.panel_schedule.bound.into_iter().chain(self.cursor_deadline()).min()
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
    fn last_self_refresh(&self, time: Instant, (_, longest): (Span, Span)) -> Instant {
        let last = self.vsync.last();
        last + longest * ((time - last).as_nanos().max(0) / longest.as_nanos().max(1))
    }

    /// When the last picture is shown again unless another frame comes: half-way to the next bound frame, if the
    /// panel cannot wait for that.
    pub(super) fn next_repetition(&self, now: Instant) -> Option<Instant> {
        let range @ (shortest, longest) = self.vsync.range()?;
        let Some(bound) = self.panel_schedule.bound else { return self.panel_schedule.rhythm.next_repetition() };
        // Without a new picture the panel has refreshed by itself, and is busy with that for its shortest interval.
        let light = self.last_self_refresh(now, range);
        let soonest = now + self.submit_lead() + self.compose_typical();
        // The panel may be about to refresh by itself once more: then half-way from there.
        for light in [light, light + longest] {
            let shown = low_framerate::repetition_before(bound, light, range)?.max(soonest).max(light + shortest);
            if shown < light + longest {
                return (shown + shortest <= bound).then_some(shown);
            }
        }
        None
    }

    /// The next latch, if no frame is needed before a known moment: for a bound frame, or to repeat the last
    /// picture. It uses the typical cost of composing: a frame composed earlier is shown earlier, and with variable
    /// refresh a later frame misses no deadline.
    pub(super) fn next_timed_latch(&self, now: Instant) -> Option<(RefreshIndex, Instant)> {
        if self.is_needed_at_once() {
            return None;
        }
        let at =
            self.next_repetition(now).or(self.next_known_moment())? - (self.submit_lead() + self.compose_typical());
        Some((self.next_index(now), at.max(now)))
    }
}

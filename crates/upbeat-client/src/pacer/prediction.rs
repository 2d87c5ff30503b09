//! Predicts targets on a compositor that sends none. Frame callbacks say when to draw; the time of the next refresh
//! follows from the times at which earlier frames were shown. Pure.
//!
//! ```text
//!   refresh    0             1             2             3
//!              │  callback   │             │             │
//!              │   ├▓▓▓▓▓▓┤commit          │             │
//!              │             ├─ first refresh after the callback
//!              │             │             ├─ shown: one refresh after the first, so the next frame will be too
//! ```

use std::collections::VecDeque;

use super::{DiscardReason, FrameTarget, NotHeld, TargetId, TargetOutcome};
use upbeat_timing::time::{Instant, Span};

/// Interval until the display's interval is known: 60 Hz, the most common rate.
const USUAL_INTERVAL: Span = Span::from_nanos(16_666_667);
/// Number of recent frames whose delay (in refreshes) is remembered; their median is used. Odd, so that the median is
/// one of them; few, so that a change is followed soon; several, so that one late frame changes nothing.
const LEARNED_FROM: usize = 7;
/// A longer delay, in refreshes, is not learned from, because no compositor takes that long: the frame was hidden for a
/// while.
const MOST_BEHIND: i64 = 8;
/// Limit on committed frames without feedback: a compositor without `wp_presentation` never sends any.
const MOST_COMMITTED: usize = 16;

/// A frame, and the first refresh after its target was taken.
#[derive(Clone, Copy, Debug)]
struct PredictedFrame {
    target: FrameTarget,
    first: Instant,
}

/// The targets of a surface.
#[derive(Debug)]
pub(super) struct PredictedTargets {
    interval: Span,
    /// The latest time at which a frame is known to have been shown: a point of the display's refresh grid.
    last_refresh: Option<Instant>,
    recent_delays: VecDeque<i64>,
    is_wanted: bool,
    /// The frame callback of the last commit has not arrived yet.
    awaits_callback: bool,
    last: Option<FrameTarget>,
    drawing: VecDeque<PredictedFrame>,
    committed: VecDeque<PredictedFrame>,
}

impl Default for PredictedTargets {
    fn default() -> Self {
        PredictedTargets {
            interval: USUAL_INTERVAL,
            last_refresh: None,
            recent_delays: VecDeque::with_capacity(LEARNED_FROM),
            is_wanted: false,
            awaits_callback: false,
            last: None,
            drawing: VecDeque::new(),
            committed: VecDeque::new(),
        }
    }
}

impl PredictedTargets {
    /// Requests a target for another frame.
    pub(super) fn request(&mut self) {
        self.is_wanted = true;
    }

    /// Notes that the frame callback of the last commit has arrived.
    pub(super) fn note_callback(&mut self) {
        self.awaits_callback = false;
    }

    /// The next target to draw for, at `now`. The first frame needs no callback.
    pub(super) fn take_target(&mut self, now: Instant) -> Option<FrameTarget> {
        // One at a time: the next target comes after the commit and the callback of this frame.
        if !self.is_wanted || self.awaits_callback || !self.drawing.is_empty() {
            return None;
        }
        self.is_wanted = false;
        let (interval, behind) = (self.interval, self.usual_delay());
        let first = self.first_after(now);
        // If an earlier target was too late, repeat its time: the time of an animation must not run back.
        let present = self.last.map_or(Instant::ZERO, |last| last.present).max(first + interval * behind);
        // Most compositors take the frames that are ready at a refresh and show them at the next.
        let ready_by = present - interval * behind - interval / 4;
        let id = TargetId(self.last.map_or(0, |last| last.id.0) + 1);
        let target = FrameTarget { id, present, ready_by, interval };
        self.last = Some(target);
        self.drawing.push_back(PredictedFrame { target, first });
        Some(target)
    }

    /// Declares the next commit to be the frame for this target. The caller requests its frame callback.
    pub(super) fn bind(&mut self, id: TargetId) -> Result<(), NotHeld> {
        let at = self.drawing.iter().position(|frame| frame.target.id == id).ok_or(NotHeld(id))?;
        if self.committed.len() == MOST_COMMITTED {
            self.committed.pop_front();
        }
        self.committed.extend(self.drawing.remove(at));
        self.awaits_callback = true;
        Ok(())
    }

    /// Gives up frames from `first` on that are being drawn. Frames that were committed cannot be cancelled:
    /// returns the first target whose frame will not be shown.
    pub(super) fn cancel_from(&mut self, first: TargetId) -> TargetId {
        let drawn = self.drawing.len();
        self.drawing.retain(|frame| frame.target.id < first);
        // Like a compositor that sends targets: a new target replaces each.
        self.is_wanted |= self.drawing.len() < drawn;
        self.committed.back().map_or(first, |kept| first.max(TargetId(kept.target.id.0 + 1)))
    }

    /// Notes that the frame was shown at `at`, and the display's `interval` if the compositor reported it.
    pub(super) fn presented(&mut self, id: TargetId, at: Instant, interval: Option<Span>) -> Option<FrameTarget> {
        let frame = self.take_committed(id)?;
        self.note_refresh(at, interval);
        let grid = frame.target.interval.as_nanos();
        let behind = ((at - frame.first).as_nanos() + grid / 2).div_euclid(grid);
        if (0..=MOST_BEHIND).contains(&behind) {
            if self.recent_delays.len() == LEARNED_FROM {
                self.recent_delays.pop_front();
            }
            self.recent_delays.push_back(behind);
        }
        Some(frame.target)
    }

    /// Notes that the frame was discarded.
    pub(super) fn discarded(&mut self, id: TargetId) -> Option<(FrameTarget, TargetOutcome)> {
        // `wp_presentation` does not tell a superseded frame from a hidden frame, so this reason is a guess.
        self.take_committed(id).map(|frame| (frame.target, TargetOutcome::Discarded(DiscardReason::Newer)))
    }

    /// Whether the time of any refresh is known.
    pub(super) fn knows_refreshes(&self) -> bool {
        self.last_refresh.is_some()
    }

    /// Notes that there was a refresh at `at`, from feedback of any commit.
    pub(super) fn note_refresh(&mut self, at: Instant, interval: Option<Span>) {
        if let Some(interval) = interval.filter(|interval| *interval > Span::ZERO) {
            self.interval = interval;
        }
        self.last_refresh = self.last_refresh.max(Some(at));
    }

    fn take_committed(&mut self, id: TargetId) -> Option<PredictedFrame> {
        let at = self.committed.iter().position(|frame| frame.target.id == id)?;
        self.committed.remove(at)
    }

    /// The first refresh after `now`.
    fn first_after(&self, now: Instant) -> Instant {
        let Some(seen) = self.last_refresh else { return now + self.interval };
        seen + self.interval * ((now - seen).as_nanos().div_euclid(self.interval.as_nanos()) + 1)
    }

    /// How many refreshes after the first refresh frames are usually shown.
    fn usual_delay(&self) -> i64 {
        let mut sorted: Vec<i64> = self.recent_delays.iter().copied().collect();
        sorted.sort_unstable();
        sorted.get(sorted.len() / 2).copied().unwrap_or(0)
    }
}

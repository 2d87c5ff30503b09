//! Targets on a compositor that sends none: frame callbacks say when to draw, and from when earlier frames were seen it
//! follows when the next will be. Pure.
//!
//! ```text
//!   refresh    0             1             2             3
//!              │  told       │             │             │
//!              │   ├▓▓▓▓▓▓┤commit          │             │
//!              │             ├─ first grid point after told
//!              │             │             ├─ seen: one behind the first, so the next will be too
//! ```

use std::collections::VecDeque;

use super::{DiscardReason, FrameTarget, NotHeld, Outcome, TargetId};
use upbeat_timing::time::{Instant, Span};

/// The interval until the display's is known: 60 Hz, the most common.
const USUAL_INTERVAL: Span = Span::from_nanos(16_666_667);
/// From how many frames it is learned how many refreshes a frame takes to be seen. Odd, so that the middle is one of
/// them; few, so that a change is followed soon; several, so that one late frame changes nothing.
const LEARNED_FROM: usize = 7;
/// More refreshes than any compositor takes: what a frame that was hidden for a while took teaches nothing.
const MOST_BEHIND: i64 = 8;
/// Frames whose end may still be told: a compositor without `wp_presentation` tells of none.
const MOST_COMMITTED: usize = 16;

/// A frame, and the first refresh after its program was told to draw.
#[derive(Clone, Copy, Debug)]
struct Frame {
    target: FrameTarget,
    first: Instant,
}

/// The targets of a surface.
#[derive(Debug)]
pub(super) struct Prediction {
    interval: Span,
    /// When a frame was last seen, or the program last told: a point of the display's grid, or near one.
    seen: Option<Instant>,
    behind: VecDeque<i64>,
    is_wanted: bool,
    /// A commit's frame callback has not come yet.
    waits: bool,
    last: Option<FrameTarget>,
    drawing: VecDeque<Frame>,
    committed: VecDeque<Frame>,
}

impl Default for Prediction {
    fn default() -> Self {
        Prediction {
            interval: USUAL_INTERVAL,
            seen: None,
            behind: VecDeque::with_capacity(LEARNED_FROM),
            is_wanted: false,
            waits: false,
            last: None,
            drawing: VecDeque::new(),
            committed: VecDeque::new(),
        }
    }
}

impl Prediction {
    /// Another frame is wanted.
    pub(super) fn request(&mut self) {
        self.is_wanted = true;
    }

    /// The frame callback of the last commit came.
    pub(super) fn called_back(&mut self) {
        self.waits = false;
    }

    /// The next target to draw for, at `now`. The first frame waits for no callback.
    pub(super) fn take(&mut self, now: Instant) -> Option<FrameTarget> {
        // One at a time: the next when this one was committed, and its callback came.
        if !self.is_wanted || self.waits || !self.drawing.is_empty() {
            return None;
        }
        self.is_wanted = false;
        let (interval, behind) = (self.interval, self.usual_behind());
        let first = self.first_after(now);
        // A moment that was named too late is made up for by naming it twice, never by running back.
        let present = self.last.map_or(Instant::ZERO, |last| last.present).max(first + interval * behind);
        // Usual compositors take what is there at a refresh and show it at the next.
        let ready_by = present - interval * behind - interval / 4;
        let id = TargetId(self.last.map_or(0, |last| last.id.0) + 1);
        let target = FrameTarget { id, present, ready_by, interval };
        self.last = Some(target);
        self.drawing.push_back(Frame { target, first });
        Some(target)
    }

    /// The next commit is the frame for this target; its frame callback is asked for with it.
    pub(super) fn bind(&mut self, id: TargetId) -> Result<(), NotHeld> {
        let at = self.drawing.iter().position(|frame| frame.target.id == id).ok_or(NotHeld(id))?;
        if self.committed.len() == MOST_COMMITTED {
            self.committed.pop_front();
        }
        self.committed.extend(self.drawing.remove(at));
        self.waits = true;
        Ok(())
    }

    /// Frames from `first` on are not wanted any more: those being drawn are forgotten. Nothing that was committed can
    /// be called back: returns the first that will not be seen.
    pub(super) fn cancel_from(&mut self, first: TargetId) -> TargetId {
        let drawn = self.drawing.len();
        self.drawing.retain(|frame| frame.target.id < first);
        // As a compositor that sends targets does: another comes in the place of each.
        self.is_wanted |= self.drawing.len() < drawn;
        self.committed.back().map_or(first, |kept| first.max(TargetId(kept.target.id.0 + 1)))
    }

    /// The frame was seen at `at`, on a display with this interval, if the compositor says.
    pub(super) fn presented(&mut self, id: TargetId, at: Instant, interval: Option<Span>) -> Option<FrameTarget> {
        let frame = self.over(id)?;
        self.glimpsed(at, interval);
        let grid = frame.target.interval.as_nanos();
        let behind = ((at - frame.first).as_nanos() + grid / 2).div_euclid(grid);
        if (0..=MOST_BEHIND).contains(&behind) {
            if self.behind.len() == LEARNED_FROM {
                self.behind.pop_front();
            }
            self.behind.push_back(behind);
        }
        Some(frame.target)
    }

    /// The frame will not be seen.
    pub(super) fn discarded(&mut self, id: TargetId) -> Option<(FrameTarget, Outcome)> {
        // What it knows of is that a newer one took its place, or that it was hidden; it does not say which.
        self.over(id).map(|frame| (frame.target, Outcome::Discarded(DiscardReason::Newer)))
    }

    /// Whether it is known when refreshes are.
    pub(super) fn knows_refreshes(&self) -> bool {
        self.seen.is_some()
    }

    /// Something that was no frame for a target was seen at `at`.
    pub(super) fn glimpsed(&mut self, at: Instant, interval: Option<Span>) {
        if let Some(interval) = interval.filter(|interval| *interval > Span::ZERO) {
            self.interval = interval;
        }
        self.seen = self.seen.max(Some(at));
    }

    fn over(&mut self, id: TargetId) -> Option<Frame> {
        let at = self.committed.iter().position(|frame| frame.target.id == id)?;
        self.committed.remove(at)
    }

    /// The first point of the grid after `now`.
    fn first_after(&self, now: Instant) -> Instant {
        let Some(seen) = self.seen else { return now + self.interval };
        seen + self.interval * ((now - seen).as_nanos().div_euclid(self.interval.as_nanos()) + 1)
    }

    /// How many refreshes after the first one frames are usually seen.
    fn usual_behind(&self) -> i64 {
        let mut sorted: Vec<i64> = self.behind.iter().copied().collect();
        sorted.sort_unstable();
        sorted.get(sorted.len() / 2).copied().unwrap_or(0)
    }
}

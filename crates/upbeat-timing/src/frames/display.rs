//! Frames that the display has: held for their refreshes, withdrawn, in flight.

use super::{Frame, FrameQueue, Stage, is_late};
use crate::id::FrameId;
use crate::target::RefreshIndex;
use crate::time::Instant;

/// When a frame was submitted, and its deadline.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Flight {
    /// When the frame was complete: submitted and drawn.
    pub submitted: Instant,
    /// The deadline for the submission.
    pub submit_by: Instant,
    /// The scheduled latch, if the frame's cost is known only when a GPU has drawn it.
    pub unfinished: Option<Instant>,
}

impl Flight {
    /// Whether the frame was complete too late for its refresh.
    pub fn is_late(&self) -> bool {
        is_late(self.submitted, self.submit_by)
    }
}

impl<T> FrameQueue<T> {
    /// The finished frame that a display with room for `most` frames takes now. A display that has no frame
    /// gets none ahead, because it would show the frame at once.
    pub(super) fn next_to_hold(&self, most: usize) -> Option<FrameId> {
        if most <= 1 {
            return None;
        }
        let has = self.frames.iter().filter(|frame| matches!(frame.stage, Stage::Held | Stage::InFlight)).count();
        if !(1..most).contains(&has) {
            return None;
        }
        self.next_finished().filter(|frame| !frame.stale).map(|frame| frame.id)
    }

    /// The display holds `id` from now on, and shows it at its refresh.
    pub fn hold(&mut self, id: FrameId, submitted: Instant) {
        if let Some(place) = self.place(id) {
            self.change(place, |frame| (frame.stage, frame.flight.submitted) = (Stage::Held, submitted));
        }
    }

    /// The next frame that the display holds.
    pub fn next_held(&self) -> Option<&Frame<T>> {
        self.at(Stage::Held).next()
    }

    /// Frame `id` is in flight to `target`: it cannot be replaced any more.
    pub fn fly(&mut self, id: FrameId, target: RefreshIndex, flight: Flight) {
        if let Some(place) = self.place(id) {
            self.change(place, |frame| {
                (frame.stage, frame.target, frame.flight) = (Stage::InFlight, target, flight);
                frame.unwanted = false;
            });
        }
    }

    /// Frames in flight, the oldest first.
    pub fn in_flight(&self) -> impl DoubleEndedIterator<Item = &Frame<T>> {
        self.at(Stage::InFlight)
    }

    /// A GPU finished the frame `id`, which is in flight, only at `done`. Returns its scheduled latch if its cost
    /// was not known yet.
    pub fn complete(&mut self, id: FrameId, done: Instant) -> Option<Instant> {
        let frame = self.get_mut(id).filter(|frame| frame.stage == Stage::InFlight)?;
        frame.flight.submitted = frame.flight.submitted.max(done);
        frame.flight.unfinished.take()
    }

    /// With the next [`poll`](Self::poll), asks the display to withdraw the frames that it holds, except for the
    /// first `kept`.
    pub fn withdraw(&mut self, kept: usize) {
        let Some(first) = self.at(Stage::Held).nth(kept).map(|frame| frame.id) else { return };
        for frame in self.frames.iter_mut().filter(|frame| frame.id >= first && frame.stage == Stage::Held) {
            frame.stage = Stage::Withdrawn { surely: false };
        }
        self.counts = self.counted();
        self.withdraw = Some(self.withdraw.map_or(first, |other| other.min(first)));
    }

    /// The display's immediate answer to the withdrawal: `stays` and the frames before it are still shown, the rest
    /// is not. Without an immediate answer this is not called, and each frame is [lost](Self::take) or shown in the
    /// end.
    pub fn withdrawn(&mut self, stays: Option<FrameId>) {
        for frame in &mut self.frames {
            if frame.stage == (Stage::Withdrawn { surely: false }) {
                let remains = stays.is_some_and(|stays| frame.id <= stays);
                frame.stage = if remains { Stage::Held } else { Stage::Withdrawn { surely: true } };
            }
        }
        self.counts = self.counted();
    }

    /// No frame in flight is shown before refresh `first`, because another frame took the refreshes before it.
    pub fn push_back_to(&mut self, first: RefreshIndex) {
        for frame in self.frames.iter_mut().filter(|frame| frame.stage == Stage::InFlight) {
            frame.target = frame.target.max(first);
        }
    }

    /// The last refresh that is taken by a frame that is drawn for a latch, in flight, or not surely withdrawn.
    /// Earlier refreshes are unavailable.
    pub fn last_taken(&self) -> Option<RefreshIndex> {
        let is_taken = |frame: &&Frame<T>| match frame.stage {
            Stage::InFlight | Stage::Withdrawn { surely: false } => true,
            Stage::Drawing => !frame.ahead && !frame.unwanted,
            _ => false,
        };
        self.frames.iter().filter(is_taken).map(|frame| frame.target).max()
    }

    /// The last refresh for which there is a frame, of any stage, that will be shown.
    pub fn last_framed(&self) -> Option<RefreshIndex> {
        let is_shown =
            |frame: &&Frame<T>| !frame.unwanted && !frame.stale && frame.stage != (Stage::Withdrawn { surely: true });
        self.frames.iter().filter(is_shown).map(|frame| frame.target).max()
    }
}

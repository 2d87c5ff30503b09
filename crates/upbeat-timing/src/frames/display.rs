//! Frames that the display has: held for their refreshes, withdrawn, in flight.

use super::{FrameQueue, FrameStage, QueuedFrame, is_late};
use crate::id::FrameId;
use crate::target::RefreshIndex;
use crate::time::Instant;

/// When a frame was submitted, and its deadline.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct FlightTimes {
    /// When the frame was complete: submitted and drawn.
    pub submitted: Instant,
    /// The deadline for the submission.
    pub submit_by: Instant,
    /// The scheduled latch, if the frame's cost is known only when a GPU has drawn it.
    pub unfinished: Option<Instant>,
}

impl FlightTimes {
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
        let has =
            self.frames.iter().filter(|frame| matches!(frame.stage, FrameStage::Held | FrameStage::InFlight)).count();
        if !(1..most).contains(&has) {
            return None;
        }
        self.next_finished().filter(|frame| !frame.stale).map(|frame| frame.id)
    }

    /// The display holds `id` from now on, and shows it at its refresh.
    pub fn mark_held(&mut self, id: FrameId, submitted: Instant) {
        if let Some(place) = self.position_of(id) {
            self.change(place, |frame| (frame.stage, frame.flight.submitted) = (FrameStage::Held, submitted));
        }
    }

    /// The next frame that the display holds.
    pub fn next_held(&self) -> Option<&QueuedFrame<T>> {
        self.at(FrameStage::Held).next()
    }

    /// Frame `id` is in flight to `target`: it cannot be replaced any more.
    pub fn mark_in_flight(&mut self, id: FrameId, target: RefreshIndex, flight: FlightTimes) {
        if let Some(place) = self.position_of(id) {
            self.change(place, |frame| {
                (frame.stage, frame.target, frame.flight) = (FrameStage::InFlight, target, flight);
                frame.discarded = false;
            });
        }
    }

    /// Frames in flight, the oldest first.
    pub fn in_flight(&self) -> impl DoubleEndedIterator<Item = &QueuedFrame<T>> {
        self.at(FrameStage::InFlight)
    }

    /// A GPU finished the frame `id`, which is in flight, only at `done`. Returns its scheduled latch if its cost
    /// was not known yet.
    pub fn mark_complete(&mut self, id: FrameId, done: Instant) -> Option<Instant> {
        let frame = self.get_mut(id).filter(|frame| frame.stage == FrameStage::InFlight)?;
        frame.flight.submitted = frame.flight.submitted.max(done);
        frame.flight.unfinished.take()
    }

    /// With the next [`poll`](Self::poll), asks the display to withdraw the frames that it holds, except for the
    /// first `kept`.
    pub fn withdraw(&mut self, kept: usize) {
        let Some(first) = self.at(FrameStage::Held).nth(kept).map(|frame| frame.id) else { return };
        for frame in self.frames.iter_mut().filter(|frame| frame.id >= first && frame.stage == FrameStage::Held) {
            frame.stage = FrameStage::Withdrawn { surely: false };
        }
        self.counts = self.recount();
        self.withdraw = Some(self.withdraw.map_or(first, |other| other.min(first)));
    }

    /// The display's immediate answer to the withdrawal: `stays` and the frames before it are still shown, the rest
    /// is not. Without an immediate answer this is not called, and each frame is [lost](Self::take) or shown in the
    /// end.
    pub fn withdrawn(&mut self, stays: Option<FrameId>) {
        for frame in &mut self.frames {
            if frame.stage == (FrameStage::Withdrawn { surely: false }) {
                let remains = stays.is_some_and(|stays| frame.id <= stays);
                frame.stage = if remains { FrameStage::Held } else { FrameStage::Withdrawn { surely: true } };
            }
        }
        self.counts = self.recount();
    }

    /// No frame in flight is shown before refresh `first`, because another frame took the refreshes before it.
    pub fn postpone_to(&mut self, first: RefreshIndex) {
        for frame in self.frames.iter_mut().filter(|frame| frame.stage == FrameStage::InFlight) {
            frame.target = frame.target.max(first);
        }
    }

    /// The last refresh that is taken by a frame that is drawn for a latch, in flight, or not surely withdrawn.
    /// Earlier refreshes are unavailable.
    pub fn last_taken_refresh(&self) -> Option<RefreshIndex> {
        let is_taken = |frame: &&QueuedFrame<T>| match frame.stage {
            FrameStage::InFlight | FrameStage::Withdrawn { surely: false } => true,
            FrameStage::Drawing => !frame.ahead && !frame.discarded,
            _ => false,
        };
        self.frames.iter().filter(is_taken).map(|frame| frame.target).max()
    }

    /// The last refresh for which there is a frame, of any stage, that will be shown.
    pub fn last_refresh_with_frame(&self) -> Option<RefreshIndex> {
        let is_shown = |frame: &&QueuedFrame<T>| {
            !frame.discarded && !frame.stale && frame.stage != (FrameStage::Withdrawn { surely: true })
        };
        self.frames.iter().filter(is_shown).map(|frame| frame.target).max()
    }
}

//! Counts frames by stage, so that a decision needs no walk over all frames.

use super::{FrameQueue, FrameStage, QueuedFrame};

/// Numbers of frames made ahead. All fields but the last two count only frames that are not discarded and wait for
/// their refresh.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct StageCounts {
    pub(super) recording: usize,
    pub(super) recorded: usize,
    pub(super) drawing: usize,
    pub(super) finished: usize,
    pub(super) held: usize,
    /// Frames that are being drawn, discarded frames included.
    pub(super) at_work: usize,
    /// Finished stale frames, discarded frames included.
    pub(super) insured: usize,
}

/// Whether a frame is added or removed.
#[derive(Clone, Copy, PartialEq, Eq)]
enum CountChange {
    In,
    Out,
}

impl StageCounts {
    /// The number of frames that wait for their refresh.
    pub(super) const fn depth(&self) -> usize {
        self.recording + self.recorded + self.drawing + self.finished + self.held
    }

    #[inline]
    fn adjust<T>(&mut self, frame: &QueuedFrame<T>, way: CountChange) {
        let book = |count: &mut usize| match way {
            CountChange::In => *count += 1,
            CountChange::Out => *count -= 1,
        };
        if frame.ahead && frame.stage == FrameStage::Drawing {
            book(&mut self.at_work);
        }
        if frame.ahead && frame.stale && frame.stage == FrameStage::Finished {
            book(&mut self.insured);
        }
        if !frame.waits_for_refresh() {
            return;
        }
        match frame.stage {
            FrameStage::Recording => book(&mut self.recording),
            FrameStage::Recorded => book(&mut self.recorded),
            FrameStage::Drawing => book(&mut self.drawing),
            FrameStage::Finished => book(&mut self.finished),
            FrameStage::Held => book(&mut self.held),
            FrameStage::InFlight | FrameStage::Withdrawn { .. } => {}
        }
    }
}

impl<T> FrameQueue<T> {
    /// Changes the frame at `place` and keeps the counts correct. Single frames must be changed only here.
    #[inline]
    pub(super) fn change(&mut self, place: usize, change: impl FnOnce(&mut QueuedFrame<T>)) {
        let frame = &mut self.frames[place];
        self.counts.adjust(frame, CountChange::Out);
        change(frame);
        self.counts.adjust(frame, CountChange::In);
    }

    #[inline]
    pub(super) fn insert(&mut self, frame: QueuedFrame<T>) {
        self.counts.adjust(&frame, CountChange::In);
        self.frames.push_back(frame);
    }

    /// Removes the frame at `place`.
    #[inline]
    pub(super) fn remove(&mut self, place: usize) -> Option<QueuedFrame<T>> {
        let frame = if place == 0 { self.frames.pop_front() } else { self.frames.remove(place) }?;
        self.counts.adjust(&frame, CountChange::Out);
        Some(frame)
    }

    /// Counts all frames from scratch: after several were changed at once, and to check the kept [`StageCounts`].
    pub(super) fn recount(&self) -> StageCounts {
        let mut counts = StageCounts::default();
        self.frames.iter().for_each(|frame| counts.adjust(frame, CountChange::In));
        counts
    }
}

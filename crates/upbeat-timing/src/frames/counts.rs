//! Counts frames by stage, so that a decision needs no walk over all frames.

use super::{Frame, FrameQueue, Stage};

/// Numbers of frames made ahead. All fields but the last two count only frames that are not discarded and wait for
/// their refresh.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct Counts {
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
enum Way {
    In,
    Out,
}

impl Counts {
    /// The number of frames that wait for their refresh.
    pub(super) const fn depth(&self) -> usize {
        self.recording + self.recorded + self.drawing + self.finished + self.held
    }

    #[inline]
    fn book<T>(&mut self, frame: &Frame<T>, way: Way) {
        let book = |count: &mut usize| match way {
            Way::In => *count += 1,
            Way::Out => *count -= 1,
        };
        if frame.ahead && frame.stage == Stage::Drawing {
            book(&mut self.at_work);
        }
        if frame.ahead && frame.stale && frame.stage == Stage::Finished {
            book(&mut self.insured);
        }
        if !frame.waits_for_refresh() {
            return;
        }
        match frame.stage {
            Stage::Recording => book(&mut self.recording),
            Stage::Recorded => book(&mut self.recorded),
            Stage::Drawing => book(&mut self.drawing),
            Stage::Finished => book(&mut self.finished),
            Stage::Held => book(&mut self.held),
            Stage::InFlight | Stage::Withdrawn { .. } => {}
        }
    }
}

impl<T> FrameQueue<T> {
    /// Changes the frame at `place` and keeps the counts correct. Single frames must be changed only here.
    #[inline]
    pub(super) fn change(&mut self, place: usize, change: impl FnOnce(&mut Frame<T>)) {
        let frame = &mut self.frames[place];
        self.counts.book(frame, Way::Out);
        change(frame);
        self.counts.book(frame, Way::In);
    }

    #[inline]
    pub(super) fn insert(&mut self, frame: Frame<T>) {
        self.counts.book(&frame, Way::In);
        self.frames.push_back(frame);
    }

    /// Removes the frame at `place`.
    #[inline]
    pub(super) fn remove(&mut self, place: usize) -> Option<Frame<T>> {
        let frame = if place == 0 { self.frames.pop_front() } else { self.frames.remove(place) }?;
        self.counts.book(&frame, Way::Out);
        Some(frame)
    }

    /// Counts all frames from scratch: after several were changed at once, and to check the kept [`Counts`].
    pub(super) fn counted(&self) -> Counts {
        let mut counts = Counts::default();
        self.frames.iter().for_each(|frame| counts.book(frame, Way::In));
        counts
    }
}

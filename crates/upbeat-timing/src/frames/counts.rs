//! How many frames have got how far: what may be started is known without a look at each.

use super::{Frame, FrameQueue, Stage};

/// Frames that were chosen before their refresh was at hand. All but the last two are of such as are wanted and wait for it.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct Counts {
    pub(super) recording: usize,
    pub(super) recorded: usize,
    pub(super) drawing: usize,
    pub(super) finished: usize,
    pub(super) held: usize,
    /// Being drawn, whether they are wanted still or not.
    pub(super) at_work: usize,
    /// Finished and stale, the same.
    pub(super) insured: usize,
}

/// Whether a frame comes or goes.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Way {
    In,
    Out,
}

impl Counts {
    /// All that wait for their refresh.
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
    /// Changes the frame at `place`. Nothing else may change what is counted of a single one.
    #[inline]
    pub(super) fn change(&mut self, place: usize, change: impl FnOnce(&mut Frame<T>)) {
        let frame = &mut self.frames[place];
        self.counts.book(frame, Way::Out);
        change(frame);
        self.counts.book(frame, Way::In);
    }

    /// A frame more, behind all others.
    #[inline]
    pub(super) fn insert(&mut self, frame: Frame<T>) {
        self.counts.book(&frame, Way::In);
        self.frames.push_back(frame);
    }

    /// The frame at `place` goes.
    #[inline]
    pub(super) fn remove(&mut self, place: usize) -> Option<Frame<T>> {
        let frame = if place == 0 { self.frames.pop_front() } else { self.frames.remove(place) }?;
        self.counts.book(&frame, Way::Out);
        Some(frame)
    }

    /// Counts them all: what [`Counts`] has to be, and is made after several were changed at once.
    pub(super) fn counted(&self) -> Counts {
        let mut counts = Counts::default();
        self.frames.iter().for_each(|frame| counts.book(frame, Way::In));
        counts
    }
}

//! Frames that are made ahead of their refreshes: recorded, drawn, superseded, shown.

use super::{FrameQueue, FrameStage, FrameTrigger, PreExecutorStage, QueuedFrame, RecorderMode};
use crate::frames::AheadSettings;
use crate::id::FrameId;
use crate::target::RefreshIndex;
use crate::time::Span;

/// The finished frame that a refresh shows.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct FrameForRefresh {
    /// The frame that goes on screen; `None` repeats the last one.
    pub frame: Option<FrameId>,
    /// Whether that frame was superseded and is shown only because no fresh frame is ready.
    pub stale: bool,
}

/// How many frames were discarded because input made them outdated.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct SupersedeResult {
    /// Frames that were released at once.
    pub discarded: u8,
    /// Discarded frames whose pixels were finished: wasted renders.
    pub wasted: u8,
    /// The last frame that may still be shown: motion restarts from its state.
    pub kept: Option<FrameId>,
}

impl<T> FrameQueue<T> {
    /// Motion starts; it lasts until [`FrameQueue::end_at`]. `next_latch` is the first refresh that could show a
    /// frame; the start delay is counted from it.
    pub fn begin(&mut self, next_latch: RefreshIndex) {
        self.end = None;
        self.ticked = true;
        let delay = if self.trigger == FrameTrigger::Ahead { self.settings.start_delay } else { 0 };
        self.show_from = next_latch.plus(u64::from(delay));
    }

    /// The motion needs no frame from `frame` on. Later frames that exist already stay queued.
    pub fn end_at(&mut self, frame: FrameId) {
        self.end = Some(frame);
    }

    /// Sets whether recording waits for rendering.
    pub fn set_recorder(&mut self, recorder: RecorderMode) {
        self.recorder = recorder;
    }

    /// Changes the limits. A smaller limit takes effect as frames are shown: no frame is discarded.
    pub fn set_settings(&mut self, settings: AheadSettings) {
        self.settings = settings;
    }

    /// The limits in force.
    pub const fn settings(&self) -> AheadSettings {
        self.settings
    }

    /// A refresh happened, the event that [`FrameTrigger::Refresh`] waits for. A tick that finds the recorder busy is
    /// lost, like a frame callback that was not requested.
    pub fn tick(&mut self) {
        self.ticked = true;
    }

    /// Frames that were made ahead and are not in flight.
    fn waiting(&self) -> impl DoubleEndedIterator<Item = &QueuedFrame<T>> {
        self.frames.iter().filter(|frame| frame.waits_for_refresh())
    }

    /// The number of frames that are made ahead or wait for their refresh.
    pub fn depth(&self) -> usize {
        self.counts.depth()
    }

    /// The number of finished frames that wait for their refresh, here or in the display.
    pub fn ready(&self) -> usize {
        self.counts.finished + self.counts.held
    }

    /// The number of recorded frames that are not drawn yet.
    pub fn recorded_ahead(&self) -> usize {
        self.counts.recorded
    }

    /// Pixel buffers in use, apart from frames in flight or on screen.
    pub fn pixel_buffers(&self) -> usize {
        self.counts.drawing + self.counts.finished + self.counts.held
    }

    /// The stage of the pre-executor: whether there is room for another frame.
    pub fn phase(&self) -> PreExecutorStage {
        if self.depth() < self.settings.frames() { PreExecutorStage::Accumulation } else { PreExecutorStage::Sync }
    }

    /// The newest frame that is made ahead or waits.
    pub fn newest(&self) -> Option<&QueuedFrame<T>> {
        self.waiting().next_back()
    }

    /// Whether a frame is being recorded or drawn.
    pub fn is_under_way(&self) -> bool {
        self.depth() > self.ready()
    }

    /// The frame to draw next, if it is its turn and there is a slot for it.
    pub fn next_to_draw(&self) -> Option<FrameId> {
        // One frame is drawn at a time, and a discarded frame counts until the renderer returns it.
        if self.counts.at_work > 0 || self.counts.recorded == 0 {
            return None;
        }
        let (mut pixels, mut next) = (0, None);
        for frame in self.waiting() {
            match frame.stage {
                FrameStage::Finished | FrameStage::Held => pixels += 1,
                stage => {
                    next = (stage == FrameStage::Recorded).then_some(frame.id);
                    break;
                }
            }
        }
        next.filter(|_| pixels < self.settings.pixel_frames())
    }

    pub(super) fn may_record(&self) -> bool {
        if self.end.is_some_and(|end| self.next >= end) {
            return false;
        }
        let (wanted, frames, run_ahead) = match self.trigger {
            FrameTrigger::Ahead => (true, self.settings.frames(), usize::from(self.settings.run_ahead)),
            // A frame takes its buffer when it starts.
            FrameTrigger::Refresh => (self.ticked, self.settings.pixel_frames(), 0),
        };
        let is_free = self.recorder == RecorderMode::Decoupled || self.counts.recorded <= run_ahead;
        wanted && self.counts.recording == 0 && is_free && self.depth() < frames
    }

    /// A frame for `target` is being recorded.
    pub fn record(&mut self, target: RefreshIndex, content: T) -> FrameId {
        self.push(target, content, FrameStage::Recording, true)
    }

    /// The content of `id` is chosen. If it was superseded meanwhile, it is discarded.
    pub fn mark_recorded(&mut self, id: FrameId) {
        let Some(place) = self.position_of(id) else { return };
        self.change(place, |frame| frame.stage = FrameStage::Recorded);
        if self.frames[place].stale {
            self.discard(id);
        }
    }

    /// The renderer has started to draw `id`.
    pub fn mark_drawing(&mut self, id: FrameId) {
        if let Some(place) = self.position_of(id) {
            self.change(place, |frame| frame.stage = FrameStage::Drawing);
        }
    }

    /// The pixels of `id` are finished; choosing and drawing took `cost`. Returns whether the work was wasted.
    pub fn mark_drawn(&mut self, id: FrameId, cost: Span) -> bool {
        let Some(place) = self.position_of(id) else { return true };
        let is_insurance = |frame: &&QueuedFrame<T>| frame.stale && frame.stage == FrameStage::Finished;
        let is_wasted = self.frames[place].discarded
            || (self.frames[place].stale
                && self.waiting().filter(is_insurance).count() >= usize::from(self.settings.insurance));
        self.change(place, |frame| (frame.stage, frame.cost) = (FrameStage::Finished, cost));
        if is_wasted {
            self.discard(id);
        }
        is_wasted
    }

    /// The next finished frame that the display does not hold.
    pub fn next_finished(&self) -> Option<&QueuedFrame<T>> {
        self.frames.iter().find(|frame| frame.waits(FrameStage::Finished))
    }

    /// The frame for `refresh`: the oldest finished fresh frame, else the oldest stale frame. The caller has to
    /// take it out or submit it.
    pub fn frame_for_refresh(&mut self, refresh: RefreshIndex) -> FrameForRefresh {
        if refresh < self.show_from || self.counts.finished == 0 {
            return FrameForRefresh::default();
        }
        let fresh = self.frames.iter().find(|frame| frame.waits(FrameStage::Finished) && !frame.stale);
        if let Some(fresh) = fresh.map(|frame| frame.id) {
            if self.counts.insured > 0 {
                self.discard_where(|frame| frame.ahead && frame.stale && frame.stage == FrameStage::Finished);
            }
            return FrameForRefresh { frame: Some(fresh), stale: false };
        }
        match self.waiting().next() {
            Some(oldest) if oldest.stage == FrameStage::Finished => {
                FrameForRefresh { frame: Some(oldest.id), stale: true }
            }
            _ => FrameForRefresh::default(),
        }
    }

    /// Input has made every waiting frame outdated (DESIGN 5.6).
    ///
    /// Recorded frames go at once. Of frames with pixels the oldest [`AheadSettings::insurance`] stay. A stage that
    /// is at work finishes, since work in progress cannot be taken back. Frames that the display holds need a
    /// separate [`withdraw`](Self::withdraw).
    pub fn supersede(&mut self) -> SupersedeResult {
        let insurance = usize::from(self.settings.insurance);
        let (mut result, mut kept) = (SupersedeResult::default(), 0);
        for _ in 0..self.frames.len() {
            let Some(mut frame) = self.frames.pop_front() else { break };
            let has_pixels = matches!(frame.stage, FrameStage::Drawing | FrameStage::Finished | FrameStage::Held);
            let is_made_ahead = frame.ahead && !frame.discarded;
            let stays = !is_made_ahead
                || match frame.stage {
                    FrameStage::Recorded => false,
                    FrameStage::Finished => kept < insurance,
                    _ => true,
                };
            if is_made_ahead && has_pixels && kept < insurance {
                kept += 1;
                result.kept = Some(frame.id);
            } else if is_made_ahead && frame.stage == FrameStage::Drawing && self.trigger == FrameTrigger::Ahead {
                frame.discarded = true;
            }
            if is_made_ahead
                && matches!(frame.stage, FrameStage::Recording | FrameStage::Drawing | FrameStage::Finished)
            {
                frame.stale = true;
            }
            if stays {
                self.frames.push_back(frame);
            } else {
                result.discarded += 1;
                result.wasted += u8::from(frame.stage == FrameStage::Finished);
                self.released.push_back(frame);
            }
        }
        self.counts = self.recount();
        // A start delay is for motion that does not respond to input; this motion does.
        self.show_from = RefreshIndex(0);
        self.ticked = true;
        result
    }
}

//! The frame pre-executor: starts frames of deterministic motion ahead of the refreshes that show them.
//!
//! D-VSync 4.3 (FPE). A frame has two stages: *record* (layout, sampling the animation, writing the list of drawing
//! commands: CPU, some kilobytes) and *render* (pixels: GPU, a buffer). In the *accumulation stage* the next frame
//! starts as soon as the stage before it is free; when no slot is left the *sync stage* begins, in which each latch
//! frees a slot and so starts one frame. A long frame lets the display consume what has accumulated.
//!
//! ```text
//!  refresh    0     1     2     3     4     5     6     7     8
//!  record     012 3     4     5           6 78    9     a
//!  render      0 1 2  3     4     555555555555 6 7 8  9
//!  on screen        0     1     2     3     4     5 ← the long frame 5 is in time
//!             └ accumulation ┘└── sync ──┘└ accumulation ┘
//! ```
//!
//! Four settings are separate here that the paper counts as one ([`AheadSettings`]): buffers, lead, run-ahead of the
//! record stage, and the start delay. Frames that input made wrong are *superseded*, not flushed: one finished stale
//! frame stays as insurance until a fresh one is ready.

use super::defaults::INSURANCE;
use super::fixed_queue::FixedQueue;
pub use super::settings::AheadSettings;
use super::target::RefreshIndex;

/// The most frames that can be under way: more buffers than any pacing uses, plus the records that run ahead.
pub const MOST_FRAMES: usize = 32;

/// The number of a frame; consecutive and never used twice.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct FrameId(pub u64);

impl AheadSettings {
    /// A lead that never limits: buffers do.
    pub const UNLIMITED_LEAD: u8 = u8::MAX;

    /// `slots` buffers and nothing else: the plain D-VSync of the paper.
    pub const fn buffers(slots: u8) -> Self {
        AheadSettings { slots, lead: Self::UNLIMITED_LEAD, run_ahead: 0, start_delay: 0, insurance: INSURANCE }
    }

    /// The same with `run_ahead` more recorded frames.
    pub const fn with_run_ahead(self, run_ahead: u8) -> Self {
        AheadSettings { run_ahead, ..self }
    }

    /// The same with the first frame shown `start_delay` refreshes later.
    pub const fn with_start_delay(self, start_delay: u8) -> Self {
        AheadSettings { start_delay, ..self }
    }

    /// How many frames may have pixels without being on screen.
    fn pixel_frames(self) -> usize {
        let back_buffers = usize::from(self.slots.max(2)) - 1;
        back_buffers.min(usize::from(self.lead.max(1))).min(MOST_FRAMES)
    }

    /// How many frames may be under way, recorded ones included.
    fn frames(self) -> usize {
        (self.pixel_frames() + usize::from(self.run_ahead)).min(MOST_FRAMES)
    }
}

/// What starts a frame.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Trigger {
    /// The refresh: at most one frame per tick, and the recorder hands its frame over before it takes the next one.
    Refresh,
    /// The end of the stage before, while there is room.
    Ahead,
}

/// Which stage the pre-executor is in (D-VSync 4.3).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Phase {
    /// There is room: frames start back to back.
    Accumulation,
    /// No room: each latch starts one frame.
    Sync,
}

/// Work to be started now.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Step {
    /// Record the commands of this frame.
    Record(FrameId),
    /// Make the pixels of this frame.
    Render(FrameId),
}

/// What a refresh shows.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Latched {
    /// The frame that goes on screen; `None` repeats the last one.
    pub frame: Option<FrameId>,
    /// Whether that frame was superseded and is shown only because no fresh one is ready.
    pub stale: bool,
    /// How many finished frames were thrown away at this latch.
    pub discarded: u8,
}

/// What became of the frames that input made wrong.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Superseded {
    /// Frames that were thrown away at once.
    pub discarded: u8,
    /// Of those, the ones whose pixels were finished: wasted renders.
    pub wasted: u8,
    /// The last frame that may still be shown: motion restarts from its state.
    pub kept: Option<FrameId>,
}

#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
enum State {
    #[default]
    Recording,
    Recorded,
    Rendering,
    Ready,
}

#[derive(Clone, Copy, Debug, Default)]
struct Frame {
    id: FrameId,
    state: State,
    stale: bool,
}

/// The state machine. Events go in by method; [`PreExecutor::poll`] says what to start, until it says nothing.
#[derive(Clone, Debug)]
pub struct PreExecutor {
    settings: AheadSettings,
    trigger: Trigger,
    frames: FixedQueue<Frame, MOST_FRAMES>,
    next: FrameId,
    /// Frames from this one on are not wanted.
    end: Option<FrameId>,
    ticked: bool,
    show_from: RefreshIndex,
}

impl PreExecutor {
    /// A pre-executor with nothing to do.
    pub fn new(settings: AheadSettings, trigger: Trigger) -> Self {
        PreExecutor {
            settings,
            trigger,
            frames: FixedQueue::new(),
            next: FrameId(0),
            end: Some(FrameId(0)),
            ticked: false,
            show_from: RefreshIndex(0),
        }
    }

    /// Motion starts; it lasts until [`PreExecutor::end_at`]. `next_latch` is the first refresh that could show a
    /// frame; the start delay is counted from it.
    pub fn begin(&mut self, next_latch: RefreshIndex) {
        self.end = None;
        self.ticked = true;
        let delay = if self.trigger == Trigger::Ahead { self.settings.start_delay } else { 0 };
        self.show_from = next_latch.plus(u64::from(delay));
    }

    /// The motion needs no frame from `frame` on. Frames beyond it that exist already stay queued.
    pub fn end_at(&mut self, frame: FrameId) {
        self.end = Some(frame);
    }

    /// The number that the next frame will have.
    pub const fn next_frame(&self) -> FrameId {
        self.next
    }

    /// Switches between the refresh and running ahead; frames under way stay valid (D-VSync 4.5, runtime switch).
    pub fn set_trigger(&mut self, trigger: Trigger) {
        self.trigger = trigger;
    }

    /// Changes the limits. A smaller limit takes effect as frames are latched: nothing is thrown away.
    pub fn set_settings(&mut self, settings: AheadSettings) {
        self.settings = settings;
    }

    /// The limits in force.
    pub const fn settings(&self) -> AheadSettings {
        self.settings
    }

    /// How many frames are under way or wait for their refresh.
    pub const fn depth(&self) -> usize {
        self.frames.len()
    }

    /// How many finished frames wait for their refresh.
    pub fn ready(&self) -> usize {
        self.frames.iter().filter(|frame| frame.state == State::Ready).count()
    }

    /// Pixel buffers in use, the one on screen not counted.
    pub fn pixel_buffers(&self) -> usize {
        self.frames.iter().filter(|frame| matches!(frame.state, State::Rendering | State::Ready)).count()
    }

    /// Whether there is room for another frame.
    pub fn phase(&self) -> Phase {
        if self.frames.len() < self.settings.frames() { Phase::Accumulation } else { Phase::Sync }
    }

    /// A refresh has happened: what [`Trigger::Refresh`] waits for. A tick that finds the recorder busy is lost, as a
    /// frame callback is that was not asked for.
    pub fn tick(&mut self) {
        self.ticked = true;
    }

    /// The next piece of work, which counts as started with this call. To be called until it returns `None`.
    pub fn poll(&mut self) -> Option<Step> {
        if let Some(id) = self.render_next() {
            self.frames.update(|frame| frame.id == id, |frame| frame.state = State::Rendering);
            return Some(Step::Render(id));
        }
        let may_record = self.may_record();
        self.ticked = false;
        if !may_record {
            return None;
        }
        let id = self.next;
        self.frames.push(Frame { id, state: State::Recording, stale: false }).ok()?;
        self.next = FrameId(id.0 + 1);
        Some(Step::Record(id))
    }

    /// The frame that [`poll`](Self::poll) would have rendered now: whoever has no buffer for it asks again later.
    pub fn render_next(&self) -> Option<FrameId> {
        let mut pixels = 0;
        for frame in self.frames.iter() {
            match frame.state {
                State::Rendering => return None,
                State::Ready => pixels += 1,
                State::Recorded => return (pixels < self.settings.pixel_frames()).then_some(frame.id),
                State::Recording => return None,
            }
        }
        None
    }

    fn may_record(&self) -> bool {
        if self.end.is_some_and(|end| self.next >= end) {
            return false;
        }
        let idle = self.frames.iter().all(|frame| frame.state != State::Recording);
        match self.trigger {
            Trigger::Ahead => idle && self.frames.len() < self.settings.frames(),
            // A buffer is taken when the frame starts, and the recorder waits until its last frame was taken over.
            Trigger::Refresh => {
                idle && self.ticked
                    && self.frames.len() < self.settings.pixel_frames()
                    && self.frames.iter().all(|frame| frame.state != State::Recorded)
            }
        }
    }

    /// The commands of `id` are recorded. A frame that was superseded meanwhile is forgotten.
    pub fn recorded(&mut self, id: FrameId) {
        self.frames.update(|frame| frame.id == id, |frame| frame.state = State::Recorded);
        self.frames.retain(|frame| !(frame.stale && frame.state == State::Recorded));
    }

    /// The pixels of `id` are finished. Whether they were finished for nothing.
    pub fn rendered(&mut self, id: FrameId) -> bool {
        self.frames.update(|frame| frame.id == id, |frame| frame.state = State::Ready);
        let insurance = usize::from(self.settings.insurance);
        let mut insured = 0;
        self.frames.retain(|frame| {
            let insures = frame.stale && frame.state == State::Ready;
            insured += usize::from(insures);
            !insures || insured <= insurance
        }) > 0
    }

    /// Frame `id` is gone, whatever was done for it: it would come too late, or could not be rendered.
    pub fn forget(&mut self, id: FrameId) {
        self.frames.retain(|frame| frame.id != id);
    }

    /// The latch of `refresh`: the oldest fresh frame that is ready, else the oldest stale one.
    pub fn latch(&mut self, refresh: RefreshIndex) -> Latched {
        if refresh < self.show_from {
            return Latched::default();
        }
        let fresh = self.frames.iter().find(|frame| !frame.stale && frame.state == State::Ready).copied();
        if let Some(fresh) = fresh {
            let discarded = self.frames.retain(|frame| !(frame.stale && frame.state == State::Ready));
            self.frames.retain(|frame| frame.id != fresh.id);
            return Latched { frame: Some(fresh.id), stale: false, discarded: discarded as u8 };
        }
        match self.frames.get(0).copied() {
            Some(oldest) if oldest.state == State::Ready => {
                self.frames.pop();
                Latched { frame: Some(oldest.id), stale: true, discarded: 0 }
            }
            _ => Latched::default(),
        }
    }

    /// Input has made every frame that is not on screen wrong (DESIGN 5.6).
    ///
    /// Recorded frames go at once; of the finished ones [`AheadSettings::insurance`] stay. A stage that is at work
    /// finishes, since work in progress cannot be taken back.
    pub fn supersede(&mut self) -> Superseded {
        let insurance = usize::from(self.settings.insurance);
        let mut result = Superseded::default();
        let mut kept = 0;
        let kept_frame = &mut result.kept;
        let wasted = &mut result.wasted;
        let discarded = self.frames.retain(|frame| match frame.state {
            State::Recorded => false,
            State::Recording => true,
            State::Ready | State::Rendering if kept < insurance => {
                kept += 1;
                *kept_frame = Some(frame.id);
                true
            }
            State::Rendering => true,
            State::Ready => {
                *wasted += 1;
                false
            }
        });
        result.discarded = discarded as u8;
        while self.frames.update(|frame| !frame.stale, |frame| frame.stale = true) {}
        // A start delay serves motion that does not answer input; this one does.
        self.show_from = RefreshIndex(0);
        self.ticked = true;
        result
    }
}

#[cfg(test)]
mod tests;

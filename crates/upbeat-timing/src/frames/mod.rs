//! Every frame of one output, from the moment at which its content is chosen until it is shown or let go. Pure.
//!
//! ```text
//!   chosen by a latch ──────► drawing ────────────────────────────────────► in flight ─► shown
//!   chosen ahead: recorded ─► drawing ─► finished ─┬─► held ─► (promoted) ─► in flight ─► shown
//!                    │           │          │      │     └─► withdrawn ─► lost
//!                    ▼           ▼          ▼      └─ where the display takes none ahead ─┘
//!                superseded: let go, but one that is drawn, or being drawn, stays as insurance
//! ```
//!
//! This is the frame pre-executor of D-VSync 4.3 (FPE), with what a display does put behind it. A frame that is made ahead
//! has two stages: *record* (layout, sampling the animation, writing the list of drawing commands: CPU, some kilobytes) and
//! *draw* (pixels: GPU, a buffer). In the *accumulation stage* the next frame starts as soon as the stage before it is free;
//! when no slot is left the *sync stage* begins, in which each latch frees a slot and so starts one frame. A long frame lets
//! the display consume what has accumulated.
//!
//! ```text
//!  refresh    0     1     2     3     4     5     6     7     8
//!  record     012 3     4     5           6 78    9     a
//!  draw        0 1 2  3     4     555555555555 6 7 8  9
//!  on screen        0     1     2     3     4     5 ← the long frame 5 is in time
//!             └ accumulation ┘└── sync ──┘└ accumulation ┘
//! ```
//!
//! Four settings are separate here that the paper counts as one ([`AheadSettings`]): buffers, lead, run-ahead of the record
//! stage, and the start delay. Frames that input made wrong are *superseded*, not flushed: one stale frame stays as insurance
//! until a fresh one is ready.
//!
//! What is to be done comes out of [`FrameQueue::poll`]; whoever does it says what came of it. A frame is in here as long as
//! anybody has something of it: one that nobody wants stays until the renderer, or the display, gives it back.

mod ahead;
mod counts;
mod display;
mod settings;

use std::collections::VecDeque;

use crate::id::FrameId;
use crate::target::RefreshIndex;
use crate::time::{Instant, Span};
pub use ahead::{Shown, Superseded};
use counts::Counts;
pub use display::Flight;
pub use settings::{AheadSettings, Phase, Recorder, Trigger};

/// The most frames that can be under way ahead: more buffers than any pacing uses, plus the records that run ahead.
pub const MOST_AHEAD: usize = 32;
/// Room for those, and for what is drawing for a latch, in flight, or on its way back.
const CAPACITY: usize = 2 * MOST_AHEAD;

/// How far a frame has got.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Stage {
    /// Its content is being chosen.
    Recording,
    /// Its content is chosen.
    Recorded,
    /// Its pixels are being made.
    Drawing,
    /// It waits for its refresh.
    Finished,
    /// The display has it, and shows it at its refresh unless it is withdrawn before.
    Held,
    /// The display was asked to let it go. Until that is known it may be shown.
    Withdrawn {
        /// The display says that it will not be shown, and has not given it back yet.
        surely: bool,
    },
    /// The display has it, and nothing takes its place.
    InFlight,
}

/// One frame. `T` travels with it.
#[derive(Clone, Debug)]
pub struct Frame<T> {
    /// Its number.
    pub id: FrameId,
    /// The refresh that it is for.
    pub target: RefreshIndex,
    /// What travels with it.
    pub content: T,
    /// What choosing and drawing it took, once it is drawn.
    pub cost: Span,
    /// What it changes since the frame that is submitted before it is unknown: one in between was dropped.
    pub follows_gap: bool,
    stage: Stage,
    /// It was chosen before its refresh was at hand.
    ahead: bool,
    /// What it shows is not what is wanted any more: it is shown only where a fresh frame cannot be had in time.
    stale: bool,
    /// Nobody wants it, and whoever draws it gives it back.
    unwanted: bool,
    flight: Flight,
}

impl<T> Frame<T> {
    /// How far it has got.
    pub const fn stage(&self) -> Stage {
        self.stage
    }

    /// Whether it shows what is not wanted any more.
    pub const fn is_stale(&self) -> bool {
        self.stale
    }

    /// Whether it was chosen before its refresh was at hand.
    pub const fn is_ahead(&self) -> bool {
        self.ahead
    }

    /// When it was submitted, and by when it was to be.
    pub const fn flight(&self) -> &Flight {
        &self.flight
    }

    /// Whether nobody wants it any more: it is here until whoever has it gives it back.
    pub const fn is_unwanted(&self) -> bool {
        self.unwanted
    }

    /// Whether it was made ahead, is wanted, and is not in flight.
    const fn waits_for_refresh(&self) -> bool {
        self.ahead && !self.unwanted && !matches!(self.stage, Stage::InFlight | Stage::Withdrawn { .. })
    }

    fn waits(&self, stage: Stage) -> bool {
        self.stage == stage && self.ahead && !self.unwanted
    }
}

/// What may be started now.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct May {
    /// How many frames the display may have at once, the one in flight among them; it is given none ahead where this is 1.
    pub hold: usize,
    /// Whether a frame may be drawn.
    pub draw: bool,
    /// Whether a frame may be recorded.
    pub record: bool,
}

impl May {
    /// Whoever draws and records is always free to, and the display takes no frame ahead.
    pub const WORK: May = May { hold: 1, draw: true, record: true };
}

/// What is to be done.
#[derive(Debug)]
pub enum Step<T> {
    /// Nobody wants this frame: what travelled with it goes back to where it came from.
    Release(Frame<T>),
    /// Ask the display to let go of this frame and of all behind it. Answer with [`FrameQueue::withdrawn`].
    Withdraw(FrameId),
    /// Give this finished frame to the display. Answer with [`FrameQueue::hold`], or [`FrameQueue::take`] if it refuses.
    HandOver(FrameId),
    /// Have this frame drawn. Answer with [`FrameQueue::draw`]; nothing has to be said where there is no buffer for it.
    Draw(FrameId),
    /// Choose the content of the next frame. Answer with [`FrameQueue::record`]. It counts as answered where there is
    /// nothing to choose.
    Record,
}

/// The frames of one output in the order in which their content was chosen.
#[derive(Clone, Debug)]
pub struct FrameQueue<T> {
    frames: VecDeque<Frame<T>>,
    counts: Counts,
    released: VecDeque<Frame<T>>,
    /// The display is to be asked to let go of this one and all behind it.
    withdraw: Option<FrameId>,
    settings: AheadSettings,
    trigger: Trigger,
    recorder: Recorder,
    next: FrameId,
    /// Frames from this one on are not wanted.
    end: Option<FrameId>,
    ticked: bool,
    show_from: RefreshIndex,
}

impl<T> FrameQueue<T> {
    /// A queue without frames, and without motion that wants any.
    pub fn new(settings: AheadSettings, trigger: Trigger) -> Self {
        FrameQueue {
            frames: VecDeque::with_capacity(CAPACITY),
            counts: Counts::default(),
            released: VecDeque::with_capacity(CAPACITY),
            withdraw: None,
            settings,
            trigger,
            recorder: Recorder::default(),
            next: FrameId(0),
            end: Some(FrameId(0)),
            ticked: false,
            show_from: RefreshIndex(0),
        }
    }

    /// The next thing to do, the most urgent first. To be called until it says nothing.
    pub fn poll(&mut self, may: May) -> Option<Step<T>> {
        debug_assert_eq!(self.counts, self.counted(), "what is counted is what is there");
        if let Some(frame) = self.released.pop_front() {
            return Some(Step::Release(frame));
        }
        if let Some(first) = self.withdraw.take() {
            return Some(Step::Withdraw(first));
        }
        if let Some(id) = self.next_to_hold(may.hold) {
            return Some(Step::HandOver(id));
        }
        if may.draw
            && let Some(id) = self.next_to_draw()
        {
            return Some(Step::Draw(id));
        }
        let records = may.record && self.may_record();
        self.ticked = false;
        records.then_some(Step::Record)
    }

    /// Whether there is no frame at all.
    pub fn is_empty(&self) -> bool {
        self.frames.is_empty() && self.released.is_empty()
    }

    /// The frame called `id`.
    pub fn get(&self, id: FrameId) -> Option<&Frame<T>> {
        self.frames.get(self.place(id)?)
    }

    /// The frame called `id`, to change what travels with it.
    pub fn get_mut(&mut self, id: FrameId) -> Option<&mut Frame<T>> {
        let place = self.place(id)?;
        self.frames.get_mut(place)
    }

    /// Where in the queue `id` is. Numbers rise: it is as far behind the first frame as its number says, or nearer where
    /// frames in between are gone.
    fn place(&self, id: FrameId) -> Option<usize> {
        let behind = id.0.checked_sub(self.frames.front()?.id.0)? as usize;
        (0..self.frames.len().min(behind.saturating_add(1))).rev().find(|place| self.frames[*place].id == id)
    }

    /// All frames, the oldest first.
    pub fn iter(&self) -> impl DoubleEndedIterator<Item = &Frame<T>> {
        self.frames.iter()
    }

    /// All frames, the oldest first, to change what travels with them.
    pub fn iter_mut(&mut self) -> impl DoubleEndedIterator<Item = &mut Frame<T>> {
        self.frames.iter_mut()
    }

    /// Frames at this stage, the oldest first.
    pub fn at(&self, stage: Stage) -> impl DoubleEndedIterator<Item = &Frame<T>> {
        self.frames.iter().filter(move |frame| frame.stage == stage)
    }

    /// The number that the next frame will have.
    pub const fn next_frame(&self) -> FrameId {
        self.next
    }

    /// A number for something that is shown beside frames.
    pub fn number(&mut self) -> FrameId {
        let id = self.next;
        self.next.0 += 1;
        id
    }

    /// A latch chose `content` for `target`, which is to be submitted by `submit_by`: it is being drawn from now on, or needs no drawing.
    pub fn choose(&mut self, target: RefreshIndex, submit_by: Instant, content: T) -> FrameId {
        let id = self.push(target, content, Stage::Drawing, false);
        if let Some(frame) = self.frames.back_mut() {
            frame.flight.submit_by = submit_by;
        }
        id
    }

    /// What a latch chose, and is being drawn.
    pub fn composing(&self) -> Option<&Frame<T>> {
        self.at(Stage::Drawing).find(|frame| !frame.ahead && !frame.unwanted)
    }

    /// Takes the frame out, whatever became of it.
    pub fn take(&mut self, id: FrameId) -> Option<Frame<T>> {
        let place = self.place(id)?;
        self.remove(place)
    }

    /// The frame will not be shown. It is let go with the next [`poll`](Self::poll), or when whoever draws it gives it back.
    pub fn abandon(&mut self, id: FrameId) {
        let Some(place) = self.place(id) else { return };
        if self.frames[place].stage == Stage::Drawing {
            self.change(place, |frame| frame.unwanted = true);
        } else {
            let taken = self.remove(place);
            self.released.extend(taken);
        }
    }

    /// Of the frames that no display has, those for which `goes` holds will not be shown.
    pub fn abandon_all(&mut self, goes: impl Fn(&Frame<T>) -> bool) {
        // Mostly nobody goes, and nobody is moved then.
        if !self.frames.iter().any(&goes) {
            return;
        }
        for _ in 0..self.frames.len() {
            let Some(mut frame) = self.frames.pop_front() else { break };
            match frame.stage {
                Stage::Drawing if goes(&frame) => frame.unwanted = true,
                Stage::Recording | Stage::Recorded | Stage::Finished if goes(&frame) => {
                    self.released.push_back(frame);
                    continue;
                }
                _ => {}
            }
            self.frames.push_back(frame);
        }
        self.counts = self.counted();
    }

    fn push(&mut self, target: RefreshIndex, content: T, stage: Stage, ahead: bool) -> FrameId {
        let id = self.next;
        self.next = FrameId(id.0 + 1);
        self.insert(Frame {
            id,
            target,
            content,
            cost: Span::ZERO,
            follows_gap: false,
            stage,
            ahead,
            stale: false,
            unwanted: false,
            flight: Flight::default(),
        });
        id
    }
}

/// Whether something that was to be done `by` then was done too late.
pub fn is_late(done: Instant, by: Instant) -> bool {
    done > by
}

#[cfg(test)]
mod tests;

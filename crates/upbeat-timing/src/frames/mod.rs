//! The queue of all frames of one output, from the choice of their content until they are shown or discarded. Pure.
//!
//! ```text
//!   chosen by a latch ──────► drawing ────────────────────────────────────► in flight ─► shown
//!   chosen ahead: recorded ─► drawing ─► finished ─┬─► held ─► (promoted) ─► in flight ─► shown
//!                    │           │          │      │     └─► withdrawn ─► lost
//!                    ▼           ▼          ▼      └─ where the display takes none ahead ─┘
//!                superseded: discarded, but a frame that is (being) drawn stays as insurance
//! ```
//!
//! This is the frame pre-executor of D-VSync 4.3 (FPE), followed by the stages in the display. A frame that is made
//! ahead has two stages: *record* (layout, sampling the animation, writing the list of drawing commands: CPU, some
//! kilobytes) and *draw* (pixels: GPU, a buffer). In the *accumulation stage* the next frame starts as soon as the
//! previous stage is free. When no slot is left the *sync stage* begins, in which each latch frees a slot and so starts
//! one frame. During a long frame the display consumes the accumulated frames.
//!
//! ```text
//!  refresh    0     1     2     3     4     5     6     7     8
//!  record     012 3     4     5           6 78    9     a
//!  draw        0 1 2  3     4     555555555555 6 7 8  9
//!  on screen        0     1     2     3     4     5 ← the long frame 5 is in time
//!             └ accumulation ┘└── sync ──┘└ accumulation ┘
//! ```
//!
//! The paper has one setting where this module has four ([`AheadSettings`]): buffers, lead, run-ahead of the record
//! stage, and the start delay. Frames that input made outdated are *superseded*, not flushed: one stale frame stays as
//! insurance until a fresh frame is ready.
//!
//! [`FrameQueue::poll`] returns the next operation; the caller performs it and reports the result. A frame stays in the
//! queue while the renderer or the display uses its resources, even if it was discarded.

mod ahead;
mod counts;
mod display;
mod settings;

use std::collections::VecDeque;

use crate::id::FrameId;
use crate::target::RefreshIndex;
use crate::time::{Instant, Span};
pub use ahead::{FrameForRefresh, SupersedeResult};
use counts::StageCounts;
pub use display::FlightTimes;
pub use settings::{AheadSettings, FrameTrigger, PreExecutorStage, RecorderMode};

/// The most frames that can be under way ahead: more buffers than any pacing uses, plus recorded frames.
pub const MOST_AHEAD: usize = 32;
/// Room for frames ahead, and for frames that are drawn for a latch, in flight, or on their way back.
const CAPACITY: usize = 2 * MOST_AHEAD;

/// The stage of a frame.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum FrameStage {
    /// Its content is being chosen.
    Recording,
    /// Its content is chosen; it waits to be drawn.
    Recorded,
    /// The renderer draws its pixels.
    Drawing,
    /// Its pixels are finished; it waits for its refresh.
    Finished,
    /// The display holds it, and shows it at its refresh unless it is withdrawn before.
    Held,
    /// The display was asked to withdraw it. Until the answer it may still be shown.
    Withdrawn {
        /// The display confirmed that it will not show the frame, but has not returned it yet.
        surely: bool,
    },
    /// The display has it, and it cannot be replaced any more.
    InFlight,
}

/// One frame of an output. `T` is the caller's data for it.
#[derive(Clone, Debug)]
pub struct QueuedFrame<T> {
    /// The number of the frame.
    pub id: FrameId,
    /// The refresh that the frame is for.
    pub target: RefreshIndex,
    /// The caller's data: scene, buffer, feedback.
    pub content: T,
    /// The time that choosing and drawing took, once the frame is drawn.
    pub cost: Span,
    /// A frame between this frame and the previously submitted frame was dropped, so its damage is incomplete.
    pub has_incomplete_damage: bool,
    stage: FrameStage,
    /// The content was chosen ahead of its latch.
    ahead: bool,
    /// The content is outdated: it is shown only if a fresh frame would be too late.
    stale: bool,
    /// Discarded, but the renderer still owns it.
    discarded: bool,
    flight: FlightTimes,
}

impl<T> QueuedFrame<T> {
    /// The stage of the frame.
    pub const fn stage(&self) -> FrameStage {
        self.stage
    }

    /// Whether its content is outdated.
    pub const fn is_stale(&self) -> bool {
        self.stale
    }

    /// Whether its content was chosen ahead of its latch.
    pub const fn is_ahead(&self) -> bool {
        self.ahead
    }

    /// When it was submitted, and its deadline.
    pub const fn flight(&self) -> &FlightTimes {
        &self.flight
    }

    /// Whether it was discarded, but the renderer or the display still owns it.
    pub const fn is_discarded(&self) -> bool {
        self.discarded
    }

    /// Whether it was made ahead, is not discarded, and is not in flight.
    const fn waits_for_refresh(&self) -> bool {
        self.ahead && !self.discarded && !matches!(self.stage, FrameStage::InFlight | FrameStage::Withdrawn { .. })
    }

    fn waits(&self, stage: FrameStage) -> bool {
        self.stage == stage && self.ahead && !self.discarded
    }
}

/// The operations that may start now.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct QueuePermissions {
    /// How many frames the display may have at once, including the frame in flight; with 1 it gets no frame ahead.
    pub hold: usize,
    /// Whether a frame may be drawn.
    pub draw: bool,
    /// Whether a frame may be recorded.
    pub record: bool,
}

impl QueuePermissions {
    /// Drawing and recording are always allowed, and the display takes no frame ahead.
    pub const WORK: QueuePermissions = QueuePermissions { hold: 1, draw: true, record: true };
}

/// The next operation for the caller.
#[derive(Debug)]
pub enum FrameOperation<T> {
    /// This frame was discarded: return its resources.
    Release(QueuedFrame<T>),
    /// Ask the display to withdraw this frame and all later frames. Answer with [`FrameQueue::withdrawn`].
    Withdraw(FrameId),
    /// Give this finished frame to the display. Answer with [`FrameQueue::mark_held`], or [`FrameQueue::take`] if it
    /// refuses.
    HandOver(FrameId),
    /// Have this frame drawn. Answer with [`FrameQueue::mark_drawing`]; without a free buffer no answer is needed.
    Draw(FrameId),
    /// Choose the content of the next frame. Answer with [`FrameQueue::record`]. If there is no content, no answer
    /// is needed.
    Record,
}

/// The frames of one output in the order in which their content was chosen.
#[derive(Clone, Debug)]
pub struct FrameQueue<T> {
    frames: VecDeque<QueuedFrame<T>>,
    counts: StageCounts,
    released: VecDeque<QueuedFrame<T>>,
    /// The display has to withdraw this frame and all later frames.
    withdraw: Option<FrameId>,
    settings: AheadSettings,
    trigger: FrameTrigger,
    recorder: RecorderMode,
    next: FrameId,
    /// Frames from this number on are not needed.
    end: Option<FrameId>,
    ticked: bool,
    show_from: RefreshIndex,
}

impl<T> FrameQueue<T> {
    /// A queue without frames, and without motion that needs any.
    pub fn new(settings: AheadSettings, trigger: FrameTrigger) -> Self {
        FrameQueue {
            frames: VecDeque::with_capacity(CAPACITY),
            counts: StageCounts::default(),
            released: VecDeque::with_capacity(CAPACITY),
            withdraw: None,
            settings,
            trigger,
            recorder: RecorderMode::default(),
            next: FrameId(0),
            end: Some(FrameId(0)),
            ticked: false,
            show_from: RefreshIndex(0),
        }
    }

    /// The next operation, the most urgent first. Call it until it returns `None`.
    pub fn poll(&mut self, may: QueuePermissions) -> Option<FrameOperation<T>> {
        debug_assert_eq!(self.counts, self.recount(), "the kept counts equal a recount");
        if let Some(frame) = self.released.pop_front() {
            return Some(FrameOperation::Release(frame));
        }
        if let Some(first) = self.withdraw.take() {
            return Some(FrameOperation::Withdraw(first));
        }
        if let Some(id) = self.next_to_hold(may.hold) {
            return Some(FrameOperation::HandOver(id));
        }
        if may.draw
            && let Some(id) = self.next_to_draw()
        {
            return Some(FrameOperation::Draw(id));
        }
        let records = may.record && self.may_record();
        self.ticked = false;
        records.then_some(FrameOperation::Record)
    }

    /// Whether the queue has no frame at all.
    pub fn is_empty(&self) -> bool {
        self.frames.is_empty() && self.released.is_empty()
    }

    /// The frame `id`, if it is queued.
    pub fn get(&self, id: FrameId) -> Option<&QueuedFrame<T>> {
        self.frames.get(self.position_of(id)?)
    }

    /// The frame `id`, to change the caller's data.
    pub fn get_mut(&mut self, id: FrameId) -> Option<&mut QueuedFrame<T>> {
        let place = self.position_of(id)?;
        self.frames.get_mut(place)
    }

    /// The position of `id` in the queue. Numbers rise, so the distance to the first frame's number is an upper
    /// bound, exact unless frames in between are gone.
    fn position_of(&self, id: FrameId) -> Option<usize> {
        let behind = id.0.checked_sub(self.frames.front()?.id.0)? as usize;
        (0..self.frames.len().min(behind.saturating_add(1))).rev().find(|place| self.frames[*place].id == id)
    }

    /// All frames, the oldest first.
    pub fn iter(&self) -> impl DoubleEndedIterator<Item = &QueuedFrame<T>> {
        self.frames.iter()
    }

    /// All frames, the oldest first, to change the caller's data.
    pub fn iter_mut(&mut self) -> impl DoubleEndedIterator<Item = &mut QueuedFrame<T>> {
        self.frames.iter_mut()
    }

    /// The frames at this stage, the oldest first.
    pub fn at(&self, stage: FrameStage) -> impl DoubleEndedIterator<Item = &QueuedFrame<T>> {
        self.frames.iter().filter(move |frame| frame.stage == stage)
    }

    /// The number that the next frame will have.
    pub const fn next_frame(&self) -> FrameId {
        self.next
    }

    /// Takes a frame number for a picture outside the queue (such as a write in place).
    pub fn take_frame_number(&mut self) -> FrameId {
        let id = self.next;
        self.next.0 += 1;
        id
    }

    /// A latch chose `content` for `target`, to be submitted by `submit_by`. The frame is being drawn from now on,
    /// or needs no drawing.
    pub fn choose(&mut self, target: RefreshIndex, submit_by: Instant, content: T) -> FrameId {
        let id = self.push(target, content, FrameStage::Drawing, false);
        if let Some(frame) = self.frames.back_mut() {
            frame.flight.submit_by = submit_by;
        }
        id
    }

    /// The frame that a latch chose and that is being drawn.
    pub fn composing(&self) -> Option<&QueuedFrame<T>> {
        self.at(FrameStage::Drawing).find(|frame| !frame.ahead && !frame.discarded)
    }

    /// Removes the frame from the queue, at any stage.
    pub fn take(&mut self, id: FrameId) -> Option<QueuedFrame<T>> {
        let place = self.position_of(id)?;
        self.remove(place)
    }

    /// Discards the frame. It is released with the next [`poll`](Self::poll), or when the renderer returns it.
    pub fn discard(&mut self, id: FrameId) {
        let Some(place) = self.position_of(id) else { return };
        if self.frames[place].stage == FrameStage::Drawing {
            self.change(place, |frame| frame.discarded = true);
        } else {
            let taken = self.remove(place);
            self.released.extend(taken);
        }
    }

    /// Discards the frames that `goes` selects, unless the display has them.
    pub fn discard_where(&mut self, goes: impl Fn(&QueuedFrame<T>) -> bool) {
        // Usually no frame is selected, so avoid moving them.
        if !self.frames.iter().any(&goes) {
            return;
        }
        for _ in 0..self.frames.len() {
            let Some(mut frame) = self.frames.pop_front() else { break };
            match frame.stage {
                FrameStage::Drawing if goes(&frame) => frame.discarded = true,
                FrameStage::Recording | FrameStage::Recorded | FrameStage::Finished if goes(&frame) => {
                    self.released.push_back(frame);
                    continue;
                }
                _ => {}
            }
            self.frames.push_back(frame);
        }
        self.counts = self.recount();
    }

    fn push(&mut self, target: RefreshIndex, content: T, stage: FrameStage, ahead: bool) -> FrameId {
        let id = self.next;
        self.next = FrameId(id.0 + 1);
        self.insert(QueuedFrame {
            id,
            target,
            content,
            cost: Span::ZERO,
            has_incomplete_damage: false,
            stage,
            ahead,
            stale: false,
            discarded: false,
            flight: FlightTimes::default(),
        });
        id
    }
}

/// Whether an action was `done` after its deadline `by`.
pub fn is_late(done: Instant, by: Instant) -> bool {
    done > by
}

#[cfg(test)]
mod tests;

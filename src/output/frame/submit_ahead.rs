//! Submits finished frames to the display, several ahead where it can queue them.
//!
//! If a display can queue more than one frame ([`pending_flips`](crate::backend::Capabilities::pending_flips)),
//! finished frames are submitted at once. The display flips one per refresh by itself, however long the compositor is
//! busy. The next frame counts as in flight from its refresh's `latch_at` on, not before. Until then it can be
//! withdrawn, so a button press gets its answer as early as without queued frames. (If the kernel was late with a
//! queued frame, frames become final earlier for a while: the answer to a press is then a refresh later.)
//!
//! ```text
//!   present(k)        latch_at(k+1)     present(k+1)
//!       │                  │                 │
//!       │ k+1, k+2, k+3    │ k+2, k+3        │        held by the display, and withdrawn when superseded: Lost
//!       │                  ├─ k+1 ───────────┤        in flight
//! ```

use std::sync::Arc;

use crate::backend::plane::PlaneContents;
use crate::backend::{FramePlan, PixelRect, PlanChange};
use crate::output::OutputState;
use crate::output::frame::{FrameContent, FramePixels, PlanesAtSubmit};
use crate::output::panel::turn_of;
use crate::output::scene::moved_planes;
use crate::scene::CursorLayer;
use crate::state::State;
use upbeat_timing::frames::{FrameOperation, FrameStage};
use upbeat_timing::id::{FrameId, OutputId};
use upbeat_timing::output::{AheadLimits, FinishedFrame};
use upbeat_timing::record::RepaintReason;
use upbeat_timing::target::{RefreshIndex, Target};
use upbeat_timing::time::{Clock, Instant, Span};

/// A refresh that was latched, with the frame finished for it or a new one.
#[derive(Clone, Copy, Debug)]
pub(in crate::output) struct LatchedFrame {
    pub index: RefreshIndex,
    /// Its expected presentation time.
    pub present: Instant,
    /// Time since the previous refresh.
    pub interval: Span,
    /// It shows a frame that was finished ahead, and no other change was waiting: new animations may start from it.
    pub settled: bool,
    /// The frame that was finished ahead, which it shows.
    pub ahead: Option<FrameId>,
}

impl LatchedFrame {
    /// A refresh with a new frame, or without any.
    pub const fn of(target: Target) -> Self {
        let Target { id, present, interval, .. } = target;
        LatchedFrame { index: id, present, interval, settled: false, ahead: None }
    }
}

impl OutputState {
    /// Submits finished frame `id` with the current cursor position. Returns when the submission began; `None`: the
    /// display rejected it, and the frame is dropped.
    fn submit_finished(&mut self, id: FrameId, cursor: Option<&CursorLayer>, clock: &impl Clock) -> Option<Instant> {
        let has_plane = self.display.capabilities().cursor_plane.is_some();
        let mode = self.display.mode();
        let machine = self.conductor.output();
        let target = machine.frames().get(id)?.target;
        let (due_sequence, final_at) = (self.due_sequence(target), machine.latch_at(target));
        let frame = self.conductor.output_mut().frames_mut().get_mut(id)?;
        let follows_gap = frame.has_incomplete_damage;
        let FrameContent { scene, record, pixels, .. } = &mut frame.content;
        let FramePixels::Drawn(buffer, drawn) = std::mem::take(pixels) else { return None };
        if has_plane && let Some(scene) = Arc::get_mut(scene) {
            scene.cursor = cursor.cloned();
        }
        (record.frame, record.due_sequence) = (id.0, due_sequence);
        let whole = PixelRect { x: 0, y: 0, width: mode.width, height: mode.height };
        let damage = if follows_gap { vec![whole] } else { drawn.damage };
        *pixels = FramePixels::Submitted(drawn.fence.as_ref().and_then(crate::output::fence_copy));
        let plan = FramePlan {
            frame: id,
            present: record.present,
            final_at,
            change: PlanChange::Compose { buffer, damage },
            cursor: scene.cursor_plane().filter(|_| has_plane),
            planes: PlaneContents::default(),
            in_fence: drawn.fence,
        };
        let begun = clock.now();
        record.submitted = Some(begun);
        match self.display.submit(plan) {
            Ok(()) => Some(begun),
            Err((error, plan)) => {
                self.refused(id, error, plan);
                None
            }
        }
    }

    /// Withdraws frame `first` and all later frames from the display.
    pub(in crate::output) fn withdraw_from(&mut self, first: FrameId) {
        let stays = self.display.supersede(first);
        if self.display.withdraws_at_once() {
            self.conductor.output_mut().frames_mut().withdrawn(stays);
        }
    }

    /// Records when a frame was submitted.
    fn note_submitted(&mut self, id: FrameId, now: Instant) {
        if let Some(frame) = self.conductor.output_mut().frames_mut().get_mut(id) {
            frame.content.record.submitted = Some(now);
        }
    }
}

/// Carries out the urgent steps of output `id`: releases discarded frames, withdraws superseded frames, submits
/// finished frames.
pub(in crate::output) fn run_urgent_steps(state: &mut State, id: OutputId) {
    loop {
        let now = state.clock.now();
        let Some(output) = state.outputs.by_id_mut(id) else { return };
        match output.conductor.poll_frame(AheadLimits::default(), now) {
            Some(FrameOperation::Release(frame)) => output.release_frame(frame),
            Some(FrameOperation::Withdraw(first)) => output.withdraw_from(first),
            Some(FrameOperation::HandOver(frame)) => submit_ahead_of_latch(state, id, frame),
            Some(FrameOperation::Draw(_) | FrameOperation::Record) | None => return,
        }
    }
}

/// Submits `frame` ahead, to be shown at its refresh and not before.
pub(in crate::output) fn submit_ahead_of_latch(state: &mut State, id: OutputId, frame: FrameId) {
    let cursor = cursor_on(state, id);
    let State { outputs, clock, .. } = state;
    let Some(output) = outputs.by_id_mut(id) else { return };
    match output.submit_finished(frame, cursor.as_ref(), clock) {
        Some(begun) => {
            let now = clock.now();
            output.note_submitted(frame, now);
            output.conductor.output_mut().held(frame, begun, now);
        }
        // A rejected frame is already gone; a frame that is still here had no pixels.
        None => output.conductor.output_mut().frames_mut().discard(frame),
    }
}

/// The current places of the planes of a latched frame.
pub(in crate::output) fn planes_at_submit(state: &mut State, id: OutputId, frame: FrameId) -> PlanesAtSubmit {
    let overlays = moved_planes::find(state, id, frame);
    // Without a cursor plane the cursor was composed with the rest, where it was at the latch.
    let has_plane = state.outputs.by_id(id).is_some_and(|output| output.display.capabilities().cursor_plane.is_some());
    PlanesAtSubmit { cursor: if has_plane { cursor_on(state, id) } else { None }, overlays }
}

/// The current cursor on output `id`.
pub(in crate::output) fn cursor_on(state: &mut State, id: OutputId) -> Option<CursorLayer> {
    crate::output::scene::cursor::layer(state, id)
}

/// Shows the frame that was finished ahead for `target`, if there is one and it was not superseded.
pub(in crate::output) fn show_finished(
    state: &mut State,
    id: OutputId,
    target: Target,
    scheduled: Instant,
) -> Option<LatchedFrame> {
    let now = state.clock.now();
    let crate::output::Outputs { list, renderer, .. } = &mut state.outputs;
    let output = list.iter_mut().find(|output| output.id == id)?;
    let machine = output.conductor.output_mut();
    match machine.take_finished(target.id, now) {
        Some(FinishedFrame { id: frame, held: true, .. }) => promote(state, id, frame),
        Some(FinishedFrame { id: frame, .. }) => flip(state, id, frame, target, scheduled),
        None => {
            if !machine.frames().is_empty() {
                output.take_back_discarded(renderer.as_mut());
                // The released frames hold buffers that the fresh frame may need.
                run_urgent_steps(state, id);
            }
            None
        }
    }
}

/// Submits a frame that was finished ahead for the coming refresh.
fn flip(state: &mut State, id: OutputId, frame: FrameId, target: Target, scheduled: Instant) -> Option<LatchedFrame> {
    let cursor = cursor_on(state, id);
    let State { outputs, clock, .. } = state;
    let output = outputs.by_id_mut(id)?;
    let machine = output.conductor.output();
    let is_stale =
        machine.idle_predictor().is_unforeseen() || machine.frames().get(frame).is_some_and(|frame| frame.is_stale());
    let need = output.conductor.latched(target.id);
    let taken = LatchedFrame { ahead: Some(frame), settled: !is_stale, ..LatchedFrame::of(target) };
    let Some(begun) = output.submit_finished(frame, cursor.as_ref(), clock) else {
        output.conductor.output_mut().latched_nothing(target.id, scheduled, true);
        return Some(LatchedFrame::of(target));
    };
    let now = clock.now();
    output.note_submitted(frame, now);
    output.conductor.output_mut().submitted_ahead(frame, begun, now);
    output.note_drawn(frame);
    if is_stale {
        // The frame is insurance without the latest change, so the repaint is still needed.
        output.schedule_repaint(need);
    }
    Some(taken)
}

/// `frame` was presented before the machine promoted it to in flight: does so now. It may even be a frame that was
/// withdrawn at the very moment of its flip.
pub(in crate::output) fn promote_presented(state: &mut State, id: OutputId, frame: FrameId) -> Option<LatchedFrame> {
    let machine = state.outputs.by_id(id).filter(|output| output.on)?.conductor.output();
    let stage = machine.frames().get(frame)?.stage();
    if machine.is_busy() || !matches!(stage, FrameStage::Held | FrameStage::Withdrawn { .. }) {
        return None;
    }
    promote(state, id, frame)
}

/// Promotes a frame held by the display to in flight, unless another frame is in flight.
fn promote(state: &mut State, id: OutputId, frame: FrameId) -> Option<LatchedFrame> {
    let output = state.outputs.by_id_mut(id).filter(|output| output.on && !output.conductor.output().is_busy())?;
    let needs = output.conductor.output().repaint_reason();
    let index = output.conductor.output_mut().promote(frame)?;
    output.conductor.latched(index);
    output.note_drawn(frame);
    let machine = output.conductor.output_mut();
    let record = machine.frames().get(frame)?.content.record;
    let waits = needs.filter(|need| !need.is_foreseen() && *need != RepaintReason::Cursor);
    // Held frames get the new cursor position. If no frame is held, this frame may have been submitted with the old
    // position.
    let leaves_cursor = needs == Some(RepaintReason::Cursor) && machine.frames().next_held().is_none();
    if let Some(need) = waits {
        // Another change came after this frame was rendered, so the repaint is still needed.
        machine.keep_repaint_scheduled(need);
    } else if leaves_cursor {
        output.schedule_repaint(RepaintReason::Cursor);
    }
    let (present, interval) = (record.present, record.interval);
    Some(LatchedFrame { index, present, interval, settled: waits.is_none(), ahead: Some(frame) })
}

/// Moves the cursor plane of frames that displays hold.
pub(in crate::output) fn move_cursors(state: &mut State) {
    for index in 0..state.outputs.list.len() {
        let output = &state.outputs.list[index];
        let holds = output.conductor.output().frames().next_held().is_some();
        if !holds || output.display.capabilities().cursor_plane.is_none() {
            continue;
        }
        let cursor = cursor_on(state, state.outputs.list[index].id);
        let output = &mut state.outputs.list[index];
        let (turn, size) = (turn_of(&output.output), output.seen_size());
        output.display.set_cursor(cursor.map(|cursor| cursor.plane(turn, size)).as_ref());
        output.cursor_moved = true;
        output.cursor_moves += 1;
    }
}

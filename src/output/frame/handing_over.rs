//! Finished frames on their way to the display.
//!
//! Where a display lets more than one frame wait ([`pending_flips`](crate::backend::Capabilities::pending_flips)),
//! finished frames are handed over at once, and it flips one per refresh by itself, however long whatever we do
//! meanwhile takes. The next one counts as in flight when content for its refresh would be chosen anew, not before: until
//! then it can be withdrawn, and a press is answered as if nothing had waited. (Where the kernel was late with such a frame,
//! it is given them earlier for a while: a press after that is a refresh later.)
//!
//! ```text
//!   present(k)        latch_at(k+1)     present(k+1)
//!       │                  │                 │
//!       │ k+1, k+2, k+3    │ k+2, k+3        │        held by the display, and withdrawn when superseded: Lost
//!       │                  ├─ k+1 ───────────┤        in flight
//! ```

use std::sync::Arc;

use crate::backend::plane::Planes;
use crate::backend::{Change, PixelRect, Plan};
use crate::output::OutputState;
use crate::output::frame::{Content, Pixels};
use crate::output::panel::turn_of;
use crate::scene::CursorLayer;
use crate::state::State;
use upbeat_timing::frames::{Stage, Step};
use upbeat_timing::id::{FrameId, OutputId};
use upbeat_timing::output::{Finished, Work};
use upbeat_timing::record::Need;
use upbeat_timing::target::{RefreshIndex, Target};
use upbeat_timing::time::{Clock, Instant, Span};

/// A refresh that was latched.
#[derive(Clone, Copy, Debug)]
pub(in crate::output) struct Taken {
    /// Which.
    pub index: RefreshIndex,
    /// When it is expected.
    pub present: Instant,
    /// The distance to the refresh before it.
    pub interval: Span,
    /// It shows a frame that was finished ahead, and nothing else was wanted: motion may start from it.
    pub settled: bool,
}

impl OutputState {
    /// Gives finished frame `id` to the display, with the cursor where it is now. Says when that was begun; `None`: the
    /// display refused, and the frame is gone.
    fn hand_over(&mut self, id: FrameId, cursor: Option<&CursorLayer>, clock: &impl Clock) -> Option<Instant> {
        let has_plane = self.display.capabilities().cursor_plane.is_some();
        let mode = self.display.mode();
        let machine = self.conductor.output();
        let target = machine.frames().get(id)?.target;
        let (due_sequence, final_at) = (self.due_sequence(target), machine.latch_at(target));
        let frame = self.conductor.output_mut().frames_mut().get_mut(id)?;
        let follows_gap = frame.follows_gap;
        let Content { scene, record, pixels, .. } = &mut frame.content;
        let Pixels::Drawn(buffer, drawn) = std::mem::take(pixels) else { return None };
        if has_plane && let Some(scene) = Arc::get_mut(scene) {
            scene.cursor = cursor.cloned();
        }
        (record.frame, record.due_sequence) = (id.0, due_sequence);
        let whole = PixelRect { x: 0, y: 0, width: mode.width, height: mode.height };
        let damage = if follows_gap { vec![whole] } else { drawn.damage };
        *pixels = Pixels::Submitted(drawn.fence.as_ref().and_then(crate::output::drawn_by));
        let plan = Plan {
            frame: id,
            present: record.present,
            final_at,
            change: Change::Compose { buffer, damage },
            cursor: scene.cursor_plane().filter(|_| has_plane),
            planes: Planes::default(),
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

    /// Asks the display to let go of frame `first` and of all behind it.
    pub(in crate::output) fn ask_back(&mut self, first: FrameId) {
        let stays = self.display.supersede(first);
        if self.display.withdraws_at_once() {
            self.conductor.output_mut().frames_mut().withdrawn(stays);
        }
    }

    /// Takes note of when a frame was given to the display.
    fn note_submitted(&mut self, id: FrameId, now: Instant) {
        if let Some(frame) = self.conductor.output_mut().frames_mut().get_mut(id) {
            frame.content.record.submitted = Some(now);
        }
    }
}

/// Does what is urgent with the frames of output `id`: lets go of what nobody wants, has the display do so, and hands over
/// what is finished.
pub(in crate::output) fn attend(state: &mut State, id: OutputId) {
    loop {
        let now = state.clock.now();
        let Some(output) = state.outputs.by_id_mut(id) else { return };
        match output.conductor.poll_frame(Work::default(), now) {
            Some(Step::Release(frame)) => output.let_go(frame),
            Some(Step::Withdraw(first)) => output.ask_back(first),
            Some(Step::HandOver(frame)) => give_ahead(state, id, frame),
            Some(Step::Draw(_) | Step::Record) | None => return,
        }
    }
}

/// The display is to show `frame` at its refresh, and not before.
pub(in crate::output) fn give_ahead(state: &mut State, id: OutputId, frame: FrameId) {
    let cursor = cursor_on(state, id);
    let State { outputs, clock, .. } = state;
    let Some(output) = outputs.by_id_mut(id) else { return };
    match output.hand_over(frame, cursor.as_ref(), clock) {
        Some(begun) => {
            let now = clock.now();
            output.note_submitted(frame, now);
            output.conductor.output_mut().held(frame, begun, now);
        }
        // It was refused and is gone; if it is not, it had nothing to show.
        None => output.conductor.output_mut().frames_mut().abandon(frame),
    }
}

/// The cursor as it is on output `id` now.
pub(in crate::output) fn cursor_on(state: &mut State, id: OutputId) -> Option<CursorLayer> {
    crate::output::scene::cursor::layer(state, id)
}

/// Shows the frame that is finished for `target`, if there is one that is to be shown.
pub(in crate::output) fn show_finished(
    state: &mut State,
    id: OutputId,
    target: Target,
    scheduled: Instant,
) -> Option<Taken> {
    let now = state.clock.now();
    let crate::output::Outputs { list, renderer, .. } = &mut state.outputs;
    let output = list.iter_mut().find(|output| output.id == id)?;
    let machine = output.conductor.output_mut();
    match machine.take_finished(target.id, now) {
        Some(Finished { id: frame, held: true, .. }) => promote(state, id, frame),
        Some(Finished { id: frame, .. }) => flip(state, id, frame, target, scheduled),
        None => {
            if !machine.frames().is_empty() {
                output.take_back(renderer.as_mut());
                // What is let go has buffers that the fresh frame may need.
                attend(state, id);
            }
            None
        }
    }
}

/// Submits a finished frame for the refresh that is at hand.
fn flip(state: &mut State, id: OutputId, frame: FrameId, target: Target, scheduled: Instant) -> Option<Taken> {
    let cursor = cursor_on(state, id);
    let State { outputs, clock, .. } = state;
    let output = outputs.by_id_mut(id)?;
    let machine = output.conductor.output();
    let is_stale = machine.calm().is_disturbed() || machine.frames().get(frame).is_some_and(|frame| frame.is_stale());
    let need = output.conductor.latched(target.id);
    let taken = Taken { index: target.id, present: target.present, interval: target.interval, settled: !is_stale };
    let Some(begun) = output.hand_over(frame, cursor.as_ref(), clock) else {
        output.conductor.output_mut().empty(target.id, scheduled, true);
        return Some(Taken { settled: false, ..taken });
    };
    let now = clock.now();
    output.note_submitted(frame, now);
    output.conductor.output_mut().submitted_ahead(frame, begun, now);
    output.note_drawn(frame);
    if is_stale {
        // It is not what was asked for.
        output.need(need);
    }
    Some(taken)
}

/// `frame` was shown: if nobody had the time to say that it is in flight, it is now. That can be one that was taken back
/// in the very moment in which it was shown.
pub(in crate::output) fn catch_up(state: &mut State, id: OutputId, frame: FrameId) -> Option<Taken> {
    let machine = state.outputs.by_id(id).filter(|output| output.on)?.conductor.output();
    let stage = machine.frames().get(frame)?.stage();
    if machine.is_busy() || !matches!(stage, Stage::Held | Stage::Withdrawn { .. }) {
        return None;
    }
    promote(state, id, frame)
}

/// A frame that the display holds is in flight from now on, if nothing else is.
fn promote(state: &mut State, id: OutputId, frame: FrameId) -> Option<Taken> {
    let output = state.outputs.by_id_mut(id).filter(|output| output.on && !output.conductor.output().is_busy())?;
    let needs = output.conductor.output().needs();
    let index = output.conductor.output_mut().promote(frame)?;
    output.conductor.latched(index);
    output.note_drawn(frame);
    let machine = output.conductor.output_mut();
    let record = machine.frames().get(frame)?.content.record;
    let waits = needs.filter(|need| !matches!(need, Need::Animation | Need::Cursor));
    // Frames that are still held show the cursor where it is; this one may have been on its way when it moved.
    let leaves_cursor = needs == Some(Need::Cursor) && machine.frames().next_held().is_none();
    if let Some(need) = waits {
        // Something else has changed since this frame was rendered: it is to be shown yet.
        machine.need_still(need);
    } else if leaves_cursor {
        output.need(Need::Cursor);
    }
    Some(Taken { index, present: record.present, interval: record.interval, settled: waits.is_none() })
}

/// The cursor moved: frames that wait show it where it is.
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

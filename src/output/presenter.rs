//! Finished frames that the display holds already.
//!
//! Where a display lets more than one frame wait ([`pending_flips`](crate::backend::Capabilities::pending_flips)),
//! finished frames are handed over at once, and it flips one per refresh by itself, however long whatever we do
//! meanwhile takes. The machine knows of one frame in flight. The next one takes its place when content for its refresh
//! would be chosen anew, not before: until then it can be withdrawn, and a press is answered as if nothing had waited. (Where
//! the kernel was late with such a frame, it is given them earlier for a while: a press after that is a refresh later.)
//!
//! ```text
//!   present(k)        latch_at(k+1)     present(k+1)
//!       │                  │                 │
//!       │ k+1, k+2, k+3    │ k+2, k+3        │        held by the display, and withdrawn when superseded: Lost
//!       │                  ├─ k+1 ───────────┤        in flight
//! ```

use std::collections::VecDeque;
use std::sync::Arc;

use super::latch::{end_latch, keep_moving};
use super::waiting::Waiting;
use super::{Flight, OutputState, geometry};
use crate::backend::plane::Planes;
use crate::backend::{Change, FrameId, Plan};
use crate::scene::CursorLayer;
use crate::state::State;
use crate::surface::{Feedback, Unshown};
use crate::time::{Clock, Instant};
use crate::timing::id::OutputId;
use crate::timing::output::Composed;
use crate::timing::record::Need;
use crate::timing::target::RefreshIndex;

impl OutputState {
    /// Gives a finished frame to the display, with the cursor where it is now. `None`: the display refused.
    pub(super) fn hand_over(
        &mut self,
        waiting: Waiting,
        cursor: Option<&CursorLayer>,
        clock: &impl Clock,
    ) -> Option<Flight> {
        let has_plane = self.display.capabilities().cursor_plane.is_some();
        let Waiting { frame, mut scene, buffer, drawn, mut record, .. } = waiting;
        if has_plane && let Some(scene) = Arc::get_mut(&mut scene) {
            scene.cursor = cursor.cloned();
        }
        record.due_sequence = self.due_sequence(record.target);
        let fence = drawn.fence.as_ref().and_then(super::drawn_by);
        let plan = Plan {
            frame,
            target: record.target,
            present: record.present,
            final_at: self.conductor.output().latch_at(record.target),
            change: Change::Compose { buffer, damage: drawn.damage },
            cursor: scene.cursor.as_ref().filter(|_| has_plane).map(CursorLayer::plane),
            planes: Planes::default(),
            in_fence: drawn.fence,
        };
        let begun = clock.now();
        let result = self.display.submit(plan);
        let submitted = clock.now();
        record.submitted = Some(submitted);
        match result {
            Ok(()) => {
                self.conductor.output_mut().rendered_ahead(record.compose_cost + (submitted - begun));
                Some(Flight { frame, scene, feedback: Feedback::default(), record, clients: Vec::new(), fence })
            }
            Err((error, plan)) => {
                self.refused(error, plan, Feedback::default());
                None
            }
        }
    }

    /// Withdraws what the display holds and nobody wants any more, as far as that is not on its way. It says of each
    /// frame that it is lost. Kept are the one that flips next where a fresh one would be too late, and one behind it
    /// where every fresh one would.
    pub(super) fn withdraw_unwanted(&mut self, now: Instant) {
        if !std::mem::take(&mut self.ahead.withdraws) {
            return;
        }
        let machine = self.conductor.output();
        let next = self.ahead.submitted.front().filter(|_| self.flights.is_empty());
        let is_needed = next.is_some_and(|next| machine.is_hopeless(next.record.target, now));
        self.withdraw(usize::from(is_needed) + usize::from(machine.composes_slowly()));
    }

    /// Withdraws all that the display holds behind the frame in flight: it was made for refreshes that are none.
    pub(super) fn withdraw_held(&mut self) {
        let held = self.ahead.submitted.len();
        self.withdraw(0);
        for flight in self.ahead.withdrawn.iter().rev().take(held - self.ahead.submitted.len()) {
            self.ahead.executor.latch(flight.record.target);
        }
    }

    /// Withdraws what the display holds behind the frame in flight, but for the first `kept` of it.
    pub(super) fn withdraw(&mut self, kept: usize) {
        let Some(first) = self.ahead.submitted.get(kept).map(|flight| flight.frame) else { return };
        let stays = self.display.supersede(first);
        let goes = |flight: &Flight| flight.frame >= first && stays.is_none_or(|stays| flight.frame > stays);
        let kept = self.ahead.submitted.iter().take_while(|flight| !goes(flight)).count();
        let gone = self.ahead.submitted.split_off(kept);
        self.ahead.withdrawn.extend(gone);
        self.announce();
    }

    /// Takes out a frame that the display was told to let go, if `frame` is one.
    pub(super) fn take_withdrawn(&mut self, frame: FrameId) -> Option<Flight> {
        let index = position(&self.ahead.withdrawn, frame)?;
        self.ahead.withdrawn.remove(index)
    }

    /// Takes out a frame that the display held and was to show, if `frame` is one.
    pub(super) fn take_submitted(&mut self, frame: FrameId) -> Option<Flight> {
        let index = position(&self.ahead.submitted, frame)?;
        let taken = self.ahead.submitted.remove(index)?;
        self.ahead.executor.latch(taken.record.target);
        self.announce();
        Some(taken)
    }

    /// Nothing that the display held will be shown: it is gone.
    pub(super) fn forget_submitted(&mut self) {
        for flight in self.ahead.submitted.drain(..).chain(self.ahead.withdrawn.drain(..)) {
            flight.feedback.discard(Unshown::Unseen);
        }
        self.announce();
    }

    /// The last refresh for which the display has a frame.
    pub(super) fn last_submitted(&self) -> RefreshIndex {
        let last = self.ahead.submitted.back().map(|flight| flight.record.target);
        last.unwrap_or(RefreshIndex(0)).max(self.conductor.output().latched())
    }
}

fn position(frames: &VecDeque<Flight>, frame: FrameId) -> Option<usize> {
    frames.iter().position(|flight| flight.frame == frame)
}

/// Hands finished frames to the display of output `id`, as many as it takes.
pub(super) fn feed(state: &mut State, id: OutputId) {
    let now = state.clock.now();
    let Some(output) = state.outputs.by_id_mut(id) else { return };
    output.drop_late(now);
    let capacity = output.display.capabilities().pending_flips as usize;
    let handle = output.output.clone();
    let takes = |output: &OutputState| {
        // The first one comes when its time has: a display that holds nothing would show it at once.
        (1..capacity).contains(&(output.flights.len() + output.ahead.submitted.len()))
            && output.ahead.frames.front().is_some_and(|waiting| !waiting.stale)
    };
    if !takes(output) {
        return;
    }
    let cursor = super::cursor::layer(state, geometry(&handle), handle.current_scale().fractional_scale());
    let State { outputs, clock, .. } = state;
    let Some(output) = outputs.by_id_mut(id) else { return };
    while takes(output) {
        let Some(waiting) = output.ahead.frames.pop_front() else { break };
        match output.hand_over(waiting, cursor.as_ref(), clock) {
            Some(flight) => output.ahead.submitted.push_back(flight),
            None => break,
        }
    }
    output.announce();
}

/// `frame` was shown: if nobody had the time to say that it is in flight, it is now. That can be one that was taken back
/// in the very moment in which it was shown.
pub(super) fn catch_up(state: &mut State, id: OutputId, frame: FrameId) {
    let Some(output) = state.outputs.by_id_mut(id).filter(|output| output.flights.is_empty()) else { return };
    let ahead = &mut output.ahead;
    if let Some(index) = position(&ahead.withdrawn, frame) {
        ahead.withdrawn.remove(index).into_iter().for_each(|flight| ahead.submitted.push_front(flight));
    }
    if ahead.submitted.front().is_some_and(|next| next.frame == frame) {
        promote(state, id);
    }
}

/// The next frame that the display holds is in flight from now on, if there is one and nothing else is. Returns whether
/// that is so.
pub(super) fn promote(state: &mut State, id: OutputId) -> bool {
    let Some(output) = state.outputs.by_id_mut(id).filter(|output| output.on && output.flights.is_empty()) else {
        return false;
    };
    let Some(flight) = output.ahead.submitted.pop_front() else { return false };
    // A frame that the display could not be kept from showing late is for the next refresh that there is.
    let next = output.last_shown.map_or(flight.record.target, |shown| shown.next());
    let target = flight.record.target.max(next);
    let (present, interval) = (flight.record.present, flight.record.interval);
    let submitted = flight.record.submitted.unwrap_or(present);
    output.ahead.executor.latch(target);
    let is_needed = output.conductor.output().is_needed();
    let waits = is_needed && !matches!(output.need, Need::Animation | Need::Cursor);
    // Frames that are still held show the cursor where it is; this one may have been on its way when it moved.
    let leaves_cursor = is_needed && output.need == Need::Cursor && output.ahead.submitted.is_empty();
    output.conductor.latched(target);
    output.conductor.composed(target, submitted, submitted, Composed::Odd);
    output.drawn = flight.scene.clone();
    output.flights.push_back(flight);
    if waits {
        // Something else has changed since this frame was rendered: it is to be shown yet.
        output.conductor.output_mut().need();
    } else {
        output.need = Need::Animation;
        if leaves_cursor {
            output.need(Need::Cursor);
        }
        super::latch::animate(state, id, present, interval);
    }
    end_latch(state, id);
    keep_moving(state, id, present);
    feed(state, id);
    if let Some(output) = state.outputs.by_id_mut(id) {
        output.announce();
    }
    true
}

/// The cursor moved: frames that wait show it where it is.
pub(super) fn move_cursors(state: &mut State) {
    for index in 0..state.outputs.list.len() {
        let output = &state.outputs.list[index];
        if output.ahead.submitted.is_empty() || output.display.capabilities().cursor_plane.is_none() {
            continue;
        }
        let handle = output.output.clone();
        let cursor = super::cursor::layer(state, geometry(&handle), handle.current_scale().fractional_scale());
        let output = &mut state.outputs.list[index];
        output.display.set_cursor(cursor.as_ref().map(CursorLayer::plane).as_ref());
        output.ahead.cursor_moved = true;
    }
}

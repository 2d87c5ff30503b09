//! Finished frames that the display holds already.
//!
//! Where a display lets more than one frame wait ([`pending_flips`](crate::backend::Capabilities::pending_flips)),
//! finished frames are handed over at once, and it flips one per refresh by itself, however long whatever we do
//! meanwhile takes. The machine knows of one frame in flight; when that reached light, the next one takes its place.
//!
//! ```text
//!   finished ──► display: │ flips next (in flight) │ k+2 │ k+3 │       Presented(k+1) ─► k+2 is in flight
//!                          └────────── withdrawn when superseded: Lost ┘
//! ```

use std::sync::Arc;

use super::latch::{end_latch, keep_moving};
use super::prerender::Waiting;
use super::scene::CursorLayer;
use super::{Flight, OutputState, geometry};
use crate::backend::plane::Planes;
use crate::backend::{Change, FrameId, Plan};
use crate::protocol::frame_pacing::Unshown;
use crate::shell::animation::Shown;
use crate::state::State;
use crate::surface::Feedback;
use crate::time::Clock;
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
            change: Change::Compose { buffer, damage: drawn.damage },
            cursor: scene.cursor.as_ref().filter(|_| has_plane).map(CursorLayer::plane),
            planes: Planes::default(),
            in_fence: drawn.fence,
        };
        let result = self.display.submit(plan);
        record.submitted = Some(clock.now());
        match result {
            Ok(()) => Some(Flight { frame, scene, feedback: Feedback::default(), record, clients: Vec::new(), fence }),
            Err((error, plan)) => {
                self.refused(error, plan, Feedback::default());
                None
            }
        }
    }

    /// Withdraws what the display holds behind the frame that flips next, but for the first `kept` of it. It says of each
    /// that it is lost.
    pub(super) fn withdraw(&mut self, kept: usize) {
        if let Some(first) = self.ahead.submitted.get(kept).map(|flight| flight.frame) {
            self.display.supersede(first);
        }
    }

    /// Takes out a frame that the display held and will not show, if `frame` is one.
    pub(super) fn take_submitted(&mut self, frame: FrameId) -> Option<Flight> {
        let index = self.ahead.submitted.iter().position(|flight| flight.frame == frame)?;
        self.ahead.submitted.remove(index)
    }

    /// Nothing that the display held will be shown: it is gone.
    pub(super) fn forget_submitted(&mut self) {
        for flight in self.ahead.submitted.drain(..) {
            flight.feedback.discard(Unshown::Unseen);
        }
    }

    /// The last refresh for which the display has a frame.
    pub(super) fn last_submitted(&self) -> RefreshIndex {
        let last = self.ahead.submitted.back().map(|flight| flight.record.target);
        last.unwrap_or(RefreshIndex(0)).max(self.conductor.output().latched())
    }
}

/// Hands finished frames to the display of output `id`, as many as it takes.
pub(super) fn feed(state: &mut State, id: OutputId) {
    let Some(output) = state.outputs.by_id(id) else { return };
    let capacity = output.display.capabilities().pending_flips as usize;
    let handle = output.output.clone();
    let takes = |output: &OutputState| {
        !output.flights.is_empty()
            && output.ahead.submitted.len() + 1 < capacity
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

/// The frame in flight has reached light, or never will: the next one that the display holds is in flight now.
pub(super) fn promote(state: &mut State, id: OutputId) {
    let Some(output) = state.outputs.by_id_mut(id).filter(|output| output.on && output.flights.is_empty()) else {
        return;
    };
    let Some(flight) = output.ahead.submitted.pop_front() else { return };
    // A frame that the display could not be kept from showing late is for the next refresh that there is.
    let next = output.last_shown.map_or(flight.record.target, |shown| shown.next());
    let target = flight.record.target.max(next);
    let (present, interval) = (flight.record.present, flight.record.interval);
    let submitted = flight.record.submitted.unwrap_or(present);
    output.ahead.executor.latch(target);
    let waits = output.conductor.output().is_needed() && !matches!(output.need, Need::Animation | Need::Cursor);
    output.conductor.latched(target);
    output.conductor.composed(target, submitted, submitted, Composed::Odd);
    output.drawn = flight.scene.clone();
    output.flights.push_back(flight);
    if waits {
        // Something else has changed since this frame was rendered: it is to be shown yet.
        output.conductor.output_mut().need();
    } else {
        output.need = Need::Animation;
        state.shell.animate(Shown { at: present, before: present - interval });
    }
    end_latch(state, id);
    keep_moving(state, id, present);
    feed(state, id);
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

//! Sends frame callbacks: to a client when its pacer decides, and to hidden surfaces once a second.

use crate::output::OutputState;
use crate::output::Outputs;
use crate::output::clients::blockers::clear_blockers;
use crate::output::clients::early_callbacks;
use crate::output::clients::frame_targets;
use crate::output::clients::pacing::{HIDDEN_INTERVAL, schedule_hidden_tick};
use crate::output::clients::spare_buffer;
use crate::state::State;
use crate::surface::{self, FrameDiscardReason, SurfaceEntry};
use upbeat_timing::conductor::PacerId;
use upbeat_timing::id::OutputId;
use upbeat_timing::pacer::Pacer;
use upbeat_timing::record::ClientFrameRecord;
use upbeat_timing::target::Target;
use upbeat_timing::time::{Clock, Instant};

/// Sends the due callbacks of one client.
pub(in crate::output) fn send_callbacks(
    state: &mut State,
    id: OutputId,
    pacer: PacerId,
    target: Target,
    time: Instant,
    scheduled: Instant,
) {
    let now = state.clock.now();
    let State { surfaces, outputs, .. } = state;
    let first = outputs.first();
    let Some(output) = outputs.list.iter_mut().find(|output| output.id == id) else { return };
    let Some((client, pacing)) = output.clients.of_pacer(pacer) else {
        output.conductor.remove_pacer(pacer);
        return;
    };
    pacing.partial = None;
    let cpu = pacing.clock.and_then(|clock| clock.read());
    let runs_ahead = output.conductor.pacer(pacer).is_some_and(Pacer::has_second_period);
    let reason = output.conductor.pacer(pacer).map(|pacer| pacer.effective().1);
    if let Some(reason) = reason.filter(|reason| reason.is_for_more_frames() && !pacing.has_logged_reason) {
        pacing.has_logged_reason = true;
        tracing::info!(%client, "callbacks come sooner: {}", reason.words());
    }
    output.conductor.called_back(pacer, now, cpu);
    let drawing = output.conductor.pacer(pacer).and_then(Pacer::drawing);
    let is_second = drawing.is_some_and(|drawing| drawing.is_second);
    let time = early_callbacks::callback_time(output, client, pacer, (time, target.interval), now);
    let due_sequence = output.due_sequence(target.id);
    let ready_by = ready_by(output, pacer, target);
    let mut called = false;
    // A surface that no scene has shown yet may still request its first target.
    surfaces.for_each_awake(|entry| {
        if entry.client() != client || entry.output().or(first) != Some(id) {
            return;
        }
        let answered = frame_targets::send_target_with_callback(entry, output, target.id, now);
        let may_be_called = spare_buffer::may_be_called(entry, output, runs_ahead);
        // A second callback answers only target requests: callbacks committed with the first content wait for
        // its latch.
        let wants = entry.wants_callback() && entry.output().is_some() && may_be_called && !is_second;
        if !(answered || wants) {
            return;
        }
        called = true;
        *entry.record_mut() = ClientFrameRecord {
            client,
            surface: entry.id(),
            window: entry.record().window,
            output: id,
            target: target.id,
            present: target.present,
            ready_by,
            interval: target.interval,
            callback_scheduled: Some(scheduled),
            callback_sent: Some(now),
            due_sequence,
            input: entry.take_input(),
            ..ClientFrameRecord::default()
        };
        if wants {
            entry.send_predictions(target.present, now);
        }
        entry.call_back(time, Some(now));
    });
    outputs.objects_ended |= called;
    if !called && let Some(pacer) = output.conductor.pacer_mut(pacer) {
        // The callback was destroyed with its surface.
        pacer.cancel_callbacks();
    }
}

/// Deadline for the client's content for `target`.
fn ready_by(output: &OutputState, pacer: PacerId, target: Target) -> Instant {
    let machine = output.conductor.output();
    let row = output.conductor.pacer(pacer).filter(|pacer| pacer.in_place_row().is_some());
    row.map_or(target.ready_by, |pacer| pacer.deadline(target.id, machine))
}

/// Sends the waiting callbacks of hidden surfaces, once a second.
pub(in crate::output) fn send_hidden_callbacks(state: &mut State) {
    let Some(tick) = state.outputs.hidden_tick else { return };
    let now = state.clock.now();
    if tick > now {
        return;
    }
    state.outputs.hidden_tick = None;
    let State { surfaces, outputs, .. } = state;
    let mut opened = Vec::new();
    let first = outputs.first();
    let mut spared = false;
    surfaces.for_each_awake(|entry| {
        let has_content = surface::has_content(entry.surface());
        let new = entry.output().is_none() && first.is_some() && entry.queued_updates() > 0 && !has_content;
        // The first frames of a new surface wait for their refreshes.
        if outputs.is_visible(entry) || new {
            return;
        }
        if outputs.is_latch_due_for(entry, now) {
            spared = true;
            return;
        }
        entry.note_unseen(has_content);
        entry.clear_barrier();
        if entry.open_finished() {
            opened.push(entry.surface().clone());
        }
        entry.latch().discard(FrameDiscardReason::Unseen);
        // A surface that never had content keeps its callbacks until its first content. A surface that had
        // content and is hidden now must get them, because its client may do nothing else before.
        if !entry.is_blank() {
            entry.call_back(now, None);
        }
        let output = entry.output().or(first).and_then(|id| outputs.by_id_mut(id));
        frame_targets::send_hidden_target(entry, output, now);
    });
    if spared {
        schedule_hidden_tick(outputs, now);
    }
    clear_blockers(state, &opened);
}

impl Outputs {
    /// Whether the next latch may show the surface's new content: no output that may show the surface has latched
    /// since its commit. After [`HIDDEN_INTERVAL`] the surface counts as hidden, so that an output that never
    /// latches delays no client.
    fn is_latch_due_for(&self, entry: &SurfaceEntry, now: Instant) -> bool {
        let Some(since) = entry.unlatched_since().filter(|since| now - *since < HIDDEN_INTERVAL) else { return false };
        let mut may_show = self.list.iter().filter(|output| entry.output().is_none_or(|own| own == output.id));
        may_show
            .any(|output| output.on && output.last_latch < since && output.conductor.output().is_repaint_scheduled())
    }
}

//! Handles display events: presentation feedback to clients, frame records, the vsync model.

use smithay::reexports::wayland_protocols::wp::presentation_time::server::wp_presentation_feedback::Kind;
use smithay::wayland::presentation::Refresh;

use crate::backend::fence::FenceState;
use crate::backend::{ClockSource, DisplayEvent, LossReason};
use crate::output::OutputState;
use crate::output::Outputs;
use crate::output::clients::front_buffer;
use crate::output::clients::second_period;
use crate::output::frame::latch;
use crate::output::frame::submit_ahead;
use crate::output::frame::{FrameContent, FramePixels};
use crate::output::hotplug;
use crate::output::in_place::LitWrite;
use crate::shell::ShellSeat;
use crate::state::State;
use crate::surface::PresentationInfo;
use upbeat_record::trace::FrameLog;
use upbeat_record::trace::kernel_times::KernelTimer;
use upbeat_timing::frames::FrameStage;
use upbeat_timing::id::FrameId;
use upbeat_timing::record::{Blame, ClientFrameRecord, FrameOutcome, Interference, LostReason, RepaintReason};
use upbeat_timing::target::RefreshIndex;
use upbeat_timing::time::{Clock, Instant};
use upbeat_timing::vsync::TimestampObservation;

/// Handles the pending events of all displays.
pub(in crate::output) fn handle_display_events(state: &mut State) {
    let mut shown = false;
    let mut gone = Vec::new();
    for index in 0..state.outputs.list.len() {
        while let Some(event) = state.outputs.list[index].display.poll_event() {
            let now = state.clock.now();
            match event {
                DisplayEvent::Presented { frame, time, sequence } => {
                    let id = state.outputs.list[index].id;
                    if let Some(taken) = submit_ahead::promote_presented(state, id, frame) {
                        latch::after_latch(state, id, taken);
                    }
                    presented(&mut state.outputs, index, frame, time, sequence, now);
                    second_period::send_ready_callbacks(state, id);
                    shown = true;
                }
                DisplayEvent::FrontLit { frame, light, sequence, torn } => {
                    written(&mut state.outputs, index, (frame, torn), light, sequence, now);
                }
                DisplayEvent::FrontScanned(scanned) => front_buffer::scanned(state, index, scanned),
                DisplayEvent::Lost { frame, reason } => lost(&mut state.outputs, index, frame, reason, now),
                DisplayEvent::Refused { frame, error } => state.outputs.list[index].forget_refused(frame, &error),
                DisplayEvent::PlanesKnown => {
                    let output = &mut state.outputs.list[index];
                    // The scene is unchanged, but its layers may go onto other planes, so force a repaint.
                    output.drawn_scene = std::sync::Arc::default();
                    output.schedule_repaint(RepaintReason::Content);
                }
                DisplayEvent::QueueGrown => state.outputs.list[index].update_frame_limits(),
                DisplayEvent::Changed => hotplug::changed(state, index),
                DisplayEvent::ModeSettled { request: asked, result } => {
                    let id = state.outputs.list[index].id;
                    state.outputs.switches.record_result(id, asked, &result);
                }
                DisplayEvent::Gone => gone.push(state.outputs.list[index].id),
            }
        }
    }
    for id in gone {
        hotplug::remove(state, id);
    }
    if shown {
        state.refresh_focus();
    }
}

fn presented(outputs: &mut Outputs, index: usize, id: FrameId, time: Instant, sequence: Option<u64>, now: Instant) {
    let output = &mut outputs.list[index];
    let rendered = output.rendered(id, now);
    let step = sequence.zip(output.last_sequence).map(|(now, before)| now.saturating_sub(before));
    let (outcome, frame) = output.conductor.output_mut().presented(id, time, step, now);
    // If the presentation time is unknown (the first frame of a mode), the sequence number is not that of the light
    // either.
    let counted = sequence.filter(|_| time != Instant::ZERO || output.last_sequence.is_some());
    output.last_sequence = counted.or_else(|| output.last_sequence.map(|last| last + 1));
    let before = output.last_light.replace((id, outcome.shown));
    let Some(frame) = frame else { return };
    let mut content = frame.content;
    // An earlier, late frame used this refresh.
    let displaced = before.filter(|(_, shown)| *shown >= content.record.target);
    content.record.busy_with = displaced.map(|(frame, _)| frame.0);
    if let Some(rendered) = rendered {
        let record = &mut content.record;
        record.rendered = Some(rendered);
        record.compose_cost = record.compose_cost.max(rendered - record.latched);
    }
    if let Some(sequence) = sequence.filter(|_| outcome.found_phase) {
        // The phase was unknown when the target was set.
        let due = |target: RefreshIndex| Some(sequence.saturating_sub(outcome.shown.since(target)));
        content.record.due_sequence = due(content.record.target);
        content.clients.iter_mut().for_each(|client| client.due_sequence = due(client.target));
    } else if time == Instant::ZERO {
        // The presentation time is unknown (the first frame of a mode), so no particular refresh was missed.
        content.record.due_sequence = sequence;
        content.clients.iter_mut().for_each(|client| client.due_sequence = sequence);
    }
    if outcome.found_phase || matches!(outcome.observation, TimestampObservation::Moved { .. }) {
        output.conductor.output_mut().withdraw_held();
    }
    output.presented = outcome.present;
    output.lights += 1;
    let light = PresentedRefresh { present: outcome.present, sequence: sequence.unwrap_or(outcome.shown.0) };
    for orphan in output.in_place.take_replaced() {
        content.feedback.extend(orphan.feedback);
        content.clients.extend(orphan.record);
    }
    outputs.objects_ended |= !content.feedback.is_empty();
    let mut books = FrameRecorders {
        log: outputs.frame_log.as_ref(),
        statistics: &mut outputs.statistics,
        kernel: &mut outputs.kernel,
    };
    output.report_presented(content, light, &mut books, now);
}

/// A rectangle in the front buffer was lit. This is not a vblank, so the vsync model learns nothing.
fn written(
    outputs: &mut Outputs,
    index: usize,
    (frame, torn): (FrameId, bool),
    light: Instant,
    sequence: Option<u64>,
    now: Instant,
) {
    let output = &mut outputs.list[index];
    let Some(LitWrite { index, feedback, record }) = output.in_place.lit(frame, torn) else { return };
    (output.presented, output.lights) = (light, output.lights + 1);
    outputs.objects_ended |= !feedback.is_empty();
    let refresh = Refresh::fixed(output.conductor.output().vsync().interval().to_duration());
    let light = PresentedRefresh { present: light, sequence: sequence.unwrap_or(index.0) };
    // The time is that of a row, not of a vblank, so no flag is set.
    let shown = PresentationInfo { present: light.present, refresh, sequence: light.sequence, flags: Kind::empty() };
    feedback.presented(&output.output, shown);
    let mut books = FrameRecorders {
        log: outputs.frame_log.as_ref(),
        statistics: &mut outputs.statistics,
        kernel: &mut outputs.kernel,
    };
    if let Some(client) = record {
        output.record_client_frame(client, &light, &mut books, None, now);
    }
}

impl OutputState {
    /// When the GPU had drawn the frame that is now on screen; `None` if it was finished before its submission.
    fn rendered(&mut self, frame: FrameId, now: Instant) -> Option<Instant> {
        let FramePixels::Submitted(fence) = &self.conductor.output().frames().get(frame)?.content.pixels else {
            return None;
        };
        // The frame is on screen, so its fence has signalled.
        let FenceState::Signalled(done) = fence.as_ref()?.state(now) else { return None };
        self.conductor.output_mut().mark_rendered(frame, done);
        Some(done)
    }
}

/// The logs and statistics that record presented frames.
struct FrameRecorders<'a> {
    log: Option<&'a FrameLog>,
    statistics: &'a mut crate::output::clients::statistics::WindowHistories,
    kernel: &'a mut KernelTimer,
}

/// The refresh that showed a frame.
struct PresentedRefresh {
    present: Instant,
    sequence: u64,
}

impl OutputState {
    fn report_presented(
        &mut self,
        content: FrameContent,
        light: PresentedRefresh,
        books: &mut FrameRecorders<'_>,
        now: Instant,
    ) {
        let FrameContent { scene, feedback, mut record, clients, reports, .. } = content;
        reports.iter().for_each(|report| report.presented(light.present));
        let interval = self.conductor.output().vsync().interval();
        let refresh = if self.conductor.output().vsync().is_variable() {
            Refresh::variable(interval.to_duration())
        } else {
            Refresh::fixed(interval.to_duration())
        };
        let flags = flags(self.display.capabilities().clock);
        feedback.presented(
            &self.output,
            PresentationInfo { present: light.present, refresh, sequence: light.sequence, flags },
        );
        record.presented = Some(light.present);
        record.sequence = Some(light.sequence);
        record.outcome = FrameOutcome::Presented;
        record.miss = record.diagnose();
        let preventable = record.miss.filter(|miss| miss.blame() != Blame::Policy);
        record.interference = preventable.map(|_| books.kernel.interference(now));
        self.statistics.observe(&record);
        self.records.push(record);
        if let Some(log) = books.log {
            log.output(&record);
        }
        for client in clients {
            self.record_client_frame(client, &light, books, record.interference, now);
        }
        books.kernel.note_frame_in_time(now);
        self.share_ended = self.share_ended.filter(|ended| record.latched < *ended);
        let before = std::mem::replace(&mut self.on_screen, scene);
        self.reclaim(before);
    }

    /// Records a presented frame of a client. `known`: the interference already found for the output's frame.
    fn record_client_frame(
        &self,
        mut client: ClientFrameRecord,
        light: &PresentedRefresh,
        books: &mut FrameRecorders<'_>,
        known: Option<Interference>,
        now: Instant,
    ) {
        client.presented = Some(light.present);
        client.sequence = Some(light.sequence);
        let target = self.records.iter().rev().find(|frame| frame.target == client.target).copied();
        let overslept = self.conductor.output().wake_delay(client.target);
        client.miss = client.diagnose(target.as_ref(), overslept, now);
        let interfered = client.miss.is_some_and(|miss| miss.blame() != Blame::Policy);
        client.interference = interfered.then(|| known.unwrap_or_else(|| books.kernel.interference(now)));
        books.statistics.observe(&client);
        if let Some(log) = books.log {
            log.client(&client);
        }
    }
}

fn flags(clock: ClockSource) -> Kind {
    match clock {
        ClockSource::Hardware | ClockSource::Virtual => Kind::Vsync | Kind::HwClock | Kind::HwCompletion,
        ClockSource::Parent => Kind::Vsync,
        ClockSource::Software => Kind::empty(),
    }
}

fn lost(outputs: &mut Outputs, index: usize, frame: FrameId, reason: LossReason, now: Instant) {
    let output = &mut outputs.list[index];
    let Some(frame) = output.conductor.output_mut().frames_mut().take(frame) else {
        return output.in_place.lost(frame, reason);
    };
    let (stage, mut record) = (frame.stage(), frame.content.record);
    let is_missed = !matches!(stage, FrameStage::Withdrawn { .. });
    output.release_frame(frame);
    record.outcome = FrameOutcome::Lost(match reason {
        LossReason::Superseded => LostReason::Superseded,
        LossReason::Gone => LostReason::Gone,
        LossReason::ModeChange => LostReason::ModeChange,
        LossReason::Device => LostReason::Device,
    });
    record.miss = record.diagnose();
    let preventable = record.miss.filter(|miss| miss.blame() != Blame::Policy);
    record.interference = preventable.map(|_| outputs.kernel.interference(now));
    output.records.push(record);
    if let Some(log) = &outputs.frame_log {
        log.output(&record);
    }
    if !is_missed {
        return;
    }
    output.statistics.observe(&record);
    if stage == FrameStage::InFlight {
        output.drawn_scene = std::sync::Arc::default();
    }
    if reason != LossReason::Gone {
        output.conductor.output_mut().retry_repaint();
    }
}

//! Handles display events: presentation feedback to clients, frame records, the vsync model.

use smithay::reexports::wayland_protocols::wp::presentation_time::server::wp_presentation_feedback::Kind;
use smithay::wayland::presentation::Refresh;

use crate::backend::fence::FenceState;
use crate::backend::{ClockSource, DisplayEvent, LossReason};
use crate::output::OutputState;
use crate::output::Outputs;
use crate::output::clients::front_buffer;
use crate::output::clients::second_period;
use crate::output::frame::handing_over;
use crate::output::frame::latch;
use crate::output::frame::{Content, Pixels};
use crate::output::hotplug;
use crate::output::in_place::Lit;
use crate::shell::Hand;
use crate::state::State;
use crate::surface::Shown;
use upbeat_record::trace::FrameLog;
use upbeat_record::trace::kernel_times::KernelTimer;
use upbeat_timing::frames::Stage;
use upbeat_timing::id::FrameId;
use upbeat_timing::record::{Blame, ClientFrameRecord, Interference, Lost, Need, Outcome};
use upbeat_timing::target::RefreshIndex;
use upbeat_timing::time::{Clock, Instant};
use upbeat_timing::vsync::Observation;

/// Handles the pending events of all displays.
pub(in crate::output) fn hear_displays(state: &mut State) {
    let mut shown = false;
    let mut gone = Vec::new();
    for index in 0..state.outputs.list.len() {
        while let Some(event) = state.outputs.list[index].display.poll_event() {
            let now = state.clock.now();
            match event {
                DisplayEvent::Presented { frame, time, sequence } => {
                    let id = state.outputs.list[index].id;
                    if let Some(taken) = handing_over::catch_up(state, id, frame) {
                        latch::conclude(state, id, taken);
                    }
                    presented(&mut state.outputs, index, frame, time, sequence, now);
                    second_period::resume(state, id);
                    shown = true;
                }
                DisplayEvent::Written { frame, light, sequence, torn } => {
                    written(&mut state.outputs, index, (frame, torn), light, sequence, now);
                }
                DisplayEvent::Scanned(scanned) => front_buffer::scanned(state, index, scanned),
                DisplayEvent::Lost { frame, reason } => lost(&mut state.outputs, index, frame, reason, now),
                DisplayEvent::Refused { frame, error } => state.outputs.list[index].forget_refused(frame, &error),
                DisplayEvent::PlanesKnown => {
                    let output = &mut state.outputs.list[index];
                    // The scene is unchanged, but its layers may go onto other planes, so force a repaint.
                    output.drawn = std::sync::Arc::default();
                    output.need(Need::Content);
                }
                DisplayEvent::MoreRoom => state.outputs.list[index].note_room(),
                DisplayEvent::Changed => hotplug::changed(state, index),
                DisplayEvent::ModeSettled { asked, result } => {
                    let id = state.outputs.list[index].id;
                    state.outputs.switches.heard(id, asked, &result);
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
    if outcome.found_phase || matches!(outcome.observation, Observation::Moved { .. }) {
        output.conductor.output_mut().withdraw_held();
    }
    output.presented = outcome.present;
    output.lights += 1;
    let light = Light { present: outcome.present, sequence: sequence.unwrap_or(outcome.shown.0) };
    for orphan in output.in_place.take_orphans() {
        content.feedback.extend(orphan.feedback);
        content.clients.extend(orphan.record);
    }
    outputs.objects_ended |= !content.feedback.is_empty();
    let mut books =
        Books { log: outputs.frame_log.as_ref(), statistics: &mut outputs.statistics, kernel: &mut outputs.kernel };
    output.tell_clients(content, light, &mut books, now);
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
    let Some(Lit { index, feedback, record }) = output.in_place.lit(frame, torn) else { return };
    (output.presented, output.lights) = (light, output.lights + 1);
    outputs.objects_ended |= !feedback.is_empty();
    let refresh = Refresh::fixed(output.conductor.output().vsync().interval().to_duration());
    let light = Light { present: light, sequence: sequence.unwrap_or(index.0) };
    // The time is that of a row, not of a vblank, so no flag is set.
    let shown = Shown { present: light.present, refresh, sequence: light.sequence, flags: Kind::empty() };
    feedback.presented(&output.output, shown);
    let mut books =
        Books { log: outputs.frame_log.as_ref(), statistics: &mut outputs.statistics, kernel: &mut outputs.kernel };
    if let Some(client) = record {
        output.tell_client(client, &light, &mut books, None, now);
    }
}

impl OutputState {
    /// When the GPU had drawn the frame that is now on screen; `None` if it was finished before its submission.
    fn rendered(&mut self, frame: FrameId, now: Instant) -> Option<Instant> {
        let Pixels::Submitted(fence) = &self.conductor.output().frames().get(frame)?.content.pixels else {
            return None;
        };
        // The frame is on screen, so its fence has signalled.
        let FenceState::Signalled(done) = fence.as_ref()?.state(now) else { return None };
        self.conductor.output_mut().rendered(frame, done);
        Some(done)
    }
}

/// The logs and statistics that record presented frames.
struct Books<'a> {
    log: Option<&'a FrameLog>,
    statistics: &'a mut crate::output::clients::statistics::Windows,
    kernel: &'a mut KernelTimer,
}

/// The refresh that showed a frame.
struct Light {
    present: Instant,
    sequence: u64,
}

impl OutputState {
    fn tell_clients(&mut self, content: Content, light: Light, books: &mut Books<'_>, now: Instant) {
        let Content { scene, feedback, mut record, clients, reports, .. } = content;
        reports.iter().for_each(|report| report.presented(light.present));
        let interval = self.conductor.output().vsync().interval();
        let refresh = if self.conductor.output().vsync().is_variable() {
            Refresh::variable(interval.to_duration())
        } else {
            Refresh::fixed(interval.to_duration())
        };
        let flags = flags(self.display.capabilities().clock);
        feedback.presented(&self.output, Shown { present: light.present, refresh, sequence: light.sequence, flags });
        record.presented = Some(light.present);
        record.sequence = Some(light.sequence);
        record.outcome = Outcome::Presented;
        record.miss = record.diagnose();
        let preventable = record.miss.filter(|miss| miss.blame() != Blame::Policy);
        record.interference = preventable.map(|_| books.kernel.missed(now));
        self.statistics.observe(&record);
        self.records.push(record);
        if let Some(log) = books.log {
            log.output(&record);
        }
        for client in clients {
            self.tell_client(client, &light, books, record.interference, now);
        }
        books.kernel.passed(now);
        let before = std::mem::replace(&mut self.on_screen, scene);
        self.reclaim(before);
    }

    /// Records a presented frame of a client. `known`: the interference already found for the output's frame.
    fn tell_client(
        &self,
        mut client: ClientFrameRecord,
        light: &Light,
        books: &mut Books<'_>,
        known: Option<Interference>,
        now: Instant,
    ) {
        client.presented = Some(light.present);
        client.sequence = Some(light.sequence);
        let target = self.records.iter().rev().find(|frame| frame.target == client.target).copied();
        let overslept = self.conductor.output().overslept(client.target);
        client.miss = client.diagnose(target.as_ref(), overslept, now);
        let interfered = client.miss.is_some_and(|miss| miss.blame() != Blame::Policy);
        client.interference = interfered.then(|| known.unwrap_or_else(|| books.kernel.missed(now)));
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
    let is_missed = !matches!(stage, Stage::Withdrawn { .. });
    output.let_go(frame);
    record.outcome = Outcome::Lost(match reason {
        LossReason::Superseded => Lost::Superseded,
        LossReason::Gone => Lost::Gone,
        LossReason::ModeChange => Lost::ModeChange,
        LossReason::Device => Lost::Device,
    });
    record.miss = record.diagnose();
    let preventable = record.miss.filter(|miss| miss.blame() != Blame::Policy);
    record.interference = preventable.map(|_| outputs.kernel.missed(now));
    output.records.push(record);
    if let Some(log) = &outputs.frame_log {
        log.output(&record);
    }
    if !is_missed {
        return;
    }
    output.statistics.observe(&record);
    if stage == Stage::InFlight {
        output.drawn = std::sync::Arc::default();
    }
    if reason != LossReason::Gone {
        output.conductor.output_mut().need_again();
    }
}

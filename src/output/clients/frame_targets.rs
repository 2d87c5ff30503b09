//! Clients with `upbeat_frame_pacing_v1`: decides once in a turn which pacing is in effect, and sends or revokes the
//! targets of each surface. The decisions themselves are made in [`surface_targets`](upbeat_timing::surface_targets).

use std::cell::LazyCell;

use smithay::reexports::wayland_server::protocol::wl_surface::WlSurface;

use crate::output::OutputState;
use crate::output::Outputs;
use crate::output::clients::pacing;
use crate::state::State;
use crate::surface::{ClientEntry, FrameListener, SurfaceEntry, TargetRevokeReason};
use upbeat_timing::id::OutputId;
use upbeat_timing::surface_targets::{BoundTarget, FramePacingReason, IssuedTarget, PacingContext, SurfaceTargets};
use upbeat_timing::target::{RefreshIndex, Target};
use upbeat_timing::time::{Clock, Instant, Span};
use upbeat_timing::virtualizer::VsyncGrid;

/// A client created a frame pacing object for `surface`.
pub fn begin(state: &mut State, surface: &WlSurface) {
    let now = state.clock.now();
    let client = state.surfaces.client_of(surface);
    let State { surfaces, outputs, .. } = state;
    if let Some((entry, client)) = surfaces.get_mut(surface).zip(client) {
        update(entry, client, outputs, now);
    }
}

/// Updates the effective pacing of every surface with a frame pacing object, and sends its due targets.
pub(in crate::output) fn update_all(state: &mut State) {
    pacing::end_gesture(state);
    state.outputs.next_decision = None;
    let State { surfaces, outputs, clock, .. } = state;
    // Most sessions have no client with this protocol, and this runs in every turn.
    let now = LazyCell::new(|| clock.now());
    surfaces.for_each_paced(|entry, client| update(entry, client, outputs, *now));
    let first = outputs.first();
    for output in &mut outputs.list {
        let its = surfaces.awake().filter(|entry| entry.output().or(first) == Some(output.id));
        let promised = its.filter_map(promised).min();
        output.conductor.set_promised(promised);
    }
}

/// Schedules a second callback for a refresh that the client has already committed for, if the client asked for it and
/// its next commit would still be in time for the latch.
pub(in crate::output) fn schedule_second_callbacks(state: &mut State) {
    let State { surfaces, outputs, clock, .. } = state;
    surfaces.for_each_paced(|entry, client| {
        let Some(listener) = entry.frame_pacing().filter(|listener| listener.is_alive()) else { return };
        let Some(refresh) = listener.ledger().and_then(|ledger| ledger.machine.waits_for_second()) else { return };
        if let Some((output, pacer)) = outputs.pacing_of(entry, client)
            && output.conductor.pacer(pacer).is_some_and(|pacer| pacer.is_insured(refresh))
        {
            output.conductor.request_second_shot(pacer, clock.now());
        }
    });
}

/// The first refresh for which the surface got a target and may still commit.
fn promised(entry: &SurfaceEntry) -> Option<RefreshIndex> {
    entry.frame_pacing()?.ledger()?.machine.promised()
}

fn update(entry: &mut SurfaceEntry, client: ClientEntry, outputs: &mut Outputs, now: Instant) {
    let Some(listener) = entry.frame_pacing().cloned().filter(|listener| listener.is_alive()) else { return };
    let Some(mut ledger) = listener.ledger() else { return };
    let id = entry.output().or(outputs.first());
    let output = id.and_then(|id| outputs.by_id(id));
    let grid = output.map(|output| (output.id, output.grid));
    if ledger.grid != grid {
        let had = std::mem::replace(&mut ledger.grid, grid).is_some();
        if let Some(first) = ledger.machine.output_changed().filter(|_| had) {
            entry.unbind_refreshes();
            listener.send_revoked(first, TargetRevokeReason::Output);
        }
    }
    let circumstances = circumstances(entry, client, outputs, id, now);
    if let Some(first) = ledger.machine.decide(circumstances) {
        listener.send_revoked(first, TargetRevokeReason::Pacing);
    }
    ledger.tell_effective(listener.as_ref());
    let hidden = ledger.machine.effective().reason == FramePacingReason::Hidden;
    if hidden || id.is_none() {
        if ledger.machine.requests() > 0 {
            pacing::schedule_hidden_tick(outputs, now);
        }
        return;
    }
    if ledger.machine.waits_for_callback() {
        if let Some((output, pacer)) = outputs.pacing_of(entry, client)
            && output.conductor.pacer(pacer).is_some_and(|pacer| !pacer.is_waiting())
            && let Some(pacer) = output.conductor.pacer_mut(pacer)
        {
            pacer.callback_due(now);
        }
        return;
    }
    let Some(output) = id.and_then(|id| outputs.by_id_mut(id)) else { return };
    ledger.machine.set_range(output.conductor.output().vsync().range());
    let coming = output.conductor.output().next_index(now);
    let (_, next) = chain(&mut ledger.machine, output, coming, now);
    if let Some(first) = ledger.machine.revoke_passed(next) {
        listener.send_revoked(first, TargetRevokeReason::Rebased);
    }
    while ledger.machine.requests() > 0 {
        let (grid, next) = chain(&mut ledger.machine, output, coming, now);
        let machine = output.conductor.output();
        let earliest =
            if machine.vsync().is_variable() { next } else { machine.next_index(now + ledger.machine.cost()) };
        let Some(issued) = ledger.machine.poll(grid, earliest, now) else { return };
        entry.send_predictions(issued.present, now);
        send(output, listener.as_ref(), issued, next);
    }
}

/// The grid of the following targets, and its first refresh without a decided target; `coming`: the output's next
/// refresh.
fn chain(
    machine: &mut SurfaceTargets,
    output: &OutputState,
    coming: RefreshIndex,
    now: Instant,
) -> (VsyncGrid, RefreshIndex) {
    let begun = now + machine.cost();
    chain_from(machine, output, coming, begun)
}

/// The same for content that is finished at `ready`.
fn chain_from(
    machine: &mut SurfaceTargets,
    output: &OutputState,
    coming: RefreshIndex,
    ready: Instant,
) -> (VsyncGrid, RefreshIndex) {
    let shows = output.conductor.output();
    let grid = grid_of(output, coming);
    let soonest = (ready + shows.compose_typical() + shows.submit_lead()).max(grid.present);
    machine.variable_grid(grid, soonest)
}

fn circumstances(
    entry: &SurfaceEntry,
    client: ClientEntry,
    outputs: &mut Outputs,
    id: Option<OutputId>,
    now: Instant,
) -> PacingContext {
    let output = id.and_then(|id| outputs.by_id(id));
    let pacer = output.and_then(|output| output.pacer(client.id));
    let interactive = pacer.is_some_and(|pacer| pacer.is_interactive(now));
    let until = pacer.and_then(|pacer| pacer.interactive_until(now));
    let wished = output.and_then(|output| output.wish).unwrap_or(outputs.rules.default);
    let rule = pacer.map_or(wished, |pacer| pacer.wished());
    let hidden = entry.is_unseen() || (entry.output().is_some() && !outputs.is_visible(entry));
    outputs.next_decision = outputs.next_decision.into_iter().chain(until).min();
    PacingContext { interactive, hidden, rule }
}

fn grid_of(output: &OutputState, refresh: RefreshIndex) -> VsyncGrid {
    let vsync = output.conductor.output().vsync();
    VsyncGrid { refresh, present: vsync.present(refresh), interval: vsync.interval() }
}

fn send(output: &mut OutputState, listener: &dyn FrameListener, issued: IssuedTarget, next: RefreshIndex) {
    let published = output.conductor.output_mut().publish(issued.refresh);
    listener.send_target(issued, published.present - published.ready_by, issued.refresh.since(next));
}

/// Sends the target of a surface that is paced just in time with its callback. Returns whether a target was sent.
pub(in crate::output) fn send_target_with_callback(
    entry: &mut SurfaceEntry,
    output: &mut OutputState,
    refresh: RefreshIndex,
    now: Instant,
) -> bool {
    let Some(listener) = entry.frame_pacing().cloned() else { return false };
    let Some(mut ledger) = listener.ledger() else { return false };
    if ledger.machine.waits_for_second() == Some(refresh) {
        let Some(issued) = ledger.machine.answer_second(now) else { return false };
        entry.send_predictions(issued.present, now);
        send(output, listener.as_ref(), issued, output.conductor.output().next_index(now));
        return true;
    }
    if !ledger.machine.waits_for_callback() {
        return false;
    }
    // `refresh` becomes the refresh that can show content finished by its latch.
    let (grid, refresh) = chain_from(&mut ledger.machine, output, refresh, now);
    let Some(issued) = ledger.machine.answer(grid, refresh, now) else { return false };
    entry.send_predictions(issued.present, now);
    send(output, listener.as_ref(), issued, output.conductor.output().next_index(now));
    true
}

/// Answers one target request of a hidden surface with each tick.
pub(in crate::output) fn send_hidden_target(entry: &SurfaceEntry, output: Option<&mut OutputState>, now: Instant) {
    let Some(listener) = entry.frame_pacing() else { return };
    let Some(mut ledger) = listener.ledger() else { return };
    match output {
        Some(output) => {
            let next = output.conductor.output().next_index(now);
            let (grid, next) = chain(&mut ledger.machine, output, next, now);
            if let Some(issued) = ledger.machine.answer(grid, next, now) {
                send(output, listener.as_ref(), issued, next);
            }
        }
        None => {
            // Without an output the ticks serve as refreshes.
            let interval = pacing::HIDDEN_INTERVAL;
            let grid = VsyncGrid { refresh: RefreshIndex(0), present: now + interval, interval };
            if let Some(issued) = ledger.machine.answer(grid, RefreshIndex(0), now) {
                listener.send_target(issued, Span::ZERO, 0);
            }
        }
    }
}

/// The target that a commit of `surface` is bound to, unless it was revoked.
pub(in crate::output) fn target_of(state: &State, surface: &WlSurface, bound: &BoundTarget) -> Option<Target> {
    let entry = state.surfaces.get(surface)?;
    let output = entry.output().or(state.outputs.first()).and_then(|id| state.outputs.by_id(id));
    let machine = output.filter(|_| !bound.revoked)?.conductor.output();
    let IssuedTarget { refresh, present, interval, timed, .. } = bound.target;
    if timed {
        let ready_by = present - (machine.submit_lead() + machine.compose_typical());
        return Some(Target { id: machine.latched().next(), present, ready_by, interval });
    }
    Some(Target { present, ..machine.target(refresh) })
}

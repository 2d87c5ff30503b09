//! The latch: open the queues, choose the scene, have it [composed](super::compose).

use smithay::reexports::wayland_server::Resource;
use smithay::reexports::wayland_server::protocol::wl_surface::WlSurface;
use smithay::wayland::compositor::CompositorHandler;

use super::compose::compose;
use super::placing::choose;
use super::{OutputState, pacing};
use crate::scene::Scene;
use crate::shell::Hand;
use crate::shell::render_order::RenderWindow;
use crate::state::State;
use crate::surface::Entry;
use crate::time::{Clock, Instant, Span};
use crate::timing::id::{ClientId, OutputId};
use crate::timing::record::{FrameRecord, Need};
use crate::timing::target::{RefreshIndex, Target};

/// So many refreshes after it was called back a client that has not committed is not expected to: few take longer, and what
/// was rendered meanwhile is lost then, no more.
const DRAWING_REFRESHES: i64 = 4;

/// Chooses content for `target` and has it drawn and submitted.
pub(super) fn latch(state: &mut State, id: OutputId, target: Target, scheduled: Instant) {
    let latched = state.clock.now();
    if super::prerender::submit_finished(state, id, target, scheduled) {
        return;
    }
    open_queues(state, id, target);
    state.latch_drag();
    animate(state, id, target.present, target.interval);
    let moves = moves(state, id, target.present);
    let starts =
        state.outputs.by_id(id).is_some_and(|output| output.starts() && !somebody_draws(state, output, latched));
    let Some(output) = state.outputs.by_id_mut(id) else { return };
    output.conductor.output_mut().moves(moves);
    let need = std::mem::replace(&mut output.need, Need::Content);
    output.scenes += 1;
    output.note_calm(starts);
    output.conductor.latched(target.id);
    let (scene, windows) = choose(state, id, target.present);
    see(state, id, &scene, &windows);
    let clients = fresh_clients(state, id);
    compose(state, id, scene, Moment { target, scheduled, latched, need });
    end_latch(state, id);
    keep_moving(state, id, target.present);
    pacing::latched(state, id, &clients);
}

/// Starts what is to move from the frame on that output `id` shows at `present`. Whose output starts with it, that one
/// finds out at its own latch.
pub(super) fn animate(state: &mut State, id: OutputId, present: Instant, interval: Span) {
    if state.shell.animate(state.outputs.shown(id, present, interval)) {
        state.outputs.list.iter_mut().for_each(OutputState::note_start);
    }
}

/// What moves by itself wants a frame in the next refresh, too.
pub(super) fn keep_moving(state: &mut State, id: OutputId, present: Instant) {
    if moves(state, id, present)
        && let Some(output) = state.outputs.by_id_mut(id)
    {
        output.need(Need::Animation);
    }
}

/// Whether something on the output is still on its way at `present`.
fn moves(state: &State, id: OutputId, present: Instant) -> bool {
    state.outputs.by_id(id).is_some_and(|output| state.shell.is_moving(&output.output, present))
}

/// Whether a client is about to draw for the output, or does already. Frames rendered ahead meanwhile would be without what
/// it draws, and could take the very time for it. Who was called back long ago has nothing to draw.
fn somebody_draws(state: &State, output: &OutputState, now: Instant) -> bool {
    let first = state.outputs.first();
    let since = now - output.conductor.output().vsync().interval() * DRAWING_REFRESHES;
    let draws = |entry: &Entry| entry.waits() || (entry.is_called() && entry.record.callback_sent > Some(since));
    let mut here = state.surfaces.iter().filter(|entry| entry.output.or(first) == Some(output.id));
    here.any(|entry| draws(entry) && (entry.output.is_none() || state.outputs.sees(entry)))
}

/// When and why a scene was chosen.
pub(super) struct Moment {
    pub target: Target,
    pub scheduled: Instant,
    pub latched: Instant,
    pub need: Need,
}

/// Applies every update that is ready and due, in order.
fn open_queues(state: &mut State, id: OutputId, target: Target) {
    let first = state.outputs.first();
    let opened: Vec<WlSurface> = state
        .surfaces
        .iter_mut()
        .filter(|entry| entry.waiting() > 0 && entry.output.or(first) == Some(id))
        .filter_map(|entry| entry.open_due(target.id, target.present).then(|| entry.surface.clone()))
        .collect();
    clear_blockers(state, &opened);
}

/// Tells Smithay that gates of these surfaces are open: once for each client, and never from within a commit.
pub(super) fn clear_blockers(state: &mut State, surfaces: &[WlSurface]) {
    let mut told = Vec::new();
    for client in surfaces.iter().filter_map(Resource::client) {
        if !told.contains(&client.id()) {
            told.push(client.id());
            let display = state.display_handle.clone();
            state.client_compositor_state(&client).blocker_cleared(state, &display);
        }
    }
}

/// Clients with content that this latch takes.
fn fresh_clients(state: &State, id: OutputId) -> Vec<ClientId> {
    let mut clients: Vec<ClientId> = state
        .surfaces
        .iter()
        .filter(|entry| entry.output == Some(id) && (entry.is_fresh() || entry.wants_callback()))
        .map(|entry| entry.client)
        .collect();
    clients.sort_unstable();
    clients.dedup();
    clients
}

/// Notes which surfaces are seen on this output, and to which windows they belong.
fn see(state: &mut State, id: OutputId, scene: &Scene, windows: &[RenderWindow]) {
    let cursor = super::cursor::shown_surface(state, scene);
    let State { surfaces, outputs, shell, .. } = state;
    let Some(output) = outputs.by_id(id) else { return };
    let number = output.scenes;
    let live = scene.layers.iter().filter(|layer| layer.snapshot.is_none());
    for surface in live.map(|layer| &layer.surface).chain(&cursor) {
        let Some(entry) = surfaces.get_mut(surface) else { continue };
        // On several outputs at once: the one that had it first goes on pacing it.
        let elsewhere = entry.output.filter(|other| *other != id).and_then(|other| outputs.by_id(other));
        if elsewhere.is_some_and(|other| other.on && other.scenes == entry.seen()) {
            continue;
        }
        entry.see(id, number);
        if entry.record.window.is_none() {
            let window = windows.iter().find(|window| window.surface == *surface).map(|window| window.id);
            let window = window.or_else(|| shell.window_of(surface).map(|window| window.id));
            entry.record.window = window;
        }
    }
    let client_of = |flag: fn(&RenderWindow) -> bool| {
        windows.iter().find(|window| flag(window)).and_then(|window| surfaces.client_of(&window.surface))
    };
    let focused = client_of(|window| window.focused).map(|client| client.id);
    let held = client_of(|window| window.pressed).map(|client| client.id);
    let now = state.clock.now();
    if let Some(output) = outputs.by_id_mut(id) {
        pacing::attend(output, focused, held, now);
    }
    let waits = surfaces.iter().any(|entry| {
        let elsewhere = entry.output.is_some_and(|output| output != id);
        !elsewhere && (entry.output != Some(id) || entry.seen() != number) && entry.waits()
    });
    if waits {
        pacing::hidden_waits(outputs, now);
    }
}

impl OutputState {
    pub(super) fn open_record(&self, moment: &Moment) -> FrameRecord {
        let machine = self.conductor.output();
        FrameRecord {
            output: self.id,
            frame: self.frames,
            target: moment.target.id,
            present: moment.target.present,
            interval: moment.target.interval,
            need: moment.need,
            pacing: self.pacing(),
            latch_at: moment.scheduled,
            latched: moment.latched,
            submit_by: machine.submit_by(moment.target.id),
            due_sequence: self.due_sequence(moment.target.id),
            compose_budget: machine.compose_budget(),
            ..FrameRecord::default()
        }
    }

    /// The display's own number for a refresh of the model's grid.
    pub(crate) fn due_sequence(&self, index: RefreshIndex) -> Option<u64> {
        let last = self.last_shown?;
        Some(self.last_sequence? + index.since(last))
    }

    pub(crate) fn pacing(&self) -> crate::timing::pacing::Pacing {
        use crate::timing::output::LatchPolicy;
        use crate::timing::pacing::Pacing;
        match self.conductor.output().policy() {
            LatchPolicy::AtRefresh => Pacing::Vsync,
            LatchPolicy::Late => self.wish.and_then(|wish| wish.fixed()).unwrap_or(Pacing::JustInTime),
        }
    }
}

/// Fifo barriers clear right after the latch; what waits for them is due at the next one.
pub(super) fn end_latch(state: &mut State, id: OutputId) {
    let State { surfaces, outputs, .. } = state;
    let first = outputs.first();
    let Some(output) = outputs.by_id_mut(id) else { return };
    for entry in surfaces.iter_mut().filter(|entry| entry.output.or(first) == Some(id)) {
        entry.clear_barrier();
        let machine = output.conductor.output();
        if let Some(due) = entry.due(machine.latched(), |time| machine.vsync().at_or_after(time)) {
            output.conductor.output_mut().need_at(due);
        }
    }
}

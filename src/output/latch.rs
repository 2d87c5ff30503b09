//! The latch: open the queues, choose the scene, have it [composed](super::compose).

use smithay::reexports::wayland_server::protocol::wl_surface::WlSurface;

use super::compose::{Came, compose};
use super::frame::Moment;
use super::gates::clear_blockers;
use super::handing_over::{self, Taken};
use super::placing::choose;
use super::{OutputState, pacing};
use crate::scene::Scene;
use crate::shell::Hand;
use crate::shell::animation::Shown;
use crate::shell::render_order::RenderWindow;
use crate::state::State;
use crate::surface::Entry;
use crate::time::{Clock, Instant, Span};
use crate::timing::defaults::START_DELAY;
use crate::timing::id::{ClientId, OutputId};
use crate::timing::record::Need;
use crate::timing::target::{RefreshIndex, Target};

/// Latches `target`: a frame that was finished for it is shown, or else content is chosen, drawn and submitted.
pub(super) fn latch(state: &mut State, id: OutputId, target: Target, scheduled: Instant) {
    if let Some(taken) = handing_over::show_finished(state, id, target, scheduled) {
        return conclude(state, id, taken);
    }
    let latched = state.clock.now();
    let opened = open_queues(state, id, target);
    state.latch_drag();
    animate(state, id, target.present, target.interval);
    let is_moving = is_moving(state, id, target.present);
    let starts = state
        .outputs
        .by_id(id)
        .is_some_and(|output| output.conductor.output().calm().starts() && !somebody_draws(state, output, latched));
    let Some(output) = state.outputs.by_id_mut(id) else { return };
    let need = output.conductor.latched(target.id);
    output.conductor.output_mut().set_motion(is_moving);
    output.scenes += 1;
    let (scene, windows) = choose(state, id, target.present);
    see(state, id, &scene, &windows);
    let clients = fresh_clients(state, id);
    let came = compose(state, id, scene, Moment { target, scheduled, latched, need });
    let cleared = clear_barriers(state, id);
    conclude(state, id, Taken { index: target.id, present: target.present, interval: target.interval, settled: false });
    let called = pacing::latched(state, id, &clients);
    let Some(output) = state.outputs.by_id_mut(id) else { return };
    let machine = output.conductor.output_mut();
    let counts = match came {
        Came::Nothing { fresh } => machine.empty(target.id, latched, opened || cleared || fresh || called),
        Came::Frame => true,
    };
    if counts {
        machine.calm_mut().latched(starts);
    }
}

/// What follows when a refresh was latched: motion starts from it or goes on, and what waits is due at the next.
pub(super) fn conclude(state: &mut State, id: OutputId, taken: Taken) {
    if taken.settled {
        animate(state, id, taken.present, taken.interval);
    }
    rearm(state, id, taken.index);
    if is_moving(state, id, taken.present)
        && let Some(output) = state.outputs.by_id_mut(id)
    {
        output.need(Need::Animation);
    }
    handing_over::attend(state, id);
}

impl super::Outputs {
    /// The frame of output `id` presented at `present`, for what moves by itself.
    pub(super) fn shown(&self, id: OutputId, present: Instant, interval: Span) -> Shown {
        let is_fixed = self.by_id(id).is_some_and(|output| !output.conductor.output().vsync().is_variable());
        let waits = is_fixed && self.frames_ahead > 0;
        Shown::new(present, interval, if waits { interval * i64::from(START_DELAY) } else { Span::ZERO })
    }
}

/// Starts what is to move from the frame on that output `id` shows at `present`. Whose output starts with it, that one
/// finds out at its own latch.
fn animate(state: &mut State, id: OutputId, present: Instant, interval: Span) {
    if state.shell.animate(state.outputs.shown(id, present, interval)) {
        state.outputs.list.iter_mut().for_each(|output| output.conductor.output_mut().calm_mut().start());
    }
}

/// Whether something on the output is still on its way at `present`.
fn is_moving(state: &State, id: OutputId, present: Instant) -> bool {
    state.outputs.by_id(id).is_some_and(|output| state.shell.is_moving(&output.output, present))
}

/// Whether a client is about to draw for the output, or does already. Frames rendered ahead meanwhile would be without what
/// it draws, and could take the very time for it.
fn somebody_draws(state: &State, output: &OutputState, now: Instant) -> bool {
    let first = state.outputs.first();
    let mut here = state.surfaces.iter().filter(|entry| entry.output.or(first) == Some(output.id));
    let waits = |entry: &Entry| entry.waits() && (entry.output.is_none() || state.outputs.sees(entry));
    output.conductor.is_anybody_drawing(now) || here.any(waits)
}

/// Applies every update that is ready and due, in order. Returns whether there was one.
fn open_queues(state: &mut State, id: OutputId, target: Target) -> bool {
    let first = state.outputs.first();
    let opened: Vec<WlSurface> = state
        .surfaces
        .iter_mut()
        .filter(|entry| entry.waiting() > 0 && entry.output.or(first) == Some(id))
        .filter_map(|entry| entry.open_due(target.id, target.present).then(|| entry.surface.clone()))
        .collect();
    if !opened.is_empty() {
        clear_blockers(state, &opened);
    }
    !opened.is_empty()
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

/// Fifo barriers clear right after the latch that took what set them; a frame that was chosen before that clears none.
/// Returns whether there was one.
fn clear_barriers(state: &mut State, id: OutputId) -> bool {
    let first = state.outputs.first();
    let here = state.surfaces.iter_mut().filter(|entry| entry.output.or(first) == Some(id));
    here.filter_map(|entry| entry.clear_barrier().then_some(())).count() > 0
}

/// What waits on output `id` is due at a refresh after `index`.
pub(super) fn rearm(state: &mut State, id: OutputId, index: RefreshIndex) {
    let State { surfaces, outputs, .. } = state;
    let first = outputs.first();
    let Some(output) = outputs.by_id_mut(id) else { return };
    for entry in surfaces.iter().filter(|entry| entry.waiting() > 0 && entry.output.or(first) == Some(id)) {
        output.need_when_due(entry, index);
    }
}

//! The latch: opens the update queues, chooses the scene, and has it [composed](crate::output::frame::compose).

use smithay::reexports::wayland_server::protocol::wl_surface::WlSurface;

use crate::output::OutputState;
use crate::output::clients::blockers::clear_blockers;
use crate::output::clients::front_buffer;
use crate::output::clients::pacing;
use crate::output::clients::second_period;
use crate::output::frame::LatchContext;
use crate::output::frame::compose::{ComposeResult, compose};
use crate::output::frame::submit_ahead::{self, LatchedFrame};
use crate::output::scene::followers;
use crate::output::scene::scene_cache;
use crate::output::scene::scrolling;
use crate::scene::Scene;
use crate::shell::ShellSeat;
use crate::shell::animation::FrameTimes;
use crate::shell::layers::ShellLayerSurface;
use crate::state::State;
use crate::surface::SurfaceEntry;
use upbeat_timing::defaults::START_DELAY;
use upbeat_timing::id::{ClientId, OutputId, WindowId};
use upbeat_timing::record::RepaintReason;
use upbeat_timing::target::{RefreshIndex, Target};
use upbeat_timing::time::{Clock, Instant, Span};

/// Latches `target`: shows a frame finished ahead for it, or otherwise chooses, draws and submits a new scene.
pub(in crate::output) fn latch(state: &mut State, id: OutputId, target: Target, scheduled: Instant) {
    if let Some(taken) = submit_ahead::show_finished(state, id, target, scheduled) {
        return after_latch(state, id, taken);
    }
    let latched = state.clock.now();
    let opened = open_queues(state, id, target);
    state.latch_drag();
    followers::latch(state, id, target.present, None);
    scrolling::latch(state, id, (target.present, target.interval));
    animate(state, id, target.present, target.interval);
    let is_moving = is_moving(state, id, target.present);
    let starts = state.outputs.by_id(id).is_some_and(|output| {
        output.conductor.output().idle_predictor().is_animation_starting() && !is_client_drawing(state, output, latched)
    });
    let Some(output) = state.outputs.by_id_mut(id) else { return };
    let need = output.conductor.latched(target.id);
    output.conductor.output_mut().set_motion(is_moving);
    output.latch_count += 1;
    output.last_latch = latched;
    let (mut scene, mut is_arranged_anew) = scene_cache::choose(state, id, target.present);
    if followers::latch(state, id, target.present, Some(&scene)) {
        // A follower moved together with its window, so the scene must be chosen again.
        (scene, is_arranged_anew) = scene_cache::choose(state, id, target.present);
    }
    record_visibility(state, id, &scene, is_arranged_anew);
    update_focus(state, id, is_arranged_anew, target.present);
    let clients = fresh_clients(state, id);
    front_buffer::revoke_if_changed(state, id, &scene, latched);
    let result = compose(state, id, scene, LatchContext { target, scheduled, latched, need });
    followers::report_planes(state, id);
    let cleared = clear_barriers(state, id);
    after_latch(state, id, LatchedFrame::of(target));
    let called = pacing::latched(state, id, &clients);
    let Some(output) = state.outputs.by_id_mut(id) else { return };
    let machine = output.conductor.output_mut();
    let counts = match result {
        ComposeResult::Unchanged { fresh } => {
            machine.latched_nothing(target.id, latched, opened || cleared || fresh || called)
        }
        ComposeResult::Frame => true,
    };
    if counts {
        machine.idle_predictor_mut().latched(starts);
        second_period::apply_next(state, id, target.id);
    }
}

/// Called after each latch: starts or continues animations, and schedules waiting updates for the next refresh.
pub(in crate::output) fn after_latch(state: &mut State, id: OutputId, taken: LatchedFrame) {
    if taken.settled {
        animate(state, id, taken.present, taken.interval);
    }
    if let Some(frame) = taken.ahead {
        scrolling::follow_frame(state, id, frame);
    }
    reschedule_waiting(state, id, taken.index);
    if is_moving(state, id, taken.present)
        && let Some(output) = state.outputs.by_id_mut(id)
    {
        output.schedule_repaint(RepaintReason::Animation);
    }
    if let Some(output) = state.outputs.by_id_mut(id) {
        scrolling::schedule_next_frame(output);
    }
    submit_ahead::run_urgent_steps(state, id);
}

impl crate::output::Outputs {
    /// The frame of output `id` presented at `present`, as the clock of animations.
    pub(in crate::output) fn animation_frame(&self, id: OutputId, present: Instant, interval: Span) -> FrameTimes {
        let is_fixed = self.by_id(id).is_some_and(|output| !output.conductor.output().vsync().is_variable());
        let waits = is_fixed && self.frames_ahead > 0;
        FrameTimes::new(present, interval, if waits { interval * i64::from(START_DELAY) } else { Span::ZERO })
    }
}

/// Starts pending animations from the frame that output `id` shows at `present`. Another output with the same animation
/// begins at its own latch.
fn animate(state: &mut State, id: OutputId, present: Instant, interval: Span) {
    if state.shell.animate(state.outputs.animation_frame(id, present, interval)) {
        state
            .outputs
            .list
            .iter_mut()
            .for_each(|output| output.conductor.output_mut().idle_predictor_mut().mark_animation_start());
    }
}

/// Whether an animation on the output is still running at `present`.
fn is_moving(state: &State, id: OutputId, present: Instant) -> bool {
    state.outputs.by_id(id).is_some_and(|output| state.shell.is_moving(&output.output, present))
}

/// Whether a client is drawing for the output or is about to. Frames rendered ahead meanwhile would lack its content,
/// and could take the CPU time that it needs.
fn is_client_drawing(state: &State, output: &OutputState, now: Instant) -> bool {
    let first = state.outputs.first();
    let mut here = state.surfaces.awake().filter(|entry| entry.output().or(first) == Some(output.id));
    let waits =
        |entry: &SurfaceEntry| entry.is_waiting() && (entry.output().is_none() || state.outputs.is_visible(entry));
    output.conductor.is_client_drawing(now) || here.any(waits)
}

/// Applies every ready and due update, in order. Returns whether any was applied.
fn open_queues(state: &mut State, id: OutputId, target: Target) -> bool {
    let first = state.outputs.first();
    let mut opened: Vec<WlSurface> = Vec::new();
    state.surfaces.for_each_awake(|entry| {
        let waits = entry.queued_updates() > 0 && entry.output().or(first) == Some(id);
        if waits && entry.open_due(target.id, target.present) {
            opened.push(entry.surface().clone());
        }
    });
    if !opened.is_empty() {
        clear_blockers(state, &opened);
    }
    !opened.is_empty()
}

/// Clients with new content or callback requests in this latch.
fn fresh_clients(state: &State, id: OutputId) -> Vec<ClientId> {
    let mut clients: Vec<ClientId> = state
        .surfaces
        .awake()
        .filter(|entry| entry.output() == Some(id) && (entry.has_unlatched_content() || entry.wants_callback()))
        .map(|entry| entry.client())
        .collect();
    clients.sort_unstable();
    clients.dedup();
    clients
}

/// Records which surfaces are visible on this output, and to which windows they belong: all surfaces if the scene was
/// arranged anew, otherwise only surfaces that another output paced until now.
fn record_visibility(state: &mut State, id: OutputId, scene: &Scene, is_arranged_anew: bool) {
    let now = state.clock.now();
    let cursor = crate::output::scene::cursor::cursor_surface(state, scene);
    let State { surfaces, outputs, shell, .. } = state;
    let Some(output) = outputs.by_id(id) else { return };
    let arrangement = output.scene_cache.arrangement();
    let paced_elsewhere = |entry: &&SurfaceEntry| {
        entry.output() != Some(id) && output.scene_cache.contains(entry.surface()) == Some(true)
    };
    let seen: Vec<WlSurface> = match is_arranged_anew {
        true => {
            let live = scene.layers.iter().filter(|layer| layer.snapshot.is_none());
            live.map(|layer| layer.surface.clone()).collect()
        }
        false => surfaces.awake().filter(paced_elsewhere).map(|entry| entry.surface().clone()).collect(),
    };
    for (surface, is_cursor) in
        seen.iter().map(|surface| (surface, false)).chain(cursor.iter().map(|cursor| (cursor, true)))
    {
        surfaces.update_visibility(surface, |seen| {
            let entry = seen.entry();
            // A surface on several outputs is paced by the first.
            let elsewhere = entry.output().filter(|other| *other != id).and_then(|other| outputs.by_id(other));
            // The cursor is on one output at a time, so it always moves over.
            if !is_cursor
                && elsewhere.is_some_and(|other| other.on && other.scene_cache.arrangement() == entry.visible_in())
            {
                return;
            }
            let is_known = entry.record().window.is_some();
            seen.record_visibility(id, arrangement);
            if !is_known {
                seen.set_window(shell.window_of(surface).map(|window| window.id));
            }
        });
    }
    let waits = surfaces.awake().any(|entry| {
        let elsewhere = entry.output().is_some_and(|output| output != id);
        // Fresh content that no output will show must not stay pending for ever, so it counts here, too.
        let has_something = entry.is_waiting() || entry.has_unlatched_content();
        !elsewhere && (entry.output() != Some(id) || entry.visible_in() != arrangement) && has_something
    });
    if waits {
        pacing::schedule_hidden_tick(outputs, now);
    }
}

/// Updates the pacers: which clients on this output have the focus or hold a pressed button or finger.
fn update_focus(state: &mut State, id: OutputId, is_arranged_anew: bool, present: Instant) {
    let now = state.clock.now();
    let State { surfaces, outputs, shell, .. } = state;
    let Some(output) = outputs.by_id_mut(id) else { return };
    let layers = [shell.layers().with_keyboard(), shell.layers().pressed()];
    let windows = [shell.focused(), shell.pressed()];
    let roots = layers.map(|pinned| pinned.map(|pinned| pinned.surface().clone()));
    let are_others = output.focused_clients.replace(windows, roots);
    if !are_others && !is_arranged_anew && !output.focused_clients.is_stale {
        return;
    }
    let view = shell.view(&output.output, present);
    let window_of = |window: Option<WindowId>| {
        let window = shell.window(window.filter(|window| shell.is_on(*window, &view))?)?;
        Some(window.surface())
    };
    let client_of = |(window, pinned): (Option<WindowId>, Option<&ShellLayerSurface>)| {
        let root = match pinned {
            Some(pinned) => Some(pinned.surface()).filter(|_| *pinned.output() == output.output),
            None => window_of(window),
        };
        Some(surfaces.client_of(root?)?.id)
    };
    let [focused, held] = [0, 1].map(|index| client_of((windows[index], layers[index])));
    pacing::update_focus(output, focused, held, now);
}

/// Clears fifo barriers right after the latch that took their update. A frame finished ahead clears none, because its
/// content was chosen before. Returns whether a barrier was cleared.
fn clear_barriers(state: &mut State, id: OutputId) -> bool {
    let first = state.outputs.first();
    let mut cleared = false;
    state.surfaces.for_each_awake(|entry| {
        cleared |= entry.output().or(first) == Some(id) && entry.clear_barrier();
    });
    cleared
}

/// Schedules the waiting updates of output `id` for a refresh after `index`.
pub(in crate::output) fn reschedule_waiting(state: &mut State, id: OutputId, index: RefreshIndex) {
    let State { surfaces, outputs, .. } = state;
    let first = outputs.first();
    let Some(output) = outputs.by_id_mut(id) else { return };
    for entry in surfaces.awake().filter(|entry| entry.queued_updates() > 0 && entry.output().or(first) == Some(id)) {
        output.schedule_when_due(entry, index);
    }
}

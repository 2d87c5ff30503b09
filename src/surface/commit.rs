//! Handles `wl_surface.commit` before Smithay does, and decides whether the update has to wait.

use smithay::reexports::wayland_server::Resource;
use smithay::reexports::wayland_server::protocol::wl_buffer::WlBuffer;
use smithay::reexports::wayland_server::protocol::wl_surface::WlSurface;
use smithay::wayland::commit_timing::CommitTimerStateUserData;
use smithay::wayland::compositor::{self, BufferAssignment, SurfaceAttributes, SurfaceData};
use smithay::wayland::drm_syncobj::DrmSyncPoint;
use smithay::wayland::fifo::FifoCachedState;
use smithay::wayland::presentation::PresentationFeedbackCachedState;

use super::bound_commits::{self, BoundCommit};
use super::feedback::Feedback;
use super::fence::{self, AcquireFence};
use super::front_buffer::FrontBufferRequest;
use super::gate::Gate;
use super::output_hooks::{CommitInfo, OutputHooks};
use super::pending_commits::{CommitContent, UpdateNumber};
use super::queue::UpdateConditions;
use super::stash::PersistentState;
use super::sync_points::{self, SyncPoints};
use crate::guard::{self, Kind};
use crate::state::State;
use upbeat_timing::target::RefreshIndex;
use upbeat_timing::time::{Clock, Instant};

/// Updates that may wait in front of a new one while callbacks of a client that runs ahead are still answered at once:
/// that update is about to be latched.
const MOST_BEFORE_COMMIT: usize = 1;

/// A commit with an acquire point that asks to share its buffer with the display is a protocol error: the display reads
/// without waiting.
fn refuse_sharing(state: &State, surface: &WlSurface) {
    let Some(front) = state.surfaces.get(surface).and_then(|entry| entry.front_buffer()) else { return };
    let asks = guard::with_states(surface, |states| states.cached_state.get::<FrontBufferRequest>().pending().is_new);
    if asks {
        front.refuse_acquire_point();
    }
}

/// Reads the pending state of a commit and puts a gate in front of an update that has to wait.
///
/// This is not a pre-commit hook of Smithay's, because a hook would have to be registered again with each commit to
/// keep its place among the other hooks.
pub fn handle_commit(state: &mut State, surface: &WlSurface) {
    let content = guard::with_states(surface, content);
    let attached = if let CommitContent::Attached(buffer) = &content { Some(buffer.clone()) } else { None };
    let replay = state.surfaces.get(surface).is_some_and(|entry| entry.replay);
    let mut conditions = if replay { UpdateConditions::default() } else { guard::with_states(surface, conditions) };
    let bound = bound_commits::take(state, surface, attached.is_some(), conditions.not_before.is_some());
    let bound_target = bound.as_ref().and_then(|bound| bound.target);
    if let Some(bound) = &bound {
        bound.add_to(&mut conditions);
    }
    let points = if attached.is_some() { sync_points::pending(surface) } else { SyncPoints::default() };
    let is_explicit = points.release.is_some();
    if is_explicit {
        refuse_sharing(state, surface);
    }
    let synchronised = state.surfaces.is_synchronised(surface);
    number(state, surface, (content, points.release), bound, synchronised);
    let brings = applies_subsurface_content(state, surface, attached.is_some(), synchronised);
    let mut runs_ahead = false;
    let mut fences = fence::unsignalled(state, surface);
    fences.extend(points.acquire.filter(|fence| !fence.is_signalled()));
    let unfinished = attached.iter().filter(|_| !is_explicit).flat_map(fence::unfinished);
    let unknown = attached.iter().filter_map(|buffer| state.surfaces.device_buffers.import_test_fence(buffer));
    fences.extend(unfinished.chain(unknown).map(|fence| Box::new(fence) as Box<dyn AcquireFence>));
    let wanted = conditions.frame.map(|(_, present)| present).or(conditions.not_before);
    if let Some(deadline) = (!fences.is_empty()).then(|| state.next_latch_at(surface, wanted)).flatten() {
        fences.iter().for_each(|fence| fence.hint_deadline(deadline));
    }
    if attached.is_some() || brings {
        let now = state.clock.now();
        apply_previous(state, surface);
        let buffers = attached.as_ref().map_or(0, |buffer| attach(state, surface, buffer));
        let stamped = conditions.not_before.is_some() && bound_target.is_none();
        let queued = conditions.set_barrier || conditions.wait_barrier || stamped;
        let answer = state.committed(
            surface,
            CommitInfo {
                at: now,
                queued,
                buffers,
                stamp: conditions.not_before,
                bound: bound_target,
                unfinished: !fences.is_empty(),
                is_own: attached.is_some(),
            },
        );
        if conditions.frame.is_none() {
            conditions.target = answer.hold;
        }
        let may_answer = state.surfaces.get(surface).is_some_and(|entry| entry.queued_updates() <= MOST_BEFORE_COMMIT);
        runs_ahead = answer.runs_ahead && !synchronised && may_answer;
        if runs_ahead {
            release_callbacks(state, surface);
        }
    }
    let has_moment = conditions.set_barrier || conditions.wait_barrier || conditions.frame.is_some();
    let is_plain = !has_moment && !replay && !brings && !synchronised;
    if let Some(entry) = state.surfaces.get_mut(surface) {
        let acknowledges = std::mem::take(&mut entry.has_acked_configure);
        // An update that waits is opened by a latch, for its own refresh, so it is not plain.
        entry.is_untimed = is_plain && !acknowledges && fences.is_empty() && entry.queue.is_empty();
    }
    if synchronised {
        // It waits for its parent. By their protocols fifo and commit timing do not apply to it; fences do.
        hold_parent(state, surface, fences);
        return;
    }
    conditions.fences = fences.len() as u32;
    let Some(entry) = state.surfaces.get_mut(surface) else { return };
    if entry.queue.try_apply(conditions) {
        return;
    }
    entry.is_untimed = false;
    let gate = Gate::default();
    compositor::add_blocker(surface, gate.clone());
    entry.queue.push(conditions, gate.clone());
    fence::watch(state, surface, fences, &gate);
    state.schedule_latch_when_due(surface);
    if runs_ahead {
        state.committed_ahead(surface);
    }
}

/// Notes that `buffer` is attached. Returns how many buffers the client can draw into.
fn attach(state: &mut State, surface: &WlSurface, buffer: &WlBuffer) -> usize {
    state.hash_pixels(surface, buffer);
    let State { surfaces, display_handle, .. } = state;
    surfaces.get_mut(surface).map_or(0, |entry| entry.attach(display_handle, buffer))
}

/// Whether the commit applies content that synchronised subsurfaces have committed. For a synchronised surface, its
/// `own` content and that of its subsurfaces is noted at the parent, whose commit will apply it.
fn applies_subsurface_content(state: &mut State, surface: &WlSurface, own: bool, synchronised: bool) -> bool {
    let Some(entry) = state.surfaces.get_mut(surface) else { return false };
    let brings = std::mem::take(&mut entry.applies_subsurfaces);
    let parent = compositor::get_parent(surface).filter(|_| synchronised && (own || brings));
    if let Some(parent) = parent.and_then(|parent| state.surfaces.get_mut(&parent)) {
        parent.applies_subsurfaces = true;
    }
    brings
}

/// Applies the previous update if only its refresh held it back: its client draws without callbacks. The compositor
/// holds at most one buffer of a client for its own purposes, because some clients exit when no buffer is free.
fn apply_previous(state: &mut State, surface: &WlSurface) {
    let held = state.surfaces.get_mut(surface).and_then(|entry| entry.open_next(RefreshIndex(u64::MAX)));
    if held.is_some() {
        state.apply_opened(surface);
    }
}

/// Numbers the commit and records its feedback, release point and limits.
fn number(
    state: &mut State,
    surface: &WlSurface,
    (content, release): (CommitContent, Option<DrmSyncPoint>),
    bound: Option<BoundCommit>,
    synchronised: bool,
) {
    // The first commit of a synchronised subsurface does not count against the client's limit of waiting updates: in a
    // window with a thousand subsurfaces, a frame of all of them waits for its refresh while the next frame is already
    // committed.
    let waits = !synchronised || state.surfaces.get(surface).is_some_and(|entry| entry.outstanding.is_any_pending());
    let client = surface.client().filter(|_| waits);
    let held = client.and_then(|client| guard::hold(&state.display_handle, &client, Kind::WaitingUpdates));
    let Some(entry) = state.surfaces.get_mut(surface) else { return };
    entry.pending_state = guard::with_states(surface, |states| {
        let presentation =
            std::mem::take(&mut states.cached_state.get::<PresentationFeedbackCachedState>().pending().callbacks);
        let frames = bound.map(|bound| bound.frame).into_iter().collect();
        let feedback = Feedback { presentation, frames, ..Feedback::default() };
        *states.cached_state.get::<UpdateNumber>().pending() =
            entry.outstanding.commit(content, release, feedback, held);
        // Only a subsurface's state is ever committed by another surface's commit.
        (states.role == Some("subsurface")).then(|| PersistentState::pending(states))
    });
}

/// An unfinished buffer of a synchronised subsurface holds the parent's update.
fn hold_parent(state: &mut State, surface: &WlSurface, fences: Vec<Box<dyn AcquireFence>>) {
    if fences.is_empty() {
        return;
    }
    let gate = Gate::default();
    compositor::add_blocker(surface, gate.clone());
    fence::watch(state, surface, fences, &gate);
}

/// Makes the pending callbacks answerable now: the client runs ahead and may draw its next frame while this one waits.
fn release_callbacks(state: &mut State, surface: &WlSurface) {
    let callbacks = guard::with_states(surface, |states| {
        std::mem::take(&mut states.cached_state.get::<SurfaceAttributes>().pending().frame_callbacks)
    });
    if let Some(entry) = state.surfaces.get_mut(surface) {
        entry.callbacks.extend(callbacks);
    }
}

fn content(states: &SurfaceData) -> CommitContent {
    match &states.cached_state.get::<SurfaceAttributes>().pending().buffer {
        Some(BufferAssignment::NewBuffer(buffer)) => CommitContent::Attached(buffer.clone()),
        Some(BufferAssignment::Removed) => CommitContent::Removed,
        None => CommitContent::Kept,
    }
}

fn conditions(states: &SurfaceData) -> UpdateConditions {
    let (set_barrier, wait_barrier) = {
        let mut fifo = states.cached_state.get::<FifoCachedState>();
        let pending = fifo.pending();
        (std::mem::take(&mut pending.set_barrier), std::mem::take(&mut pending.wait_barrier))
    };
    let stamp = states.data_map.get::<CommitTimerStateUserData>().and_then(|timer| timer.borrow_mut().timestamp.take());
    let not_before = stamp.map(|stamp| {
        let time: smithay::utils::Time<smithay::utils::Monotonic> = stamp.into();
        Instant::from_epoch(time.into())
    });
    UpdateConditions { wait_barrier, set_barrier, not_before, ..UpdateConditions::default() }
}

//! A surface's life: its queue of content updates, its frame callbacks and its presentation feedback.
//!
//! ```text
//!  commit ─► handle_commit: conditions? ─ none ─► applied at once ─► applied(): callbacks, feedback, repaint
//!                               └ some ─► gate, queue ─► a latch opens it ─┘
//! ```

pub mod background;
pub mod bound_commits;
pub mod buffer_release;
mod buffers;
mod callback_history;
mod commit;
mod commit_rate_limit;
pub mod content;
mod damage;
pub mod device_buffers;
pub mod dispatch;
mod entry;
mod feedback;
pub mod fence;
pub mod fingerprint;
pub mod follower;
pub mod front_buffer;
mod gate;
pub mod input_prediction;
pub mod opacity;
mod output_hooks;
mod paced_frame;
mod pacing_state;
mod pending_commits;
pub mod queue;
pub mod regions;
mod registry;
pub mod render_state;
pub mod scanout_feedback;
pub mod scroll;
pub mod shm_pixels;
mod stash;
pub mod subsurface;
mod subsurface_node;
mod sync_points;
mod synchronised_commits;
pub mod tree;
pub mod tree_extent;

use smithay::reexports::wayland_server::Resource;
use smithay::reexports::wayland_server::protocol::wl_callback::WlCallback;
use smithay::reexports::wayland_server::protocol::wl_surface::WlSurface;
use smithay::utils::{Logical, Point};
use smithay::wayland::compositor::{self, SurfaceAttributes};

use crate::bounds::MAX_NESTING;
use crate::guard;
use crate::state::State;
use background::BackgroundEffects;
pub use buffers::BufferMemory;
pub use entry::SurfaceEntry;
pub use feedback::{Feedback, PresentationInfo};
use opacity::Opacity;
pub use output_hooks::{BufferFinished, CommitHandling, CommitInfo, OutputHooks};
pub use paced_frame::{
    CommitFault, FrameDiscardReason, FrameLedger, FrameListener, FrameResult, PacedFrame, PresentPath,
    TargetRevokeReason,
};
pub use pacing_state::{PacingState, PendingTarget};
use pending_commits::UpdateNumber;
pub use registry::{ClientEntry, SurfaceRegistry};
use upbeat_record::process_clock::ProcessClock;
use upbeat_timing::time::Clock;

pub fn new_surface(state: &mut State, surface: &WlSurface) {
    let Some(client) = surface.client() else { return };
    let State { surfaces, display_handle, .. } = state;
    let clock = || ProcessClock::of(guard::process_of(display_handle, &client)?.cast_signed());
    let id = surfaces.insert(surface, client.id(), clock);
    state.surface_made(id);
}

/// An update of `surface` was applied and is now the current state.
pub fn applied(state: &mut State, surface: &WlSurface) {
    let look =
        |surface: &WlSurface| render_state::look(surface, |showing| (showing.current_commit(), showing.with_state()));
    let before = look(surface);
    let (number, callbacks) = take_parts(surface);
    strip_cancelled(state, surface, number);
    let mut other_children = false;
    if let Some(entry) = state.surfaces.get_mut(surface) {
        other_children = tree::update_known(surface, &mut entry.subsurfaces);
        other_children |= scroll::update_view(surface, &mut entry.view);
    }
    render_state::update(surface);
    let now = state.clock.now();
    let is_drag_icon = state.surfaces.drag_icon.as_ref() == Some(surface);
    let Some(entry) = state.surfaces.get_mut(surface) else { return };
    let update = entry.outstanding.apply(number);
    let (opacity, background) = seen_through(surface);
    let other_opacity = std::mem::replace(&mut entry.opacity, opacity) != opacity;
    let fades = std::mem::replace(&mut entry.background, background.clone()) != background || other_opacity;
    let after = look(surface);
    let mut changed = update.new_content || before != after || other_children || fades;
    let mut only_content = update.new_content && view_of(&before) == view_of(&after) && !other_children && !fades;
    if is_drag_icon {
        let offset = take_offset(surface);
        entry.offset += offset;
        changed |= offset != Point::default();
        only_content = false;
    }
    if update.new_content {
        // Content without a latch is never shown any more, because this update replaces it.
        std::mem::take(&mut entry.feedback).discard(FrameDiscardReason::Newer);
    }
    let waits_for_latch = !update.feedback.is_empty() || entry.queue.has_barrier();
    entry.feedback.extend(update.feedback);
    if changed {
        entry.unlatched_since.get_or_insert(now);
    }
    if entry.has_unlatched_content() {
        entry.callbacks_after_latch.extend(callbacks);
    } else {
        entry.callbacks.extend(callbacks);
    }
    if other_children {
        state.tree_changed(surface);
    }
    if other_children || compositor::get_parent(surface).is_some() {
        tree_extent::touch(state, surface);
    }
    if changed {
        if !(only_content && state.draw_in_place(surface)) {
            state.schedule_repaint(surface);
        }
        state.committed_ahead(surface);
    } else {
        if waits_for_latch {
            state.schedule_latch(surface);
        }
        state.schedule_callback(surface);
    }
    bound_commits::applied(state, surface);
    touch_views(state, surface);
}

/// The crop and scale in the result of a look.
fn view_of<C, V>(look: &Option<(C, V)>) -> Option<&V> {
    look.as_ref().map(|(_, view)| view)
}

/// The client's opacity factor and background effects of `surface`, as applied.
fn seen_through(surface: &WlSurface) -> (Opacity, BackgroundEffects) {
    guard::with_states(surface, |states| {
        let opacity = *states.cached_state.get::<Opacity>().current();
        (opacity, states.cached_state.get::<BackgroundEffects>().current().clone())
    })
}

/// Marks the scroll views that `surface` is part of, so that the next latch looks at them.
fn touch_views(state: &mut State, surface: &WlSurface) {
    for surface in [Some(surface.clone()), compositor::get_parent(surface)].into_iter().flatten() {
        let is_view = state.surfaces.get(&surface).is_some_and(|entry| entry.scroll.is_some());
        if is_view && let Some(view) = state.surfaces.get_mut(&surface).and_then(|entry| entry.scroll.as_mut()) {
            view.note_commit();
        }
    }
}

/// Takes the content out of a cancelled update. Of any other update it remembers the scale, transform and viewport.
fn strip_cancelled(state: &mut State, surface: &WlSurface, number: UpdateNumber) {
    let Some(entry) = state.surfaces.get_mut(surface) else { return };
    let cancelled = entry.outstanding.is_cancelled(number);
    let described = entry.buffer_description;
    entry.buffer_description = guard::with_states(surface, |states| {
        if cancelled {
            bound_commits::strip_content(states, described);
            sync_points::strip(states);
        }
        Some(bound_commits::describe(states))
    });
}

fn take_offset(surface: &WlSurface) -> Point<i32, Logical> {
    guard::with_states(surface, |states| {
        states.cached_state.get::<SurfaceAttributes>().current().buffer_delta.take().unwrap_or_default()
    })
}

fn take_parts(surface: &WlSurface) -> (UpdateNumber, Vec<WlCallback>) {
    guard::with_states(surface, |states| {
        let number = *states.cached_state.get::<UpdateNumber>().current();
        let mut attributes = states.cached_state.get::<SurfaceAttributes>();
        // The damage of all updates that are applied together.
        damage::limit_damage(&mut attributes.current().damage);
        (number, std::mem::take(&mut attributes.current().frame_callbacks))
    })
}

/// A surface was destroyed.
pub fn destroyed(state: &mut State, surface: &WlSurface) {
    if state.surfaces.get(surface).is_some_and(|entry| entry.output.is_some()) {
        state.schedule_repaint(surface);
    }
    // Before it is removed, because it is still among its view's contents now.
    touch_views(state, surface);
    if let Some(parent) = compositor::get_parent(surface) {
        tree_extent::touch(state, surface);
        state.surfaces.leave(&parent, surface);
    }
    let Some((mut entry, client_left)) = state.surfaces.remove(surface) else { return };
    bound_commits::surface_gone(entry.frame_pacing.take());
    entry.open_all();
    entry.outstanding.abandon();
    forget_waiting(surface);
    std::mem::take(&mut entry.feedback).discard(FrameDiscardReason::Unseen);
    let held_others = !entry.fence_waits.is_empty();
    fence::forget(state, std::mem::take(&mut entry.fence_waits));
    let other = state.surfaces.of_client(entry.client).next().map(|other| other.surface.clone());
    if let Some(other) = other.filter(|_| held_others) {
        state.apply_opened(&other);
    }
    state.surface_gone(entry.id, entry.client, client_left);
}

/// Empties Smithay's queue of a destroyed surface. The updates in it are never applied, but otherwise live, with their
/// buffers, for as long as there is a reference to the surface.
fn forget_waiting(surface: &WlSurface) {
    guard::with_states(surface, |states| {
        let mut cached = states.cached_state.get::<SurfaceAttributes>();
        let mut all = std::mem::take(&mut *cached);
        std::mem::swap(cached.current(), all.current());
        std::mem::swap(cached.pending(), all.pending());
    });
}

pub fn has_content(surface: &WlSurface) -> bool {
    render_state::look(surface, |showing| showing.buffer().is_some()).unwrap_or(false)
}

/// The root of the tree of subsurfaces that `surface` is part of.
pub fn root(surface: &WlSurface) -> WlSurface {
    let mut root = surface.clone();
    for _ in 0..=MAX_NESTING {
        let Some(parent) = compositor::get_parent(&root) else { break };
        root = parent;
    }
    root
}

//! `wl_subsurface`: position and stacking are applied by the parent's next commit, and the cached commits of a
//! synchronised subsurface are applied when it becomes desynchronised.

use smithay::reexports::wayland_server::backend::ClientId;
use smithay::reexports::wayland_server::protocol::wl_subsurface::{self, WlSubsurface};
use smithay::reexports::wayland_server::protocol::wl_surface::{self, WlSurface};
use smithay::reexports::wayland_server::{Client, DataInit, Dispatch, DisplayHandle, Resource};
use smithay::wayland::compositor::{self, CompositorState, SubsurfaceUserData, SurfaceUserData};

use super::output_hooks::OutputHooks;
use super::stash::{self, StashedState};
use super::synchronised_commits::{self, RequestContext};
use super::tree::{self, StackSide};
use crate::bounds::coordinate;
use crate::guard::Handlers;
use crate::state::State;

impl Dispatch<WlSubsurface, SubsurfaceUserData, State> for Handlers {
    fn request(
        state: &mut State,
        client: &Client,
        subsurface: &WlSubsurface,
        request: wl_subsurface::Request,
        data: &SubsurfaceUserData,
        display: &DisplayHandle,
        init: &mut DataInit<'_, State>,
    ) {
        use wl_subsurface::Request;
        let surface = data.surface().clone();
        match request {
            Request::SetPosition { x, y } => {
                if let Some(parent) = compositor::get_parent(&surface) {
                    tree::set_position(&parent, &surface, (coordinate(x), coordinate(y)).into());
                }
            }
            Request::PlaceAbove { sibling } => place(subsurface, &surface, StackSide::Above, &sibling),
            Request::PlaceBelow { sibling } => place(subsurface, &surface, StackSide::Below, &sibling),
            Request::SetSync => state.surfaces.synchronise(&surface, true),
            Request::SetDesync => {
                state.surfaces.synchronise(&surface, false);
                apply_cached(state, &surface, &mut RequestContext { client, display, init });
            }
            other => <CompositorState as Dispatch<WlSubsurface, SubsurfaceUserData, State>>::request(
                state, client, subsurface, other, data, display, init,
            ),
        }
    }

    fn destroyed(state: &mut State, client: ClientId, subsurface: &WlSubsurface, data: &SubsurfaceUserData) {
        // If the whole client is gone, its trees are not used any more.
        let parent = compositor::get_parent(data.surface()).filter(|parent| parent.client().is_some());
        if let Some(parent) = parent {
            state.surfaces.leave(&parent, data.surface());
            tree::remove(&parent, data.surface());
            state.tree_changed(&parent);
            super::tree_extent::touch(state, &parent);
            super::touch_views(state, &parent);
            state.schedule_repaint(data.surface());
        }
        <CompositorState as Dispatch<WlSubsurface, SubsurfaceUserData, State>>::destroyed(
            state, client, subsurface, data,
        );
        // The surface is a root of its own again.
        super::tree_extent::touch(state, data.surface());
    }
}

fn place(subsurface: &WlSubsurface, surface: &WlSurface, side: StackSide, sibling: &WlSurface) {
    // Without a parent the subsurface is inert.
    let Some(parent) = compositor::get_parent(surface) else { return };
    if !tree::place(&parent, surface, side, sibling) {
        subsurface.post_error(
            wl_subsurface::Error::BadSurface,
            format!("wl_surface#{} is neither the parent nor a sibling", sibling.id().protocol_id()),
        );
    }
}

/// Applies the commits that `surface` and its descendants made while they were synchronised. Smithay 0.7 would leave
/// them until their next commit, and a client that waits for its frame callback would wait for ever.
fn apply_cached(state: &mut State, surface: &WlSurface, context: &mut RequestContext<'_, '_>) {
    if state.surfaces.is_synchronised(surface) {
        return;
    }
    synchronised_commits::stop_caching(state, surface, context);
    let cached = state
        .surfaces
        .get(surface)
        .is_some_and(|entry| entry.outstanding.is_any_pending() && entry.queued_updates() == 0);
    if let Some(data) = surface.data::<SurfaceUserData>().filter(|_| cached) {
        let mut hidden = hide_synchronised(state, surface);
        hidden.push(hide(state, surface));
        set_replay(state, surface, true);
        super::commit::handle_commit(state, surface);
        let RequestContext { client, display, init } = context;
        <CompositorState as Dispatch<WlSurface, SurfaceUserData, State>>::request(
            state,
            client,
            surface,
            wl_surface::Request::Commit,
            data,
            display,
            init,
        );
        synchronised_commits::reset_children(state, surface, context);
        set_replay(state, surface, false);
        hidden.into_iter().for_each(StashedState::restore);
    }
    for child in compositor::get_children(surface) {
        apply_cached(state, &child, context);
    }
}

fn set_replay(state: &mut State, surface: &WlSurface, replay: bool) {
    if let Some(entry) = state.surfaces.get_mut(surface) {
        entry.replay = replay;
    }
}

/// Puts aside the uncommitted state of the synchronised subsurfaces below `surface` that a commit of `surface` would
/// otherwise apply.
pub(super) fn hide_synchronised(state: &State, surface: &WlSurface) -> Vec<StashedState> {
    let mut hidden = Vec::new();
    for child in state.surfaces.cached_children(surface) {
        hide_tree(state, child, &mut hidden);
    }
    hidden
}

fn hide_tree(state: &State, surface: &WlSurface, hidden: &mut Vec<StashedState>) {
    hidden.push(hide(state, surface));
    for child in compositor::get_children(surface) {
        hide_tree(state, &child, hidden);
    }
}

fn hide(state: &State, surface: &WlSurface) -> StashedState {
    stash::hide(surface, state.surfaces.get(surface).and_then(|entry| entry.pending_state.clone()))
}

pub fn new_subsurface(state: &mut State, parent: &WlSurface, surface: &WlSurface) {
    state.surfaces.join(parent, surface);
    tree::add(parent, surface);
}

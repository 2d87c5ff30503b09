//! Handles each request on a `wl_surface`, before and after Smithay does.
//!
//! Coordinates and sizes are brought into range on the way (`bounds`).

use smithay::reexports::wayland_server::backend::ClientId;
use smithay::reexports::wayland_server::protocol::wl_region::WlRegion;
use smithay::reexports::wayland_server::protocol::wl_surface::{self, WlSurface};
use smithay::reexports::wayland_server::{Client, DataInit, Dispatch, DisplayHandle};
use smithay::wayland::compositor::{CompositorState, SurfaceAttributes, SurfaceUserData};

use super::stash::StashedState;
use super::synchronised_commits::{self, RequestContext};
use super::{commit, damage, subsurface};
use crate::bounds::{MAX_SCALE, coordinate, interval};
use crate::guard;
use crate::guard::Handlers;
use crate::state::State;

impl Dispatch<WlSurface, SurfaceUserData, State> for Handlers {
    fn request(
        state: &mut State,
        client: &Client,
        surface: &WlSurface,
        request: wl_surface::Request,
        data: &SurfaceUserData,
        display: &DisplayHandle,
        init: &mut DataInit<'_, State>,
    ) {
        let commits = matches!(request, wl_surface::Request::Commit);
        if let Some(entry) = state.surfaces.get_mut(surface) {
            let touched = std::mem::replace(&mut entry.has_requests, !commits);
            if commits && !touched && state.surfaces.commit_rate_limit.exceeds_limit(&client.id(), surface) {
                return;
            }
        }
        let request = bounded(request);
        let mut hidden = Vec::new();
        let is_synchronised = commits && state.surfaces.is_synchronised(surface);
        if commits {
            commit::handle_commit(state, surface);
        }
        if is_synchronised {
            synchronised_commits::cache_commit(state, surface, &mut RequestContext { client, display, init });
        } else if commits {
            hidden = subsurface::hide_synchronised(state, surface);
        }
        let bound = LimitedRequest::of(&request);
        <CompositorState as Dispatch<WlSurface, SurfaceUserData, State>>::request(
            state, client, surface, request, data, display, init,
        );
        bound.apply(state, surface);
        if commits && !is_synchronised {
            synchronised_commits::reset_children(state, surface, &mut RequestContext { client, display, init });
        }
        hidden.into_iter().for_each(StashedState::restore);
    }

    fn destroyed(state: &mut State, client: ClientId, surface: &WlSurface, data: &SurfaceUserData) {
        <CompositorState as Dispatch<WlSurface, SurfaceUserData, State>>::destroyed(state, client, surface, data);
    }
}

/// Pending state of a request that has to be limited after Smithay stored it.
enum LimitedRequest {
    Opaque(WlRegion),
    Input(WlRegion),
    Damage,
    Nothing,
}

impl LimitedRequest {
    fn of(request: &wl_surface::Request) -> Self {
        use wl_surface::Request;
        match request {
            Request::SetOpaqueRegion { region: Some(region) } => LimitedRequest::Opaque(region.clone()),
            Request::SetInputRegion { region: Some(region) } => LimitedRequest::Input(region.clone()),
            Request::Damage { .. } | Request::DamageBuffer { .. } => LimitedRequest::Damage,
            _ => LimitedRequest::Nothing,
        }
    }

    fn apply(self, state: &State, surface: &WlSurface) {
        if matches!(self, LimitedRequest::Nothing) {
            return;
        }
        let regions = &state.surfaces.regions;
        guard::with_states(surface, |states| {
            let mut attributes = states.cached_state.get::<SurfaceAttributes>();
            let pending = attributes.pending();
            match self {
                LimitedRequest::Opaque(region) => {
                    pending.opaque_region = pending.opaque_region.take().and_then(|kept| regions.opaque(&region, kept));
                }
                LimitedRequest::Input(region) => {
                    pending.input_region = pending.input_region.take().map(|kept| regions.input(&region, kept));
                }
                LimitedRequest::Damage => damage::limit_damage(&mut pending.damage),
                LimitedRequest::Nothing => {}
            }
        });
    }
}

fn bounded(request: wl_surface::Request) -> wl_surface::Request {
    use wl_surface::Request;
    match request {
        Request::Attach { buffer, x, y } => Request::Attach { buffer, x: coordinate(x), y: coordinate(y) },
        Request::Offset { x, y } => Request::Offset { x: coordinate(x), y: coordinate(y) },
        Request::Damage { x, y, width, height } => {
            let ((x, width), (y, height)) = (interval(x, width), interval(y, height));
            Request::Damage { x, y, width, height }
        }
        Request::DamageBuffer { x, y, width, height } => {
            let ((x, width), (y, height)) = (interval(x, width), interval(y, height));
            Request::DamageBuffer { x, y, width, height }
        }
        Request::SetBufferScale { scale } => Request::SetBufferScale { scale: scale.min(MAX_SCALE) },
        other => other,
    }
}

//! Every request on a surface passes here, before and after Smithay sees it.
//!
//! Numbers are brought into range on the way (`bounds`).

use smithay::reexports::wayland_server::backend::ClientId;
use smithay::reexports::wayland_server::protocol::wl_surface::{self, WlSurface};
use smithay::reexports::wayland_server::{Client, DataInit, Dispatch, DisplayHandle};
use smithay::wayland::compositor::{CompositorState, SurfaceUserData};

use super::stash::Stash;
use super::{commit, subsurface};
use crate::bounds::{MAX_SCALE, coordinate, interval};
use crate::state::State;

impl Dispatch<WlSurface, SurfaceUserData> for State {
    fn request(
        state: &mut Self,
        client: &Client,
        surface: &WlSurface,
        request: wl_surface::Request,
        data: &SurfaceUserData,
        display: &DisplayHandle,
        init: &mut DataInit<'_, Self>,
    ) {
        let commits = matches!(request, wl_surface::Request::Commit);
        if let Some(entry) = state.surfaces.get_mut(surface) {
            let touched = std::mem::replace(&mut entry.touched, !commits);
            if commits && !touched && state.surfaces.brake.bare_commit(&client.id(), surface) {
                return;
            }
        }
        let request = bounded(request);
        let mut hidden = Vec::new();
        if commits {
            commit::before(state, surface);
            hidden = subsurface::hide_synchronised(state, surface);
        }
        <CompositorState as Dispatch<WlSurface, SurfaceUserData, State>>::request(
            state, client, surface, request, data, display, init,
        );
        hidden.into_iter().for_each(Stash::restore);
    }

    fn destroyed(state: &mut Self, client: ClientId, surface: &WlSurface, data: &SurfaceUserData) {
        <CompositorState as Dispatch<WlSurface, SurfaceUserData, State>>::destroyed(state, client, surface, data);
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

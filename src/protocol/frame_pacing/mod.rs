//! `upbeat_frame_pacing_manager_v1` 2: before a client draws, it is sent the refresh that its frame is for.
//!
//! The contract is `protocols/upbeat-frame-pacing-v1.xml`. Requests are checked here.
//! [`timing::surface_targets`](upbeat_timing::surface_targets) decides when targets are sent, and
//! `output::clients::frame_targets` sends them. Commits for a target wait in the content-update queue
//! (`surface::bound_commits`).

#[rustfmt::skip]
mod generated;
mod object;

use std::sync::Arc;

use smithay::reexports::wayland_server::backend::{ClientId, GlobalId};
use smithay::reexports::wayland_server::protocol::wl_surface::WlSurface;
use smithay::reexports::wayland_server::{
    Client, DataInit, Dispatch, DisplayHandle, GlobalDispatch, New, Resource, WEnum,
};

use crate::guard;
use crate::guard::Handlers;
use crate::state::State;
use crate::surface::{PacingState, PendingTarget, bound_commits};
use generated::upbeat_frame_pacing_manager_v1::{self as manager, UpbeatFramePacingManagerV1};
use generated::upbeat_frame_pacing_v1::{self as wire, Wish};
use generated::upbeat_frame_pacing_v1::{Error, UpbeatFramePacingV1};
use object::FramePacing;
use upbeat_timing::pacing::Pacing;
use upbeat_timing::surface_targets::{BindError, MOST_AHEAD, SurfaceTargetId};

const VERSION: u32 = 2;

#[derive(Debug)]
pub struct FramePacingManager {
    _global: GlobalId,
}

impl FramePacingManager {
    pub(super) fn new(display: &DisplayHandle) -> Self {
        FramePacingManager { _global: display.create_global::<State, UpbeatFramePacingManagerV1, ()>(VERSION, ()) }
    }
}

impl GlobalDispatch<UpbeatFramePacingManagerV1, (), State> for Handlers {
    fn bind(
        _state: &mut State,
        _display: &DisplayHandle,
        _client: &Client,
        manager: New<UpbeatFramePacingManagerV1>,
        _data: &(),
        init: &mut DataInit<'_, State>,
    ) {
        init.init(manager, ());
    }
}

impl Dispatch<UpbeatFramePacingManagerV1, (), State> for Handlers {
    fn request(
        state: &mut State,
        _client: &Client,
        manager: &UpbeatFramePacingManagerV1,
        request: manager::Request,
        _data: &(),
        _display: &DisplayHandle,
        init: &mut DataInit<'_, State>,
    ) {
        if let manager::Request::GetFramePacing { id, surface } = request {
            let object = init.init(id, FramePacing::new(&surface));
            let Some(entry) = state.surfaces.get_mut(&surface) else { return };
            if entry.frame_pacing().is_some_and(|object| object.is_alive()) {
                manager.post_error(
                    manager::Error::AlreadyExists,
                    format!("wl_surface#{} has a frame pacing object already", surface.id().protocol_id()),
                );
                return;
            }
            object.capabilities(u32::from(MOST_AHEAD));
            entry.set_frame_pacing(Some(Arc::new(object)));
            crate::output::clients::frame_targets::begin(state, &surface);
        }
    }
}

impl Dispatch<UpbeatFramePacingV1, FramePacing, State> for Handlers {
    fn request(
        state: &mut State,
        _client: &Client,
        object: &UpbeatFramePacingV1,
        request: wire::Request,
        data: &FramePacing,
        _display: &DisplayHandle,
        _init: &mut DataInit<'_, State>,
    ) {
        use wire::Request;
        let Some(surface) = data.surface.upgrade().ok().filter(|_| !data.lock().is_inert()) else { return };
        match request {
            Request::Destroy => {
                set(&surface, |pacing_state, target| {
                    *pacing_state = PacingState::default();
                    *target = PendingTarget::default();
                });
                data.lock().make_inert();
                if let Some(entry) = state.surfaces.get_mut(&surface) {
                    entry.set_frame_pacing(None);
                }
            }
            Request::SetPacing { pacing } => match pacing_of(pacing) {
                Some(pacing) => set(&surface, |pacing_state, _| pacing_state.0.pacing = pacing),
                None => object.post_error(Error::InvalidPacing, format!("{pacing:?} is no pacing")),
            },
            Request::SetAheadLimit { frames } => set(&surface, |pacing_state, _| pacing_state.0.limit = frames.max(1)),
            Request::SetOptions { options } => match options {
                WEnum::Value(options) => set(&surface, |pacing_state, _| {
                    pacing_state.0.stay_ahead = options.contains(Wish::StayAhead);
                    pacing_state.0.latest_ready = options.contains(Wish::LatestReady);
                    pacing_state.0.second_shot = options.contains(Wish::SecondShot);
                }),
                WEnum::Unknown(bits) => {
                    object.post_error(Error::InvalidOption, format!("{bits:#x} has bits that are no option"));
                }
            },
            Request::RequestTarget => data.lock().machine.request(),
            Request::Bind { id_hi, id_lo } => {
                let id = SurfaceTargetId(object::join(id_hi, id_lo));
                let checked = data.lock().machine.check(id);
                match checked {
                    Ok(()) => set(&surface, |_, target| target.0 = Some(id)),
                    Err(error @ BindError::Unknown(_)) => object.post_error(Error::UnknownTarget, error.to_string()),
                    Err(error @ BindError::Used(_)) => object.post_error(Error::TargetUsed, error.to_string()),
                }
            }
            Request::CancelFrom { id_hi, id_lo } => {
                bound_commits::cancel_from(state, &surface, object, SurfaceTargetId(object::join(id_hi, id_lo)));
            }
        }
    }

    fn destroyed(_state: &mut State, _client: ClientId, _object: &UpbeatFramePacingV1, data: &FramePacing) {
        data.lock().make_inert();
    }
}

/// Changes the pending pacing state of `surface`.
fn set(surface: &WlSurface, change: impl FnOnce(&mut PacingState, &mut PendingTarget)) {
    guard::with_states(surface, |states| {
        let mut pacing_state = states.cached_state.get::<PacingState>();
        let mut target = states.cached_state.get::<PendingTarget>();
        change(pacing_state.pending(), target.pending());
    });
}

/// The requested pacing. `None`: unknown value; `Some(None)`: the compositor chooses.
fn pacing_of(pacing: WEnum<wire::Pacing>) -> Option<Option<Pacing>> {
    match pacing {
        WEnum::Value(wire::Pacing::Automatic) => Some(None),
        WEnum::Value(wire::Pacing::Vsync) => Some(Some(Pacing::Vsync)),
        WEnum::Value(wire::Pacing::JustInTime) => Some(Some(Pacing::JustInTime)),
        WEnum::Value(wire::Pacing::Ahead) => Some(Some(Pacing::Ahead)),
        WEnum::Unknown(_) => None,
    }
}

//! `zwlr_layer_shell_v1` 4: bars, wallpapers, launchers, notifications.
//!
//! A layer surface belongs to an output and lies in one of four layers, below or above windows ([`shell::layers`]).
//! Smithay keeps the objects and the pending state. The checks here: the surface must have no other role, content or
//! layer surface; no content before the first acknowledged configure; a size of 0 needs opposite anchors; numbers are
//! clamped. An acknowledged configure takes effect with the following commit ([`shell::configure`]), not at once as in
//! Smithay 0.7.

use smithay::output::Output;
use smithay::reexports::wayland_protocols_wlr::layer_shell::v1::server::zwlr_layer_shell_v1::{self, ZwlrLayerShellV1};
use smithay::reexports::wayland_protocols_wlr::layer_shell::v1::server::zwlr_layer_surface_v1::{
    self, ZwlrLayerSurfaceV1,
};
use smithay::reexports::wayland_server::backend::ClientId;
use smithay::reexports::wayland_server::protocol::wl_output::WlOutput;
use smithay::reexports::wayland_server::protocol::wl_surface::WlSurface;
use smithay::reexports::wayland_server::{Client, DataInit, Dispatch, DisplayHandle, Resource};
use smithay::wayland::compositor::{self, BufferAssignment, SurfaceAttributes};
use smithay::wayland::shell::wlr_layer::{
    LAYER_SURFACE_ROLE, Layer, LayerSurface, LayerSurfaceConfigure, WlrLayerShellGlobalData, WlrLayerShellHandler,
    WlrLayerShellState, WlrLayerSurfaceUserData,
};
use smithay::wayland::shell::xdg::PopupSurface;

use super::dispatch_guard::delegate;
use crate::bounds::{MAX_EXTENT, coordinate};
use crate::guard::{self, Handlers};
use crate::state::State;
use crate::{shell, surface};

pub(super) fn new(display: &DisplayHandle) -> WlrLayerShellState {
    WlrLayerShellState::new_with_filter::<State, _>(display, super::privileges::may_bind::<ZwlrLayerShellV1>)
}

delegate!(global ZwlrLayerShellV1: WlrLayerShellGlobalData => WlrLayerShellState);

/// Marks a surface whose hooks are installed, because they must be installed only once.
struct LayerHooksInstalled;

impl WlrLayerShellHandler for State {
    fn shell_state(&mut self) -> &mut WlrLayerShellState {
        &mut self.protocols.layer_shell
    }

    fn new_layer_surface(&mut self, layer: LayerSurface, output: Option<WlOutput>, _: Layer, namespace: String) {
        let is_first = guard::with_states(layer.wl_surface(), |states| {
            states.data_map.insert_if_missing_threadsafe(|| LayerHooksInstalled)
        });
        if is_first {
            compositor::add_pre_commit_hook::<State, _>(layer.wl_surface(), check_commit);
        }
        let is_named = output.is_some();
        let output = output.as_ref().and_then(Output::from_resource);
        if is_named && output.is_none() {
            // The output that the client named is gone.
            layer.send_close();
            return;
        }
        let look = self.outputs.rules().layer_look(&namespace);
        shell::layers::new_surface(self, layer, output, namespace, look);
    }

    fn new_popup(&mut self, parent: LayerSurface, popup: PopupSurface) {
        shell::popup::adopt(self, popup.wl_surface(), parent.wl_surface());
    }

    fn ack_configure(&mut self, surface: WlSurface, configure: LayerSurfaceConfigure) {
        surface::bound_commits::acknowledged(self, &surface);
        shell::configure::acknowledged(self, &surface, configure.serial);
    }

    fn layer_destroyed(&mut self, layer: LayerSurface) {
        shell::layers::destroyed(self, layer.wl_surface());
    }
}

/// Pre-commit check of a layer surface.
fn check_commit(state: &mut State, _display: &DisplayHandle, surface: &WlSurface) {
    let has_new_buffer = guard::with_states(surface, |states| {
        let mut attributes = states.cached_state.get::<SurfaceAttributes>();
        matches!(attributes.pending().buffer, Some(BufferAssignment::NewBuffer(_)))
    });
    if has_new_buffer && let Some(object) = state.shell.unacknowledged_layer(surface) {
        object.post_error(
            zwlr_layer_surface_v1::Error::InvalidSurfaceState,
            "a buffer was committed before the first configure was acknowledged",
        );
    }
}

/// Whether a surface may become a layer surface: it has no other role, and no current or pending content.
fn can_become_layer(state: &State, surface: &WlSurface) -> Result<(), (zwlr_layer_shell_v1::Error, &'static str)> {
    if compositor::get_role(surface).is_some_and(|role| role != LAYER_SURFACE_ROLE) {
        return Err((zwlr_layer_shell_v1::Error::Role, "the surface has another role"));
    }
    if state.shell.is_pinned(surface) {
        return Err((zwlr_layer_shell_v1::Error::AlreadyConstructed, "the surface has a layer surface already"));
    }
    let is_attached = guard::with_states(surface, |states| {
        let mut attributes = states.cached_state.get::<SurfaceAttributes>();
        matches!(attributes.pending().buffer, Some(BufferAssignment::NewBuffer(_)))
    });
    if is_attached || surface::has_content(surface) {
        return Err((zwlr_layer_shell_v1::Error::AlreadyConstructed, "the surface has a buffer already"));
    }
    Ok(())
}

impl Dispatch<ZwlrLayerShellV1, (), State> for Handlers {
    fn request(
        state: &mut State,
        client: &Client,
        object: &ZwlrLayerShellV1,
        request: zwlr_layer_shell_v1::Request,
        data: &(),
        display: &DisplayHandle,
        init: &mut DataInit<'_, State>,
    ) {
        if let zwlr_layer_shell_v1::Request::GetLayerSurface { surface, .. } = &request
            && let Err((error, message)) = can_become_layer(state, surface)
        {
            object.post_error(error, message);
            return;
        }
        <WlrLayerShellState as Dispatch<ZwlrLayerShellV1, (), State>>::request(
            state, client, object, request, data, display, init,
        );
    }
}

impl Dispatch<ZwlrLayerSurfaceV1, WlrLayerSurfaceUserData, State> for Handlers {
    fn request(
        state: &mut State,
        client: &Client,
        object: &ZwlrLayerSurfaceV1,
        request: zwlr_layer_surface_v1::Request,
        data: &WlrLayerSurfaceUserData,
        display: &DisplayHandle,
        init: &mut DataInit<'_, State>,
    ) {
        use zwlr_layer_surface_v1::Request;
        let most = MAX_EXTENT.cast_unsigned();
        let request = match request {
            Request::SetSize { width, height } => Request::SetSize { width: width.min(most), height: height.min(most) },
            Request::SetMargin { top, right, bottom, left } => Request::SetMargin {
                top: coordinate(top),
                right: coordinate(right),
                bottom: coordinate(bottom),
                left: coordinate(left),
            },
            Request::SetExclusiveZone { zone } => Request::SetExclusiveZone { zone: coordinate(zone) },
            Request::GetPopup { popup } if !shell::popup::is_orphan(state, &popup) => {
                let message = "the popup has a parent or was committed already";
                object.post_error(zwlr_layer_surface_v1::Error::InvalidSurfaceState, message);
                return;
            }
            other => other,
        };
        <WlrLayerShellState as Dispatch<ZwlrLayerSurfaceV1, WlrLayerSurfaceUserData, State>>::request(
            state, client, object, request, data, display, init,
        );
    }

    fn destroyed(state: &mut State, client: ClientId, object: &ZwlrLayerSurfaceV1, data: &WlrLayerSurfaceUserData) {
        <WlrLayerShellState as Dispatch<ZwlrLayerSurfaceV1, WlrLayerSurfaceUserData, State>>::destroyed(
            state, client, object, data,
        );
    }
}

//! `wp_viewporter` 1: cropping and scaling of a surface. Smithay keeps the state; rendering reads it from the Scene.
//!
//! Sizes are clamped before Smithay sees them.

use smithay::reexports::wayland_protocols::wp::viewporter::server::wp_viewport::{self, WpViewport};
use smithay::reexports::wayland_protocols::wp::viewporter::server::wp_viewporter::WpViewporter;
use smithay::reexports::wayland_server::backend::ClientId;
use smithay::reexports::wayland_server::{Client, DataInit, Dispatch, DisplayHandle};
use smithay::wayland::viewporter::{ViewportState, ViewporterState};

use super::dispatch_guard::delegate;
use crate::bounds::MAX_EXTENT;
use crate::guard::Handlers;
use crate::state::State;

delegate!(global WpViewporter: () => ViewporterState);
delegate!(WpViewporter: () => ViewporterState);

impl Dispatch<WpViewport, ViewportState, State> for Handlers {
    fn request(
        state: &mut State,
        client: &Client,
        viewport: &WpViewport,
        request: wp_viewport::Request,
        data: &ViewportState,
        display: &DisplayHandle,
        init: &mut DataInit<'_, State>,
    ) {
        let request = match request {
            // Negative numbers and zero pass, because they are an error or have a meaning.
            wp_viewport::Request::SetDestination { width, height } => {
                wp_viewport::Request::SetDestination { width: width.min(MAX_EXTENT), height: height.min(MAX_EXTENT) }
            }
            other => other,
        };
        <ViewportState as Dispatch<WpViewport, ViewportState, State>>::request(
            state, client, viewport, request, data, display, init,
        );
    }

    fn destroyed(state: &mut State, client: ClientId, viewport: &WpViewport, data: &ViewportState) {
        <ViewportState as Dispatch<WpViewport, ViewportState, State>>::destroyed(state, client, viewport, data);
    }
}

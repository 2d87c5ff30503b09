//! `wl_compositor` 6: surfaces and regions.
//!
//! Requests on surfaces go through `surface::dispatch`, which owns the content-update queue; regions are bounded here.
//! [`CompositorHandler::commit`] is called for each *applied* update, which may be long after the client committed.

use smithay::reexports::wayland_server::backend::ClientId;
use smithay::reexports::wayland_server::protocol::wl_callback::WlCallback;
use smithay::reexports::wayland_server::protocol::wl_compositor::WlCompositor;
use smithay::reexports::wayland_server::protocol::wl_region::{self, WlRegion};
use smithay::reexports::wayland_server::protocol::wl_surface::WlSurface;
use smithay::reexports::wayland_server::{
    Client, DataInit, Dispatch, DisplayHandle, delegate_dispatch, delegate_global_dispatch,
};
use smithay::wayland::compositor::{self, CompositorClientState, CompositorHandler, CompositorState, RegionUserData};

use crate::bounds;
use crate::state::State;
use crate::{input, shell, surface};

impl CompositorHandler for State {
    fn compositor_state(&mut self) -> &mut CompositorState {
        &mut self.protocols.compositor
    }

    #[expect(clippy::expect_used, reason = "every connection is made by protocol::client::connect")]
    fn client_compositor_state<'a>(&self, client: &'a Client) -> &'a CompositorClientState {
        &client.get_data::<super::client::Client>().expect("a client without client data").compositor
    }

    fn new_surface(&mut self, surface: &WlSurface) {
        // Before Smithay's own hook, which takes the content away.
        compositor::add_destruction_hook(surface, shell::animation::about_to_destroy);
        surface::new_surface(self, surface);
    }

    fn new_subsurface(&mut self, surface: &WlSurface, parent: &WlSurface) {
        surface::subsurface::new_subsurface(parent, surface);
    }

    fn commit(&mut self, surface: &WlSurface) {
        shell::animation::about_to_apply(self, surface);
        surface::applied(self, surface);
        shell::applied(self, surface);
        input::applied(self, surface);
    }

    fn destroyed(&mut self, surface: &WlSurface) {
        shell::surface_destroyed(self, surface);
        input::surface_destroyed(self, surface);
        surface::destroyed(self, surface);
    }
}

delegate_global_dispatch!(State: [WlCompositor: ()] => CompositorState);
delegate_dispatch!(State: [WlCompositor: ()] => CompositorState);
delegate_dispatch!(State: [WlCallback: ()] => CompositorState);

impl Dispatch<WlRegion, RegionUserData> for State {
    fn request(
        state: &mut Self,
        client: &Client,
        region: &WlRegion,
        request: wl_region::Request,
        data: &RegionUserData,
        display: &DisplayHandle,
        init: &mut DataInit<'_, Self>,
    ) {
        let request = match request {
            wl_region::Request::Add { x, y, width, height } => {
                let ((x, width), (y, height)) = (bounds::interval(x, width), bounds::interval(y, height));
                wl_region::Request::Add { x, y, width, height }
            }
            wl_region::Request::Subtract { x, y, width, height } => {
                let ((x, width), (y, height)) = (bounds::interval(x, width), bounds::interval(y, height));
                wl_region::Request::Subtract { x, y, width, height }
            }
            other => other,
        };
        <CompositorState as Dispatch<WlRegion, RegionUserData, State>>::request(
            state, client, region, request, data, display, init,
        );
    }

    fn destroyed(state: &mut Self, client: ClientId, region: &WlRegion, data: &RegionUserData) {
        <CompositorState as Dispatch<WlRegion, RegionUserData, State>>::destroyed(state, client, region, data);
    }
}

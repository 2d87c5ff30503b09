//! `wl_compositor` 6: surfaces and regions.
//!
//! Requests on surfaces go through `surface::dispatch`, which owns the content-update queue; regions are bounded here.
//! [`CompositorHandler::commit`] is called for each *applied* update, which may be long after the client committed.

use smithay::reexports::wayland_server::backend::ClientId;
use smithay::reexports::wayland_server::protocol::wl_callback::WlCallback;
use smithay::reexports::wayland_server::protocol::wl_compositor::WlCompositor;
use smithay::reexports::wayland_server::protocol::wl_region::{self, WlRegion};
use smithay::reexports::wayland_server::protocol::wl_surface::WlSurface;
use smithay::reexports::wayland_server::{Client, DataInit, Dispatch, DisplayHandle};
use smithay::utils::Rectangle;
use smithay::wayland::compositor::{
    self, CompositorClientState, CompositorHandler, CompositorState, RectangleKind, RegionUserData,
};

use super::dispatch_guard::delegate;
use super::xdg_foreign;
use crate::bounds;
use crate::guard;
use crate::guard::Handlers;
use crate::state::State;
use crate::{input, shell, surface};

/// Number of surface lists. With the largest number of surfaces that a client may have, walking one list takes a
/// microsecond.
const LISTS: usize = 256;

/// Many instances of Smithay's `wl_compositor` state.
///
/// Each has a list of its surfaces. Smithay never reads it, but walks it for each surface that is destroyed: the end of
/// a client with 8 000 surfaces took seconds. So there are many lists, and a surface is removed from the list that it
/// was put into.
#[derive(Debug)]
pub struct Compositors {
    lists: Vec<CompositorState>,
    /// Index of the list that Smithay adds the next surface to, or removes it from.
    place: usize,
}

/// Index of a surface's list.
struct SurfaceListIndex(usize);

impl Compositors {
    pub(super) fn new(display: &DisplayHandle) -> Self {
        let lists = (0..LISTS).map(|number| {
            let list = CompositorState::new_v6::<State>(display);
            // Only the first is advertised.
            if number > 0 {
                display.remove_global::<State>(list.compositor_global());
                display.remove_global::<State>(list.subcompositor_global());
            }
            list
        });
        Compositors { lists: lists.collect(), place: 0 }
    }

    /// Remembers that `surface` is in the current list, and selects the next list.
    fn note_list_of(&mut self, surface: &WlSurface) {
        let place = self.place;
        guard::with_states(surface, |states| states.data_map.insert_if_missing_threadsafe(|| SurfaceListIndex(place)));
        self.place = (place + 1) % LISTS;
    }

    /// Selects the list of `surface`, which is being destroyed.
    fn select_list_of(&mut self, surface: &WlSurface) {
        let place =
            guard::with_states(surface, |states| states.data_map.get::<SurfaceListIndex>().map(|place| place.0));
        self.place = place.unwrap_or(self.place);
    }
}

impl CompositorHandler for State {
    fn compositor_state(&mut self) -> &mut CompositorState {
        let Compositors { lists, place } = &mut self.protocols.compositor;
        &mut lists[*place]
    }

    #[expect(clippy::expect_used, reason = "every connection is made by protocol::client::connect")]
    fn client_compositor_state<'a>(&self, client: &'a Client) -> &'a CompositorClientState {
        &client.get_data::<super::client::Client>().expect("a client without client data").compositor
    }

    fn new_surface(&mut self, surface: &WlSurface) {
        self.protocols.compositor.note_list_of(surface);
        // Added before Smithay's own hook, since that drops the content.
        compositor::add_destruction_hook(surface, shell::animation::about_to_destroy);
        surface::new_surface(self, surface);
    }

    fn new_subsurface(&mut self, surface: &WlSurface, parent: &WlSurface) {
        surface::subsurface::new_subsurface(self, parent, surface);
        shell::surface_outputs::subsurface_added(self, parent);
    }

    fn commit(&mut self, surface: &WlSurface) {
        shell::animation::about_to_apply(self, surface);
        surface::applied(self, surface);
        shell::applied(self, surface);
        input::applied(self, surface);
    }

    fn destroyed(&mut self, surface: &WlSurface) {
        xdg_foreign::window_gone(self, surface);
        shell::surface_destroyed(self, surface);
        input::surface_destroyed(self, surface);
        surface::destroyed(self, surface);
        self.protocols.idle_inhibit.forget(surface);
        // Smithay removes it from the selected list right after this.
        self.protocols.compositor.select_list_of(surface);
    }
}

delegate!(global WlCompositor: () => CompositorState);
delegate!(WlCompositor: () => CompositorState);
delegate!(WlCallback: () => CompositorState);

impl Dispatch<WlRegion, RegionUserData, State> for Handlers {
    fn request(
        state: &mut State,
        client: &Client,
        region: &WlRegion,
        request: wl_region::Request,
        data: &RegionUserData,
        display: &DisplayHandle,
        init: &mut DataInit<'_, State>,
    ) {
        let (request, change) = match request {
            wl_region::Request::Add { x, y, width, height } => {
                let ((x, width), (y, height)) = (bounds::interval(x, width), bounds::interval(y, height));
                let rect = Rectangle::new((x, y).into(), (width, height).into());
                (wl_region::Request::Add { x, y, width, height }, Some((RectangleKind::Add, rect)))
            }
            wl_region::Request::Subtract { x, y, width, height } => {
                let ((x, width), (y, height)) = (bounds::interval(x, width), bounds::interval(y, height));
                let rect = Rectangle::new((x, y).into(), (width, height).into());
                (wl_region::Request::Subtract { x, y, width, height }, Some((RectangleKind::Subtract, rect)))
            }
            other => (other, None),
        };
        if change.is_some_and(|(kind, rect)| !state.surfaces.regions_mut().count_rect(region, kind, rect)) {
            return;
        }
        <CompositorState as Dispatch<WlRegion, RegionUserData, State>>::request(
            state, client, region, request, data, display, init,
        );
    }

    fn destroyed(state: &mut State, client: ClientId, region: &WlRegion, data: &RegionUserData) {
        state.surfaces.regions_mut().forget(region);
        <CompositorState as Dispatch<WlRegion, RegionUserData, State>>::destroyed(state, client, region, data);
    }
}

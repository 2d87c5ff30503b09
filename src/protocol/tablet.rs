//! `zwp_tablet_manager_v2` 1: graphics tablets and their tools. Pads (rings and buttons of the tablet itself) are not
//! offered.
//!
//! Our own implementation, since Smithay 0.7 sends events to only one instance of each client. The objects and their
//! events are in [`input::tablet`]; requests are handled here. For a client that has never bound the manager, the tool
//! acts as a pointer.

use std::sync::atomic::Ordering;

use smithay::input::pointer::{CursorImageAttributes, CursorImageStatus, CursorImageSurfaceData};
use smithay::reexports::wayland_protocols::wp::tablet::zv2::server::zwp_tablet_manager_v2::{self, ZwpTabletManagerV2};
use smithay::reexports::wayland_protocols::wp::tablet::zv2::server::zwp_tablet_seat_v2::{self, ZwpTabletSeatV2};
use smithay::reexports::wayland_protocols::wp::tablet::zv2::server::zwp_tablet_tool_v2::{self, ZwpTabletToolV2};
use smithay::reexports::wayland_protocols::wp::tablet::zv2::server::zwp_tablet_v2::{self, ZwpTabletV2};
use smithay::reexports::wayland_server::backend::{ClientId, GlobalId};
use smithay::reexports::wayland_server::protocol::wl_surface::WlSurface;
use smithay::reexports::wayland_server::{Client, DataInit, Dispatch, DisplayHandle, GlobalDispatch, New, Resource};
use smithay::utils::{Logical, Point};
use smithay::wayland::compositor;
use smithay::wayland::seat::CURSOR_IMAGE_ROLE;

use super::client;
use crate::bounds::coordinate;
use crate::guard::{self, Handlers};
use crate::input::{self, TabletClients};
use crate::state::State;

const VERSION: u32 = 1;

#[derive(Debug)]
pub struct TabletManager {
    _global: GlobalId,
}

impl TabletManager {
    pub(super) fn new(display: &DisplayHandle) -> Self {
        TabletManager { _global: display.create_global::<State, ZwpTabletManagerV2, ()>(VERSION, ()) }
    }
}

impl TabletClients for State {
    fn has_tablet_seat(&self, surface: &WlSurface) -> bool {
        let client = surface.client();
        let data = client.as_ref().and_then(Client::get_data::<client::Client>);
        data.is_some_and(|data| data.knows_tablets.load(Ordering::Relaxed))
    }
}

impl GlobalDispatch<ZwpTabletManagerV2, (), State> for Handlers {
    fn bind(
        _state: &mut State,
        _display: &DisplayHandle,
        client: &Client,
        manager: New<ZwpTabletManagerV2>,
        (): &(),
        init: &mut DataInit<'_, State>,
    ) {
        if let Some(client) = client.get_data::<client::Client>() {
            client.knows_tablets.store(true, Ordering::Relaxed);
        }
        init.init(manager, ());
    }
}

impl Dispatch<ZwpTabletManagerV2, (), State> for Handlers {
    fn request(
        state: &mut State,
        client: &Client,
        _manager: &ZwpTabletManagerV2,
        request: zwp_tablet_manager_v2::Request,
        (): &(),
        _display: &DisplayHandle,
        init: &mut DataInit<'_, State>,
    ) {
        // The argument `seat` is ignored, because there is only one seat.
        if let zwp_tablet_manager_v2::Request::GetTabletSeat { tablet_seat, .. } = request {
            let seat = init.init(tablet_seat, ());
            input::tablet::seat_made(state, client, &seat);
        }
    }
}

impl Dispatch<ZwpTabletSeatV2, (), State> for Handlers {
    fn request(
        _state: &mut State,
        _client: &Client,
        _seat: &ZwpTabletSeatV2,
        _request: zwp_tablet_seat_v2::Request,
        (): &(),
        _display: &DisplayHandle,
        _init: &mut DataInit<'_, State>,
    ) {
        // The only request is `destroy`.
    }

    fn destroyed(state: &mut State, _client: ClientId, seat: &ZwpTabletSeatV2, (): &()) {
        input::tablet::seat_gone(state, seat);
    }
}

impl Dispatch<ZwpTabletV2, (), State> for Handlers {
    fn request(
        _state: &mut State,
        _client: &Client,
        _tablet: &ZwpTabletV2,
        _request: zwp_tablet_v2::Request,
        (): &(),
        _display: &DisplayHandle,
        _init: &mut DataInit<'_, State>,
    ) {
        // The only request is `destroy`.
    }

    fn destroyed(state: &mut State, _client: ClientId, tablet: &ZwpTabletV2, (): &()) {
        input::tablet::tablet_object_gone(state, tablet);
    }
}

impl Dispatch<ZwpTabletToolV2, (), State> for Handlers {
    fn request(
        state: &mut State,
        _client: &Client,
        tool: &ZwpTabletToolV2,
        request: zwp_tablet_tool_v2::Request,
        (): &(),
        _display: &DisplayHandle,
        _init: &mut DataInit<'_, State>,
    ) {
        if let zwp_tablet_tool_v2::Request::SetCursor { surface, hotspot_x, hotspot_y, .. } = request {
            set_cursor(state, tool, surface, Point::from((coordinate(hotspot_x), coordinate(hotspot_y))));
        }
    }

    fn destroyed(state: &mut State, _client: ClientId, tool: &ZwpTabletToolV2, (): &()) {
        input::tablet::tool_object_gone(state, tool);
    }
}

/// Sets the cursor of `tool` to `surface`, or hides it. Has no effect for a client that does not have the tool's focus.
fn set_cursor(state: &mut State, tool: &ZwpTabletToolV2, surface: Option<WlSurface>, hotspot: Point<i32, Logical>) {
    if !input::tablet::is_near(state, tool) {
        return;
    }
    let Some(surface) = surface else {
        input::tablet::set_cursor(state, tool, CursorImageStatus::Hidden);
        return;
    };
    // The surface may have been the cursor before.
    let has_other_role = compositor::give_role(&surface, CURSOR_IMAGE_ROLE).is_err()
        && compositor::get_role(&surface) != Some(CURSOR_IMAGE_ROLE);
    if has_other_role {
        tool.post_error(zwp_tablet_tool_v2::Error::Role, "the surface has another role");
        return;
    }
    guard::with_states(&surface, |states| {
        states.data_map.insert_if_missing_threadsafe(|| CursorImageSurfaceData::new(CursorImageAttributes { hotspot }));
        if let Some(data) = states.data_map.get::<CursorImageSurfaceData>() {
            data.lock().unwrap_or_else(std::sync::PoisonError::into_inner).hotspot = hotspot;
        }
    });
    input::tablet::set_cursor(state, tool, CursorImageStatus::Surface(surface));
}

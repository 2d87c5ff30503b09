//! `zwp_tablet_manager_v2` 1: graphics tablets and their tools. Pads (rings and buttons of the tablet itself) are not
//! offered: Smithay 0.7 has none.
//!
//! Who has never bound the manager gets the tool as a pointer ([`crate::input::tablet`]).

use std::sync::atomic::Ordering;

use smithay::backend::input::TabletToolDescriptor;
use smithay::input::pointer::CursorImageStatus;
use smithay::reexports::wayland_protocols::wp::tablet::zv2::server::zwp_tablet_manager_v2::{self, ZwpTabletManagerV2};
use smithay::reexports::wayland_protocols::wp::tablet::zv2::server::zwp_tablet_seat_v2::{self, ZwpTabletSeatV2};
use smithay::reexports::wayland_protocols::wp::tablet::zv2::server::zwp_tablet_tool_v2::ZwpTabletToolV2;
use smithay::reexports::wayland_protocols::wp::tablet::zv2::server::zwp_tablet_v2::ZwpTabletV2;
use smithay::reexports::wayland_server::backend::ClientId;
use smithay::reexports::wayland_server::protocol::wl_surface::WlSurface;
use smithay::reexports::wayland_server::{Client, DataInit, Dispatch, DisplayHandle, GlobalDispatch, New, Resource};
use smithay::wayland::tablet_manager::{
    TabletManagerState, TabletSeatHandler, TabletSeatUserData, TabletToolUserData, TabletUserData,
};

use super::client;
use super::floor::delegate;
use crate::guard::{self, Handlers, Kind};
use crate::input::{self, TabletClients};
use crate::output;
use crate::state::State;

impl TabletClients for State {
    fn knows_tablets(&self, surface: &WlSurface) -> bool {
        let client = surface.client();
        let data = client.as_ref().and_then(Client::get_data::<client::Client>);
        data.is_some_and(|data| data.knows_tablets.load(Ordering::Relaxed))
    }
}

impl TabletSeatHandler for State {
    fn tablet_tool_image(&mut self, _tool: &TabletToolDescriptor, image: CursorImageStatus) {
        self.input.cursor.set_status(image);
        output::cursor_changed(self);
    }
}

impl GlobalDispatch<ZwpTabletManagerV2, (), State> for Handlers {
    fn bind(
        state: &mut State,
        display: &DisplayHandle,
        client: &Client,
        resource: New<ZwpTabletManagerV2>,
        data: &(),
        init: &mut DataInit<'_, State>,
    ) {
        if let Some(client) = client.get_data::<client::Client>() {
            client.knows_tablets.store(true, Ordering::Relaxed);
        }
        <TabletManagerState as GlobalDispatch<ZwpTabletManagerV2, (), State>>::bind(
            state, display, client, resource, data, init,
        );
    }
}

impl Dispatch<ZwpTabletManagerV2, (), State> for Handlers {
    fn request(
        state: &mut State,
        client: &Client,
        manager: &ZwpTabletManagerV2,
        request: zwp_tablet_manager_v2::Request,
        data: &(),
        display: &DisplayHandle,
        init: &mut DataInit<'_, State>,
    ) {
        let makes_seat = matches!(request, zwp_tablet_manager_v2::Request::GetTabletSeat { .. });
        let number = guard::number_of_newest(Kind::Devices).filter(|_| makes_seat);
        let is_first = makes_seat && !input::tablet::has_seat(state, client);
        if is_first {
            input::tablet::first_seat_begins(state, client);
        }
        <TabletManagerState as Dispatch<ZwpTabletManagerV2, (), State>>::request(
            state, client, manager, request, data, display, init,
        );
        let seat = number.and_then(|number| client.object_from_protocol_id(display, number).ok());
        if let Some(seat) = seat {
            input::tablet::seat_made(state, client, seat, is_first);
        }
    }
}

impl Dispatch<ZwpTabletSeatV2, TabletSeatUserData, State> for Handlers {
    fn request(
        state: &mut State,
        client: &Client,
        seat: &ZwpTabletSeatV2,
        request: zwp_tablet_seat_v2::Request,
        data: &TabletSeatUserData,
        display: &DisplayHandle,
        init: &mut DataInit<'_, State>,
    ) {
        <TabletManagerState as Dispatch<ZwpTabletSeatV2, _, State>>::request(
            state, client, seat, request, data, display, init,
        );
    }

    fn destroyed(state: &mut State, client: ClientId, seat: &ZwpTabletSeatV2, data: &TabletSeatUserData) {
        input::tablet::seat_gone(state, seat);
        <TabletManagerState as Dispatch<ZwpTabletSeatV2, _, State>>::destroyed(state, client, seat, data);
    }
}

delegate!(ZwpTabletV2: TabletUserData => TabletManagerState);
delegate!(ZwpTabletToolV2: TabletToolUserData => TabletManagerState);

//! `zwp_tablet_manager_v2` 1: graphics tablets and their tools. Pads (rings and buttons of the tablet itself) are not
//! offered: Smithay 0.7 has none.
//!
//! Who has never bound the manager gets the tool as a pointer ([`input::tablet`](crate::input::tablet)).

use std::sync::atomic::Ordering;

use smithay::backend::input::TabletToolDescriptor;
use smithay::input::pointer::CursorImageStatus;
use smithay::reexports::wayland_protocols::wp::tablet::zv2::server::zwp_tablet_manager_v2::ZwpTabletManagerV2;
use smithay::reexports::wayland_protocols::wp::tablet::zv2::server::zwp_tablet_seat_v2::ZwpTabletSeatV2;
use smithay::reexports::wayland_protocols::wp::tablet::zv2::server::zwp_tablet_tool_v2::ZwpTabletToolV2;
use smithay::reexports::wayland_protocols::wp::tablet::zv2::server::zwp_tablet_v2::ZwpTabletV2;
use smithay::reexports::wayland_server::protocol::wl_surface::WlSurface;
use smithay::reexports::wayland_server::{Client, DataInit, DisplayHandle, GlobalDispatch, New, Resource};
use smithay::wayland::tablet_manager::{
    TabletManagerState, TabletSeatHandler, TabletSeatUserData, TabletToolUserData, TabletUserData,
};

use super::client;
use super::floor::delegate;
use crate::guard::Handlers;
use crate::input::TabletClients;
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

delegate!(ZwpTabletManagerV2: () => TabletManagerState);
delegate!(ZwpTabletSeatV2: TabletSeatUserData => TabletManagerState);
delegate!(ZwpTabletV2: TabletUserData => TabletManagerState);
delegate!(ZwpTabletToolV2: TabletToolUserData => TabletManagerState);

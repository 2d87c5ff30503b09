//! `wp_pointer_warp_v1` 1: the client with pointer focus moves the pointer to another place on one of its surfaces.
//!
//! There is no answer. The request is granted if its serial is that of the pointer's last enter, and if the place is
//! visible.

use smithay::reexports::wayland_protocols::wp::pointer_warp::v1::server::wp_pointer_warp_v1::{self, WpPointerWarpV1};
use smithay::reexports::wayland_server::{Client, DataInit, Dispatch, DisplayHandle, GlobalDispatch, New};
use smithay::utils::Serial;

use crate::guard::Handlers;
use crate::input::pointer;
use crate::state::State;

const VERSION: u32 = 1;

#[derive(Debug)]
pub struct PointerWarp;

impl PointerWarp {
    pub(super) fn new(display: &DisplayHandle) -> Self {
        display.create_global::<State, WpPointerWarpV1, ()>(VERSION, ());
        PointerWarp
    }
}

impl GlobalDispatch<WpPointerWarpV1, (), State> for Handlers {
    fn bind(
        _state: &mut State,
        _display: &DisplayHandle,
        _client: &Client,
        warp: New<WpPointerWarpV1>,
        (): &(),
        init: &mut DataInit<'_, State>,
    ) {
        init.init(warp, ());
    }
}

impl Dispatch<WpPointerWarpV1, (), State> for Handlers {
    fn request(
        state: &mut State,
        _client: &Client,
        _warp: &WpPointerWarpV1,
        request: wp_pointer_warp_v1::Request,
        (): &(),
        _display: &DisplayHandle,
        _init: &mut DataInit<'_, State>,
    ) {
        if let wp_pointer_warp_v1::Request::WarpPointer { surface, x, y, serial, .. } = request
            && state.input.pointer().last_enter() == Some(Serial::from(serial))
        {
            pointer::warped(state, &surface, (x, y).into());
        }
    }
}

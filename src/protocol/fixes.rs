//! `wl_fixes` 1: a client destroys a registry.

use smithay::reexports::wayland_server::protocol::wl_fixes::{self, WlFixes};
use smithay::reexports::wayland_server::{Client, DataInit, Dispatch, DisplayHandle, GlobalDispatch, New, Resource};

use crate::guard::Handlers;
use crate::state::State;

const VERSION: u32 = 1;

#[derive(Debug)]
pub struct Fixes;

impl Fixes {
    pub(super) fn new(display: &DisplayHandle) -> Self {
        display.create_global::<State, WlFixes, ()>(VERSION, ());
        Fixes
    }
}

impl GlobalDispatch<WlFixes, (), State> for Handlers {
    fn bind(
        _state: &mut State,
        _display: &DisplayHandle,
        _client: &Client,
        fixes: New<WlFixes>,
        (): &(),
        init: &mut DataInit<'_, State>,
    ) {
        init.init(fixes, ());
    }
}

impl Dispatch<WlFixes, (), State> for Handlers {
    fn request(
        _state: &mut State,
        _client: &Client,
        _fixes: &WlFixes,
        request: wl_fixes::Request,
        (): &(),
        display: &DisplayHandle,
        _init: &mut DataInit<'_, State>,
    ) {
        if let wl_fixes::Request::DestroyRegistry { registry } = request {
            // It is alive, because the request has just named it.
            let _ = display.backend_handle().destroy_object::<State>(&registry.id());
        }
    }
}

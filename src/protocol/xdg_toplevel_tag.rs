//! `xdg_toplevel_tag_manager_v1` 1: a client identifies its window by a word that stays the same each time it is
//! started. `upbeat msg windows` prints it.
//!
//! Our own implementation, since Smithay 0.7 takes the description for the tag.

use smithay::reexports::wayland_protocols::xdg::toplevel_tag::v1::server::xdg_toplevel_tag_manager_v1::{
    self, XdgToplevelTagManagerV1,
};
use smithay::reexports::wayland_server::{Client, DataInit, Dispatch, DisplayHandle, GlobalDispatch, New};

use crate::guard::Handlers;
use crate::shell;
use crate::state::State;

const VERSION: u32 = 1;

#[derive(Debug)]
pub struct ToplevelTags;

impl ToplevelTags {
    pub(super) fn new(display: &DisplayHandle) -> Self {
        display.create_global::<State, XdgToplevelTagManagerV1, ()>(VERSION, ());
        ToplevelTags
    }
}

impl GlobalDispatch<XdgToplevelTagManagerV1, (), State> for Handlers {
    fn bind(
        _state: &mut State,
        _display: &DisplayHandle,
        _client: &Client,
        manager: New<XdgToplevelTagManagerV1>,
        (): &(),
        init: &mut DataInit<'_, State>,
    ) {
        init.init(manager, ());
    }
}

impl Dispatch<XdgToplevelTagManagerV1, (), State> for Handlers {
    fn request(
        state: &mut State,
        _client: &Client,
        _manager: &XdgToplevelTagManagerV1,
        request: xdg_toplevel_tag_manager_v1::Request,
        (): &(),
        _display: &DisplayHandle,
        _init: &mut DataInit<'_, State>,
    ) {
        // The description is ignored: it is meant for screen readers, and none can get it yet.
        if let xdg_toplevel_tag_manager_v1::Request::SetToplevelTag { toplevel, tag } = request
            && let Some(toplevel) = state.protocols.xdg_shell.get_toplevel(&toplevel)
        {
            shell::set_tag(state, toplevel.wl_surface(), tag);
        }
    }
}

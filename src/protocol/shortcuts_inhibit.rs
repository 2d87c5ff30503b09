//! `zwp_keyboard_shortcuts_inhibit_manager_v1` 1: a surface gets the compositor's shortcuts while it has the keyboard
//! (remote desktops, virtual machines).
//!
//! It is granted at once. The user can revoke and restore it with a shortcut that always stays with the compositor
//! ([`input::shortcut_inhibition`](crate::input::shortcut_inhibition)); then `inactive` and `active` are sent.
//!
//! Our own implementation, since Smithay 0.7 panics at a seat that is gone.

use smithay::reexports::wayland_protocols::wp::keyboard_shortcuts_inhibit::zv1::server::zwp_keyboard_shortcuts_inhibit_manager_v1::{
    self, Error, ZwpKeyboardShortcutsInhibitManagerV1,
};
use smithay::reexports::wayland_protocols::wp::keyboard_shortcuts_inhibit::zv1::server::zwp_keyboard_shortcuts_inhibitor_v1::{
    self, ZwpKeyboardShortcutsInhibitorV1,
};
use smithay::reexports::wayland_server::backend::{ClientId, GlobalId, ObjectId};
use smithay::reexports::wayland_server::{
    Client, DataInit, Dispatch, DisplayHandle, GlobalDispatch, New, Resource,
};

use crate::guard::Handlers;
use crate::state::State;

const VERSION: u32 = 1;

#[derive(Debug)]
pub struct ShortcutsInhibit {
    _global: GlobalId,
}

impl ShortcutsInhibit {
    pub(super) fn new(display: &DisplayHandle) -> Self {
        ShortcutsInhibit {
            _global: display.create_global::<State, ZwpKeyboardShortcutsInhibitManagerV1, ()>(VERSION, ()),
        }
    }
}

impl GlobalDispatch<ZwpKeyboardShortcutsInhibitManagerV1, (), State> for Handlers {
    fn bind(
        _state: &mut State,
        _display: &DisplayHandle,
        _client: &Client,
        manager: New<ZwpKeyboardShortcutsInhibitManagerV1>,
        (): &(),
        init: &mut DataInit<'_, State>,
    ) {
        init.init(manager, ());
    }

    fn can_view(client: Client, (): &()) -> bool {
        super::privileges::may_bind::<ZwpKeyboardShortcutsInhibitManagerV1>(&client)
    }
}

impl Dispatch<ZwpKeyboardShortcutsInhibitManagerV1, (), State> for Handlers {
    fn request(
        state: &mut State,
        _client: &Client,
        manager: &ZwpKeyboardShortcutsInhibitManagerV1,
        request: zwp_keyboard_shortcuts_inhibit_manager_v1::Request,
        (): &(),
        _display: &DisplayHandle,
        init: &mut DataInit<'_, State>,
    ) {
        let zwp_keyboard_shortcuts_inhibit_manager_v1::Request::InhibitShortcuts { id, surface, .. } = request else {
            return;
        };
        let surface = surface.id();
        let resource = init.init(id, surface.clone());
        let inhibitors = state.input.inhibitors_mut();
        if inhibitors.has(&surface) {
            return manager.post_error(Error::AlreadyInhibited, format!("{surface} has an inhibitor for this seat"));
        }
        inhibitors.add(surface, resource);
    }
}

impl Dispatch<ZwpKeyboardShortcutsInhibitorV1, ObjectId, State> for Handlers {
    fn request(
        _state: &mut State,
        _client: &Client,
        _inhibitor: &ZwpKeyboardShortcutsInhibitorV1,
        _request: zwp_keyboard_shortcuts_inhibitor_v1::Request,
        _surface: &ObjectId,
        _display: &DisplayHandle,
        _init: &mut DataInit<'_, State>,
    ) {
        // The only request is `destroy`.
    }

    fn destroyed(state: &mut State, _client: ClientId, resource: &ZwpKeyboardShortcutsInhibitorV1, surface: &ObjectId) {
        state.input.inhibitors_mut().remove(surface, resource);
    }
}

//! `zwp_input_popup_surface_v2`: surfaces that an input method shows at the caret.

use smithay::reexports::wayland_server::backend::ClientId;
use smithay::reexports::wayland_server::protocol::wl_surface::WlSurface;
use smithay::reexports::wayland_server::{Client, DataInit, Dispatch, DisplayHandle, New, Resource};
use smithay::wayland::compositor;
use wayland_protocols_misc::zwp_input_method_v2::server::zwp_input_method_v2::ZwpInputMethodV2;
use wayland_protocols_misc::zwp_input_method_v2::server::zwp_input_popup_surface_v2::{self, ZwpInputPopupSurfaceV2};

use crate::guard::Handlers;
use crate::input::text;
use crate::shell::input_popups;
use crate::state::State;

const ROLE: &str = "zwp_input_popup_surface_v2";
/// The protocol demands an error without naming it; later drafts call it `role`.
const ROLE_ERROR: u32 = 0;

/// Makes `surface` a popup. A popup of a client that is not the active input method is never shown.
pub(super) fn make(
    state: &mut State,
    method: &ZwpInputMethodV2,
    id: New<ZwpInputPopupSurfaceV2>,
    surface: WlSurface,
    init: &mut DataInit<'_, State>,
) {
    let object = init.init(id, ());
    if compositor::give_role(&surface, ROLE).is_err() {
        return method.post_error(ROLE_ERROR, "the surface has another role");
    }
    if state.shell.input_popups().has(&surface) {
        return method.post_error(ROLE_ERROR, "the surface is a popup of an input method already");
    }
    if text::is_registered(state, method) {
        input_popups::new_popup(state, object, &surface);
    }
}

impl Dispatch<ZwpInputPopupSurfaceV2, (), State> for Handlers {
    fn request(
        _state: &mut State,
        _client: &Client,
        _popup: &ZwpInputPopupSurfaceV2,
        _request: zwp_input_popup_surface_v2::Request,
        (): &(),
        _display: &DisplayHandle,
        _init: &mut DataInit<'_, State>,
    ) {
        // The only request is `destroy`.
    }

    fn destroyed(state: &mut State, _client: ClientId, object: &ZwpInputPopupSurfaceV2, (): &()) {
        input_popups::destroyed(state, object);
    }
}

//! `zwp_input_method_keyboard_grab_v2`: the input method gets the keys of the session's keyboards.

use smithay::reexports::wayland_server::backend::ClientId;
use smithay::reexports::wayland_server::{Client, DataInit, Dispatch, DisplayHandle, New};
use wayland_protocols_misc::zwp_input_method_v2::server::zwp_input_method_keyboard_grab_v2::{
    self, ZwpInputMethodKeyboardGrabV2,
};
use wayland_protocols_misc::zwp_input_method_v2::server::zwp_input_method_v2::ZwpInputMethodV2;

use crate::guard::Handlers;
use crate::input::text;
use crate::state::State;

/// Creates a grab. A client that is not the active input method gets an inert object.
pub(super) fn make(
    state: &mut State,
    method: &ZwpInputMethodV2,
    id: New<ZwpInputMethodKeyboardGrabV2>,
    init: &mut DataInit<'_, State>,
) {
    let object = init.init(id, ());
    if text::is_registered(state, method) {
        text::keyboard_grabs::grab(state, object);
    }
}

impl Dispatch<ZwpInputMethodKeyboardGrabV2, (), State> for Handlers {
    fn request(
        _state: &mut State,
        _client: &Client,
        _grab: &ZwpInputMethodKeyboardGrabV2,
        _request: zwp_input_method_keyboard_grab_v2::Request,
        (): &(),
        _display: &DisplayHandle,
        _init: &mut DataInit<'_, State>,
    ) {
        // The only request is `release`.
    }

    fn destroyed(state: &mut State, _client: ClientId, object: &ZwpInputMethodKeyboardGrabV2, (): &()) {
        text::keyboard_grabs::released(state, object);
    }
}

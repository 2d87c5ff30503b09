//! `zwp_input_method_manager_v2` 1: a client types into the text fields of other clients (fcitx5, on-screen keyboards).
//!
//! There is one input method at a time: a second one is sent `unavailable`, and its requests have no effect.
//! [`input::text`](crate::input::text) decides which text is typed and which client gets the keys. Our own
//! implementation, since Smithay 0.7 sends `unavailable` to the first when a second one comes, forgets the first when
//! the second is destroyed, and panics without a keyboard.

mod grab;
mod popup;

use smithay::reexports::wayland_server::backend::{ClientId, GlobalId};
use smithay::reexports::wayland_server::{Client, DataInit, Dispatch, DisplayHandle, GlobalDispatch, New};
use wayland_protocols_misc::zwp_input_method_v2::server::zwp_input_method_manager_v2::{self, ZwpInputMethodManagerV2};
use wayland_protocols_misc::zwp_input_method_v2::server::zwp_input_method_v2::{self, ZwpInputMethodV2};

use crate::guard::Handlers;
use crate::input::text;
use crate::shell::input_popups;
use crate::state::State;

const VERSION: u32 = 1;

#[derive(Debug)]
pub struct InputMethod {
    _global: GlobalId,
}

impl InputMethod {
    pub(super) fn new(display: &DisplayHandle) -> Self {
        InputMethod { _global: display.create_global::<State, ZwpInputMethodManagerV2, ()>(VERSION, ()) }
    }
}

/// Sends the input method this turn's changes of text fields and the positions of its popups.
pub(super) fn refresh(state: &mut State) {
    text::flush(state);
    input_popups::update_positions(state);
}

impl GlobalDispatch<ZwpInputMethodManagerV2, (), State> for Handlers {
    fn bind(
        _state: &mut State,
        _display: &DisplayHandle,
        _client: &Client,
        manager: New<ZwpInputMethodManagerV2>,
        (): &(),
        init: &mut DataInit<'_, State>,
    ) {
        init.init(manager, ());
    }

    fn can_view(client: Client, (): &()) -> bool {
        super::privileges::may_bind::<ZwpInputMethodManagerV2>(&client)
    }
}

impl Dispatch<ZwpInputMethodManagerV2, (), State> for Handlers {
    fn request(
        state: &mut State,
        _client: &Client,
        _manager: &ZwpInputMethodManagerV2,
        request: zwp_input_method_manager_v2::Request,
        (): &(),
        _display: &DisplayHandle,
        init: &mut DataInit<'_, State>,
    ) {
        if let zwp_input_method_manager_v2::Request::GetInputMethod { input_method, .. } = request {
            let object = init.init(input_method, ());
            if !text::register(state, &object) {
                object.unavailable();
            }
        }
    }
}

impl Dispatch<ZwpInputMethodV2, (), State> for Handlers {
    fn request(
        state: &mut State,
        _client: &Client,
        object: &ZwpInputMethodV2,
        request: zwp_input_method_v2::Request,
        (): &(),
        _display: &DisplayHandle,
        init: &mut DataInit<'_, State>,
    ) {
        use zwp_input_method_v2::Request;
        match request {
            Request::CommitString { text } => text::compose(state, object, |composed| composed.text = text),
            Request::SetPreeditString { text, cursor_begin, cursor_end } => {
                text::compose(state, object, |composed| composed.preedit(text, cursor_begin, cursor_end));
            }
            Request::DeleteSurroundingText { before_length, after_length } => {
                text::compose(state, object, |composed| composed.deleted = (before_length, after_length));
            }
            Request::Commit { serial } => text::method_committed(state, object, serial),
            Request::GetInputPopupSurface { id, surface } => popup::make(state, object, id, surface, init),
            Request::GrabKeyboard { keyboard } => grab::make(state, object, keyboard, init),
            _ => {}
        }
    }

    fn destroyed(state: &mut State, _client: ClientId, object: &ZwpInputMethodV2, (): &()) {
        text::method_gone(state, object);
    }
}

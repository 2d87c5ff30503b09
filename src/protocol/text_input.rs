//! `zwp_text_input_manager_v3` 1: text fields, as clients describe them to the input method.
//!
//! [`input::text`](crate::input::text) decides the effect. Here numbers are clamped, and text with invalid positions
//! and unknown values are ignored: the protocol has no error for them. Our own implementation, since Smithay 0.7 panics
//! at unknown values.

use smithay::reexports::wayland_protocols::wp::text_input::zv3::server::zwp_text_input_manager_v3::{
    self, ZwpTextInputManagerV3,
};
use smithay::reexports::wayland_protocols::wp::text_input::zv3::server::zwp_text_input_v3::{
    self, ChangeCause, ContentHint, ContentPurpose, ZwpTextInputV3,
};
use smithay::reexports::wayland_server::backend::{ClientId, GlobalId};
use smithay::reexports::wayland_server::{Client, DataInit, Dispatch, DisplayHandle, GlobalDispatch, New, WEnum};
use smithay::utils::{Point, Rectangle, Size};

use crate::bounds::{coordinate, extent};
use crate::guard::Handlers;
use crate::input::text::{self, field::FieldSurrounding};
use crate::state::State;

const VERSION: u32 = 1;

#[derive(Debug)]
pub struct TextInput {
    _global: GlobalId,
}

impl TextInput {
    pub(super) fn new(display: &DisplayHandle) -> Self {
        TextInput { _global: display.create_global::<State, ZwpTextInputManagerV3, ()>(VERSION, ()) }
    }
}

impl GlobalDispatch<ZwpTextInputManagerV3, (), State> for Handlers {
    fn bind(
        _state: &mut State,
        _display: &DisplayHandle,
        _client: &Client,
        manager: New<ZwpTextInputManagerV3>,
        (): &(),
        init: &mut DataInit<'_, State>,
    ) {
        init.init(manager, ());
    }

    fn can_view(client: Client, (): &()) -> bool {
        super::privileges::may_bind::<ZwpTextInputManagerV3>(&client)
    }
}

impl Dispatch<ZwpTextInputManagerV3, (), State> for Handlers {
    fn request(
        state: &mut State,
        _client: &Client,
        _manager: &ZwpTextInputManagerV3,
        request: zwp_text_input_manager_v3::Request,
        (): &(),
        _display: &DisplayHandle,
        init: &mut DataInit<'_, State>,
    ) {
        if let zwp_text_input_manager_v3::Request::GetTextInput { id, .. } = request {
            let object = init.init(id, ());
            text::new_field(state, object);
        }
    }
}

impl Dispatch<ZwpTextInputV3, (), State> for Handlers {
    fn request(
        state: &mut State,
        _client: &Client,
        object: &ZwpTextInputV3,
        request: zwp_text_input_v3::Request,
        (): &(),
        _display: &DisplayHandle,
        _init: &mut DataInit<'_, State>,
    ) {
        use zwp_text_input_v3::Request;
        match request {
            Request::Enable => text::describe(state, object, |field| field.enable()),
            Request::Disable => text::describe(state, object, |field| field.disable()),
            Request::SetSurroundingText { text, cursor, anchor } => {
                let surrounding = FieldSurrounding::new(text, cursor, anchor);
                text::describe(state, object, |field| field.set_surrounding(surrounding));
            }
            Request::SetTextChangeCause { cause } => {
                let cause = cause.into_result().unwrap_or(ChangeCause::Other);
                text::describe(state, object, |field| field.set_cause(cause));
            }
            Request::SetContentType { hint, purpose } => {
                let hint = match hint {
                    WEnum::Value(hint) => hint,
                    WEnum::Unknown(bits) => ContentHint::from_bits_truncate(bits),
                };
                let purpose = purpose.into_result().unwrap_or(ContentPurpose::Normal);
                text::describe(state, object, |field| field.set_content_type(hint, purpose));
            }
            Request::SetCursorRectangle { x, y, width, height } => {
                let at = Point::from((coordinate(x), coordinate(y)));
                let rect = Rectangle::new(at, Size::from((extent(width), extent(height))));
                text::describe(state, object, |field| field.set_caret(rect));
            }
            Request::Commit => text::field_committed(state, object),
            _ => {}
        }
    }

    fn destroyed(state: &mut State, _client: ClientId, object: &ZwpTextInputV3, (): &()) {
        text::field_gone(state, object);
    }
}

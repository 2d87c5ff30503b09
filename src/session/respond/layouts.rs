//! Answers of the private socket about keyboard layouts.

use super::ResponseOrReason;
use crate::input::keyboard;
use crate::state::State;
use upbeat_record::ipc::message::Response;
use upbeat_record::ipc::message::layouts::{KeyboardLayouts, LayoutWish};

/// The layouts of the keyboard that was used last.
pub(super) fn all(state: &mut State) -> KeyboardLayouts {
    let (layouts, active) = keyboard::layouts(state);
    KeyboardLayouts { layouts, active }
}

/// Switches to another layout.
pub(super) fn set(state: &mut State, wish: LayoutWish) -> ResponseOrReason {
    let layouts = all(state);
    let number = layouts.number(wish).ok_or_else(|| match layouts.layouts.as_slice() {
        [] => "there is no keyboard".to_owned(),
        names => format!("there is no such layout; there are 0 to {}: {}", names.len() - 1, names.join(", ")),
    })?;
    keyboard::set_layout(state, number);
    Ok(Response::Done)
}

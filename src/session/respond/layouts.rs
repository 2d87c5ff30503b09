//! Answers about layouts of the keyboard.

use super::Answered;
use crate::input::keyboard;
use crate::state::State;
use upbeat_record::ipc::message::Response;
use upbeat_record::ipc::message::layouts::{LayoutWish, Layouts};

/// Those of the keyboard that was used last.
pub(super) fn all(state: &mut State) -> Layouts {
    let (layouts, active) = keyboard::layouts(state);
    Layouts { layouts, active }
}

/// Uses another one.
pub(super) fn set(state: &mut State, wish: LayoutWish) -> Answered {
    let layouts = all(state);
    let number = layouts.number(wish).ok_or_else(|| match layouts.layouts.as_slice() {
        [] => "there is no keyboard".to_owned(),
        names => format!("there is no such layout; there are 0 to {}: {}", names.len() - 1, names.join(", ")),
    })?;
    keyboard::set_layout(state, number);
    Ok(Response::Done)
}

//! What clients were not told since they had much to read is looked at again, until they have read on.

use super::selection;
use crate::guard;
use crate::input;
use crate::state::State;
use upbeat_timing::time::{Clock, Instant, Span};

/// Until then: a person hardly notices, and a client that is stopped for hours costs ten wake-ups a second.
const LOOK_AGAIN: Span = Span::from_millis(100);

/// When to look.
#[derive(Debug, Default)]
pub struct Owed(Option<Instant>);

/// A turn begins: who could not be told that the keyboard or the pointer is his may have read on.
pub fn attend(state: &mut State) {
    if state.protocols.owed.0.take_if(|at| *at <= state.clock.now()).is_some() {
        input::focus::update_keyboard(state);
        input::refresh_focus(state);
        selection::drag::catch_up(state);
        input::touch_drag::catch_up(state);
    }
}

/// When to look again, if anybody was not told something.
pub fn next(state: &mut State) -> Option<Instant> {
    let owed = &mut state.protocols.owed.0;
    if guard::take_owed() {
        owed.get_or_insert_with(|| state.clock.now() + LOOK_AGAIN);
    }
    *owed
}

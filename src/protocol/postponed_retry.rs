//! Retries events that were postponed because a client has too much to read, until the client has read on.

use super::selection;
use crate::guard;
use crate::input;
use crate::state::State;
use upbeat_timing::time::{Clock, Instant, Span};

/// Time between two tries: a user hardly notices it, and a client that is stopped for hours costs ten wake-ups a
/// second.
const LOOK_AGAIN: Span = Span::from_millis(100);

/// When to try again.
#[derive(Debug, Default)]
pub struct PostponedRetry(Option<Instant>);

/// To be called at the begin of a turn: retries postponed focus changes and drag feedback if it is time.
pub fn retry_if_due(state: &mut State) {
    if state.protocols.postponed_retry.0.take_if(|at| *at <= state.clock.now()).is_some() {
        input::focus::update_keyboard(state);
        input::refresh_focus(state);
        selection::drag::catch_up(state);
        input::touch_drag::catch_up(state);
    }
}

/// When to try again, if any event is postponed.
pub fn next_retry(state: &mut State) -> Option<Instant> {
    let next_retry = &mut state.protocols.postponed_retry.0;
    if guard::take_postponed() {
        next_retry.get_or_insert_with(|| state.clock.now() + LOOK_AGAIN);
    }
    *next_retry
}

//! Shortcuts that are done again and again while their key is held, as often as keys are repeated.

use super::{KeyboardId, acting};
use crate::bindings::{Action, Bound};
use crate::output::{self, InputKind};
use crate::state::State;
use upbeat_timing::time::{Clock, Instant, Span};

/// A key that is held.
#[derive(Debug)]
pub(super) struct Repeating {
    key: (KeyboardId, u32),
    action: Action,
    when_locked: bool,
    next: Instant,
    every: Span,
}

impl Repeating {
    /// A key went down at `at` that does something so many times a second, after so many milliseconds.
    pub fn new(key: (KeyboardId, u32), bound: Bound, at: Instant, (rate, delay): (i32, i32)) -> Option<Self> {
        let Bound { action, when_locked, .. } = bound;
        let next = at + Span::from_millis(i64::from(delay));
        let every = Span::from_millis(1_000 / i64::from(rate.max(1)));
        (rate > 0).then_some(Repeating { key, action, when_locked, next, every })
    }
}

/// A key went down or up: only the one that went down last is repeated, and only while it is.
pub(super) fn stop(state: &mut State, key: (KeyboardId, u32), pressed: bool) {
    state.input.keyboards.repeating.take_if(|repeating| pressed || repeating.key == key);
}

/// Does again what is due. Returns when the next is.
pub fn attend(state: &mut State) -> Option<Instant> {
    let now = state.clock.now();
    let is_locked = state.shell.lock().takes_input();
    state.input.keyboards.repeating.take_if(|repeating| is_locked && !repeating.when_locked);
    let repeating = state.input.keyboards.repeating.as_mut()?;
    if repeating.next > now {
        return Some(repeating.next);
    }
    // One that was held up is not made up for.
    repeating.next = now + repeating.every;
    let (next, action) = (repeating.next, repeating.action.clone());
    output::input(state, InputKind::Key, None, now);
    acting::run(state, &action);
    Some(next)
}

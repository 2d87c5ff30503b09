//! Repeats a shortcut while its key is held, at the repeat rate of keys.

use super::{KeyboardId, actions};
use crate::bindings::{Binding, ShortcutAction};
use crate::output::{self, InputKind};
use crate::state::State;
use upbeat_timing::time::{Clock, Instant, Span};

/// A shortcut whose key is held.
#[derive(Debug)]
pub(super) struct RepeatingShortcut {
    key: (KeyboardId, u32),
    action: ShortcutAction,
    when_locked: bool,
    next: Instant,
    every: Span,
}

impl RepeatingShortcut {
    /// A key with a shortcut went down at `at`. `rate`: repetitions a second, after `delay` milliseconds.
    pub fn new(key: (KeyboardId, u32), bound: Binding, at: Instant, (rate, delay): (i32, i32)) -> Option<Self> {
        let Binding { action, when_locked, .. } = bound;
        let next = at + Span::from_millis(i64::from(delay));
        let every = Span::from_millis(1_000 / i64::from(rate.max(1)));
        (rate > 0).then_some(RepeatingShortcut { key, action, when_locked, next, every })
    }
}

/// A key went down or up: only the key that went down last repeats, and only while it is held.
pub(super) fn stop(state: &mut State, key: (KeyboardId, u32), pressed: bool) {
    state.input.keyboards.repeating.take_if(|repeating| pressed || repeating.key == key);
}

/// Repeats the shortcut if it is due. Returns when the next repetition is.
pub fn repeat_if_due(state: &mut State) -> Option<Instant> {
    // A lock must also stop a shortcut whose key is still held.
    let is_locked = state.shell.lock().takes_input();
    state.input.keyboards.repeating.take_if(|repeating| is_locked && !repeating.when_locked);
    let repeating = state.input.keyboards.repeating.as_mut()?;
    let now = state.clock.now();
    if repeating.next > now {
        return Some(repeating.next);
    }
    // Missed repetitions are not made up for.
    repeating.next = now + repeating.every;
    let (next, action) = (repeating.next, repeating.action.clone());
    output::input(state, InputKind::Key, None, now);
    actions::run(state, &action);
    Some(next)
}

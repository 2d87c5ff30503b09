//! Putting a configuration in force: whatever differs from the one before it. What was changed at run time and is not
//! mentioned by the change stays.

use super::outputs;
use crate::config::Config;
use crate::state::State;

/// Puts `new` in force. `old` is what was in force; `None` when the session starts, before it has outputs. All of it
/// is tried; the first thing that the system refused is said.
///
/// # Errors
/// The sentence that says what was refused.
pub fn apply(state: &mut State, old: Option<&Config>, new: &Config) -> Result<(), String> {
    let background = new.background.components();
    state.outputs.background = [background[0], background[1], background[2]];
    crate::config::clients::apply(&new.limits, &new.privileges, &state.rules);
    state.shell.set_animations(new.animations.motions(new.reduced_motion));
    state.shell.effects = new.effects.drawn();
    crate::output::planes::switch(state, new.planes);
    state.outputs.frames_ahead = new.animations.frames_ahead.frames();
    state.outputs.supersedes = new.animations.supersede;
    crate::protocol::scroll::offer(state, new.scroll.views);
    state.input.bindings.keys.clone_from(&new.keys.0);
    state.input.bindings.when_locked.clone_from(&new.keys_when_locked.0);
    let rules = &mut state.outputs.rules;
    (rules.default, rules.budgets, rules.apps) = (new.pacing, new.miss_budget, new.apps.clone());
    rules.no_early_latch = !new.timing.early_latch;
    state.outputs.rules.changed();
    if old.is_none_or(|old| old.cursor != new.cursor) {
        crate::input::cursor::load_theme(state, &new.cursor);
    }
    let mut result = Ok(());
    if old.is_none_or(|old| old.keyboard != new.keyboard) {
        result = crate::input::keyboard::configure(state, &new.keyboard);
    }
    if let Some(old) = old {
        result = result.and(outputs::refit(state, old, new));
    }
    crate::output::need_all(state);
    result
}

//! Applies a configuration: all of its differences from the previous one. Settings changed at run time stay if the
//! configuration file does not change them.

use super::outputs;
use crate::config::Config;
use crate::state::State;

/// Applies `new`. `old` is the previous configuration; `None` when the session starts, before it has outputs. If the
/// system refuses a setting, the other settings are applied all the same.
///
/// # Errors
/// A sentence about the first setting that the system refused.
pub fn apply(state: &mut State, old: Option<&Config>, new: &Config) -> Result<(), String> {
    let background = new.background.components();
    state.outputs.set_background([background[0], background[1], background[2]]);
    crate::config::clients::apply(&new.limits, &new.privileges, &state.rules);
    state.shell.set_animations(new.animations.motions(new.reduced_motion));
    let on_displays = state.session.identity.backend == super::BackendKind::Drm;
    crate::shell::strips::set_mode(state, new.layout.mode(on_displays));
    state.shell.set_focus_follows_pointer(new.focus == crate::config::FocusWish::Pointer);
    state.shell.set_effects(new.effects.drawn());
    crate::output::scene::planes::switch(state, new.planes);
    state.outputs.set_frames_ahead(new.animations.frames_ahead.frames());
    state.outputs.set_supersedes(new.animations.supersede);
    state.surfaces.set_supply(new.scroll.supply());
    crate::protocol::scroll::offer(state, new.scroll.views);
    crate::protocol::late_latch::offer(state, new.late_latch.followers || new.late_latch.front_buffers);
    crate::output::clients::front_buffer::switch(state, new.late_latch.front_buffers);
    state.bindings.keys.clone_from(&new.keys.0);
    state.bindings.when_locked.clone_from(&new.keys_when_locked.0);
    let crate::config::Gestures { touchpad, edges } = new.gestures;
    *state.input.gestures_mut() = crate::input::swiping::Gestures { touchpad, edges };
    state.outputs.rules_mut().configure(new);
    crate::output::in_place::switch(state, new.timing.in_place);
    if old.is_none_or(|old| old.cursor != new.cursor) {
        crate::input::cursor::load_theme(state, &new.cursor);
    }
    let mut result = Ok(());
    if old.is_none_or(|old| old.keyboard != new.keyboard) {
        result = crate::input::keyboard::configure(state, &new.keyboard);
    }
    if let Some(old) = old {
        state.session.keep_time(new.timing.real_time);
        result = result.and(outputs::refit(state, old, new));
    }
    crate::output::need_all(state);
    result
}

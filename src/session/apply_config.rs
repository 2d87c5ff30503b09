//! Applies a configuration: all of its differences from the previous one. Settings changed at run time stay if the
//! configuration file does not change them.

use super::virtual_outputs;
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
    state.shell.set_animations(new.animations.to_shell(new.reduced_motion));
    let on_displays = state.session.identity.backend == super::BackendKind::Drm;
    crate::shell::tiling::set_mode(state, new.layout.mode(on_displays));
    crate::shell::named_workspaces::set_names(state, new.workspaces.names());
    state.shell.enable_workspace_indicators(new.workspace_indicator);
    state.shell.set_focus_follows_pointer(new.focus == crate::config::FocusOption::Pointer);
    state.shell.set_effects(new.effects.to_shell());
    crate::output::scene::planes::set_enabled(state, new.planes);
    state.outputs.set_frames_ahead(new.animations.frames_ahead.frames());
    state.outputs.set_supersedes(new.animations.supersede);
    state.surfaces.set_supply(new.scroll.supply());
    crate::protocol::scroll::offer(state, new.scroll.views);
    crate::protocol::late_latch::offer(state, new.late_latch.followers || new.late_latch.front_buffers);
    crate::output::clients::front_buffer::set_enabled(state, new.late_latch.front_buffers);
    state.bindings.keys.clone_from(&new.keys.0);
    state.bindings.when_locked.clone_from(&new.keys_when_locked.0);
    let crate::config::GestureOptions { touchpad, edges } = new.gestures;
    *state.input.gestures_mut() = crate::input::session_swipes::EnabledSwipes { touchpad, edges };
    state.outputs.rules_mut().configure(new);
    crate::output::in_place::set_area_size(state, new.timing.in_place_size);
    crate::output::in_place::update_rules(state);
    if old.is_none_or(|old| old.cursor != new.cursor) {
        crate::input::cursor::load_theme(state, &new.cursor);
    }
    let mut result = Ok(());
    if old.is_none_or(|old| old.keyboard != new.keyboard) {
        result = crate::input::keyboard::configure(state, &new.keyboard);
    }
    if let Some(old) = old {
        state.session.set_real_time(new.timing.real_time);
        result = result.and(virtual_outputs::apply_changes(state, old, new));
        state.session.rotation.configuration_changed();
    }
    crate::output::schedule_repaint_all(state);
    result
}

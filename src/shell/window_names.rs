//! Titles, application ids and tags of windows.

use smithay::reexports::wayland_server::protocol::wl_surface::WlSurface;
use smithay::wayland::shell::xdg::ToplevelSurface;

use super::window_rules::{self, WindowRules as _};
use crate::shell::ShellOutputs;
use crate::state::State;

/// The client sets a tag that identifies the window with root `surface` among its windows.
pub fn set_tag(state: &mut State, surface: &WlSurface, tag: String) {
    if let Some(window) = state.shell.window_of_root_mut(surface) {
        window.tag = Some(tag);
    }
}

fn renamed(state: &mut State, toplevel: &ToplevelSurface) {
    state.shell.names.advance();
    if let Some(window) = state.shell.windows.of_root_mut_quietly(toplevel.wl_surface()) {
        window.names.advance();
    }
}

/// Called when a window gets another title.
pub fn title_changed(state: &mut State, toplevel: &ToplevelSurface) {
    renamed(state, toplevel);
    let id = state.shell.window_of_root(toplevel.wl_surface()).map(|window| window.id);
    id.filter(|_| state.has_window_rules()).into_iter().for_each(|id| window_rules::schedule_rules(state, id));
}

/// Called when a window gets another application id: evaluates the rules for it.
pub fn app_id_changed(state: &mut State, toplevel: &ToplevelSurface) {
    renamed(state, toplevel);
    let Some(window) = state.shell.window_of_root(toplevel.wl_surface()) else { return };
    let (id, app_id) = (window.id, window.app_id().unwrap_or_default());
    state.window_named(id, &app_id);
}

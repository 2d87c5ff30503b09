//! Removes windows, popups and layer surfaces whose protocol objects are gone without notice: after a bug, or because
//! their client has left so many objects that they are destroyed in several steps.

use smithay::reexports::wayland_server::Resource;

use super::{ShellSeat, animation, focus_next, layers, popup, toplevel_destroyed, window_hidden};
use crate::guard::panic_guard::{self, catch};
use crate::state::State;

/// Removes windows, popups and layer surfaces whose protocol objects are gone.
pub fn forget_gone(state: &mut State) {
    let toplevels = state.shell.windows.iter().map(|window| &window.toplevel).filter(|toplevel| !toplevel.alive());
    for toplevel in toplevels.cloned().collect::<Vec<_>>() {
        if let Err(panic) = catch(|| toplevel_destroyed(state, &toplevel)) {
            panic_guard::log_panic("xdg_toplevel", &panic);
            if let Some(id) = state.shell.window_of_root(toplevel.wl_surface()).map(|window| window.id) {
                state.shell.workspaces.remove(id);
                state.shell.windows.remove(id);
            }
        }
    }
    for surface in state.shell.popups.destroyed_surfaces() {
        popup::destroyed(state, &surface);
    }
    for surface in state.shell.layers.destroyed_surfaces() {
        layers::destroyed(state, &surface);
    }
}

/// Hides windows, popups and layer surfaces of clients that have disconnected. They are removed later.
pub fn hide_gone(state: &mut State) {
    let shell = &state.shell;
    let are_gone = shell.windows().filter(|window| !window.surface().is_alive());
    let windows: Vec<_> = are_gone.map(|window| (window.id, window.surface().clone())).collect();
    let are_gone = shell.popups.iter().map(|popup| popup.surface()).filter(|surface| !surface.is_alive());
    let popups: Vec<_> = are_gone.cloned().collect();
    // Unmap all of them first, so that none of them gets the focus.
    for (id, surface) in &windows {
        animation::about_to_destroy(state, surface);
        if let Some(window) = state.shell.window_mut(*id) {
            window.mapped = false;
        }
    }
    windows.iter().for_each(|(id, _)| window_hidden(state, *id));
    popups.iter().for_each(|surface| popup::destroyed(state, surface));
    for surface in state.shell.layers.destroyed_surfaces() {
        layers::destroyed(state, &surface);
    }
    if !windows.is_empty() {
        focus_next(state);
        state.update_keyboard();
        state.refresh_focus();
    }
}

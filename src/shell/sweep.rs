//! After a bug: windows and popups whose objects are gone, and whose end nobody has heard of.

use super::{popup, toplevel_destroyed};
use crate::guard::floor::{self, catch};
use crate::state::State;

/// Forgets the windows and popups whose objects are gone, if nobody has told so.
pub fn forget_gone(state: &mut State) {
    let toplevels = state.shell.windows.iter().map(|window| &window.toplevel).filter(|toplevel| !toplevel.alive());
    for toplevel in toplevels.cloned().collect::<Vec<_>>() {
        if let Err(panic) = catch(|| toplevel_destroyed(state, &toplevel)) {
            floor::report("xdg_toplevel", &panic);
            if let Some(id) = state.shell.window_of_root(toplevel.wl_surface()).map(|window| window.id) {
                state.shell.workspaces.remove(id);
                state.shell.windows.remove(id);
            }
        }
    }
    for surface in state.shell.popups.gone() {
        popup::destroyed(state, &surface);
    }
}

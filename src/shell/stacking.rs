//! Stacking order: the focused window on top, children above their parents.

use smithay::reexports::wayland_server::protocol::wl_surface::WlSurface;
use smithay::wayland::shell::xdg::{ToplevelSurface, XdgToplevelSurfaceData};

use super::{Shell, WindowId};
use crate::bounds::MAX_NESTING;
use crate::guard;
use crate::state::State;

impl Shell {
    /// Raises a window above all other windows except its children. Its ancestors are raised to just below it.
    pub(crate) fn raise(&mut self, id: WindowId) {
        let mut family = self.ancestors(id);
        family.reverse();
        family.push(id);
        for member in &family {
            self.move_to_top(*member);
        }
        for child in self.descendants(id) {
            self.move_to_top(child);
        }
    }

    /// Puts windows on top of all others in this order.
    pub(crate) fn restack(&mut self, bottom_to_top: &[WindowId]) {
        self.windows.restack(bottom_to_top);
    }

    fn move_to_top(&mut self, id: WindowId) {
        self.windows.move_to_top(id);
    }

    pub(super) fn parent_of(&self, id: WindowId) -> Option<WindowId> {
        self.window(id)?.parent
    }

    /// Ancestors of a window, nearest first.
    pub(super) fn ancestors(&self, id: WindowId) -> Vec<WindowId> {
        std::iter::successors(self.parent_of(id), |ancestor| self.parent_of(*ancestor)).take(MAX_NESTING).collect()
    }

    /// In stacking order, bottom to top.
    pub(super) fn descendants(&self, id: WindowId) -> Vec<WindowId> {
        let dialogs = self.windows.iter().filter(|window| window.parent.is_some()).map(|window| window.id);
        dialogs.filter(|other| self.ancestors(*other).contains(&id)).collect()
    }
}

impl Shell {
    /// The topmost modal dialog of a window.
    pub(super) fn modal_above(&self, id: WindowId) -> Option<WindowId> {
        let dialogs =
            self.windows.iter().filter(|window| window.parent.is_some() && window.mapped && window.is_modal());
        dialogs.map(|window| window.id).rfind(|dialog| self.ancestors(*dialog).contains(&id))
    }
}

/// Whether `surface` is the root surface of a window.
pub fn is_window(state: &State, surface: &WlSurface) -> bool {
    state.shell.window_of_root(surface).is_some()
}

/// The surface of the parent of the window of `surface`.
pub fn parent_surface(state: &State, surface: &WlSurface) -> Option<WlSurface> {
    state.shell.toplevel_of(surface)?.parent()
}

/// Sets or removes the parent of the window of `surface`. The parent may belong to another client. Returns `false` if
/// the window would become its own ancestor.
pub fn set_parent(state: &mut State, surface: &WlSurface, parent: Option<&WlSurface>) -> bool {
    let id = state.shell.window_of_root(surface).map(|window| window.id);
    let above = parent.and_then(|parent| state.shell.window_of_root(parent)).map(|window| window.id);
    let is_circle =
        above.is_some_and(|above| Some(above) == id || state.shell.ancestors(above).iter().any(|one| Some(*one) == id));
    if !is_circle {
        write_parent(surface, parent.cloned());
        super::parent_changed(state, surface);
    }
    !is_circle
}

/// Gives the children of a destroyed window its parent, as the protocol demands.
pub(super) fn adopt_children(shell: &mut Shell, gone: WindowId, toplevel: &ToplevelSurface) {
    let grandparent = (shell.parent_of(gone), toplevel.parent());
    for window in shell.windows.iter_mut().filter(|window| window.parent == Some(gone)) {
        window.parent = grandparent.0;
        write_parent(window.surface(), grandparent.1.clone());
    }
}

fn write_parent(surface: &WlSurface, parent: Option<WlSurface>) {
    guard::with_states(surface, |states| {
        if let Some(data) = states.data_map.get::<XdgToplevelSurfaceData>() {
            data.lock().unwrap_or_else(std::sync::PoisonError::into_inner).parent = parent;
        }
    });
}

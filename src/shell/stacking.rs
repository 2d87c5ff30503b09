//! Which window lies above which: the focused one on top, children above their parents.

use smithay::reexports::wayland_server::protocol::wl_surface::WlSurface;
use smithay::wayland::compositor;
use smithay::wayland::shell::xdg::{ToplevelSurface, XdgToplevelSurfaceData};

use super::{Shell, WindowId};
use crate::bounds::MAX_NESTING;

impl Shell {
    /// Raises a window above all others that are not its children. Its ancestors come up with it, below it.
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

    /// Puts windows in a stated order on top of all others, the last one topmost.
    pub(crate) fn restack(&mut self, bottom_to_top: &[WindowId]) {
        for id in bottom_to_top {
            self.move_to_top(*id);
        }
    }

    fn move_to_top(&mut self, id: WindowId) {
        if let Some(index) = self.windows.iter().position(|window| window.id == id) {
            let window = self.windows.remove(index);
            self.windows.push(window);
        }
    }

    pub(super) fn parent_of(&self, id: WindowId) -> Option<WindowId> {
        let parent = self.window(id)?.toplevel().parent()?;
        self.window_of_root(&parent).map(|window| window.id)
    }

    /// Nearest first.
    pub(super) fn ancestors(&self, id: WindowId) -> Vec<WindowId> {
        std::iter::successors(self.parent_of(id), |ancestor| self.parent_of(*ancestor)).take(MAX_NESTING).collect()
    }

    /// In stacking order.
    pub(super) fn descendants(&self, id: WindowId) -> Vec<WindowId> {
        let is_descendant = |other: &WindowId| self.ancestors(*other).contains(&id);
        self.windows.iter().map(|window| window.id).filter(is_descendant).collect()
    }
}

/// The children of a window that goes away get its parent, as the protocol wants it.
pub(super) fn adopt_children(shell: &mut Shell, gone: &ToplevelSurface) {
    let grandparent = gone.parent();
    for window in &mut shell.windows {
        if window.surface() != gone.wl_surface() && window.toplevel.parent().as_ref() == Some(gone.wl_surface()) {
            set_parent(window.surface(), grandparent.clone());
        }
    }
}

fn set_parent(surface: &WlSurface, parent: Option<WlSurface>) {
    compositor::with_states(surface, |states| {
        if let Some(data) = states.data_map.get::<XdgToplevelSurfaceData>() {
            data.lock().unwrap_or_else(std::sync::PoisonError::into_inner).parent = parent;
        }
    });
}

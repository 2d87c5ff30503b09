//! What trees of surfaces reach: measured once in a turn, however often something in them is committed.
//!
//! A client may have thousands of subsurfaces in one window, and commit hundreds of times before anything of it is drawn. So
//! of what hangs on a root only that it may have changed is noted; what the root itself covers is always as it is.
//!
//! ```text
//!   commit, commit, commit … of subsurfaces ─► touched: their root, once ─► turn: measured ─► who reaches elsewhere now
//! ```

use smithay::reexports::wayland_server::Resource;
use smithay::reexports::wayland_server::protocol::wl_surface::WlSurface;
use smithay::utils::{Logical, Rectangle};

use super::registry::Surfaces;
use super::root;
use super::tree::{self, Reach};
use crate::state::State;

impl Surfaces {
    /// What the tree of `root` covers, in its coordinates; nothing of one without content.
    pub fn extent(&self, root: &WlSurface) -> Rectangle<i32, Logical> {
        let own = Rectangle::from_size(tree::size(root));
        let below = self.get(root).and_then(|entry| entry.reach.below).filter(|_| !own.is_empty());
        below.map_or(own, |below| own.merge(below))
    }

    /// Whether anything hangs on `root`, as applied.
    pub fn has_children(&self, root: &WlSurface) -> bool {
        self.get(root).is_some_and(|entry| entry.family.has_any())
    }

    fn touch(&mut self, root: &WlSurface) {
        let Some(reach) = self.reach_mut(root) else { return };
        if !std::mem::replace(&mut reach.is_touched, true) {
            self.touched.push(root.clone());
        }
    }

    /// Measures what hangs on `root`, if that may have changed. Returns whether it covers something else now.
    pub fn measure(&mut self, root: &WlSurface) -> bool {
        let Some(reach) = self.reach_mut(root).filter(|reach| reach.is_touched && root.is_alive()) else {
            return false;
        };
        let below = tree::extent_below(root);
        let before = std::mem::replace(reach, Reach { below, is_touched: false });
        self.measured += 1;
        before.below != below
    }
}

/// Something in the tree that `surface` is part of may reach elsewhere.
pub fn touch(state: &mut State, surface: &WlSurface) {
    let root = root(surface);
    state.surfaces.touch(&root);
}

/// Measures whatever may have changed since the last call. Returns the roots whose trees cover something else now.
pub fn measure_all(state: &mut State) -> Vec<WlSurface> {
    let surfaces = &mut state.surfaces;
    let touched = std::mem::take(&mut surfaces.touched);
    touched.into_iter().filter(|root| surfaces.measure(root)).collect()
}

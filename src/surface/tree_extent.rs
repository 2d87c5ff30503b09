//! The bounding box of a tree of surfaces: measured once in a turn, however often a subsurface commits.
//!
//! A client may have thousands of subsurfaces in one window, and commit hundreds of times before the window is drawn.
//! So a commit only marks the tree as changed; the root's own size is always up to date.
//!
//! ```text
//!   commit, commit, commit … of subsurfaces ─► touched: their root, once ─► turn: measured ─► roots with a new extent
//! ```

use smithay::reexports::wayland_server::Resource;
use smithay::reexports::wayland_server::protocol::wl_surface::WlSurface;
use smithay::utils::{Logical, Rectangle};

use super::registry::SurfaceRegistry;
use super::root;
use super::tree::{self, TreeExtent};
use crate::state::State;

impl SurfaceRegistry {
    /// The bounding box of the tree of `root`, in the root's coordinates; empty if the root has no content.
    pub fn extent(&self, root: &WlSurface) -> Rectangle<i32, Logical> {
        let own = Rectangle::from_size(tree::size(root));
        let below = self.get(root).and_then(|entry| entry.tree_extent.below).filter(|_| !own.is_empty());
        below.map_or(own, |below| own.merge(below))
    }

    /// Whether `root` has subsurfaces in its applied state.
    pub fn has_children(&self, root: &WlSurface) -> bool {
        self.get(root).is_some_and(|entry| entry.subsurfaces.has_any())
    }

    fn mark_changed(&mut self, root: &WlSurface) {
        let Some(reach) = self.tree_extent_mut(root) else { return };
        if !std::mem::replace(&mut reach.is_changed, true) {
            self.changed_trees.push(root.clone());
        }
    }

    /// Measures the subsurfaces of `root`, if they may have changed. Returns whether the bounding box changed.
    pub fn measure(&mut self, root: &WlSurface) -> bool {
        let Some(reach) = self.tree_extent_mut(root).filter(|reach| reach.is_changed && root.is_alive()) else {
            return false;
        };
        let below = tree::extent_below(root);
        let before = std::mem::replace(reach, TreeExtent { below, is_changed: false });
        self.trees_measured += 1;
        before.below != below
    }
}

/// Marks the tree that `surface` is part of: its bounding box may have changed.
pub fn touch(state: &mut State, surface: &WlSurface) {
    let root = root(surface);
    state.surfaces.mark_changed(&root);
}

/// Measures all marked trees. Returns the roots whose bounding box changed.
pub fn measure_all(state: &mut State) -> Vec<WlSurface> {
    let surfaces = &mut state.surfaces;
    let touched = std::mem::take(&mut surfaces.changed_trees);
    touched.into_iter().filter(|root| surfaces.measure(root)).collect()
}

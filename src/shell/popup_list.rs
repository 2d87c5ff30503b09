//! All popups in order of creation, indexed by root surface and by parent.

use std::collections::BTreeMap;

use ahash::HashMap;
use smithay::reexports::wayland_server::Resource;
use smithay::reexports::wayland_server::backend::ObjectId;
use smithay::reexports::wayland_server::protocol::wl_surface::WlSurface;

use super::popup::ShellPopup;

/// All popups; each comes after its parent.
#[derive(Debug, Default)]
pub(super) struct PopupList {
    made: BTreeMap<u64, ShellPopup>,
    by_root: HashMap<ObjectId, u64>,
    /// Children of each parent surface, in order of creation.
    by_parent: HashMap<ObjectId, Vec<u64>>,
    last: u64,
}

impl PopupList {
    pub fn is_empty(&self) -> bool {
        self.made.is_empty()
    }

    /// In order of creation.
    pub fn iter(&self) -> impl Iterator<Item = &ShellPopup> {
        self.made.values()
    }

    /// Surfaces of popups whose objects are destroyed.
    pub fn destroyed_surfaces(&self) -> Vec<WlSurface> {
        self.iter().filter(|popup| !popup.is_alive()).map(|popup| popup.surface().clone()).collect()
    }

    pub fn of_root(&self, surface: &WlSurface) -> Option<&ShellPopup> {
        self.made.get(self.by_root.get(&surface.id())?)
    }

    pub fn of_root_mut(&mut self, surface: &WlSurface) -> Option<&mut ShellPopup> {
        self.made.get_mut(self.by_root.get(&surface.id())?)
    }

    /// Whether any popup has `surface` as its parent.
    pub fn has_children(&self, surface: &WlSurface) -> bool {
        self.by_parent.contains_key(&surface.id())
    }

    /// All descendants of `root`, in order of creation.
    pub fn below(&self, root: &WlSurface) -> impl Iterator<Item = &ShellPopup> {
        let mut found = self.by_parent.get(&root.id()).cloned().unwrap_or_default();
        let mut looked_at = 0;
        // No popup is its own ancestor, so this loop ends.
        while let Some(popup) = found.get(looked_at).and_then(|number| self.made.get(number)) {
            found.extend(self.by_parent.get(&popup.surface().id()).into_iter().flatten());
            looked_at += 1;
        }
        found.sort_unstable();
        found.into_iter().filter_map(|number| self.made.get(&number))
    }

    /// Adds a popup after all other popups.
    pub fn push(&mut self, popup: ShellPopup) {
        self.last += 1;
        self.by_root.insert(popup.surface().id(), self.last);
        if let Some(parent) = popup.parent() {
            self.by_parent.entry(parent.id()).or_default().push(self.last);
        }
        self.made.insert(self.last, popup);
    }

    /// Gives the popup with this root, which has no parent, the parent `parent`.
    pub fn set_parent(&mut self, surface: &WlSurface, parent: &WlSurface) {
        let Some(number) = self.by_root.get(&surface.id()) else { return };
        if let Some(popup) = self.made.get_mut(number) {
            popup.set_parent(parent);
            self.by_parent.entry(parent.id()).or_default().push(*number);
        }
    }

    /// Removes the popup with this root.
    pub fn remove(&mut self, surface: &WlSurface) {
        let Some(popup) =
            self.by_root.remove(&surface.id()).and_then(|number| Some((number, self.made.remove(&number)?)))
        else {
            return;
        };
        let (number, popup) = popup;
        if let Some(parent) = popup.parent().map(Resource::id)
            && let Some(children) = self.by_parent.get_mut(&parent)
        {
            children.retain(|other| *other != number);
            if children.is_empty() {
                self.by_parent.remove(&parent);
            }
        }
    }
}

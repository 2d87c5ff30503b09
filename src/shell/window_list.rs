//! All windows in stacking order, indexed by id and by root surface, with a log of their changes.

use ahash::HashMap;
use smithay::reexports::wayland_server::Resource;
use smithay::reexports::wayland_server::backend::ObjectId;
use smithay::reexports::wayland_server::protocol::wl_surface::WlSurface;

use super::change_log::ChangeLog;
use super::{Window, WindowId};
use crate::revision::Revision;

#[derive(Debug, Default)]
pub(super) struct WindowList {
    /// Empty slots are reused.
    slots: Vec<Option<Box<Window>>>,
    empty: Vec<usize>,
    /// Slots, bottom to top.
    stack: Vec<usize>,
    by_id: HashMap<WindowId, usize>,
    by_root: HashMap<ObjectId, usize>,
    changes: ChangeLog,
}

impl WindowList {
    /// Advances when any window may have changed.
    pub const fn changes(&self) -> Revision {
        self.changes.revision()
    }

    /// The windows that have changed since [`changes`](Self::changes) was `earlier`; `None` if any window may have
    /// changed.
    pub fn changes_since(&self, earlier: Revision) -> Option<impl Iterator<Item = WindowId>> {
        self.changes.since(earlier)
    }

    /// Records a change outside of this list that affects the picture of windows.
    pub fn note_change(&mut self) {
        self.changes.note_all();
    }

    pub fn note_change_of(&mut self, id: WindowId) {
        self.changes.note(id);
    }

    /// All windows, bottom to top.
    pub fn iter(&self) -> impl DoubleEndedIterator<Item = &Window> {
        self.stack.iter().filter_map(|slot| self.slots[*slot].as_deref())
    }

    /// In no particular order. Records a change of all windows.
    pub fn iter_mut(&mut self) -> impl Iterator<Item = &mut Window> {
        self.changes.note_all();
        self.slots.iter_mut().flatten().map(Box::as_mut)
    }

    /// In no particular order, for changes that are invisible or that [`changes`](Self::changes) must not count.
    pub fn iter_mut_quietly(&mut self) -> impl Iterator<Item = &mut Window> {
        self.slots.iter_mut().flatten().map(Box::as_mut)
    }

    pub fn get(&self, id: WindowId) -> Option<&Window> {
        self.slots[*self.by_id.get(&id)?].as_deref()
    }

    pub fn get_mut(&mut self, id: WindowId) -> Option<&mut Window> {
        self.changes.note(id);
        self.get_mut_quietly(id)
    }

    /// For changes as in [`of_root_mut_quietly`](Self::of_root_mut_quietly).
    pub fn get_mut_quietly(&mut self, id: WindowId) -> Option<&mut Window> {
        self.slots[*self.by_id.get(&id)?].as_deref_mut()
    }

    pub fn of_root(&self, surface: &WlSurface) -> Option<&Window> {
        self.slots[*self.by_root.get(&surface.id())?].as_deref()
    }

    pub fn of_root_mut(&mut self, surface: &WlSurface) -> Option<&mut Window> {
        let window = self.slots[*self.by_root.get(&surface.id())?].as_deref_mut()?;
        self.changes.note(window.id);
        Some(window)
    }

    /// For changes that are invisible, or that the caller records itself.
    pub fn of_root_mut_quietly(&mut self, surface: &WlSurface) -> Option<&mut Window> {
        self.slots[*self.by_root.get(&surface.id())?].as_deref_mut()
    }

    /// Adds a window on top of all others.
    pub fn push(&mut self, window: Window) {
        self.changes.note(window.id);
        let slot = self.empty.pop().unwrap_or_else(|| {
            self.slots.push(None);
            self.slots.len() - 1
        });
        self.by_id.insert(window.id, slot);
        self.by_root.insert(window.surface().id(), slot);
        self.stack.push(slot);
        self.slots[slot] = Some(Box::new(window));
    }

    pub fn remove(&mut self, id: WindowId) {
        self.changes.note_all();
        let Some(slot) = self.by_id.remove(&id) else { return };
        self.stack.retain(|other| *other != slot);
        self.empty.push(slot);
        if let Some(window) = self.slots[slot].take() {
            self.by_root.remove(&window.surface().id());
        }
    }

    /// Puts windows on top of all others in this order.
    pub fn restack(&mut self, bottom_to_top: &[WindowId]) {
        let moved = bottom_to_top.iter().filter_map(|id| self.by_id.get(id)).copied().collect::<Vec<_>>();
        if self.stack.ends_with(&moved) {
            return;
        }
        self.changes.note_all();
        let mut moves = vec![false; self.slots.len()];
        moved.iter().for_each(|slot| moves[*slot] = true);
        self.stack.retain(|slot| !moves[*slot]);
        self.stack.extend(moved);
    }

    pub fn move_to_top(&mut self, id: WindowId) {
        let Some(slot) = self.by_id.get(&id).copied().filter(|slot| self.stack.last() != Some(slot)) else { return };
        self.changes.note(id);
        if let Some(index) = self.stack.iter().rposition(|other| *other == slot) {
            self.stack[index..].rotate_left(1);
        }
    }
}

//! All windows, bottom to top, found by name and by root surface without a search; and how often anything of them changed.

use ahash::HashMap;
use smithay::reexports::wayland_server::Resource;
use smithay::reexports::wayland_server::backend::ObjectId;
use smithay::reexports::wayland_server::protocol::wl_surface::WlSurface;

use super::change_log::ChangeLog;
use super::{Window, WindowId};
use crate::revision::Revision;

/// All windows, bottom to top.
#[derive(Debug, Default)]
pub(super) struct WindowList {
    /// Empty places are filled again.
    slots: Vec<Option<Box<Window>>>,
    empty: Vec<usize>,
    /// Slots, bottom to top.
    stack: Vec<usize>,
    by_id: HashMap<WindowId, usize>,
    by_root: HashMap<ObjectId, usize>,
    changes: ChangeLog,
}

impl WindowList {
    /// Advanced whenever anything of any window may have changed.
    pub const fn changes(&self) -> Revision {
        self.changes.revision()
    }

    /// What changed since [`changes`](Self::changes) was `earlier`; `None` if that may be anything.
    pub fn changes_since(&self, earlier: Revision) -> Option<impl Iterator<Item = WindowId>> {
        self.changes.since(earlier)
    }

    /// Something changed that is not kept here and yet says what of windows is seen.
    pub fn note_change(&mut self) {
        self.changes.note_all();
    }

    /// Something changed of this window.
    pub fn note_change_of(&mut self, id: WindowId) {
        self.changes.note(id);
    }

    /// Bottom to top.
    pub fn iter(&self) -> impl DoubleEndedIterator<Item = &Window> {
        self.stack.iter().filter_map(|slot| self.slots[*slot].as_deref())
    }

    /// In no order, to change them.
    pub fn iter_mut(&mut self) -> impl Iterator<Item = &mut Window> {
        self.changes.note_all();
        self.slots.iter_mut().flatten().map(Box::as_mut)
    }

    /// In no order, to change what nobody sees of them or what [`changes`](Self::changes) is not to count.
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

    /// As [`of_root_mut_quietly`](Self::of_root_mut_quietly).
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

    /// To change what nobody sees of it, or what its caller counts as a change.
    pub fn of_root_mut_quietly(&mut self, surface: &WlSurface) -> Option<&mut Window> {
        self.slots[*self.by_root.get(&surface.id())?].as_deref_mut()
    }

    /// Puts a window on top of all others.
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

    /// Puts windows in a stated order on top of all others, the last one topmost.
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

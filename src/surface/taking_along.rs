//! What a commit takes along: the updates of synchronised subsurfaces are applied with their parent's.
//!
//! Smithay 0.7 takes along what every synchronised child has, with all that hangs on it, whether or not any of it has
//! committed, and each of a thousand takes microseconds. So it is told that a subsurface is synchronised only from a commit of
//! it, or of what hangs on it, to the commit of its parent that takes that along; else it passes over it. What the client
//! said is kept here.
//!
//! ```text
//!   set_sync   │ commit of the child ─► Smithay: sync ─► parent's commit: taken along ─► Smithay: desync
//!   (kept here)│ commit of the parent: passed over
//! ```

use smithay::reexports::wayland_server::protocol::wl_subsurface::{self, WlSubsurface};
use smithay::reexports::wayland_server::protocol::wl_surface::WlSurface;
use smithay::reexports::wayland_server::{Client, DataInit, Dispatch, DisplayHandle, Resource};
use smithay::wayland::compositor::{self, CompositorState, SubsurfaceUserData};

use super::registry::Surfaces;
use crate::bounds::MAX_NESTING;
use crate::state::State;

/// A request that is being met.
pub(super) struct Met<'a, 'b> {
    /// Whose.
    pub client: &'a Client,
    /// The display.
    pub display: &'a DisplayHandle,
    /// For what it makes.
    pub init: &'a mut DataInit<'b, State>,
}

impl Surfaces {
    /// How many surfaces hang on `surface`, at any depth.
    pub fn below(&self, surface: &WlSurface) -> usize {
        self.get(surface).map_or(0, |entry| entry.part.below)
    }

    /// How many surfaces hang on what hangs on `surface`.
    pub fn deep_below(&self, surface: &WlSurface) -> usize {
        self.get(surface).map_or(0, |entry| entry.part.below.saturating_sub(entry.part.children))
    }

    /// `surface` and what hangs on it hangs on `parent` from now on, and counts there, or does not any more.
    fn count(&mut self, parent: &WlSurface, surface: &WlSurface, change: impl Fn(usize, usize) -> usize) {
        let count = 1 + self.below(surface);
        if let Some(entry) = self.get_mut(parent) {
            entry.part.children = change(entry.part.children, 1);
        }
        for ancestor in std::iter::successors(Some(parent.clone()), compositor::get_parent).take(MAX_NESTING + 1) {
            if let Some(entry) = self.get_mut(&ancestor) {
                entry.part.below = change(entry.part.below, count);
            }
        }
    }

    /// `number` is its client's for what made `surface` a subsurface.
    pub fn note_role(&mut self, surface: &WlSurface, number: Option<u32>) {
        if let Some(entry) = self.get_mut(surface) {
            entry.part.role = number;
        }
    }

    /// `surface` has just become a subsurface of `parent`.
    pub(super) fn join(&mut self, parent: &WlSurface, surface: &WlSurface) {
        self.count(parent, surface, usize::saturating_add);
        if let Some(entry) = self.get_mut(surface) {
            (entry.part.role, entry.part.is_synchronised, entry.part.is_told) = (None, true, true);
        }
        if let Some(entry) = self.get_mut(parent) {
            entry.part.told.push(surface.clone());
        }
    }

    /// It is about to be none any more.
    pub(super) fn leave(&mut self, parent: &WlSurface, surface: &WlSurface) {
        self.count(parent, surface, usize::saturating_sub);
        if let Some(entry) = self.get_mut(parent) {
            entry.part.told.retain(|child| child != surface);
        }
        // As Smithay has it of one that is none any more.
        if let Some(entry) = self.get_mut(surface) {
            (entry.part.role, entry.part.is_synchronised, entry.part.is_told) = (None, true, true);
        }
    }

    /// Whether an update of `surface` waits for its parent's.
    pub(super) fn is_synchronised(&self, surface: &WlSurface) -> bool {
        let mut line = std::iter::successors(Some(surface.clone()), compositor::get_parent).take(MAX_NESTING + 1);
        line.any(|part| self.get(&part).is_some_and(|entry| entry.part.is_synchronised))
    }

    /// Its client wants it to be synchronised, or not to be.
    pub(super) fn synchronise(&mut self, surface: &WlSurface, wants: bool) {
        if let Some(entry) = self.get_mut(surface) {
            entry.part.is_synchronised = wants;
        }
    }

    /// The children of which a commit of `surface` takes along what they have, with all that hangs on them.
    pub(super) fn taken_along(&self, surface: &WlSurface) -> &[WlSurface] {
        self.get(surface).map_or(&[], |entry| &entry.part.told)
    }
}

/// `surface` and what it hangs on, each with its parent, without the root.
fn lineage(surface: &WlSurface) -> impl Iterator<Item = (WlSurface, WlSurface)> {
    let with_parent = |part: WlSurface| compositor::get_parent(&part).map(|parent| (part, parent));
    std::iter::successors(with_parent(surface.clone()), move |(_, parent)| with_parent(parent.clone()))
        .take(MAX_NESTING + 1)
}

/// A synchronised `surface` is about to commit: Smithay is to keep that for its parent.
pub(super) fn keep(state: &mut State, surface: &WlSurface, met: &mut Met<'_, '_>) {
    for (part, parent) in lineage(surface) {
        let is_news = state.surfaces.get(&part).is_some_and(|entry| entry.part.is_synchronised && !entry.part.is_told);
        if is_news
            && tell(state, &part, true, met)
            && let Some(entry) = state.surfaces.get_mut(&parent)
        {
            entry.part.told.push(part);
        }
    }
}

/// A commit of `surface` took along what its children had.
pub(super) fn took_along(state: &mut State, surface: &WlSurface, met: &mut Met<'_, '_>) {
    let told = state.surfaces.get_mut(surface).map(|entry| std::mem::take(&mut entry.part.told));
    for child in told.unwrap_or_default() {
        took_along(state, &child, met);
        if !tell(state, &child, false, met)
            && let Some(entry) = state.surfaces.get_mut(surface)
        {
            entry.part.told.push(child);
        }
    }
}

/// Smithay is to keep nothing of `surface` for its parent.
pub(super) fn forget(state: &mut State, surface: &WlSurface, met: &mut Met<'_, '_>) {
    let parent = compositor::get_parent(surface).filter(|_| tell(state, surface, false, met));
    if let Some(entry) = parent.and_then(|parent| state.surfaces.get_mut(&parent)) {
        entry.part.told.retain(|child| child != surface);
    }
}

/// Tells Smithay whether `surface` is synchronised. Returns whether that can be done.
fn tell(state: &mut State, surface: &WlSurface, synchronised: bool, met: &mut Met<'_, '_>) -> bool {
    let Met { client, display, init } = met;
    let Some(entry) = state.surfaces.get_mut(surface) else { return false };
    let role = |number| client.object_from_protocol_id::<WlSubsurface>(display, number).ok();
    let Some(role) = entry.part.role.and_then(role) else { return false };
    let Some(data) = role.data::<SubsurfaceUserData>().filter(|data| data.surface() == surface) else { return false };
    entry.part.is_told = synchronised;
    let request = if synchronised { wl_subsurface::Request::SetSync } else { wl_subsurface::Request::SetDesync };
    <CompositorState as Dispatch<WlSubsurface, SubsurfaceUserData, State>>::request(
        state, client, &role, request, data, display, init,
    );
    true
}

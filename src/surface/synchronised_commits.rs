//! Synchronised subsurfaces: their cached updates are applied together with the parent's commit.
//!
//! Smithay 0.7 visits every synchronised child of a committing parent, with the whole tree below it, even if none of
//! them has committed; with a thousand children each visit takes microseconds. So Smithay's flag is set only from a
//! commit of the subsurface (or of one below it) until the parent's commit that applies it; at other times Smithay
//! passes over the subsurface. The mode that the client set is kept here.
//!
//! ```text
//!   set_sync   │ commit of the child ─► Smithay: sync ─► parent's commit: applied ─► Smithay: desync
//!   (kept here)│ commit of the parent: passed over
//! ```

use smithay::reexports::wayland_server::protocol::wl_subsurface::{self, WlSubsurface};
use smithay::reexports::wayland_server::protocol::wl_surface::WlSurface;
use smithay::reexports::wayland_server::{Client, DataInit, Dispatch, DisplayHandle, Resource};
use smithay::wayland::compositor::{self, CompositorState, SubsurfaceUserData};

use super::registry::SurfaceRegistry;
use crate::bounds::MAX_NESTING;
use crate::state::State;

/// The arguments of the request in progress, for requests that are passed on to Smithay.
pub(super) struct RequestContext<'a, 'b> {
    pub client: &'a Client,
    pub display: &'a DisplayHandle,
    pub init: &'a mut DataInit<'b, State>,
}

impl SurfaceRegistry {
    /// How many descendants `surface` has.
    pub fn below(&self, surface: &WlSurface) -> usize {
        self.get(surface).map_or(0, |entry| entry.node.descendants)
    }

    /// How many descendants `surface` has, without its direct children.
    pub fn deep_below(&self, surface: &WlSurface) -> usize {
        self.get(surface).map_or(0, |entry| entry.node.descendants.saturating_sub(entry.node.children))
    }

    /// `surface` becomes a child of `parent`, or stops being one: changes the counts of all ancestors.
    fn count(&mut self, parent: &WlSurface, surface: &WlSurface, change: impl Fn(usize, usize) -> usize) {
        let count = 1 + self.below(surface);
        if let Some(entry) = self.get_mut(parent) {
            entry.node.children = change(entry.node.children, 1);
        }
        for ancestor in std::iter::successors(Some(parent.clone()), compositor::get_parent).take(MAX_NESTING + 1) {
            if let Some(entry) = self.get_mut(&ancestor) {
                entry.node.descendants = change(entry.node.descendants, count);
            }
        }
    }

    /// Notes the protocol id of the `wl_subsurface` of `surface`.
    pub fn note_role(&mut self, surface: &WlSurface, number: Option<u32>) {
        if let Some(entry) = self.get_mut(surface) {
            entry.node.role = number;
        }
    }

    /// `surface` has just become a subsurface of `parent`.
    pub(super) fn join(&mut self, parent: &WlSurface, surface: &WlSurface) {
        self.count(parent, surface, usize::saturating_add);
        if let Some(entry) = self.get_mut(surface) {
            (entry.node.role, entry.node.is_synchronised, entry.node.is_smithay_synchronised) = (None, true, true);
        }
        if let Some(entry) = self.get_mut(parent) {
            entry.node.cached_children.push(surface.clone());
        }
    }

    /// `surface` is about to stop being a subsurface of `parent`.
    pub(super) fn leave(&mut self, parent: &WlSurface, surface: &WlSurface) {
        self.count(parent, surface, usize::saturating_sub);
        if let Some(entry) = self.get_mut(parent) {
            entry.node.cached_children.retain(|child| child != surface);
        }
        // Smithay has these values for a surface that is no subsurface.
        if let Some(entry) = self.get_mut(surface) {
            (entry.node.role, entry.node.is_synchronised, entry.node.is_smithay_synchronised) = (None, true, true);
        }
    }

    /// Whether an update of `surface` waits for a parent's commit: it or an ancestor is synchronised.
    pub(super) fn is_synchronised(&self, surface: &WlSurface) -> bool {
        let mut line = std::iter::successors(Some(surface.clone()), compositor::get_parent).take(MAX_NESTING + 1);
        line.any(|part| self.get(&part).is_some_and(|entry| entry.node.is_synchronised))
    }

    /// Notes the mode that the client set.
    pub(super) fn synchronise(&mut self, surface: &WlSurface, wants: bool) {
        if let Some(entry) = self.get_mut(surface) {
            entry.node.is_synchronised = wants;
        }
    }

    /// The children whose cached updates, with their whole trees, the next commit of `surface` applies.
    pub(super) fn cached_children(&self, surface: &WlSurface) -> &[WlSurface] {
        self.get(surface).map_or(&[], |entry| &entry.node.cached_children)
    }
}

/// `surface` and its ancestors, each with its parent, without the root.
fn ancestry(surface: &WlSurface) -> impl Iterator<Item = (WlSurface, WlSurface)> {
    let with_parent = |part: WlSurface| compositor::get_parent(&part).map(|parent| (part, parent));
    std::iter::successors(with_parent(surface.clone()), move |(_, parent)| with_parent(parent.clone()))
        .take(MAX_NESTING + 1)
}

/// A synchronised `surface` is about to commit: makes Smithay cache the commit for the parent.
pub(super) fn cache_commit(state: &mut State, surface: &WlSurface, context: &mut RequestContext<'_, '_>) {
    for (part, parent) in ancestry(surface) {
        let is_news = state
            .surfaces
            .get(&part)
            .is_some_and(|entry| entry.node.is_synchronised && !entry.node.is_smithay_synchronised);
        if is_news
            && set_smithay_sync(state, &part, true, context)
            && let Some(entry) = state.surfaces.get_mut(&parent)
        {
            entry.node.cached_children.push(part);
        }
    }
}

/// A commit of `surface` has applied the cached updates of its children: makes Smithay pass over them again.
pub(super) fn reset_children(state: &mut State, surface: &WlSurface, context: &mut RequestContext<'_, '_>) {
    let children = state.surfaces.get_mut(surface).map(|entry| std::mem::take(&mut entry.node.cached_children));
    for child in children.unwrap_or_default() {
        reset_children(state, &child, context);
        if !set_smithay_sync(state, &child, false, context)
            && let Some(entry) = state.surfaces.get_mut(surface)
        {
            entry.node.cached_children.push(child);
        }
    }
}

/// Makes Smithay cache no commits of `surface` for its parent.
pub(super) fn stop_caching(state: &mut State, surface: &WlSurface, context: &mut RequestContext<'_, '_>) {
    let parent = compositor::get_parent(surface).filter(|_| set_smithay_sync(state, surface, false, context));
    if let Some(entry) = parent.and_then(|parent| state.surfaces.get_mut(&parent)) {
        entry.node.cached_children.retain(|child| child != surface);
    }
}

/// Sets Smithay's synchronised flag of `surface`. Returns whether that was possible.
fn set_smithay_sync(
    state: &mut State,
    surface: &WlSurface,
    synchronised: bool,
    context: &mut RequestContext<'_, '_>,
) -> bool {
    let RequestContext { client, display, init } = context;
    let Some(entry) = state.surfaces.get_mut(surface) else { return false };
    let role = |number| client.object_from_protocol_id::<WlSubsurface>(display, number).ok();
    let Some(role) = entry.node.role.and_then(role) else { return false };
    let Some(data) = role.data::<SubsurfaceUserData>().filter(|data| data.surface() == surface) else { return false };
    entry.node.is_smithay_synchronised = synchronised;
    let request = if synchronised { wl_subsurface::Request::SetSync } else { wl_subsurface::Request::SetDesync };
    <CompositorState as Dispatch<WlSubsurface, SubsurfaceUserData, State>>::request(
        state, client, &role, request, data, display, init,
    );
    true
}

//! Which surfaces hang on a surface, in which order and where: state of the *parent*, double-buffered with its commits.
//!
//! Smithay 0.7 keeps a position with the child's commits and changes the order at once. Here both belong to the
//! parent's updates, as `wl_subsurface` says, and travel with them through every queue. Drawing and hit-testing walk
//! this tree; Smithay's own copy of a position is brought in line for its helpers.

use std::sync::Arc;

use smithay::backend::renderer::utils::{RendererSurfaceState, RendererSurfaceStateUserData};
use smithay::reexports::wayland_server::protocol::wl_surface::WlSurface;
use smithay::reexports::wayland_server::{DisplayHandle, Resource, Weak};
use smithay::utils::{Logical, Point};
use smithay::wayland::compositor::{self, Cacheable, SubsurfaceCachedState, SurfaceData};

use crate::guard;

/// One subsurface of a parent.
#[derive(Clone, Debug)]
struct Child {
    surface: Weak<WlSurface>,
    /// Its top left corner in the parent's coordinates.
    position: Point<i32, Logical>,
}

/// The subsurfaces of one surface, bottom to top.
#[derive(Clone, Debug, Default)]
struct Family {
    children: Vec<Child>,
    /// How many of them lie below the parent itself.
    below: usize,
}

/// The double-buffered state: shared by all updates that do not change it.
#[derive(Clone, Debug, Default)]
pub(super) struct Children(Arc<Family>);

impl Cacheable for Children {
    fn commit(&mut self, _display: &DisplayHandle) -> Self {
        self.clone()
    }

    fn merge_into(self, into: &mut Self, _display: &DisplayHandle) {
        *into = self;
    }
}

/// Above or below.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Side {
    Above,
    Below,
}

impl Family {
    fn index_of(&self, surface: &WlSurface) -> Option<usize> {
        self.children.iter().position(|child| child.surface == *surface)
    }

    fn take(&mut self, index: usize) -> Child {
        self.below -= usize::from(index < self.below);
        self.children.remove(index)
    }

    /// Puts `surface` right above or below `sibling`; `None` means the parent itself.
    fn place(&mut self, surface: &WlSurface, side: Side, sibling: Option<&WlSurface>) -> Option<()> {
        if let Some(sibling) = sibling {
            self.index_of(sibling)?;
        }
        let child = self.take(self.index_of(surface)?);
        let (index, below) = match (sibling, side) {
            (None, Side::Above) => (self.below, false),
            (None, Side::Below) => (self.below, true),
            (Some(sibling), side) => {
                let at = self.index_of(sibling)?;
                (at + usize::from(side == Side::Above), at < self.below)
            }
        };
        self.children.insert(index, child);
        self.below += usize::from(below);
        Some(())
    }
}

fn with_pending<T>(parent: &WlSurface, change: impl FnOnce(&mut Family) -> T) -> T {
    guard::with_states(parent, |states| {
        let mut children = states.cached_state.get::<Children>();
        change(Arc::make_mut(&mut children.pending().0))
    })
}

/// A new subsurface: on top of its siblings, once the parent commits.
pub(super) fn add(parent: &WlSurface, surface: &WlSurface) {
    with_pending(parent, |family| {
        if let Some(index) = family.index_of(surface) {
            family.take(index);
        }
        family.children.push(Child { surface: surface.downgrade(), position: Point::default() });
    });
}

/// It is no subsurface any more: it vanishes at once.
pub(super) fn remove(parent: &WlSurface, surface: &WlSurface) {
    guard::with_states(parent, |states| {
        let mut children = states.cached_state.get::<Children>();
        forget(&mut children.pending().0, surface);
        forget(&mut children.current().0, surface);
    });
}

fn forget(family: &mut Arc<Family>, surface: &WlSurface) {
    if let Some(index) = family.index_of(surface) {
        Arc::make_mut(family).take(index);
    }
}

/// Moves a subsurface with the parent's next commit.
pub(super) fn set_position(parent: &WlSurface, surface: &WlSurface, position: Point<i32, Logical>) {
    with_pending(parent, |family| {
        if let Some(index) = family.index_of(surface) {
            family.children[index].position = position;
        }
    });
}

/// Reorders a subsurface with the parent's next commit. Returns whether `sibling` is its parent or another child of it.
pub(super) fn place(parent: &WlSurface, surface: &WlSurface, side: Side, sibling: &WlSurface) -> bool {
    let sibling = (sibling != parent).then_some(sibling);
    sibling != Some(surface) && with_pending(parent, |family| family.place(surface, side, sibling)).is_some()
}

/// The children of a surface when it was looked at last.
#[derive(Debug, Default)]
pub(super) struct Known(Option<Arc<Family>>);

/// Tells Smithay where the applied state of `surface` and its parent puts it and its children. Returns whether it has other
/// children than `known`, or has them elsewhere.
pub(super) fn update_positions(surface: &WlSurface, known: &mut Known) -> bool {
    if let Some(parent) = compositor::get_parent(surface) {
        let family = applied(&parent);
        if let Some(index) = family.index_of(surface) {
            tell_position(surface, family.children[index].position);
        }
    }
    let family = applied(surface);
    for child in &family.children {
        if let Ok(surface) = child.surface.upgrade() {
            tell_position(&surface, child.position);
        }
    }
    let had_any = known.0.is_some();
    let has_any = !family.children.is_empty();
    let is_same = match &known.0 {
        Some(known) => Arc::ptr_eq(known, &family),
        None => !has_any,
    };
    if had_any || has_any {
        known.0 = Some(family);
    }
    !is_same
}

fn applied(surface: &WlSurface) -> Arc<Family> {
    guard::with_states(surface, family_of)
}

fn family_of(states: &SurfaceData) -> Arc<Family> {
    states.cached_state.get::<Children>().current().0.clone()
}

fn tell_position(surface: &WlSurface, position: Point<i32, Logical>) {
    guard::with_states(surface, |states| {
        let mut cached = states.cached_state.get::<SubsurfaceCachedState>();
        cached.current().location = position;
        // Smithay copies this with each of the child's commits.
        cached.pending().location = position;
    });
}

/// Looks at a surface whose origin is known.
pub type Visit<'a, T> = dyn FnMut(&WlSurface, &SurfaceData, Point<i32, Logical>) -> Option<T> + 'a;

/// Visits a surface and what hangs on it, as applied, topmost first, until `visit` returns something. It is given each
/// surface's origin, starting from `origin` for the root. What has no content hides its children, too.
pub fn find_downward<T>(root: &WlSurface, origin: Point<i32, Logical>, visit: &mut Visit<'_, T>) -> Option<T> {
    let family = guard::with_states(root, |states| has_view(states).then(|| family_of(states)))?;
    let walk = |children: &[Child], visit: &mut Visit<'_, T>| {
        children.iter().rev().find_map(|child| {
            let surface = child.surface.upgrade().ok()?;
            // What was taken from this parent while an update waited is not shown any more.
            let ours = compositor::get_parent(&surface).as_ref() == Some(root);
            ours.then(|| find_downward(&surface, origin + child.position, visit)).flatten()
        })
    };
    let (below, above) = family.children.split_at(family.below);
    walk(above, visit)
        .or_else(|| guard::with_states(root, |states| visit(root, states, origin)))
        .or_else(|| walk(below, visit))
}

fn has_view(states: &SurfaceData) -> bool {
    let Some(data) = states.data_map.get::<RendererSurfaceStateUserData>() else { return false };
    let data = data.lock().unwrap_or_else(std::sync::PoisonError::into_inner);
    RendererSurfaceState::view(&data).is_some()
}

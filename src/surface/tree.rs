//! The tree of subsurfaces: order and position of a surface's children. This is state of the *parent*, double-buffered
//! with the parent's commits.
//!
//! Smithay 0.7 keeps a position with the child's commits and changes the order at once. Here both belong to the
//! parent's updates, as `wl_subsurface` says, and travel with them through every queue. Drawing and hit-testing walk
//! this tree, in which a [follower] is where it was last put. Smithay's own positions and order are not used.

use std::sync::Arc;

use smithay::reexports::wayland_server::protocol::wl_surface::WlSurface;
use smithay::reexports::wayland_server::{DisplayHandle, Resource, Weak};
use smithay::utils::{Logical, Point, Rectangle, Size};
use smithay::wayland::compositor::{self, Cacheable, SurfaceData};

use super::follower;
use super::scroll::state as scroll;
use crate::guard;

/// One subsurface of a parent.
#[derive(Clone, Debug)]
struct PositionedSubsurface {
    surface: Weak<WlSurface>,
    /// Its top left corner in the parent's coordinates.
    position: Point<i32, Logical>,
}

/// The subsurfaces of one surface, bottom to top.
#[derive(Clone, Debug, Default)]
struct SubsurfaceStack {
    children: Vec<PositionedSubsurface>,
    /// How many of them lie below the parent itself.
    below: usize,
}

/// The double-buffered state: shared by all updates that do not change it.
#[derive(Clone, Debug, Default)]
pub(super) struct SubsurfaceState(Arc<SubsurfaceStack>);

impl Cacheable for SubsurfaceState {
    fn commit(&mut self, _display: &DisplayHandle) -> Self {
        self.clone()
    }

    fn merge_into(self, into: &mut Self, _display: &DisplayHandle) {
        *into = self;
    }
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum StackSide {
    Above,
    Below,
}

impl SubsurfaceStack {
    fn index_of(&self, surface: &WlSurface) -> Option<usize> {
        self.children.iter().position(|child| child.surface == *surface)
    }

    fn take(&mut self, index: usize) -> PositionedSubsurface {
        self.below -= usize::from(index < self.below);
        self.children.remove(index)
    }

    /// Puts `surface` right above or below `sibling`; `None` means the parent itself.
    fn place(&mut self, surface: &WlSurface, side: StackSide, sibling: Option<&WlSurface>) -> Option<()> {
        if let Some(sibling) = sibling {
            self.index_of(sibling)?;
        }
        let child = self.take(self.index_of(surface)?);
        let (index, below) = match (sibling, side) {
            (None, StackSide::Above) => (self.below, false),
            (None, StackSide::Below) => (self.below, true),
            (Some(sibling), side) => {
                let at = self.index_of(sibling)?;
                (at + usize::from(side == StackSide::Above), at < self.below)
            }
        };
        self.children.insert(index, child);
        self.below += usize::from(below);
        Some(())
    }
}

fn with_pending<T>(parent: &WlSurface, change: impl FnOnce(&mut SubsurfaceStack) -> T) -> T {
    guard::with_states(parent, |states| {
        let mut children = states.cached_state.get::<SubsurfaceState>();
        change(Arc::make_mut(&mut children.pending().0))
    })
}

/// Adds a subsurface on top of its siblings, with the parent's next commit.
pub(super) fn add(parent: &WlSurface, surface: &WlSurface) {
    with_pending(parent, |family| {
        if let Some(index) = family.index_of(surface) {
            family.take(index);
        }
        family.children.push(PositionedSubsurface { surface: surface.downgrade(), position: Point::default() });
    });
}

/// Removes a subsurface at once.
pub(super) fn remove(parent: &WlSurface, surface: &WlSurface) {
    guard::with_states(parent, |states| {
        let mut children = states.cached_state.get::<SubsurfaceState>();
        forget(&mut children.pending().0, surface);
        forget(&mut children.current().0, surface);
    });
}

fn forget(family: &mut Arc<SubsurfaceStack>, surface: &WlSurface) {
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

/// Reorders a subsurface with the parent's next commit. Returns whether `sibling` is its parent or a sibling.
pub(super) fn place(parent: &WlSurface, surface: &WlSurface, side: StackSide, sibling: &WlSurface) -> bool {
    let sibling = (sibling != parent).then_some(sibling);
    sibling != Some(surface) && with_pending(parent, |family| family.place(surface, side, sibling)).is_some()
}

/// The children of a surface when it was looked at last; compared to find changes.
#[derive(Debug, Default)]
pub(super) struct KnownSubsurfaces(Option<Arc<SubsurfaceStack>>);

impl KnownSubsurfaces {
    pub fn has_any(&self) -> bool {
        self.0.as_ref().is_some_and(|family| !family.children.is_empty())
    }
}

/// Whether the children or their positions in the applied state of `surface` differ from `known`, which is updated.
pub(super) fn update_known(surface: &WlSurface, known: &mut KnownSubsurfaces) -> bool {
    let family = applied(surface);
    let has_any = !family.children.is_empty();
    let is_same = match &known.0 {
        Some(known) => Arc::ptr_eq(known, &family),
        None => !has_any,
    };
    if !is_same {
        known.0 = Some(family);
    }
    !is_same
}

fn applied(surface: &WlSurface) -> Arc<SubsurfaceStack> {
    guard::with_states(surface, family_of)
}

fn family_of(states: &SurfaceData) -> Arc<SubsurfaceStack> {
    states.cached_state.get::<SubsurfaceState>().current().0.clone()
}

/// The place of a surface in its tree, in the root's coordinates.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct SurfacePlace {
    /// Its top left corner.
    pub origin: Point<f64, Logical>,
    /// The rectangle that it is clipped to: a scroll view clips its contents.
    pub crop: Option<Rectangle<f64, Logical>>,
}

impl SurfacePlace {
    /// Whether `point` (in the root's coordinates) is clipped away.
    pub fn clips(&self, point: Point<f64, Logical>) -> bool {
        self.crop.is_some_and(|crop| !crop.contains(point))
    }
}

/// Called with a surface, its data and its place.
pub type SurfaceVisitor<'a, T> = dyn FnMut(&WlSurface, &SurfaceData, SurfacePlace) -> Option<T> + 'a;

/// Visits a surface and its descendants in their applied state, topmost first, until `visit` returns `Some`. Places
/// start at the origin for the root. A surface without content hides its descendants, too.
pub fn find_downward<T>(root: &WlSurface, visit: &mut SurfaceVisitor<'_, T>) -> Option<T> {
    find_below(root, SurfacePlace { origin: Point::default(), crop: None }, visit)
}

/// The size of `surface` alone, in surface coordinates; empty without content.
pub fn size(surface: &WlSurface) -> Size<i32, Logical> {
    guard::with_states(surface, scroll::size_of).unwrap_or_default()
}

/// The bounding box of the tree of `root`, in the root's coordinates; empty if the root has no content. Visits the
/// whole tree, so it is for rare use; [`SurfaceRegistry::extent`](super::SurfaceRegistry::extent) returns a measured
/// value.
pub fn extent(root: &WlSurface) -> Rectangle<i32, Logical> {
    let own = Rectangle::from_size(size(root));
    extent_below(root).filter(|_| !own.is_empty()).map_or(own, |below| own.merge(below))
}

/// The bounding box of the descendants of a root.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct TreeExtent {
    /// In the root's coordinates, as measured last.
    pub below: Option<Rectangle<i32, Logical>>,
    /// A descendant may have changed since the last measurement.
    pub is_changed: bool,
}

/// The bounding box of the descendants of `root`, in its coordinates. Contents of scroll views do not count. Visits the
/// whole tree.
pub(super) fn extent_below(root: &WlSurface) -> Option<Rectangle<i32, Logical>> {
    let mut extent: Option<Rectangle<i32, Logical>> = None;
    find_downward(root, &mut |surface, states, place| {
        let seen = Rectangle::new(place.origin, scroll::size_of(states)?.to_f64());
        // A scroll view clips its contents, so it is enough to count the view itself.
        if place.crop.is_none() && surface != root {
            let seen = seen.to_i32_round();
            extent = Some(extent.map_or(seen, |extent| extent.merge(seen)));
        }
        None::<()>
    });
    extent
}

fn find_below<T>(root: &WlSurface, place: SurfacePlace, visit: &mut SurfaceVisitor<'_, T>) -> Option<T> {
    let known = guard::with_states(root, |states| {
        let size = scroll::size_of(states)?;
        Some((size, family_of(states), scroll::view(states), scroll::offset(states)))
    });
    let (size, family, view, offset) = known?;
    let place_of = |child: &PositionedSubsurface, surface: &WlSurface| {
        let position = guard::with_states(surface, follower::place).unwrap_or_else(|| child.position.to_f64());
        let ordinary = SurfacePlace { origin: place.origin + position, ..place };
        let Some((view, content)) = view.as_ref().and_then(|view| Some((view, view.content(surface)?))) else {
            return Some(ordinary);
        };
        let seen = Rectangle::new(place.origin, size.to_f64());
        let crop = place.crop.map_or(Some(seen), |crop| crop.intersection(seen))?;
        Some(SurfacePlace { origin: place.origin + view.place(content, offset, size), crop: Some(crop) })
    };
    let walk = |children: &[PositionedSubsurface], visit: &mut SurfaceVisitor<'_, T>| {
        children.iter().rev().find_map(|child| {
            let surface = child.surface.upgrade().ok()?;
            // A child that left this parent while an update waited is not shown any more.
            let ours = compositor::get_parent(&surface).as_ref() == Some(root);
            let place = place_of(child, &surface).filter(|_| ours)?;
            find_below(&surface, place, visit)
        })
    };
    let (below, above) = family.children.split_at(family.below);
    walk(above, visit)
        .or_else(|| guard::with_states(root, |states| visit(root, states, place)))
        .or_else(|| walk(below, visit))
}

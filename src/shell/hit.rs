//! Hit testing: the surface under a point, by the shell's stacking order.

use smithay::reexports::wayland_server::protocol::wl_surface::WlSurface;
use smithay::utils::{Logical, Point};
use smithay::wayland::compositor::{self, SurfaceAttributes, SurfaceData};
use smithay::wayland::selection::data_device::DND_ICON_ROLE;

use super::{Shell, Window};
use crate::guard;
use crate::shell::geometry;
use crate::surface::render_state;
use crate::surface::tree::find_downward;

impl Shell {
    /// The topmost surface whose input region contains `point` (global logical coordinates), and its origin. `point −
    /// origin` is the point in surface coordinates, also while the window is stretched.
    pub fn hit(&self, point: Point<f64, Logical>) -> Option<(WlSurface, Point<f64, Logical>)> {
        if self.lock.takes_input() {
            return self.hit_keyboard_above_lock(point).or_else(|| self.lock.hit(point));
        }
        let output = self.layers.outputs().find(|output| geometry(output).to_f64().contains(point));
        if self.overlays.take_input() {
            return output.filter(|_| !self.overlays.covers_all()).and_then(|output| self.hit_above(point, output));
        }
        if let Some(hit) = self.hit_input_popups(point) {
            return Some(hit);
        }
        let above = output.and_then(|output| self.hit_above(point, output));
        let below = || output.and_then(|output| self.hit_below(point, output));
        above.or_else(|| self.hit_windows(point)).or_else(below)
    }

    pub(super) fn hit_windows(&self, point: Point<f64, Logical>) -> Option<(WlSurface, Point<f64, Logical>)> {
        let windows = self.visible_windows().rev().filter(|window| self.may_be_at(window, point));
        windows.into_iter().find_map(|window| self.hit_window(window, point))
    }

    /// Hit test for a window and its popups.
    pub(super) fn hit_window(
        &self,
        window: &Window,
        point: Point<f64, Logical>,
    ) -> Option<(WlSurface, Point<f64, Logical>)> {
        let popups = self.popups_of(window.surface()).rev();
        let in_popups =
            popups.into_iter().find_map(|(popup, origin)| hit_tree(popup.surface(), point - origin.to_f64()));
        let hit = in_popups.or_else(|| hit_tree(window.surface(), window.to_surface(point)));
        hit.map(|(surface, local)| (surface, point - local))
    }
}

impl Window {
    /// Converts a global point to coordinates of the root surface.
    pub fn to_surface(&self, point: Point<f64, Logical>) -> Point<f64, Logical> {
        let (rect, geometry) = (self.rect().to_f64(), self.geometry().to_f64());
        let inside = point - rect.loc;
        let scale = |inside: f64, shown: f64, content: f64| if shown > 0.0 { inside * content / shown } else { inside };
        geometry.loc
            + Point::from((
                scale(inside.x, rect.size.w, geometry.size.w),
                scale(inside.y, rect.size.h, geometry.size.h),
            ))
    }
}

/// The topmost surface of a tree that takes input at `point` (in root coordinates), and the point in surface
/// coordinates.
pub fn hit_tree(root: &WlSurface, point: Point<f64, Logical>) -> Option<(WlSurface, Point<f64, Logical>)> {
    find_downward(root, &mut |surface, states, place| {
        let local = point - place.origin;
        (!place.clips(point) && takes_input(states, local)).then(|| (surface.clone(), local))
    })
}

/// Hit test for a tree whose root lies at `origin`: the surface at a global point, and the surface's origin.
pub fn hit_tree_at(
    root: &WlSurface,
    origin: Point<f64, Logical>,
    point: Point<f64, Logical>,
) -> Option<(WlSurface, Point<f64, Logical>)> {
    let (surface, local) = hit_tree(root, point - origin)?;
    Some((surface, point - local))
}

/// Hit test for the whole tree of `surface`, at the point `local` in coordinates of `surface`, whether or not the
/// surface is visible there. Returns the point in coordinates of the surface that was hit.
pub fn hit_tree_around(surface: &WlSurface, local: Point<f64, Logical>) -> Option<(WlSurface, Point<f64, Logical>)> {
    let root = crate::surface::root(surface);
    let place = find_downward(&root, &mut |known, _, place| (known == surface).then_some(place))?;
    hit_tree(&root, local + place.origin)
}

/// Whether `surface` belongs to the icon of a drag and drop: hit tests skip it, since the target lies below.
pub fn is_drag_icon(surface: &WlSurface) -> bool {
    compositor::get_role(&crate::surface::root(surface)) == Some(DND_ICON_ROLE)
}

/// Whether `surface` has content at `local` (surface coordinates).
pub fn covers(surface: &WlSurface, local: Point<f64, Logical>) -> bool {
    guard::with_states(surface, |states| has_content_at(states, local.to_i32_floor()))
}

fn has_content_at(states: &SurfaceData, pixel: Point<i32, Logical>) -> bool {
    let size = render_state::of(states).and_then(|showing| Some(showing.cut()?.size));
    size.is_some_and(|size| (0..size.w).contains(&pixel.x) && (0..size.h).contains(&pixel.y))
}

/// Pixels are half-open, so the point is rounded down. Smithay 0.7 rounds to the nearest pixel.
fn takes_input(states: &SurfaceData, local: Point<f64, Logical>) -> bool {
    let pixel: Point<i32, Logical> = local.to_i32_floor();
    has_content_at(states, pixel)
        && states
            .cached_state
            .get::<SurfaceAttributes>()
            .current()
            .input_region
            .as_ref()
            .is_none_or(|region| region.contains(pixel))
}

/// Whether `surface` takes input at `local` (surface coordinates).
pub fn accepts_input(surface: &WlSurface, local: Point<f64, Logical>) -> bool {
    guard::with_states(surface, |states| takes_input(states, local))
}

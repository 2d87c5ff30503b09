//! Where a view is, what of its document is there, and where it may go.

use std::sync::Arc;

use smithay::reexports::wayland_server::protocol::wl_surface::WlSurface;
use smithay::utils::{Logical, Point, Size};
use smithay::wayland::compositor;

use super::state::{self, Inputs, MOST_NESTED, Role, View, size_of};
use crate::guard;
use crate::timing::scroll::{Cover, Extent, Ranges, Region, Way};

/// What is known of a view before it moves.
pub(super) struct Circumstances {
    pub view: Arc<View>,
    pub size: Size<i32, Logical>,
    pub shown: Point<f64, Logical>,
}

/// How far this input moves the view of `surface`, if it is one: along its axes.
pub fn moved_by(surface: &WlSurface, input: Inputs, way: Way) -> Option<Way> {
    let view = guard::with_states(surface, state::view).filter(|view| view.inputs.contains(input))?;
    Some(view.along(way)).filter(|way| *way != Way::default())
}

/// What is known of a view; `None` where it is none, or has no content.
pub(super) fn circumstances(surface: &WlSurface) -> Option<Circumstances> {
    guard::with_states(surface, |states| {
        Some(Circumstances { view: state::view(states)?, size: size_of(states)?, shown: state::offset(states) })
    })
}

/// Whether a surface lies inside of as many views as may be nested.
pub(super) fn is_too_deep(surface: &WlSurface) -> bool {
    let around = std::iter::successors(compositor::get_parent(surface), compositor::get_parent);
    let is_view = |surface: &WlSurface| guard::with_states(surface, |states| state::view(states).is_some());
    around.filter(is_view).nth(MOST_NESTED - 1).is_some()
}

/// What of the document is there.
pub(super) fn cover(surface: &WlSurface, view: &View) -> Cover {
    let documents = view.contents.iter().filter(|content| content.role == Role::Document);
    Cover::of(documents.filter_map(|content| {
        let child = content.surface.upgrade().ok()?;
        let is_ours = compositor::get_parent(&child).as_ref() == Some(surface);
        let size = is_ours.then(|| guard::with_states(&child, size_of)).flatten()?;
        let extent = |start: i64, length: i32| Extent { start, length: i64::from(length) };
        Some(Region { x: extent(content.position.0.get(), size.w), y: extent(content.position.1.get(), size.h) })
    }))
}

/// What of the document a view of this size shows, to whole pixels of it.
pub(super) fn region(offset: Point<f64, Logical>, size: Size<i32, Logical>) -> Region {
    let extent = |offset: f64, length: i32| {
        let start = offset.floor() as i64;
        Extent { start, length: (offset + f64::from(length)).ceil() as i64 - start }
    };
    Region { x: extent(offset.x, size.w), y: extent(offset.y, size.h) }
}

pub(super) fn within(ranges: Ranges, offset: Point<f64, Logical>) -> Point<f64, Logical> {
    Point::from((ranges.x.clamp(offset.x), ranges.y.clamp(offset.y)))
}

pub(super) fn on_pixels(offset: Point<f64, Logical>, scale: f64) -> Point<f64, Logical> {
    Point::from(((offset.x * scale).round() / scale, (offset.y * scale).round() / scale))
}

/// Where a motion to `goal` comes to rest: at the position next to it, along the axes that it goes.
pub(super) fn snapped(view: &View, goal: (f64, f64), way: Way) -> (f64, f64) {
    let snap = |list: &[i32], goal: f64, way: f64| {
        let after = list.partition_point(|position| f64::from(*position) < goal);
        let near = [after.checked_sub(1), Some(after)].into_iter().flatten().filter_map(|index| list.get(index));
        let nearest =
            near.map(|position| f64::from(*position)).min_by(|a, b| (a - goal).abs().total_cmp(&(b - goal).abs()));
        nearest.filter(|_| way != 0.0).unwrap_or(goal)
    };
    (snap(&view.snaps.0, goal.0, way.x), snap(&view.snaps.1, goal.1, way.y))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_motion_ends_at_the_snap_next_to_its_goal_along_the_axes_that_it_goes() {
        let view = View { snaps: ([0, 500].into(), [0, 100, 300].into()), ..View::default() };
        let down = Way { x: 0.0, y: 1.0 };
        assert_eq!(snapped(&view, (240.0, 90.0), down), (240.0, 100.0));
        assert_eq!(snapped(&view, (240.0, 190.0), down), (240.0, 100.0));
        assert_eq!(snapped(&view, (240.0, 9_000.0), Way { x: 1.0, y: 1.0 }), (0.0, 300.0));
        assert_eq!(snapped(&View::default(), (1.0, 2.0), down), (1.0, 2.0));
    }

    #[test]
    fn a_view_between_pixels_needs_those_on_both_of_its_sides() {
        let region = region(Point::from((0.0, 10.5)), Size::from((100, 50)));
        assert_eq!((region.x.length, region.y.start, region.y.length), (100, 10, 51));
    }
}

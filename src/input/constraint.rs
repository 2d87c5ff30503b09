//! Pointer constraints (`zwp_pointer_constraints_v1`): when they activate, and where the pointer may go.

use smithay::reexports::wayland_server::protocol::wl_surface::WlSurface;
use smithay::utils::{Logical, Point};
use smithay::wayland::compositor::RegionAttributes;
use smithay::wayland::pointer_constraints::{PointerConstraint, with_pointer_constraint};

use crate::bounds::coordinate_f64;
use crate::state::State;

/// A constraint in force.
enum ActiveConstraint {
    Locked,
    Confined(WlSurface, Option<RegionAttributes>),
}

/// How exactly an edge is found that does not lie on a whole pixel, in logical pixels: less cannot be seen.
const EXACT: f64 = 1.0 / 64.0;

/// Whether a surface may constrain the pointer: its window has the keyboard focus.
fn may_hold(state: &State, surface: &WlSurface) -> bool {
    state.shell.window_of(surface).is_none_or(|window| state.shell.focused() == Some(window.id))
}

/// The keyboard focus moved: deactivates the constraint of a window without focus. Otherwise the user could be caught
/// in a window that they switched away from.
pub fn keyboard_moved(state: &mut State) {
    let pointer = state.input.pointer.clone();
    let Some(focus) = pointer.current_focus() else { return };
    if may_hold(state, &focus) {
        return activate_if_focused(state);
    }
    with_pointer_constraint(&focus, &pointer, |constraint| {
        if let Some(constraint) = constraint.filter(|constraint| constraint.is_active()) {
            constraint.deactivate();
        }
    });
}

/// Activates the constraint of the surface under the pointer, if it has one and the pointer is inside its region.
pub fn activate_if_focused(state: &mut State) {
    let pointer = state.input.pointer.clone();
    let Some(focus) = pointer.current_focus().filter(|focus| may_hold(state, focus)) else { return };
    let position = pointer.current_location();
    let Some((_, origin)) = super::under(state, position).filter(|(surface, _)| *surface == focus) else {
        return;
    };
    let local: Point<i32, Logical> = (position - origin).to_i32_floor();
    with_pointer_constraint(&focus, &pointer, |constraint| {
        if let Some(constraint) = constraint {
            let inside = constraint.region().is_none_or(|region| region.contains(local));
            // A second activation would send the event again.
            if inside && !constraint.is_active() {
                constraint.activate();
            }
        }
    });
}

fn active(state: &State) -> Option<ActiveConstraint> {
    let pointer = &state.input.pointer;
    let focus = pointer.current_focus()?;
    with_pointer_constraint(&focus, pointer, |constraint| {
        let constraint = constraint.filter(|constraint| constraint.is_active())?;
        Some(match &*constraint {
            PointerConstraint::Locked(_) => ActiveConstraint::Locked,
            PointerConstraint::Confined(confined) => {
                ActiveConstraint::Confined(focus.clone(), confined.region().cloned())
            }
        })
    })
}

/// Whether the pointer is locked in place.
pub fn is_locked(state: &State) -> bool {
    matches!(active(state), Some(ActiveConstraint::Locked))
}

/// Where the pointer may go on its way from `from` to `to`; `None` when it is locked in place.
pub fn constrain(state: &State, from: Point<f64, Logical>, to: Point<f64, Logical>) -> Option<Point<f64, Logical>> {
    let (surface, region) = match active(state) {
        None => return Some(to),
        Some(ActiveConstraint::Locked) => return None,
        Some(ActiveConstraint::Confined(surface, region)) => (surface, region),
    };
    let inside = |point: Point<f64, Logical>| {
        super::under(state, point).is_some_and(|(hit, origin)| {
            hit == surface && region.as_ref().is_none_or(|region| region.contains((point - origin).to_i32_floor()))
        })
    };
    if inside(to) {
        return Some(to);
    }
    Some(if inside(from) { slide_along_edge(from, to, inside) } else { from })
}

/// Where a confined pointer stops on its way from `from`, which is `inside`, to `to`, which is not.
fn slide_along_edge(
    from: Point<f64, Logical>,
    to: Point<f64, Logical>,
    inside: impl Fn(Point<f64, Logical>) -> bool,
) -> Point<f64, Logical> {
    // To the edge, and then along it as far as the other axis allows.
    let edge = last_inside(from, to, &inside);
    let along = last_inside(edge, Point::from((to.x, edge.y)), &inside);
    last_inside(along, Point::from((along.x, to.y)), &inside)
}

/// The last whole pixel that is still `inside` on the straight line from `from` to `to`. Each call of `inside` is a hit
/// test: being pushed against an edge again and again takes a few, arriving at an edge a few more.
fn last_inside(
    from: Point<f64, Logical>,
    to: Point<f64, Logical>,
    inside: impl Fn(Point<f64, Logical>) -> bool,
) -> Point<f64, Logical> {
    if from == to || inside(to) {
        return to;
    }
    let way = to - from;
    let at = |share: f64| from + Point::from((way.x * share, way.y * share));
    let (length, start) = if way.x.abs() > way.y.abs() { (way.x.abs(), from.x) } else { (way.y.abs(), from.y) };
    // The pointer already is at the last whole pixel, because it was pushed here before.
    if start == start.floor() && (length <= 1.0 || !inside(at(1.0 / length))) {
        return from;
    }
    let (mut near, mut far) = (0.0, 1.0);
    while (far - near) * length > EXACT {
        let middle = (near + far) / 2.0;
        if inside(at(middle)) { near = middle } else { far = middle }
    }
    let last = at(near);
    let whole = |start: f64, value: f64| if start == value { value } else { value.floor() };
    let pixel = Point::from((whole(from.x, last.x), whole(from.y, last.y)));
    if inside(pixel) { pixel } else { last }
}

/// The client of a locked pointer says where it draws its own cursor. The pointer is put there, so that it is there
/// when the lock ends.
pub fn apply_position_hint(state: &mut State, surface: &WlSurface, location: Point<f64, Logical>) {
    if !is_locked(state) {
        return;
    }
    let position = super::pointer_position(state);
    let Some((hit, origin)) = super::under(state, position) else { return };
    if hit == *surface {
        let hinted = origin + Point::from((coordinate_f64(location.x), coordinate_f64(location.y)));
        if super::under(state, hinted).is_some_and(|(hit, _)| hit == *surface) {
            state.input.pointer.set_location(hinted);
        }
    }
}

#[cfg(test)]
mod tests {
    use std::cell::Cell;

    use smithay::utils::Rectangle;

    use super::*;

    /// Where a pointer stops in a surface of 200 by 100, and after how many hit tests.
    fn pushed(from: (f64, f64), to: (f64, f64)) -> ((f64, f64), u32) {
        let (surface, looks) = (Rectangle::from_size((200.0, 100.0).into()), Cell::new(0));
        let inside = |point: Point<f64, Logical>| {
            looks.set(looks.get() + 1);
            surface.contains(point)
        };
        let end = slide_along_edge(from.into(), to.into(), inside);
        ((end.x, end.y), looks.get())
    }

    #[test]
    fn pointer_stops_at_the_last_pixel_and_slides_along_the_edge() {
        assert_eq!(pushed((150.0, 50.0), (250.0, 50.0)).0, (199.0, 50.0));
        assert_eq!(pushed((150.0, 50.0), (250.0, 60.5)).0, (199.0, 60.5));
        assert_eq!(pushed((20.25, 50.0), (-30.0, 40.0)).0, (0.0, 40.0));
        assert_eq!(pushed((150.5, 50.5), (190.0, 130.0)).0, (190.0, 99.0));
        assert_eq!(pushed((10.0, 10.0), (-5.0, -5.0)).0, (0.0, 0.0));
        assert_eq!(pushed((10.0, 10.0), (300.0, 300.0)).0, (199.0, 99.0));
    }

    #[test]
    fn pushing_against_an_edge_takes_few_hit_tests() {
        for (from, to, end) in [
            ((199.0, 50.375), (207.5, 50.375), (199.0, 50.375)),
            ((199.0, 50.375), (207.5, 52.0), (199.0, 52.0)),
            ((0.0, 50.375), (-7.5, 49.0), (0.0, 49.0)),
            ((199.0, 99.0), (210.0, 110.0), (199.0, 99.0)),
            ((50.5, 0.0), (51.5, -9.0), (51.5, 0.0)),
        ] {
            let (got, looks) = pushed(from, to);
            assert_eq!(got, end, "from {from:?} to {to:?}");
            assert!(looks <= 6, "{looks} looks from {from:?} to {to:?}");
        }
        // Faster along the edge than against it: the pointer reaches the edge on the way.
        let (got, looks) = pushed((199.0, 5.375), (201.0, 15.25));
        assert_eq!(got, (199.0, 15.25));
        assert!(looks <= 20, "{looks} looks");
    }
}

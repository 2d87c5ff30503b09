//! Pointer constraints: when they start and what they forbid.

use smithay::reexports::wayland_server::protocol::wl_surface::WlSurface;
use smithay::utils::{Logical, Point};
use smithay::wayland::compositor::RegionAttributes;
use smithay::wayland::pointer_constraints::{PointerConstraint, with_pointer_constraint};

use crate::bounds::coordinate_f64;
use crate::state::State;

/// A constraint in force.
enum Active {
    Locked,
    Confined(WlSurface, Option<RegionAttributes>),
}

/// How often the way to an edge is halved: a screen's width ends up well below a pixel.
const HALVINGS: u32 = 16;

/// Whether a surface may hold the pointer: the window that it belongs to is the one that is typed into.
fn may_hold(state: &State, surface: &WlSurface) -> bool {
    state.shell.window_of(surface).is_none_or(|window| state.shell.focused() == Some(window.id))
}

/// Another surface has the keyboard: who held the pointer and does not any more lets go of it, so that nobody is caught in a
/// window that was switched away from.
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

/// Starts the constraint of the surface under the pointer, if it has one and the pointer is inside its region.
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
            // Activated twice it would send its event twice.
            if inside && !constraint.is_active() {
                constraint.activate();
            }
        }
    });
}

fn active(state: &State) -> Option<Active> {
    let pointer = &state.input.pointer;
    let focus = pointer.current_focus()?;
    with_pointer_constraint(&focus, pointer, |constraint| {
        let constraint = constraint.filter(|constraint| constraint.is_active())?;
        Some(match &*constraint {
            PointerConstraint::Locked(_) => Active::Locked,
            PointerConstraint::Confined(confined) => Active::Confined(focus.clone(), confined.region().cloned()),
        })
    })
}

/// Whether the pointer is locked in place.
pub fn is_locked(state: &State) -> bool {
    matches!(active(state), Some(Active::Locked))
}

/// Where the pointer may go on its way from `from` to `to`; `None` when it is locked in place.
pub fn allowed(state: &State, from: Point<f64, Logical>, to: Point<f64, Logical>) -> Option<Point<f64, Logical>> {
    let (surface, region) = match active(state) {
        None => return Some(to),
        Some(Active::Locked) => return None,
        Some(Active::Confined(surface, region)) => (surface, region),
    };
    let inside = |point: Point<f64, Logical>| {
        super::under(state, point).is_some_and(|(hit, origin)| {
            hit == surface && region.as_ref().is_none_or(|region| region.contains((point - origin).to_i32_floor()))
        })
    };
    // To the edge, and along it as far as the other axis is free.
    let met = furthest(from, to, inside);
    let along = furthest(met, Point::from((to.x, met.y)), inside);
    Some(furthest(along, Point::from((along.x, to.y)), inside))
}

/// How far the straight way from `from` to `to` is `inside`: where it leaves, the last whole pixel.
fn furthest(
    from: Point<f64, Logical>,
    to: Point<f64, Logical>,
    inside: impl Fn(Point<f64, Logical>) -> bool,
) -> Point<f64, Logical> {
    if inside(to) {
        return to;
    }
    if from == to || !inside(from) {
        return from;
    }
    let way = to - from;
    let at = |share: f64| from + Point::from((way.x * share, way.y * share));
    let (mut near, mut far) = (0.0, 1.0);
    for _ in 0..HALVINGS {
        let middle = (near + far) / 2.0;
        if inside(at(middle)) { near = middle } else { far = middle }
    }
    let last = at(near);
    let whole = |start: f64, value: f64| if start == value { value } else { value.floor() };
    let pixel = Point::from((whole(from.x, last.x), whole(from.y, last.y)));
    if inside(pixel) { pixel } else { last }
}

/// The client of a locked pointer says where it draws its own cursor: the pointer goes there, so that it is there when
/// the lock ends.
pub fn hinted(state: &mut State, surface: &WlSurface, location: Point<f64, Logical>) {
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

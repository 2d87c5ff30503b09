//! Pointer constraints: when they start and what they forbid.

use smithay::reexports::wayland_server::protocol::wl_surface::WlSurface;
use smithay::utils::{Logical, Point};
use smithay::wayland::compositor::RegionAttributes;
use smithay::wayland::pointer_constraints::{PointerConstraint, with_pointer_constraint};

use crate::bounds::coordinate_f64;
use crate::output;
use crate::state::State;

/// A constraint in force.
enum Active {
    Locked,
    Confined(WlSurface, Option<RegionAttributes>),
}

/// Starts the constraint of the surface under the pointer, if it has one and the pointer is inside its region.
pub fn activate_if_focused(state: &mut State) {
    let pointer = state.input.pointer.clone();
    let Some(focus) = pointer.current_focus() else { return };
    let position = pointer.current_location();
    let Some((_, origin)) = output::scene_on_screen_hit(state, position).filter(|(surface, _)| *surface == focus)
    else {
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
        output::scene_on_screen_hit(state, point).is_some_and(|(hit, origin)| {
            hit == surface && region.as_ref().is_none_or(|region| region.contains((point - origin).to_i32_floor()))
        })
    };
    // Along an edge the other axis stays free.
    [to, Point::from((to.x, from.y)), Point::from((from.x, to.y))]
        .into_iter()
        .find(|point| inside(*point))
        .or(Some(from))
}

/// The client of a locked pointer says where it draws its own cursor: the pointer goes there, so that it is there when
/// the lock ends.
pub fn hinted(state: &mut State, surface: &WlSurface, location: Point<f64, Logical>) {
    if !is_locked(state) {
        return;
    }
    let position = super::pointer_position(state);
    let Some((hit, origin)) = output::scene_on_screen_hit(state, position) else { return };
    if hit == *surface {
        let hinted = origin + Point::from((coordinate_f64(location.x), coordinate_f64(location.y)));
        if output::scene_on_screen_hit(state, hinted).is_some_and(|(hit, _)| hit == *surface) {
            state.input.pointer.set_location(hinted);
        }
    }
}
